//! [`RunLoops`]: how a worker pool runs loops and steps.

use super::contract::{Loop, Stepping};
use super::run_loop::{LoopOutcome, run_loop};
use super::settings::{LoopSettings, LoopSnapshot};
use super::steps::{StepsOutcome, Stops, run_steps};
use pleach_runtime::WorkerPool;
use pleach_runtime::error::RunError;
use std::ops::{ControlFlow, Range};

/// What a worker pool does with loops.
pub trait RunLoops {
    /// Runs all units of a loop, each once. `watch` is shown how far it is now and then, and stops it by breaking.
    ///
    /// # Errors
    /// If the system gives no more threads. A panic in the loop continues in the caller.
    fn run_loop<L: Loop>(
        &self,
        work: &L,
        settings: &LoopSettings,
        watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
    ) -> Result<LoopOutcome<L::Hand>, RunError>;

    /// Does steps on all threads and devices, with a slab for each. `watch` is shown how far it is now and then, and
    /// stops it by breaking, after a whole sweep. If a device fails, the steps begin again without it.
    ///
    /// # Errors
    /// If the system gives no more threads. A panic in the work continues in the caller.
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
    ) -> Result<LoopOutcome<L::Hand>, RunError> {
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
