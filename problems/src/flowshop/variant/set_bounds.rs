//! [`SetBounds`]: for each set of jobs left, and with setup times for each last job, what the set costs at least after
//! the front of each machine, by dynamic programming over all sets.
//!
//! If a job starts on a machine at time 0, the jobs after it follow on the same machine, or it passes to the next one
//! and they follow there; the larger cost counts. The least one over all jobs is the bound of the set, which each
//! machine chooses for itself.

use super::model::Variant;
use super::objective::Objective;
use crate::simd::Level;
use crate::simd::lanes::{LaneTask, Number, Wide};
use std::sync::Mutex;
use std::thread;

/// Sets in a piece of work.
const PIECE: usize = 512;

/// Bounds for all sets, or for none if they do not apply.
#[derive(Default)]
pub(super) struct SetBounds<N> {
    machines: usize,
    /// For each set, its first entry: one for each job that is not in it, or just one without setup times.
    starts: Vec<u32>,
    /// By entry and machine, the least cost after a front of 0, negative.
    saved: Vec<N>,
}

impl<N: Number> SetBounds<N> {
    /// Computes the bounds if they fit into this memory and costs grow evenly with the front. Once `keep_going` returns
    /// false, there are none.
    pub fn new(
        variant: &Variant,
        level: Level,
        threads: usize,
        memory: usize,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Self {
        let (jobs, machines) = (variant.jobs(), variant.machines());
        let even = [Objective::Makespan, Objective::Lateness, Objective::FlowTime];
        let setups = variant.shop().setups.is_some();
        let places = if setups { jobs } else { 2 };
        let entries = 1usize.checked_shl(jobs as u32).and_then(|sets| sets.checked_mul(places));
        let bytes =
            entries.and_then(|entries| (entries / 2).checked_mul(machines * size_of::<N>()));
        // Starts are numbers of 32 bits.
        let fits = jobs < 30
            && entries.is_some_and(|entries| entries / 2 <= u32::MAX as usize)
            && bytes.is_some_and(|bytes| bytes + (8 << jobs) <= memory);
        if !fits || !even.contains(&variant.objective()) {
            return Self::default();
        }
        let entries_of = |size: usize| if setups { jobs - size } else { 1 };
        // All sets, the small ones first.
        let mut sets: Vec<u32> = (0..1 << jobs).collect();
        sets.sort_by_key(|set| set.count_ones());
        let mut starts = vec![0; sets.len()];
        let mut entries = 0;
        for &set in &sets {
            starts[set as usize] = entries as u32;
            entries += entries_of(set.count_ones() as usize);
        }
        let mut saved = vec![N::default(); entries * machines];
        let numbers = Numbers::new(variant);
        // The empty set costs nothing.
        let none = if numbers.sums { N::default() } else { N::HIGHEST };
        saved[..entries_of(0) * machines].fill(none);
        let (mut from, mut smaller) = (1, entries_of(0) * machines);
        for size in 1..=jobs {
            let to = sets.partition_point(|set| set.count_ones() as usize <= size);
            let each = entries_of(size) * machines;
            let (known, rest) = saved.split_at_mut(smaller);
            let made = (to - from) * each;
            let pieces = sets[from..to].chunks(PIECE);
            // With all jobs and setup times there is no last job.
            let rows = rest[..made].chunks_mut((PIECE * each).max(1));
            let pieces = Mutex::new(pieces.zip(rows));
            let work = |keep_going: &mut dyn FnMut() -> bool| {
                while keep_going() {
                    let Some((sets, rows)) =
                        pieces.lock().ok().and_then(|mut pieces| pieces.next())
                    else {
                        break;
                    };
                    let numbers = &numbers;
                    N::run(level, Piece { numbers, starts: &starts, known, sets, rows });
                }
            };
            thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(|| work(&mut || true));
                }
                work(keep_going);
            });
            if !keep_going() {
                return Self::default();
            }
            (from, smaller) = (to, smaller + made);
        }
        Self { machines, starts, saved }
    }

    pub fn bytes(&self) -> usize {
        self.saved.len() * size_of::<N>() + self.starts.len() * size_of::<u32>()
    }

    /// The cost of a set of jobs left for each machine, after a front of 0, and with setup times after a last job.
    pub fn of(&self, set: usize, last: Option<usize>) -> Option<impl Iterator<Item = N>> {
        let start = *self.starts.get(set)? as usize;
        let at = (start + last.map_or(0, |last| rank(set, last))) * self.machines;
        let saved = self.saved.get(at..at + self.machines)?;
        Some(saved.iter().map(|&saved| N::default() - saved))
    }
}

/// The number of a job among those that are not in a set.
fn rank(set: usize, job: usize) -> usize {
    (!set & ((1 << job) - 1)).count_ones() as usize
}

