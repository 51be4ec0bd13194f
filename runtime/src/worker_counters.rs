//! [`WorkerCounters`]: what a running worker publishes about itself.

use crate::sync::{AtomicI64, AtomicU64, Mutex, Ordering, lock};
use pleach_core::search::tree::Counts;

/// The answer of a worker without work: valid for every request until the worker has work again.
const PARKED: u64 = u64::MAX;

/// A worker's counts and bounds for others to read, on their own cache line.
#[repr(align(128))]
pub struct WorkerCounters {
    branched: AtomicU64,
    bounded: AtomicU64,
    /// It may exceed 64 bits.
    total: Mutex<u128>,
    /// The open part of the tree, as the bits of an `f64`; NaN if unknown.
    open: AtomicU64,
    /// Open nodes in memory.
    open_nodes: AtomicU64,
    /// The size of the worker's work, as the bits of an `f64`.
    size: AtomicU64,
    /// Time spent exploring.
    busy_ns: AtomicU64,
    /// The least bound of all work of the worker, or on its way from it.
    least_bound: AtomicI64,
    /// The progress request that `open` and `least_bound` answer.
    answered: AtomicU64,
    /// Incremented before each rise of the least bound.
    rises: AtomicU64,
}

impl Default for WorkerCounters {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            branched: zero(),
            bounded: zero(),
            total: Mutex::new(0),
            open: AtomicU64::new(f64::NAN.to_bits()),
            open_nodes: zero(),
            size: zero(),
            busy_ns: zero(),
            least_bound: AtomicI64::new(i64::MIN),
            answered: zero(),
            rises: zero(),
        }
    }
}

impl WorkerCounters {
    /// Whether the worker has answered a progress request. Once all workers have, their counters together omit no work.
    pub fn has_answered(&self, request: u64) -> bool {
        self.answered.load(Ordering::Acquire) >= request
    }

    /// How often the least bound has risen. Bounds that are read one after the other are consistent only if none rose
    /// meanwhile: otherwise a piece may have moved from a worker that is read later to one that was read before.
    pub fn rises(&self) -> u64 {
        self.rises.load(Ordering::SeqCst)
    }

    /// The counts so far, without the tree's own counters, the open part of the tree if known, and the least bound of all
    /// work that the worker had at any time since the last answer.
    pub fn read(&self) -> (Counts, f64, i64) {
        let read = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let counts = Counts {
            branched: read(&self.branched),
            bounded: read(&self.bounded),
            total: *lock(&self.total),
            ..Counts::default()
        };
        (counts, f64::from_bits(read(&self.open)), self.least_bound.load(Ordering::SeqCst))
    }

    /// Open nodes in memory after the last stretch.
    pub fn open_nodes(&self) -> u64 {
        self.open_nodes.load(Ordering::Relaxed)
    }

    /// The size of the worker's work, as last published.
    pub fn size(&self) -> f64 {
        f64::from_bits(self.size.load(Ordering::Relaxed))
    }

    /// Publishes the size of the worker's work.
    pub fn publish_size(&self, size: f64) {
        self.size.store(size.to_bits(), Ordering::Relaxed);
    }

    /// Nodes explored so far, and the time spent on them.
    pub fn spent(&self) -> (u64, u64) {
        let read = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        (read(&self.bounded), read(&self.busy_ns))
    }

    /// Counts time spent exploring. Only the worker itself calls this.
    pub fn add_busy_time(&self, busy_ns: u64) {
        let before_ns = self.busy_ns.load(Ordering::Relaxed);
        self.busy_ns.store(before_ns + busy_ns, Ordering::Relaxed);
    }

    /// Publishes the counts and the number of open nodes.
    pub fn publish_counts(&self, counts: &Counts, open_nodes: f64) {
        self.branched.store(counts.branched, Ordering::Relaxed);
        self.bounded.store(counts.bounded, Ordering::Relaxed);
        *lock(&self.total) = counts.total;
        self.open_nodes.store(open_nodes as u64, Ordering::Relaxed);
    }

    /// Whether a progress request is not answered yet.
    pub fn must_answer(&self, request: u64) -> bool {
        self.answered.load(Ordering::Relaxed) != request
    }

    /// Answers a progress request.
    pub fn answer_request(&self, request: u64, open: f64, least_bound: i64) {
        self.rises.fetch_add(1, Ordering::SeqCst);
        self.open.store(open.to_bits(), Ordering::Relaxed);
        // A piece counts here until it is acknowledged, and at its receiver from then on.
        self.least_bound.store(least_bound, Ordering::SeqCst);
        self.answered.store(request, Ordering::Release);
    }

    /// Answers this and all later requests, until the worker has work again.
    pub fn answer_all_requests(&self, least_bound: i64) {
        self.open_nodes.store(0, Ordering::Relaxed);
        self.publish_size(0.0);
        self.answer_request(PARKED, 0.0, least_bound);
    }

    /// Includes work that has arrived. Must be called before its giver gets the acknowledgement.
    pub fn include_work(&self, least_bound: i64) {
        self.least_bound.fetch_min(least_bound, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It used to be shown modulo 2^64.
    #[test]
    fn a_count_may_exceed_64_bits() {
        let (counters, total) = (WorkerCounters::default(), 1 << 70);
        counters.publish_counts(&Counts { total, ..Counts::default() }, 0.0);
        assert_eq!(counters.read().0.total, total);
    }
}
