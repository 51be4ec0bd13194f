//! Preparation before a search: the choice of bound, the root city and good multipliers.

use super::arcs::{Allowed, Arcs, COST_SCALE, at_least};
use super::ascent::{Effort, ascend};
use super::assignment::Assignment;
use super::bound::Bound;
use super::instance::Instance;
use super::node::Node;
use super::sparse::{Priced, raise};
use super::twins::Twins;

/// The result of the preparation.
pub(super) struct Prepared {
    pub instance: Instance,
    pub turned: usize,
    pub bound: Bound,
    pub twins: Twins,
    pub root: Node,
    pub least: i64,
    pub step: i64,
    /// The bound with all arcs, where they are still many.
    pub priced: Option<Priced>,
}

/// Gap between assignment and tour up to which `auto` chooses the assignment bound, which is fast.
/// With few cycles, at most one per `FEW` cities, the gap may be larger: the tour is probably bad.
const NEAR: f64 = 0.015;
const NEAR_WITH_FEW: f64 = 0.05;
const FEW: usize = 20;

/// Where the assignment leaves more than one in `DENSE` of all arcs, and the gap is longer than `LONG` mean arcs, its
/// search is long.
const DENSE: usize = 4;
const LONG: f64 = 2.0;

/// With more arcs per city than this, only the bound on a subset of the arcs is computed.
const MANY: usize = 20;
/// Limits of the ascent with the arcs that remain.
const SECOND: Effort = Effort { steps: 8000, patience: 100, first: 1.0, arcs: 50_000_000 };
/// Determines how many root cities are tried: each trial scans about ten times its arcs.
const ROOTS: usize = 2_000_000;

/// Prepares the search for tours no longer than this one, given the assignment, or else a bound in parts of a unit.
/// Once `keep_going` returns false, the multipliers are worse and all else is the same; once `wanted` does, only the
/// bound is valid.
pub(super) fn prepare(
    instance: &Instance,
    bound: Bound,
    (tour, assignment): (&[u16], Result<Assignment, i64>),
    (wanted, keep_going): (&dyn Fn() -> bool, &dyn Fn() -> bool),
) -> Prepared {
    let n = instance.cities();
    let target = instance.length(tour);
    let (multipliers, next) = (vec![0; n], vec![0; n]);
    let mut root = Node { allowed: Allowed::all(n), multipliers, next, deferred: false };
    let mut left = 0;
    let mut raised = match assignment {
        Ok(Assignment { value, next, reduced, out }) => {
            let room = COST_SCALE * target - value;
            left = reduced.iter().filter(|&&reduced| reduced <= room).count();
            (root.multipliers, root.next) = (out, next);
            value
        }
        Err(bound) => bound,
    };
    let gap = (COST_SCALE * target - raised) as f64 / (COST_SCALE * target).abs().max(1) as f64;
    let bound = match bound {
        Bound::Auto if left > n * n / DENSE && gap * n as f64 > LONG => Bound::Arborescence,
        Bound::Auto if gap <= NEAR => Bound::Assignment,
        Bound::Auto if gap <= NEAR_WITH_FEW && cycles(&root.next) <= n / FEW => Bound::Assignment,
        Bound::Auto => Bound::Arborescence,
        named => named,
    };
    let turned =
        if bound == Bound::Arborescence { best_root(instance, &root, target, wanted) } else { 0 };
    let instance = turn(instance, turned);
    root.multipliers.rotate_left(turned);
    root.next.rotate_left(turned);
    root.next.iter_mut().for_each(|j| *j = ((usize::from(*j) + n - turned) % n) as u16);
    let twins = Twins::new(&instance);
    twins.order(&mut root.allowed);
    let mut priced = None;
    if bound == Bound::Arborescence && wanted() {
        let turn = |&city: &u16| ((usize::from(city) + n - turned) % n) as u16;
        let tour: Vec<u16> = tour.iter().map(turn).collect();
        priced = raise(&instance, &mut root.allowed, &root.multipliers, &tour, keep_going);
        if let Some(better) = &priced {
            (root.multipliers, raised) = (better.multipliers.clone(), raised.max(better.bound));
        }
        root.allowed.propagate(&twins);
        let arcs = Arcs::new(&instance, &root.allowed);
        // With few arcs left, a longer ascent pays.
        if arcs.len() <= MANY * n && keep_going() {
            let target = COST_SCALE * target;
            let better = ascend(&arcs, &root.multipliers, target, SECOND, keep_going);
            if let Some(better) = better.filter(|better| better.bound > raised) {
                root.allowed.fix_by_reduced_cost(&arcs, &better.reduced, target - better.bound);
                root.allowed.propagate(&twins);
                (root.multipliers, raised) = (better.multipliers, better.bound);
            }
            priced = None;
        }
    }
    let step = step(&instance);
    let least = at_least(raised, target, step);
    Prepared { instance, turned, bound, twins, root, least, step, priced }
}

