//! [`LoopReport`]: the result of a loop, and who did which part.

use super::loop_thread::TakerTally;
use pleach_runtime::outcome::SiteReport;
use std::time::Duration;

/// The result of a loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopReport {
    /// What each thread and device did.
    pub parts: Vec<Part>,
    /// The other processes, if there were any.
    pub sites: Vec<SiteReport>,
    /// How long it took.
    pub seconds: f64,
    /// Whether all units were run; if not, the watcher stopped the loop.
    pub complete: bool,
    /// A line about each device that was not used or failed.
    pub warnings: Vec<String>,
}

/// What a thread or a device did in a loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Units of the loop.
    pub units: u64,
    /// The number of ranges.
    pub ranges: u64,
    /// Their fraction of the total cost.
    pub share: f64,
    /// Time during which it was busy.
    pub busy_s: f64,
    /// Time during which it was idle.
    pub idle_s: f64,
}

impl Part {
    pub(super) fn new(name: String, did: &TakerTally, whole: f64, took: Duration) -> Self {
        let share = if whole > 0.0 { did.cost / whole } else { 0.0 };
        let busy = Duration::from_nanos(did.busy_ns);
        let idle_s = took.saturating_sub(busy).as_secs_f64();
        let (units, ranges, busy_s) = (did.units, did.ranges, busy.as_secs_f64());
        Self { name, units, ranges, share, busy_s, idle_s }
    }
}
