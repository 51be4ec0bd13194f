//! [`DeviceExecutor`]: a device on the thread that drives it, one round at a time.

use super::DeviceError;
use super::form::{BuiltKernel, Form};
use super::spec::Mode;
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_runtime::activity::Phases;
use pleach_runtime::devices::Warn;
use pleach_runtime::executor::slow::Slow;
use pleach_runtime::executor::{Budget, Executor, Stretch};
use pleach_runtime::outcome::WorkerReport;
use std::time::{Duration, Instant};

/// An explorer whose work a device does, one round at a time.
pub trait Rounds: Explorer {
    /// Explores for one round, or about as long if the device is lost. A round may use more than the fuel. Counts may
    /// be reported later.
    fn step(&mut self, fuel: u64, best: i64) -> Progress;

    /// Reports all counts held back so far.
    fn flush(&mut self) -> Progress {
        Progress::default()
    }

    /// The fuel of a full round.
    fn max_fuel(&self) -> u64;

    /// How many explorers had work at the end of the last round, and how many took part.
    fn active(&self) -> (u32, u32);

    /// What the device did besides exploring since the last call.
    fn take_phases(&mut self) -> Phases;

    /// Why the device was given up, reported once.
    fn take_failure(&mut self) -> Option<DeviceError>;

    /// What the device does.
    fn mode(&self) -> Mode;

    /// Whether the device is still in use.
    fn is_well(&self) -> bool;

    /// Nodes a second when exploring and when bounding, if both were tried.
    fn trial(&self) -> Option<(u64, u64)> {
        None
    }

    /// The form of the device's kernels, if there are several.
    fn built(&self) -> Option<&BuiltKernel>;
}

/// Explores round by round, as [`Explorer::run`] does.
pub(crate) fn run_rounds(explorer: &mut dyn Rounds, fuel: u64, best: i64) -> Progress {
    let mut progress = Progress::default();
    while progress.used < fuel && progress.found.is_none() && explorer.size() > 0.0 {
        progress.add(explorer.step(fuel - progress.used, best));
    }
    progress.add(explorer.flush());
    progress
}

/// A warning about a device that fell back to the kernel for any instance.
#[must_use]
pub fn fell_back(name: &str, explorer: &dyn Rounds) -> Option<String> {
    let fell = |built: &&BuiltKernel| built.form == Form::Committed && !built.log.is_empty();
    let BuiltKernel { log, .. } = explorer.built().filter(fell)?;
    Some(format!("{name} uses the kernel for any instance, which is slower: {log}"))
}

/// A device, and a callback for warnings.
pub struct DeviceExecutor<'p> {
    explorer: Box<dyn Rounds + 'p>,
    /// How long opening it took.
    opened: Duration,
    warn: Warn<'p>,
    name: String,
    slow: Slow,
}

impl<'p> DeviceExecutor<'p> {
    /// An executor for a device's explorer, with the time it took to open the device. `warn` receives a line if the
    /// device fails; a `slow` of 1 is full speed.
    #[must_use]
    pub fn new(
        name: String,
        (explorer, opened): (Box<dyn Rounds + 'p>, Duration),
        warn: Warn<'p>,
        slow: f64,
    ) -> Self {
        Self { explorer, opened, warn, name, slow: Slow::by(slow) }
    }

    fn report_loss(&mut self) {
        if let Some(why) = self.explorer.take_failure() {
            (self.warn)(format!("{} failed: {why}; its work continues on the CPU", self.name));
        }
    }
}

impl Executor for DeviceExecutor<'_> {
    fn explorer(&mut self) -> &mut dyn Explorer {
        &mut *self.explorer
    }

    fn max_fuel(&self) -> u64 {
        self.explorer.max_fuel()
    }

    fn flush(&mut self) -> Progress {
        let progress = self.explorer.flush();
        self.report_loss();
        progress
    }

    fn fill_report(&self, report: &mut WorkerReport) {
        report.mode = self.explorer.mode().to_string();
        report.opened_s = Some(self.opened.as_secs_f64());
        report.trial = self.explorer.trial();
        if let Some(BuiltKernel { form, log }) = self.explorer.built() {
            (report.kernel, report.kernel_log) = (form.to_string(), log.clone());
        }
    }

    fn explore(&mut self, budget: &Budget<'_>) -> Stretch {
        let (paid_ns, paid) = self.slow.wait_delay(budget);
        if !paid {
            return Stretch { busy_ns: paid_ns as u64, ..Stretch::default() };
        }
        let start = Instant::now();
        let progress = self.explorer.step(budget.fuel, (budget.best)());
        self.report_loss();
        let worked_ns = start.elapsed().as_nanos() as f64;
        self.slow.add_delay(worked_ns);
        let (active, all) = self.explorer.active();
        let active = Some(f64::from(active) / f64::from(all));
        let phases = self.explorer.take_phases();
        Stretch { progress, busy_ns: (paid_ns + worked_ns) as u64, active, phases }
    }
}
