//! Decides where work in steps is cut into slabs, and when it is cut again.

use std::ops::Range;
use std::time::Instant;

/// Cuts that differ by less than this fraction of all units are equally good.
const NEAR: f64 = 0.03;
/// Seconds after which speeds are measured again, because the machine's other load changes.
const WINDOW: f64 = 0.25;
/// The maximum fraction of time to spend on cutting again.
const CUTTING: f64 = 0.03;

/// When to measure speeds, and perhaps to cut again.
pub struct CutSchedule {
    /// The number of steps from the last measurement to the next.
    window: usize,
    /// How many steps were done at the last measurement, and when it took place.
    last: (usize, Instant),
    /// The most steps in a sweep.
    depth: usize,
    /// Seconds that a sweep takes.
    sweep: f64,
}

impl CutSchedule {
    /// Measures from the first step on, or never.
    pub fn new(looks: bool, depth: usize) -> Self {
        let window = if looks { 1 } else { usize::MAX };
        Self { window, last: (0, Instant::now()), depth: depth.max(1), sweep: 0.0 }
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
    /// slow members have delayed the others for long; a whole sweep with warm memory then shows them better.
    pub fn end(&mut self, done: usize) {
        let cutting = self.last.1.elapsed().as_secs_f64();
        let wait = WINDOW.max(cutting / CUTTING);
        let sweeps = if self.window < self.depth { 1.0 } else { wait / self.sweep.max(1e-9) };
        self.window = self.depth * sweeps.clamp(1.0, 1e6) as usize;
        self.last = (done, Instant::now());
    }
}

/// Whether two cuts differ enough for cutting again to pay.
pub fn far(now: &[Range<usize>], learnt: &[Range<usize>], units: usize) -> bool {
    let apart = now.iter().zip(learnt).map(|(now, learnt)| now.end.abs_diff(learnt.end));
    apart.max().unwrap_or(0) as f64 > NEAR * units as f64
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
    fn ranges_follow_the_shares_and_none_is_too_small() {
        assert_eq!(cut(100, 4, &[1.0, 3.0]), [0..25, 25..100]);
        assert_eq!(cut(100, 4, &[0.0, 1.0, 0.0]), [0..4, 4..96, 96..100]);
        assert_eq!(cut(12, 4, &[9.0, 1.0, 1.0]), [0..4, 4..8, 8..12]);
        assert!(cut(7, 4, &[1.0]).into_iter().eq(std::iter::once(0..7)));
        assert_eq!(cut(9, 4, &[0.0, 0.0]), [0..5, 5..9]);
    }
}