/// The number of cycles in an assignment.
fn cycles(next: &[u16]) -> usize {
    let mut seen = vec![false; next.len()];
    let begins = (0..next.len()).filter(|&start| {
        let mut at = start;
        let fresh = !seen[start];
        while !std::mem::replace(&mut seen[at], true) {
            at = next[at].into();
        }
        fresh
    });
    begins.count()
}

/// The root city with the best bound after one step, among as many cities as time allows. The bound
/// is good where entering the root is expensive.
fn best_root(instance: &Instance, root: &Node, target: i64, wanted: &dyn Fn() -> bool) -> usize {
    let n = instance.cities();
    let once = Effort { steps: 1, ..SECOND };
    let tried = (ROOTS / (n * n)).min(n);
    if tried <= 1 {
        return 0;
    }
    let bound = |&city: &usize| {
        let arcs = Arcs::new(&turn(instance, city), &root.allowed);
        let mut multipliers = root.multipliers.clone();
        multipliers.rotate_left(city);
        let raised = ascend(&arcs, &multipliers, COST_SCALE * target, once, &|| true);
        (raised.map(|raised| raised.bound), std::cmp::Reverse(city))
    };
    let cities = (0..n).step_by(n.div_ceil(tried)).take_while(|_| wanted());
    cities.max_by_key(bound).unwrap_or(0)
}

/// The same costs with the cities numbered from another one.
fn turn(instance: &Instance, city: usize) -> Instance {
    let n = instance.cities();
    let costs = (0..n * n).map(|at| {
        let turned = |i: usize| (i + city) % n;
        instance.cost(turned(at / n), turned(at % n))
    });
    Instance::new(n, costs.collect()).expect("renumbering keeps costs valid")
}

/// The lengths of all tours differ by multiples of this: the greatest common divisor of the costs
/// after subtracting a price for leaving each city and one for entering it.
fn step(instance: &Instance) -> i64 {
    let n = instance.cities();
    if n < 3 {
        return ALL_ALIKE;
    }
    let cost = |i, j| instance.cost(i, j);
    // Leaving city 0 is free, which fixes the prices of entering the others, and so on.
    let out = |i: usize| match i {
        0 => 0,
        1 => cost(1, 2) - cost(0, 2),
        _ => cost(i, 1) - cost(0, 1),
    };
    let into = |j: usize| if j == 0 { cost(2, 0) - out(2) } else { cost(0, j) };
    let arcs = (0..n * n).map(|at| (at / n, at % n)).filter(|(i, j)| i != j);
    let rest = arcs.map(|(i, j)| (cost(i, j) - out(i) - into(j)).unsigned_abs());
    let mut step = 0;
    for rest in rest {
        step = gcd(step, rest);
        if step == 1 {
            break;
        }
    }
    if step == 0 { ALL_ALIKE } else { step as i64 }
}

/// Step if all tours have the same length: larger than any difference of two tours.
const ALL_ALIKE: i64 = 1 << 42;

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atsp::named::named;

    #[test]
    fn lengths_of_tours_differ_by_multiples_of_the_step() {
        assert_eq!(step(&named("disk:20:3").unwrap().unwrap()), 1_000_000);
        assert_eq!(step(&named("coin:20:3").unwrap().unwrap()), 2000);
        assert_eq!(step(&named("ftv33").unwrap().unwrap()), 1);
        // Costs that only depend on leaving and on entering: all tours have the same length.
        let costs = (0..25).map(|at| 7 * (at / 5) - 3 * (at % 5)).collect();
        assert_eq!(step(&Instance::new(5, costs).unwrap()), ALL_ALIKE);
    }
}
