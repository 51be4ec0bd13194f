//! [`Anneal`]: simulated annealing for variants, by the values of all places of a job, or of all exchanges with others.
//!
//! A step draws one of them by its Boltzmann weight, so that no step is rejected. Each cycle cools down from the best
//! schedule so far, twice as slowly as the one before.

use super::greedy::{Improve, Values, typical_difference};
use super::lanes::Dates;
use super::model::Variant;
use super::table::{Lanes, Table};
use crate::simd::Level;
use crate::simd::lanes::{Array, LaneTask, MOST_LANES, Number, Wide};
use oorandom::Rand64;

/// Temperatures at the start and at the end of a cycle, in typical differences between neighbours.
const HOT: f64 = 0.3;
const COLD: f64 = 0.01;
/// Steps per job of the first cycle.
const FIRST: u64 = 25;
/// Steps of a round.
const ROUND: u64 = 64;

/// An annealing in progress.
pub(super) struct Anneal<N> {
    table: Table<N>,
    no_cost: N,
    level: Level,
    rng: Rand64,
    typical: f64,
    order: Vec<u16>,
    best: (Vec<u16>, i64),
    /// Steps of the cycle so far, and all of it.
    step: u64,
    length: u64,
    values: Vec<N>,
    work: u64,
}

impl<N: Number> Anneal<N> {
    pub fn new(variant: &Variant, level: Level, start: (Vec<u16>, i64), seed: u64) -> Self {
        Self {
            table: Table::new(variant),
            no_cost: variant.no_cost(),
            level,
            rng: Rand64::new(seed.into()),
            typical: typical_difference(variant).max(1.0),
            order: start.0.clone(),
            best: start,
            step: 0,
            length: FIRST * variant.jobs() as u64,
            values: Vec::new(),
            work: 0,
        }
    }

    fn work_of_step(&self) -> u64 {
        let (jobs, lanes) = (self.order.len() as u64, MOST_LANES as u64);
        (jobs + lanes).pow(2) / lanes * self.table.machines as u64
    }

    /// Work of this cycle, in places times machines.
    pub fn work_of_cycle(&self) -> u64 {
        self.length * self.work_of_step()
    }

    fn step(&mut self) {
        if self.step == self.length {
            (self.step, self.length) = (0, self.length * 2);
            self.order.clone_from(&self.best.0);
        }
        let part = self.step as f64 / self.length as f64;
        let temperature = self.typical * HOT * (COLD / HOT).powf(part);
        self.step += 1;
        self.work += self.work_of_step();
        let Self { table, no_cost, level, order, values, .. } = self;
        let (jobs, no_cost) = (order.len() as u64, *no_cost);
        let at = self.rng.rand_range(0..jobs) as usize;
        let exchange = !table.has_setups() && self.rng.rand_float() < 0.5;
        let moved = (!exchange).then(|| order.remove(at));
        match moved {
            None => N::run(*level, Exchanges { table, no_cost, order, at, values }),
            Some(job) => {
                N::run(*level, Values { table, no_cost, order, job: job.into(), values });
            }
        }
        let place = draw(values, temperature, &mut self.rng);
        match moved {
            None => order.swap(at, place),
            Some(job) => order.insert(place, job),
        }
        let value = values[place].into();
        if value < self.best.1 {
            self.best = (order.clone(), value);
        }
    }
}

impl<N: Number> Improve for Anneal<N> {
    fn round(&mut self, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, i64) {
        for _ in 0..ROUND {
            if !keep_going() {
                break;
            }
            self.step();
        }
        self.best.clone()
    }

    fn adopt(&mut self, order: &[u16], value: i64) {
        self.best = (order.to_vec(), value);
    }

    fn work(&self) -> u64 {
        self.work
    }
}

/// Draws an index by the Boltzmann weights of the values.
fn draw<N: Number>(values: &[N], temperature: f64, rng: &mut Rand64) -> usize {
    let least = values.iter().copied().min().unwrap_or_default();
    let weight = |&value: &N| (-((value - least).into() as f64) / temperature).exp();
    let weights: Vec<f64> = values.iter().map(weight).collect();
    let mut left = rng.rand_float() * weights.iter().sum::<f64>();
    let drawn = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding may leave a little.
    drawn.or_else(|| values.iter().position(|&value| value == least)).unwrap_or_default()
}

