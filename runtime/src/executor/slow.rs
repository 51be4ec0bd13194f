//! [`Slow`]: slows a worker down artificially, to try machines with unequal parts.

use super::Budget;
use std::time::{Duration, Instant};

/// Waits shorter than this spin.
const SHORT: Duration = Duration::from_micros(100);

/// An artificial slow-down: a multiple of the time worked is wasted.
#[derive(Clone, Copy, Debug)]
pub struct Slow {
    factor: f64,
    /// Time still to be wasted.
    owed_ns: f64,
}

impl Slow {
    /// Slow by a factor; 1 is full speed.
    #[must_use]
    pub fn by(factor: f64) -> Self {
        Self { factor, owed_ns: 0.0 }
    }

    /// Adds the time to waste for this much work.
    pub fn add_delay(&mut self, worked_ns: f64) {
        self.owed_ns += (self.factor - 1.0) * worked_ns;
    }

    /// Wastes the time owed. Returns how long that took in nanoseconds, and whether it was completed without an
    /// interruption.
    pub fn wait_delay(&mut self, budget: &Budget<'_>) -> (f64, bool) {
        if self.owed_ns <= 0.0 {
            return (0.0, true);
        }
        let (start, owed_ns) = (Instant::now(), self.owed_ns);
        loop {
            let paid_ns = start.elapsed().as_nanos() as f64;
            self.owed_ns = owed_ns - paid_ns;
            if self.owed_ns <= 0.0 {
                return (paid_ns, true);
            }
            if (budget.interrupted)() {
                return (paid_ns, false);
            }
            if self.owed_ns > 10.0 * SHORT.as_nanos() as f64 {
                std::thread::sleep(SHORT);
            } else {
                std::hint::spin_loop();
            }
        }
    }
}
