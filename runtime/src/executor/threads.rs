//! [`ThreadExecutor`]: an explorer on the calling thread.

use super::slow::Slow;
use super::{Budget, Executor, Stretch};
use pleach_core::search::explorer::Explorer;
use std::time::Instant;

/// Time between two checks of the mailbox's flag: the longest that a thief waits.
const CHECK_NS: f64 = 4_000.0;

/// An explorer on the calling thread.
pub struct ThreadExecutor<'p> {
    explorer: Box<dyn Explorer + 'p>,
    /// Measured nodes per nanosecond, after the first stretch.
    rate: Option<f64>,
    slow: Slow,
}

impl<'p> ThreadExecutor<'p> {
    /// An executor for this explorer; a `slow` of 1 means full speed.
    #[must_use]
    pub fn new(explorer: Box<dyn Explorer + 'p>, slow: f64) -> Self {
        Self { explorer, rate: None, slow: Slow::by(slow) }
    }
}

impl Executor for ThreadExecutor<'_> {
    fn explorer(&mut self) -> &mut dyn Explorer {
        &mut *self.explorer
    }

    fn explore(&mut self, budget: &Budget<'_>) -> Stretch {
        let start = Instant::now();
        let mut stretch = Stretch::default();
        let progress = &mut stretch.progress;
        let (paid_ns, paid) = self.slow.wait_delay(budget);
        if !paid {
            stretch.busy_ns = paid_ns as u64;
            return stretch;
        }
        let nodes_in = |ns: f64| self.rate.map(|rate| (rate * ns) as u64 + 1);
        let fuel = budget.fuel.min(nodes_in(budget.time_ns as f64).unwrap_or(u64::MAX));
        let mut until_check = nodes_in(CHECK_NS).unwrap_or(1);
        while progress.used < fuel {
            let fuel_now = until_check.min(fuel - progress.used);
            progress.add(self.explorer.run(fuel_now, (budget.best)()));
            if progress.found.is_some()
                || progress.fault.is_some()
                || (budget.interrupted)()
                || self.explorer.size() == 0.0
            {
                break;
            }
            if self.rate.is_none() {
                // A node may take seconds, so the first checks are close together. Where nodes are postponed, the number
                // of checks has no limit.
                if start.elapsed().as_nanos() >= u128::from(budget.time_ns) {
                    break;
                }
                until_check = until_check.saturating_mul(2);
            }
        }
        let elapsed_ns = start.elapsed().as_nanos() as f64;
        let worked_ns = (elapsed_ns - paid_ns).max(1.0);
        self.slow.add_delay(worked_ns);
        let rate = progress.used as f64 / worked_ns;
        // A stretch cut short says little about the rate.
        let share = (worked_ns / budget.time_ns as f64).clamp(0.0, 1.0);
        self.rate = match self.rate {
            Some(before) => Some(before + 0.5 * share * (rate - before)),
            None => (share == 1.0).then_some(rate),
        };
        stretch.busy_ns = elapsed_ns as u64;
        stretch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_core::search::depth_first::TreeExplorer;
    use pleach_core::search::tree::{Children, Goal, Tree};
    use pleach_core::search::work::Pool;
    use std::cell::Cell;

    /// A tree whose root is always postponed.
    struct Postponed;

    impl Tree for Postponed {
        type Node = ();
        const GOAL: Goal = Goal::Count;

        fn root(&self) {}

        fn expand(&self, (): &(), _: Option<i64>, out: &mut Children<'_, Self>) {
            out.postpone(i64::MIN, ());
        }
    }

    #[test]
    fn work_that_is_postponed_again_and_again_ends_with_an_interrupt() {
        let mut explorer = TreeExplorer::new(&Postponed);
        explorer.put_pool(Pool::whole(()));
        let mut executor = ThreadExecutor::new(Box::new(explorer), 1.0);
        let checks = Cell::new(0);
        let interrupted = || {
            checks.set(checks.get() + 1);
            checks.get() == 100
        };
        let budget = Budget {
            fuel: u64::MAX,
            time_ns: u64::MAX,
            interrupted: &interrupted,
            best: &|| i64::MAX,
        };
        assert_eq!(executor.explore(&budget).progress.used, 100);
    }
}
