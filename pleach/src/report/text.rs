//! The report as text for people, and numbers as people read them.

use super::{Labels, Report, Status};
use pleach_core::search::tree::Goal;
use pleach_runtime::{Outcome, SiteEnd, SiteReport, Stop};
use std::fmt::{Display, Write};

impl Report {
    /// The report as text for people.
    #[must_use]
    pub fn text(&self, problem: &str, instance: &str) -> String {
        let labels = Labels { decimals: self.decimals, ..Labels::default() };
        self.labelled((problem, instance), &labels)
    }

    /// The same with values and solution written by labels.
    pub(crate) fn labelled(&self, (problem, instance): (&str, &str), labels: &Labels) -> String {
        let mut out = format!("{problem} {instance}:");
        match (self.status, self.objective) {
            (Status::Found, _) => {}
            (Status::Counted, _) => {
                let _ = write!(out, " {}", grouped(self.count));
            }
            (Status::Stopped, _) if self.outcome.goal == Goal::Count => {
                let _ = write!(out, " {} so far", grouped(self.count));
            }
            (_, Some(value)) => {
                let _ = write!(out, " {}", labels.value(value));
            }
            (Status::NoBetter, None) => {
                let _ = write!(
                    out,
                    " nothing beats {}",
                    labels.value(self.lower_bound.unwrap_or_default())
                );
            }
            (_, None) => {}
        }
        let word = self.status.word();
        let valued = self.status != Status::Found && out.len() > problem.len() + instance.len() + 2;
        let _ = if valued { write!(out, " ({word})") } else { write!(out, " {word}") };
        if let (Status::Stopped, Some(bound)) = (self.status, self.lower_bound) {
            let _ = write!(out, ", bound {}", labels.value(bound));
            if let Some(gap) = self.gap() {
                let _ = write!(out, ", gap {:.2} %", 100.0 * gap);
            }
        }
        if let Some(optima) = self.optima {
            let _ = write!(out, ", {} optimal solutions", grouped(optima));
        }
        if let Some(why) = self.outcome.stop.filter(|_| self.status == Status::Stopped) {
            let _ = write!(out, ", stopped by {}", reason(why));
        }
        if let Some(plan) = &self.solution {
            let _ = write!(out, "\n{}", labels.line(plan));
        }
        let Outcome { counts, seconds, workers, sites, .. } = &self.outcome;
        if !counts.tally.is_empty() {
            let each: Vec<String> = counts.tally.iter().copied().map(grouped).collect();
            let _ = write!(out, "\ntally: {}", each.join("; "));
        }
        let rate = counts.bounded as f64 / seconds.max(1e-9);
        let own = |name: &str| name.rsplit('/').next().is_some_and(|own| own.starts_with("cpu"));
        let only_threads = workers.iter().all(|worker| own(&worker.name));
        let kind = if only_threads { "thread" } else { "worker" };
        if counts.bounded == 0 {
            let how = if self.status == Status::Stopped {
                "stopped before the search began"
            } else {
                "solved without search"
            };
            let _ = write!(out, "\n{how}, in {seconds:.3} s");
            return out;
        }
        let nodes = if counts.bounded == 1 { "node" } else { "nodes" };
        let _ = write!(out, "\n{} {nodes} in {seconds:.3} s", grouped(counts.bounded.into()));
        // There are none yet if the search was stopped in its layers.
        if !workers.is_empty() {
            let _ = write!(out, " on {}{}", counted(workers.len(), kind), of_sites(sites));
        }
        let _ = write!(out, ", {} a second", short(rate));
        out
    }
}

/// The number of processes, and of those that left or were lost.
fn of_sites(sites: &[SiteReport]) -> String {
    let number = |how: Option<SiteEnd>| -> u64 {
        let sites = sites.iter().filter(|site| how.is_none() || site.end == how);
        sites.map(SiteReport::processes).sum()
    };
    let mut out = match number(None) {
        0 => return String::new(),
        1 => " of one process".to_string(),
        many => format!(" of {many} processes"),
    };
    let ended = |how| number(Some(how));
    let gone = [(ended(SiteEnd::Left), "left"), (ended(SiteEnd::Lost), "lost")];
    let gone: Vec<String> =
        gone.iter().filter(|(n, _)| *n > 0).map(|(n, how)| format!("{n} {how}")).collect();
    if !gone.is_empty() {
        let _ = write!(out, " ({})", gone.join(", "));
    }
    out
}

fn reason(why: Stop) -> &'static str {
    match why {
        Stop::Time => "the time limit",
        Stop::Nodes => "the node limit",
        Stop::Asked => "request",
        Stop::Memory => "the memory limit",
        Stop::Found | Stop::Failed => "a worker that failed",
    }
}

/// A number of things: `1 run`, `2 runs`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    format!("{number} {thing}{}", if number == N::from(1) { "" } else { "s" })
}

/// A whole number with a comma every three digits.
pub(crate) fn grouped(value: u128) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The estimated share of the tree that is done; it never rounds up to 100 %.
pub(crate) fn estimate(done: f64) -> String {
    format!("{:.1} %", (1000.0 * done).floor().clamp(0.0, 999.0) / 10.0)
}

/// A rate with three digits and a word.
pub(crate) fn short(rate: f64) -> String {
    let (value, word) = match rate {
        _ if rate >= 1e9 => (rate / 1e9, " billion"),
        _ if rate >= 1e6 => (rate / 1e6, " million"),
        _ if rate >= 1e3 => (rate / 1e3, " thousand"),
        _ => (rate, ""),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}{word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_processes_counts_as_all_of_them() {
        let site = |merged, end| SiteReport { merged, end, ..SiteReport::default() };
        assert_eq!(of_sites(&[site(None, None)]), " of one process");
        let (left, lost) = (Some(SiteEnd::Left), Some(SiteEnd::Lost));
        let sites = [site(None, None), site(Some(20), left), site(Some(4), lost), site(None, left)];
        assert_eq!(of_sites(&sites), " of 26 processes (21 left, 4 lost)");
    }

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(short(4_512_345_678.0), "4.51 billion");
        assert_eq!(short(12_345.0), "12.3 thousand");
        assert_eq!((estimate(1.0), estimate(0.7649)), ("99.9 %".into(), "76.4 %".into()));
    }
}
