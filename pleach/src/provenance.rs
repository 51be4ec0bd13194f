//! [`Provenance`]: the build, the machine and the date of a result; [`stamped`]: a result as JSON, with all of it.

use pleach_runtime::{cores, host};
use serde_json::{Map, Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that the program was built from.
pub const COMMIT: &str = env!("PLEACH_COMMIT");

/// The build, the machine and the date of a result.
pub struct Provenance {
    pub host: String,
    pub processor: String,
    pub commit: String,
    pub date: String,
}

impl Provenance {
    /// Of a result that is written now.
    pub fn now() -> Self {
        Self { host: host(), processor: processor(), commit: COMMIT.into(), date: now() }
    }
}

/// A result that is written now as JSON: the version, its own keys, and the provenance.
pub fn stamped(result: Value) -> String {
    let Provenance { host, processor, commit, date } = Provenance::now();
    let version = json!({ "pleach": VERSION });
    let last = json!({ "host": host, "processor": processor, "commit": commit, "date": date });
    let mut all = Map::new();
    for mut part in [version, result, last] {
        if let Some(keys) = part.as_object_mut() {
            all.append(keys);
        }
    }
    Value::Object(all).to_string()
}

/// The processor, with the number of cores that the process may use.
pub fn processor() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
    format!("{}, {} cores", model.unwrap_or(std::env::consts::ARCH), cores())
}

/// The date and the time as UTC: `2026-11-23T21:14:05Z`.
pub fn now() -> String {
    utc(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// A time since 1970 as UTC: `2026-11-23T21:14:05Z`.
fn utc(since: Duration) -> String {
    let all = since.as_secs();
    let (mut days, rest) = (all / 86_400, all % 86_400);
    let every = |year: u64, years: u64| year.is_multiple_of(years);
    let leap = |year| every(year, 4) && (!every(year, 100) || every(year, 400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, said) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_795_468_445, "2026-11-23T21:14:05Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(Duration::from_secs(seconds)), said);
        }
    }
}
