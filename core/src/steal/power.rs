//! [`Power`]: a peer's speed, measured while it explores.

use crate::search::work::Pack;

/// A peer's speed in nodes per second, measured while it explores; 0 until measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Pack)]
pub struct Power(pub u64);

/// Measures power over windows of at least 10 ms of exploring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct PowerMeter {
    power: Power,
    nodes: u64,
    busy_ns: u64,
    /// Whether it measures over the whole time since the start.
    whole: bool,
}

const WINDOW_NS: u64 = 10_000_000;

impl PowerMeter {
    /// A meter over windows, or over the whole time since the start.
    pub fn new(whole: bool) -> Self {
        Self { whole, ..Self::default() }
    }

    /// Records a stretch of exploring.
    pub fn add(&mut self, nodes: u64, busy_ns: u64) {
        self.nodes += nodes;
        self.busy_ns += busy_ns;
        if self.busy_ns >= WINDOW_NS {
            let fresh = (u128::from(self.nodes) * 1_000_000_000 / u128::from(self.busy_ns)) as u64;
            // A power of 0 would mean "not measured", so the slowest counts as 1.
            if self.whole {
                self.power = Power(fresh.max(1));
                return;
            }
            let mean = if self.power.0 == 0 { fresh } else { u64::midpoint(self.power.0, fresh) };
            *self = Self { power: Power(mean.max(1)), ..Self::default() };
        }
    }

    pub fn power(&self) -> Power {
        self.power
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_measured_over_at_least_ten_milliseconds() {
        let mut meter = PowerMeter::default();
        meter.add(1000, 9_999_999);
        assert_eq!(meter.power(), Power(0));
        meter.add(0, 1);
        assert_eq!(meter.power(), Power(100_000));
        meter.add(0, 20_000_000);
        assert_eq!(meter.power(), Power(50_000));
    }

    #[test]
    fn power_may_be_measured_from_the_start() {
        let mut meter = PowerMeter::new(true);
        meter.add(1000, 10_000_000);
        assert_eq!(meter.power(), Power(100_000));
        meter.add(0, 30_000_000);
        assert_eq!(meter.power(), Power(25_000));
    }
}
