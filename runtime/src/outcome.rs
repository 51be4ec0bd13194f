//! The reports of a run, during the search and at its end.

use crate::activity::{Activity, Phases};
use crate::control::Stop;
use pleach_core::search::tree::{Counts, Goal, Solution};
use pleach_core::search::work::Pack;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A snapshot of a run's progress.
#[derive(Clone, Debug, Default)]
pub struct ProgressSnapshot {
    /// Seconds since the start, plus those before a resume.
    pub seconds: f64,
    /// The counts of all workers so far, including before a resume.
    pub counts: Counts,
    /// The estimated fraction of the tree that is done, as long as estimates of the tree's size agree.
    pub done: Option<f64>,
    /// The incumbent's value.
    pub best: Option<i64>,
    /// The incumbent.
    pub solution: Option<Solution>,
    /// The best bound proven so far.
    pub bound: Option<i64>,
    /// A problem that does not stop the run; reported once.
    pub warning: Option<String>,
    /// The state of all sites together, if there are several.
    pub sites: Option<SitesSnapshot>,
    /// The state of each worker of this process.
    pub workers: Vec<WorkerSnapshot>,
    /// The state of each site, as far as this process knows.
    pub each_site: Vec<SiteSnapshot>,
}

impl ProgressSnapshot {
    /// The gap between the best solution and the bound, relative to the solution's value.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        Some(gap(self.best?, self.bound?))
    }
}

/// The distance between a value and a bound, relative to the value.
#[must_use]
pub fn gap(value: i64, bound: i64) -> f64 {
    value.abs_diff(bound) as f64 / (value.unsigned_abs() as f64).max(1.0)
}

/// The state of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerSnapshot {
    /// Its name.
    pub name: Arc<str>,
    /// The number of nodes that it has explored.
    pub nodes: u64,
    /// Seconds spent on them.
    pub busy_s: f64,
    /// The size of its work, in nodes or in leaves of the tree.
    pub held: f64,
}

/// The state of a site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteSnapshot {
    /// Its name: `site1`.
    pub name: String,
    /// The machine that it runs on.
    pub host: String,
    /// Seconds from the start until it joined.
    pub joined_s: f64,
    /// Seconds from the start until it was gone; none while it is present.
    pub left_s: Option<f64>,
    /// How it ended, if it did.
    pub end: Option<SiteEnd>,
    /// The number of its workers.
    pub workers: u32,
    /// How many of them have work.
    pub busy: u32,
    /// The number of nodes that it has explored.
    pub nodes: u64,
}

/// The state of all sites of a search together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SitesSnapshot {
    /// The number of sites present.
    pub sites: u32,
    /// The number of their workers.
    pub workers: u32,
    /// How many of these have work.
    pub busy: u32,
}

/// How a site ended before the search did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteEnd {
    /// In an orderly way: it handed back its work.
    Left,
    /// It died, or became unreachable.
    Lost,
}

/// What one process did in a search or a loop by several.
///
/// In a search that many processes join and leave, one report sums up those that left long before the end, and another
/// one those that were lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteReport {
    /// Its name: `site0`.
    pub name: String,
    /// The number of processes that it sums up; `None` if it is about one.
    pub merged: Option<u64>,
    /// The machine that it ran on.
    pub host: String,
    /// Its workers, as indices into [`Outcome::workers`]; empty if it was lost before it reported them, and in a loop.
    pub workers: Vec<usize>,
    /// Seconds from the start until it joined.
    pub joined_s: f64,
    /// Seconds from the start until it was gone, if that was before the end.
    pub left_s: Option<f64>,
    /// How it ended, if it did.
    pub end: Option<SiteEnd>,
    /// The number of progress reports that it sent; in a loop, of ranges whose results it sent.
    pub commits: u64,
    /// Nodes that it explored and others explored again, as far as known; in a loop, units that others had to do.
    pub redone: u64,
}

impl SiteReport {
    /// The number of processes that it is about.
    #[must_use]
    pub fn processes(&self) -> u64 {
        self.merged.unwrap_or(1)
    }
}

