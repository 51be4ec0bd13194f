//! [`preemptive_bound`]: a bound on the cost of all schedules, by single machines whose jobs may interrupt each other.
//!
//! A job arrives at a machine no earlier than its release date plus its times on the machines before, and then has to
//! pass the later machines. If the job with the earliest due date comes first at any moment, the maximum lateness is
//! least (Horn 1974). If the one with the least time left comes first, as many jobs as possible are finished at any
//! moment (Schrage 1968), so the first, the second and each later end is as early as possible. At best, jobs end in the
//! order of their due dates (Chu 1992).

use super::model::Variant;
use super::objective::Objective;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The maximum number of weights that are distinguished.
const LEVELS: usize = 8;
/// How many operations all levels may process if there are several: shops with more than an eighth of it distinguish
/// fewer weights.
const OPERATIONS: usize = 1 << 20;

/// A job on a machine.
struct Arrival {
    /// When it can arrive.
    at: i64,
    time: i64,
    /// When this machine must have finished it; for flow time and makespan, so that it ends at its release date or at 0.
    due: i64,
}

/// A bound on the cost of all schedules. With weights, it adds up bounds of the jobs with at least each weight, times
/// the difference to the next lower weight.
pub(super) fn preemptive_bound(variant: &Variant) -> i64 {
    let all = || 0..variant.jobs();
    let mut weights: Vec<i64> = all().map(|job| variant.weight(job)).collect();
    weights.retain(|&weight| weight > 0);
    weights.sort_unstable();
    weights.dedup();
    let levels = (OPERATIONS / (variant.jobs() * variant.machines())).clamp(1, LEVELS);
    let levels = levels.min(weights.len());
    let (mut bound, mut lower) = (0, 0);
    for weight in (0..levels).map(|level| weights[level * weights.len() / levels]) {
        let jobs: Vec<usize> = all().filter(|&job| variant.weight(job) >= weight).collect();
        bound += (weight - lower) * unweighted_bound(variant, &jobs);
        lower = weight;
    }
    bound
}

/// A bound on the cost of some jobs if all have weight 1: the largest of all machines.
fn unweighted_bound(variant: &Variant, jobs: &[usize]) -> i64 {
    let objective = variant.objective();
    let mut heads: Vec<i64> = jobs.iter().map(|&job| variant.release(job)).collect();
    let all = |job: usize| (0..variant.machines()).map(|k| variant.time(job, k)).sum::<i64>();
    let mut tails: Vec<i64> = jobs.iter().map(|&job| all(job)).collect();
    let mut bound = i64::MIN;
    for k in 0..variant.machines() {
        let mut arrivals = Vec::with_capacity(jobs.len());
        for (&job, (head, tail)) in jobs.iter().zip(heads.iter_mut().zip(&mut tails)) {
            let time = variant.time(job, k);
            *tail -= time;
            let due = match objective {
                Objective::Makespan => 0,
                Objective::FlowTime => variant.release(job),
                _ => variant.due(job),
            };
            arrivals.push(Arrival { at: *head, time, due: due - *tail });
            *head += time;
        }
        bound = bound.max(machine_bound(objective, arrivals));
    }
    bound
}

/// A bound on the cost of jobs, given their arrivals at a machine.
fn machine_bound(objective: Objective, arrivals: Vec<Arrival>) -> i64 {
    let ended = process(arrivals, !objective.is_sum());
    let mut due: Vec<i64> = ended.iter().map(|&(_, due)| due).collect();
    if objective.is_sum() {
        due.sort_unstable();
    }
    let late = ended.iter().zip(&due).map(|(&(end, _), &due)| end - due);
    match objective {
        Objective::Makespan | Objective::Lateness => late.max().unwrap_or(i64::MIN),
        Objective::FlowTime => late.sum(),
        Objective::Tardiness => late.map(|late| late.max(0)).sum(),
        Objective::TardyJobs => {
            // Each due date gets the earliest end that is not used yet.
            let on_time = due.iter().fold(0_usize, |n, &due| n + usize::from(ended[n].0 <= due));
            (ended.len() - on_time) as i64
        }
    }
}

