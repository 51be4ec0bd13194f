//! [`Scale`]: numbers along a side of a picture.

/// A scale of numbers along a side of the picture.
pub struct Scale {
    /// The numbers at its ends.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Whether equal steps stand for equal factors.
    pub logarithmic: bool,
    /// Where its ends are in the picture.
    pub from: f64,
    /// See `from`.
    pub to: f64,
}

impl Scale {
    /// Where a number is in the picture.
    pub fn at(&self, value: f64) -> f64 {
        let turn = |value: f64| if self.logarithmic { value.ln() } else { value };
        let part = (turn(value) - turn(self.low)) / (turn(self.high) - turn(self.low));
        self.from + part * (self.to - self.from)
    }

    /// Round numbers for marks, some six of them.
    pub fn marks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 6.0;
        let decade = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|n| n * decade);
        let step = steps.into_iter().find(|&step| step >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        (first..)
            .map(|i| i as f64 * step)
            .take_while(|&mark| mark <= self.high + 1e-6 * step)
            .collect()
    }
}
