//! Flags that only simulations and the papers' figures have.

use super::flag::{About, Applies, Flag, Group};
use super::verb::Verb;

const ABOUT: About = About { applies: Applies::To(&[Verb::Sim]), ..About::BASE };

pub static PEERS: Flag<String> = Flag::text(About {
    default: "as in the scenario",
    ..ABOUT.valued("peers", "N", "number of peers, or several numbers separated by commas")
});

pub static SVG: Flag<String> = Flag::text(About {
    group: Group::Output,
    ..ABOUT.valued("svg", "FILE", "draw a chart of the sweep (SVG)")
});

pub static QUICK: Flag<()> = Flag::switch(About {
    applies: Applies::To(&[Verb::Reproduce, Verb::Devices]),
    ..ABOUT.named("quick", "with --check: small instances only")
});
