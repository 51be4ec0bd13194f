//! [`plan_workers`]: the workers of a run: first the threads, then the usable devices.

use crate::devices::{DevicePlan, PlannedDevice};
use crate::error::RunError;
use crate::executor::Executor;
use crate::executor::threads::ThreadExecutor;
use crate::run_state::RunState;
use crate::settings::Settings;
use pleach_core::search::explorer::joined;
use pleach_core::search::problem::Problem;
use pleach_core::search::work::{Malformed, Work};
use std::collections::VecDeque;
use std::time::Instant;

/// The workers of a run, with a line about each device that is not used.
pub struct Plan<'p> {
    /// The workers.
    pub workers: Vec<PlannedWorker<'p>>,
    /// The lines.
    pub warnings: VecDeque<String>,
}

/// A worker that has not started.
pub struct PlannedWorker<'p> {
    /// Its name: `cpu0`, `emulated0`.
    pub name: String,
    /// The device; `None` for a thread.
    device: Option<Box<dyn PlannedDevice + 'p>>,
    /// Whether a thread explores the best nodes first.
    best_first: bool,
}

/// The workers of a run that began at `start`. A device that cannot be used is left out.
///
/// # Errors
/// If no worker is left.
pub fn plan_workers<'p>(
    problem: &'p dyn Problem,
    settings: &Settings,
    start: Instant,
) -> Result<Plan<'p>, RunError> {
    let until = settings.time_limit.and_then(|limit| start.checked_add(limit));
    let stopped =
        || settings.cancel.is_cancelled() || until.is_some_and(|until| Instant::now() >= until);
    // A device is opened first if there are no threads, or if its speed must be measured beforehand.
    let at_once = settings.threads == 0 || settings.policy.profile;
    let plan =
        settings.devices.as_ref().map(|devices| devices.plan_devices(problem, at_once, &stopped));
    let DevicePlan { devices, mut warnings } = plan.unwrap_or_default();
    let busy = devices.iter().filter(|device| device.needs_core()).count() as u32;
    let fewer = if settings.make_room { busy } else { 0 };
    let threads = settings.threads.saturating_sub(fewer).max(settings.threads.min(1));
    let best_first = settings.best_first;
    let thread = |me: u32| PlannedWorker { name: format!("cpu{me}"), device: None, best_first };
    let device = |device: Box<dyn PlannedDevice + 'p>| PlannedWorker {
        name: device.name().into(),
        device: Some(device),
        best_first: false,
    };
    let workers: Vec<_> = (0..threads).map(thread).chain(devices.into_iter().map(device)).collect();
    if workers.is_empty() {
        let none = || "no device has a kernel for this problem".into();
        return Err(RunError::NoWorker(warnings.pop_front().unwrap_or_else(none)));
    }
    Ok(Plan { workers, warnings })
}

impl<'p> PlannedWorker<'p> {
    /// Whether it is a thread of the CPU.
    #[must_use]
    pub fn is_thread(&self) -> bool {
        self.device.is_none()
    }

    /// The device, if the worker is one.
    pub fn device(&mut self) -> Option<&mut (dyn PlannedDevice + 'p)> {
        self.device.as_deref_mut()
    }

    /// Whether it does not know which part of the tree its nodes are.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        self.device.as_ref().is_some_and(|device| device.is_blind())
    }

    /// The worker's executor with its first pieces. Must be called on the thread that runs the worker.
    pub fn executor(
        self,
        problem: &'p dyn Problem,
        pieces: &[&Work],
        run_state: &'p RunState<'p>,
        slow: f64,
    ) -> Result<Box<dyn Executor + 'p>, Malformed> {
        let mut executor: Box<dyn Executor + 'p> = match self.device {
            None => {
                let best_first = self.best_first.then(|| problem.best_first()).flatten();
                let explorer = best_first.unwrap_or_else(|| problem.explorer());
                Box::new(ThreadExecutor::new(explorer, slow))
            }
            Some(device) => device.executor(problem, Box::new(|line| run_state.warn(line)), slow),
        };
        if !pieces.is_empty() {
            let work = joined(&mut *problem.explorer(), pieces)?;
            executor.explorer().add_work(&work.bytes)?;
        }
        Ok(executor)
    }
}
