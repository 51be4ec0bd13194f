//! [`Stage`]: a part of a frame's preparation, as a loop.

use crate::looping::Loop;
use std::ops::Range;

/// A part of a frame's preparation: a loop for the threads of a process.
pub struct Stage<'a> {
    units: usize,
    unit: &'a (dyn Fn(usize) + Sync),
}

/// Runs all units of a stage, each once. Returns whether they were run; if not, the preparation ends.
pub type RunStage<'r> = dyn FnMut(&Stage<'_>) -> bool + 'r;

/// Runs a stage of this many units; `None` if it was stopped.
pub(super) fn run_stage(
    run: &mut RunStage<'_>,
    units: usize,
    unit: impl Fn(usize) + Sync,
) -> Option<()> {
    run(&Stage { units, unit: &unit }).then_some(())
}

impl Loop for Stage<'_> {
    type Local = ();

    fn units(&self) -> usize {
        self.units
    }

    fn local(&self) {}

    fn run(&self, units: Range<usize>, (): &mut ()) {
        units.for_each(self.unit);
    }
}