/// What one worker did.
#[derive(Clone, Debug, Default, Pack)]
pub struct WorkerReport {
    /// Its name: `cpu0`, `emulated0`.
    pub name: String,
    /// What it did, for a device: `explore` or `evaluate`.
    pub mode: String,
    /// The form of its kernels, for a GPU: `cached`, `compiled`, `lowered` or `committed`.
    pub kernel: String,
    /// Why better forms failed, in one line; empty if none failed.
    pub kernel_log: String,
    /// Nodes per second of a device when exploring and when bounding, if both were tried.
    pub trial: Option<(u64, u64)>,
    /// Seconds that it took to open the device, if that was completed.
    pub opened_s: Option<f64>,
    /// Its counts.
    pub counts: Counts,
    /// Seconds spent exploring.
    pub busy_s: f64,
    /// Parts of that time in which a device did something other than exploring.
    pub phases: Phases,
    /// Seconds spent on heuristics alongside the search.
    pub improve_s: f64,
    /// Seconds without work.
    pub idle_s: f64,
    /// Pieces of work received.
    pub steals: u64,
    /// Measured power in nodes per second; 0 if the worker never worked long enough.
    pub power: u64,
    /// Activity over time, if requested.
    pub activity: Option<Activity>,
}

impl WorkerReport {
    /// Adds what another worker of the same kind did, at the same time or at another one.
    pub fn add(&mut self, other: &WorkerReport) {
        // Other sites may report any numbers.
        self.counts.add_saturating(&other.counts);
        self.busy_s += other.busy_s;
        self.phases.add(other.phases);
        self.improve_s += other.improve_s;
        self.idle_s += other.idle_s;
        self.steals = self.steals.saturating_add(other.steals);
        self.power = (self.explored() as f64 / self.busy_s.max(1e-9)) as u64;
        if let Some(activity) = &other.activity {
            self.activity.get_or_insert_default().add_later(activity, 0);
        }
    }

    /// The number of nodes that it explored.
    fn explored(&self) -> u64 {
        self.counts.bounded.max(self.counts.branched)
    }
}

/// The effort of keeping the workers busy.
#[derive(Clone, Debug, Default)]
pub struct Balance {
    /// Requests for work.
    pub requests: u64,
    /// Requests that brought work.
    pub served: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Messages of any kind.
    pub messages: u64,
    /// Bytes of work that changed hands.
    pub moved_bytes: u64,
    /// Nanoseconds from the last node until every worker knew of the end.
    pub ending_ns: u64,
    /// Nanoseconds from request to work, for requests that brought some; the first [`Balance::KEPT`] of each worker.
    pub steal_ns: Vec<u64>,
    /// The power of each worker by which shares were computed, if fixed beforehand.
    pub weights: Vec<u32>,
}

impl Balance {
    /// The number of waiting times kept per worker.
    pub const KEPT: usize = 4096;

    /// Adds another worker's figures.
    pub fn add(&mut self, other: Balance) {
        // Other sites may report any numbers.
        for (sum, more) in [
            (&mut self.requests, other.requests),
            (&mut self.served, other.served),
            (&mut self.refused, other.refused),
            (&mut self.messages, other.messages),
            (&mut self.moved_bytes, other.moved_bytes),
            (&mut self.ending_ns, other.ending_ns),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.steal_ns.extend(other.steal_ns);
    }

    /// The median time from request to work.
    #[must_use]
    pub fn median_steal_ns(&self) -> Option<u64> {
        let mut sorted = self.steal_ns.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }
}

/// What a run found, proved and used.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The purpose of the search.
    pub goal: Goal,
    /// The counts of all workers.
    pub counts: Counts,
    /// The best solution found.
    pub solution: Option<Solution>,
    /// Why the run stopped early, if it did.
    pub stop: Option<Stop>,
    /// The proven lower bound on the score of any solution; `i64::MIN` if there is none.
    pub lower_bound: i64,
    /// Open nodes left.
    pub open: f64,
    /// Seconds from start to end, plus those before a resume.
    pub seconds: f64,
    /// The seconds before a resume.
    pub earlier_seconds: f64,
    /// Seconds before the first node.
    pub setup_seconds: f64,
    /// What each worker did.
    pub workers: Vec<WorkerReport>,
    /// The effort of keeping the workers busy.
    pub balance: Balance,
    /// What each process did in a search by several.
    pub sites: Vec<SiteReport>,
}

