//! Flags that limit or save a search.

use super::flag::{About, Applies, Flag, Group, Lasts, Record};
use super::numbers::{size, time, whole};
use super::verb::{SEARCHES, SEARCHES_AND_JOIN, Verb};
use crate::results::JsonInteger;
use serde_json::json;
use std::time::Duration;

const ABOUT: About = About {
    default: "none",
    group: Group::Limits,
    applies: Applies::To(SEARCHES),
    record: Record::Value,
    ..About::BASE
};

const SEARCHES_AND_CHECKS: &[Verb] =
    &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Own, Verb::Devices];

/// Commands that run for long.
const STOPPED_AT_EOF: &[Verb] =
    &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Own, Verb::Loop, Verb::Join, Verb::Sim];

/// `--time-limit`.
pub static TIME_LIMIT: Flag<Option<Duration>> = Flag {
    about: About {
        name: "time-limit",
        value: Some("TIME"),
        help: "stop after this time: 60 (seconds), 500ms, 10m, 2h, 1d",
        applies: Applies::To(SEARCHES_AND_CHECKS),
        ..ABOUT
    },
    parse: |word| if word == "none" { Ok(None) } else { time(word).map(Some) },
};

/// `--node-limit`.
pub static NODE_LIMIT: Flag<Option<u64>> = Flag {
    about: About {
        name: "node-limit",
        value: Some("N"),
        help: "stop after about N nodes",
        record: Record::Own(|given| {
            let limit = given.get(&NODE_LIMIT).ok().flatten().flatten();
            Some(json!(limit.map(JsonInteger)))
        }),
        ..ABOUT
    },
    parse: |word| {
        if word == "none" { Ok(None) } else { whole(word, 1, u64::MAX - 1).map(Some) }
    },
};

/// `--memory`.
pub static MEMORY: Flag<u64> = Flag {
    about: About {
        name: "memory",
        value: Some("SIZE"),
        help: "stop once open work takes more memory than this: 512M, 8G, or bytes",
        default: "four fifths of free memory",
        applies: Applies::To(SEARCHES_AND_JOIN),
        ..ABOUT
    },
    parse: size,
};

/// `--checkpoint`.
pub static CHECKPOINT: Flag<String> = Flag::text(About {
    name: "checkpoint",
    value: Some("FILE"),
    help: "save the search while it runs and when it stops; if FILE already holds this search, \
               resume it",
    default: "",
    applies: Applies::To(SEARCHES_AND_JOIN),
    ..ABOUT
});

/// `--every`.
pub static EVERY: Flag<Duration> = Flag {
    about: About {
        name: "every",
        value: Some("TIME"),
        help: "time between two saves",
        default: "30s",
        lasts: Lasts::Kept,
        record: Record::ValueOrDefault,
        ..ABOUT
    },
    parse: time,
};

/// `--until-eof`.
pub static UNTIL_EOF: Flag<()> = Flag::switch(About {
    name: "until-eof",
    help: "stop, as with Ctrl-C, when standard input ends, for instance because the program that started this \
               one closes the pipe or ends",
    default: "",
    applies: Applies::To(STOPPED_AT_EOF),
    record: Record::No,
    ..ABOUT
});

/// `--show`.
pub static SHOW: Flag<()> = Flag::switch(About {
    name: "show",
    help: "print what the file holds, then exit",
    default: "",
    applies: Applies::To(&[Verb::Resume]),
    record: Record::No,
    ..ABOUT
});
