//! Flags of loops of independent work.

use super::numbers::whole;
use super::{About, Accepts, Applies, Flag, Group, Lasts, Verb, switch, text, unrecorded};
use pleach_run::looping::Sizes;
use serde_json::json;

const ABOUT: About = About {
    name: "",
    value: None,
    help: "",
    default: "",
    group: Group::Search,
    applies: Applies::Named,
    lasts: Lasts::OneRun,
    accepts: Accepts::One,
};

/// `--columns`.
pub static COLUMNS: Flag<usize> = Flag {
    about: About {
        name: "columns",
        value: Some("N"),
        help: "columns of the dense matrix",
        default: "64",
        ..ABOUT
    },
    parse: |word| whole(word, 1, 1 << 20).map(|columns| columns as usize),
    record: |given| Some(json!(given.get(&COLUMNS).ok()??)),
};

/// `--precision`.
pub static PRECISION: Flag<Precision> = Flag {
    about: About {
        name: "precision",
        value: Some("P"),
        help: "the numbers to compute with: f32 or f64",
        default: "f64",
        ..ABOUT
    },
    parse: |word| match word {
        "f32" => Ok(Precision::Single),
        "f64" => Ok(Precision::Double),
        _ => Err(format!("{word}: expected f32 or f64")),
    },
    record: |given| given.word("precision").map(|word| json!(word)),
};

/// Single or double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Single,
    Double,
}

/// `--chunks`.
pub static CHUNKS: Flag<Sizes> = Flag {
    about: About {
        name: "chunks",
        value: Some("CPU,DEVICE"),
        help: "take so many units at a time, by a thread and by a device, instead of by measured rates",
        group: Group::Units,
        applies: Applies::To(&[Verb::Loop]),
        ..ABOUT
    },
    parse: |word| {
        let (thread, device) = word.split_once(',').unwrap_or((word, word));
        let size = |word: &str| whole(word, 1, u64::from(u32::MAX)).map(|size| size as u32);
        Ok(Sizes::Given(size(thread)?, size(device)?))
    },
    record: |given| given.word("chunks").map(|word| json!(word)),
};

/// `--compare-static`.
pub static COMPARE: Flag<()> = Flag {
    about: About {
        name: "compare-static",
        help: "also find the best static split by trial, and report it beside the one that came about by itself",
        group: Group::Units,
        applies: Applies::To(&[Verb::Loop]),
        ..ABOUT
    },
    parse: switch,
    record: |given| given.has("compare-static").then(|| json!(true)),
};

/// `--out`.
pub static OUT: Flag<String> = Flag {
    about: About {
        name: "out",
        value: Some("FILE"),
        help: "write the result",
        group: Group::Output,
        ..ABOUT
    },
    parse: text,
    record: unrecorded,
};