/// Processes jobs from when they arrive: at any moment the one with the earliest due date, or with the least time left.
/// Returns when each ends, with its due date, in the order of the ends.
fn process(mut arrivals: Vec<Arrival>, by_due_date: bool) -> Vec<(i64, i64)> {
    arrivals.sort_unstable_by_key(|it| it.at);
    let mut arriving = arrivals.iter().peekable();
    let (mut open, mut now) = (BinaryHeap::new(), 0_i64);
    let mut ended = Vec::with_capacity(arrivals.len());
    loop {
        if open.is_empty() {
            let Some(next) = arriving.peek() else { return ended };
            now = now.max(next.at);
        }
        while let Some(it) = arriving.next_if(|it| it.at <= now) {
            let key = if by_due_date { it.due } else { it.time };
            open.push(Reverse((key, it.time, it.due)));
        }
        let until = arriving.peek().map_or(i64::MAX, |next| next.at);
        let Some(Reverse((key, time, due))) = open.pop() else { continue };
        let end = now + time;
        if end <= until {
            ended.push((end, due));
        } else {
            let left = end - until;
            open.push(Reverse((if by_due_date { key } else { left }, left, due)));
        }
        now = end.min(until);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::instance::Instance;
    use super::super::super::shop::Shop;
    use super::super::lanes::Passing;
    use super::super::remaining::tests::shop;
    use super::super::remaining::{Orders, whole_bound};
    use super::*;

    /// On the second machine, the jobs arrive at 1, 6 and 7 and take 3 each, so the third one has to wait.
    #[test]
    fn jobs_that_wait_for_each_other_are_bounded_exactly() {
        let mut shop = shop(3, &[1_u32, 3, 1].repeat(3), &[0, 5, 6], &[5, 10, 11]);
        shop.weights = Some(vec![2, 2, 1]);
        let values = [13, 2 * 5 + 2 * 5 + 7, 2, 2, 1];
        for (objective, value) in Objective::ALL.into_iter().zip(values) {
            for passing in [Passing::Wait, Passing::NoWait, Passing::Blocking] {
                let variant = Variant::new(shop.clone(), objective, passing).unwrap();
                let found = (preemptive_bound(&variant), variant.value(&[0, 1, 2]));
                assert_eq!(found, (value, value), "{objective} {passing:?}");
                if objective.is_sum() {
                    let other = whole_bound(&variant, &Orders::<i64>::new(&variant));
                    assert!(other < value, "{objective}: {other}");
                }
            }
        }
    }

    /// The first job is interrupted by the others, which end at 2 and 3, and ends at 12.
    #[test]
    fn short_jobs_interrupt_long_ones() {
        let shop = shop(1, &[10, 1, 1], &[0, 1, 2], &[11, 2, 3]);
        for (objective, bound) in Objective::ALL.into_iter().zip([12, 17 - 3, 1, 1, 1]) {
            let variant = Variant::new(shop.clone(), objective, Passing::Wait).unwrap();
            assert_eq!(preemptive_bound(&variant), bound, "{objective}");
        }
    }

    #[test]
    fn weights_that_are_not_distinguished_count_as_the_next_lower_one() {
        let bound = |weights: Vec<u32>| {
            let count = weights.len();
            let mut shop = Shop::new(Instance::new(1, vec![1; count]).unwrap());
            shop.weights = Some(weights);
            // No job waits for another.
            shop.releases = Some((0..count as u32).collect());
            let variant = Variant::new(shop, Objective::FlowTime, Passing::Wait).unwrap();
            preemptive_bound(&variant)
        };
        assert_eq!(bound(vec![0, 0, 0]), 0);
        assert_eq!(bound(vec![3, 0, 5, 3]), 11);
        let all = (1..=2 * LEVELS as u32).collect();
        let lower = (1..2 * LEVELS as i64).step_by(2);
        assert_eq!(bound(all), lower.map(|weight| 2 * weight).sum::<i64>());
    }
}
