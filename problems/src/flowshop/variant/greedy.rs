//! Heuristics for variants: an insertion heuristic in the order that suits the objective, and iterated greedy.

use super::super::heuristic::greedy::{Greedy, mean_time};
use super::super::heuristic::insertion::{Insert, least_place};
use super::super::instance::{Instance, solution_of};
use super::lanes::Dates;
use super::model::Variant;
use super::objective::Objective;
use super::table::{Lanes, Table};
use crate::simd::Level;
use crate::simd::lanes::{Array, LaneTask, MOST_LANES, Number, Wide};
use pleach_core::search::tree::{Improver, Solution};
use std::cmp::Reverse;

/// Overhead of trying all places of a job, in places times machines.
const CALL: u64 = 60;

/// Finds the best place of a job by computing the value of all schedules, a lane for each place.
pub(super) struct Places<N> {
    table: Table<N>,
    no_cost: N,
    level: Level,
    values: Vec<N>,
    work: u64,
}

impl<N: Number> Places<N> {
    pub fn new(variant: &Variant, level: Level) -> Self {
        let (table, no_cost) = (Table::new(variant), variant.no_cost());
        Self { table, no_cost, level, values: Vec::new(), work: 0 }
    }
}

impl<N: Number> Insert for Places<N> {
    fn insert(&mut self, order: &mut Vec<u16>, job: u16, tie: impl FnOnce(usize) -> usize) -> i64 {
        let Self { table, no_cost, level, values, work } = self;
        let places = order.len() as u64 + 1;
        *work +=
            CALL + (places + MOST_LANES as u64).pow(2) / MOST_LANES as u64 * table.machines as u64;
        N::run(*level, Values { table, no_cost: *no_cost, order, job: job.into(), values });
        let (place, least) = least_place(values, tie);
        order.insert(place, job);
        least.into()
    }

    fn machines(&self) -> usize {
        self.table.machines
    }

    fn work(&self) -> u64 {
        self.work
    }
}

/// Computes the values of an order with a job at each place.
pub(super) struct Values<'a, N> {
    pub table: &'a Table<N>,
    pub no_cost: N,
    pub order: &'a [u16],
    pub job: usize,
    pub values: &'a mut Vec<N>,
}

impl<N: Number> LaneTask<N> for Values<'_, N> {
    type Result = ();

    #[inline(always)]
    fn run<W: Wide<Of = N>>(self) {
        let Self { table, no_cost, order, job, values } = self;
        let at = |place: usize| order.get(place).map(|&job| usize::from(job));
        values.clear();
        let mut before = Lanes::<Array<N, 1>>::empty(table.machines, no_cost);
        let mut lanes = Lanes::<W>::empty(table.machines, no_cost);
        for first in (0..=order.len()).step_by(W::LANES) {
            lanes.fill(&before);
            for place in first..=order.len() {
                if place <= first + W::LANES {
                    append_mixed(table, &mut lanes, order, job, (place, first));
                } else {
                    // All lanes have had the job, and another one after it.
                    table.append(&mut lanes, at(place - 2), order[place - 1].into());
                }
            }
            let mut costs = [N::default(); MOST_LANES];
            lanes.cost.store(&mut costs);
            values.extend(&costs[..(order.len() + 1 - first).min(W::LANES)]);
            for (place, &next) in order.iter().enumerate().skip(first).take(W::LANES) {
                let last = place.checked_sub(1).and_then(at);
                table.append(&mut before, last, next.into());
            }
        }
    }
}

/// Appends to each lane what stands at a place: the job itself in the lane of the place, jobs of the order before it in
/// lanes before, and not moved in lanes behind.
#[inline(always)]
fn append_mixed<N: Number, W: Wide<Of = N>>(
    table: &Table<N>,
    lanes: &mut Lanes<W>,
    order: &[u16],
    job: usize,
    (place, first): (usize, usize),
) {
    // Lanes for places behind the end repeat the last job; their values are not used.
    let moved = |place: usize| order.get(place).or(order.last()).map_or(job, |&job| job.into());
    let (later, earlier) = (moved(place), place.checked_sub(1).map_or(job, moved));
    let mut numbers = [N::default(); MOST_LANES];
    for (lane, number) in (0..).zip(&mut numbers) {
        *number = N::of(lane);
    }
    let lane = W::load(&numbers);
    let here = (place - first) as i64;
    let (behind, here, before) = (here, here - 1, here - 2);
    let [behind, here, before] = [behind, here, before].map(|lane| W::splat(N::of(lane)));
    // Of numbers for lanes behind the place, in it, and before it.
    let choose = {
        #[inline(always)]
        |later: N, own: N, earlier: N| {
            let not_before = lane.where_greater(here, W::splat(own - earlier));
            let later = lane.where_greater(behind, W::splat(later - own));
            W::splat(earlier).add(not_before).add(later)
        }
    };
    let times = [later, job, earlier].map(|job| table.times(job));
    // What stands at the place before: the job in the lane of that place.
    let earliest = place.checked_sub(2).map_or(job, moved);
    let setups = (place > 0 && table.has_setups()).then(|| {
        let rows = [(earlier, later), (earlier, job), (job, earlier), (earliest, earlier)];
        let rows = rows.map(|(before, after)| table.setups(before, after).unwrap_or_default());
        #[inline(always)]
        move |k: usize| {
            let chosen = choose(rows[0][k], rows[1][k], rows[2][k]);
            // Lanes that had the job even earlier have another job before.
            let difference = W::splat(rows[2][k] - rows[3][k]);
            let late = lane.where_greater(before, difference);
            chosen.sub(difference).add(late)
        }
    });
    let [a, b, c] = [later, job, earlier].map(|job| *table.dates(job));
    let dates = Dates {
        weight: choose(a.weight, b.weight, c.weight),
        due: choose(a.due, b.due, c.due),
        release: choose(a.release, b.release, c.release),
    };
    let times = {
        #[inline(always)]
        |k: usize| choose(times[0][k], times[1][k], times[2][k])
    };
    table.append_each(lanes, times, setups, &dates);
}

