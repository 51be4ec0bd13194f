//! [`Frames`]: depth-first search that bounds all children of a node in one pass.

use super::bound::{Bound, least_tails};
use super::branching::{Branching, Ends};
use super::child_order::ChildOrder;
use super::code_path::{WithKernel, with_kernel};
use super::frame::{Base, Frame, NO_JOB, worth_a_base};
use super::instance::solution_of;
use super::kernel::{BlockStats, Kernel, Limits, SIDES};
use super::lb2::Lb2;
use super::lb2_payoff::Lb2Payoff;
use super::node::Node;
use super::tables::{Partial, Tables, Word};
use super::tree::Flowshop;
use crate::simd::instructions::Task;
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::ranked::RankedExplorer;
use pleach_core::search::tree::{Solution, read};
use pleach_core::search::work::{Entry, Malformed, Nodes, Pool, Work};
use std::cell::Cell;

/// Depth-first search with a frame for each job placed: a node and its open children.
pub struct Frames<'f, K: Kernel> {
    pub(super) flowshop: &'f Flowshop,
    pub(super) kernel: K,
    tables: Tables<K::Word>,
    /// Nodes not in a frame yet.
    waiting: Pool<Node>,
    /// The jobs of the frames in lanes: first all jobs of the first frame, then fewer and fewer.
    pub(super) bases: Vec<Base<K::Word>>,
    pub(super) frames: Vec<Frame<K::Word>>,
    /// Frames in use.
    pub(super) used: usize,
    /// The node of the first frame.
    first: Node,
    /// Open children of all frames.
    pub(super) open: usize,
    /// The state for LB2 bounds, and whether they pay off; only if the bound uses them.
    lb2: Option<(Lb2<K>, Lb2Payoff)>,
    /// The least tail on each machine over the jobs left; only for the tight bound.
    tight: Vec<K::Word>,
}

/// The limits and the progress of one call.
pub(super) struct Stretch<W> {
    limits: Limits<W>,
    best: i64,
    pub(super) progress: Progress,
}

impl<'f, K: Kernel> Frames<'f, K> {
    pub(super) const LANES: usize = 2 * K::JOBS;

    /// An explorer with no work yet.
    pub fn new(flowshop: &'f Flowshop, kernel: K) -> Self {
        let tables = Tables::new(&flowshop.instance);
        let (jobs, machines) = (flowshop.instance.jobs(), flowshop.instance.machines());
        let lb2 = |pairs| (Lb2::new(pairs, jobs), Lb2Payoff::new(jobs, machines));
        Self {
            lb2: flowshop.pairs().map(lb2),
            tight: tables.least().to_vec(),
            flowshop,
            kernel,
            tables,
            waiting: Pool::default(),
            bases: Vec::new(),
            frames: Vec::new(),
            used: 0,
            first: Node::default(),
            open: 0,
        }
    }

    /// Makes a waiting node the first frame.
    pub(super) fn start(&mut self, entry: Entry<Node>, stretch: &mut Stretch<K::Word>) {
        let Entry { bound, share, node, .. } = entry;
        if bound >= stretch.best {
            return;
        }
        stretch.progress.counts.branched += 1;
        self.make_room();
        let frame = &mut self.frames[0];
        frame.partial = Partial::of(&self.tables, &node);
        let left = node.left(self.flowshop.instance.jobs());
        self.first = node;
        if let [last] = left[..] {
            let makespan = frame.partial.complete(self.tables.job(last));
            self.used = 0;
            return self.complete(makespan, last, stretch);
        }
        self.bases[0].fill(&self.tables, left.into_iter(), Self::LANES);
        frame.renew(0, &self.bases[0], Self::LANES);
        frame.bound = word(bound);
        frame.tree_part = share;
        self.used = 1;
        self.branch(stretch);
    }

    /// Makes sure that there is a frame and a base beyond those in use.
    #[inline(always)]
    fn make_room(&mut self) {
        if self.frames.len() == self.used {
            self.frames.push(Frame::new(self.tables.room));
            self.bases.push(Base::empty());
        }
    }

