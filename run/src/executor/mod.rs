//! [`Executor`]: one explorer with a clock and a device.

pub mod gpu;
pub mod threads;

use pleach_core::explorer::{Explorer, Progress};

/// How far a stretch of exploring may go.
pub struct Budget<'a> {
    /// Time, roughly.
    pub time_ns: u64,
    /// Nodes, roughly.
    pub fuel: u64,
    /// The score that a solution must beat, read anew as often as the executor likes.
    pub best: &'a dyn Fn() -> i64,
    /// Whether to come back early: mail waits, or the run is to stop.
    pub interrupted: &'a dyn Fn() -> bool,
}

/// What a stretch of exploring brought, and what it took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// What was explored.
    pub progress: Progress,
    /// Time it took.
    pub busy_ns: u64,
    /// At its end, the part of the explorers of a device that have work.
    pub active: Option<f64>,
}

/// One explorer with a clock and a device.
pub trait Executor: Send {
    /// The explorer, to feed and to split.
    fn explorer(&mut self) -> &mut dyn Explorer;

    /// Fuel that a stretch needs, where there is enough.
    fn stretch(&self) -> u64 {
        1 << 18
    }

    /// What was explored and held back, so that with it work and counts belong together.
    fn settle(&mut self) -> Progress {
        Progress::default()
    }

    /// Explores until the budget is used, work ends, a solution is found, or it is interrupted.
    fn explore(&mut self, budget: &Budget<'_>) -> Stretch;
}

impl<E: Executor + ?Sized> Executor for Box<E> {
    fn explorer(&mut self) -> &mut dyn Explorer {
        (**self).explorer()
    }

    fn stretch(&self) -> u64 {
        (**self).stretch()
    }

    fn settle(&mut self) -> Progress {
        (**self).settle()
    }

    fn explore(&mut self, budget: &Budget<'_>) -> Stretch {
        (**self).explore(budget)
    }
}
