//! Real values as whole numbers of a unit: how they are rounded and written.

/// The most decimals of values.
pub const MOST_DECIMALS: u32 = 9;

/// The number of units in 1.
pub(crate) fn scale(decimals: u32) -> f64 {
    assert!(decimals <= MOST_DECIMALS, "{decimals} decimals: expected at most {MOST_DECIMALS}");
    10f64.powi(decimals.cast_signed())
}

/// The nearest number of units.
///
/// # Panics
/// If the value is not a number, or needs more than 63 bits.
pub fn nearest(value: f64, decimals: u32) -> i64 {
    let units = (value * scale(decimals)).round();
    let most = 2f64.powi(63);
    assert!(
        units > -most && units < most,
        "a solution has the value {value}: expected a number of at most 63 bits in units of 10^-{decimals}"
    );
    units as i64
}

/// A number of units as a value.
pub fn real(units: i64, decimals: u32) -> f64 {
    units as f64 / scale(decimals)
}

/// A number of units as a decimal number.
#[must_use]
pub fn written(units: i64, decimals: u32) -> String {
    let width = decimals as usize;
    let sign = if units < 0 { "-" } else { "" };
    let digits = format!("{:0>1$}", units.unsigned_abs(), width + 1);
    let (whole, part) = digits.split_at(digits.len() - width);
    if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::found::Goal;

    #[test]
    fn bounds_never_exclude_what_rounds_to_a_better_value() {
        let mut rng = oorandom::Rand64::new(3);
        for _ in 0..10_000 {
            let value = rng.rand_float() * 2000.0 - 1000.0;
            // A bound that is computed in another way may be off by a little.
            let noise = (rng.rand_float() - 0.5) * 1e-9;
            for decimals in [0, 1, 2, 6] {
                let units = nearest(value, decimals);
                assert!(Goal::Minimise.outward(value + noise, decimals) <= units);
                assert!(Goal::Maximise.outward(value + noise, decimals) >= units);
                assert!((real(units, decimals) - value).abs() <= 0.5001 / scale(decimals));
            }
        }
    }

    #[test]
    fn bounds_may_be_infinite_or_unknown() {
        let score = |goal: Goal, bound| goal.score(goal.outward(bound, 3));
        for (goal, nothing_below) in
            [(Goal::Minimise, f64::INFINITY), (Goal::Maximise, f64::NEG_INFINITY)]
        {
            assert_eq!(score(goal, nothing_below), i64::MAX);
            assert_eq!(score(goal, -nothing_below), i64::MIN);
            assert_eq!(score(goal, f64::NAN), i64::MIN);
        }
    }

    #[test]
    #[should_panic(expected = "a solution has the value NaN: expected a number")]
    fn solutions_have_numbers_as_values() {
        nearest(f64::NAN, 2);
    }
}