impl Outcome {
    /// The rate of the search divided by the sum of its workers' own rates, each as measured while the worker explored, for
    /// as long as the worker was present.
    ///
    /// A worker that never explored counts with the mean rate of the others. `None` if nothing was explored here.
    #[must_use]
    pub fn efficiency(&self) -> Option<f64> {
        let whole_s = self.seconds - self.earlier_seconds - self.setup_seconds;
        let nodes = |worker: &WorkerReport| worker.explored() as f64;
        let rate =
            |worker: &WorkerReport| (worker.busy_s > 0.0).then(|| nodes(worker) / worker.busy_s);
        let rates: Vec<f64> =
            self.workers.iter().filter_map(rate).filter(|&rate| rate > 0.0).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let mut site_of = vec![None; self.workers.len()];
        for site in &self.sites {
            for &worker in &site.workers {
                if let Some(its) = site_of.get_mut(worker) {
                    *its = Some(site);
                }
            }
        }
        let there_s = |worker: &WorkerReport, site: Option<&SiteReport>| {
            if site.is_some_and(|site| site.merged.is_some()) {
                return worker.busy_s + worker.improve_s + worker.idle_s;
            }
            // Processes may join and leave from the start, but nobody searches before the setup is done.
            let since = |at_s: f64| (at_s - self.setup_seconds).clamp(0.0, whole_s.max(0.0));
            let gone_s = site.and_then(|site| site.left_s).map_or(whole_s, since);
            gone_s - site.map_or(0.0, |site| since(site.joined_s))
        };
        let workers = self.workers.iter().zip(site_of);
        let could: f64 = workers
            .map(|(worker, site)| {
                let rate = rate(worker).filter(|&rate| rate > 0.0).unwrap_or(mean);
                rate * there_s(worker, site).max(0.0)
            })
            .sum();
        let did: f64 = self.workers.iter().map(nodes).sum();
        let efficiency = did / could;
        efficiency.is_finite().then_some(efficiency)
    }
}

/// Receives progress snapshots of the run, and may stop the run by returning `Break`.
pub type Watcher<'a> = dyn FnMut(&ProgressSnapshot) -> ControlFlow<()> + 'a;

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(bounded: u64, busy_s: f64) -> WorkerReport {
        WorkerReport {
            counts: Counts { bounded, ..Counts::default() },
            busy_s,
            ..WorkerReport::default()
        }
    }

    fn outcome(workers: Vec<WorkerReport>, sites: Vec<SiteReport>) -> Outcome {
        Outcome {
            goal: Goal::Count,
            counts: Counts::default(),
            solution: None,
            stop: None,
            lower_bound: 0,
            open: 0.0,
            seconds: 11.0,
            earlier_seconds: 0.0,
            setup_seconds: 1.0,
            workers,
            balance: Balance::default(),
            sites,
        }
    }

    #[test]
    fn efficiency_is_the_rate_over_the_sum_of_single_rates() {
        let close = |outcome: Outcome, wanted: f64| {
            let efficiency = outcome.efficiency().unwrap();
            assert!((efficiency - wanted).abs() < 1e-9, "{efficiency}, expected {wanted}");
        };
        close(outcome(vec![worker(1000, 10.0), worker(500, 5.0)], vec![]), 0.75);
        // The second did nothing: it counts as fast as the first.
        close(outcome(vec![worker(1000, 10.0), worker(0, 0.0)], vec![]), 0.5);
        let site = |at: usize, joined_s| SiteReport {
            workers: vec![at],
            joined_s,
            ..SiteReport::default()
        };
        close(
            outcome(vec![worker(1000, 10.0), worker(500, 5.0)], vec![site(0, 0.0), site(1, 6.0)]),
            1.0,
        );
        assert_eq!(outcome(vec![worker(0, 0.0)], vec![]).efficiency(), None);
        // A merged worker was there for all the time of the workers that it sums up.
        let mut merged = worker(1000, 10.0);
        merged.add(&WorkerReport { idle_s: 10.0, ..worker(1000, 10.0) });
        let earlier = SiteReport { merged: Some(2), ..site(1, 0.0) };
        close(outcome(vec![worker(1000, 10.0), merged], vec![site(0, 0.0), earlier]), 0.75);
    }
}
