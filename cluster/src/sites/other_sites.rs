//! [`OtherSites`]: the root's knowledge of the other sites: which are present, their progress, and their totals.

use super::message::SiteProgress;
use super::totals::SiteTotals;
use pleach_core::lease::SiteId;
use pleach_core::search::tree::Counts;
use pleach_runtime::outcome::{SiteEnd, SiteReport, SiteSnapshot};
use pleach_runtime::site_state::{CombinedProgress, OtherProcesses};
use pleach_runtime::sync::{Mutex, lock};
use std::collections::BTreeMap;

/// The membership of one process, from joining to leaving.
#[derive(Clone, Debug, Default)]
struct Membership {
    name: String,
    host: String,
    joined_ns: u64,
    left_ns: Option<u64>,
    end: Option<SiteEnd>,
    progress: SiteProgress,
    totals: Option<SiteTotals>,
}

/// The root's knowledge of the other sites.
#[derive(Default)]
pub struct OtherSites {
    /// By place: a place may have had several sites, one after the other.
    memberships: Mutex<BTreeMap<SiteId, Vec<Membership>>>,
}

impl OtherSites {
    fn update_last(&self, site: SiteId, change: impl FnOnce(&mut Membership)) {
        if let Some(membership) =
            lock(&self.memberships).get_mut(&site).and_then(|memberships| memberships.last_mut())
        {
            change(membership);
        }
    }

    /// Records that a process has taken a place, perhaps one that it had before.
    pub fn record_join(&self, site: SiteId, host: String, again: bool, now_ns: u64) {
        let mut memberships = lock(&self.memberships);
        let memberships = memberships.entry(site).or_default();
        let name = site_name(site, memberships.len());
        let membership = Membership { name, host, joined_ns: now_ns, ..Membership::default() };
        if let Some(before) = memberships.last_mut().filter(|_| again) {
            // It reports its whole progress again.
            before.progress.counts = Counts::default();
        }
        memberships.push(membership);
    }

    /// Records that a process is gone.
    pub fn record_loss(&self, site: SiteId, now_ns: u64) {
        self.update_last(site, |membership| {
            membership.left_ns.get_or_insert(now_ns);
            // A site that leaves in an orderly way sends its totals first.
            let left = if membership.totals.is_some() { SiteEnd::Left } else { SiteEnd::Lost };
            membership.end.get_or_insert(left);
        });
    }

    /// Records a site's progress.
    pub fn record_progress(&self, site: SiteId, progress: SiteProgress) {
        self.update_last(site, |membership| membership.progress = progress);
    }

    /// Records a site's totals: it has left the search.
    pub fn record_totals(&self, site: SiteId, totals: SiteTotals) {
        self.update_last(site, |membership| {
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
        let memberships = lock(&self.memberships);
        let there = memberships.values().filter_map(|memberships| memberships.last());
        there
            .filter(|membership| membership.end.is_none())
            .any(|membership| membership.totals.is_none())
    }

    /// The report of each site, its totals if they came, and the counts that it last reported.
    pub fn reports(&self) -> Vec<(SiteReport, Option<SiteTotals>, Counts)> {
        let mut all = Vec::new();
        for membership in lock(&self.memberships).values().flatten() {
            all.push((
                SiteReport {
                    name: membership.name.clone(),
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
        for membership in lock(&self.memberships).values().flatten() {
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

    /// The state of each site, as it last reported.
    fn snapshots(&self) -> Vec<SiteSnapshot> {
        let mut all = Vec::new();
        for membership in lock(&self.memberships).values().flatten() {
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
