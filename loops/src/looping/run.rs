//! [`RunLoops`]: runs loops and steps on a worker pool.

use super::contract::{Loop, Stepping};
use super::run_loop::{LoopOutcome, run_loop};
use super::settings::{LoopSettings, LoopSnapshot};
use super::steps::{StepsOutcome, Stops, run_steps};
use pleach_runtime::WorkerPool;
use pleach_runtime::error::RunError;
use std::ops::{ControlFlow, Range};

/// Runs loops and steps.
pub trait RunLoops {
    /// Runs all units of a loop, each once. Calls `watch` with the progress from time to time; it can stop the loop by
    /// breaking.
    ///
    /// # Errors
    /// If the system cannot start more threads. A panic in the loop continues in the caller.
    fn run_loop<L: Loop>(
        &self,
        work: &L,
        settings: &LoopSettings,
        watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
    ) -> Result<LoopOutcome<L::Local>, RunError>;

    /// Does steps on all threads and devices, with a slab for each. Calls `watch` with the progress from time to time;
    /// it can stop the work after a whole sweep by breaking. If a device fails, all steps are restarted without it.
    ///
    /// # Errors
    /// If the system cannot start more threads. A panic in the work continues in the caller.
    fn run_steps<'s, W: Stepping>(
        &self,
        work: &W,
        begin: impl Fn(Range<usize>) -> Result<W::Slab, String> + Sync,
        steps: impl Into<Stops<'s, W::Slab>>,
        settings: &LoopSettings,
        watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
    ) -> Result<StepsOutcome<W::Slab>, RunError>
    where
        W::Slab: 's;
}

impl RunLoops for WorkerPool {
    fn run_loop<L: Loop>(
        &self,
        work: &L,
        settings: &LoopSettings,
        watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
    ) -> Result<LoopOutcome<L::Local>, RunError> {
        run_loop(self, work, settings, watch)
    }

    fn run_steps<'s, W: Stepping>(
        &self,
        work: &W,
        begin: impl Fn(Range<usize>) -> Result<W::Slab, String> + Sync,
        steps: impl Into<Stops<'s, W::Slab>>,
        settings: &LoopSettings,
        watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
    ) -> Result<StepsOutcome<W::Slab>, RunError>
    where
        W::Slab: 's,
    {
        run_steps(self, work, begin, steps, settings, watch)
    }
}