/// The numbers of a variant, in rows that lanes can read.
struct Numbers<N> {
    jobs: usize,
    machines: usize,
    /// Whether costs add up, and whether there are setup times.
    sums: bool,
    has_setups: bool,
    weights: Vec<N>,
    /// By job and machine.
    times: Vec<N>,
    /// By job and machine: what the job costs if it ends there at 0 and then passes all later machines.
    ended: Vec<N>,
    /// By job after, job before, and machine, negative; empty if there are none. Some unused entries follow.
    setups: Vec<N>,
}

impl<N: Number> Numbers<N> {
    fn new(variant: &Variant) -> Self {
        let (jobs, machines) = (variant.jobs(), variant.machines());
        let all = || (0..jobs).flat_map(|job| (0..machines).map(move |k| (job, k)));
        let sums = variant.objective() == Objective::FlowTime;
        let tails: Vec<Vec<i64>> = (0..jobs).map(|job| variant.tails(job)).collect();
        let ended = |(job, k): (usize, usize)| {
            let tail = tails[job][k];
            match variant.objective() {
                Objective::Lateness => tail - variant.due(job),
                Objective::FlowTime => variant.weight(job) * (tail - variant.release(job)),
                _ => tail,
            }
        };
        let setups =
            |after: usize| all().map(move |(before, k)| N::of(-variant.setup(k, before, after)));
        let has_setups = variant.shop().setups.is_some();
        let afters = 0..if has_setups { jobs } else { 0 };
        let mut setups: Vec<N> = afters.flat_map(setups).collect();
        setups.extend([N::default(); crate::simd::lanes::MOST_LANES]);
        Self {
            jobs,
            machines,
            sums,
            has_setups,
            weights: (0..jobs).map(|job| N::of(variant.weight(job))).collect(),
            times: all().map(|(job, k)| N::of(variant.time(job, k))).collect(),
            ended: all().map(|at| N::of(ended(at))).collect(),
            setups,
        }
    }
}

/// Some sets of the same size, whose rows are computed from those of smaller sets.
struct Piece<'p, N> {
    numbers: &'p Numbers<N>,
    starts: &'p [u32],
    known: &'p [N],
    sets: &'p [u32],
    rows: &'p mut [N],
}

impl<N: Number> LaneTask<N> for Piece<'_, N> {
    type Result = ();

    #[inline(always)]
    fn run<W: Wide<Of = N>>(self) {
        let Self { numbers, starts, known, sets, rows } = self;
        let &Numbers { jobs, machines, sums, has_setups, .. } = numbers;
        let blocks = machines.div_ceil(W::LANES);
        let zero = N::default();
        // By job, the cost if it comes first, negative, machine by machine.
        let mut first = vec![zero; jobs * blocks * W::LANES];
        let mut row = vec![zero; blocks * W::LANES];
        let mut rows = rows.chunks_mut(machines);
        for &set in sets {
            let set = set as usize;
            let left = || (0..jobs).filter(move |job| set >> job & 1 == 1);
            let weight = if sums {
                left().fold(zero, |sum, job| sum + numbers.weights[job])
            } else {
                N::of(1)
            };
            for job in left() {
                let rest = set & !(1 << job);
                let at = starts[rest] as usize + if has_setups { rank(rest, job) } else { 0 };
                let behind = &known[at * machines..][..machines];
                let times = &numbers.times[job * machines..][..machines];
                let ended = &numbers.ended[job * machines..][..machines];
                let first = &mut first[job * row.len()..][..machines];
                let mut next = N::HIGHEST;
                for k in (0..machines).rev() {
                    let here =
                        if sums { behind[k] - ended[k] } else { behind[k].min(zero - ended[k]) };
                    next = here.min(next) - weight * times[k];
                    first[k] = next;
                }
            }
            let befores = (0..jobs).filter(|job| set >> job & 1 == 0);
            let befores = befores.take(if has_setups { jobs } else { 0 }).map(Some);
            let without = if has_setups { None } else { Some(None) };
            for before in befores.chain(without) {
                row.fill(N::LOWEST);
                for job in left() {
                    let first = first[job * row.len()..].chunks(W::LANES);
                    for ((b, best), first) in row.chunks_mut(W::LANES).enumerate().zip(first) {
                        let mut cost = W::load(first);
                        if let Some(before) = before {
                            let at = (job * jobs + before) * machines + b * W::LANES;
                            let setups = W::load(&numbers.setups[at..]);
                            cost =
                                cost.add(if sums { setups.mul(W::splat(weight)) } else { setups });
                        }
                        cost.max(W::load(best)).store(best);
                    }
                }
                if let Some(out) = rows.next() {
                    out.copy_from_slice(&row[..machines]);
                }
            }
        }
    }
}
