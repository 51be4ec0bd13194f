//! `--metrics`: a file in the text format of Prometheus, replaced every few seconds, for its node exporter.

use super::files::replace;
use super::flags::FlagValues;
use crate::failure::{Failure, usage};
use pleach_runtime::ProgressSnapshot;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Time between two writes.
const EVERY: Duration = Duration::from_secs(2);

/// The file, and when it was last written.
pub struct Metrics {
    path: PathBuf,
    written: Option<Instant>,
    failed: bool,
}

impl Metrics {
    /// The file that the command line asks for, if it asks for one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn open(given: &FlagValues) -> Result<Option<Self>, Failure> {
        let Some(path) = given.word("metrics") else { return Ok(None) };
        match replace(path.as_ref(), text(&ProgressSnapshot::default()).as_bytes()) {
            Ok(()) => Ok(Some(Self { path: path.into(), written: None, failed: false })),
            Err(why) => usage(format!("--metrics {path}: {why}")),
        }
    }

    /// Writes the state of a run when it is due. Returns an error only the first time that it fails.
    pub fn show(&mut self, snapshot: &ProgressSnapshot) -> Option<String> {
        if self.written.is_some_and(|written| written.elapsed() < EVERY) {
            return None;
        }
        self.written = Some(Instant::now());
        let why = replace(&self.path, text(snapshot).as_bytes()).err()?;
        let first = !std::mem::replace(&mut self.failed, true);
        first.then(|| format!("cannot write {}: {why}", self.path.display()))
    }
}

/// The state of a run as metrics.
fn text(snapshot: &ProgressSnapshot) -> String {
    let mut text = String::new();
    let mut add = |name: &str, kind: &str, help: &str, value: f64| {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "# HELP pleach_{name} {help}\n# TYPE pleach_{name} {kind}\npleach_{name} {value}\n"
        );
    };
    let gauge = "gauge";
    add("seconds", gauge, "Seconds of search, including those before a resume.", snapshot.seconds);
    let nodes = snapshot.counts.bounded as f64;
    add("nodes_total", "counter", "Nodes bounded, including those before a resume.", nodes);
    if let Some(best) = snapshot.best {
        add("best", gauge, "Value of the best solution.", best as f64);
    }
    if let Some(bound) = snapshot.bound {
        add("bound", gauge, "Proven bound.", bound as f64);
    }
    if let Some(done) = snapshot.done {
        add("done", gauge, "Estimated fraction of the tree that is done.", done);
    }
    let busy = snapshot.workers.iter().filter(|worker| worker.held > 0.0).count() as f64;
    let (sites, workers, busy) = match &snapshot.sites {
        Some(all) => (all.sites.into(), all.workers.into(), all.busy.into()),
        None => (1.0, snapshot.workers.len() as f64, busy),
    };
    add("sites", gauge, "Processes that take part.", sites);
    add("units", gauge, "Threads and devices that take part.", workers);
    add("units_busy", gauge, "Threads and devices that have work.", busy);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_runtime::SitesSnapshot;

    #[test]
    fn what_is_known_is_written() {
        let sites = Some(SitesSnapshot { sites: 3, workers: 8, busy: 7 });
        let text = text(&ProgressSnapshot {
            seconds: 1.5,
            best: Some(-7),
            sites,
            ..ProgressSnapshot::default()
        });
        let values: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let expected = [
            "pleach_seconds 1.5", "pleach_nodes_total 0", "pleach_best -7", "pleach_sites 3",
            "pleach_units 8", "pleach_units_busy 7",
        ];
        assert_eq!(values, expected);
    }
}
