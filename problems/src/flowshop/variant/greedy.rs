//! Heuristics for variants: an insertion heuristic in the order that suits the objective, and iterated greedy.

use super::super::heuristic::greedy::{Greedy, mean_time};
use super::super::heuristic::insertion::Insert;
use super::super::instance::{Instance, solution_of};
use super::model::Variant;
use super::objective::Objective;
use super::places::Places;
use crate::simd::Level;
use crate::simd::lanes::Number;
use pleach_core::search::tree::{Improver, Solution};
use std::cmp::Reverse;

/// Searches for better schedules of a variant, in small steps.
pub(super) trait Improve: Send {
    /// Runs for a while, but only briefly once `keep_going` returns false. Returns the schedule it has reached.
    fn round(&mut self, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, i64);

    /// Continues from another schedule.
    fn adopt(&mut self, order: &[u16], value: i64);

    /// Work so far, in places times machines.
    fn work(&self) -> u64;

    /// Whether it should run before others take turns with it.
    fn comes_first(&self) -> bool {
        false
    }

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
        places.insert(order, job, i64::MAX, |_| 0);
    }
}

/// Iterated greedy alongside a search.
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
