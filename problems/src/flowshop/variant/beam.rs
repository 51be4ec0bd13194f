//! [`Beam`]: iterated beam search for variants, from the front, with growing width.
//!
//! Each level keeps the most promising children of the level before (Libralesso et al. 2022). A child is judged by its
//! cost, by what the jobs left are expected to cost, and by how long machines were idle, which costs most while many
//! jobs are left.

use super::greedy::Improve;
use super::lanes::{Dates, add_cost, append};
use super::model::{MOST_JOBS_BY_LAYERS, Variant};
use super::objective::Objective;
use super::rest::Rest;
use crate::simd::Level;
use crate::simd::lanes::{Array, LaneTask, MOST_LANES, Number, Wide};
use std::cmp::Ordering;

/// Width of the first beams; it doubles after each round through the weights.
const FIRST: usize = 4;
/// Maximum width, and nodes of all levels: more take too much memory for their benefit.
const WIDEST: usize = 1 << 14;
const MOST: usize = 1 << 22;
/// With due dates, the ranks of a block of lanes count as this many machines, and the first beams run before other
/// searches if they take at most `SOON` work, a third of that for the initial schedule.
const RANKS: usize = 64;
const SOON: u64 = 20_000_000;
/// Weights of idle time, used in turn: no weight is best everywhere. Seeds that differ by two use the upper ones.
const WEIGHTS: [[f64; 3]; 2] = [[2.0, 4.0, 1.0], [2.8, 5.6, 1.4]];

/// The numbers of a variant in rows by machine, which lanes read for many jobs at once.
struct Rows<N> {
    variant: Variant,
    jobs: usize,
    machines: usize,
    /// Jobs, and unused entries up to a multiple of the lanes.
    stride: usize,
    times: Vec<N>,
    /// By job before, then by machine; empty without setup times.
    setups: Vec<N>,
    weights: Vec<N>,
    due: Vec<N>,
    releases: Vec<N>,
    /// The time of each job, summed over all machines.
    sums: Vec<N>,
    /// By machine, the time of all jobs.
    totals: Vec<N>,
    /// The work for a node, whatever the number of lanes, so that results do not depend on it.
    each: u64,
}

impl<N: Number> Rows<N> {
    fn new(variant: &Variant) -> Self {
        let (jobs, machines) = (variant.jobs(), variant.machines());
        let row = |of: &dyn Fn(usize) -> i64| {
            let mut row: Vec<N> = (0..jobs).map(|job| N::of(of(job))).collect();
            row.resize(jobs.next_multiple_of(MOST_LANES), N::default());
            row
        };
        let sum = |job: usize| (0..machines).map(|k| variant.time(job, k)).sum::<i64>();
        let setups = |before: usize| {
            (0..machines).flat_map(move |k| row(&|after| variant.setup(k, before, after)))
        };
        let befores = 0..if variant.shop().setups.is_some() { jobs } else { 0 };
        let ranks = if variant.objective().needs_due_dates() { RANKS } else { 0 };
        let total = |k| N::of((0..jobs).map(|job| variant.time(job, k)).sum());
        Self {
            jobs,
            machines,
            stride: jobs.next_multiple_of(MOST_LANES),
            times: (0..machines).flat_map(|k| row(&|job| variant.time(job, k))).collect(),
            setups: befores.flat_map(setups).collect(),
            weights: row(&|job| variant.weight(job)),
            due: row(&|job| variant.due(job)),
            releases: row(&|job| variant.release(job)),
            sums: row(&sum),
            totals: (0..machines).map(total).collect(),
            each: (jobs * (machines + ranks) / MOST_LANES) as u64,
            variant: variant.clone(),
        }
    }

    /// The setup times after a job, in rows by machine.
    fn setups_after(&self, before: Option<u16>) -> Option<&[N]> {
        let all = self.machines * self.stride;
        let before = before.filter(|_| !self.setups.is_empty())?;
        Some(&self.setups[usize::from(before) * all..][..all])
    }
}

