//! [`BusyFractions`]: the fraction of time that machines are busy, for a block of jobs in lanes.

use super::super::tables::{Tables, Word};

/// The maximum number of jobs in a block.
pub const MOST: usize = 16;

/// The times of all jobs, by block.
#[derive(Clone, Debug)]
pub struct BusyFractions {
    machines: usize,
    blocks: usize,
    /// By end, block and machine: the times of the block's jobs.
    rows: Vec<[f32; MOST]>,
}

impl BusyFractions {
    /// For all jobs, `block` jobs per block.
    pub fn new<W: Word>(tables: &Tables<W>, block: usize) -> Self {
        let (machines, jobs) = (tables.width / 2, tables.jobs());
        let row = |end: usize, first: usize, machine: usize| {
            let mut row = [0.0; MOST];
            for (time, job) in row.iter_mut().zip(first..jobs.min(first + block)) {
                *time = tables.job(job as u16)[2 * machine + end].wide() as f32;
            }
            row
        };
        let blocks = (0..2).flat_map(|end| (0..jobs).step_by(block).map(move |job| (end, job)));
        let rows = blocks.flat_map(|(end, job)| (0..machines).map(move |k| row(end, job, k)));
        Self { machines, blocks: jobs.div_ceil(block), rows: rows.collect() }
    }

    /// For each job of a block: the sum of the busy fractions of all machines at one end once the job is placed there
    /// too. `free` is when the machines become free, `worked` is their work until then.
    pub fn busy<W: Word>(
        &self,
        (end, block): (usize, usize),
        free: &[W],
        worked: &[W],
    ) -> [f32; MOST] {
        let rows = &self.rows[(end * self.blocks + block) * self.machines..][..self.machines];
        let (mut done, mut busy) = ([0.0; MOST], [0.0; MOST]);
        for (row, (free, worked)) in rows.iter().zip(machines(end, free, worked)) {
            for lane in 0..MOST {
                done[lane] = greater(done[lane], free) + row[lane];
                busy[lane] += (worked + row[lane]) / greater(done[lane], 1.0);
            }
        }
        busy
    }
}

/// The sum of the busy fractions of all machines at one end.
pub fn busy<W: Word>(end: usize, free: &[W], worked: &[W]) -> f32 {
    machines(end, free, worked).map(|(free, worked)| worked / greater(free, 1.0)).sum()
}

/// Pairs the entries of two arrays over machines, seen from one end.
fn machines<W: Word>(end: usize, a: &[W], b: &[W]) -> impl Iterator<Item = (f32, f32)> {
    let pairs = a[end..].iter().zip(&b[end..]).step_by(2);
    pairs.map(|(a, b)| (a.wide() as f32, b.wide() as f32))
}

/// The greater of two numbers; compiles to a single instruction, unlike `f32::max`.
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