/// Computes the values of an order with the job at a place exchanged with each other one. There are no setup times.
pub(super) struct Exchanges<'a, N> {
    pub table: &'a Table<N>,
    pub no_cost: N,
    pub order: &'a [u16],
    pub at: usize,
    pub values: &'a mut Vec<N>,
}

impl<N: Number> LaneTask<N> for Exchanges<'_, N> {
    type Result = ();

    #[inline(always)]
    fn run<W: Wide<Of = N>>(self) {
        let Self { table, no_cost, order, at, values } = self;
        values.clear();
        let mut before = Lanes::<Array<N, 1>>::empty(table.machines, no_cost);
        let mut lanes = Lanes::<W>::empty(table.machines, no_cost);
        let mut times = lanes.fronts.clone();
        let mut placed = 0;
        for first in (0..order.len()).step_by(W::LANES) {
            while placed < first.min(at) {
                table.append(&mut before, None, order[placed].into());
                placed += 1;
            }
            lanes.fill(&before);
            for place in placed..order.len() {
                if place == at {
                    append_others(table, &mut lanes, &mut times, &order[first..]);
                } else if (first..first + W::LANES).contains(&place) {
                    let jobs = (order[place].into(), order[at].into());
                    append_one_of_two(table, &mut lanes, jobs, place - first);
                } else {
                    table.append(&mut lanes, None, order[place].into());
                }
            }
            let mut costs = [N::default(); MOST_LANES];
            lanes.cost.store(&mut costs);
            values.extend(&costs[..(order.len() - first).min(W::LANES)]);
        }
    }
}

/// Appends the first of these jobs in the first lane, the second in the second, and so on; lanes behind the end repeat
/// the last one.
#[inline(always)]
fn append_others<N: Number, W: Wide<Of = N>>(
    table: &Table<N>,
    lanes: &mut Lanes<W>,
    times: &mut [W],
    jobs: &[u16],
) {
    let job = |lane: usize| usize::from(jobs[lane.min(jobs.len() - 1)]);
    let gather = {
        #[inline(always)]
        |of: &dyn Fn(usize) -> N| {
            let mut numbers = [N::default(); MOST_LANES];
            for (lane, number) in numbers.iter_mut().enumerate().take(W::LANES) {
                *number = of(job(lane));
            }
            W::load(&numbers)
        }
    };
    for (k, times) in times.iter_mut().enumerate() {
        *times = gather(&|job| table.times(job)[k]);
    }
    let dates = Dates {
        weight: gather(&|job| table.dates(job).weight),
        due: gather(&|job| table.dates(job).due),
        release: gather(&|job| table.dates(job).release),
    };
    let times = {
        #[inline(always)]
        |k: usize| times[k]
    };
    table.append_each(lanes, times, None::<fn(usize) -> W>, &dates);
}

/// Appends the first job, but in one lane the second.
#[inline(always)]
fn append_one_of_two<N: Number, W: Wide<Of = N>>(
    table: &Table<N>,
    lanes: &mut Lanes<W>,
    (job, own): (usize, usize),
    lane: usize,
) {
    let mut only = [N::default(); MOST_LANES];
    only[lane] = N::of(1);
    let only = W::load(&only);
    let choose = {
        #[inline(always)]
        |job: N, own: N| {
            W::splat(job).add(only.where_greater(W::splat(N::default()), W::splat(own - job)))
        }
    };
    let (times, own_times) = (table.times(job), table.times(own));
    let (dates, own_dates) = (table.dates(job), table.dates(own));
    let dates = Dates {
        weight: choose(dates.weight, own_dates.weight),
        due: choose(dates.due, own_dates.due),
        release: choose(dates.release, own_dates.release),
    };
    let times = {
        #[inline(always)]
        |k: usize| choose(times[k], own_times[k])
    };
    table.append_each(lanes, times, None::<fn(usize) -> W>, &dates);
}
