//! [`Tours`]: branch and bound with bounds on the whole tour.

use super::arcs::{Allowed, Arcs, COST_SCALE, at_least, tour_of};
use super::ascent::{AscentResult, Effort, MOST_MULTIPLIER, ascend};
use super::assignment::{Assignment, Interrupted, solve};
use super::bound::Bound;
use super::branch::{by_arc, by_subtour, defer};
use super::instance::{Instance, MOST_CITIES};
use super::prepare::Prepared;
use super::twins::Twins;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::{Entry, Malformed, Pack, Reader};
use pleach_core::wire::fingerprint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A set of tours: the arcs they may use, with multipliers and successors to start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub(super) allowed: Allowed,
    pub(super) multipliers: Vec<i64>,
    pub(super) next: Vec<u16>,
    /// Whether the node was counted before and then left for later.
    pub(super) deferred: bool,
}

impl Pack for Node {
    const LEAST: usize = 4;

    fn pack(&self, out: &mut Vec<u8>) {
        self.next.pack(out);
        self.multipliers.pack(out);
        self.allowed.bits().to_vec().pack(out);
        u8::from(self.deferred).pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let next = Vec::<u16>::unpack(from)?;
        let multipliers = Vec::<i64>::unpack(from)?;
        let bits = Vec::<u64>::unpack(from)?;
        let deferred = match u8::unpack(from)? {
            0 => false,
            1 => true,
            _ => return Err(Malformed::Range),
        };
        let within = |&multiplier: &i64| multiplier.unsigned_abs() <= MOST_MULTIPLIER as u64;
        let few = multipliers.len() == next.len() && multipliers.iter().all(within);
        let cities = (2..=MOST_CITIES).contains(&next.len()) && few;
        let allowed = if cities { Allowed::of(next.len(), bits) } else { None };
        let allowed = allowed.ok_or(Malformed::Range)?;
        Ok(Self { allowed, multipliers, next, deferred })
    }
}

/// Effort of the ascent at each node, and in strong branching.
const AT_NODE: Effort = Effort { steps: 60, patience: 6, first: 0.5, arcs: 30_000_000 };
pub(super) const AHEAD: Effort = Effort { steps: 8, patience: 4, first: 0.3, arcs: 2_000_000 };

/// The tours of an instance with at least two cities.
#[derive(Clone, Debug)]
pub struct Tours {
    /// The costs, with the cities renumbered from the root city.
    pub(super) instance: Instance,
    /// The user's number of city 0.
    turned: usize,
    pub(super) bound: Bound,
    pub(super) twins: Twins,
    root: Node,
    /// A lower bound on all tours.
    least: i64,
    /// The length of some tour: bounds are raised towards it while nothing better is known.
    target: i64,
    /// Tour lengths differ by multiples of this.
    step: i64,
    /// Whether the run is waiting to stop.
    hurried: Arc<AtomicBool>,
}

/// The evaluation of a node.
pub(super) struct Seen {
    pub arcs: Arcs,
    /// The node's lower bound, in parts of a unit.
    pub bound: i64,
    pub multipliers: Vec<i64>,
    pub next: Vec<u16>,
    /// Reduced cost of each arc.
    pub reduced: Vec<i64>,
    /// How often recent arborescences used each arc.
    pub used: Vec<f32>,
}

impl Tours {
    /// The tours of an instance, prepared, given some tour. Expensive nodes take their time while the run is not
    /// `hurried`.
    pub(super) fn new(
        prepared: Prepared,
        instance: &Instance,
        tour: &[u16],
        hurried: &Arc<AtomicBool>,
    ) -> Self {
        let target = instance.length(tour);
        let Prepared { instance, turned, bound, twins, root, least, step } = prepared;
        let hurried = Arc::clone(hurried);
        Self { instance, turned, bound, twins, root, least, target, step, hurried }
    }

    /// Whether the run is waiting to stop.
    pub(super) fn hurried(&self) -> bool {
        self.hurried.load(Ordering::Relaxed)
    }

    /// The bound in use.
    #[must_use]
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// The lower bound known before the search.
    #[must_use]
    pub fn least(&self) -> i64 {
        self.least
    }

    /// The plan of a tour in the user's numbering.
    pub(super) fn plan(&self, order: &[u16]) -> Vec<i64> {
        let n = order.len();
        let old = |&city: &u16| ((usize::from(city) + self.turned) % n) as u16;
        super::instance::plan(&order.iter().map(old).collect::<Vec<_>>())
    }

    /// A bound in units, raised to a length that a tour can have.
    fn at_least(&self, scaled: i64) -> i64 {
        at_least(scaled, self.target, self.step)
    }

    /// The greatest length below `best` that a tour can have.
    fn below(&self, best: i64) -> i64 {
        let most = best - 1;
        most - (most.saturating_sub(self.target)).rem_euclid(self.step)
    }

    /// The target of ascents, in parts of a unit: a bound that reaches it prunes the node.
    pub(super) fn towards(&self, best: i64) -> i64 {
        COST_SCALE * self.below(best.min(self.target)) + 1
    }

    /// Computes a node's bound; `None` if it has no tour.
    ///
    /// # Errors
    /// The bound so far, in units, if the run is waiting to stop.
    fn see(&self, node: &Node, best: i64) -> Result<Option<Seen>, i64> {
        let arcs = Arcs::new(&self.instance, &node.allowed);
        let keep_going = || !self.hurried();
        if self.bound != Bound::Arborescence {
            let start = (&node.multipliers[..], &node.next[..]);
            let found = solve(&arcs, &arcs.cost, start, &keep_going);
            let Some(found) = found.map_err(|Interrupted| self.least)? else { return Ok(None) };
            let Assignment { value: bound, next, reduced, out: multipliers } = found;
            let used = Vec::new();
            return Ok(Some(Seen { arcs, bound, multipliers, next, reduced, used }));
        }
        let raised = ascend(&arcs, &node.multipliers, self.towards(best), AT_NODE, &keep_going);
        let Some(raised) = raised else { return Ok(None) };
        let AscentResult { bound, multipliers, reduced, used, tour } = raised;
        if let Some(next) = tour {
            return Ok(Some(Seen { arcs, bound, multipliers, next, reduced, used }));
        }
        if self.hurried() {
            return Err(self.at_least(bound));
        }
        // Additive bounding: an assignment on the reduced costs adds to the bound.
        let start = (&vec![0; arcs.cities][..], &node.next[..]);
        let rest = solve(&arcs, &reduced, start, &keep_going);
        let Some(rest) = rest.map_err(|Interrupted| self.at_least(bound))? else {
            return Ok(None);
        };
        let bound = bound + rest.value;
        let Assignment { next, reduced, .. } = rest;
        Ok(Some(Seen { arcs, bound, multipliers, next, reduced, used }))
    }
}

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
        if self.hurried() {
            return defer(node, self.least, out);
        }
        let seen = match self.see(&node, best) {
            Ok(Some(seen)) => seen,
            Ok(None) => return,
            Err(bound) => return defer(node, bound, out),
        };
        if self.hurried() {
            return defer(node, self.at_least(seen.bound), out);
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
