//! [`plan`]: the units of a run: first the threads, then the devices that can be used.

use crate::commons::Commons;
use crate::error::RunError;
use crate::executor::Executor;
use crate::executor::gpu::executor::{DeviceExecutor, Rounds};
use crate::executor::gpu::form::{Built, Form};
use crate::executor::gpu::mode::prepare;
use crate::executor::gpu::shelf::Shelf;
use crate::executor::gpu::spec::{Kind, Mode, names};
use crate::executor::threads::ThreadExecutor;
use crate::settings::Settings;
use pleach_core::problem::Problem;
use pleach_core::work::{Malformed, Work};
use std::collections::VecDeque;
use std::sync::Arc;

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
    Device(Box<dyn Rounds + 'p>),
}

/// The units of a run. A device that cannot be used is left out.
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
    for (spec, name) in settings.devices.iter().zip(names(&settings.devices)) {
        // A problem without kernels is worth a line only if the device was asked for.
        if !spec.asked && problem.on_device().is_err() && problem.evaluation().is_err() {
            continue;
        }
        match prepare(problem, spec, shelf) {
            Ok(explorer) => {
                let fell_back = explorer
                    .built()
                    .filter(|built| built.form == Form::Committed && !built.log.is_empty());
                if let Some(Built { log, .. }) = fell_back {
                    warnings.push_back(format!(
                        "{name} uses the kernel for any instance, which is slower: {log}"
                    ));
                }
                gpus += u32::from(matches!(spec.kind, Kind::Gpu(_)));
                devices.push(Planned { name, make: Make::Device(explorer) });
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

impl<'p> Planned<'p> {
    /// Its name: `cpu0`, `emulated0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a thread of the CPU.
    pub fn is_thread(&self) -> bool {
        matches!(self.make, Make::Thread)
    }

    /// The device that it is, if it is one.
    pub fn device(&mut self) -> Option<&mut (dyn Rounds + 'p)> {
        match &mut self.make {
            Make::Thread => None,
            Make::Device(explorer) => Some(&mut **explorer),
        }
    }

    /// What a device does for the search.
    pub fn mode(&self) -> Option<Mode> {
        match &self.make {
            Make::Thread => None,
            Make::Device(explorer) => Some(explorer.mode()),
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
        commons: &'p Commons<'p>,
        slow: f64,
    ) -> Result<Box<dyn Executor + 'p>, Malformed> {
        let mut executor: Box<dyn Executor + 'p> = match self.make {
            Make::Thread => Box::new(ThreadExecutor::new(problem.explorer(), slow)),
            Make::Device(explorer) => {
                let warn = Box::new(|line| commons.warn(line));
                Box::new(DeviceExecutor::new(self.name, explorer, warn, slow))
            }
        };
        for piece in pieces {
            executor.explorer().put(&piece.bytes)?;
        }
        Ok(executor)
    }
}
