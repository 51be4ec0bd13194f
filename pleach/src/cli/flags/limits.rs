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

pub static TIME_LIMIT: Flag<Option<Duration>> = Flag {
    about: About {
        applies: Applies::To(SEARCHES_AND_CHECKS),
        ..ABOUT.valued(
            "time-limit",
            "TIME",
            "stop after this time: 60 (seconds), 500ms, 10m, 2h, 1d",
        )
    },
    parse: |word| if word == "none" { Ok(None) } else { time(word).map(Some) },
};

pub static NODE_LIMIT: Flag<Option<u64>> = Flag {
    about: About {
        record: Record::Own(|given| {
            let limit = given.get(&NODE_LIMIT).ok().flatten().flatten();
            Some(json!(limit.map(JsonInteger)))
        }),
        ..ABOUT.valued("node-limit", "N", "stop after about N nodes")
    },
    parse: |word| {
        if word == "none" { Ok(None) } else { whole(word, 1, u64::MAX - 1).map(Some) }
    },
};

pub static MEMORY: Flag<u64> = Flag {
    about: About {
        default: "four fifths of free memory",
        applies: Applies::To(SEARCHES_AND_JOIN),
        ..ABOUT.valued(
            "memory",
            "SIZE",
            "stop once the process takes this much more memory than when the search began: \
             512M, 8G, or bytes",
        )
    },
    parse: size,
};

pub static CHECKPOINT: Flag<String> = Flag::text(About {
    default: "",
    applies: Applies::To(SEARCHES_AND_JOIN),
    ..ABOUT.valued(
        "checkpoint",
        "FILE",
        "save the search while it runs and when it stops; if FILE already holds this search, \
               resume it",
    )
});

pub static EVERY: Flag<Duration> = Flag {
    about: About {
        default: "30s",
        lasts: Lasts::Kept,
        record: Record::ValueOrDefault,
        ..ABOUT.valued("every", "TIME", "time between two saves")
    },
    parse: time,
};

pub static UNTIL_EOF: Flag<()> = Flag::switch(About { default: "",
    applies: Applies::To(STOPPED_AT_EOF),
    record: Record::No, ..ABOUT.named("until-eof", "stop, as with Ctrl-C, when standard input ends, for instance because the program that started this \
               one closes the pipe or ends") });

pub static SHOW: Flag<()> = Flag::switch(About {
    default: "",
    applies: Applies::To(&[Verb::Resume]),
    record: Record::No,
    ..ABOUT.named("show", "print what the file holds, then exit")
});