    /// Bounds the children of the last frame's node, chooses the end, and opens the children below
    /// the incumbent.
    #[inline(always)]
    fn branch(&mut self, stretch: &mut Stretch<K::Word>) {
        let (flowshop, branching) = (self.flowshop, self.flowshop.branching);
        let frame = &mut self.frames[self.used - 1];
        let base = &self.bases[frame.base];
        if self.flowshop.bounding() == Bound::OneTight {
            let left: Vec<u16> = base.alive(&frame.blocks, Self::LANES).collect();
            least_tails(&self.tables, &left, &mut self.tight);
            frame.partial.look_ahead(&self.tight);
        }
        let mut sum = BlockStats::default();
        for (i, block) in frame.blocks.iter_mut().enumerate() {
            let bounds = &mut block.bounds[..Self::LANES];
            let (rows, limits) = (base.rows(i), stretch.limits);
            let stats = self.kernel.pass(rows, &frame.partial, block.alive, limits, bounds);
            block.open = stats.open;
            sum.add(&stats);
        }
        let depth = self.flowshop.instance.jobs() - frame.jobs;
        let fixed = branching.fixed(depth);
        if flowshop.bounding().is_two()
            && let Some((lb2, _)) = &mut self.lb2
        {
            // With a fixed end, the bounds only decide which children to prune.
            let side = |back: bool| (stretch.limits.best, SIDES[usize::from(back)]);
            let left = Cell::new(false);
            let keep_going = || {
                left.set(flowshop.leaves_nodes());
                !left.get()
            };
            lb2.raise(&self.kernel, &self.tables, base, frame, fixed.map(side), keep_going);
            if left.get() {
                return self.leave(stretch);
            }
            sum = frame.stats(&self.kernel, stretch.limits);
        }
        let back = fixed.unwrap_or_else(|| {
            let mut ends = Ends { kept: sum.kept, lead: sum.lead, ..Ends::default() };
            if branching == Branching::MinMin {
                ends.least = frame.having_least(Self::LANES);
            }
            branching.choose(&ends)
        });
        let n_open = sum.n_open[usize::from(back)];
        frame.choose(back, n_open);
        if let (Bound::Auto, Some((lb2, payoff))) = (self.flowshop.bounding(), &mut self.lb2)
            && n_open > 0
            && payoff.try_it(frame.jobs)
        {
            let limit = (stretch.limits.best, u32::MAX);
            let keep_going = || !flowshop.stop_requested();
            let walked =
                lb2.raise(&self.kernel, &self.tables, base, frame, Some(limit), keep_going);
            let closed = frame.close_above(&self.kernel, stretch.limits);
            payoff.note(frame.jobs, closed, walked);
        }
        frame.tree_part /= frame.n_open.max(1) as f32;
        self.open += frame.n_open;
        let counts = &mut stretch.progress.counts;
        counts.bounded += branching.bounded(frame.jobs);
        counts.depth = counts.depth.max(depth as u32 + 1);
    }

    /// Puts the last frame's node back, as if it had never been taken.
    fn leave(&mut self, stretch: &mut Stretch<K::Word>) {
        stretch.progress.counts.branched -= 1;
        self.used -= 1;
        let node = self.path(self.used);
        let frame = &self.frames[self.used];
        let (bound, depth) = (frame.bound.wide().into(), node.placed() as u32);
        self.waiting.append(Pool::new(vec![Entry { bound, depth, share: frame.tree_part, node }]));
    }

    /// The lane and bound of the most promising child of the last frame. Pops the frame if it has
    /// none.
    #[inline(always)]
    fn next(&mut self, stretch: &Stretch<K::Word>) -> Option<(usize, K::Word)> {
        let frame = self.frames[..self.used].last_mut()?;
        if frame.n_open == 0 {
            self.used -= 1;
            return None;
        }
        let by_bound = self.flowshop.order == ChildOrder::Bound;
        let (lane, bound) =
            if by_bound { frame.take_least(&self.kernel) } else { frame.take_first(Self::LANES) };
        let bound = frame.bound.max(bound);
        self.open -= 1;
        if bound >= stretch.limits.best {
            // The incumbent has improved since. By bound, the other children are no better.
            if by_bound {
                self.open -= frame.n_open;
                frame.n_open = 0;
            }
            return None;
        }
        Some((lane, bound))
    }

