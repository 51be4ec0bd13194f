//! [`Devices`]: workers other than threads, supplied by a crate above this one.

use crate::error::RunError;
use crate::executor::Executor;
use pleach_core::search::explorer::Progress;
use pleach_core::search::problem::Problem;
use pleach_core::search::work::Work;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::panic::RefUnwindSafe;
use std::time::{Duration, Instant};

/// Devices that search alongside the threads of a run.
pub trait Devices: Debug + Send + Sync + RefUnwindSafe {
    /// The devices that can be used for a problem. With `at_once`, each is open when this returns, unless the run was
    /// `stopped`; otherwise a device that opens slowly is opened while the threads already search.
    fn plan_devices<'p>(
        &self,
        problem: &'p dyn Problem,
        at_once: bool,
        stopped: &dyn Fn() -> bool,
    ) -> DevicePlan<'p>;
}

/// The devices that a run can use.
#[derive(Default)]
pub struct DevicePlan<'p> {
    /// The usable devices.
    pub devices: Vec<Box<dyn PlannedDevice + 'p>>,
    /// A line about each device that cannot be used, or not as well as requested.
    pub warnings: VecDeque<String>,
}

/// Receives lines that the user should read.
pub type Warn<'p> = Box<dyn Fn(String) + Send + 'p>;

/// A device that has not started to search yet.
pub trait PlannedDevice: Send {
    /// Its name: `emulated0`.
    fn name(&self) -> &str;

    /// Whether driving it keeps a core busy.
    fn needs_core(&self) -> bool;

    /// Whether it does not know which part of the tree its nodes are.
    fn is_blind(&self) -> bool;

    /// Its measured rate in nodes per second, when it starts with this piece of work.
    ///
    /// # Errors
    /// If it cannot read the work, or finds that a bound is wrong.
    fn measure_rate(&mut self, from: &Work, best: i64) -> Result<f64, RunError>;

    /// Its executor. `warn` receives a line if the device fails; a `slow` of 1 means full speed.
    fn executor<'r>(
        self: Box<Self>,
        problem: &'r dyn Problem,
        warn: Warn<'r>,
        slow: f64,
    ) -> Box<dyn Executor + 'r>
    where
        Self: 'r;
}

/// The longest time that a worker searches alone to measure its speed.
const TIME: Duration = Duration::from_millis(300);

/// The rate of a search in nodes per second. `step` returns the progress of a step and the size of the work left.
///
/// # Errors
/// If a bound is found to be wrong.
pub fn measure_rate(
    mut best: i64,
    mut step: impl FnMut(i64) -> (Progress, f64),
) -> Result<f64, RunError> {
    let (start, mut used, mut left) = (Instant::now(), 0, 1.0);
    while left > 0.0 && start.elapsed() < TIME {
        let (progress, size) = step(best);
        (used, left) = (used + progress.used, size);
        if let Some(fault) = progress.fault {
            return Err(fault.into());
        }
        best = progress.found.map_or(best, |found| found.score.min(best));
    }
    Ok(used as f64 / start.elapsed().as_secs_f64().max(1e-9))
}
