//! Flags that define a search.

use super::flag::{About, Applies, Flag, Lasts, Record, listed};
use super::numbers::whole;
use super::values::FlagValues;
use super::verb::Verb;
use crate::decimal::Decimal;
use crate::failure::{Failure, usage};
use crate::results::JsonInteger;
use pleach_core::search::work::Nodes;
use serde_json::json;

/// The value to beat, as given on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// No value.
    None,
    /// The published optimum.
    Optimum,
    /// The value that the NEH heuristic finds.
    Neh,
    /// The value that stronger heuristics find; they continue alongside the search.
    Search,
    /// This one.
    Value(i64),
    /// A number with decimals, for which [`in_units`] has to know those of the instance.
    Decimal,
}

const ABOUT: About = About { lasts: Lasts::Frozen, record: Record::Value, ..About::BASE };

pub static BEST: Flag<Start> = Flag {
    about: About {
        default: "none",
        ..ABOUT.valued("best", "V", "value that a solution must beat: none or a whole number")
    },
    parse: |word| match word {
        "none" => Ok(Start::None),
        "optimum" => Ok(Start::Optimum),
        "neh" => Ok(Start::Neh),
        "search" => Ok(Start::Search),
        _ => match word.parse() {
            // No solution has these values, or none can beat them.
            Ok(i64::MIN | i64::MAX) => {
                Err(format!("{word}: expected a number from {} to {}", i64::MIN + 1, i64::MAX - 1))
            }
            Ok(value) => Ok(Start::Value(value)),
            Err(_) => Decimal::parse_product(word.strip_prefix('-').unwrap_or(word), '.')
                .map(|_| Start::Decimal)
                .ok_or_else(|| {
                    format!("{word}: expected none, a number or a name that --help lists")
                }),
        },
    },
};

pub static START: Flag<String> = Flag::text(About {
    default: "none",
    ..ABOUT.valued("start", "FILE", "solution to start from, as --solution writes it")
});

pub static BOUND: Flag<String> =
    Flag::text(About { default: "auto", ..ABOUT.valued("bound", "NAME", "lower bound of a node") });

pub static BRANCHING: Flag<String> = Flag::text(About {
    default: "auto",
    ..ABOUT.valued("branching", "NAME", "how a node branches")
});

pub static CHILD_ORDER: Flag<String> = Flag::text(About {
    default: "bound",
    ..ABOUT.valued("child-order", "NAME", "order in which the children of a node are explored")
});

pub static ALL: Flag<()> =
    Flag::switch(ABOUT.named("all", "also count all optimal solutions, in a second search"));

pub static JOBS_FIRST: Flag<()> = Flag::switch(
    ABOUT.named("jobs-first", "read each line of an instance file as a job, not as a machine"),
);

pub static OBJECTIVE: Flag<String> = Flag::text(About { default: "makespan",
    record: Record::ValueOrDefault, ..ABOUT.valued("objective", "NAME", "what schedules are judged by: makespan, flow-time, tardiness, lateness or tardy-jobs; sums are \
               weighted if jobs have weights") });

pub static NO_WAIT: Flag<()> =
    Flag::switch(ABOUT.named("no-wait", "jobs must not wait between machines"));

pub static BLOCKING: Flag<()> = Flag::switch(
    ABOUT.named("blocking", "a job stays on its machine until the next machine is free"),
);

pub static DUE: Flag<String> =
    Flag::text(ABOUT.valued("due", "FILE", "due dates, one for each job"));

pub static WEIGHTS: Flag<String> =
    Flag::text(ABOUT.valued("weights", "FILE", "weights, one for each job"));

pub static RELEASES: Flag<String> =
    Flag::text(ABOUT.valued("releases", "FILE", "release dates, one for each job"));

pub static SETUPS: Flag<String> = Flag::text(ABOUT.valued("setups", "FILE", "setup times: for each machine, a line for each preceding job, with a time for each following job"));

pub static NODES: Flag<Nodes> = Flag {
    about: About {
        choices: || listed(&Nodes::ALL),
        default: "pool",
        record: Record::Own(|given| {
            let nodes = given.get(&NODES).ok().flatten().unwrap_or(Nodes::Pool);
            Some(json!(nodes.to_string()))
        }),
        ..ABOUT.valued(
            "nodes",
            "KIND",
            "how open work is stored: pool (a list of nodes) or interval (ranges of leaves)",
        )
    },
    parse: Nodes::parse,
};

pub static WHOLE: Flag<()> = Flag::switch(ABOUT.named(
    "whole",
    "search the whole board, not only one of two halves that mirror each other; the counts are the same",
));

pub static BEST_FIRST: Flag<()> = Flag::switch(About {
    lasts: Lasts::Kept,
    ..ABOUT.named(
        "best-first",
        "explore the nodes with the best bounds first, as long as there is memory for them",
    )
});

const RANDOM: &[Verb] =
    &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Own, Verb::Sim, Verb::Loop, Verb::Audit];

pub static SEED: Flag<u64> = Flag {
    about: About {
        default: "0",
        applies: Applies::To(RANDOM),
        lasts: Lasts::Kept,
        record: Record::Own(|given| {
            let seed = given.get(&SEED).ok().flatten().unwrap_or(0);
            Some(json!(JsonInteger(seed)))
        }),
        ..ABOUT.valued("seed", "N", "seed for all random choices")
    },
    parse: |word| whole(word, 0, u64::MAX),
};

/// The value to beat of a problem without heuristics.
///
/// # Errors
/// If `--best` is neither `none` nor a number.
pub fn value_to_beat(given: &FlagValues, decimals: u32) -> Result<Option<i64>, Failure> {
    let word = given.word("best").unwrap_or_default();
    if decimals > 0 && !word.is_empty() && word != "none" {
        let units = in_units(word, decimals).map(Some);
        let expected = || format!("expected none or a number of at most {decimals} decimals");
        return units.ok_or_else(|| Failure::Usage(format!("--best {word}: {}", expected())));
    }
    match given.get(&BEST)? {
        None | Some(Start::None) => Ok(None),
        Some(Start::Value(value)) => Ok(Some(value)),
        Some(_) => usage(format!("--best {word}: expected none or a whole number")),
    }
}

/// A value to beat with decimals, in units of the last one; `None` if it is not a number, is too long or has more.
pub fn in_units(word: &str, decimals: u32) -> Option<i64> {
    let size = word.strip_prefix('-').unwrap_or(word);
    let units = Decimal::parse_product(size, '.')?.scaled(decimals)?;
    let units = i64::try_from(units).ok().filter(|&units| units < i64::MAX)?;
    Some(if word == size { units } else { -units })
}
