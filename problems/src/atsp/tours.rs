//! [`Tours`]: the search for a least tour with bounds that see the whole tour.

use super::arcs::{Allowed, Arcs, PARTS, at_least, tour_of};
use super::ascent::{Effort, MOST_PAID, Raised, raise};
use super::assignment::{Assignment, solve};
use super::bound::Bound;
use super::branch::{again, by_arc, by_subtour};
use super::instance::{Instance, MOST_CITIES};
use super::prepare::{Prepared, prepare};
use super::twins::Twins;
use pleach_core::tree::{Children, Goal, Tree};
use pleach_core::wire::fingerprint;
use pleach_core::work::{Entry, Malformed, Pack, Reader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A part of all tours: the arcs that they may use, and prices and successors to start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub(super) allowed: Allowed,
    pub(super) paid: Vec<i64>,
    pub(super) next: Vec<u16>,
    /// Whether it was counted before, and then left as it was.
    pub(super) again: bool,
}

impl Pack for Node {
    const LEAST: usize = 4;

    fn pack(&self, out: &mut Vec<u8>) {
        self.next.pack(out);
        self.paid.pack(out);
        self.allowed.bits().to_vec().pack(out);
        u8::from(self.again).pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let next = Vec::<u16>::unpack(from)?;
        let paid = Vec::<i64>::unpack(from)?;
        let bits = Vec::<u64>::unpack(from)?;
        let again = match u8::unpack(from)? {
            0 => false,
            1 => true,
            _ => return Err(Malformed::Range),
        };
        let within = |&paid: &i64| paid.unsigned_abs() <= MOST_PAID as u64;
        let few = paid.len() == next.len() && paid.iter().all(within);
        let cities = (2..=MOST_CITIES).contains(&next.len()) && few;
        let allowed = if cities { Allowed::of(next.len(), bits) } else { None };
        let allowed = allowed.ok_or(Malformed::Range)?;
        Ok(Self { allowed, paid, next, again })
    }
}

/// How long prices are raised at each node, and for a look ahead.
const AT_NODE: Effort = Effort { steps: 60, patience: 6, first: 0.5, arcs: 30_000_000 };
pub(super) const AHEAD: Effort = Effort { steps: 8, patience: 4, first: 0.3, arcs: 2_000_000 };

/// The tours of an instance of two cities or more.
#[derive(Clone, Debug)]
pub struct Tours {
    /// Its costs, with the cities numbered from another one.
    pub(super) instance: Instance,
    /// The number that city 0 has for the user.
    turned: usize,
    pub(super) bound: Bound,
    pub(super) twins: Twins,
    root: Node,
    /// What no tour can beat.
    least: i64,
    /// What some tour costs: prices are raised towards it while nothing better is known.
    target: i64,
    /// What the lengths of tours differ by.
    step: i64,
    /// Whether the run waits to stop.
    hurried: Arc<AtomicBool>,
}

/// What a node turns out to be.
pub(super) struct Seen {
    pub arcs: Arcs,
    /// What no tour of the node can beat, in parts of a unit.
    pub bound: i64,
    pub paid: Vec<i64>,
    pub next: Vec<u16>,
    /// What each arc costs beyond the bound.
    pub reduced: Vec<i64>,
    /// How often arborescences used each arc of late.
    pub used: Vec<f32>,
}

impl Tours {
    /// The tours of an instance with a tour at hand; bound `auto` becomes one of the others. What
    /// takes long is prepared as well as can be while `go_on` holds.
    #[must_use]
    pub fn new(instance: &Instance, bound: Bound, tour: &[u16], go_on: &dyn Fn() -> bool) -> Self {
        let target = instance.length(tour);
        let prepared = prepare(instance, bound, target, go_on);
        let Prepared { instance, turned, bound, twins, root, least, step } = prepared;
        let hurried = Arc::default();
        Self { instance, turned, bound, twins, root, least, target, step, hurried }
    }

    /// Whether the run waits to stop.
    pub(super) fn hurried(&self) -> bool {
        self.hurried.load(Ordering::Relaxed)
    }

    /// The bound that is computed.
    #[must_use]
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// What no tour can beat, as far as is known before the search.
    #[must_use]
    pub fn least(&self) -> i64 {
        self.least
    }

