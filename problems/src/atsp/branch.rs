//! Branch and bound on [`Tours`]: a node is branched on an arc, or on the arcs of a subtour.

use super::arcs::{Allowed, Arcs, COST_SCALE, tour_of};
use super::ascent::ascend;
use super::bound::Bound;
use super::node::Node;
use super::tours::{AHEAD, Seen, Tours};
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::Entry;
use pleach_core::wire::fingerprint;

/// The maximum number of arcs tried in strong branching, and the total of arcs that their bounds
/// may scan.
const CANDIDATES: usize = 16;
const LOOKS: usize = 400_000;

impl Tree for Tours {
    type Node = Node;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Node {
        self.root.clone()
    }

    fn expand(&self, node: &Node, best: Option<i64>, out: &mut Children<'_, Self>) {
        let best = best.unwrap_or(i64::MAX);
        // Nothing is better than the global lower bound.
        if best <= self.least {
            return;
        }
        let mut node = node.clone();
        if !node.allowed.propagate(&self.twins) {
            return;
        }
        if self.stop_requested() {
            return defer(node, self.least, out);
        }
        let seen = match self.see(&node, best) {
            Ok(Some(seen)) => seen,
            Ok(None) => return,
            Err(bound) => return defer(node, bound, out),
        };
        if self.stop_requested() {
            return defer(node, self.at_least(seen.bound), out);
        }
        let mut best = best;
        if let Some(order) = tour_of(&seen.next) {
            let length = self.instance.length(&order);
            best = best.min(length);
            out.solution(length, || self.solution_of(&order));
        }
        let bound = self.at_least(seen.bound);
        if bound >= best {
            return;
        }
        let room = COST_SCALE.saturating_mul(self.below(best)).saturating_sub(seen.bound);
        node.allowed.fix_by_reduced_cost(&seen.arcs, &seen.reduced, room);
        if !node.allowed.propagate(&self.twins) {
            return;
        }
        let node = Node {
            multipliers: seen.multipliers.clone(),
            next: seen.next.clone(),
            deferred: false,
            ..node
        };
        match self.bound {
            Bound::Arborescence => by_arc(self, node, &seen, (bound, best), out),
            _ => by_subtour(&node, bound, out),
        }
    }

    fn weight(&self, node: &Node) -> u64 {
        u64::from(!node.deferred)
    }

    fn valid(&self, entry: &Entry<Node>) -> bool {
        let n = self.instance.cities();
        let Node { next, .. } = &entry.node;
        next.len() == n && next.iter().all(|&j| usize::from(j) < n)
    }

    fn fingerprint(&self) -> Option<u64> {
        let costs = self.instance.costs().to_vec();
        Some(fingerprint("tours", &(costs, self.bound.to_string().into_bytes())))
    }
}

/// Two children, with and without an arc: the one whose bounds rise most by strong branching.
fn by_arc(
    tours: &Tours,
    node: Node,
    seen: &Seen,
    (bound, best): (i64, i64),
    out: &mut Children<'_, Tours>,
) {
    let arc = choose(tours, &node, seen, best);
    if tours.stop_requested() {
        return defer(node, bound, out);
    }
    let Some((i, j)) = arc else {
        // Every city has one successor left.
        let next: Vec<u16> = (0..node.next.len())
            .filter_map(|i| node.allowed.row(i).next())
            .map(|j| j as u16)
            .collect();
        if let Some(order) = tour_of(&next) {
            out.solution(tours.instance.length(&order), || tours.solution_of(&order));
        }
        return;
    };
    let mut with = node.clone();
    with.allowed.force(i, j);
    out.child_within(bound, with);
    let mut without = node;
    without.allowed.remove(i, j);
    out.child_within(bound, without);
}

/// Leaves a node to be expanded later.
fn defer(node: Node, bound: i64, out: &mut Children<'_, Tours>) {
    out.postpone(bound, Node { deferred: true, ..node });
}

/// The arc to branch on, if any is still undecided.
fn choose(tours: &Tours, node: &Node, seen: &Seen, best: i64) -> Option<(usize, usize)> {
    let Seen { arcs, used, .. } = seen;
    let ends = |at: usize| (usize::from(arcs.tail[at]), usize::from(arcs.head[at]));
    let open = |&at: &usize| {
        let (i, j) = ends(at);
        node.allowed.has(i, j) && node.allowed.degree(i) > 1
    };
    let mut candidates: Vec<usize> = (0..arcs.len()).filter(open).collect();
    let undecided = |at: usize| (used[at] - 0.5).abs();
    candidates.sort_by(|&a, &b| undecided(a).total_cmp(&undecided(b)));
    candidates.truncate((LOOKS / arcs.len().max(1)).clamp(2, CANDIDATES));
    let (base, target) = (seen.bound - COST_SCALE, tours.towards(best));
    let gain = |allowed: &mut Allowed| {
        if !allowed.propagate(&tours.twins) {
            return (target - base).max(1) as f64;
        }
        let arcs = Arcs::new(&tours.instance, allowed);
        let bound = ascend(&arcs, &node.multipliers, target, AHEAD, &|| !tours.stop_requested());
        let bound = bound.map_or(target, |raised| raised.bound);
        (bound.min(target) - base).max(1) as f64
    };
    let mut most: Option<(f64, usize)> = None;
    for at in candidates {
        if tours.stop_requested() {
            break;
        }
        let (i, j) = ends(at);
        let (mut with, mut without) = (node.allowed.clone(), node.allowed.clone());
        with.force(i, j);
        without.remove(i, j);
        let gain = gain(&mut with) * gain(&mut without);
        if most.is_none_or(|(most, _)| gain > most) {
            most = Some((gain, at));
        }
    }
    most.map(|(_, at)| ends(at))
}

/// Subtour branching (Carpaneto and Toth 1980) on the cycle with fewest undecided arcs: each child
/// excludes one arc and forces those before it.
fn by_subtour(node: &Node, bound: i64, out: &mut Children<'_, Tours>) {
    let n = node.next.len();
    let undecided = |i: &usize| node.allowed.degree(*i) > 1;
    let mut on_cycle = vec![false; n];
    let mut least: Option<(usize, Vec<usize>)> = None;
    for start in 0..n {
        let mut cycle = Vec::new();
        let mut at = start;
        while !std::mem::replace(&mut on_cycle[at], true) {
            cycle.push(at);
            at = node.next[at].into();
        }
        let open = cycle.iter().filter(|i| undecided(i)).count();
        if !cycle.is_empty() && least.as_ref().is_none_or(|(least, _)| open < *least) {
            least = Some((open, cycle));
        }
    }
    let Some((_, cycle)) = least else { return };
    let mut rest = node.clone();
    for i in cycle {
        let j = node.next[i].into();
        if !rest.allowed.has(i, j) {
            return out.child_within(bound, rest);
        }
        if rest.allowed.degree(i) > 1 {
            let mut child = rest.clone();
            child.allowed.remove(i, j);
            out.child_within(bound, child);
            rest.allowed.force(i, j);
        }
    }
}
