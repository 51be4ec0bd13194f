//! [`BusyFractions`]: the fraction of time that machines are busy, for a block of jobs in lanes.

use super::super::tables::{Tables, Word};
use crate::simd::instructions::{Instructions, Task};

/// The number of jobs in a block.
pub const BLOCK: usize = 16;

/// The times of all jobs, by block.
#[derive(Clone, Debug)]
pub struct BusyFractions {
    machines: usize,
    blocks: usize,
    /// By end, block and machine: the times of the block's jobs.
    rows: Vec<[f32; BLOCK]>,
}

impl BusyFractions {
    /// For all jobs.
    pub fn new<W: Word>(tables: &Tables<W>) -> Self {
        let (machines, jobs) = (tables.width / 2, tables.jobs());
        let row = |end: usize, first: usize, machine: usize| {
            let mut row = [0.0; BLOCK];
            for (time, job) in row.iter_mut().zip(first..jobs) {
                *time = tables.job(job as u16)[2 * machine + end].wide() as f32;
            }
            row
        };
        let blocks = (0..2).flat_map(|end| (0..jobs).step_by(BLOCK).map(move |job| (end, job)));
        let rows = blocks.flat_map(|(end, job)| (0..machines).map(move |k| row(end, job, k)));
        Self { machines, blocks: jobs.div_ceil(BLOCK), rows: rows.collect() }
    }

    /// For each job of a block: the sum of the busy fractions of all machines at one end once the job is placed there
    /// too. `free` is when the machines become free, `worked` is their work until then.
    pub fn busy<W: Word>(
        &self,
        instructions: impl Instructions,
        (end, block): (usize, usize),
        free: &[W],
        worked: &[W],
    ) -> [f32; BLOCK] {
        let rows = &self.rows[(end * self.blocks + block) * self.machines..][..self.machines];
        let mut busy = [0.0; BLOCK];
        instructions.inside(Sums { rows, machines: machines(end, free, worked), busy: &mut busy });
        busy
    }
}

/// Sums of busy fractions over machines, for a block of jobs.
struct Sums<'s, M> {
    rows: &'s [[f32; BLOCK]],
    machines: M,
    busy: &'s mut [f32; BLOCK],
}

impl<M: Iterator<Item = (f32, f32)>> Task for Sums<'_, M> {
    #[inline(always)]
    fn run(self) {
        let (mut done, mut busy) = ([0.0; BLOCK], [0.0; BLOCK]);
        for (row, (free, worked)) in self.rows.iter().zip(self.machines) {
            for lane in 0..BLOCK {
                done[lane] = greater(done[lane], free) + row[lane];
                busy[lane] += (worked + row[lane]) / greater(done[lane], 1.0);
            }
        }
        *self.busy = busy;
    }
}

/// The sum of the busy fractions of all machines at one end.
pub fn busy<W: Word>(end: usize, free: &[W], worked: &[W]) -> f32 {
    machines(end, free, worked).map(|(free, worked)| worked / greater(free, 1.0)).sum()
}

/// Pairs the entries of two arrays over machines, seen from one end.
#[inline(always)]
fn machines<W: Word>(end: usize, a: &[W], b: &[W]) -> impl Iterator<Item = (f32, f32)> {
    let pairs = a[end..].iter().zip(&b[end..]).step_by(2);
    pairs.map(|(a, b)| (a.wide() as f32, b.wide() as f32))
}

/// The greater of two numbers; compiles to a single instruction, unlike `f32::max`.
#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
