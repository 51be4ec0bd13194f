//! Progress on the terminal, on a line or a dashboard.

use super::console::Console;
use super::dashboard::Dashboard;
use super::log::Seen;
use super::metrics::Metrics;
pub use super::stopping::interrupts;
use crate::decimal::written;
use crate::report::{counted, estimate, gap, grouped, short};
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pleach_runtime::{ProgressSnapshot, SaveNow, SitesSnapshot};
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::ops::ControlFlow;

/// A line on standard error, hidden if that is not a terminal or `--quiet` is given.
pub fn line(quiet: bool) -> ProgressBar {
    let shown = !quiet && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    // This template is valid. A wide message is cut to the width of the terminal.
    let style = ProgressStyle::with_template("{wide_msg}").expect("a template");
    ProgressBar::with_draw_target(None, target).with_style(style)
}

/// Where progress snapshots are shown.
pub enum Shown<'b> {
    /// On a line, which may be hidden.
    Line(ProgressBar),
    /// On the whole terminal.
    Board(&'b mut Dashboard),
}

impl<'b> Shown<'b> {
    /// On a dashboard if there is one.
    pub fn new(quiet: bool, board: Option<&'b mut Dashboard>) -> Self {
        board.map_or_else(|| Shown::Line(line(quiet)), Shown::Board)
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if let Shown::Line(line) = self {
            line.finish_and_clear();
        }
    }
}

/// Reports the progress of a search.
pub struct Progress<'c, 'o, 'b> {
    console: &'c Console<'o>,
    shown: Shown<'b>,
    /// Nodes and time of the previous snapshot.
    before: (u64, f64),
    /// The sites that were seen.
    pub sites: Seen,
    /// Requests to save, how many were answered, and the file.
    requests: SaveNow,
    answered: u64,
    saved: Option<&'c str>,
    /// Where the state is written as metrics.
    pub metrics: Option<Metrics>,
    /// Whether to print it as JSON.
    pub updates: bool,
    /// Values are multiples of 10 to the power of minus this.
    pub decimals: u32,
}

impl<'c, 'o, 'b> Progress<'c, 'o, 'b> {
    /// A reporter that has shown nothing yet.
    pub fn new(console: &'c Console<'o>, shown: Shown<'b>) -> Self {
        let requests = SaveNow::default();
        let sites = Seen::default();
        let (before, saved, metrics) = ((0, 0.0), None, None);
        let (answered, updates, decimals) = (0, false, 0);
        Self {
            console,
            shown,
            before,
            sites,
            requests,
            answered,
            saved,
            metrics,
            updates,
            decimals,
        }
    }

    /// Whenever the user requests another save, it also reports the progress of the search, and the file that it is
    /// `saved` to.
    pub fn answering(self, (requests, answered): (SaveNow, u64), saved: Option<&'c str>) -> Self {
        Self { requests, answered, saved, ..self }
    }

