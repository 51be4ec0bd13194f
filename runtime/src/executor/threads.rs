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
        let mut stretch = Stretch::default();
        let progress = &mut stretch.progress;
        let (paid_ns, paid) = self.slow.wait_delay(budget);
        if !paid {
            stretch.busy_ns = paid_ns as u64;
            return stretch;
        }
        let (start, mut checks) = (Instant::now(), 0_u64);
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
            checks += 1;
            // Nodes may take far longer than those before. Few readings of the clock notice that.
            if (self.rate.is_none() || checks.is_power_of_two() || checks.is_multiple_of(8))
                && start.elapsed().as_nanos() >= u128::from(budget.time_ns)
            {
                break;
            }
            if self.rate.is_none() {
                // A node may take seconds, so the first checks are close together. Where nodes are postponed, the number
                // of checks has no limit.
                until_check = until_check.saturating_mul(2);
            }
        }
        let worked_ns = (start.elapsed().as_nanos() as f64).max(1.0);
        self.slow.add_delay(worked_ns);
        let rate = progress.used as f64 / worked_ns;
        // A stretch cut short says little about the rate.
        let share = (worked_ns / budget.time_ns as f64).clamp(0.0, 1.0);
        self.rate = match self.rate {
            Some(before) => Some(before + 0.5 * share * (rate - before)),
            None => (share == 1.0).then_some(rate),
        };
        stretch.busy_ns = (paid_ns + worked_ns) as u64;
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

    /// The nodes of a stretch of this time, which is interrupted at the 1000th check, if this was the rate before.
    fn explored(rate: Option<f64>, time_ns: u64) -> u64 {
        let mut explorer = TreeExplorer::new(&Postponed);
        explorer.put_pool(Pool::whole(()));
        let mut executor = ThreadExecutor::new(Box::new(explorer), 1.0);
        executor.rate = rate;
        let checks = Cell::new(0);
        let interrupted = || {
            checks.set(checks.get() + 1);
            checks.get() == 1000
        };
        let budget =
            Budget { fuel: u64::MAX, time_ns, interrupted: &interrupted, best: &|| i64::MAX };
        executor.explore(&budget).progress.used
    }

    #[test]
    fn work_that_is_postponed_again_and_again_ends_with_an_interrupt() {
        assert_eq!(explored(None, u64::MAX), 1000);
    }

    #[test]
    fn a_stretch_ends_in_time_where_nodes_take_longer_than_those_before() {
        assert!(explored(Some(1e9), 1) < 1000);
    }
}
