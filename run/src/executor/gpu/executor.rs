//! [`DeviceExecutor`]: a device on the thread that drives it, one round at a time.

use super::explorer::DeviceExplorer;
use crate::executor::{Budget, Executor, Stretch};
use pleach_core::explorer::{Explorer, Progress};
use std::time::Instant;

/// A device, and whom to warn if it fails.
pub struct DeviceExecutor<'p> {
    explorer: DeviceExplorer<'p>,
    warn: Box<dyn Fn(String) + Send + 'p>,
    name: String,
}

impl<'p> DeviceExecutor<'p> {
    /// An executor for a device's explorer. `warn` receives a line if the device fails.
    #[must_use]
    pub fn new(
        name: String,
        explorer: DeviceExplorer<'p>,
        warn: Box<dyn Fn(String) + Send + 'p>,
    ) -> Self {
        Self { explorer, warn, name }
    }

    fn report_loss(&mut self) {
        if let Some(why) = self.explorer.lost() {
            (self.warn)(format!("{} failed: {why}; its work continues on the CPU", self.name));
        }
    }
}

impl Executor for DeviceExecutor<'_> {
    fn explorer(&mut self) -> &mut dyn Explorer {
        &mut self.explorer
    }

    fn appetite(&self) -> u64 {
        self.explorer.appetite()
    }

    fn flush(&mut self) -> Progress {
        let progress = self.explorer.flush();
        self.report_loss();
        progress
    }

    fn explore(&mut self, budget: &Budget<'_>) -> Stretch {
        let start = Instant::now();
        let progress = self.explorer.step(budget.fuel, (budget.best)());
        self.report_loss();
        let (active, all) = self.explorer.active();
        let active = Some(f64::from(active) / f64::from(all));
        Stretch { progress, busy_ns: start.elapsed().as_nanos() as u64, active }
    }
}
