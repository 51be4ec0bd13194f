//! [`Sum`]: an exact sum, independent of the order of its terms.

/// A sum in multiples of 2⁻⁶⁰; it can hold the populations of any box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(i128);

/// The number of multiples in 1.
const UNIT: f64 = (1u64 << 60) as f64;

impl Sum {
    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        self.0 = self.0.saturating_add((number * UNIT) as i128);
    }

    /// The sum as a number.
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
