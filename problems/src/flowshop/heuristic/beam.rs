//! [`Beam`]: beam search from both ends, ever wider.
//!
//! Level by level, of all children of the nodes kept only those that look best are kept. A node is
//! branched at the end where fewer children are below the best value; a child looks the better the
//! less its bound and, as long as much is left to place, the less its machines stand idle.

use super::super::Flowshop;
use super::super::frame::{Base, Frame};
use super::super::kernel::{Kernel, Limits, Tally};
use super::super::node::Node;
use super::super::tables::{Partial, Tables, Word};
use super::{Found, Heuristic};
use std::cmp::Ordering;

/// The width of the first beam; every later one is twice as wide.
const FIRST: usize = 32;
/// The widest: beyond, a level takes too much memory for what it brings.
const WIDEST: usize = 1 << 15;
/// Nodes branched in one go.
const AT_ONCE: usize = 32;

/// A node of the beam.
#[derive(Clone)]
struct Kept<W> {
    node: Node,
    partial: Partial<W>,
    /// The lanes of the jobs left, for each block.
    alive: Vec<u32>,
}

/// A child that may be kept: what it looks like, its parent, its lane, and its end.
#[derive(Clone, Copy)]
struct Candidate {
    looks: f32,
    parent: u32,
    lane: u32,
    back: bool,
}

/// A beam search under way.
pub struct Beam<K: Kernel> {
    kernel: K,
    tables: Tables<K::Word>,
    base: Base<K::Word>,
    /// The node at hand, and room for a child's partial schedule.
    frame: Frame<K::Word>,
    child: Partial<K::Word>,
    width: usize,
    level: Vec<Kept<K::Word>>,
    /// Nodes of the level that have been branched.
    branched: usize,
    candidates: Vec<Candidate>,
    /// Whether a level of this beam was cut.
    cut: bool,
    work: u64,
}

impl<K: Kernel> Beam<K> {
    const LANES: usize = 2 * K::JOBS;

    /// A search of an instance of two jobs or more.
    pub fn new(flowshop: &Flowshop, kernel: K) -> Self {
        let tables = Tables::new(&flowshop.instance);
        let mut base = Base::empty();
        base.fill(&tables, 0..flowshop.instance.jobs() as u16, Self::LANES);
        let mut frame = Frame::new(tables.room);
        frame.renew(0, &base, Self::LANES);
        let child = frame.partial.clone();
        let mut beam = Self {
            kernel,
            tables,
            base,
            frame,
            child,
            width: FIRST,
            level: Vec::new(),
            branched: 0,
            candidates: Vec::new(),
            cut: false,
            work: 0,
        };
        beam.restart();
        beam
    }

    fn restart(&mut self) {
        self.frame.renew(0, &self.base, Self::LANES);
        let alive = self.frame.blocks.iter().map(|block| block.alive).collect();
        let root = Kept { node: Node::default(), partial: Partial::none(&self.tables), alive };
        self.level = vec![root];
        self.branched = 0;
        self.cut = false;
        self.candidates.clear();
    }

    /// Makes candidates of the children of a node of the level.
    fn branch(&mut self, at: usize, best: u32) {
        let Kept { node, partial, alive } = &self.level[at];
        let limit = K::Word::narrow(best.min(K::Word::MOST));
        let limits = Limits { reference: limit, best: limit };
        let mut sum = Tally::default();
        for (i, (block, &alive)) in self.frame.blocks.iter_mut().zip(alive).enumerate() {
            block.alive = alive;
            let bounds = &mut block.bounds[..Self::LANES];
            let tally = self.kernel.pass(self.base.rows(i), partial, alive, limits, bounds);
            block.open = tally.open;
            sum.add(&tally);
        }
        let [front, back] = sum.kept;
        let back = back < front || back == front && sum.lead < 0;
        self.frame.choose(back, 0);
        let machines = self.tables.width as u64 / 2;
        self.work += machines * (4 * alive.len() as u64 + u64::from(sum.n_open[usize::from(back)]));
        let left = 1.0 - node.placed() as f32 / self.base.jobs.len() as f32;
        for (lane, bound) in self.frame.open(Self::LANES) {
            let job = self.base.jobs[lane / 2];
            self.child.place(partial, self.tables.job(job), back);
            let idle = self.child.idle(self.tables.all()) as f32 / self.tables.width as f32;
            let looks = bound.wide() as f32 + left * idle;
            self.candidates.push(Candidate { looks, parent: at as u32, lane: lane as u32, back });
        }
    }

    /// Keeps the candidates that look best as the next level.
    fn descend(&mut self) {
        let order = |a: &Candidate, b: &Candidate| -> Ordering {
            a.looks.total_cmp(&b.looks).then(a.parent.cmp(&b.parent)).then(a.lane.cmp(&b.lane))
        };
        if self.candidates.len() > self.width {
            self.candidates.select_nth_unstable_by(self.width, order);
            self.candidates.truncate(self.width);
            self.cut = true;
        }
        let keep = |candidate: &Candidate| {
            let Kept { node, partial, alive } = &self.level[candidate.parent as usize];
            let lane = candidate.lane as usize;
            let job = self.base.jobs[lane / 2];
            let mut kept =
                Kept { node: node.clone(), partial: partial.clone(), alive: alive.clone() };
            kept.node.place(job, candidate.back);
            self.kernel.place(&self.tables, partial, job, candidate.back, &mut kept.partial);
            kept.alive[lane / Self::LANES] &= !(3 << ((lane % Self::LANES) & !1));
            kept
        };
        self.level = self.candidates.iter().map(keep).collect();
        self.branched = 0;
        self.candidates.clear();
    }

    /// The best schedule of a level of nodes with one job left.
    fn complete(&self, best: u32) -> Option<Found> {
        let schedules = self.level.iter().map(|Kept { node, partial, .. }| {
            let last = node.left(self.base.jobs.len())[0];
            (node, last, partial.complete(self.tables.job(last)))
        });
        let (node, last, makespan) = schedules.min_by_key(|&(.., makespan)| makespan)?;
        (makespan < best).then(|| (node.schedule(last), makespan))
    }
}

impl<K: Kernel> Heuristic for Beam<K> {
    fn go_on(&mut self, best: u32) -> Option<Found> {
        for at in (self.branched..self.level.len()).take(AT_ONCE) {
            self.branch(at, best);
            self.branched = at + 1;
        }
        if self.branched < self.level.len() {
            return None;
        }
        self.descend();
        let jobs = self.base.jobs.len();
        if self.level.first().is_some_and(|kept| kept.node.placed() + 1 < jobs) {
            return None;
        }
        let found = self.complete(best);
        self.width = if self.cut { 2 * self.width } else { WIDEST + 1 };
        self.restart();
        found
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn exhausted(&self) -> bool {
        self.width > WIDEST
    }
}

impl<W: Word> Partial<W> {
    /// How long the machines stand idle at both ends, all together.
    fn idle(&self, all: &[W]) -> u32 {
        let ends: u32 = self.ends[..all.len()].iter().map(|end| end.wide()).sum();
        // Every machine is seen from both sides: half of the sum is the work placed.
        let placed = |(all, left): (&W, &W)| all.wide() - left.wide();
        let placed: u32 = all.iter().zip(&self.left).map(placed).sum();
        ends - placed / 2
    }
}