/// Searches for better schedules of a variant, in small steps.
pub(super) trait Improve: Send {
    /// Runs for a while, but only briefly once `keep_going` returns false. Returns the schedule it has reached.
    fn round(&mut self, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, i64);

    /// Continues from another schedule.
    fn adopt(&mut self, order: &[u16], value: i64);

    /// Work so far, in places times machines.
    fn work(&self) -> u64;

    /// Whether there is nothing left to try.
    fn exhausted(&self) -> bool {
        false
    }
}

impl<N: Number> Improve for Greedy<Places<N>> {
    fn round(&mut self, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, i64) {
        Greedy::round(self, keep_going)
    }

    fn adopt(&mut self, order: &[u16], value: i64) {
        Greedy::adopt(self, order, value);
    }

    fn work(&self) -> u64 {
        Greedy::work(self)
    }
}

/// Iterated greedy from a schedule.
pub(super) fn greedy(
    variant: &Variant,
    level: Level,
    start: (Vec<u16>, i64),
    seed: u64,
) -> Box<dyn Improve> {
    let typical = typical_difference(variant);
    if variant.is_narrow() {
        Box::new(Greedy::new(Places::<i32>::new(variant, level), start, typical, seed))
    } else {
        Box::new(Greedy::new(Places::<i64>::new(variant, level), start, typical, seed))
    }
}

/// How much neighbouring schedules typically differ.
pub(super) fn typical_difference(variant: &Variant) -> f64 {
    let jobs = variant.jobs();
    let weight = (0..jobs).map(|job| variant.weight(job)).sum::<i64>() as f64 / jobs as f64;
    let time = mean_time(&variant.shop().instance);
    match variant.objective() {
        Objective::Makespan | Objective::Lateness => time,
        Objective::FlowTime | Objective::Tardiness => weight * time * jobs as f64 / 8.0,
        Objective::TardyJobs => weight,
    }
}

/// A schedule built by insertion: jobs by due date or by time, each at its best place. Once `keep_going` returns false,
/// the jobs left are appended in their order.
pub(super) fn by_insertion(
    variant: &Variant,
    level: Level,
    keep_going: &dyn Fn() -> bool,
) -> (Vec<u16>, i64) {
    let mut jobs: Vec<u16> = (0..variant.jobs() as u16).collect();
    let time = |job: &u16| {
        variant.shop().instance.job((*job).into()).iter().map(|&t| i64::from(t)).sum::<i64>()
    };
    match variant.objective() {
        Objective::Makespan => {
            jobs.sort_by_key(|job| (variant.release((*job).into()), Reverse(time(job))))
        }
        Objective::FlowTime => jobs.sort_by_key(|job| {
            let weight = variant.weight((*job).into()).max(1);
            time(job) * 1000 / weight
        }),
        _ => jobs.sort_by_key(|job| variant.due((*job).into())),
    }
    let mut order = Vec::with_capacity(jobs.len());
    if variant.is_narrow() {
        build(Places::<i32>::new(variant, level), &jobs, &mut order, keep_going);
    } else {
        build(Places::<i64>::new(variant, level), &jobs, &mut order, keep_going);
    }
    let value = variant.value(&order);
    (order, value)
}

fn build(
    mut places: impl Insert,
    jobs: &[u16],
    order: &mut Vec<u16>,
    keep_going: &dyn Fn() -> bool,
) {
    for (placed, &job) in jobs.iter().enumerate() {
        if !keep_going() {
            return order.extend(&jobs[placed..]);
        }
        places.insert(order, job, |_| 0);
    }
}

/// Iterated greedy beside a search.
pub(super) struct Beside<'v> {
    pub improve: Box<dyn Improve + 'v>,
    pub best: i64,
    pub instance: &'v Instance,
    pub keep_going: Box<dyn Fn() -> bool + 'v>,
}

impl Improver for Beside<'_> {
    fn improve(&mut self) -> Option<Solution> {
        let (order, value) = self.improve.round(&*self.keep_going);
        if value >= self.best {
            return None;
        }
        self.best = value;
        Some(Solution { score: value, solution: solution_of(&order) })
    }

    fn adopt(&mut self, solution: &Solution) {
        if let Ok(order) = self.instance.order(&solution.solution)
            && solution.score < self.best
        {
            self.best = solution.score;
            self.improve.adopt(&order, solution.score);
        }
    }
}