    /// A tour in the user's numbers.
    pub(super) fn plan(&self, order: &[u16]) -> Vec<i64> {
        let n = order.len();
        let old = |&city: &u16| ((usize::from(city) + self.turned) % n) as u16;
        super::instance::plan(&order.iter().map(old).collect::<Vec<_>>())
    }

    /// A bound in units, and such as a tour can have.
    fn at_least(&self, parts: i64) -> i64 {
        at_least(parts, self.target, self.step)
    }

    /// The greatest length below `best` that a tour can have.
    fn below(&self, best: i64) -> i64 {
        let most = best - 1;
        most - (most.saturating_sub(self.target)).rem_euclid(self.step)
    }

    /// What prices are raised towards, in parts of a unit: no more is needed to be done with a node.
    pub(super) fn towards(&self, best: i64) -> i64 {
        PARTS * self.below(best.min(self.target)) + 1
    }

    /// Computes a node's bound; `None` if it has no tour.
    fn see(&self, node: &Node, best: i64) -> Option<Seen> {
        let arcs = Arcs::new(&self.instance, &node.allowed);
        if self.bound != Bound::Arborescence {
            let found = solve(&arcs, &arcs.cost, &node.paid, &node.next)?;
            let Assignment { value: bound, next, reduced, out: paid } = found;
            return Some(Seen { arcs, bound, paid, next, reduced, used: Vec::new() });
        }
        let raised = raise(&arcs, &node.paid, self.towards(best), AT_NODE, &|| !self.hurried())?;
        let Raised { bound, paid, reduced, used, tour } = raised;
        // In a hurry the node is left as it is, whatever its assignment.
        let next = tour.or_else(|| self.hurried().then(|| node.next.clone()));
        if let Some(next) = next {
            return Some(Seen { arcs, bound, paid, next, reduced, used });
        }
        // What an assignment needs of what is left comes on top.
        let rest = solve(&arcs, &reduced, &vec![0; arcs.cities], &node.next)?;
        let bound = bound + rest.value;
        Some(Seen { arcs, bound, paid, next: rest.next, reduced: rest.reduced, used })
    }
}

impl Tree for Tours {
    type Node = Node;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Node {
        self.root.clone()
    }

    fn expand(&self, node: &Node, best: i64, out: &mut Children<'_, Self>) {
        // Nothing is below what no tour can beat.
        if best <= self.least {
            return;
        }
        let mut node = node.clone();
        if !node.allowed.propagate(&self.twins) {
            return;
        }
        if self.hurried() {
            return again(node, self.least, out);
        }
        let Some(seen) = self.see(&node, best) else { return };
        if self.hurried() {
            return again(node, self.at_least(seen.bound), out);
        }
        let mut best = best;
        if let Some(order) = tour_of(&seen.next) {
            let length = self.instance.length(&order);
            best = best.min(length);
            out.solution(length, || self.plan(&order));
        }
        let bound = self.at_least(seen.bound);
        if bound >= best {
            return;
        }
        let room = PARTS.saturating_mul(self.below(best)).saturating_sub(seen.bound);
        node.allowed.remove_dear(&seen.arcs, &seen.reduced, room);
        if !node.allowed.propagate(&self.twins) {
            return;
        }
        let node = Node { paid: seen.paid.clone(), next: seen.next.clone(), again: false, ..node };
        match self.bound {
            Bound::Arborescence => by_arc(self, node, &seen, (bound, best), out),
            _ => by_subtour(&node, bound, out),
        }
    }

    fn weight(&self, node: &Node) -> u64 {
        u64::from(!node.again)
    }

    fn hurry(&self, hurry: bool) {
        self.hurried.store(hurry, Ordering::Relaxed);
    }

    fn valid(&self, entry: &Entry<Node>) -> bool {
        let n = self.instance.cities();
        let Node { next, .. } = &entry.node;
        next.len() == n && next.iter().all(|&j| usize::from(j) < n)
    }

    fn fingerprint(&self) -> u64 {
        let costs = self.instance.costs().to_vec();
        fingerprint("tours", &(costs, self.bound.to_string().into_bytes()))
    }
}
