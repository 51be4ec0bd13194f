//! Decides where work in steps is cut into slabs, and when it is cut again.

use super::sizes::Sizes;
use std::ops::Range;
use std::time::Instant;

/// Seconds after which speeds are measured again, because the machine's other load changes.
const WINDOW: f64 = 0.25;
/// The maximum fraction of time to spend on cutting again.
const CUTTING: f64 = 0.03;

/// When to measure speeds, and perhaps to cut again.
pub struct CutSchedule {
    /// Whether the first measurement is the last.
    once: bool,
    /// The number of steps from the last measurement to the next.
    window: usize,
    /// How many steps were done at the last measurement, and when it took place.
    last: (usize, Instant),
    /// The maximum number of steps in a sweep.
    depth: usize,
    /// Seconds that a sweep takes.
    sweep: f64,
}

impl CutSchedule {
    /// Measures from the first step on, only after the first step, or never.
    pub fn new(sizes: &Sizes, depth: usize) -> Self {
        let window = match sizes {
            Sizes::Measured | Sizes::FirstStep => 1,
            Sizes::Given(..) | Sizes::Block(..) | Sizes::Static(_) => usize::MAX,
        };
        let (once, last) = (*sizes == Sizes::FirstStep, (0, Instant::now()));
        Self { once, window, last, depth: depth.max(1), sweep: 0.0 }
    }

    /// The number of steps after which to measure next.
    pub fn next(&self) -> usize {
        self.last.0.saturating_add(self.window)
    }

    /// Starts a measurement once all steps up to [`next`](Self::next) are done.
    pub fn begin(&mut self) {
        self.sweep = self.last.1.elapsed().as_secs_f64() / self.window.div_ceil(self.depth) as f64;
        self.last.1 = Instant::now();
    }

    /// Ends a measurement, after which slabs may have been cut again. A single step roughly shows all speeds before
    /// slow members have delayed the others for long; a whole sweep with warm memory then shows them better, and more
    /// sweeps better still.
    pub fn end(&mut self, done: usize) {
        let cutting = self.last.1.elapsed().as_secs_f64();
        let wait = WINDOW.max(cutting / CUTTING);
        let most = (wait / self.sweep.max(1e-9)).clamp(1.0, 1e6) as usize;
        self.window = match self.window {
            _ if self.once => usize::MAX,
            window if window < self.depth => self.depth,
            window => self.depth * (2 * (window / self.depth)).min(most),
        };
        self.last = (done, Instant::now());
    }
}

/// How many times as fast a step becomes with new ranges, if members took these times for their present ranges.
pub fn speed_up(now: &[Range<usize>], times: &[f64], learnt: &[Range<usize>]) -> f64 {
    let rest = now.iter().zip(learnt).zip(times);
    let then = rest.map(|((now, learnt), took)| took * learnt.len() as f64 / now.len() as f64);
    times.iter().copied().fold(0.0, f64::max) / then.fold(1e-9, f64::max)
}

/// Cuts units into ranges with these shares, each with at least this many units.
pub fn cut(units: usize, least: usize, shares: &[f64]) -> Vec<Range<usize>> {
    let whole: f64 = shares.iter().map(|share| share.max(0.0)).sum();
    let (mut from, mut sum) = (0, 0.0);
    let mut all = Vec::new();
    for (me, share) in shares.iter().enumerate() {
        sum += if whole > 0.0 { share.max(0.0) / whole } else { 1.0 / shares.len() as f64 };
        // Follow the shares, but leave enough units for the others.
        let wanted = (sum * units as f64).round() as usize;
        let lowest = from + least;
        let highest = lowest.max(units.saturating_sub(least * (shares.len() - 1 - me)));
        let to = if me + 1 == shares.len() { units } else { wanted.clamp(lowest, highest) };
        all.push(from..to);
        from = to;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_as_fast_as_its_slowest_range() {
        let halves = [0..8, 8..16];
        assert_eq!(speed_up(&halves, &[1.0, 4.0], &[0..12, 12..16]), 2.0);
        assert_eq!(speed_up(&halves, &[1.0, 4.0], &[0..13, 13..16]), 4.0 / 1.625);
        assert_eq!(speed_up(&halves, &[1.0, 1.0], &halves), 1.0);
    }

    #[test]
    fn measurements_become_rarer_or_end_after_the_first() {
        let mut all = CutSchedule::new(&Sizes::Measured, 4);
        let mut at = Vec::new();
        for _ in 0..4 {
            at.push(all.next());
            all.sweep = 1e-6;
            all.end(at[at.len() - 1]);
        }
        assert_eq!(at, [1, 5, 13, 29]);
        let mut first = CutSchedule::new(&Sizes::FirstStep, 4);
        assert_eq!(first.next(), 1);
        first.end(1);
        assert_eq!(first.next(), usize::MAX);
        assert_eq!(CutSchedule::new(&Sizes::Given(1, 1), 4).next(), usize::MAX);
    }

    #[test]
    fn ranges_follow_the_shares_and_none_is_too_small() {
        assert_eq!(cut(100, 4, &[1.0, 3.0]), [0..25, 25..100]);
        assert_eq!(cut(100, 4, &[0.0, 1.0, 0.0]), [0..4, 4..96, 96..100]);
        assert_eq!(cut(12, 4, &[9.0, 1.0, 1.0]), [0..4, 4..8, 8..12]);
        assert!(cut(7, 4, &[1.0]).into_iter().eq(std::iter::once(0..7)));
        assert_eq!(cut(9, 4, &[0.0, 0.0]), [0..5, 5..9]);
    }
}
