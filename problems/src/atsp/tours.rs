//! [`Tours`]: the tours of an instance, and the bound of a node on the whole tour.

use super::arcs::{Arcs, COST_SCALE, at_least};
use super::ascent::{AscentResult, Effort, ascend};
use super::assignment::{Assignment, Interrupted, solve};
use super::bound::Bound;
use super::instance::Instance;
use super::node::Node;
use super::prepare::Prepared;
use super::sparse::Priced;
use super::twins::Twins;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    pub(super) root: Node,
    /// A lower bound on all tours.
    pub(super) least: i64,
    /// The length of some tour: bounds are raised towards it until a better one is known.
    pub(super) target: i64,
    /// Tour lengths differ by multiples of this.
    step: i64,
    /// Whether the run is waiting to stop.
    stop_requested: Arc<AtomicBool>,
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
    /// The tours of a prepared instance, given the length of some tour. Expensive nodes are computed in full until the
    /// run is `stop_requested`.
    pub(super) fn new(
        prepared: Prepared,
        instance: &Instance,
        tour: &[u16],
        stop_requested: &Arc<AtomicBool>,
    ) -> Self {
        let target = instance.length(tour);
        let Prepared { instance, turned, bound, twins, root, least, step, priced: _ } = prepared;
        let stop_requested = Arc::clone(stop_requested);
        Self { instance, turned, bound, twins, root, least, target, step, stop_requested }
    }

    /// Whether the run is waiting to stop.
    pub(super) fn stop_requested(&self) -> bool {
        self.stop_requested.load(Ordering::Relaxed)
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

    /// A tour as a solution, in the user's numbering.
    pub(super) fn solution_of(&self, order: &[u16]) -> Vec<i64> {
        let n = order.len();
        let old = |&city: &u16| ((usize::from(city) + self.turned) % n) as u16;
        super::instance::solution_of(&order.iter().map(old).collect::<Vec<_>>())
    }

    /// The order of a solution, in the tree's numbering.
    pub(super) fn order_of(&self, solution: &[i64]) -> Option<Vec<u16>> {
        let order = self.instance.order(solution).ok()?;
        let n = order.len();
        Some(order.iter().map(|&city| ((usize::from(city) + n - self.turned) % n) as u16).collect())
    }

    /// Starts from a better tour, in the tree's numbering: removes arcs that only longer tours use.
    pub(super) fn improve(&mut self, order: &[u16], priced: &Priced) {
        self.target = self.target.min(self.instance.length(order));
        let room = COST_SCALE * self.target - priced.bound;
        self.root.allowed.fix_by_reduced_cost(&priced.arcs, &priced.reduced, room);
    }

    /// A bound in units, raised to a length that a tour can have.
    pub(super) fn at_least(&self, scaled: i64) -> i64 {
        at_least(scaled, self.target, self.step)
    }

    /// The greatest length below `best` that a tour can have.
    pub(super) fn below(&self, best: i64) -> i64 {
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
    pub(super) fn see(&self, node: &Node, best: i64) -> Result<Option<Seen>, i64> {
        let arcs = Arcs::new(&self.instance, &node.allowed);
        let keep_going = || !self.stop_requested();
        if self.bound != Bound::Arborescence {
            let start = (&node.multipliers[..], &node.next[..]);
            let found = solve(&arcs, &arcs.cost, start, &keep_going);
            let Some(found) = found.map_err(|Interrupted(_)| self.least)? else { return Ok(None) };
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
        if self.stop_requested() {
            return Err(self.at_least(bound));
        }
        // Additive bounding: an assignment on the reduced costs adds to the bound.
        let start = (&vec![0; arcs.cities][..], &node.next[..]);
        let rest = solve(&arcs, &reduced, start, &keep_going);
        let Some(rest) = rest.map_err(|Interrupted(_)| self.at_least(bound))? else {
            return Ok(None);
        };
        let bound = bound + rest.value;
        let Assignment { next, reduced, .. } = rest;
        Ok(Some(Seen { arcs, bound, multipliers, next, reduced, used }))
    }
}