/// The nodes of a level, side by side.
struct Nodes<N> {
    /// By node and machine: when each machine becomes free, and how long it has worked.
    fronts: Vec<N>,
    worked: Vec<N>,
    cost: Vec<N>,
    /// By node, a bit for each job left.
    left: Vec<u64>,
    last: Vec<Option<u16>>,
}

/// A child: its rank, least first, its parent and its job.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Child {
    rank: f64,
    parent: u32,
    job: u16,
}

/// A beam search in progress.
pub(super) struct Beam<N> {
    rows: Rows<N>,
    rest: Rest,
    level: Level,
    /// The best schedule so far.
    best: (Vec<u16>, i64),
    weights: [f64; 3],
    /// The number of beams before this one, and the width.
    beams: usize,
    width: usize,
    work: u64,
}

impl<N: Number> Beam<N> {
    pub fn new(variant: &Variant, level: Level, start: (Vec<u16>, i64), seed: u64) -> Self {
        // No two of four seeds in sequence make the same beams: every other one has widths between those of the others.
        let width = if seed.is_multiple_of(2) { FIRST } else { FIRST * 3 / 2 };
        let weights = WEIGHTS[(seed / 2 % 2) as usize];
        let (rows, rest) = (Rows::new(variant), Rest::new(variant));
        Self { rows, rest, level, best: start, weights, beams: 0, width, work: 0 }
    }

    /// Whether sums over machines have room.
    pub fn applies(variant: &Variant) -> bool {
        variant.horizon() * (variant.machines() as i64) < N::HIGHEST.into()
    }
}

impl<N: Number> Improve for Beam<N> {
    fn round(&mut self, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, i64) {
        let weight = self.weights[self.beams % self.weights.len()];
        let limit = N::saturating(self.best.1);
        let (rows, rest) = (&self.rows, &mut self.rest);
        rest.follow(&rows.variant, &self.best.0, weight);
        let pass = Pass { rows, rest, width: self.width, weight, limit, keep_going };
        let (found, work) = N::run(self.level, pass);
        self.work += work;
        if let Some(order) = found {
            let value = self.rows.variant.value(&order);
            if value < self.best.1 {
                self.best = (order, value);
            }
        }
        self.beams += 1;
        if self.beams.is_multiple_of(self.weights.len()) {
            self.width *= 2;
        }
        self.best.clone()
    }

    fn adopt(&mut self, order: &[u16], value: i64) {
        self.best = (order.to_vec(), value);
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn comes_first(&self) -> bool {
        let rows = &self.rows;
        let all = (self.width * self.weights.len() * rows.jobs) as u64 * rows.each;
        let due = rows.variant.objective().needs_due_dates();
        due && self.beams < self.weights.len() && all <= SOON
    }

    fn exhausted(&self) -> bool {
        let variant = &self.rows.variant;
        // The other searches gain more from the time that wider beams take.
        let starts_only = match variant.objective() {
            Objective::Lateness => true,
            other => other.needs_due_dates() && variant.jobs() <= MOST_JOBS_BY_LAYERS,
        };
        starts_only && self.beams >= self.weights.len()
            || self.width > WIDEST.min((MOST / self.rows.jobs).max(FIRST))
    }
}

/// One beam.
struct Pass<'p, N> {
    rows: &'p Rows<N>,
    rest: &'p mut Rest,
    width: usize,
    weight: f64,
    /// Schedules have to cost less.
    limit: N,
    keep_going: &'p dyn Fn() -> bool,
}

