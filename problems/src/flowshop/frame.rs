//! [`Frame`] and [`Base`]: a node whose children are being explored, and the jobs in its lanes.

use super::kernel::{BlockStats, Kernel, Limits, SIDES};
use super::tables::{Partial, Tables, Word};

/// Jobs in lanes, in blocks: the times read when a node and the nodes below it are bounded.
#[derive(Clone, Debug)]
pub struct Base<W> {
    /// The job of each pair of lanes.
    pub jobs: Vec<u16>,
    /// Blocks of lanes.
    pub blocks: usize,
    /// The times of all lanes by block and machine, aligned to a cache line by starting at `start`.
    rows: Vec<W>,
    start: usize,
    /// Words per block.
    size: usize,
}

/// Bytes of a vector, and of a cache line.
const LINE: usize = 64;

impl<W: Word> Base<W> {
    /// No jobs.
    pub fn empty() -> Self {
        Self { jobs: Vec::new(), blocks: 0, rows: Vec::new(), start: 0, size: 0 }
    }

    /// Fills the base with these jobs, `lanes` lanes per block.
    pub fn fill(&mut self, tables: &Tables<W>, jobs: impl Iterator<Item = u16>, lanes: usize) {
        self.jobs.clear();
        self.jobs.extend(jobs);
        self.blocks = self.jobs.len().div_ceil(lanes / 2);
        self.size = tables.width / 2 * lanes;
        self.rows.clear();
        self.rows.resize(self.blocks * self.size + LINE, W::narrow(0));
        self.start = self.rows.as_ptr().align_offset(LINE).min(LINE);
        let blocks = self.rows[self.start..].chunks_exact_mut(self.size);
        for (block, jobs) in blocks.zip(self.jobs.chunks(lanes / 2)) {
            for (i, &job) in jobs.iter().enumerate() {
                let times = tables.job(job).chunks_exact(2);
                for (row, times) in block.chunks_exact_mut(lanes).zip(times) {
                    row[2 * i..2 * i + 2].copy_from_slice(times);
                }
            }
        }
    }

    /// The rows of a block.
    #[inline]
    pub fn rows(&self, block: usize) -> &[W] {
        &self.rows[self.start + block * self.size..][..self.size]
    }

    /// The jobs left according to a frame's blocks, each with its place.
    pub fn places<'a>(
        &'a self,
        blocks: &'a [Block<W>],
        lanes: usize,
    ) -> impl Iterator<Item = (u16, u16)> {
        let alive = move |&(at, _): &(usize, &u16)| {
            blocks[2 * at / lanes].alive >> (2 * at % lanes) & 1 == 1
        };
        self.jobs.iter().enumerate().filter(alive).map(|(at, &job)| (at as u16, job))
    }

    /// The jobs left according to a frame's blocks.
    pub fn alive<'a>(&'a self, blocks: &'a [Block<W>], lanes: usize) -> impl Iterator<Item = u16> {
        self.places(blocks, lanes).map(|(_, job)| job)
    }
}

/// Number of blocks from which it pays to make a new base below one of `blocks`: soon if there are
/// few, else only when an eighth is empty, so that all bases together stay small.
pub fn worth_a_base(blocks: usize) -> usize {
    if blocks <= 8 { blocks - 1 } else { blocks - blocks / 8 }
}

/// A block of lanes.
#[derive(Clone, Copy, Debug)]
pub struct Block<W> {
    /// The lanes of jobs left.
    pub alive: u32,
    /// The lanes of open children.
    pub open: u32,
    /// The bounds of the children in all lanes.
    pub bounds: [W; 32],
}

/// The job of a frame whose children have not been entered yet.
pub const NO_JOB: u16 = u16::MAX;

/// A node and its open children.
#[derive(Clone, Debug)]
pub struct Frame<W> {
    /// The node.
    pub partial: Partial<W>,
    /// Index of the base for the lanes.
    pub base: usize,
    /// Jobs left.
    pub jobs: usize,
    /// The lanes.
    pub blocks: Vec<Block<W>>,
    /// Open children.
    pub n_open: usize,
    /// Whether the children place their job at the back.
    pub back: bool,
    /// The job of the child being explored, or [`NO_JOB`].
    pub job: u16,
    /// The node's own bound.
    pub bound: W,
    /// Estimated fraction of the whole tree: of the node, and once it is branched of each child.
    pub tree_part: f32,
}

impl<W: Word> Frame<W> {
    /// A frame to be filled.
    pub fn new(room: usize) -> Self {
        let zero = W::narrow(0);
        Self {
            partial: Partial::new(room),
            base: 0,
            jobs: 0,
            blocks: Vec::new(),
            n_open: 0,
            back: false,
            job: NO_JOB,
            bound: zero,
            tree_part: 0.0,
        }
    }

    fn block(alive: u32) -> Block<W> {
        Block { alive, open: 0, bounds: [W::narrow(0); 32] }
    }

    /// Resets the frame to all jobs of a base.
    pub fn renew(&mut self, at: usize, base: &Base<W>, lanes: usize) {
        self.base = at;
        self.jobs = base.jobs.len();
        let of_jobs = |jobs: &[u16]| Self::block(u32::MAX >> (32 - 2 * jobs.len()));
        self.blocks.clear();
        self.blocks.extend(base.jobs.chunks(lanes / 2).map(of_jobs));
    }

