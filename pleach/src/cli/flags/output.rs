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

pub static TRACE: Flag<String> = Flag::text(About {
    applies: Applies::To(SEARCHES),
    ..ABOUT.valued(
        "trace",
        "FILE",
        "write the activity of every worker, the best value and the bound over time as JSON, or a \
               picture if FILE ends in .svg",
    )
});

pub static SOLUTION: Flag<String> = Flag::text(About {
    applies: Applies::Named,
    lasts: Lasts::Kept,
    ..ABOUT.valued("solution", "FILE", "write the solution as text")
});

pub static CERTIFICATE: Flag<String> = Flag::text(About {
    applies: Applies::Named,
    record: Record::No,
    ..ABOUT.valued(
        "certificate",
        "FILE",
        "search again from the proven value, and write a certificate for 'pleach audit'",
    )
});

pub static SAMPLE: Flag<u64> = Flag {
    about: About {
        default: "20",
        applies: Applies::To(&[Verb::Audit]),
        record: Record::No,
        ..ABOUT.valued(
            "sample",
            "N",
            "number of regions to explore again, chosen at random by --seed",
        )
    },
    parse: |word| whole(word, 1, u64::MAX),
};

pub static LOG: Flag<String> = Flag::text(About { applies: Applies::To(SEARCHES_AND_JOIN), ..ABOUT.valued("log", "FILE", "append events to FILE, one line each with its time: processes that join, leave or are lost; warnings") });

pub static METRICS: Flag<String> = Flag::text(About {
    applies: Applies::To(SEARCHES_AND_JOIN),
    ..ABOUT.valued(
        "metrics",
        "FILE",
        "write the state of the search to FILE every 2 s, in the text format of Prometheus",
    )
});

pub static GANTT: Flag<String> = Flag::text(About {
    applies: Applies::Named,
    lasts: Lasts::Kept,
    ..ABOUT.valued("gantt", "FILE", "draw the schedule as a Gantt chart (SVG)")
});

pub static BESIDE: Flag<String> = Flag::text(About {
    applies: Applies::Named,
    ..ABOUT.valued(
        "beside",
        "FILE",
        "draw the schedule of FILE below the other one, to the same scale",
    )
});

pub static SCHEDULE: Flag<String> = Flag::text(About {
    applies: Applies::Named,
    lasts: Lasts::Kept,
    ..ABOUT.valued(
        "schedule",
        "FILE",
        "write the start and the end of every operation as a table (CSV)",
    )
});

pub static JSON: Flag<()> = Flag::switch(ABOUT.named("json", "print JSON and nothing else"));

pub static UPDATES: Flag<()> = Flag::switch(About {
    applies: Applies::To(SEARCHES),
    record: Record::No,
    ..ABOUT.named(
        "updates",
        "print the state of the search as a line of JSON on standard error several times a second",
    )
});

pub static QUIET: Flag<()> = Flag::switch(ABOUT.named("quiet", "show no progress and no notes"));

pub static DASHBOARD: Flag<()> = Flag::switch(About { applies: Applies::To(SHARED_AND_JOIN), ..ABOUT.named("dashboard", "show the run live, using the whole terminal: workers, sites, best value and bound over time") });

pub static HELP: Flag<()> =
    Flag::switch(About { record: Record::No, ..ABOUT.named("help", "print this help") });
