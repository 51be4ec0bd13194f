//! [`Lb2`]: raises the LB1 bounds of a node's children to LB2.

use super::frame::{Base, Frame};
use super::johnson::{JohnsonOrders, Step};
use super::kernel::Kernel;
use super::tables::{Tables, Word};

/// Marks a job that is in no lane.
const NONE: u16 = u16::MAX;

/// The pairs of machines, and working memory for the bounds.
pub struct Lb2<K: Kernel> {
    pairs: JohnsonOrders<K::Word>,
    /// The place of each job in the lanes.
    places: Vec<u16>,
    /// The jobs left, in the order of the current pair.
    steps: Vec<Step<K::Word>>,
    /// By block and machine: when the machine is free for each child, and the tail there.
    free: Vec<K::Word>,
    after: Vec<K::Word>,
}

impl<K: Kernel> Lb2<K> {
    const LANES: usize = 2 * K::JOBS;

    /// For the nodes of an instance with this many jobs.
    pub fn new(pairs: &JohnsonOrders<u32>, jobs: usize) -> Self {
        let none = Step { job: NONE, times: [K::Word::narrow(0); 3] };
        Self {
            pairs: pairs.narrow(),
            places: vec![NONE; jobs],
            steps: vec![none; jobs + 1],
            free: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Raises the bounds of a frame's children. With a limit and a mask of lanes, stops as soon as
    /// no open child in these lanes is below the limit. A pair that prunes a child moves one place
    /// forward for later nodes. Ends early once `keep_going` returns false. Returns the number of pairs tried.
    #[inline(always)]
    pub fn raise(
        &mut self,
        kernel: &K,
        tables: &Tables<K::Word>,
        base: &Base<K::Word>,
        frame: &mut Frame<K::Word>,
        limit: Option<(K::Word, u32)>,
        keep_going: impl Fn() -> bool,
    ) -> usize {
        let mut open = limit.map_or(u32::MAX, |limit| frame.below(kernel, limit));
        if open == 0 {
            return 0;
        }
        self.places.fill(NONE);
        for (place, job) in base.places(&frame.blocks, Self::LANES) {
            self.places[usize::from(job)] = place;
        }
        self.look_both_ways(tables, base, frame);
        let Some(limit) = limit else {
            let pairs = (0..self.pairs.0.len()).take_while(|_| keep_going());
            return pairs.map(|at| self.walk(at, kernel, tables, frame)).count();
        };
        for at in 0..self.pairs.0.len() {
            self.walk(at, kernel, tables, frame);
            let before = std::mem::replace(&mut open, frame.below(kernel, limit));
            if open < before && at > 0 {
                self.pairs.0.swap(at - 1, at);
            }
            if open == 0 || !keep_going() {
                return at + 1;
            }
        }
        self.pairs.0.len()
    }

    /// Evaluates a pair for all blocks.
    #[inline(always)]
    fn walk(
        &mut self,
        at: usize,
        kernel: &K,
        tables: &Tables<K::Word>,
        frame: &mut Frame<K::Word>,
    ) {
        let pair = &self.pairs.0[at];
        // Writes every job and lets the next overwrite it unless it is left: no branch to
        // mispredict.
        let mut n = 0;
        for step in &pair.steps {
            let place = self.places[usize::from(step.job)];
            self.steps[n] = *step;
            self.steps[n].job = place;
            n += usize::from(place != NONE);
        }
        let size = tables.width / 2 * Self::LANES;
        for (i, block) in frame.blocks.iter_mut().enumerate() {
            let at = |k: usize| i * size + k * Self::LANES..i * size + (k + 1) * Self::LANES;
            let free = [pair.first, pair.second].map(|k| &self.free[at(k)]);
            let after = [pair.first, pair.second].map(|k| &self.after[at(k)]);
            let bounds = &mut block.bounds[..Self::LANES];
            kernel.walk(&self.steps[..n], (i * K::JOBS) as u16, free, after, bounds);
        }
    }

    /// When each machine is free for each child, and the tail there.
    #[inline(always)]
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
            let block = i * machines * lanes..(i + 1) * machines * lanes;
            let free = self.free[block.clone()].chunks_exact_mut(lanes);
            let after = self.after[block].chunks_exact_mut(lanes).rev();
            let rows = base.rows(i).chunks_exact(lanes);
            let mut end = [zero; 32];
            for (k, ((times, free), after)) in rows.zip(free).zip(after).enumerate() {
                // Row k holds the front's machine k, and for the back its mirror image.
                let is_free = ends[2 * k].max(least[width - 1 - 2 * k]);
                let follows = ends[2 * k + 1].max(least[width - 2 - 2 * k]);
                let before = [ends[2 * k], ends[2 * k + 1]];
                for (lane, (end, &time)) in end.iter_mut().zip(times).enumerate() {
                    *end = (*end).max(before[lane % 2]).plus(time);
                }
                for (lane, (free, &end)) in free.iter_mut().zip(&end).enumerate() {
                    *free = if lane % 2 == 0 { end } else { is_free };
                }
                for (lane, (after, &end)) in after.iter_mut().zip(&end).enumerate() {
                    *after = if lane % 2 == 0 { follows } else { end };
                }
            }
        }
    }
}
