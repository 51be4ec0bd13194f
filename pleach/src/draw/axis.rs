//! [`Scale`]: numbers along a side of a picture, with tick marks.

use super::svg::{Anchor, Svg};
use crate::decimal::written;

/// Numbers along a side of a picture.
pub struct Scale {
    /// The numbers at its ends.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Whether equal steps stand for equal factors.
    pub logarithmic: bool,
    /// The numbers are multiples of 10 to the power of minus this, and whole if it is not 0.
    pub decimals: u32,
    /// The positions of its ends in the picture.
    pub from: f64,
    /// See `from`.
    pub to: f64,
}

/// The desired number of marks.
const MARKS: f64 = 6.0;
/// The maximum number of marks of a logarithmic scale that are not all powers of ten.
const MOST_OF_DECADES: usize = 9;

impl Scale {
    /// A scale of equal steps.
    pub fn linear((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        Self { low, high, logarithmic: false, decimals: 0, from, to }
    }

    /// The position of a number in the picture.
    pub fn at(&self, value: f64) -> f64 {
        // What a logarithmic scale cannot show is at its low end.
        let turn = |value: f64| if self.logarithmic { value.max(self.low).ln() } else { value };
        let part = (turn(value) - turn(self.low)) / (turn(self.high) - turn(self.low));
        self.from + part * (self.to - self.from)
    }

    /// The label of a mark.
    fn label(&self, mark: f64) -> String {
        if self.decimals > 0 { written(mark as i64, self.decimals) } else { mark_text(mark) }
    }

    /// Round numbers for about six marks; on a logarithmic scale 1, 2 and 5 of each decade, or decades alone.
    pub fn marks(&self) -> Vec<f64> {
        if !self.logarithmic {
            return self.marks_every(round_step((self.high - self.low) / MARKS));
        }
        let marks = self.marks_of_decades(&[1.0, 2.0, 5.0]);
        if marks.len() > MOST_OF_DECADES { self.marks_of_decades(&[1.0]) } else { marks }
    }

    /// Round whole numbers for about six marks, for values that are whole.
    pub fn whole_marks(&self) -> Vec<f64> {
        self.marks_every(round_step((self.high - self.low) / MARKS).max(1.0).round())
    }

    /// These multiples of all powers of ten.
    fn marks_of_decades(&self, multiples: &[f64]) -> Vec<f64> {
        let decade = |value: f64| value.log10().floor() as i32;
        (decade(self.low)..=decade(self.high))
            .flat_map(|decade| multiples.iter().map(move |n| n * 10f64.powi(decade)))
            .filter(|mark| (self.low..=self.high).contains(mark))
            .collect()
    }

    fn marks_every(&self, step: f64) -> Vec<f64> {
        let first = (self.low / step).ceil() as i64;
        (first..)
            .map(|i| i as f64 * step)
            .take_while(|&mark| mark <= self.high + 1e-6 * step)
            .collect()
    }
}

/// The least of 1, 2, 2.5 and 5 times a power of ten that is at least a number.
pub fn round_step(rough: f64) -> f64 {
    let decade = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|n| n * decade);
    steps.into_iter().find(|&step| step >= rough).unwrap_or(rough)
}

/// The label of a mark, without digits that are only rounding errors.
pub fn mark_text(mark: f64) -> String {
    if mark.abs() >= 1e6 { short(mark) } else { ((mark * 1e6).round() / 1e6).to_string() }
}

/// A large number with the letter that engineers use.
fn short(mark: f64) -> String {
    let (scale, letter) = if mark.abs() >= 1e9 { (1e9, "G") } else { (1e6, "M") };
    format!("{}{letter}", (mark / scale * 1e6).round() / 1e6)
}

/// Horizontal lines at the marks of a vertical scale, with labels to their left.
pub fn levels(svg: &mut Svg, y: &Scale, marks: &[f64], (left, right): (f64, f64)) {
    for &mark in marks {
        let at = y.at(mark);
        svg.line((left, at), (right, at), "#ddd");
        svg.text((left - 8.0, at + 4.0), Anchor::End, "", &y.label(mark));
    }
}

/// The two axes of a chart: down the left side and along the bottom.
pub fn corner(svg: &mut Svg, (left, top): (f64, f64), (right, bottom): (f64, f64)) {
    svg.raw(format_args!(
        "<path d=\"M{left},{top} V{bottom} H{right}\" fill=\"none\" stroke=\"#333\"/>"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_values_have_whole_marks_without_stray_digits() {
        let scale = Scale::linear((1276.0, 1280.0), (0.0, 100.0));
        let words: Vec<String> = scale.whole_marks().into_iter().map(mark_text).collect();
        assert_eq!(words, ["1276", "1277", "1278", "1279", "1280"]);
        assert_eq!(mark_text(0.1 + 0.2), "0.3");
        assert_eq!(mark_text(2_500_000.0), "2.5M");
    }

    #[test]
    fn a_logarithmic_scale_has_marks_in_each_decade() {
        let scale =
            |low, high| Scale { logarithmic: true, ..Scale::linear((low, high), (0.0, 100.0)) };
        assert_eq!(scale(0.9, 21.0).marks(), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(scale(0.9, 2e4).marks(), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
        assert!((scale(1.0, 100.0).at(10.0) - 50.0).abs() < 1e-9);
        assert_eq!(scale(1.0, 100.0).at(-3.0), 0.0, "below what it can show");
    }
}
