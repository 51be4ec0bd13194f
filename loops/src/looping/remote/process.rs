//! [`RemoteProcess`]: what the root knows about another process in a loop.

use super::super::loop_thread::TakerTally;
use super::lent_ranges::LentRanges;
use super::message::WorkerCount;
use crate::looping::report::Part;
use pleach_runtime::outcome::{SiteEnd, SiteReport};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Another process, from the moment it is ready for the loop.
pub(super) struct RemoteProcess {
    pub workers: WorkerCount,
    pub lent: LentRanges,
    /// Whether it may get ranges.
    pub takes: bool,
    /// Whether it is idle, as far as the root knows.
    pub rests: bool,
    /// Whether it must be notified that the loop is over.
    pub there: bool,
    /// When its last message arrived.
    pub last_message: Instant,
    /// When its last results arrived, or it last became busy.
    pub since: Instant,
    /// Results that arrived since the root last listened.
    pub new: Vec<Range<u32>>,
    /// The cost of its last work.
    pub last: f64,
    /// What it did, as far as the root knows.
    pub did: TakerTally,
    /// What each of its workers did, once reported.
    pub reports: Option<Vec<TakerTally>>,
    /// Units that others had to do again.
    pub redone: u64,
    pub joined: Instant,
    pub end: Option<(SiteEnd, Instant)>,
}

impl RemoteProcess {
    pub fn new(workers: WorkerCount, last: f64) -> Self {
        let now = Instant::now();
        Self {
            workers,
            lent: LentRanges::default(),
            takes: true,
            rests: true,
            there: true,
            last_message: now,
            since: now,
            new: Vec::new(),
            last,
            did: TakerTally::default(),
            reports: None,
            redone: 0,
            joined: now,
            end: None,
        }
    }

    /// What each of its workers did; a single line if it did not report that.
    pub fn parts(&self, site: &str, whole: f64, took: Duration) -> Vec<Part> {
        let Some(reports) = &self.reports else {
            return vec![Part::new(site.to_string(), &self.did, whole, took)];
        };
        let each = self
            .workers
            .names
            .iter()
            .zip(reports)
            .map(|(name, did)| Part::new(format!("{site}/{name}"), did, whole, took));
        each.collect()
    }

    /// Its report, for a loop that started at this time.
    pub fn site(&self, name: String, start: Instant) -> SiteReport {
        let since = |at: Instant| at.saturating_duration_since(start).as_secs_f64();
        SiteReport {
            name,
            host: self.workers.host.clone(),
            joined_s: since(self.joined),
            left_s: self.end.map(|(_, at)| since(at)),
            end: self.end.map(|(end, _)| end),
            commits: self.did.ranges,
            redone: self.redone,
            ..SiteReport::default()
        }
    }
}
