//! Parsers for the numbers, sizes and times that flags accept.

use std::time::Duration;

/// Parses a whole number within limits.
pub fn whole(word: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = word.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("{word}: expected a whole number from {least} to {most}"))
}

/// Parses a size: bytes, or a number with a unit.
pub fn size(word: &str) -> Result<u64, String> {
    let digits = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    let power = match unit.trim_end_matches(['B', 'b']).trim_end_matches('i') {
        "" => Some(0),
        "K" | "k" => Some(10),
        "M" | "m" => Some(20),
        "G" | "g" => Some(30),
        "T" | "t" => Some(40),
        _ => None,
    };
    let bytes =
        number.parse::<f64>().ok().zip(power).map(|(n, power)| n * f64::from(2).powi(power));
    let bytes = bytes.filter(|bytes| (1.0..=1e18).contains(bytes));
    bytes.map(|bytes| bytes as u64).ok_or_else(|| {
        format!("{word}: expected a size of at least 1 byte, such as 512M, 8G or 1.5T")
    })
}

/// Parses a time: seconds, or a number with a unit.
pub fn time(word: &str) -> Result<Duration, String> {
    let digits = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    let scale = match unit {
        "ms" => Some(1e-3),
        "" | "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        "d" => Some(86_400.0),
        _ => None,
    };
    let seconds = number.parse::<f64>().ok().zip(scale).map(|(number, scale)| number * scale);
    let seconds = seconds.filter(|seconds| (0.001..=1e9).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| {
        format!(
            "{word}: expected a time of at least 1ms, such as 60 (seconds), 500ms, 10m, 2h or 1d"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_unit() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("8GiB"), Ok(8 << 30));
        assert_eq!(size("1.5k"), Ok(1536));
        for bad in ["", "G", "-1G", "0", "1e30", "8X", "nan", "8 G"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_read_with_their_unit() {
        assert_eq!(time("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(time("60"), Ok(Duration::from_secs(60)));
        assert_eq!(time("1d"), Ok(Duration::from_secs(86_400)));
        assert_eq!(time("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        for bad in ["", "s", "-1s", "-60", "1e300h", "nans", "nan", "3 weeks", "60 s s"] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }
}
