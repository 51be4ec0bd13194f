//! [`Frame`] and [`Base`]: a node whose children are being explored, and the jobs in its lanes.

use super::kernel::{Kernel, Tally};
use super::tables::{Partial, Tables, Word};

/// Lanes at the front, and at the back.
const SIDES: [u32; 2] = [0x5555_5555, 0xaaaa_aaaa];

/// Jobs in lanes, in blocks: what the passes over a node and the nodes below it read.
#[derive(Clone, Debug)]
pub struct Base<W> {
    /// The job of each pair of lanes.
    pub jobs: Vec<u16>,
    /// Blocks of lanes.
    pub blocks: usize,
    /// For each block and machine, the times of all lanes; from `start`, where a line of the cache
    /// begins.
    rows: Vec<W>,
    start: usize,
    /// Words of a block.
    size: usize,
}

/// Bytes of a vector and of a line of the cache.
const LINE: usize = 64;

impl<W: Word> Base<W> {
    /// No jobs.
    pub fn empty() -> Self {
        Self { jobs: Vec::new(), blocks: 0, rows: Vec::new(), start: 0, size: 0 }
    }

    /// Takes these jobs into `lanes` lanes a block.
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

    /// The jobs of the lanes that a mask a block names.
    pub fn among<'a>(&'a self, masks: &'a [u32], lanes: usize) -> impl Iterator<Item = u16> + 'a {
        let blocks = self.jobs.chunks(lanes / 2).zip(masks);
        blocks.flat_map(|(jobs, &mask)| {
            let named = move |&(i, _): &(usize, &u16)| mask >> (2 * i) & 3 != 0;
            jobs.iter().enumerate().filter(named).map(|(_, &job)| job)
        })
    }
}

/// Blocks from which a base of so many is made anew: soon while there are few, and where there are
/// many only when an eighth is empty, so that all bases together stay small.
pub fn worth_a_base(blocks: usize) -> usize {
    if blocks <= 8 { blocks - 1 } else { blocks - blocks / 8 }
}

/// A node and its open children.
#[derive(Clone, Debug)]
pub struct Frame<W> {
    /// The node.
    pub partial: Partial<W>,
    /// The base that its lanes belong to.
    pub base: usize,
    /// Jobs left.
    pub jobs: usize,
    /// The lanes of the jobs left, for each block.
    pub alive: Vec<u32>,
    /// The bounds of the children in all lanes.
    pub bounds: Vec<W>,
    /// The lanes of the open children, for each block.
    pub open: Vec<u32>,
    /// How many there are.
    pub n_open: usize,
    /// Whether the children get their job at the back.
    pub back: bool,
    /// The node's own bound.
    pub bound: i64,
    /// The part of the whole tree that the node is thought to be; of each child once it has some.
    pub share: f32,
}

impl<W: Word> Frame<W> {
    /// A frame to be filled.
    pub fn new(width: usize) -> Self {
        let none = vec![W::narrow(0); width];
        Self {
            partial: Partial { ends: none.clone(), left: none.clone(), rest: none },
            base: 0,
            jobs: 0,
            alive: Vec::new(),
            bounds: Vec::new(),
            open: Vec::new(),
            n_open: 0,
            back: false,
            bound: i64::MIN,
            share: 0.0,
        }
    }

    /// Has all jobs of a base left.
    pub fn renew(&mut self, at: usize, base: &Base<W>, lanes: usize) {
        self.base = at;
        self.jobs = base.jobs.len();
        let of_block = |jobs: &[u16]| u32::MAX >> (32 - 2 * jobs.len());
        self.alive.clear();
        self.alive.extend(base.jobs.chunks(lanes / 2).map(of_block));
        self.resize(lanes);
    }

    /// Has the jobs left that the frame before has, but for the one in a lane.
    #[inline]
    pub fn inherit(&mut self, before: &Self, lane: usize, lanes: usize) {
        self.base = before.base;
        self.jobs = before.jobs - 1;
        self.alive.clear();
        self.alive.extend_from_slice(&before.alive);
        self.alive[lane / lanes] &= !(3 << ((lane % lanes) & !1));
        self.resize(lanes);
    }

    #[inline]
    fn resize(&mut self, lanes: usize) {
        self.open.resize(self.alive.len(), 0);
        self.bounds.resize(self.alive.len() * lanes, W::narrow(0));
    }

    /// Keeps the open children at one end.
    #[inline]
    pub fn choose(&mut self, back: bool) {
        self.back = back;
        self.n_open = 0;
        for open in &mut self.open {
            *open &= SIDES[usize::from(back)];
            self.n_open += open.count_ones() as usize;
        }
        self.share /= self.n_open.max(1) as f32;
    }

    /// Takes the open child of least bound: its lane, and its bound.
    #[inline]
    pub fn take_least<K: Kernel<Word = W>>(&mut self, kernel: &K) -> (usize, W) {
        let lanes = 2 * K::JOBS;
        let (mut at, mut least) = kernel.least(&self.bounds[..lanes], self.open[0]);
        for (block, &open) in self.open.iter().enumerate().skip(1) {
            let (lane, bound) = kernel.least(&self.bounds[block * lanes..][..lanes], open);
            if bound < least {
                (at, least) = (block * lanes + lane, bound);
            }
        }
        self.close(at, lanes);
        (at, least)
    }

    /// Takes the open child of greatest bound: its lane, and its bound.
    pub fn take_greatest(&mut self, lanes: usize) -> (usize, W) {
        let open = (0..self.bounds.len()).filter(|at| self.open[at / lanes] >> (at % lanes) & 1 > 0);
        let at = open.max_by_key(|&at| self.bounds[at]).unwrap_or(0);
        self.close(at, lanes);
        (at, self.bounds[at])
    }

    #[inline]
    fn close(&mut self, lane: usize, lanes: usize) {
        self.open[lane / lanes] &= !(1 << (lane % lanes));
        self.n_open -= 1;
    }

    /// The least bound of the open children.
    pub fn least_open(&self, lanes: usize) -> Option<W> {
        let open = (0..self.bounds.len()).filter(|at| self.open[at / lanes] >> (at % lanes) & 1 > 0);
        open.map(|at| self.bounds[at]).min()
    }

    /// How many children at each end have the least bound of all.
    pub fn having_least(&self, lanes: usize) -> [u32; 2] {
        let alive = |at: &usize| self.alive[at / lanes] >> (at % lanes) & 1 > 0;
        let alive: Vec<usize> = (0..self.bounds.len()).filter(alive).collect();
        let least = alive.iter().map(|&at| self.bounds[at]).min();
        let mut having = [0; 2];
        for at in alive.into_iter().filter(|&at| Some(self.bounds[at]) == least) {
            having[at % 2] += 1;
        }
        having
    }
}

impl Tally {
    /// Lanes kept at the front and at the back.
    #[inline]
    pub fn kept_at(&self) -> [u32; 2] {
        SIDES.map(|side| (self.kept & side).count_ones())
    }
}
