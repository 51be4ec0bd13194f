//! [`raise`]: the arborescence bound with all arcs, by ascents on a few promising arcs.

use super::arborescence::Arborescence;
use super::arcs::{Allowed, Arcs, COST_SCALE};
use super::ascent::{Effort, ascend};
use super::instance::Instance;

/// Arcs from each city and into each city that a round starts with.
const EACH: usize = 6;
const ROUNDS: usize = 6;
const EFFORT: Effort = Effort { steps: 1500, patience: 30, first: 0.1, arcs: u64::MAX };

/// A bound with all arcs, in parts of a unit.
#[derive(Clone, Debug)]
pub(super) struct Priced {
    pub bound: i64,
    /// The multiplier for leaving each city.
    pub multipliers: Vec<i64>,
    /// The arcs with their reduced costs.
    pub arcs: Arcs,
    pub reduced: Vec<i64>,
}

/// Raises the bound from these multipliers, towards the length of a tour, and removes arcs that no better tour uses.
pub(super) fn raise(
    instance: &Instance,
    allowed: &mut Allowed,
    multipliers: &[i64],
    tour: &[u16],
    keep_going: &dyn Fn() -> bool,
) -> Option<Priced> {
    let n = instance.cities();
    let target = COST_SCALE * instance.length(tour);
    let mut few = Allowed::none(n);
    let next = tour.iter().cycle().skip(1);
    tour.iter().zip(next).for_each(|(&i, &j)| few.add(i.into(), j.into()));
    let mut best: Option<Priced> = None;
    let mut sparse = i64::MAX;
    let mut multipliers = multipliers.to_vec();
    for _ in 0..ROUNDS {
        // A better bound shows which arcs are missing.
        let arcs = Arcs::new(instance, allowed);
        let mut tree = Arborescence::new(n, arcs.len());
        let bound = tree.find(&arcs, &multipliers)? + multipliers.iter().sum::<i64>();
        let closed = bound >= sparse - COST_SCALE / 16;
        for &at in &tree.into {
            few.add(arcs.tail[at as usize].into(), arcs.head[at as usize].into());
        }
        nearest(&arcs, &tree.reduced, &mut few);
        if best.as_ref().is_none_or(|best| bound > best.bound) {
            allowed.fix_by_reduced_cost(&arcs, &tree.reduced, target - bound);
            best = Some(Priced {
                bound,
                multipliers: multipliers.clone(),
                arcs,
                reduced: tree.reduced,
            });
        }
        if closed || !keep_going() {
            break;
        }
        let arcs = Arcs::new(instance, &few);
        let raised = ascend(&arcs, &multipliers, target, EFFORT, keep_going)?;
        (multipliers, sparse) = (raised.multipliers, raised.bound);
    }
    best
}

/// Adds the arcs of least reduced cost from each city and into each city.
fn nearest(arcs: &Arcs, reduced: &[i64], few: &mut Allowed) {
    let n = arcs.cities;
    let mut into = vec![Vec::new(); n];
    let mut add = |of: &mut Vec<usize>| {
        if of.len() > EACH {
            of.select_nth_unstable_by_key(EACH, |&at| (reduced[at], at));
        }
        for &at in of.iter().take(EACH) {
            few.add(arcs.tail[at].into(), arcs.head[at].into());
        }
    };
    for i in 0..n {
        let mut from: Vec<usize> = arcs.row(i).collect();
        from.iter().for_each(|&at| into[usize::from(arcs.head[at])].push(at));
        add(&mut from);
    }
    into.iter_mut().for_each(&mut add);
}