    /// Enters a child of the last frame.
    #[inline(always)]
    fn descend(&mut self, (lane, bound): (usize, K::Word), stretch: &mut Stretch<K::Word>) {
        self.make_room();
        let (frames, next) = self.frames.split_at_mut(self.used);
        let (Some(frame), Some(next)) = (frames.last_mut(), next.first_mut()) else { return };
        stretch.progress.counts.branched += 1;
        let base = &self.bases[frame.base];
        frame.job = base.jobs[lane / 2];
        next.inherit(frame, lane, Self::LANES);
        self.kernel.place(&self.tables, &frame.partial, frame.job, frame.back, &mut next.partial);
        if next.jobs == 1 {
            let last = base.alive(&next.blocks, Self::LANES).next().unwrap_or(0);
            let makespan = next.partial.complete(self.tables.job(last));
            return self.complete(makespan, last, stretch);
        }
        next.bound = bound;
        next.tree_part = frame.tree_part;
        if next.jobs.div_ceil(K::JOBS) <= worth_a_base(base.blocks) {
            let at = frame.base + 1;
            let (bases, fresh) = self.bases.split_at_mut(at);
            let left = bases[at - 1].alive(&next.blocks, Self::LANES);
            fresh[0].fill(&self.tables, left, Self::LANES);
            next.renew(at, &fresh[0], Self::LANES);
        }
        self.used += 1;
        self.branch(stretch);
    }

    /// Completes the schedule with its last job.
    fn complete(&mut self, makespan: u32, last: u16, stretch: &mut Stretch<K::Word>) {
        let counts = &mut stretch.progress.counts;
        counts.bounded += self.flowshop.branching.bounded(1);
        counts.depth = counts.depth.max(self.flowshop.instance.jobs() as u32);
        let score = i64::from(makespan);
        if score < stretch.best && self.flowshop.all {
            counts.total += 1;
        } else if score < stretch.best {
            stretch.best = score;
            let plan = solution_of(&self.path(self.used).schedule(last));
            stretch.progress.found = Some(Solution { score, solution: plan });
        }
    }

    /// Whether the deepest node with open children was just branched, with no child entered yet.
    #[inline]
    pub(super) fn fresh(&self) -> bool {
        // If the last frame has no open children, those above it have been entered.
        let last = self.frames[..self.used].last();
        last.is_some_and(|frame| frame.n_open > 0 && frame.job == NO_JOB)
    }

    /// The node at the end of the first `frames` frames.
    fn path(&self, frames: usize) -> Node {
        let mut node = self.first.clone();
        self.frames[..frames].iter().for_each(|frame| node.place(frame.job, frame.back));
        node
    }

    /// Starts a call; values beyond the greatest word mean no limit.
    pub(super) fn stretch(&self, best: i64) -> Stretch<K::Word> {
        let limits = Limits { reference: word(self.flowshop.reference), best: word(best) };
        Stretch { limits, best, progress: Progress::default() }
    }

    /// Takes open children of frame `at`, those that would be explored last first.
    fn give(&mut self, at: usize, n: usize, given: &mut Vec<Entry<Node>>) {
        let path = self.path(at);
        let depth = path.placed() as u32 + 1;
        let frame = &mut self.frames[at];
        let jobs = &self.bases[frame.base].jobs;
        for _ in 0..n {
            let Some((lane, bound)) = frame.take_greatest(Self::LANES) else { break };
            self.open -= 1;
            let mut node = path.clone();
            node.place(jobs[lane / 2], frame.back);
            let bound = frame.bound.max(bound).wide().into();
            given.push(Entry { bound, depth, share: frame.tree_part, node });
        }
    }
}

