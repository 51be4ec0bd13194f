//! The flags, one item each.

mod cluster;
mod flag;
mod given;
mod limits;
mod looping;
mod numbers;
mod output;
mod search;
mod service;
mod sim;
mod values;
mod verb;
mod workers;

pub use cluster::{DEFAULT_PLACES, KEY, LISTEN, MPI, PATIENCE, PLACES, REACH, STANDBY, address};
pub use flag::{About, Applies, Group, Item, Lasts, Use, argument, listed};
pub use given::Kind;
pub use limits::{CHECKPOINT, EVERY, MEMORY, NODE_LIMIT, SHOW, TIME_LIMIT, UNTIL_EOF};
pub use looping::{
    CHUNKS, COLUMNS, COMPARE, FRAMES, METHOD, NEAR, OBSTACLE, OUT, PRECISION, Precision, REYNOLDS,
    SIZE, SPEED, SPLIT, STEPS, TRANSFER, UNSORTED, VALUES, VIEW, ZOOM,
};
pub use output::{
    BESIDE, CERTIFICATE, DASHBOARD, GANTT, JSON, LOG, METRICS, QUIET, SAMPLE, SCHEDULE, SOLUTION,
    TRACE, UPDATES,
};
pub use search::{
    ALL as ALL_OPTIMA, BEST, BEST_FIRST, BLOCKING, BOUND, BRANCHING, CHILD_ORDER, DUE, JOBS_FIRST,
    NO_WAIT, NODES, OBJECTIVE, RELEASES, SEED, SETUPS, START, Start, WEIGHTS, WHOLE, in_units,
    value_to_beat,
};
pub use service::{
    ADDRESS, DATA, FETCH, GROW, HALF_LIFE, KEEP, MOST_FILES, MOST_JOBS, MOST_MEMORY, MOST_THREADS,
    ONLY_FOR, PRIORITY, REMOVE, RENEW, ROLE, ROOTS, SERVICE, TLS_CERTIFICATE, TLS_KEY, WAIT,
    WEIGHT, priority,
};
pub use sim::{PEERS, QUICK, SVG};
pub use values::{Files, FlagValues, Saving, WORD};
pub use verb::{COMMANDS, SHARED, Verb};
pub use workers::{BALANCE, CHECK, DEVICES, PACE, REPEAT, SIMD, SLOW, THREADS};

use flag::applies;

/// All flags, in the order in which `settings` records them.
#[rustfmt::skip]
pub static FLAGS: [&(dyn Item + Sync); 97] = [
    &THREADS, &DEVICES, &SLOW, &PACE, &REPEAT, &BALANCE, &BEST, &START, &BOUND, &BRANCHING,
    &CHILD_ORDER, &ALL_OPTIMA, &JOBS_FIRST, &OBJECTIVE, &NO_WAIT, &BLOCKING, &DUE, &WEIGHTS,
    &RELEASES, &SETUPS, &TIME_LIMIT, &NODE_LIMIT, &MEMORY, &UNTIL_EOF, &NODES, &WHOLE, &BEST_FIRST,
    &COLUMNS, &PRECISION, &UNSORTED, &SIZE, &VALUES, &VIEW, &ZOOM, &NEAR, &TRANSFER, &METHOD,
    &STEPS, &REYNOLDS, &SPEED, &OBSTACLE, &FRAMES, &CHUNKS, &SPLIT, &COMPARE, &CHECKPOINT, &EVERY,
    &LISTEN, &KEY, &PLACES, &PATIENCE, &REACH, &STANDBY, &MPI, &SIMD, &CHECK, &SEED, &TRACE,
    &SOLUTION, &CERTIFICATE, &SAMPLE, &GANTT, &BESIDE, &SCHEDULE, &LOG, &METRICS, &OUT, &JSON,
    &UPDATES, &QUIET, &DASHBOARD, &SHOW, &PEERS, &SVG, &QUICK, &DATA, &ADDRESS, &ROOTS, &HALF_LIFE,
    &KEEP, &GROW, &TLS_CERTIFICATE, &TLS_KEY, &SERVICE, &PRIORITY, &WAIT, &FETCH, &ROLE, &WEIGHT,
    &MOST_THREADS, &MOST_JOBS, &MOST_MEMORY, &MOST_FILES, &ONLY_FOR, &RENEW, &REMOVE, &output::HELP,
];

/// The flags that apply to a command, given those that its problem has.
pub fn applying(verb: Verb, named: &[Use]) -> Vec<About> {
    let mut all: Vec<About> =
        FLAGS.iter().filter_map(|flag| applies(flag.about(), verb, named)).collect();
    all.sort_by_key(|about| about.group);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_unique_names_and_help_that_is_a_phrase() {
        for (i, flag) in FLAGS.iter().enumerate() {
            let About { name, help, .. } = flag.about();
            assert!(FLAGS[..i].iter().all(|other| other.about().name != *name), "{name}");
            assert!(!help.is_empty() && !help.ends_with('.'), "{name}: {help}");
            assert!(!help.contains('\n'), "{name}: {help}");
        }
    }
}
