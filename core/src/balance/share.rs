//! How much to give: half, a fixed part, or by measured power.

/// A peer's speed in nodes a second, measured while it explores; 0 until measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Power(pub u64);

/// How much of its work a peer gives to one who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Share {
    /// One part in this many: 2 gives half.
    Part(u32),
    /// In proportion to the measured powers of the two.
    Power,
}

impl Share {
    /// The part of its work that a victim gives to a thief.
    #[must_use]
    pub fn of(self, victim: Power, thief: Power) -> f64 {
        match self {
            Share::Part(parts) => 1.0 / f64::from(parts),
            // As long as either is not measured they count as equal.
            Share::Power if victim.0 == 0 || thief.0 == 0 => 0.5,
            Share::Power => thief.0 as f64 / (thief.0 as f64 + victim.0 as f64),
        }
    }
}

/// Measures a power over windows of at least 10 ms of exploring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Meter {
    power: Power,
    nodes: u64,
    busy_ns: u64,
}

const WINDOW_NS: u64 = 10_000_000;

impl Meter {
    /// Takes note of a stretch of exploring.
    pub fn add(&mut self, nodes: u64, busy_ns: u64) {
        self.nodes += nodes;
        self.busy_ns += busy_ns;
        if self.busy_ns >= WINDOW_NS {
            let fresh = (u128::from(self.nodes) * 1_000_000_000 / u128::from(self.busy_ns)) as u64;
            let mean = if self.power.0 == 0 { fresh } else { u64::midpoint(self.power.0, fresh) };
            // A power of 0 would mean "not measured", so the slowest counts as 1.
            *self = Self { power: Power(mean.max(1)), nodes: 0, busy_ns: 0 };
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
    fn shares_follow_measured_powers() {
        assert_eq!(Share::Part(4).of(Power(9), Power(1)), 0.25);
        assert_eq!(Share::Power.of(Power(0), Power(7)), 0.5);
        assert_eq!(Share::Power.of(Power(300), Power(100)), 0.25);
    }

    #[test]
    fn power_is_measured_over_at_least_ten_milliseconds() {
        let mut meter = Meter::default();
        meter.add(1000, 9_999_999);
        assert_eq!(meter.power(), Power(0));
        meter.add(0, 1);
        assert_eq!(meter.power(), Power(100_000));
        meter.add(0, 20_000_000);
        assert_eq!(meter.power(), Power(50_000));
    }
}
