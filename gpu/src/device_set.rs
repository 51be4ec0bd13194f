//! [`DeviceSet`]: the devices that a run was given, as workers of its search.

use super::DeviceError;
use super::begin::begin;
use super::executor::{DeviceExecutor, Rounds, fell_back};
use super::pending::PendingDevice;
use super::pending_executor::PendingExecutor;
use super::pool::DevicePool;
use super::request::DeviceRequest;
use super::spec::{DeviceKind, Mode, Spec, names};
use pleach_core::search::problem::Problem;
use pleach_core::search::work::Work;
use pleach_runtime::devices::{DevicePlan, Devices, PlannedDevice, Warn, measure_rate};
use pleach_runtime::error::RunError;
use pleach_runtime::executor::Executor;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The devices that a run was given. They come from a pool of open devices and return to it.
#[derive(Clone)]
pub struct DeviceSet {
    specs: Vec<Spec>,
    pool: Arc<DevicePool>,
}

impl DeviceSet {
    /// Devices from the pool of this process; `None` if the list is empty.
    #[must_use]
    pub fn shared(specs: Vec<Spec>) -> Option<Arc<dyn Devices>> {
        Self::from_pool(specs, DevicePool::shared())
    }

    /// Devices from this pool; `None` if the list is empty.
    #[must_use]
    pub fn from_pool(specs: Vec<Spec>, pool: &Arc<DevicePool>) -> Option<Arc<dyn Devices>> {
        let pool = Arc::clone(pool);
        (!specs.is_empty()).then(|| Arc::new(Self { specs, pool }) as Arc<dyn Devices>)
    }
}

impl fmt::Debug for DeviceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.specs).finish()
    }
}

impl Devices for DeviceSet {
    fn plan_devices<'p>(
        &self,
        problem: &'p dyn Problem,
        at_once: bool,
        stopped: &dyn Fn() -> bool,
    ) -> DevicePlan<'p> {
        let mut plan = DevicePlan::default();
        for (spec, name) in self.specs.iter().zip(names(&self.specs)) {
            // Mention a problem without kernels only if the user asked for the device.
            if !spec.asked && problem.on_device().is_err() && problem.evaluation().is_err() {
                continue;
            }
            let request = DeviceRequest::new(problem, spec, &self.pool);
            // Say nothing about a GPU that Pleach cannot use and that the user did not ask for.
            if !spec.asked && request.is_err() {
                continue;
            }
            if spec.once {
                let line = format!("{name}: launch=once is for loops and has no effect here");
                plan.warnings.push_back(line);
            }
            match request.and_then(|request| State::of(request, problem, at_once, stopped)) {
                Ok(state) => {
                    if let State::Open(explorer, _) = &state {
                        plan.warnings.extend(fell_back(&name, &**explorer));
                    }
                    let is_gpu = matches!(spec.kind, DeviceKind::Gpu(_));
                    plan.devices.push(Box::new(SearchDevice { name, is_gpu, state }));
                }
                Err(why) => plan.warnings.push_back(format!("{name} not used: {why}")),
            }
        }
        plan
    }
}

/// A device that will search.
struct SearchDevice<'p> {
    name: String,
    is_gpu: bool,
    state: State<'p>,
}

enum State<'p> {
    /// With the time it took to open.
    Open(Box<dyn Rounds + 'p>, Duration),
    Pending(PendingDevice),
}

impl<'p> State<'p> {
    /// A device that is ready, or pending if the run allows it to come later or was stopped.
    fn of(
        request: DeviceRequest,
        problem: &'p dyn Problem,
        at_once: bool,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Self, DeviceError> {
        let opened = if request.is_quick() {
            request.open()?
        } else {
            let waits = at_once || request.is_awaited();
            let mut pending = PendingDevice::start(request)?;
            match if waits { pending.wait(stopped) } else { None } {
                Some(opened) => opened?,
                None => return Ok(Self::Pending(pending)),
            }
        };
        let took = opened.took();
        Ok(Self::Open(begin(opened, problem)?, took))
    }
}

impl PlannedDevice for SearchDevice<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn needs_core(&self) -> bool {
        self.is_gpu
    }

    fn is_blind(&self) -> bool {
        let mode = match &self.state {
            State::Open(explorer, _) => explorer.mode(),
            State::Pending(pending) => pending.mode(),
        };
        mode == Mode::Explore
    }

    fn measure_rate(&mut self, from: &Work, best: i64) -> Result<f64, RunError> {
        // A run that was stopped before the device was open does not use the rate.
        let State::Open(explorer, _) = &mut self.state else { return Ok(0.0) };
        explorer.add_work(&from.bytes)?;
        let fuel = explorer.max_fuel();
        let rate = measure_rate(best, |best| (explorer.step(fuel, best), explorer.size()))?;
        explorer.drain();
        explorer.flush();
        explorer.take_phases();
        Ok(rate)
    }

    fn executor<'r>(
        self: Box<Self>,
        problem: &'r dyn Problem,
        warn: Warn<'r>,
        slow: f64,
    ) -> Box<dyn Executor + 'r>
    where
        Self: 'r,
    {
        match self.state {
            State::Open(explorer, took) => {
                Box::new(DeviceExecutor::new(self.name, (explorer, took), warn, slow))
            }
            State::Pending(pending) => {
                Box::new(PendingExecutor::new(self.name, pending, problem, warn, slow))
            }
        }
    }
}