impl<N: Number> LaneTask<N> for Pass<'_, N> {
    /// A better schedule, and the work.
    type Result = (Option<Vec<u16>>, u64);

    #[inline(always)]
    fn run<W: Wide<Of = N>>(mut self) -> Self::Result {
        let Self { rows, width, keep_going, .. } = self;
        let (jobs, machines) = (rows.jobs, rows.machines);
        let mut level = Nodes::root(rows);
        let mut history: Vec<Vec<Child>> = Vec::new();
        let mut children: Vec<Child> = Vec::new();
        let (mut lanes, mut work) = (vec![W::splat(N::default()); machines], 0);
        for placed in 0..jobs {
            children.clear();
            let mut worst = f64::INFINITY;
            for parent in 0..level.cost.len() {
                if !keep_going() {
                    return (None, work);
                }
                work += rows.each;
                self.branch(&level, parent, placed, &mut lanes, worst, &mut children);
                if children.len() >= 4 * width {
                    keep_least(&mut children, width);
                    worst = children.iter().map(|child| child.rank).fold(f64::MIN, f64::max);
                }
            }
            keep_least(&mut children, width);
            children.sort_by(|a, b| a.order(b));
            if children.is_empty() {
                return (None, work);
            }
            level = level.children(rows, &children);
            history.push(children.clone());
        }
        let best = (0..level.cost.len()).min_by_key(|&i| level.cost[i]);
        let order = best.map(|mut i| {
            let mut order: Vec<u16> = history
                .iter()
                .rev()
                .map(|level| {
                    let child = level[i];
                    i = child.parent as usize;
                    child.job
                })
                .collect();
            order.reverse();
            order
        });
        (order, work)
    }
}

impl<N: Number> Pass<'_, N> {
    /// Adds the children of a node that may be better.
    #[inline(always)]
    fn branch<W: Wide<Of = N>>(
        &mut self,
        level: &Nodes<N>,
        parent: usize,
        placed: usize,
        lanes: &mut [W],
        worst: f64,
        children: &mut Vec<Child>,
    ) {
        let (rows, weight, limit) = (self.rows, self.weight, self.limit);
        let rest = &mut *self.rest;
        let (machines, stride, zero) = (rows.machines, rows.stride, W::splat(N::default()));
        let variant = &rows.variant;
        let (objective, words) = (variant.objective(), rows.jobs.div_ceil(64));
        let fronts = &level.fronts[parent * machines..][..machines];
        let worked = &level.worked[parent * machines..][..machines];
        let left = &level.left[parent * words..][..words];
        let is_left = |job: usize| left[job / 64] >> (job % 64) & 1 == 1;
        let done: i64 = worked.iter().map(|&it| it.into()).sum();
        if objective != Objective::Makespan {
            let all: i64 = fronts.iter().map(|&front| front.into()).sum();
            let clock = rest.clock(all as f64, done as f64);
            rest.fill(is_left, placed, clock);
        }
        let setups = rows.setups_after(level.last[parent]);
        let count = machines as f64;
        let share = (rows.jobs - placed) as f64 / rows.jobs as f64;
        for first in (0..rows.jobs).step_by(W::LANES) {
            let mut open = (left[first / 64] >> (first % 64)) as u32 & ((1 << W::LANES) - 1);
            if open == 0 {
                continue;
            }
            for (lane, &front) in lanes.iter_mut().zip(fronts) {
                *lane = W::splat(front);
            }
            let times = {
                #[inline(always)]
                |k: usize| W::load(&rows.times[k * stride + first..])
            };
            let setups = setups.map(|setups| {
                #[inline(always)]
                move |k: usize| W::load(&setups[k * stride + first..])
            });
            let dates = Dates {
                weight: W::load(&rows.weights[first..]),
                due: W::load(&rows.due[first..]),
                release: W::load(&rows.releases[first..]),
            };
            append(variant.passing(), lanes, times, setups, dates.release);
            let end = lanes[machines - 1];
            let cost = add_cost(objective, W::splat(level.cost[parent]), end, &dates);
            let mut all = zero;
            lanes.iter().for_each(|&front| all = all.add(front));
            // What machines that never idle again make of the makespan.
            let mut ahead = W::splat(N::LOWEST);
            if objective == Objective::Makespan {
                for (k, &front) in lanes.iter().enumerate() {
                    let to_do = rows.totals[k] - worked[k];
                    let times = W::load(&rows.times[k * stride + first..]);
                    ahead = ahead.max(front.sub(times).add(W::splat(to_do)));
                }
            }
            let mut numbers = [[N::default(); MOST_LANES]; 3];
            for (lane, numbers) in [cost, all, ahead].into_iter().zip(&mut numbers) {
                lane.store(numbers);
            }
            while open != 0 {
                let lane = open.trailing_zeros() as usize;
                open &= open - 1;
                let job = first + lane;
                if numbers[0][lane] >= limit {
                    continue;
                }
                let [cost, all, ahead] =
                    [0, 1, 2].map(|row: usize| numbers[row][lane].into() as f64);
                let done = (done + rows.sums[job].into()) as f64;
                let idle = (all - done) / count;
                let clock = rest.clock(all, done);
                let rank = match objective {
                    Objective::Makespan => ahead + weight * share * idle,
                    Objective::Lateness => {
                        let expected = rest.cost[job] + rest.growth[job] * clock;
                        cost.max(expected) + weight * share * idle
                    }
                    _ => cost + rest.cost[job] + rest.growth[job] * clock,
                };
                if rank < worst {
                    children.push(Child { rank, parent: parent as u32, job: job as u16 });
                }
            }
        }
    }
}

