//! [`Sum`]: an exact sum, the same in whatever order.

/// A sum in whole multiples of 2⁻⁶⁰, which holds the populations of any box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(i128);

/// How many make 1.
const UNIT: f64 = (1u64 << 60) as f64;

impl Sum {
    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        self.0 = self.0.saturating_add((number * UNIT) as i128);
    }

    /// The sum.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0 as f64 / UNIT
    }
}

impl std::ops::AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}
