//! [`DeviceRequest`]: what a device should do for a search: checked first, then opened.

use super::evaluate::{self, Evaluator};
use super::explorer::{self, DeviceExplorer};
use super::pool::{BorrowedDevice, DevicePool};
use super::spec::{DeviceKind, Mode, Spec};
use super::{DeviceError, check};
use pleach_core::search::device::Layout;
use pleach_core::search::problem::Problem;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a device should do for a search. It has all that opening needs and borrows nothing from the problem.
pub struct DeviceRequest {
    pub(super) spec: Spec,
    pub(super) pool: Arc<DevicePool>,
    /// What the device does; `None` if a trial is to decide.
    mode: Option<Mode>,
    layout: Layout,
}

/// A device that is open and ready.
pub struct OpenDevice {
    request: DeviceRequest,
    device: BorrowedDevice,
    /// How many children it can bound at once, if it bounds.
    at_once: u32,
    took: Duration,
}

impl DeviceRequest {
    /// Requests a device that explores, or that bounds what the host branches. By default it does what there is a
    /// kernel for; if there are both kernels, it explores until a trial shows which is faster.
    ///
    /// # Errors
    /// If there is no kernel or no such device. All that takes long is left to [`DeviceRequest::open`].
    pub fn new(
        problem: &dyn Problem,
        spec: &Spec,
        pool: &Arc<DevicePool>,
    ) -> Result<Self, DeviceError> {
        let known = match (problem.on_device(), problem.evaluation()) {
            (Ok(on), Ok(_)) => pool.chosen(spec.kind, &on.layout()),
            (Err(_), Ok(_)) => Some(Mode::Evaluate),
            _ => Some(Mode::Explore),
        };
        let mode = spec.mode.or(known);
        let layout = match mode {
            Some(Mode::Evaluate) => problem.evaluation().map_err(no_bounds)?.layout(),
            _ => {
                let on = problem.on_device().map_err(no_kernel)?;
                explorer::wanted(problem, on, spec)?
            }
        };
        check(spec)?;
        Ok(Self { spec: *spec, pool: Arc::clone(pool), mode, layout })
    }

    /// Whether opening takes practically no time, because the device, or one like it, is already open with the right
    /// kernel.
    #[must_use]
    pub fn is_quick(&self) -> bool {
        #[cfg(feature = "emulated")]
        if self.is_awaited() && pleach_kernels::emulated::is_compiled(self.layout.kernel) {
            return true;
        }
        self.pool.has(&self.spec, |device| device.has_kernel(&self.layout, self.spec.handling))
    }

    /// Whether a run waits for the device even if it has threads: for an emulated one, so that the device takes part in
    /// the smallest test.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.spec.kind == DeviceKind::Emulated && self.spec.late.is_none()
    }

    /// What the device does at first.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode.unwrap_or(Mode::Explore)
    }

    /// Opens the device and prepares it, which may take a while.
    ///
    /// # Errors
    /// If the device cannot be used.
    pub fn open(self) -> Result<OpenDevice, DeviceError> {
        let start = Instant::now();
        let device = self.pool.take(&self.spec)?;
        self.prepare(device, start)
    }

    /// Prepares a device whose opening began at `start`.
    pub(super) fn prepare(
        self,
        mut device: BorrowedDevice,
        start: Instant,
    ) -> Result<OpenDevice, DeviceError> {
        let at_once = match self.mode() {
            Mode::Evaluate => evaluate::prepare_to_bound(&mut device, &self.layout, &self.spec)?,
            Mode::Explore => {
                explorer::prepare_to_explore(&mut device, &self.layout, &self.spec).map(|()| 0)?
            }
        };
        Ok(OpenDevice { request: self, device, at_once, took: start.elapsed() })
    }
}

impl OpenDevice {
    /// How long opening took.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// What the device does; `None` if a trial is to decide.
    pub(super) fn mode(&self) -> Option<Mode> {
        self.request.mode
    }

    /// What it was opened for.
    pub(super) fn request(&self) -> &DeviceRequest {
        &self.request
    }

    /// Uses the device to bound, if that was requested. `problem` must be the problem of the request.
    ///
    /// # Errors
    /// If there is no kernel for the problem.
    pub fn bounds(self, problem: &dyn Problem) -> Result<Evaluator<'_>, DeviceError> {
        let host = problem.evaluation().map_err(no_bounds)?;
        Ok(Evaluator::new((self.device, self.at_once), problem, host, &self.request.spec))
    }

    /// Uses the device to explore, if that was requested. `problem` must be the problem of the request.
    ///
    /// # Errors
    /// If there is no kernel for the problem.
    pub fn explores(self, problem: &dyn Problem) -> Result<DeviceExplorer<'_>, DeviceError> {
        let on = problem.on_device().map_err(no_kernel)?;
        let DeviceRequest { spec, layout, .. } = &self.request;
        Ok(DeviceExplorer::new(self.device, layout, (problem, on), spec))
    }
}

fn no_kernel(what: &str) -> DeviceError {
    DeviceError::Failed(format!("it has no kernel for {what}"))
}

fn no_bounds(what: &str) -> DeviceError {
    DeviceError::Failed(format!("it has no kernel that bounds with {what}"))
}