impl Child {
    fn order(&self, other: &Self) -> Ordering {
        let place = |it: &Self| (it.parent, it.job);
        self.rank.total_cmp(&other.rank).then(place(self).cmp(&place(other)))
    }
}

/// Keeps the children of least rank.
fn keep_least(children: &mut Vec<Child>, width: usize) {
    if children.len() > width {
        children.select_nth_unstable_by(width, Child::order);
        children.truncate(width);
    }
}

impl<N: Number> Nodes<N> {
    fn root(rows: &Rows<N>) -> Self {
        let mut left = vec![0; rows.jobs.div_ceil(64)];
        (0..rows.jobs).for_each(|job| left[job / 64] |= 1 << (job % 64));
        Self {
            fronts: vec![N::default(); rows.machines],
            worked: vec![N::default(); rows.machines],
            cost: vec![rows.variant.no_cost()],
            left,
            last: vec![None],
        }
    }

    /// The next level.
    fn children(&self, rows: &Rows<N>, children: &[Child]) -> Self {
        let (machines, words) = (rows.machines, rows.jobs.div_ceil(64));
        let mut next = Self {
            fronts: Vec::with_capacity(children.len() * machines),
            worked: Vec::with_capacity(children.len() * machines),
            cost: Vec::with_capacity(children.len()),
            left: Vec::with_capacity(children.len() * words),
            last: Vec::with_capacity(children.len()),
        };
        let mut fronts = vec![Array([N::default()]); machines];
        for &Child { parent, job, .. } in children {
            let (parent, at) = (parent as usize, usize::from(job));
            for (front, &from) in fronts.iter_mut().zip(&self.fronts[parent * machines..]) {
                *front = Array([from]);
            }
            let time = |k: usize| Array([rows.times[k * rows.stride + at]]);
            let setups = rows.setups_after(self.last[parent]);
            let setups = setups.map(|setups| move |k: usize| Array([setups[k * rows.stride + at]]));
            let [weight, due, release] =
                [&rows.weights, &rows.due, &rows.releases].map(|row| Array([row[at]]));
            let dates = Dates { weight, due, release };
            append(rows.variant.passing(), &mut fronts, time, setups, release);
            let cost = Array([self.cost[parent]]);
            let end = fronts[machines - 1];
            next.cost.push(add_cost(rows.variant.objective(), cost, end, &dates).0[0]);
            next.fronts.extend(fronts.iter().map(|front| front.0[0]));
            let worked = &self.worked[parent * machines..][..machines];
            next.worked.extend((0..machines).map(|k| worked[k] + time(k).0[0]));
            let start = next.left.len();
            next.left.extend_from_slice(&self.left[parent * words..][..words]);
            next.left[start + at / 64] &= !(1 << (at % 64));
            next.last.push(Some(job));
        }
        next
    }
}
