//! [`LoopThread`]: a thread that runs ranges of a loop and records what it did.

use super::loop_queue::LoopQueue;
use crate::looping::contract::Loop;
use pleach_core::search::work::Pack;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Owed sleep shorter than this is postponed, because sleeps are inexact.
const OWED: Duration = Duration::from_micros(200);

/// A slowed worker sleeps at most this long at a time, because the loop may be stopped meanwhile.
const NAP: Duration = Duration::from_millis(50);

/// The number of pieces in which a thread runs its part of a static split.
const PIECES: usize = 64;

/// What a thread or device did in a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pack)]
pub(super) struct TakerTally {
    /// Units of the loop.
    pub units: u64,
    /// Their cost.
    pub cost: f64,
    /// Ranges.
    pub ranges: u64,
    /// Time during which it was busy.
    pub busy_ns: u64,
}

impl TakerTally {
    /// Records a range.
    pub fn add(&mut self, units: u64, cost: f64, busy: Duration) {
        self.units += units;
        // Nothing depends on a cost that a user's own loop computes wrongly.
        self.cost += if cost.is_finite() { cost.max(0.0) } else { 0.0 };
        self.ranges += 1;
        self.busy_ns += busy.as_nanos() as u64;
    }
}

/// The units of the loop for units of the queue, `grain` for each.
pub(super) fn stands_for(row: &Range<u32>, grain: usize, units: usize) -> Range<usize> {
    let end = (row.end as usize).saturating_mul(grain).min(units);
    row.start as usize * grain..end
}

/// A thread that runs ranges of a loop.
pub(super) struct LoopThread<'a, L: Loop> {
    pub share: &'a LoopQueue<'a>,
    pub work: &'a L,
    /// Units of the loop for each unit of the queue.
    pub grain: usize,
    pub me: usize,
    /// Its slow-down factor.
    pub slow: f64,
}

impl<L: Loop> LoopThread<'_, L> {
    /// The units of the loop for units of the queue.
    pub fn units(&self, row: &Range<u32>) -> Range<usize> {
        stands_for(row, self.grain, self.work.units())
    }

    /// Runs ranges until none are left.
    pub fn run(&self, did: &mut TakerTally) -> L::Local {
        self.run_ranges(self.share.static_range(self.me), did)
    }

    /// Runs ranges for a device that has failed, whose own were given back.
    pub fn run_rest(&self, did: &mut TakerTally) -> L::Local {
        self.run_ranges(None, did)
    }

    fn run_ranges(&self, mut own: Option<Range<u32>>, did: &mut TakerTally) -> L::Local {
        let mut local = self.work.local();
        let (mut last, mut owed) = (self.share.whole(), Duration::ZERO);
        loop {
            // A static range may be half of the loop.
            let pieces = if own.is_some() { PIECES } else { 1 };
            let Some(row) = own.take().or_else(|| self.share.next(self.me, last)) else { break };
            self.share.record_start(self.me, &row);
            let (units, began) = (self.units(&row), Instant::now());
            let count = units.len() as u64;
            let size = units.len().div_ceil(pieces).max(1);
            let Some(worked) = self.in_pieces(units, size, &mut local, &mut owed) else { break };
            last = self.share.cost(&row);
            did.add(count, last, began.elapsed());
            self.share.record_done(self.me, &row, worked.as_nanos() as f64 * self.slow);
        }
        sleep(owed, || self.share.is_stopped());
        local
    }

    /// Runs a range in pieces of a given size. Returns the time at full speed, or `None` if the loop was stopped in
    /// between.
    fn in_pieces(
        &self,
        units: Range<usize>,
        size: usize,
        local: &mut L::Local,
        owed: &mut Duration,
    ) -> Option<Duration> {
        let (mut worked, mut from) = (Duration::ZERO, units.start);
        while from < units.end {
            let to = from.saturating_add(size).min(units.end);
            let began = Instant::now();
            self.work.run(from..to, local);
            let took = began.elapsed();
            worked += took;
            if self.slow > 1.0 {
                *owed += took.mul_f64(self.slow - 1.0);
                if *owed > OWED {
                    let slept = Instant::now();
                    sleep(*owed, || self.share.is_stopped());
                    *owed = owed.saturating_sub(slept.elapsed());
                }
            }
            from = to;
            if from < units.end && self.share.is_stopped() {
                return None;
            }
        }
        Some(worked)
    }
}

/// Sleeps, unless the loop is stopped.
pub(super) fn sleep(time: Duration, is_stopped: impl Fn() -> bool) {
    let end = Instant::now() + time;
    while !is_stopped() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(NAP));
    }
}