    /// Shows a snapshot of the run.
    pub fn show(&mut self, snapshot: &ProgressSnapshot) -> ControlFlow<()> {
        for line in self.sites.news(&snapshot.each_site) {
            self.console.log(&line);
        }
        let failed = self.metrics.as_mut().and_then(|metrics| metrics.show(snapshot));
        if self.updates {
            self.console.update(&update(snapshot, self.decimals).to_string());
        }
        let asked = self.requests.count();
        let answers =
            std::mem::replace(&mut self.answered, asked) < asked && snapshot.warning.is_none();
        let warn = || {
            let warnings = snapshot.warning.iter().chain(&failed);
            warnings.for_each(|warning| self.console.note(&format!("warning: {warning}")));
            if answers {
                let rate = snapshot.counts.bounded as f64 / snapshot.seconds.max(1e-9);
                let saved = self.saved.map_or(String::new(), |path| format!("; saving to {path}"));
                let line = progress_line(snapshot, rate, self.decimals);
                self.console.note(&format!("{line}{saved}"));
            }
        };
        match &mut self.shown {
            Shown::Board(board) => {
                warn();
                board.show(snapshot, self.decimals);
            }
            Shown::Line(line) => {
                if snapshot.warning.is_some() || failed.is_some() || answers {
                    // Above the line if there is one.
                    line.suspend(warn);
                }
                if !line.is_hidden() {
                    let nodes = snapshot.counts.bounded.saturating_sub(self.before.0) as f64;
                    let rate = nodes / (snapshot.seconds - self.before.1).max(1e-9);
                    self.before = (snapshot.counts.bounded, snapshot.seconds);
                    let columns = Term::stderr().size().1.into();
                    let text = progress_line(snapshot, rate, self.decimals);
                    line.set_message(fitted(&text, columns));
                    line.tick();
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// A snapshot of the run as `--updates` prints it. Values are whole numbers, to be divided by 10 to the power of
/// `decimals`.
fn update(snapshot: &ProgressSnapshot, decimals: u32) -> Value {
    let ProgressSnapshot { seconds, counts, done, best, bound, warning, sites, workers, .. } =
        snapshot;
    let busy = workers.iter().filter(|worker| worker.held > 0.0).count() as u32;
    let alone = SitesSnapshot { sites: 1, workers: workers.len() as u32, busy };
    let SitesSnapshot { sites, workers, busy } = sites.unwrap_or(alone);
    json!({
        "seconds": seconds, "nodes": counts.bounded, "best": best, "bound": bound, "done": done,
        "sites": sites, "units": workers, "busy": busy, "warning": warning,
        "decimals": decimals,
    })
}

/// As many whole parts of a line as fit.
fn fitted(line: &str, columns: usize) -> String {
    let mut out = String::new();
    for part in line.split("  ") {
        let gap = if out.is_empty() { 0 } else { 2 };
        if out.chars().count() + gap + part.chars().count() > columns {
            break;
        }
        out.push_str(&"  "[..gap]);
        out.push_str(part);
    }
    out
}

/// How far a search is: its time, its best value and its bound, and the gap between these.
pub fn so_far(seconds: f64, (best, bound): (Option<i64>, Option<i64>), decimals: u32) -> String {
    let mut text = format!("{seconds:.1} s");
    if let Some(best) = best {
        text += &format!("  best {}", written(best, decimals));
    }
    if let Some(bound) = bound {
        text += &format!("  bound {}", written(bound, decimals));
        if let Some(best) = best {
            text += &format!("  gap {:.2} %", 100.0 * gap(best, bound));
        }
    }
    text
}

/// A snapshot of the run in one line, the most important part first, since the end may be cut off.
fn progress_line(snapshot: &ProgressSnapshot, rate: f64, decimals: u32) -> String {
    let ProgressSnapshot { seconds, best, bound, .. } = *snapshot;
    let mut text = so_far(seconds, (best, bound), decimals);
    if let Some(sites) = &snapshot.sites {
        let SitesSnapshot { sites, workers, busy } = sites;
        text += &format!("  {}, {busy} of {workers} workers busy", counted(*sites, "site"));
    }
    let nodes = snapshot.counts.bounded;
    if snapshot.counts.total > 0 && snapshot.counts.total != u128::from(nodes) {
        text += &format!("  {} counted", grouped(snapshot.counts.total));
    }
    if let Some(done) = snapshot.done {
        text += &format!("  estimated {} done", estimate(done));
    }
    text + &format!("  {} nodes, {} a second", grouped(nodes.into()), short(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_done_is_called_an_estimate_and_never_all() {
        assert_eq!(fitted("1.0 s  best 7  12,345 nodes", 80), "1.0 s  best 7  12,345 nodes");
        assert_eq!(fitted("1.0 s  best 7  12,345 nodes", 26), "1.0 s  best 7");
        let snapshot =
            ProgressSnapshot { done: Some(0.99999), best: Some(7), ..ProgressSnapshot::default() };
        let text = progress_line(&snapshot, 0.0, 1);
        assert!(text.contains("estimated 99.9 % done") && text.contains("best 0.7"), "{text}");
    }
}
