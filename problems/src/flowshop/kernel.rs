//! [`Kernel`]: bounds all children of a node at once, each job in two lanes, one per end.

use super::johnson::{Between, Step, walk};
use super::tables::{Partial, Tables, Word};
use crate::simd::instructions::Instructions;

/// Limits that bounds are compared with: the reference for branching, and the incumbent.
#[derive(Clone, Copy, Debug)]
pub struct Limits<W> {
    /// Children below this count as kept when the end is chosen.
    pub reference: W,
    /// Children below this are explored.
    pub best: W,
}

/// The statistics of a block. Lane `2i` is job `i` at the front, `2i + 1` at the back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockStats {
    /// Lanes below the reference, at the front and at the back.
    pub kept: [u32; 2],
    /// Lanes below the incumbent: which ones, and how many at the front and at the back.
    pub open: u32,
    /// See `open`.
    pub n_open: [u32; 2],
    /// The sum of the bounds at the front minus the sum at the back.
    pub lead: i64,
}

impl BlockStats {
    /// Adds the numbers of another block, except its mask of open lanes.
    #[inline]
    pub fn add(&mut self, other: &BlockStats) {
        for side in [0, 1] {
            self.kept[side] += other.kept[side];
            self.n_open[side] += other.n_open[side];
        }
        self.lead += other.lead;
    }
}

/// Lanes at the front, and at the back.
pub const SIDES: [u32; 2] = [0x5555_5555, 0xaaaa_aaaa];

/// Bounds all children of a node, block by block.
pub trait Kernel: Instructions {
    /// The type of a time.
    type Word: Word;

    /// Jobs per block: at most 16, two lanes each.
    const JOBS: usize;

    /// Computes `after` from `before` by placing a job at one end.
    #[inline]
    fn place(
        &self,
        tables: &Tables<Self::Word>,
        before: &Partial<Self::Word>,
        job: u16,
        back: bool,
        after: &mut Partial<Self::Word>,
    ) {
        after.place(before, tables.job(job), back);
        after.look_ahead(tables.least());
    }

    /// Writes the bounds of one block's children to `bounds`; only lanes in `alive` are meaningful.
    ///
    /// `rows` holds the block's times: for each machine a row of all lanes.
    fn pass(
        &self,
        rows: &[Self::Word],
        partial: &Partial<Self::Word>,
        alive: u32,
        limits: Limits<Self::Word>,
        bounds: &mut [Self::Word],
    ) -> BlockStats;

    /// The statistics of bounds that are known already.
    fn stats(&self, bounds: &[Self::Word], alive: u32, limits: Limits<Self::Word>) -> BlockStats {
        let mut stats = BlockStats::default();
        let alive = |(lane, _): &(usize, &Self::Word)| alive >> lane & 1 == 1;
        for (lane, &bound) in bounds.iter().enumerate().filter(alive) {
            stats.kept[lane % 2] += u32::from(bound < limits.reference);
            stats.n_open[lane % 2] += u32::from(bound < limits.best);
            stats.open |= u32::from(bound < limits.best) << lane;
            stats.lead += i64::from(bound.wide()) * (1 - 2 * (lane as i64 % 2));
        }
        stats
    }

    /// The lanes whose bound is below a limit.
    fn below(&self, bounds: &[Self::Word], limit: Self::Word) -> u32 {
        let bit = |(lane, &bound): (usize, &Self::Word)| u32::from(bound < limit) << lane;
        bounds.iter().enumerate().map(bit).sum()
    }

    /// Raises bounds to those of a pair of machines, given when these are free and the tails; each
    /// lane skips its own job. `start` is the first job of the block.
    fn walk(
        &self,
        steps: &[Step<Self::Word>],
        start: u16,
        free: [&[Self::Word]; 2],
        after: [&[Self::Word]; 2],
        bounds: &mut [Self::Word],
    ) {
        for (lane, bound) in bounds.iter_mut().enumerate() {
            let own = start + lane as u16 / 2;
            let others = steps.iter().filter(|step| step.job != own).copied();
            let between =
                Between { free: free.map(|all| all[lane]), after: after.map(|all| all[lane]) };
            *bound = walk(others, between).max(*bound);
        }
    }

    /// The first lane in `open`, which must not be empty, with the least bound.
    fn least(&self, bounds: &[Self::Word], open: u32) -> (usize, Self::Word);
}

/// Portable code.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Instructions for Plain {}

impl Kernel for Plain {
    type Word = u32;
    const JOBS: usize = 16;

    fn pass(
        &self,
        rows: &[u32],
        partial: &Partial<u32>,
        alive: u32,
        limits: Limits<u32>,
        bounds: &mut [u32],
    ) -> BlockStats {
        const LANES: usize = 2 * Plain::JOBS;
        let (mut ends, mut most) = ([0; LANES], [0; LANES]);
        let machines = partial.ends.chunks_exact(2).zip(partial.rest.chunks_exact(2));
        for ((before, rest), times) in machines.zip(rows.chunks_exact(LANES)) {
            for lane in 0..LANES {
                let begin = ends[lane].max(before[lane % 2]);
                most[lane] = most[lane].max(begin.plus(rest[lane % 2]));
                ends[lane] = begin.plus(times[lane]);
            }
        }
        bounds.copy_from_slice(&most);
        self.stats(bounds, alive, limits)
    }

    fn least(&self, bounds: &[u32], open: u32) -> (usize, u32) {
        least_lane(bounds, open)
    }
}

/// The first lane in `open` with the least bound.
pub(crate) fn least_lane<W: Word>(bounds: &[W], open: u32) -> (usize, W) {
    let mut least = (0, W::narrow(W::MOST));
    let mut rest = open;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        if bounds[lane] < least.1 {
            least = (lane, bounds[lane]);
        }
        rest &= rest - 1;
    }
    least
}
