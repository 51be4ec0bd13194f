//! [`Repeats`]: the times of several runs of one command.

use super::columns::{digits, mean_and_spread};
use crate::results::{JsonInteger, JsonNumber, RepeatsData, SpreadData};
use std::fmt;

/// The time and the rate of each of several runs.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    seconds: Vec<f64>,
    rates: Vec<f64>,
}

impl Repeats {
    /// Adds a run, with its number of nodes or operations.
    pub fn add(&mut self, seconds: f64, done: f64) {
        self.seconds.push(seconds);
        self.rates.push(done / seconds.max(1e-9));
    }

    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.seconds.len()
    }

    /// As data; `None` for a single run.
    pub fn data(&self) -> Option<RepeatsData> {
        let about = |values: &[f64]| {
            let ((mean, deviation), (least, most)) = (mean_and_spread(values), ends(values));
            let [mean, deviation, least, most] = [mean, deviation, least, most].map(JsonNumber);
            SpreadData { mean, deviation, least, most }
        };
        (self.runs() > 1).then(|| RepeatsData {
            runs: JsonInteger(self.runs() as u64),
            seconds: about(&self.seconds),
            rate: Some(about(&self.rates)),
        })
    }
}

impl fmt::Display for Repeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mean, deviation) = mean_and_spread(&self.seconds);
        let (least, most) = ends(&self.seconds);
        let [mean, deviation, least, most] = [mean, deviation, least, most].map(digits);
        write!(f, "{} runs: {mean} ± {deviation} s, from {least} to {most} s", self.runs())
    }
}

fn ends(values: &[f64]) -> (f64, f64) {
    let fold = |better: fn(f64, f64) -> f64| values.iter().copied().reduce(better).unwrap_or(0.0);
    (fold(f64::min), fold(f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_have_a_mean_and_ends() {
        let mut repeats = Repeats::default();
        repeats.add(1.0, 100.0);
        assert!(repeats.data().is_none());
        repeats.add(3.0, 100.0);
        let data = repeats.data().unwrap();
        assert_eq!((data.runs.0, data.seconds.mean.0), (2, 2.0));
        assert_eq!((data.seconds.least.0, data.rate.unwrap().most.0), (1.0, 100.0));
        assert_eq!(repeats.to_string(), "2 runs: 2.000 ± 1.414 s, from 1.000 to 3.000 s");
    }
}
