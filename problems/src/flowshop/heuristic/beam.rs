//! [`Beam`]: iterative beam search from both ends, with growing width.
//!
//! Based on Libralesso, Focke, Secardin and Jost (2022), "Iterative beam search algorithms for the permutation
//! flowshop". Each level keeps the most promising of all children of the level before. A node branches at the end
//! with fewer children below the incumbent. Children are ranked by their bound plus a penalty for idle machines,
//! which shrinks as fewer jobs are left. As in their guides, it counts the fraction of time that machines are idle,
//! not the idle time itself. How much that weighs is learnt: narrow beams try a range of weights, and wider ones
//! follow the best.

use super::super::frame::{Base, Frame};
use super::super::kernel::{BlockStats, Kernel, Limits};
use super::super::node::Node;
use super::super::tables::{Partial, Tables, Word};
use super::super::tree::Flowshop;
use super::anytime::{Found, Heuristic};
use super::busy::{BLOCK, BusyFractions, busy};
use std::cmp::Ordering;

/// Widths of the first beams, by variation; they double after each round through the weights.
const FIRST: [usize; 4] = [8, 12, 10, 14];
/// Maximum width: beyond it, a level takes too much memory for its benefit.
const WIDEST: usize = 1 << 15;
/// The maximum memory of a level of a large instance, where every worker has a beam, in bytes.
const MOST_BYTES: usize = 64 << 20;
/// Weights of idle time in the first round. In later rounds, each of `AROUND` times the best one of the round before.
const WEIGHTS: [f32; 8] = [0.5, 1.0, 0.25, 2.0, 4.0, 8.0, 16.0, 32.0];
const AROUND: [f32; 3] = [1.0, 2.0, 0.5];
/// Nodes branched per call.
const AT_ONCE: usize = 32;
/// Rough cost of a pass over a block and of its idle times, in places of a schedule.
const PASS: u64 = 1;
const SHARES: u64 = 2;

/// A node of the beam.
#[derive(Clone)]
struct Kept<W> {
    node: Node,
    partial: Partial<W>,
    /// The work of the jobs placed at each end, by machine.
    worked: Vec<W>,
    /// The lanes of the jobs left, by block.
    alive: Vec<u32>,
}

/// A candidate for the next level: its rank, least first, its parent, lane and end.
#[derive(Clone, Copy)]
struct Candidate {
    rank: f32,
    parent: u32,
    lane: u32,
    back: bool,
}

impl Candidate {
    fn order(&self, other: &Self) -> Ordering {
        let place = |it: &Self| (it.parent, it.lane);
        self.rank.total_cmp(&other.rank).then(place(self).cmp(&place(other)))
    }
}

/// The first width and the weights of a variation. Of a few thousand, hardly any two make the same beams.
fn vary(variation: u64) -> (usize, [f32; 8]) {
    // Its bits depend on all bits of the variation; 0 stays 0.
    let mixed = variation.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    // As many bits as a number from 1 to 2 has.
    let factor = 1.0 + (mixed >> 41) as f32 / (1 << 23) as f32;
    (FIRST[(variation % 4) as usize], WEIGHTS.map(|weight| factor * weight))
}

/// The maximum width for an instance, with the bytes of a node of the beam.
fn widest(is_large: bool, bytes: usize) -> usize {
    if is_large { WIDEST.min(MOST_BYTES / bytes) } else { WIDEST }
}

/// A beam search in progress.
pub struct Beam<K: Kernel> {
    kernel: K,
    tables: Tables<K::Word>,
    base: Base<K::Word>,
    busy_fractions: BusyFractions,
    /// The node being branched.
    frame: Frame<K::Word>,
    /// The penalty for a machine that is idle all the time, at weight 1 and with no job placed.
    unit: f32,
    /// The weights of this round, and the place of this beam's.
    weights: Vec<f32>,
    at_weight: usize,
    /// The best weight of this round so far, after the jobs left where its beam ended, and the makespan.
    round_best: Option<((usize, u32), f32)>,
    width: usize,
    /// The maximum width.
    widest: usize,
    level: Vec<Kept<K::Word>>,
    /// The jobs left of a node of the level.
    left: usize,
    /// Nodes of the level branched so far.
    branched: usize,
    candidates: Vec<Candidate>,
    /// Candidates that are not below this are dropped.
    limit: f32,
    /// Whether this beam dropped any candidate.
    cut: bool,
    work: u64,
}

impl<K: Kernel> Beam<K> {
    const LANES: usize = 2 * K::JOBS;

