//! [`JsonInteger`] and [`JsonNumber`]: numbers as results write them, and the ranges in which they are read.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// A whole number; a string in JSON if some reader would round it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JsonInteger<T>(pub T);

/// A number from `LEAST` to `MOST`, written with at most this many decimals; with 0, all are written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JsonNumber<const LEAST: i128, const MOST: i128, const DECIMALS: i32 = 0>(pub f64);

/// A measured time, which is written to the microsecond.
pub type Seconds = JsonNumber<0, LONGEST, 6>;
/// A rate, or a number of anything.
pub type Amount = JsonNumber<0, LARGEST>;

/// The longest time; nothing longer was ever measured.
pub const LONGEST: i128 = 10_i128.pow(15);
/// The largest amount.
pub const LARGEST: i128 = 10_i128.pow(30);
/// The largest whole number that every reader of JSON represents exactly.
const EXACT: u64 = 1 << 53;

impl<T: Display> Display for JsonInteger<T> {
    fn fmt(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(to)
    }
}

impl<T: Display> Serialize for JsonInteger<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let text = self.0.to_string();
        match text.parse::<i64>() {
            Ok(small) if small.unsigned_abs() <= EXACT => to.serialize_i64(small),
            _ => to.serialize_str(&text),
        }
    }
}

impl<'de, T: FromStr> Deserialize<'de> for JsonInteger<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let signed = "-1".parse::<T>().is_ok();
        let expected = if signed { "a whole number" } else { "a whole number, at least 0" };
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            // Written without an exponent, and without a point if it is whole.
            Value::Number(number) if number.is_f64() => Some(number.as_f64()?.to_string()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        checked(from, expected, |value| text(value)?.parse().ok().map(Self))
    }
}

impl<const LEAST: i128, const MOST: i128, const DECIMALS: i32> Serialize
    for JsonNumber<LEAST, MOST, DECIMALS>
{
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let scale = 10_f64.powi(DECIMALS);
        let rounded = if DECIMALS > 0 { (self.0 * scale).round() / scale } else { self.0 };
        to.serialize_f64(rounded)
    }
}

impl<'de, const LEAST: i128, const MOST: i128, const DECIMALS: i32> Deserialize<'de>
    for JsonNumber<LEAST, MOST, DECIMALS>
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let range = LEAST as f64..=MOST as f64;
        let least = if LEAST == 0 { "0".into() } else { format!("{LEAST:e}") };
        checked(from, &format!("a number from {least} to {MOST:e}"), |value| {
            value.as_f64().filter(|number| range.contains(number)).map(Self)
        })
    }
}

/// Reads a value; an error is what was expected in its place.
pub fn checked<'de, D: Deserializer<'de>, T>(
    from: D,
    expected: &str,
    convert: impl Fn(&Value) -> Option<T>,
) -> Result<T, D::Error> {
    convert(&Value::deserialize(from)?).ok_or_else(|| D::Error::custom(expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn large_numbers_become_strings() {
        for (value, written) in [
            (json!(JsonInteger(EXACT)), json!(9_007_199_254_740_992_u64)),
            (json!(JsonInteger(EXACT + 1)), json!("9007199254740993")),
            (json!(JsonInteger(-5)), json!(-5)),
            (json!(JsonInteger(i64::MIN)), json!("-9223372036854775808")),
            (json!(JsonInteger(u128::MAX)), json!("340282366920938463463374607431768211455")),
            (json!(JsonNumber::<0, LONGEST, 6>(0.123_456_7)), json!(0.123457)),
            (json!(JsonNumber::<0, LARGEST>(0.123_456_7)), json!(0.1234567)),
            (json!(JsonNumber::<0, LARGEST>(f64::NAN)), json!(null)),
        ] {
            assert_eq!(value, written);
        }
    }
}
