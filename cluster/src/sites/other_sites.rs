//! [`OtherSites`]: the root's knowledge of the other sites: which are present, their progress, and their totals.

use super::message::SiteProgress;
use super::totals::SiteTotals;
use pleach_core::lease::SiteId;
use pleach_core::search::tree::Counts;
use pleach_runtime::outcome::{SiteEnd, SiteReport, SiteSnapshot};
use pleach_runtime::site_state::{CombinedProgress, OtherProcesses};
use pleach_runtime::sync::{Mutex, lock};
use std::collections::{BTreeMap, VecDeque};

/// The maximum number of processes whose places others have taken that are kept in detail.
const KEPT: usize = 1000;

/// The maximum number of workers of these processes.
const KEPT_WORKERS: usize = 10_000;

/// The membership of one process, from joining to leaving; or the sum of several.
#[derive(Clone, Debug, Default)]
struct Membership {
    site: SiteId,
    /// The number of processes that had the place before.
    nth: usize,
    name: String,
    host: String,
    /// The number of memberships in this sum, if it is one.
    merged: Option<u64>,
    joined_ns: u64,
    left_ns: Option<u64>,
    end: Option<SiteEnd>,
    progress: SiteProgress,
    /// With activities on the root's clock.
    totals: Option<SiteTotals>,
}

impl Membership {
    /// Notes that the process is gone.
    fn finish(&mut self, now_ns: u64) {
        self.left_ns.get_or_insert(now_ns);
        // A site that leaves in an orderly way sends its totals first.
        let end = if self.totals.is_some() { SiteEnd::Left } else { SiteEnd::Lost };
        self.end.get_or_insert(end);
    }

    /// Whether the process is present and has not sent its totals yet.
    fn owes_totals(&self) -> bool {
        self.end.is_none() && self.totals.is_none()
    }

    fn workers(&self) -> usize {
        self.totals.as_ref().map_or(0, |totals| totals.workers.len())
    }

    /// Adds another membership to this sum.
    fn merge(&mut self, other: Membership) {
        self.merged = Some(self.merged.unwrap_or(0) + 1);
        self.joined_ns = self.joined_ns.min(other.joined_ns);
        self.left_ns = self.left_ns.max(other.left_ns);
        self.progress.counts.add_saturating(&other.progress.counts);
        if let Some(totals) = other.totals {
            self.totals.get_or_insert_default().add(totals);
        }
    }
}

/// All memberships of a search.
#[derive(Default)]
struct MembershipTable {
    /// By place: the process that has it, or had it last.
    last: BTreeMap<SiteId, Membership>,
    /// Processes whose places others have taken, in the order in which these came.
    former: VecDeque<Membership>,
    /// Sums of older ones, by name: a search may take weeks, and processes join it any number of times.
    earlier: BTreeMap<&'static str, Membership>,
}

impl MembershipTable {
    /// Keeps a process whose place another one takes, and sums up the oldest if there are too many.
    fn add_former(&mut self, former: Membership) {
        self.former.push_back(former);
        let is_full = |former: &VecDeque<Membership>| {
            former.len() > KEPT
                || former.iter().map(Membership::workers).sum::<usize>() > KEPT_WORKERS
        };
        while is_full(&self.former) {
            let Some(oldest) = self.former.pop_front() else { return };
            let name = if oldest.totals.is_some() { "earlier" } else { "earlier-lost" };
            let (joined_ns, end) = (oldest.joined_ns, oldest.end);
            let sum = || Membership { name: name.into(), joined_ns, end, ..Membership::default() };
            self.earlier.entry(name).or_insert_with(sum).merge(oldest);
        }
    }

    /// All memberships, the sums first, then by place.
    fn all(&self) -> impl Iterator<Item = &Membership> {
        let mut each: Vec<&Membership> = self.former.iter().chain(self.last.values()).collect();
        each.sort_unstable_by_key(|membership| (membership.site, membership.nth));
        self.earlier.values().chain(each)
    }
}

/// The root's knowledge of the other sites.
#[derive(Default)]
pub struct OtherSites {
    memberships: Mutex<MembershipTable>,
}

impl OtherSites {
    fn update_last(&self, site: SiteId, change: impl FnOnce(&mut Membership)) {
        if let Some(membership) = lock(&self.memberships).last.get_mut(&site) {
            change(membership);
        }
    }

