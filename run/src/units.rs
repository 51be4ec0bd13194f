//! [`Planned`]: the units of a run, threads of the CPU first, then the devices that can be used.

use crate::executor::Executor;
use crate::executor::gpu::executor::DeviceExecutor;
use crate::executor::gpu::explorer::DeviceExplorer;
use crate::executor::gpu::spec::{Kind, Spec};
use crate::executor::gpu::{DeviceError, open};
use crate::executor::threads::ThreadExecutor;
use crate::launch::{RunError, Settings};
use crate::sync::{Mutex, lock};
use pleach_core::problem::Problem;
use pleach_core::work::{Malformed, Work};
use std::collections::VecDeque;

/// Lines to be said while the run goes on.
pub(crate) type Warnings = Mutex<VecDeque<String>>;

/// A unit before it begins.
pub(crate) struct Planned<'p> {
    pub name: String,
    make: Make<'p>,
}

enum Make<'p> {
    Thread { slow: f64 },
    Device(Box<DeviceExplorer<'p>>),
}

/// The units that a run has: a device that cannot be used is told of, and left out.
///
/// # Errors
/// If none is left.
pub(crate) fn plan<'p>(
    problem: &'p dyn Problem,
    settings: &Settings,
    warnings: &Warnings,
) -> Result<Vec<Planned<'p>>, RunError> {
    let thread = |me: u32| Planned {
        name: format!("cpu{me}"),
        make: Make::Thread { slow: settings.slow.get(me as usize).copied().unwrap_or(1.0) },
    };
    let (mut devices, mut emulated, mut gpus) = (Vec::new(), 0, 0);
    for spec in &settings.devices {
        if !spec.asked && problem.on_device().is_err() {
            continue;
        }
        let name = match spec.kind {
            Kind::Emulated => {
                emulated += 1;
                format!("emulated{}", emulated - 1)
            }
            gpu @ Kind::Gpu(_) => gpu.to_string(),
        };
        match device(problem, spec) {
            Ok(explorer) => {
                gpus += u32::from(matches!(spec.kind, Kind::Gpu(_)));
                devices.push(Planned { name, make: Make::Device(Box::new(explorer)) });
            }
            Err(why) => lock(warnings).push_back(format!("{name} is not used: {why}")),
        }
    }
    let fewer = if settings.make_room { gpus } else { 0 };
    let threads = settings.threads.saturating_sub(fewer).max(settings.threads.min(1));
    let units: Vec<Planned<'p>> = (0..threads).map(thread).chain(devices).collect();
    if units.is_empty() {
        let why = lock(warnings).pop_front();
        return Err(RunError::NoUnit(
            why.unwrap_or_else(|| "no device is for this problem".into()),
        ));
    }
    Ok(units)
}

fn device<'p>(problem: &'p dyn Problem, spec: &Spec) -> Result<DeviceExplorer<'p>, DeviceError> {
    let no_kernel = |what| DeviceError::Failed(format!("there is no kernel for {what}"));
    let on = problem.on_device().map_err(no_kernel)?;
    DeviceExplorer::new(open(spec)?, problem, on, spec)
}

impl<'p> Planned<'p> {
    /// Whether it is a thread of the CPU.
    pub fn is_thread(&self) -> bool {
        matches!(self.make, Make::Thread { .. })
    }

    /// The unit's executor, with these pieces to begin with; to be called where it is to run.
    pub fn executor(
        self,
        problem: &'p dyn Problem,
        pieces: impl Iterator<Item = &'p Work>,
        warnings: &'p Warnings,
    ) -> Result<Box<dyn Executor + 'p>, Malformed> {
        let mut executor: Box<dyn Executor + 'p> = match self.make {
            Make::Thread { slow } => Box::new(ThreadExecutor::new(problem.explorer(), slow)),
            Make::Device(explorer) => {
                let warn = Box::new(|line| lock(warnings).push_back(line));
                Box::new(DeviceExecutor::new(self.name, *explorer, warn))
            }
        };
        for piece in pieces {
            executor.explorer().put(&piece.bytes)?;
        }
        Ok(executor)
    }
}
