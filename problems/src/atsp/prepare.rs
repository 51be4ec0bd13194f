//! What is done once before a search: which bound, which city to begin with, and good prices.

use super::arcs::{Allowed, Arcs, PARTS, at_least};
use super::ascent::{Effort, raise};
use super::assignment::solve;
use super::bound::Bound;
use super::instance::Instance;
use super::tours::Node;
use super::twins::Twins;

/// What comes of it.
pub(super) struct Prepared {
    pub instance: Instance,
    pub turned: usize,
    pub bound: Bound,
    pub twins: Twins,
    pub root: Node,
    pub least: i64,
    pub step: i64,
}

/// An assignment that comes as near as this to a tour is left as it is: it is fast. One of few cycles,
/// at most one for so many cities, may be further away: the tour is likely to be what is bad.
const NEAR: f64 = 0.015;
const NEAR_WITH_FEW: f64 = 0.05;
const FEW: usize = 20;

/// Arcs looked at while prices are raised: first with all arcs, then with those that are left.
const FIRST: Effort = Effort { steps: 2000, patience: 30, first: 1.0, arcs: 40_000_000 };
const SECOND: Effort = Effort { steps: 8000, patience: 100, first: 1.0, arcs: 100_000_000 };
/// Arcs looked at for a city to begin with, about ten times.
const ROOTS: usize = 2_000_000;

/// Prepares the search for tours that cost `target` at most; some tour does. Where `go_on` does not
/// hold any more prices are not as good, and all else is the same.
pub(super) fn prepare(
    instance: &Instance,
    bound: Bound,
    target: i64,
    go_on: &dyn Fn() -> bool,
) -> Prepared {
    let n = instance.cities();
    let (paid, next) = (vec![0; n], vec![0; n]);
    let mut root = Node { allowed: Allowed::all(n), paid, next, again: false };
    let arcs = Arcs::new(instance, &root.allowed);
    let mut raised = i64::MIN;
    if let Some(assignment) = solve(&arcs, &arcs.cost, &root.paid, &root.next) {
        (root.paid, root.next, raised) = (assignment.out, assignment.next, assignment.value);
    }
    let gap = (PARTS * target - raised) as f64 / (PARTS * target).abs().max(1) as f64;
    let bound = match bound {
        Bound::Auto if gap <= NEAR => Bound::Assignment,
        Bound::Auto if gap <= NEAR_WITH_FEW && cycles(&root.next) <= n / FEW => Bound::Assignment,
        Bound::Auto => Bound::Arborescence,
        named => named,
    };
    let turned = if bound == Bound::Arborescence { best_root(instance, &root, target) } else { 0 };
    let instance = turn(instance, turned);
    root.paid.rotate_left(turned);
    root.next.rotate_left(turned);
    root.next.iter_mut().for_each(|j| *j = ((usize::from(*j) + n - turned) % n) as u16);
    let twins = Twins::new(&instance);
    twins.order(&mut root.allowed);
    if bound == Bound::Arborescence {
        for effort in [FIRST, SECOND].into_iter().take_while(|_| go_on()) {
            let arcs = Arcs::new(&instance, &root.allowed);
            let Some(better) = raise(&arcs, &root.paid, PARTS * target, effort, go_on) else {
                break;
            };
            root.allowed.remove_dear(&arcs, &better.reduced, PARTS * target - better.bound);
            root.allowed.propagate(&twins);
            (root.paid, raised) = (better.paid, raised.max(better.bound));
        }
    }
    let step = step(&instance);
    let least = at_least(raised, target, step);
    Prepared { instance, turned, bound, twins, root, least, step }
}

/// Cycles of an assignment.
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

/// The city that begins best, of as many as there is time to try: from there an arborescence must go in where that is dearest.
fn best_root(instance: &Instance, root: &Node, target: i64) -> usize {
    let n = instance.cities();
    let once = Effort { steps: 1, ..FIRST };
    let tried = (ROOTS / (n * n)).clamp(1, n);
    let bound = |&city: &usize| {
        let arcs = Arcs::new(&turn(instance, city), &root.allowed);
        let mut paid = root.paid.clone();
        paid.rotate_left(city);
        let raised = raise(&arcs, &paid, PARTS * target, once, &|| true);
        (raised.map(|raised| raised.bound), std::cmp::Reverse(city))
    };
    (0..n).step_by(n.div_ceil(tried)).max_by_key(bound).unwrap_or(0)
}

/// The same costs with the cities numbered from another one.
fn turn(instance: &Instance, city: usize) -> Instance {
    let n = instance.cities();
    let costs = (0..n * n).map(|at| {
        let turned = |i: usize| (i + city) % n;
        instance.cost(turned(at / n), turned(at % n))
    });
    Instance::new(n, costs.collect()).expect("costs that were good elsewhere")
}

/// What the lengths of all tours differ by is a multiple of this: what remains of all costs once each
/// city's price of leaving it and of coming to it is taken off.
fn step(instance: &Instance) -> i64 {
    let n = instance.cities();
    if n < 3 {
        return ALL_ALIKE;
    }
    let cost = |i, j| instance.cost(i, j);
    // City 0 is left for nothing, which tells what coming to others costs, and so on.
    let out = |i: usize| match i {
        0 => 0,
        1 => cost(1, 2) - cost(0, 2),
        _ => cost(i, 1) - cost(0, 1),
    };
    let into = |j: usize| if j == 0 { cost(2, 0) - out(2) } else { cost(0, j) };
    let arcs = (0..n * n).map(|at| (at / n, at % n)).filter(|(i, j)| i != j);
    let rest = arcs.map(|(i, j)| (cost(i, j) - out(i) - into(j)).unsigned_abs());
    match rest.fold(0, gcd) {
        0 => ALL_ALIKE,
        step => step as i64,
    }
}

/// Stands for tours that are all of one length: more than any two tours can differ by.
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
        // Costs of leaving and of coming to a city alone: all tours are alike.
        let costs = (0..25).map(|at| 7 * (at / 5) - 3 * (at % 5)).collect();
        assert_eq!(step(&Instance::new(5, costs).unwrap()), ALL_ALIKE);
    }
}
