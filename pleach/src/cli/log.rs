//! `--log`: a file to which a command appends events, one line each with its time.

use super::flags::FlagValues;
use crate::failure::{Failure, usage};
use crate::provenance::now;
use pleach_runtime::{SiteEnd, SiteSnapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;

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
        // A log that cannot be written must not end the run.
        let _ = self.0.write_all(format!("{} {text}\n", now()).as_bytes());
    }
}

/// The sites seen recently, and how they ended.
#[derive(Default)]
pub struct Seen {
    ends: BTreeMap<String, Option<SiteEnd>>,
    /// Whether this process follows the root: only the root learns whether a site left or was lost.
    pub follows: bool,
}

impl Seen {
    /// News about these sites, as lines.
    pub fn news(&mut self, sites: &[SiteSnapshot]) -> Vec<String> {
        let mut lines = Vec::new();
        // Those that left long ago are not listed any more.
        let listed: BTreeSet<&str> = sites.iter().map(|site| &*site.name).collect();
        self.ends.retain(|name, end| end.is_none() || sites.is_empty() || listed.contains(&**name));
        // The root is this process.
        for SiteSnapshot { name, host, end, .. } in sites.iter().filter(|it| it.name != "site0") {
            if self.ends.get(name) == Some(end) {
                continue;
            }
            let before = self.ends.insert(name.clone(), *end);
            // Not every process learns the names of the others' machines.
            let on = if host.is_empty() { String::new() } else { format!(" on {host}") };
            if before.is_none() {
                lines.push(format!("{name}{on} joined"));
            }
            if before.flatten().is_none()
                && let Some(end) = end
            {
                lines.push(match end {
                    _ if self.follows => format!("{name}{on} is gone"),
                    SiteEnd::Left => format!("{name}{on} left"),
                    SiteEnd::Lost => format!("{name}{on} was lost"),
                });
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!((seen.news(&[]), seen.ends.len()), (Vec::new(), 1));
        let root = SiteSnapshot { name: "site0".into(), ..SiteSnapshot::default() };
        assert_eq!((seen.news(&[root]), seen.ends.len()), (Vec::new(), 0));
    }

    /// The log of a joiner used to say that sites which had left were lost, "on" machines without a name.
    #[test]
    fn a_joiner_does_not_say_why_a_site_is_gone() {
        let mut seen = Seen { follows: true, ..Seen::default() };
        let site = |end| SiteSnapshot { name: "site2".into(), end, ..SiteSnapshot::default() };
        assert_eq!(seen.news(&[site(None)]), ["site2 joined"]);
        assert_eq!(seen.news(&[site(Some(SiteEnd::Lost))]), ["site2 is gone"]);
    }
}
