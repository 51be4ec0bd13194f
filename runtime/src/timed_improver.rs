//! [`TimedImprover`]: a heuristic that a unit runs beside its search, with a share of the unit's time.

use pleach_core::search::problem::Improver;

/// The time that a heuristic gets at first.
const FIRST_NS: u64 = 100_000_000;
/// Afterwards it gets 1/PARTS of the unit's time.
const PARTS: u64 = 8;

/// A heuristic and its time account.
pub(crate) struct TimedImprover<'p> {
    pub improver: Box<dyn Improver + 'p>,
    spent_ns: u64,
    /// The time spent when it last improved the incumbent.
    gained_at_ns: u64,
}

impl<'p> TimedImprover<'p> {
    pub fn new(improver: Box<dyn Improver + 'p>) -> Self {
        Self { improver, spent_ns: 0, gained_at_ns: 0 }
    }

    /// Whether it should run: at first, for as long again as its last success took, and periodically.
    pub fn due(&self, total_ns: u64) -> bool {
        self.spent_ns < FIRST_NS.max(2 * self.gained_at_ns) || self.spent_ns < total_ns / PARTS
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
