//! Flags that only simulations and the papers' figures have.

use super::flag::{About, Accepts, Applies, Flag, Group, Lasts, Verb, switch, text, unrecorded};

const ABOUT: About = About {
    name: "",
    value: None,
    help: "",
    default: "",
    group: Group::Search,
    applies: Applies::To(&[Verb::Sim]),
    lasts: Lasts::OneRun,
    accepts: Accepts::One,
    choices: Vec::new,
};

/// `--peers`.
pub static PEERS: Flag<String> = Flag {
    about: About {
        name: "peers",
        value: Some("N"),
        help: "number of peers, or several numbers separated by commas",
        default: "as in the scenario",
        ..ABOUT
    },
    parse: text,
    record: unrecorded,
};

/// `--svg`.
pub static SVG: Flag<String> = Flag {
    about: About {
        name: "svg",
        value: Some("FILE"),
        help: "draw a chart of the sweep (SVG)",
        group: Group::Output,
        ..ABOUT
    },
    parse: text,
    record: unrecorded,
};

/// `--quick`.
pub static QUICK: Flag<()> = Flag {
    about: About {
        name: "quick",
        help: "with --check: small instances only",
        applies: Applies::To(&[Verb::Reproduce, Verb::Devices]),
        ..ABOUT
    },
    parse: switch,
    record: unrecorded,
};
