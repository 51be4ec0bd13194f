//! [`Executor`]: one explorer with a clock and a device.

pub mod gpu;
pub mod threads;

use pleach_core::explorer::{Explorer, Progress};

/// How long a stretch of exploring may be.
pub struct Budget<'a> {
    /// Time, approximately.
    pub time_ns: u64,
    /// Nodes, approximately.
    pub fuel: u64,
    /// The score that a solution must beat, which may change while the executor runs.
    pub best: &'a dyn Fn() -> i64,
    /// Whether to return early: mail waits, or the run must stop.
    pub interrupted: &'a dyn Fn() -> bool,
}

/// What came of a stretch of exploring.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// What was explored.
    pub progress: Progress,
    /// The time it took.
    pub busy_ns: u64,
    /// The part of a device's explorers that have work at its end.
    pub active: Option<f64>,
}

/// One explorer with a clock and a device.
pub trait Executor: Send {
    /// The explorer, to be fed and split.
    fn explorer(&mut self) -> &mut dyn Explorer;

    /// The fuel that a stretch uses at most.
    fn appetite(&self) -> u64 {
        1 << 18
    }

    /// Reports what was explored and held back until now, so that work and counts match.
    fn flush(&mut self) -> Progress {
        Progress::default()
    }

    /// Explores until the budget is used up, the work ends, a solution is found, or it is interrupted.
    fn explore(&mut self, budget: &Budget<'_>) -> Stretch;
}

impl<E: Executor + ?Sized> Executor for Box<E> {
    fn explorer(&mut self) -> &mut dyn Explorer {
        (**self).explorer()
    }

    fn appetite(&self) -> u64 {
        (**self).appetite()
    }

    fn flush(&mut self) -> Progress {
        (**self).flush()
    }

    fn explore(&mut self, budget: &Budget<'_>) -> Stretch {
        (**self).explore(budget)
    }
}
