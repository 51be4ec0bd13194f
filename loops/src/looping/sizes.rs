//! [`Sizes`]: how many units of a loop a thread or a device takes at a time.

use pleach_runtime::sync::{AtomicU64, Ordering};
use std::ops::Range;

/// How many units are taken at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Sizes {
    /// By measured rates: what takes a few milliseconds at most, and less and less towards the end, so that all finish
    /// together.
    #[default]
    Measured,
    /// The same in loops. Work in steps is cut by the speeds of the first step, and keeps that cut.
    FirstStep,
    /// This many units for a thread, and this many for a device.
    Given(u32, u32),
    /// This many units for all threads together, of which each gets an equal part once all are idle; and this many for a
    /// device.
    Block(u32, u32),
    /// A single range each: the shares of the cost, first for the threads, then for the devices.
    Static(Vec<f64>),
}

/// The first range of a taker with unknown rate: this fraction of its even share.
const FIRST: f64 = 1.0 / 128.0;
/// The target duration of a range, by kind of taker.
const SLICE_NS: [f64; 3] = [2e6, 8e6, 30e6];
/// Ranges shorter than this are not worthwhile.
const LEAST_NS: [f64; 3] = [20e3, 100e3, 500e3];
/// The fraction of a taker's part of the remaining work, by rate, that it takes at a time.
const PART: f64 = 0.5;
/// A range is at most this many times as large as the previous one.
const GROWTH: f64 = 8.0;

/// The kinds of takers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TakerKind {
    Thread,
    Device,
    /// Another process with all its workers.
    Site,
}

/// The rate of a process that is not present.
const MISSING: f64 = -1.0;

/// The rate of each taker, shared by all.
pub(super) struct Rates(Vec<AtomicU64>);

#[cfg_attr(loom, allow(dead_code))]
impl Rates {
    /// Initially unknown rates.
    pub fn new(n: usize) -> Self {
        Self((0..n).map(|_| AtomicU64::new(0)).collect())
    }

    /// The cost that a taker completes per nanosecond; 0 if unknown.
    pub fn of(&self, taker: usize) -> f64 {
        f64::from_bits(self.0[taker].load(Ordering::Relaxed))
    }

    /// Records that a taker needed this long for work of this cost.
    pub fn record(&self, taker: usize, cost: f64, took_ns: f64) {
        let (now, before) = (cost / took_ns.max(1.0), self.of(taker));
        // Longer measurements have more weight.
        let weight = if before > 0.0 { 0.25 + 0.5 * (took_ns / SLICE_NS[0]).min(1.0) } else { 1.0 };
        let rate = before + weight * (now - before);
        if rate > 0.0 {
            self.0[taker].store(rate.to_bits(), Ordering::Relaxed);
        }
    }

    /// Makes a taker's rate unknown.
    pub fn forget(&self, taker: usize) {
        self.0[taker].store(0, Ordering::Relaxed);
    }

    /// Marks a taker as not present.
    pub fn remove(&self, taker: usize) {
        self.0[taker].store(MISSING.to_bits(), Ordering::Relaxed);
    }

    /// The rates of the other takers: of all together, and of the fastest. Unknown rates count as the mean of the
    /// others and this one; takers that are not present do not count.
    fn others(&self, taker: usize) -> (f64, f64) {
        let all = (0..self.0.len()).filter(|&other| other != taker).map(|other| self.of(other));
        let (mut sum, mut most, mut known, mut unknown) = (0.0, 0f64, 1.0, 0.0);
        for rate in all.filter(|&rate| rate != MISSING) {
            sum += rate;
            most = most.max(rate);
            if rate > 0.0 { known += 1.0 } else { unknown += 1.0 }
        }
        let mean = (sum + self.of(taker)) / known;
        (sum + unknown * mean, if unknown > 0.0 { most.max(mean) } else { most })
    }

