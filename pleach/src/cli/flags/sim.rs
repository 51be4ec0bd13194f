//! Flags that only simulations and the papers' figures have.

use super::flag::{About, Applies, Flag, Group};
use super::verb::Verb;

const ABOUT: About = About { applies: Applies::To(&[Verb::Sim]), ..About::BASE };

/// `--peers`.
pub static PEERS: Flag<String> = Flag::text(About {
    name: "peers",
    value: Some("N"),
    help: "number of peers, or several numbers separated by commas",
    default: "as in the scenario",
    ..ABOUT
});

/// `--svg`.
pub static SVG: Flag<String> = Flag::text(About {
    name: "svg",
    value: Some("FILE"),
    help: "draw a chart of the sweep (SVG)",
    group: Group::Output,
    ..ABOUT
});

/// `--quick`.
pub static QUICK: Flag<()> = Flag::switch(About {
    name: "quick",
    help: "with --check: small instances only",
    applies: Applies::To(&[Verb::Reproduce, Verb::Devices]),
    ..ABOUT
});