    /// Records that a process has taken a place, perhaps one that it had before.
    pub fn record_join(&self, site: SiteId, host: String, again: bool, now_ns: u64) {
        let mut memberships = lock(&self.memberships);
        let nth = memberships.last.get(&site).map_or(0, |before| before.nth + 1);
        let (name, joined_ns) = (site_name(site, nth), now_ns);
        let membership = Membership { site, nth, name, host, joined_ns, ..Membership::default() };
        if let Some(mut before) = memberships.last.insert(site, membership) {
            before.finish(now_ns);
            if again {
                // It reports its whole progress again.
                before.progress.counts = Counts::default();
            }
            memberships.add_former(before);
        }
    }

    /// Records that a process is gone.
    pub fn record_loss(&self, site: SiteId, now_ns: u64) {
        self.update_last(site, |membership| membership.finish(now_ns));
    }

    /// Records a site's progress.
    pub fn record_progress(&self, site: SiteId, progress: SiteProgress) {
        self.update_last(site, |membership| membership.progress = progress);
    }

    /// Records a site's totals: it has left the search.
    pub fn record_totals(&self, site: SiteId, mut totals: SiteTotals) {
        self.update_last(site, |membership| {
            let late_ns = membership.joined_ns.saturating_add(totals.lag_ns);
            for worker in &mut totals.workers {
                worker.activity = worker.activity.take().map(|activity| activity.later(late_ns));
            }
            if membership.host.is_empty() {
                membership.host.clone_from(&totals.host);
            }
            membership.totals = Some(totals);
        });
    }

    /// Records that a site's totals will not come, unless they have. Returns whether that was not known.
    pub fn record_no_totals(&self, site: SiteId) -> bool {
        let mut new = false;
        self.update_last(site, |membership| {
            new = membership.totals.is_none();
            membership.totals.get_or_insert_default();
        });
        new
    }

    /// Whether some site is present and has not sent its totals yet.
    pub fn awaits_totals(&self) -> bool {
        lock(&self.memberships).last.values().any(Membership::owes_totals)
    }

    /// Whether this site is present and has not sent its totals yet.
    pub fn awaits_totals_of(&self, site: SiteId) -> bool {
        lock(&self.memberships).last.get(&site).is_some_and(Membership::owes_totals)
    }

    /// The report of each site, its totals if they came, and the counts that it last reported. Sites that left long ago
    /// are summed up.
    pub fn reports(&self) -> Vec<(SiteReport, Option<SiteTotals>, Counts)> {
        let mut all = Vec::new();
        for membership in lock(&self.memberships).all() {
            all.push((
                SiteReport {
                    name: membership.name.clone(),
                    merged: membership.merged,
                    host: membership.host.clone(),
                    workers: Vec::new(),
                    joined_s: membership.joined_ns as f64 * 1e-9,
                    left_s: membership.left_ns.map(|ns| ns as f64 * 1e-9),
                    end: membership.end,
                    commits: membership.totals.as_ref().map_or(0, |totals| totals.commits),
                    redone: 0,
                },
                membership.totals.clone(),
                membership.progress.counts.clone(),
            ));
        }
        all
    }
}

impl OtherProcesses for OtherSites {
    /// The state of all other sites together.
    fn combined_progress(&self) -> CombinedProgress {
        let mut sum = CombinedProgress::default();
        for membership in lock(&self.memberships).all() {
            // A faulty site must not bring this one down.
            sum.counts.add_saturating(&membership.progress.counts);
            if membership.end.is_none() {
                sum.sites += 1;
                sum.workers += membership.progress.workers;
                sum.busy += membership.progress.busy;
            }
        }
        sum
    }

    /// The state of each site, as it last reported, without those that left long ago.
    fn snapshots(&self) -> Vec<SiteSnapshot> {
        let mut all = Vec::new();
        let memberships = lock(&self.memberships);
        for membership in memberships.all().filter(|membership| membership.merged.is_none()) {
            let SiteProgress { ref counts, workers, busy, .. } = membership.progress;
            all.push(SiteSnapshot {
                name: membership.name.clone(),
                host: membership.host.clone(),
                joined_s: membership.joined_ns as f64 * 1e-9,
                left_s: membership.left_ns.map(|ns| ns as f64 * 1e-9),
                end: membership.end,
                workers,
                busy: if membership.end.is_none() { busy } else { 0 },
                nodes: counts.bounded.max(counts.branched),
            });
        }
        all
    }
}

