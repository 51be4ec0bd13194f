//! [`Executor`]: an explorer with a clock and perhaps a device.

pub mod slow;
pub mod threads;

use crate::activity::Phases;
use crate::outcome::WorkerReport;
use pleach_core::search::explorer::{Explorer, Progress};

/// The limits of a stretch of exploring.
pub struct Budget<'a> {
    /// Time, approximately.
    pub time_ns: u64,
    /// Nodes, approximately.
    pub fuel: u64,
    /// The score that a solution must beat; it may change during the stretch.
    pub best: &'a dyn Fn() -> i64,
    /// Whether to return early, because a message waits or the run must stop.
    pub interrupted: &'a dyn Fn() -> bool,
}

/// The result of a stretch of exploring.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// What was explored and found.
    pub progress: Progress,
    /// The time it took.
    pub busy_ns: u64,
    /// The fraction of a device's explorers that had work at its end.
    pub active: Option<f64>,
    /// What a device did besides exploring.
    pub phases: Phases,
}

/// An explorer with a clock and perhaps a device.
pub trait Executor: Send {
    /// The explorer, for giving and taking work.
    fn explorer(&mut self) -> &mut dyn Explorer;

    /// The maximum fuel that a stretch can use.
    fn max_fuel(&self) -> u64 {
        1 << 18
    }

    /// Returns counts held back so far, so that work and counts match.
    fn flush(&mut self) -> Progress {
        Progress::default()
    }

    /// Adds what only the executor knows to the report.
    fn fill_report(&self, _report: &mut WorkerReport) {}

    /// Explores until the budget is used up, the work ends, a solution is found, or it is interrupted.
    fn explore(&mut self, budget: &Budget<'_>) -> Stretch;
}