    /// A search on an instance with at least two jobs. Searches with the same `variation` build the same beams.
    pub fn new(flowshop: &Flowshop, kernel: K, variation: u64) -> Self {
        let tables = Tables::<K::Word>::new(&flowshop.instance);
        let mut base = Base::empty();
        base.fill(&tables, 0..flowshop.instance.jobs() as u16, Self::LANES);
        let mut frame = Frame::new(tables.room);
        frame.renew(0, &base, Self::LANES);
        let busy_fractions = BusyFractions::new(&tables);
        // Found by experiment: the mean time, times the square of the machines, divided by the
        // jobs.
        let (jobs, machines) = (tables.jobs() as f32, tables.width as f32 / 2.0);
        let work: f32 = tables.all().iter().step_by(2).map(|all| all.wide() as f32).sum();
        let unit = work * machines / (jobs * jobs);
        let (width, weights) = vary(variation);
        // A list that a job is added to may double its room.
        let bytes = size_of::<Kept<K::Word>>()
            + size_of::<K::Word>() * (3 * tables.room + tables.width)
            + 2 * size_of::<u16>() * tables.jobs()
            + size_of::<u32>() * tables.jobs();
        let widest = widest(flowshop.is_large(), bytes);
        let mut beam = Self {
            kernel,
            tables,
            base,
            busy_fractions,
            frame,
            unit,
            weights: weights.to_vec(),
            at_weight: 0,
            round_best: None,
            width,
            widest,
            level: Vec::new(),
            left: 0,
            branched: 0,
            candidates: Vec::new(),
            limit: f32::INFINITY,
            cut: false,
            work: 0,
        };
        beam.restart();
        beam
    }

    fn restart(&mut self) {
        self.frame.renew(0, &self.base, Self::LANES);
        let alive = self.frame.blocks.iter().map(|block| block.alive).collect();
        let (node, partial) = (Node::default(), Partial::none(&self.tables));
        let worked = partial.ends[..self.tables.width].to_vec();
        self.level = vec![Kept { node, partial, worked, alive }];
        self.left = self.base.jobs.len();
        self.branched = 0;
        self.cut = false;
    }

    /// Turns the children of a node of the level into candidates.
    fn branch(&mut self, at: usize, best: u32) {
        let Kept { partial, worked, alive, .. } = &self.level[at];
        let best = best.min(K::Word::MOST);
        let limits = Limits {
            reference: K::Word::narrow(best),
            best: K::Word::narrow(best.min(self.limit.ceil() as u32)),
        };
        let mut sum = BlockStats::default();
        for (i, (block, &alive)) in self.frame.blocks.iter_mut().zip(alive).enumerate() {
            block.alive = alive;
            let bounds = &mut block.bounds[..Self::LANES];
            let stats = self.kernel.pass(self.base.rows(i), partial, alive, limits, bounds);
            block.open = stats.open;
            sum.add(&stats);
        }
        let [front, back] = sum.kept;
        let back = back < front || back == front && sum.lead < 0;
        self.frame.choose(back, 0);
        let side = usize::from(back);
        let left = (self.left - 1) as f32 / self.base.jobs.len() as f32;
        let weight = self.weights[self.at_weight] * self.unit * left;
        let other = self.tables.width as f32 - busy(1 - side, &partial.ends, worked);
        // The same on every code path, whatever its block size.
        let blocks = self.base.jobs.len().div_ceil(BLOCK) as u64;
        let places = PASS * blocks + SHARES * blocks.min(sum.n_open[side].into());
        self.work += places * self.tables.width as u64 / 2;
        for (i, blocks) in self.frame.blocks.chunks(BLOCK / K::JOBS).enumerate() {
            if blocks.iter().all(|block| block.open == 0) {
                continue;
            }
            let busy = self.busy_fractions.busy(self.kernel, (side, i), &partial.ends, worked);
            for (nth, (block, busy)) in blocks.iter().zip(busy.chunks(K::JOBS)).enumerate() {
                let first = 2 * BLOCK * i + Self::LANES * nth;
                let lanes = (side..Self::LANES).step_by(2);
                for lane in lanes.filter(|lane| block.open >> lane & 1 == 1) {
                    let rank = block.bounds[lane].wide() as f32 + weight * (other - busy[lane / 2]);
                    if rank < self.limit {
                        let lane = (first + lane) as u32;
                        self.candidates.push(Candidate { rank, parent: at as u32, lane, back });
                    }
                }
            }
        }
        // Now and then, to bound their number.
        if self.candidates.len() > 4 * self.width {
            self.cut();
        }
    }

