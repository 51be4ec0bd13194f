//! [`Double`]: raises the one-machine bounds of a node's children to their two-machine bounds.

use super::frame::{Base, Frame};
use super::instance::Instance;
use super::kernel::Kernel;
use super::pairs::{Pairs, Step};
use super::tables::{Tables, Word};

/// The place of a job that is in no lane.
const NONE: u16 = u16::MAX;

/// The pairs of machines, and the room to walk them.
pub struct Double<K: Kernel> {
    pairs: Pairs<K::Word>,
    /// For each job, its place in the lanes.
    places: Vec<u16>,
    /// The jobs left, in the order of the pair at hand.
    steps: Vec<Step<K::Word>>,
    /// For each block and machine, when it is free for each child, and what follows there.
    free: Vec<K::Word>,
    after: Vec<K::Word>,
}

impl<K: Kernel> Double<K> {
    const LANES: usize = 2 * K::JOBS;

    /// For the nodes of an instance.
    pub fn new(instance: &Instance) -> Self {
        Self {
            pairs: Pairs::new(instance),
            places: vec![NONE; instance.jobs()],
            steps: Vec::new(),
            free: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Raises the bounds of a frame's children; with a limit, only until no open child among those
    /// at `sides` is below it. Pairs that close a child move to the front. Returns the pairs walked.
    pub fn raise(
        &mut self,
        kernel: &K,
        tables: &Tables<K::Word>,
        base: &Base<K::Word>,
        frame: &mut Frame<K::Word>,
        limit: Option<(K::Word, u32)>,
    ) -> usize {
        self.places.fill(NONE);
        for (place, job) in base.places(&frame.blocks, Self::LANES) {
            self.places[usize::from(job)] = place;
        }
        self.look_both_ways(tables, base, frame);
        for at in 0..self.pairs.0.len() {
            let before = limit.map(|limit| frame.below(kernel, limit));
            if before == Some(0) {
                return at;
            }
            self.walk(at, kernel, tables, frame);
            let after = limit.map(|limit| frame.below(kernel, limit));
            if after < before && at > 0 {
                self.pairs.0.swap(at - 1, at);
            }
        }
        self.pairs.0.len()
    }

    /// Walks a pair for all blocks.
    fn walk(
        &mut self,
        at: usize,
        kernel: &K,
        tables: &Tables<K::Word>,
        frame: &mut Frame<K::Word>,
    ) {
        let pair = &self.pairs.0[at];
        self.steps.clear();
        for step in &pair.steps {
            let place = self.places[usize::from(step.job)];
            if place != NONE {
                self.steps.push(Step { job: place, ..*step });
            }
        }
        let size = tables.width / 2 * Self::LANES;
        for (i, block) in frame.blocks.iter_mut().enumerate() {
            let at = |k: usize| i * size + k * Self::LANES..i * size + (k + 1) * Self::LANES;
            let free = [pair.first, pair.second].map(|k| &self.free[at(k)]);
            let after = [pair.first, pair.second].map(|k| &self.after[at(k)]);
            let bounds = &mut block.bounds[..Self::LANES];
            kernel.walk(&self.steps, (i * K::JOBS) as u16, free, after, bounds);
        }
    }

    /// When each machine is free for each child, and what follows there.
    fn look_both_ways(
        &mut self,
        tables: &Tables<K::Word>,
        base: &Base<K::Word>,
        frame: &Frame<K::Word>,
    ) {
        let (width, lanes) = (tables.width, Self::LANES);
        let machines = width / 2;
        let size = frame.blocks.len() * machines * lanes;
        let zero = K::Word::narrow(0);
        self.free.resize(size, zero);
        self.after.resize(size, zero);
        let (ends, least) = (&frame.partial.ends, tables.least());
        for i in 0..frame.blocks.len() {
            let start = i * machines * lanes;
            let (free, after) = (&mut self.free[start..], &mut self.after[start..]);
            let mut end = [zero; 32];
            for (k, times) in base.rows(i).chunks_exact(lanes).enumerate() {
                let mirror = machines - 1 - k;
                let is_free = ends[2 * k].max(least[width - 1 - 2 * k]);
                let follows = ends[width - 1 - 2 * k].max(least[2 * k]);
                for lane in (0..lanes).step_by(2) {
                    end[lane] = end[lane].max(ends[2 * k]).plus(times[lane]);
                    end[lane + 1] = end[lane + 1].max(ends[2 * k + 1]).plus(times[lane + 1]);
                    free[k * lanes + lane] = end[lane];
                    free[k * lanes + lane + 1] = is_free;
                    after[k * lanes + lane] = follows;
                    after[mirror * lanes + lane + 1] = end[lane + 1];
                }
            }
        }
    }
}