    /// Copies the jobs left from the frame before, without the one in `lane`.
    #[inline]
    pub fn inherit(&mut self, before: &Self, lane: usize, lanes: usize) {
        self.base = before.base;
        self.jobs = before.jobs - 1;
        if self.blocks.len() != before.blocks.len() {
            self.blocks.resize(before.blocks.len(), Self::block(0));
        }
        for (block, before) in self.blocks.iter_mut().zip(&before.blocks) {
            block.alive = before.alive;
        }
        self.blocks[lane / lanes].alive &= !(3 << ((lane % lanes) & !1));
    }

    /// Keeps only the open children at one end, `n_open` in number.
    #[inline]
    pub fn choose(&mut self, back: bool, n_open: u32) {
        self.back = back;
        self.job = NO_JOB;
        self.n_open = n_open as usize;
        for block in &mut self.blocks {
            block.open &= SIDES[usize::from(back)];
        }
    }

    /// Computes the statistics of all blocks, and opens the children below the incumbent.
    pub fn stats<K: Kernel<Word = W>>(&mut self, kernel: &K, limits: Limits<W>) -> BlockStats {
        let mut sum = BlockStats::default();
        for block in &mut self.blocks {
            let stats = kernel.stats(&block.bounds[..2 * K::JOBS], block.alive, limits);
            block.open = stats.open;
            sum.add(&stats);
        }
        sum
    }

    /// Closes open children that are no longer below the incumbent. Returns how many.
    pub fn close_above<K: Kernel<Word = W>>(&mut self, kernel: &K, limits: Limits<W>) -> usize {
        let before = self.n_open;
        self.n_open = 0;
        for block in &mut self.blocks {
            block.open = kernel.stats(&block.bounds[..2 * K::JOBS], block.open, limits).open;
            self.n_open += block.open.count_ones() as usize;
        }
        before - self.n_open
    }

    /// Takes the open child with the least bound. Returns its lane and bound.
    #[inline(always)]
    pub fn take_least<K: Kernel<Word = W>>(&mut self, kernel: &K) -> (usize, W) {
        let lanes = 2 * K::JOBS;
        let (mut at, mut least) = (0, W::narrow(W::MOST));
        for (i, block) in self.blocks.iter().enumerate().filter(|(_, block)| block.open != 0) {
            let (lane, bound) = if block.open & (block.open - 1) == 0 {
                let lane = block.open.trailing_zeros() as usize;
                (lane, block.bounds[lane])
            } else {
                kernel.least(&block.bounds[..lanes], block.open)
            };
            if bound < least {
                (at, least) = (i * lanes + lane, bound);
            }
        }
        self.close(at, lanes);
        (at, least)
    }

    /// Takes the open child in the first lane. Returns its lane and bound.
    pub fn take_first(&mut self, lanes: usize) -> (usize, W) {
        let first = self.open(lanes).next().unwrap_or((0, W::narrow(W::MOST)));
        self.close(first.0, lanes);
        first
    }

    /// Takes the open child with the greatest bound. Returns its lane and bound.
    pub fn take_greatest(&mut self, lanes: usize) -> Option<(usize, W)> {
        let greatest = self.open(lanes).max_by_key(|&(_, bound)| bound)?;
        self.close(greatest.0, lanes);
        Some(greatest)
    }

    /// Closes an open child.
    #[inline]
    pub fn close(&mut self, lane: usize, lanes: usize) {
        self.blocks[lane / lanes].open &= !(1 << (lane % lanes));
        self.n_open -= 1;
    }

    /// The lanes and bounds of the open children.
    pub fn open(&self, lanes: usize) -> impl Iterator<Item = (usize, W)> {
        self.lanes(lanes, |block| block.open)
    }

    /// The lanes and bounds of all children at the chosen end, pruned ones included.
    pub fn children(&self, lanes: usize) -> impl Iterator<Item = (usize, W)> {
        self.lanes(lanes, |block| block.alive)
            .filter(|(lane, _)| lane % 2 == usize::from(self.back))
    }

    /// The lanes and bounds selected by a mask in each block.
    fn lanes(&self, lanes: usize, mask: fn(&Block<W>) -> u32) -> impl Iterator<Item = (usize, W)> {
        self.blocks.iter().enumerate().flat_map(move |(i, block)| {
            let mask = mask(block);
            let within = (0..lanes).filter(move |lane| mask >> lane & 1 == 1);
            within.map(move |lane| (i * lanes + lane, block.bounds[lane]))
        })
    }

    /// How many open children in the lanes of a mask are below a limit.
    pub fn below<K: Kernel<Word = W>>(&self, kernel: &K, (limit, mask): (W, u32)) -> u32 {
        let of_block = |block: &Block<W>| {
            let below = kernel.below(&block.bounds[..2 * K::JOBS], limit);
            (below & block.open & mask).count_ones()
        };
        self.blocks.iter().map(of_block).sum()
    }

    /// How many children at each end have the least bound.
    pub fn having_least(&self, lanes: usize) -> [u32; 2] {
        let alive = || self.lanes(lanes, |block| block.alive);
        let least = alive().map(|(_, bound)| bound).min();
        let mut having = [0; 2];
        alive().filter(|&(_, bound)| Some(bound) == least).for_each(|(at, _)| having[at % 2] += 1);
        having
    }
}
