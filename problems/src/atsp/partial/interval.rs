//! The position of a search along a [`Trail`] among all tours, and how to return to it.
//!
//! The cities left are ranked by their distance from the last city of the path.

use super::Node;
use super::rows::Kernel;
use super::trail::{Dive, Trail};
use pleach_core::search::explorer::Progress;
use pleach_core::search::ranked::Ranked;
use pleach_core::search::work::Entry;
use std::ops::Range;

impl<K: Kernel> Trail<'_, K> {
    /// The lanes of all children, open or not.
    fn lanes(&self, depth: usize) -> u64 {
        let frame = &self.frames[depth];
        let row = &self.rows().rows[usize::from(frame.city)];
        let others = self.rows().nearest(frame.city.into()).enumerate();
        others.fold(0, |lanes, (lane, _)| lanes | (frame.left >> row.cities[lane] & 1) << lane)
    }

    /// The lane of the child with this rank.
    fn lane(&self, depth: usize, rank: usize) -> Option<usize> {
        let mut lanes = self.lanes(depth);
        for _ in 0..rank.min(64) {
            lanes &= lanes.wrapping_sub(1);
        }
        (lanes != 0).then(|| lanes.trailing_zeros() as usize)
    }

    fn rank_of(&self, depth: usize, lane: usize) -> usize {
        (self.lanes(depth) & ((1 << lane) - 1)).count_ones() as usize
    }

    /// Enters a child of the last frame, if given, then searches on while there is fuel.
    fn dive(&mut self, first: Option<usize>, fuel: u64, best: i64, progress: &mut Progress) {
        let (kernel, to_a_point) = (self.kernel, first.is_none());
        let mut stretch = self.stretch(best, std::mem::take(progress));
        kernel.inside(Dive { trail: self, first, fuel, to_a_point, stretch: &mut stretch });
        *progress = stretch.progress;
        progress.used = progress.counts.bounded;
    }
}

impl<K: Kernel> Ranked for Trail<'_, K> {
    fn places(&self) -> usize {
        self.rows().rows.len() - 1
    }

    fn valid_bound(&self, bound: i64) -> bool {
        self.rows().valid_bound(bound)
    }

    fn branch_root(&mut self, best: i64, progress: &mut Progress) {
        Trail::clear(self);
        let mut stretch = self.stretch(best, std::mem::take(progress));
        let root = Entry { bound: i64::MIN, depth: 0, share: 1.0, node: Node::default() };
        self.start(root, &mut stretch);
        *progress = stretch.progress;
        progress.used = progress.counts.bounded;
    }

    fn enter_child(&mut self, depth: usize, rank: usize, best: i64, progress: &mut Progress) {
        let Some(lane) = self.lane(depth, rank) else { return };
        self.frames.truncate(depth + 1);
        self.dive(Some(lane), 0, best, progress);
    }

    fn keep_children(&mut self, depth: usize, ranks: Range<usize>) {
        // Beyond the last rank there is no lane.
        let below = |rank| self.lane(depth, rank).map_or(u64::MAX, |lane| (1 << lane) - 1);
        let kept = below(ranks.end) & !below(ranks.start);
        let frame = &mut self.frames[depth];
        self.open -= (frame.open & !kept).count_ones() as usize;
        frame.open &= kept;
    }

    fn fresh(&self) -> bool {
        Trail::fresh(self)
    }

    fn clear(&mut self) {
        Trail::clear(self);
    }

    fn depth(&self) -> usize {
        self.frames.len()
    }

    fn any_open(&self) -> bool {
        self.open > 0
    }

    fn open_children(&self, depth: usize) -> usize {
        self.frames[depth].open.count_ones() as usize
    }

    fn open_ranks(&self, depth: usize) -> Option<(usize, usize)> {
        let open = self.frames[depth].open;
        let rank = |lane: u32| self.rank_of(depth, lane as usize);
        (open != 0).then(|| (rank(open.trailing_zeros()), rank(63 - open.leading_zeros())))
    }

    fn least_open(&self, depth: usize) -> Option<i64> {
        let frame = &self.frames[depth];
        (frame.open != 0).then(|| self.bound(frame, frame.open.trailing_zeros() as usize))
    }

    fn child_bound(&self, depth: usize, rank: usize) -> Option<i64> {
        let lane = self.lane(depth, rank)?;
        let frame = &self.frames[depth];
        (frame.open >> lane & 1 == 1).then(|| self.bound(frame, lane))
    }

    fn rank(&self, depth: usize) -> usize {
        self.rank_of(depth, self.frames[depth].lane.into())
    }

    fn tree_part(&self, depth: usize) -> f64 {
        Trail::tree_part(self, depth).into()
    }

    fn explore(&mut self, fuel: u64, best: i64, progress: &mut Progress) {
        self.dive(None, fuel, best, progress);
    }
}