/// Explores the frames until they are exhausted, a solution is found, or the fuel runs out.
pub(super) struct Dive<'a, 'f, K: Kernel> {
    pub frames: &'a mut Frames<'f, K>,
    /// A child of the last frame to enter first, whatever the fuel: lane and bound.
    pub first: Option<(usize, K::Word)>,
    pub fuel: u64,
    /// Whether to continue without fuel while [`Frames::fresh`] is true.
    pub to_a_point: bool,
    pub stretch: &'a mut Stretch<K::Word>,
}

impl<K: Kernel> Task for Dive<'_, '_, K> {
    #[inline(always)]
    fn run(self) {
        let Self { frames, mut first, fuel, to_a_point, stretch } = self;
        // A second call of `descend` would keep it from being inlined.
        loop {
            let child = match first.take() {
                Some(child) => Some(child),
                None if frames.open > 0
                    && (stretch.progress.counts.bounded < fuel || to_a_point && frames.fresh())
                    && stretch.progress.found.is_none()
                    && !frames.flowshop.leaves_nodes() =>
                {
                    frames.next(stretch)
                }
                None => break,
            };
            if let Some(child) = child {
                frames.descend(child, stretch);
            }
        }
    }
}

/// A bound or limit as a word, clamped: the greatest word stands for all values beyond.
fn word<W: Word>(limit: i64) -> W {
    W::narrow(limit.clamp(0, i64::from(W::MOST)) as u32)
}

impl<K: Kernel> Explorer for Frames<'_, K> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.waiting.append(read(self.flowshop, work)?);
        Ok(())
    }

    fn size(&self) -> f64 {
        (self.waiting.len() + self.open) as f64
    }

    fn least_bound(&self) -> Option<i64> {
        let frames = self.frames[..self.used].iter().filter_map(|frame| {
            let (_, open) = frame.open(Self::LANES).min_by_key(|&(_, bound)| bound)?;
            Some(i64::from(frame.bound.max(open).wide()))
        });
        frames.chain(self.waiting.least_bound()).min()
    }

    fn open_share(&self) -> Option<f64> {
        let frames = self.frames[..self.used].iter();
        let frames = frames.map(|frame| f64::from(frame.tree_part) * frame.n_open as f64);
        Some(self.waiting.share() + frames.sum::<f64>())
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let mut stretch = self.stretch(best);
        while stretch.progress.counts.bounded < fuel
            && stretch.progress.found.is_none()
            && !self.flowshop.leaves_nodes()
        {
            if self.open > 0 {
                let kernel = self.kernel;
                kernel.inside(Dive {
                    frames: self,
                    first: None,
                    fuel,
                    to_a_point: false,
                    stretch: &mut stretch,
                });
            } else {
                self.used = 0;
                let Some(entry) = self.waiting.pop() else { break };
                self.start(entry, &mut stretch);
            }
        }
        stretch.progress.used = stretch.progress.counts.bounded;
        stretch.progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let open = self.frames[..self.used].iter().map(|frame| frame.n_open);
        let (mut given, of_frames) = self.waiting.divide(open, share)?;
        for (at, &n) in of_frames.iter().enumerate() {
            self.give(at, n, &mut given);
        }
        Some(Pool::new(given).to_work())
    }

    fn drain(&mut self) -> Work {
        let mut all = std::mem::take(&mut self.waiting).into_entries();
        for at in 0..self.used {
            self.give(at, self.frames[at].n_open, &mut all);
        }
        self.used = 0;
        Pool::new(all).to_work()
    }
}

/// The explorer for a flowshop.
pub fn explorer(flowshop: &Flowshop) -> Box<dyn Explorer + '_> {
    struct MakeFrames<'f>(&'f Flowshop);

    impl<'f> WithKernel for MakeFrames<'f> {
        type Result = Box<dyn Explorer + 'f>;

        fn run<K: Kernel + 'static>(self, kernel: K) -> Self::Result {
            let frames = Frames::new(self.0, kernel);
            match self.0.nodes {
                Nodes::Pool => Box::new(frames),
                Nodes::Interval => Box::new(RankedExplorer::new(frames)),
            }
        }
    }

    with_kernel(flowshop, MakeFrames(flowshop))
}
