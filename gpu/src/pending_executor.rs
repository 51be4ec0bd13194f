//! [`PendingExecutor`]: a worker whose thread explores on the CPU until its device is open.

use super::DeviceError;
use super::begin::begin;
use super::executor::{DeviceExecutor, fell_back};
use super::pending::PendingDevice;
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::problem::Problem;
use pleach_runtime::devices::Warn;
use pleach_runtime::executor::threads::ThreadExecutor;
use pleach_runtime::executor::{Budget, Executor, Stretch};
use pleach_runtime::outcome::WorkerReport;
use std::time::Instant;

/// A CPU thread until its device is open, then the device. If the device cannot be opened, it stays a thread.
pub struct PendingExecutor<'p> {
    now: Box<dyn Executor + 'p>,
    awaited: Option<PendingState<'p>>,
    /// What the device does at first.
    mode: String,
}

/// A device that is not yet open, and what is needed once it is.
struct PendingState<'p> {
    opening: PendingDevice,
    problem: &'p dyn Problem,
    name: String,
    warn: Warn<'p>,
    slow: f64,
}

impl<'p> PendingExecutor<'p> {
    /// An executor for a device that is being opened for this problem. `warn` receives a line if the device cannot be
    /// opened or fails; a `slow` of 1 is full speed.
    #[must_use]
    pub fn new(
        name: String,
        opening: PendingDevice,
        problem: &'p dyn Problem,
        warn: Warn<'p>,
        slow: f64,
    ) -> Self {
        let mode = opening.mode().to_string();
        let now = Box::new(ThreadExecutor::new(problem.explorer(), slow));
        Self { now, awaited: Some(PendingState { opening, problem, name, warn, slow }), mode }
    }

    /// Moves all work to the device once it is open.
    fn check_device(&mut self) {
        let Some(came) = self.awaited.as_mut().and_then(|awaited| awaited.opening.poll()) else {
            return;
        };
        let Some(PendingState { problem, name, warn, slow, .. }) = self.awaited.take() else {
            return;
        };
        let now = self.now.explorer();
        let begun = came.and_then(|opened| {
            let took = opened.took();
            let mut explorer = begin(opened, problem)?;
            let work = now.drain();
            if let Err(why) = explorer.add_work(&work.bytes) {
                now.add_work(&work.bytes).expect("a problem can read its own work");
                return Err(DeviceError::Failed(why.to_string()));
            }
            Ok((explorer, took))
        });
        match begun {
            Err(why) => warn(format!("{name} not used: {why}; its thread searches on the CPU")),
            Ok(device) => {
                fell_back(&name, &*device.0).into_iter().for_each(&warn);
                self.now = Box::new(DeviceExecutor::new(name, device, warn, slow));
            }
        }
    }
}

impl Executor for PendingExecutor<'_> {
    fn explorer(&mut self) -> &mut dyn Explorer {
        self.now.explorer()
    }

    fn max_fuel(&self) -> u64 {
        self.now.max_fuel()
    }

    fn flush(&mut self) -> Progress {
        self.now.flush()
    }

    fn fill_report(&self, report: &mut WorkerReport) {
        report.mode.clone_from(&self.mode);
        self.now.fill_report(report);
    }

    fn explore(&mut self, budget: &Budget<'_>) -> Stretch {
        if self.awaited.is_none() {
            return self.now.explore(budget);
        }
        let start = Instant::now();
        self.check_device();
        let moved_ns = start.elapsed().as_nanos() as u64;
        let mut stretch = self.now.explore(budget);
        stretch.busy_ns += moved_ns;
        stretch.phases.copy_ns += moved_ns;
        // Before this, none of the device's explorers has work.
        stretch.active.get_or_insert(0.0);
        stretch
    }
}
