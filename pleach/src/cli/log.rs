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
pub struct Seen(BTreeMap<String, Option<SiteEnd>>);

impl Seen {
    /// News about these sites, as lines.
    pub fn news(&mut self, sites: &[SiteSnapshot]) -> Vec<String> {
        let mut lines = Vec::new();
        // Those that left long ago are not listed any more.
        let listed: BTreeSet<&str> = sites.iter().map(|site| &*site.name).collect();
        self.0.retain(|name, end| end.is_none() || sites.is_empty() || listed.contains(&**name));
        // The root is this process.
        for SiteSnapshot { name, host, end, .. } in sites.iter().filter(|it| it.name != "site0") {
            if self.0.get(name) == Some(end) {
                continue;
            }
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
        assert_eq!((seen.news(&[]), seen.0.len()), (Vec::new(), 1));
        let root = SiteSnapshot { name: "site0".into(), ..SiteSnapshot::default() };
        assert_eq!((seen.news(&[root]), seen.0.len()), (Vec::new(), 0));
    }
}
