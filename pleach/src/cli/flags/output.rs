//! Flags for what a command prints and writes.

use super::flag::{About, Applies, Flag, Group, Lasts, Record};
use super::numbers::whole;
use super::verb::{SEARCHES, SEARCHES_AND_JOIN, SHARED_AND_JOIN, Verb};

const ABOUT: About = About {
    group: Group::Output,
    applies: Applies::Everywhere,
    record: Record::Value,
    ..About::BASE
};

/// `--trace`.
pub static TRACE: Flag<String> = Flag::text(About {
    name: "trace",
    value: Some("FILE"),
    help: "write the activity of every worker, the best value and the bound over time as JSON, or a \
               picture if FILE ends in .svg",
    applies: Applies::To(SEARCHES),
    ..ABOUT
});

/// `--solution`.
pub static SOLUTION: Flag<String> = Flag::text(About {
    name: "solution",
    value: Some("FILE"),
    help: "write the solution as text",
    applies: Applies::Named,
    lasts: Lasts::Kept,
    ..ABOUT
});

/// `--certificate`.
pub static CERTIFICATE: Flag<String> = Flag::text(About {
    name: "certificate",
    value: Some("FILE"),
    help: "search again from the proven value, and write a certificate that audit can check, for 'pleach audit'",
    applies: Applies::Named,
    record: Record::No,
    ..ABOUT
});

/// `--sample`.
pub static SAMPLE: Flag<u64> = Flag {
    about: About {
        name: "sample",
        value: Some("N"),
        help: "explore this number of regions again, chosen at random by --seed",
        default: "20",
        applies: Applies::To(&[Verb::Audit]),
        record: Record::No,
        ..ABOUT
    },
    parse: |word| whole(word, 1, u64::MAX),
};

/// `--log`.
pub static LOG: Flag<String> = Flag::text(About {
    name: "log",
    value: Some("FILE"),
    help: "append events to FILE, one line each with its time: processes that join, leave or are lost; warnings",
    applies: Applies::To(SEARCHES_AND_JOIN),
    ..ABOUT
});

/// `--metrics`.
pub static METRICS: Flag<String> = Flag::text(About {
    name: "metrics",
    value: Some("FILE"),
    help: "write the state of the search to FILE every 2 s, in the text format of Prometheus",
    applies: Applies::To(SEARCHES_AND_JOIN),
    ..ABOUT
});

/// `--gantt`.
pub static GANTT: Flag<String> = Flag::text(About {
    name: "gantt",
    value: Some("FILE"),
    help: "draw the schedule as a Gantt chart (SVG)",
    applies: Applies::Named,
    lasts: Lasts::Kept,
    ..ABOUT
});

/// `--beside`.
pub static BESIDE: Flag<String> = Flag::text(About {
    name: "beside",
    value: Some("FILE"),
    help: "draw the schedule of FILE below the other one, to the same scale",
    applies: Applies::Named,
    ..ABOUT
});

/// `--schedule`.
pub static SCHEDULE: Flag<String> = Flag::text(About {
    name: "schedule",
    value: Some("FILE"),
    help: "write the start and the end of every operation as a table (CSV)",
    applies: Applies::Named,
    lasts: Lasts::Kept,
    ..ABOUT
});

/// `--json`.
pub static JSON: Flag<()> =
    Flag::switch(About { name: "json", help: "print JSON and nothing else", ..ABOUT });

/// `--updates`.
pub static UPDATES: Flag<()> = Flag::switch(About {
    name: "updates",
    help: "print the state of the search as a line of JSON on standard error several times a second",
    applies: Applies::To(SEARCHES),
    record: Record::No,
    ..ABOUT
});

/// `--quiet`.
pub static QUIET: Flag<()> =
    Flag::switch(About { name: "quiet", help: "show no progress and no notes", ..ABOUT });

/// `--dashboard`.
pub static DASHBOARD: Flag<()> = Flag::switch(About {
    name: "dashboard",
    help: "show the run live, using the whole terminal: workers, sites, best value and bound over time",
    applies: Applies::To(SHARED_AND_JOIN),
    ..ABOUT
});

/// `--help`.
pub static HELP: Flag<()> =
    Flag::switch(About { name: "help", help: "print this help", record: Record::No, ..ABOUT });
