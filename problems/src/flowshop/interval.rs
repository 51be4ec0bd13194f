//! The position of a search through [`Frames`] among all schedules, and how to return to it.
//!
//! By default, frames take the open child with the least bound first, then the lowest job. A child's rank is its place
//! in this order among all children at the chosen end. Pruned children come last, so that bounds which were not fully
//! computed do no harm. In the order of jobs, bounds do not matter, and pruned children come anywhere.

use super::Node;
use super::child_order::ChildOrder;
use super::explorer::{Dive, Frames, Stretch};
use super::kernel::Kernel;
use super::tables::Word;
use pleach_core::search::explorer::Progress;
use pleach_core::search::ranked::Ranked;
use pleach_core::search::work::Entry;
use std::ops::Range;

/// Whether an interval can have this bound.
pub(super) fn valid_bound(bound: i64) -> bool {
    bound == i64::MIN || (0..=i64::from(u32::MAX)).contains(&bound)
}

impl<K: Kernel> Frames<'_, K> {
    /// Runs `what` and adds its counts to `progress`.
    fn counting(
        &mut self,
        best: i64,
        progress: &mut Progress,
        what: impl FnOnce(&mut Self, &mut Stretch<K::Word>),
    ) {
        let mut stretch = self.stretch(best);
        stretch.progress = std::mem::take(progress);
        what(self, &mut stretch);
        *progress = stretch.progress;
        progress.used = progress.counts.bounded;
    }

    /// Enters a child of the last frame, if given, then searches on while there is fuel.
    fn dive(
        &mut self,
        first: Option<(usize, K::Word)>,
        fuel: u64,
        best: i64,
        progress: &mut Progress,
    ) {
        let (kernel, to_a_point) = (self.kernel, first.is_none());
        self.counting(best, progress, |frames, stretch| {
            kernel.inside(Dive { frames, first, fuel, to_a_point, stretch });
        });
    }

    /// The place of a child, given by its bound and lane, in the order of the children.
    fn place(&self, (bound, lane): (K::Word, usize)) -> (K::Word, usize) {
        match self.flowshop.order {
            ChildOrder::Bound => (bound, lane),
            ChildOrder::Job => (K::Word::narrow(0), lane),
        }
    }

    /// The bound and lane of the child with this rank, pruned or not.
    fn at_rank(&self, depth: usize, rank: usize) -> Option<(K::Word, usize)> {
        let children = self.frames[depth].children(Self::LANES);
        let mut children: Vec<_> = children.map(|(lane, bound)| (bound, lane)).collect();
        let place = |child: &_| self.place(*child);
        (rank < children.len()).then(|| *children.select_nth_unstable_by_key(rank, place).1)
    }

    /// The rank of the child with this bound and lane.
    fn rank_of(&self, depth: usize, child: (K::Word, usize)) -> usize {
        let children = self.frames[depth].children(Self::LANES);
        children.filter(|&(lane, bound)| self.place((bound, lane)) < self.place(child)).count()
    }

    /// The bounds and lanes of the open children.
    fn open_children(&self, depth: usize) -> impl Iterator<Item = (K::Word, usize)> {
        self.frames[depth].open(Self::LANES).map(|(lane, bound)| (bound, lane))
    }
}

impl<K: Kernel> Ranked for Frames<'_, K> {
    fn places(&self) -> usize {
        self.flowshop.instance.jobs()
    }

    fn valid_bound(&self, bound: i64) -> bool {
        valid_bound(bound)
    }

    fn branch_root(&mut self, best: i64, progress: &mut Progress) {
        self.clear();
        let root = Entry { bound: i64::MIN, depth: 0, share: 1.0, node: Node::default() };
        self.counting(best, progress, |frames, stretch| frames.start(root, stretch));
    }

    fn enter_child(&mut self, depth: usize, rank: usize, best: i64, progress: &mut Progress) {
        let Some((bound, lane)) = self.at_rank(depth, rank) else { return };
        self.used = depth + 1;
        let first = Some((lane, self.frames[depth].bound.max(bound)));
        self.dive(first, 0, best, progress);
    }

    fn keep_children(&mut self, depth: usize, ranks: Range<usize>) {
        let place = |rank| self.at_rank(depth, rank).map(|child| self.place(child));
        let (from, upto) = (place(ranks.start), place(ranks.end));
        // Beyond the last rank there is no child.
        let outside = |&child: &_| {
            let place = self.place(child);
            from.is_none_or(|from| place < from) || upto.is_some_and(|upto| place >= upto)
        };
        let closed: Vec<_> = self.open_children(depth).filter(outside).collect();
        for (_, lane) in closed {
            self.frames[depth].close(lane, Self::LANES);
            self.open -= 1;
        }
    }

    fn fresh(&self) -> bool {
        Frames::fresh(self)
    }

    fn clear(&mut self) {
        (self.used, self.open) = (0, 0);
    }

    fn depth(&self) -> usize {
        self.used
    }

    fn any_open(&self) -> bool {
        self.open > 0
    }

    fn open_children(&self, depth: usize) -> usize {
        self.frames[depth].n_open
    }

    fn open_ranks(&self, depth: usize) -> Option<(usize, usize)> {
        let place = |child: &_| self.place(*child);
        let first = self.open_children(depth).min_by_key(place)?;
        let last = self.open_children(depth).max_by_key(place)?;
        Some((self.rank_of(depth, first), self.rank_of(depth, last)))
    }

    fn least_open(&self, depth: usize) -> Option<i64> {
        let (bound, _) = self.open_children(depth).min()?;
        Some(self.frames[depth].bound.max(bound).wide().into())
    }

    fn child_bound(&self, depth: usize, rank: usize) -> Option<i64> {
        let child = self.at_rank(depth, rank)?;
        let open = self.open_children(depth).any(|open| open == child);
        open.then(|| self.frames[depth].bound.max(child.0).wide().into())
    }

    fn rank(&self, depth: usize) -> usize {
        let frame = &self.frames[depth];
        let place = self.bases[frame.base].jobs.binary_search(&frame.job).unwrap_or(0);
        let lane = 2 * place + usize::from(frame.back);
        let bound = frame.blocks[lane / Self::LANES].bounds[lane % Self::LANES];
        self.rank_of(depth, (bound, lane))
    }

    fn tree_part(&self, depth: usize) -> f64 {
        self.frames[depth].tree_part.into()
    }

    fn explore(&mut self, fuel: u64, best: i64, progress: &mut Progress) {
        self.dive(None, fuel, best, progress);
    }
}
