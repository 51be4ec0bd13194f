//! Flags for what a command prints and writes.

use super::flag::{
    About, Accepts, Applies, Flag, Group, Lasts, SEARCHES, SEARCHES_AND_JOIN, SHARED_AND_JOIN,
    Verb, switch, text, unrecorded,
};
use super::numbers::whole;
use serde_json::json;

const ABOUT: About = About {
    name: "",
    value: None,
    help: "",
    default: "",
    group: Group::Output,
    applies: Applies::Everywhere,
    lasts: Lasts::OneRun,
    accepts: Accepts::One,
    choices: Vec::new,
};

/// `--trace`.
pub static TRACE: Flag<String> = Flag {
    about: About {
        name: "trace",
        value: Some("FILE"),
        help: "write the activity of every unit, the best value and the bound over time as JSON, or a \
               picture if FILE ends in .svg",
        applies: Applies::To(SEARCHES),
        ..ABOUT
    },
    parse: text,
    record: |given| Some(json!(given.word("trace"))),
};

/// `--solution`.
pub static SOLUTION: Flag<String> = Flag {
    about: About {
        name: "solution",
        value: Some("FILE"),
        help: "write the solution as text",
        applies: Applies::Named,
        lasts: Lasts::Kept,
        ..ABOUT
    },
    parse: text,
    record: |given| Some(json!(given.word("solution"))),
};

/// `--certificate`.
pub static CERTIFICATE: Flag<String> = Flag {
    about: About {
        name: "certificate",
        value: Some("FILE"),
        help: "search again from the proven value, and write what the proof consists of, for 'pleach audit'",
        applies: Applies::Named,
        lasts: Lasts::OneRun,
        ..ABOUT
    },
    parse: text,
    record: unrecorded,
};

/// `--sample`.
pub static SAMPLE: Flag<u64> = Flag {
    about: About {
        name: "sample",
        value: Some("N"),
        help: "explore this number of regions again, chosen at random by --seed",
        default: "20",
        applies: Applies::To(&[Verb::Audit]),
        ..ABOUT
    },
    parse: |word| whole(word, 1, u64::MAX),
    record: unrecorded,
};

/// `--log`.
pub static LOG: Flag<String> = Flag {
    about: About {
        name: "log",
        value: Some("FILE"),
        help: "append events to FILE, one line each with its time: processes that join, leave or are lost; warnings",
        applies: Applies::To(SEARCHES_AND_JOIN),
        ..ABOUT
    },
    parse: text,
    record: |given| Some(json!(given.word("log"))),
};

/// `--metrics`.
pub static METRICS: Flag<String> = Flag {
    about: About {
        name: "metrics",
        value: Some("FILE"),
        help: "write the state of the search to FILE every 2 s, in the text format of Prometheus",
        applies: Applies::To(SEARCHES_AND_JOIN),
        ..ABOUT
    },
    parse: text,
    record: |given| Some(json!(given.word("metrics"))),
};

/// `--gantt`.
pub static GANTT: Flag<String> = Flag {
    about: About {
        name: "gantt",
        value: Some("FILE"),
        help: "draw the schedule as a Gantt chart (SVG)",
        applies: Applies::Named,
        lasts: Lasts::Kept,
        ..ABOUT
    },
    parse: text,
    record: |given| Some(json!(given.word("gantt"))),
};

/// `--beside`.
pub static BESIDE: Flag<String> = Flag {
    about: About {
        name: "beside",
        value: Some("FILE"),
        help: "draw the schedule of FILE below the other one, to the same scale",
        applies: Applies::Named,
        ..ABOUT
    },
    parse: text,
    record: |given| Some(json!(given.word("beside"))),
};

/// `--schedule`.
pub static SCHEDULE: Flag<String> = Flag {
    about: About {
        name: "schedule",
        value: Some("FILE"),
        help: "write the start and the end of every operation as a table (CSV)",
        applies: Applies::Named,
        lasts: Lasts::Kept,
        ..ABOUT
    },
    parse: text,
    record: |given| Some(json!(given.word("schedule"))),
};

/// `--json`.
pub static JSON: Flag<()> = Flag {
    about: About { name: "json", help: "print JSON and nothing else", ..ABOUT },
    parse: switch,
    record: |given| Some(json!(given.on("json"))),
};

/// `--updates`.
pub static UPDATES: Flag<()> = Flag {
    about: About {
        name: "updates",
        help: "print the state of the search as a line of JSON on standard error several times a second",
        applies: Applies::To(SEARCHES),
        ..ABOUT
    },
    parse: switch,
    record: unrecorded,
};

/// `--quiet`.
pub static QUIET: Flag<()> = Flag {
    about: About { name: "quiet", help: "show no progress and no notes", ..ABOUT },
    parse: switch,
    record: |given| Some(json!(given.on("quiet"))),
};

/// `--dashboard`.
pub static DASHBOARD: Flag<()> = Flag {
    about: About {
        name: "dashboard",
        help: "show the run live, using the whole terminal: units, sites, best value and bound over time",
        applies: Applies::To(SHARED_AND_JOIN),
        ..ABOUT
    },
    parse: switch,
    record: |given| Some(json!(given.on("dashboard"))),
};

/// `--help`.
pub static HELP: Flag<()> = Flag {
    about: About { name: "help", help: "print this help", ..ABOUT },
    parse: switch,
    record: unrecorded,
};
