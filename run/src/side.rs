//! [`Side`]: a heuristic that a unit runs beside its search, and how much of its time that gets.

use pleach_core::problem::Improver;

/// Time that a heuristic gets at first.
const FIRST_NS: u64 = 100_000_000;
/// Afterwards one part of so many of the unit's time.
const PARTS: u64 = 8;

/// A heuristic and its account of time.
pub(crate) struct Side<'p> {
    pub improver: Box<dyn Improver + 'p>,
    spent_ns: u64,
    /// What had been spent when it last found something better.
    gained_at_ns: u64,
}

impl<'p> Side<'p> {
    pub fn new(improver: Box<dyn Improver + 'p>) -> Self {
        Self { improver, spent_ns: 0, gained_at_ns: 0 }
    }

    /// Whether it is its turn: at first, as long again as its last success took, and now and then.
    pub fn due(&self, total_ns: u64) -> bool {
        self.spent_ns < FIRST_NS.max(2 * self.gained_at_ns) || self.spent_ns < total_ns / PARTS
    }

    /// Takes note of time spent, and of whether it brought something.
    pub fn note(&mut self, spent_ns: u64, gained: bool) {
        self.spent_ns += spent_ns;
        if gained {
            self.gained_at_ns = self.spent_ns;
        }
    }

    /// Seconds spent.
    pub fn seconds(&self) -> f64 {
        self.spent_ns as f64 * 1e-9
    }
}