/// The name of a site: a place may have had several, one after the other.
pub fn site_name(site: SiteId, nth: usize) -> String {
    let again = if nth > 0 { format!(".{nth}") } else { String::new() };
    format!("site{site}{again}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_runtime::outcome::{Balance, WorkerReport};

    /// A site with two workers, the first of which did this.
    fn totals(bounded: u64) -> SiteTotals {
        let counts = Counts { bounded, ..Counts::default() };
        let busy = WorkerReport {
            name: "cpu0".into(),
            counts,
            busy_s: 0.5,
            steals: 3,
            ..WorkerReport::default()
        };
        let idle = WorkerReport { name: "cpu1".into(), idle_s: 0.25, ..WorkerReport::default() };
        let balance = Balance { served: 5, steal_ns: vec![7; 9], ..Balance::default() };
        let workers = vec![busy, idle];
        SiteTotals { workers, balance, commits: 2, wasted: 1, ..SiteTotals::default() }
    }

    /// Each process that had joined used to stay in the root's memory, in each progress snapshot and in the result.
    #[test]
    fn however_many_sites_join_and_leave_few_are_kept_and_sums_stay_exact() {
        const JOINS: u64 = 20_000;
        let others = OtherSites::default();
        let (mut left, mut lost) = (0, 0);
        for join in 0..JOINS {
            let site = 1 + (join % 3) as SiteId;
            others.record_join(site, "a".into(), false, join);
            let counts = Counts { bounded: join, ..Counts::default() };
            others.record_progress(site, SiteProgress { counts, ..SiteProgress::default() });
            if join % 5 == 0 {
                lost += join;
            } else {
                others.record_totals(site, totals(join));
                left += join;
            }
            others.record_loss(site, join);
        }
        let (combined, snapshots) = (others.combined_progress(), others.snapshots());
        assert_eq!((combined.sites, combined.counts.bounded), (0, left + lost));
        assert_eq!(snapshots.len(), KEPT + 3);
        assert_eq!(snapshots.last().unwrap().name, format!("site3.{}", JOINS / 3 - 1));
        let reports = others.reports();
        assert_eq!(reports.len(), snapshots.len() + 2);
        let workers = reports.iter().filter_map(|(_, totals, _)| totals.as_ref());
        let workers = workers.flat_map(|totals| &totals.workers);
        assert!(workers.clone().count() <= 2 * (KEPT + 3) + 1);
        let bounded = workers.clone().map(|worker| worker.counts.bounded).sum::<u64>();
        let steals = workers.clone().map(|worker| worker.steals).sum::<u64>();
        assert_eq!((bounded, steals), (left, JOINS / 5 * 12));
        let (busy, idle) = workers
            .fold((0.0, 0.0), |(busy, idle), worker| (busy + worker.busy_s, idle + worker.idle_s));
        assert_eq!((busy, idle), ((JOINS / 5 * 2) as f64, (JOINS / 5) as f64));
        let processes: u64 = reports.iter().map(|(report, ..)| report.processes()).sum();
        let commits: u64 = reports.iter().map(|(report, ..)| report.commits).sum();
        assert_eq!((processes, commits), (JOINS, JOINS / 5 * 8));
        let served = reports.iter().filter_map(|(_, totals, _)| totals.as_ref());
        assert_eq!(served.map(|totals| totals.balance.served).sum::<u64>(), JOINS * 4);
        for (report, totals, counts) in &reports[..2] {
            let end = if report.name == "earlier" { SiteEnd::Left } else { SiteEnd::Lost };
            assert_eq!((report.end, totals.is_some()), (Some(end), end == SiteEnd::Left));
            assert!(report.left_s > Some(report.joined_s) && counts.bounded > 0);
            let names = totals.iter().flat_map(|totals| &totals.workers).map(|it| &*it.name);
            assert!(names.eq(["cpu"].into_iter().filter(|_| end == SiteEnd::Left)));
        }
        let unknown = reports.iter().filter(|(_, totals, _)| totals.is_none());
        assert_eq!(unknown.map(|(_, _, counts)| counts.bounded).sum::<u64>(), lost);
    }

    #[test]
    fn a_place_keeps_its_last_site_even_if_that_left_long_ago() {
        let others = OtherSites::default();
        others.record_join(1, "a".into(), false, 0);
        let counts = Counts { bounded: 7, ..Counts::default() };
        others.record_progress(1, SiteProgress { counts, ..SiteProgress::default() });
        others.record_loss(1, 1);
        for join in 0..2 * KEPT as u64 {
            others.record_join(2, "b".into(), false, join);
            others.record_loss(2, join);
        }
        assert_eq!(others.snapshots()[0].name, "site1");
        // It comes back, and reports its whole progress again.
        others.record_join(1, "a".into(), true, 9);
        assert_eq!(others.combined_progress().counts.bounded, 0);
        assert_eq!(others.snapshots().last().unwrap().name, format!("site2.{}", 2 * KEPT - 1));
        assert!(others.awaits_totals());
    }
}
