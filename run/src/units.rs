//! [`plan`]: the units of a run: first the threads, then the devices that can be used.

use crate::error::RunError;
use crate::executor::Executor;
use crate::executor::gpu::DeviceError;
use crate::executor::gpu::coming::ComingExecutor;
use crate::executor::gpu::errand::DeviceRequest;
use crate::executor::gpu::executor::{DeviceExecutor, Rounds, fell_back};
use crate::executor::gpu::mode::begin;
use crate::executor::gpu::opening::Opening;
use crate::executor::gpu::shelf::Shelf;
use crate::executor::gpu::spec::{DeviceKind, Mode, names};
use crate::executor::threads::ThreadExecutor;
use crate::run_state::RunState;
use crate::settings::Settings;
use pleach_core::problem::Problem;
use pleach_core::work::{Malformed, Work};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// The units of a run, and a line about each device that is not used.
pub(crate) struct Plan<'p> {
    pub units: Vec<Planned<'p>>,
    pub warnings: VecDeque<String>,
}

/// A unit that has not started.
pub(crate) struct Planned<'p> {
    pub name: String,
    make: Make<'p>,
}

enum Make<'p> {
    Thread,
    /// With the time that opening it took.
    Device(Box<dyn Rounds + 'p>, Duration),
    Coming(Opening),
}

/// The units of a run. A device that cannot be used is left out. One that takes long to open is opened while the
/// threads search already, if there are any.
///
/// # Errors
/// If no unit is left.
pub(crate) fn plan<'p>(
    problem: &'p dyn Problem,
    settings: &Settings,
    shelf: &Arc<Shelf>,
) -> Result<Plan<'p>, RunError> {
    let thread = |me: u32| Planned { name: format!("cpu{me}"), make: Make::Thread };
    let mut warnings = VecDeque::new();
    let (mut devices, mut gpus) = (Vec::new(), 0);
    // Alone, or where its speed is to be known beforehand, a device is opened first.
    let at_once = settings.threads == 0 || settings.policy.profile;
    for (spec, name) in settings.devices.iter().zip(names(&settings.devices)) {
        // A problem without kernels is worth a line only if the device was asked for.
        if !spec.asked && problem.on_device().is_err() && problem.evaluation().is_err() {
            continue;
        }
        let errand = DeviceRequest::new(problem, spec, shelf);
        // A GPU that is of no use to Pleach, and that nobody asked for.
        if !spec.asked && errand.is_err() {
            continue;
        }
        if spec.once {
            warnings.push_back(format!("{name}: launch=once is for loops and has no effect here"));
        }
        match errand.and_then(|errand| make(problem, errand, at_once)) {
            Ok(make) => {
                if let Make::Device(explorer, _) = &make {
                    warnings.extend(fell_back(&name, &**explorer));
                }
                gpus += u32::from(matches!(spec.kind, DeviceKind::Gpu(_)));
                devices.push(Planned { name, make });
            }
            Err(why) => warnings.push_back(format!("{name} not used: {why}")),
        }
    }
    let fewer = if settings.make_room { gpus } else { 0 };
    let threads = settings.threads.saturating_sub(fewer).max(settings.threads.min(1));
    let units: Vec<Planned<'p>> = (0..threads).map(thread).chain(devices).collect();
    if units.is_empty() {
        let none = || "no device has a kernel for this problem".into();
        return Err(RunError::NoUnit(warnings.pop_front().unwrap_or_else(none)));
    }
    Ok(Plan { units, warnings })
}

/// A device at its errand, or on its way, where it may come later.
fn make(
    problem: &dyn Problem,
    errand: DeviceRequest,
    at_once: bool,
) -> Result<Make<'_>, DeviceError> {
    if !at_once && !errand.is_quick() {
        return Opening::start(errand).map(Make::Coming);
    }
    let opened = errand.open()?;
    let took = opened.took();
    Ok(Make::Device(begin(opened, problem)?, took))
}

impl<'p> Planned<'p> {
    /// Its name: `cpu0`, `emulated0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a thread of the CPU.
    pub fn is_thread(&self) -> bool {
        matches!(self.make, Make::Thread)
    }

    /// The device that it is, if it is one that is open.
    pub fn device(&mut self) -> Option<&mut (dyn Rounds + 'p)> {
        match &mut self.make {
            Make::Device(explorer, _) => Some(&mut **explorer),
            Make::Thread | Make::Coming(_) => None,
        }
    }

    /// What a device does for the search.
    pub fn mode(&self) -> Option<Mode> {
        match &self.make {
            Make::Thread => None,
            Make::Device(explorer, _) => Some(explorer.mode()),
            Make::Coming(opening) => Some(opening.mode()),
        }
    }

    /// Whether its nodes do not tell which part of the tree they are.
    pub fn is_blind(&self) -> bool {
        self.mode() == Some(Mode::Explore)
    }

    /// The unit's executor with its first pieces. To be called on the thread that runs the unit.
    pub fn executor(
        self,
        problem: &'p dyn Problem,
        pieces: impl Iterator<Item = &'p Work>,
        run_state: &'p RunState<'p>,
        slow: f64,
    ) -> Result<Box<dyn Executor + 'p>, Malformed> {
        let warn = Box::new(|line| run_state.warn(line));
        let mut executor: Box<dyn Executor + 'p> = match self.make {
            Make::Thread => Box::new(ThreadExecutor::new(problem.explorer(), slow)),
            Make::Device(explorer, took) => {
                Box::new(DeviceExecutor::new(self.name, (explorer, took), warn, slow))
            }
            Make::Coming(opening) => {
                Box::new(ComingExecutor::new(self.name, opening, problem, warn, slow))
            }
        };
        for piece in pieces {
            executor.explorer().put(&piece.bytes)?;
        }
        Ok(executor)
    }
}
