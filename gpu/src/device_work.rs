//! [`DeviceWork`]: measures and divides nodes or intervals that the host holds as words.

use pleach_core::search::device::{IntervalWords, Layout};
use pleach_core::search::work::{Nodes, portion};
use std::mem;

/// Measures and divides nodes or intervals held as words.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceWork {
    words: usize,
    intervals: Option<IntervalWords>,
}

impl DeviceWork {
    /// Work as explorers with this layout hold it.
    pub fn new(layout: &Layout) -> Self {
        let intervals = match layout.nodes {
            Nodes::Pool => None,
            Nodes::Interval => Some(IntervalWords(layout.depth)),
        };
        Self { words: layout.words, intervals }
    }

    /// Whether the work is intervals.
    pub fn is_intervals(self) -> bool {
        self.intervals.is_some()
    }

    /// How many nodes or intervals each explorer holds, given their heights.
    pub fn counts(self, heights: &[u32]) -> Vec<u32> {
        let most = if self.is_intervals() { 1 } else { u32::MAX };
        heights.iter().map(|&height| height.min(most)).collect()
    }

    /// Each node or interval.
    pub fn each(self, all: &[u32]) -> impl Iterator<Item = &[u32]> {
        all.chunks_exact(self.words)
    }

    /// The words of half of the nodes or intervals, at least of one.
    pub fn half(self, all: &[u32]) -> usize {
        (all.len() / self.words).div_ceil(2) * self.words
    }

    /// The number of nodes, or of leaves.
    pub fn size(self, all: &[u32]) -> f64 {
        match self.intervals {
            None => (all.len() / self.words) as f64,
            Some(intervals) => intervals.leaves(all),
        }
    }

    /// The size of this share of the work: at least one of two or more, never all.
    pub fn portion(self, share: f64, size: f64) -> f64 {
        match self.intervals {
            None => portion(share, size as usize) as f64,
            Some(_) if size < 2.0 => 0.0,
            // NaN counts as 0.
            Some(_) => (share.max(0.0) * size).clamp(1.0, size - 1.0),
        }
    }

    /// Removes and returns this share of each interval, from its end: at least one leaf of two or more, never all.
    pub fn split_each(self, all: &mut Vec<u32>, share: f64) -> Vec<u32> {
        let Some(intervals) = self.intervals else { return Vec::new() };
        let (mut kept, mut given) = (Vec::new(), Vec::new());
        for one in self.each(all) {
            let mut one = one.to_vec();
            let leaves = intervals.leaves(&one);
            if leaves >= 2.0 {
                given.append(&mut intervals.split(&mut one, share * leaves));
            }
            kept.append(&mut one);
        }
        *all = kept;
        given
    }

    /// Removes and returns this much work, or what there is; keeps at least one node or leaf unless there is more work
    /// elsewhere.
    pub fn split(self, all: &mut Vec<u32>, wanted: f64, elsewhere: bool) -> Vec<u32> {
        match self.intervals {
            None => all.split_off(all.len() - wanted as usize * self.words),
            Some(intervals) if elsewhere && wanted >= intervals.leaves(all) => mem::take(all),
            Some(intervals) => intervals.split(all, wanted),
        }
    }
}
