//! [`OtherSites`]: what the root knows of the other sites: who is there, how far they are, what they did.

use super::message::SiteProgress;
use super::totals::SiteTotals;
use pleach_core::lease::SiteId;
use pleach_core::search::tree::Counts;
use pleach_runtime::outcome::{SiteEnd, SiteReport, SiteSnapshot};
use pleach_runtime::site_state::{CombinedProgress, OtherProcesses};
use pleach_runtime::sync::{Mutex, lock};
use std::collections::BTreeMap;

/// One process that was a site, for as long as it was.
#[derive(Clone, Debug, Default)]
struct Stay {
    host: String,
    joined_ns: u64,
    left_ns: Option<u64>,
    end: Option<SiteEnd>,
    progress: SiteProgress,
    totals: Option<SiteTotals>,
}

/// What the root knows of the other sites.
#[derive(Default)]
pub struct OtherSites {
    /// By place; a place may have had several sites, one after the other.
    stays: Mutex<BTreeMap<SiteId, Vec<Stay>>>,
}

impl OtherSites {
    fn last(&self, site: SiteId, change: impl FnOnce(&mut Stay)) {
        if let Some(stay) = lock(&self.stays).get_mut(&site).and_then(|stays| stays.last_mut()) {
            change(stay);
        }
    }

    /// A process takes a place, perhaps one that it had before.
    pub fn join(&self, site: SiteId, host: String, again: bool, now_ns: u64) {
        let stay = Stay { host, joined_ns: now_ns, ..Stay::default() };
        let mut stays = lock(&self.stays);
        let stays = stays.entry(site).or_default();
        if let Some(before) = stays.last_mut().filter(|_| again) {
            // From now on it tells of all that it did.
            before.progress.counts = Counts::default();
        }
        stays.push(stay);
    }

    /// A process is gone.
    pub fn lose(&self, site: SiteId, now_ns: u64) {
        self.last(site, |stay| {
            stay.left_ns.get_or_insert(now_ns);
            // A site that leaves in order tells before what it did.
            let left = if stay.totals.is_some() { SiteEnd::Left } else { SiteEnd::Lost };
            stay.end.get_or_insert(left);
        });
    }

    /// A site has told how far it is.
    pub fn see(&self, site: SiteId, progress: SiteProgress) {
        self.last(site, |stay| stay.progress = progress);
    }

    /// A site has told what it did: it takes no further part.
    pub fn totals(&self, site: SiteId, totals: SiteTotals) {
        self.last(site, |stay| {
            if stay.host.is_empty() {
                stay.host.clone_from(&totals.host);
            }
            stay.totals = Some(totals);
        });
    }

    /// The sites that are there and have yet to tell what they did.
    pub fn owing(&self) -> bool {
        let stays = lock(&self.stays);
        let there = stays.values().filter_map(|stays| stays.last());
        there.filter(|stay| stay.end.is_none()).any(|stay| stay.totals.is_none())
    }

    /// What each did, as far as it told, and how far it was when it last told.
    pub fn reports(&self) -> Vec<(SiteReport, Option<SiteTotals>, Counts)> {
        let mut all = Vec::new();
        for (site, stays) in &*lock(&self.stays) {
            for (nth, stay) in stays.iter().enumerate() {
                all.push((
                    SiteReport {
                        name: site_name(*site, nth),
                        host: stay.host.clone(),
                        units: Vec::new(),
                        joined_s: stay.joined_ns as f64 * 1e-9,
                        left_s: stay.left_ns.map(|ns| ns as f64 * 1e-9),
                        end: stay.end,
                        commits: stay.totals.as_ref().map_or(0, |totals| totals.commits),
                        redone: 0,
                    },
                    stay.totals.clone(),
                    stay.progress.counts,
                ));
            }
        }
        all
    }
}

impl OtherProcesses for OtherSites {
    /// How all are now.
    fn together(&self) -> CombinedProgress {
        let mut sum = CombinedProgress::default();
        for stay in lock(&self.stays).values().flatten() {
            sum.counts.add(&stay.progress.counts);
            if stay.end.is_none() {
                sum.sites += 1;
                sum.units += stay.progress.units;
                sum.busy += stay.progress.busy;
            }
        }
        sum
    }

    /// How each is, as far as it told.
    fn snapshots(&self) -> Vec<SiteSnapshot> {
        let mut all = Vec::new();
        for (site, stays) in &*lock(&self.stays) {
            for (nth, stay) in stays.iter().enumerate() {
                let SiteProgress { counts, units, busy, .. } = stay.progress;
                all.push(SiteSnapshot {
                    name: site_name(*site, nth),
                    host: stay.host.clone(),
                    joined_s: stay.joined_ns as f64 * 1e-9,
                    left_s: stay.left_ns.map(|ns| ns as f64 * 1e-9),
                    end: stay.end,
                    units,
                    busy: if stay.end.is_none() { busy } else { 0 },
                    nodes: counts.bounded.max(counts.branched),
                });
            }
        }
        all
    }
}

/// The name of a site: a place may have had several, one after the other.
pub fn site_name(site: SiteId, nth: usize) -> String {
    let again = if nth > 0 { format!(".{nth}") } else { String::new() };
    format!("site{site}{again}")
}
