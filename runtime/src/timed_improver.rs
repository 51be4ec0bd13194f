//! [`TimedImprover`]: a heuristic that a worker runs alongside its search, with a share of the worker's time.

use crate::control::Control;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Improver, Solution};

/// The time that a heuristic gets at first.
const FIRST_NS: u64 = 100_000_000;
/// Afterwards it gets this share of the worker's time; the second one if the problem favours it, or while it succeeds.
/// Never all of it: the worker may be the only thread, and must search, too.
const SHARE: f64 = 1.0 / 8.0;
const FAVOURED_SHARE: f64 = 15.0 / 16.0;

/// A heuristic and its time account.
pub(crate) struct TimedImprover<'p> {
    improver: Box<dyn Improver + 'p>,
    share: f64,
    /// The score of the best solution that it knows.
    known: i64,
    spent_ns: u64,
    /// The time spent when it last improved the incumbent.
    gained_at_ns: u64,
}

impl<'p> TimedImprover<'p> {
    /// The heuristic of a problem, if it has one.
    pub fn new(problem: &'p (impl Problem + ?Sized), seed: u64, known: i64) -> Option<Self> {
        let share = if problem.favours_improver() { FAVOURED_SHARE } else { SHARE };
        let improver = problem.improver(seed)?;
        Some(Self { improver, share, known, spent_ns: 0, gained_at_ns: 0 })
    }

    /// Runs it for a while, from the incumbent if that is new to it.
    pub fn improve(&mut self, control: &Control) -> Option<Solution> {
        if control.best() < self.known
            && let Some(incumbent) = control.solution()
        {
            self.known = incumbent.score;
            self.improver.adopt(&incumbent);
        }
        let found = self.improver.improve();
        self.known = found.iter().map(|found| found.score).fold(self.known, i64::min);
        found
    }

    /// Whether it should run now, on a thread that has work or has none: always at first; then most of the time, until
    /// it has run twice as long as at its last success; then now and then.
    pub fn due(&self, total_ns: u64, has_work: bool) -> bool {
        let succeeds = self.spent_ns < 2 * self.gained_at_ns;
        if self.spent_ns < FIRST_NS || succeeds && !has_work {
            return true;
        }
        let share = if succeeds { FAVOURED_SHARE } else { self.share };
        (self.spent_ns as f64) < share * total_ns as f64
    }

    /// Records time spent, and whether it improved the incumbent.
    pub fn record_time(&mut self, spent_ns: u64, gained: bool) {
        self.spent_ns += spent_ns;
        if gained {
            self.gained_at_ns = self.spent_ns;
        }
    }

    /// The seconds spent.
    pub fn seconds(&self) -> f64 {
        self.spent_ns as f64 * 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Improver for Nothing {
        fn improve(&mut self) -> Option<Solution> {
            None
        }
    }

    /// As long as its heuristic succeeded, a thread used not to search at all.
    #[test]
    fn the_search_keeps_a_share_of_the_time_while_its_heuristic_succeeds() {
        let improver = Box::new(Nothing);
        let mut timed =
            TimedImprover { improver, share: SHARE, known: 0, spent_ns: 0, gained_at_ns: 0 };
        let (turn_ns, mut searched_ns, mut total_ns) = (10_000_000, 0, 0);
        while total_ns < 100 * FIRST_NS {
            if timed.due(total_ns, true) {
                timed.record_time(turn_ns, true);
            } else {
                searched_ns += turn_ns;
            }
            total_ns += turn_ns;
        }
        assert!((total_ns / 20..total_ns / 10).contains(&searched_ns), "{searched_ns}");
        // A thread without work has nothing better to do.
        timed.spent_ns = total_ns;
        timed.gained_at_ns = total_ns;
        assert!(timed.due(total_ns, false) && !timed.due(total_ns, true));
        // Without success, it gets its usual share.
        timed.gained_at_ns = 0;
        assert!(!timed.due(total_ns, true) && !timed.due(total_ns, false));
    }
}
