//! `--log`: a file to which a command appends events, one line each with its time.

use super::flags::FlagValues;
use crate::failure::{Failure, usage};
use pleach_runtime::{SiteEnd, SiteSnapshot};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file to which lines are appended.
pub struct Log(File);

impl Log {
    /// The log that the command line asks for, if it asks for one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn open(given: &FlagValues) -> Result<Option<Self>, Failure> {
        let Some(path) = given.word("log") else { return Ok(None) };
        match File::options().create(true).append(true).open(path) {
            Ok(file) => Ok(Some(Self(file))),
            Err(why) => usage(format!("--log {path}: {why}")),
        }
    }

    /// Appends a line.
    pub fn line(&mut self, text: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // A log that cannot be written must not end the run.
        let _ = self.0.write_all(format!("{} {text}\n", time(now)).as_bytes());
    }
}

/// The sites seen so far, and how they ended.
#[derive(Default)]
pub struct Seen(BTreeMap<String, Option<SiteEnd>>);

impl Seen {
    /// News about these sites, as lines.
    pub fn news(&mut self, sites: &[SiteSnapshot]) -> Vec<String> {
        let mut lines = Vec::new();
        // The root is this process.
        for SiteSnapshot { name, host, end, .. } in sites.iter().filter(|it| it.name != "site0") {
            let before = self.0.insert(name.clone(), *end);
            if before.is_none() {
                lines.push(format!("{name} on {host} joined"));
            }
            match end {
                Some(SiteEnd::Left) if before.flatten().is_none() => {
                    lines.push(format!("{name} on {host} left"));
                }
                Some(SiteEnd::Lost) if before.flatten().is_none() => {
                    lines.push(format!("{name} on {host} was lost"));
                }
                _ => {}
            }
        }
        lines
    }
}

/// A time since 1970 as UTC: `2026-11-23T21:14:05Z`.
fn time(since: Duration) -> String {
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
            assert_eq!(time(Duration::from_secs(seconds)), said);
        }
    }

    #[test]
    fn each_site_is_news_when_it_comes_and_when_it_goes() {
        let mut seen = Seen::default();
        let site = |end| SiteSnapshot {
            name: "site1".into(),
            host: "a".into(),
            end,
            ..SiteSnapshot::default()
        };
        assert_eq!(seen.news(&[site(None)]), ["site1 on a joined"]);
        assert_eq!(seen.news(&[site(None)]), [""; 0]);
        assert_eq!(seen.news(&[site(Some(SiteEnd::Lost))]), ["site1 on a was lost"]);
        assert_eq!(seen.news(&[site(Some(SiteEnd::Lost))]), [""; 0]);
    }
}
