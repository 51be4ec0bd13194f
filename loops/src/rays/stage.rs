//! [`Stage`]: a part of a frame's preparation, as a loop.

use crate::looping::Loop;
use std::ops::Range;

/// A part of a frame's preparation: a loop for the threads of a process.
pub struct Stage<'a> {
    units: usize,
    /// The cost of the first unit; all others have a cost of 1.
    first: f64,
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
    run(&Stage { units, first: 1.0, unit: &unit }).then_some(())
}

/// Runs a stage of this many units while one of the threads does a task. The task comes first, because it is expected
/// to take about as long as all units together.
pub(super) fn run_stage_alongside(
    run: &mut RunStage<'_>,
    task: &(dyn Fn() + Sync),
    units: usize,
    unit: impl Fn(usize) + Sync,
) -> Option<()> {
    let first = units.max(1) as f64;
    let unit = |number: usize| match number.checked_sub(1) {
        Some(number) => unit(number),
        None => task(),
    };
    run(&Stage { units: units + 1, first, unit: &unit }).then_some(())
}

impl Loop for Stage<'_> {
    type Local = ();

    fn units(&self) -> usize {
        self.units
    }

    fn cost_before(&self, unit: usize) -> f64 {
        if unit == 0 { 0.0 } else { self.first + (unit - 1) as f64 }
    }

    fn local(&self) {}

    fn run(&self, units: Range<usize>, (): &mut ()) {
        units.for_each(self.unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_task_costs_as_much_as_all_units_together() {
        for (units, expected) in [(0, vec![0.0, 1.0]), (3, vec![0.0, 3.0, 4.0, 5.0, 6.0])] {
            let ran = Mutex::new(Vec::new());
            let note = |number: usize| ran.lock().unwrap().push(number);
            let mut costs: Vec<f64> = Vec::new();
            let mut run = |stage: &Stage<'_>| {
                costs = (0..=stage.units()).map(|unit| stage.cost_before(unit)).collect();
                stage.run(0..stage.units(), &mut ());
                true
            };
            assert!(run_stage_alongside(&mut run, &|| note(100), units, note).is_some());
            assert_eq!(costs, expected);
            assert!(ran.into_inner().unwrap().into_iter().eq([100].into_iter().chain(0..units)));
        }
    }
}