    /// The cost that a taker should take of what is left, given what it took last. `None` if others will have done all
    /// of it before this taker could do its `least`.
    pub fn wanted(
        &self,
        taker: usize,
        kind: TakerKind,
        left: f64,
        last: f64,
        least: f64,
    ) -> Option<f64> {
        let mine = self.of(taker);
        if mine <= 0.0 {
            return Some(left * FIRST / self.0.len() as f64);
        }
        let (others, fastest) = self.others(taker);
        let takes_ns = least / mine;
        if others > 0.0 && takes_ns > (left / others).max(least / fastest) * 1.01 {
            return None;
        }
        let kind = kind as usize;
        let share = left * PART * mine / (mine + others);
        let most = (mine * SLICE_NS[kind]).min(last * GROWTH);
        Some(share.min(most).max(mine * LEAST_NS[kind]))
    }
}

/// The boundaries between ranges with these shares of a loop's cost.
pub(super) fn boundaries(shares: &[f64], units: u32, cost_before: impl Fn(u32) -> f64) -> Vec<u32> {
    let whole: f64 = shares.iter().sum();
    let (mut ends, mut sum) = (vec![0], 0.0);
    for share in shares {
        sum += share;
        let cost = cost_before(units) * sum / whole;
        let last = ends[ends.len() - 1];
        ends.push(nearest(&(last..units), cost, &cost_before));
    }
    if let Some(end) = ends.last_mut() {
        *end = units;
    }
    ends
}

/// The boundary between units at which the cost of everything before is nearest to this one.
pub(super) fn nearest(units: &Range<u32>, cost: f64, cost_before: impl Fn(u32) -> f64) -> u32 {
    let (mut low, mut high) = (units.start, units.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if cost_before(middle) < cost { low = middle + 1 } else { high = middle }
    }
    let nearer = low > units.start && cost - cost_before(low - 1) < cost_before(low) - cost;
    if nearer { low - 1 } else { low }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_cost_finds_the_nearest_boundary() {
        let squares = |unit: u32| f64::from(unit * unit);
        assert_eq!(nearest(&(0..10), 48.0, squares), 7);
        assert_eq!(nearest(&(0..10), 57.0, squares), 8);
        assert_eq!(nearest(&(0..10), 1e9, squares), 10);
        assert_eq!(nearest(&(4..10), 0.0, squares), 4);
        assert_eq!(boundaries(&[1.0, 1.0, 2.0], 100, f64::from), [0, 25, 50, 100]);
        assert_eq!(boundaries(&[0.0, 3.0, 0.0], 7, f64::from), [0, 0, 7, 7]);
        assert_eq!(boundaries(&[1.0, 1.0], 0, f64::from), [0, 0, 0]);
    }

    #[test]
    fn a_faster_taker_takes_more_and_all_take_less_towards_the_end() {
        let rates = Rates::new(2);
        assert_eq!(rates.wanted(0, TakerKind::Thread, 2560.0, 0.0, 1.0), Some(10.0));
        rates.record(0, 3000.0, 1e3);
        rates.record(1, 1000.0, 1e3);
        let wants = |taker, left| rates.wanted(taker, TakerKind::Thread, left, 1e12, 1.0).unwrap();
        assert_eq!((wants(0, 8e6), wants(1, 8e6)), (3e6, 1e6));
        assert_eq!(wants(0, 1e12), 6e6);
        assert_eq!(wants(0, 8e4), 6e4);
    }

    #[test]
    fn a_slow_taker_leaves_the_last_ones_to_the_fast_ones() {
        let rates = Rates::new(3);
        rates.record(0, 100.0, 1.0);
        rates.record(1, 100.0, 1.0);
        rates.record(2, 1.0, 1.0);
        // One unit is left: either of the fast takers would take it; the slow one would not.
        let takes =
            |taker, left| rates.wanted(taker, TakerKind::Thread, left, 1e9, 1000.0).is_some();
        assert_eq!([takes(0, 1e3), takes(1, 1e3), takes(2, 1e3)], [true, true, false]);
        assert!(takes(2, 1e6));
        // It takes the unit if nobody knows the others' rates.
        rates.forget(0);
        rates.forget(1);
        assert!(takes(2, 1e3));
    }
}
