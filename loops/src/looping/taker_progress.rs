//! [`TakerProgress`]: the progress that each taker shows while a loop runs.

use std::ops::Range;
// These values are only displayed, so model checks of threads need not try their orders.
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A thread, a device or another process in a loop under way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TakerSnapshot {
    /// Its name.
    pub name: String,
    /// Units of the loop that it has done; for work in steps, once for each step.
    pub units: u64,
    /// Time spent on them, and on the range it has started.
    pub busy_s: f64,
    /// The range that it was given last and is probably working on; for work in steps, its slab or a tile of it.
    pub held: Range<u64>,
}

/// The progress of one taker, for the watcher to read.
#[repr(align(128))]
pub(super) struct TakerProgress {
    epoch: Instant,
    units: AtomicU64,
    busy_ns: AtomicU64,
    from: AtomicU64,
    to: AtomicU64,
    /// Ranges that it has not finished.
    open: AtomicU64,
    /// When it started the next of them, in time since the epoch.
    since_ns: AtomicU64,
}

#[cfg_attr(loom, allow(dead_code))]
impl TakerProgress {
    /// Initial progress of this many takers.
    pub fn all(takers: usize) -> Vec<Self> {
        let epoch = Instant::now();
        let zero = || AtomicU64::new(0);
        let one = || Self {
            epoch,
            units: zero(),
            busy_ns: zero(),
            from: zero(),
            to: zero(),
            open: zero(),
            since_ns: zero(),
        };
        (0..takers).map(|_| one()).collect()
    }

    fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    /// Records that it was given these units.
    pub fn record_start(&self, units: Range<u64>) {
        self.from.store(units.start, Ordering::Relaxed);
        self.to.store(units.end, Ordering::Relaxed);
        if self.open.fetch_add(1, Ordering::Relaxed) == 0 {
            self.since_ns.store(self.now_ns(), Ordering::Relaxed);
        }
    }

    /// Records that it has done this many of the given units.
    pub fn record_done(&self, units: u64, took_ns: u64) {
        self.since_ns.store(self.now_ns(), Ordering::Relaxed);
        let open = self.open.load(Ordering::Relaxed);
        self.open.store(open.saturating_sub(1), Ordering::Relaxed);
        self.units.fetch_add(units, Ordering::Relaxed);
        self.busy_ns.fetch_add(took_ns, Ordering::Relaxed);
    }

    /// Records that others do what it was given.
    pub fn drop_all(&self) {
        self.open.store(0, Ordering::Relaxed);
    }

    /// Records this many steps with everything it holds.
    pub fn record_sweep(&self, steps: usize, took: Duration) {
        let read = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let held = read(&self.to).saturating_sub(read(&self.from));
        self.record_done(held.saturating_mul(steps as u64), took.as_nanos() as u64);
    }

    /// Its current progress; each of its own units stands for this many of the loop.
    pub fn snapshot(&self, name: &str, grain: u64) -> TakerSnapshot {
        let read = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let units = |cell: &AtomicU64| read(cell).saturating_mul(grain);
        // The two ends are read one after the other: a range that begins after its end is empty.
        let (from, to) = (units(&self.from), units(&self.to));
        let begun = self.now_ns().saturating_sub(read(&self.since_ns));
        let begun = if read(&self.open) > 0 { begun } else { 0 };
        TakerSnapshot {
            name: name.to_string(),
            units: units(&self.units),
            busy_s: read(&self.busy_ns).saturating_add(begun) as f64 * 1e-9,
            held: from..to.max(from),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread::sleep;

    #[test]
    fn a_taker_that_has_begun_a_range_is_busy() {
        let seen = &TakerProgress::all(1)[0];
        let busy = || seen.snapshot("cpu0", 1).busy_s;
        sleep(Duration::from_millis(2));
        assert_eq!(busy(), 0.0);
        seen.record_start(3..9);
        seen.record_start(9..12);
        sleep(Duration::from_millis(2));
        assert!(busy() >= 0.002);
        seen.record_done(6, 1);
        sleep(Duration::from_millis(2));
        assert!(busy() >= 0.002, "another range is under way");
        seen.record_done(3, 1);
        let ended = TakerSnapshot { name: "cpu0".into(), units: 18, busy_s: 2e-9, held: 18..24 };
        assert_eq!(seen.snapshot("cpu0", 2), ended);
        seen.record_start(0..1);
        seen.drop_all();
        assert_eq!(busy(), 2e-9);
    }
}