    /// Keeps only the best candidates.
    fn cut(&mut self) {
        if self.candidates.len() > self.width {
            let (_, next, _) = self.candidates.select_nth_unstable_by(self.width, Candidate::order);
            self.limit = next.rank;
            self.candidates.truncate(self.width);
            self.cut = true;
        }
    }

    /// Makes the best candidates the next level.
    fn descend(&mut self) {
        self.cut();
        // Best first, so that the limit drops quickly.
        self.candidates.sort_unstable_by(Candidate::order);
        let keep = |candidate: &Candidate| {
            let parent = &self.level[candidate.parent as usize];
            let mut kept = parent.clone();
            let (lane, back) = (candidate.lane as usize, candidate.back);
            let job = self.base.jobs[lane / 2];
            kept.node.place(job, back);
            self.kernel.place(&self.tables, &parent.partial, job, back, &mut kept.partial);
            let worked = kept.worked.iter_mut().zip(self.tables.job(job));
            for (worked, &time) in worked.skip(usize::from(back)).step_by(2) {
                *worked = worked.plus(time);
            }
            kept.alive[lane / Self::LANES] &= !(3 << ((lane % Self::LANES) & !1));
            kept
        };
        self.level = self.candidates.iter().map(keep).collect();
        self.branched = 0;
        self.candidates.clear();
        self.limit = f32::INFINITY;
    }

    /// The best schedule of a level of nodes with one job left.
    fn complete(&self) -> Option<Found> {
        let schedules = self.level.iter().map(|Kept { node, partial, .. }| {
            let last = node.left(self.base.jobs.len())[0];
            (node, last, partial.complete(self.tables.job(last)))
        });
        let (node, last, makespan) = schedules.min_by_key(|&(.., makespan)| makespan)?;
        Some((node.schedule(last), makespan))
    }

    /// Prepares the next beam after one that ended with this schedule, or without any. The further a beam comes without
    /// one, the better its weight.
    fn begin_next_beam(&mut self, found: Option<&Found>) {
        let weight = self.weights[self.at_weight];
        let reached = found.map_or((self.left, u32::MAX), |&(_, makespan)| (0, makespan));
        if self.round_best.is_none_or(|(best, _)| reached < best) {
            self.round_best = Some((reached, weight));
        }
        self.at_weight += 1;
        if !self.cut {
            self.width = self.widest + 1;
        } else if self.at_weight == self.weights.len()
            && let Some((_, best)) = self.round_best.take()
        {
            self.weights = AROUND.map(|factor| factor * best).to_vec();
            self.at_weight = 0;
            self.width *= 2;
        }
        self.restart();
    }
}

impl<K: Kernel> Heuristic for Beam<K> {
    fn step(&mut self, best: u32, keep_going: &dyn Fn() -> bool) -> Option<Found> {
        for at in (self.branched..self.level.len()).take(AT_ONCE) {
            if !keep_going() {
                return None;
            }
            self.branch(at, best);
            self.branched = at + 1;
        }
        if self.branched < self.level.len() {
            return None;
        }
        self.descend();
        self.left -= 1;
        if self.left > 1 && !self.level.is_empty() {
            return None;
        }
        let found = self.complete();
        self.begin_next_beam(found.as_ref());
        found.filter(|&(_, makespan)| makespan < best)
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn exhausted(&self) -> bool {
        self.width > self.widest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variations_differ() {
        // Those of 16 workers in each of 8 processes.
        let variations: Vec<u64> =
            (0..128).map(|number: u64| ((number / 16) << 32) | (number % 16)).collect();
        for (at, &a) in variations.iter().enumerate() {
            for &b in &variations[..at] {
                let ((width, weights), (other, other_weights)) = (vary(a), vary(b));
                assert!(width != other || weights != other_weights, "{a} {b}");
                // Nor do widths become the same by doubling.
                assert!(width.max(other) < 2 * width.min(other), "{a} {b}");
            }
        }
        assert_eq!(vary(0), (8, WEIGHTS));
    }

    #[test]
    fn beams_of_large_instances_take_little_memory() {
        assert_eq!(widest(false, 5000), WIDEST);
        assert_eq!(widest(true, 500), WIDEST);
        let width = widest(true, 5000);
        assert!(width * 5000 <= MOST_BYTES && (width + 1) * 5000 > MOST_BYTES);
    }
}
