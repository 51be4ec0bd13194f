//! [`Flowshop`]: an instance, and the tree of its schedules.

use super::bound::{self, Bound, MachinePairs};
use super::branching::{Branching, Ends};
use super::child_order::ChildOrder;
use super::instance::{Instance, solution_of};
use super::johnson::{self, JohnsonOrders};
use super::node::Node;
use super::tables::{Partial, Tables};
use crate::simd::Level;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::{Entry, Nodes};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Jobs times pairs of machines up to which `auto` uses pairs: some 50 MB of orders.
const MOST_STEPS: usize = 3_000_000;

/// Least jobs and machines of a large instance.
const LARGE_JOBS: usize = 100;
const LARGE_MACHINES: usize = 40;

/// A flowshop and how to search it.
#[derive(Clone, Debug)]
pub struct Flowshop {
    pub(super) instance: Instance,
    pub(super) tables: Tables<u32>,
    /// Of each kind, computed when a bound first needs them; copies of the flowshop share them.
    pub(super) pairs: Arc<[OnceLock<JohnsonOrders<u32>>; 3]>,
    /// The lower bound of children.
    pub bound: Bound,
    /// The branching rule.
    pub branching: Branching,
    /// The order in which children are explored.
    pub order: ChildOrder,
    /// The value that branching compares bounds with; fixed for the run.
    pub reference: i64,
    /// How work is stored and sent.
    pub nodes: Nodes,
    /// The code path.
    pub level: Level,
    /// Whether to count all schedules below the incumbent instead of looking for a better one.
    pub all: bool,
    /// The initial schedule of the heuristics that run alongside the search.
    pub start: Option<Vec<u16>>,
    /// Whether the run is waiting to stop.
    pub(super) stop_requested: Arc<AtomicBool>,
}

impl Flowshop {
    /// A search with bound `one`, branching `min-branch` and no reference.
    #[must_use]
    pub fn new(instance: Instance, level: Level) -> Self {
        let (tables, pairs) = (Tables::new(&instance), Arc::default());
        let (bound, branching) = (Bound::One, Branching::MinBranch);
        Self {
            instance,
            tables,
            pairs,
            bound,
            branching,
            order: ChildOrder::Bound,
            reference: i64::MAX,
            nodes: Nodes::Pool,
            level,
            all: false,
            start: None,
            stop_requested: Arc::default(),
        }
    }

    /// The instance.
    #[must_use]
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Whether no search finishes in general, so that heuristics matter most. With 20 machines, some with 100 to 500
    /// jobs finish within seconds.
    pub(super) fn is_large(&self) -> bool {
        self.instance.jobs() >= LARGE_JOBS && self.instance.machines() >= LARGE_MACHINES
    }

    /// The bound in use. `auto` depends on what the search has seen, which would change the ranks
    /// of children that intervals rely on; with intervals it means `one`.
    pub(super) fn bounding(&self) -> Bound {
        match (self.nodes, self.bound) {
            (Nodes::Interval, Bound::Auto) => Bound::One,
            (_, bound) => bound,
        }
    }

    /// The pairs of machines that the bound uses: `auto` has none if there are too many.
    fn wanted_pairs(&self) -> Option<MachinePairs> {
        let machines = self.instance.machines();
        let few = machines * machines / 2 * self.instance.jobs() <= MOST_STEPS;
        self.bounding().pairs().filter(|_| few || self.bounding().is_two())
    }

    /// The pairs of machines that the bound uses, if it uses any.
    pub(super) fn pairs(&self) -> Option<&JohnsonOrders<u32>> {
        self.wanted_pairs().map(|pairs| {
            let all = || JohnsonOrders::new(&self.instance, pairs, &|| true);
            self.pairs[pairs as usize].get_or_init(|| all().expect("nothing stops it"))
        })
    }

    /// Computes in advance what the bound needs, unless `keep_going` returns false on the way. Returns whether
    /// everything was computed.
    pub fn prepare(&self, keep_going: &dyn Fn() -> bool) -> bool {
        let Some(wanted) = self.wanted_pairs() else { return true };
        let known = &self.pairs[wanted as usize];
        if known.get().is_none()
            && let Some(pairs) = JohnsonOrders::new(&self.instance, wanted, keep_going)
        {
            // If another thread was faster, its pairs are the same.
            let _ = known.set(pairs);
        }
        known.get().is_some()
    }

    /// Whether the run is waiting to stop.
    pub(super) fn stop_requested(&self) -> bool {
        self.stop_requested.load(Ordering::Relaxed)
    }

    /// Whether to leave nodes unbranched, because the run is waiting to stop and they take long.
    /// Intervals cannot: bounds computed in part would change the ranks of children.
    pub(super) fn leaves_nodes(&self) -> bool {
        self.bound.is_two() && self.nodes == Nodes::Pool && self.stop_requested()
    }

    /// The lower bound at the root; `auto` takes the best one available, or the best one already computed once a stop
    /// is requested.
    #[must_use]
    pub fn root_bound(&self) -> i64 {
        let partial = self.partial(&Node::default());
        // Before machine k every job has its head, which is its tail seen from the other side.
        let heads = self.tables.least().iter().rev();
        let bounds = partial.rest.iter().zip(heads).map(|(rest, head)| rest + head);
        let one = bounds.max().unwrap_or(0);
        let known = || self.pairs[self.wanted_pairs()? as usize].get();
        let pairs = if self.stop_requested() { known() } else { self.pairs() };
        let two = pairs.map_or(0, |pairs| partial.two_of_all(pairs, &self.tables));
        one.max(two).into()
    }

    /// A node's partial schedule, computed from scratch.
    pub(super) fn partial(&self, node: &Node) -> Partial<u32> {
        Partial::of(&self.tables, node)
    }

    /// The bounds of all children: each job left at the front and at the back.
    pub(super) fn bounds(&self, partial: &Partial<u32>, left: &[u16]) -> Vec<[u32; 2]> {
        let mut partial = partial.clone();
        if self.bound == Bound::OneTight {
            let mut least = self.tables.least().to_vec();
            bound::least_tails(&self.tables, left, &mut least);
            partial.look_ahead(&least);
        }
        let pairs = self.pairs().filter(|_| self.bound.is_two());
        let child = |&job: &u16| match pairs {
            Some(pairs) => johnson::two(pairs, &self.tables, &partial, job, left),
            None => bound::one(&partial, self.tables.job(job)),
        };
        left.iter().map(child).collect()
    }

    /// Whether to branch at the back, given the bounds of the children.
    pub(super) fn at_back(
        &self,
        depth: usize,
        bounds: impl Iterator<Item = [u32; 2]> + Clone,
    ) -> bool {
        self.branching.fixed(depth).unwrap_or_else(|| {
            let least = bounds.clone().flatten().min().unwrap_or(0);
            let mut ends = Ends::default();
            for bounds in bounds {
                for (side, bound) in bounds.into_iter().enumerate() {
                    ends.kept[side] += u32::from(i64::from(bound) < self.reference);
                    ends.least[side] += u32::from(bound == least);
                }
                ends.lead += i64::from(bounds[0]) - i64::from(bounds[1]);
            }
            self.branching.choose(&ends)
        })
    }
}

impl Tree for Flowshop {
    type Node = Node;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Node {
        Node::default()
    }

    fn expand(&self, node: &Node, best: Option<i64>, out: &mut Children<'_, Self>) {
        let left = node.left(self.instance.jobs());
        let partial = self.partial(node);
        if let [last] = left[..] {
            out.leaves(self.branching.bounded(1));
            let makespan = partial.complete(self.tables.job(last));
            if self.all {
                let counts = best.is_none_or(|best| i64::from(makespan) < best);
                return out.count(counts.into());
            }
            return out.solution(makespan.into(), || solution_of(&node.schedule(last)));
        }
        let bounds = self.bounds(&partial, &left);
        let back = self.at_back(node.placed(), bounds.iter().copied());
        let mut children: Vec<(u32, u16)> = bounds
            .iter()
            .zip(&left)
            .map(|(bounds, &job)| (bounds[usize::from(back)], job))
            .collect();
        children.sort_unstable();
        for &(bound, job) in &children {
            let mut child = node.clone();
            child.place(job, back);
            out.child_within(bound.into(), child);
        }
        out.leaves(self.branching.bounded(left.len()) - left.len() as u64);
    }

    fn valid(&self, entry: &Entry<Node>) -> bool {
        let Entry { bound, depth, node, .. } = entry;
        node.valid(self.instance.jobs())
            && *depth as usize == node.placed()
            && (*bound == i64::MIN || (0..=i64::from(u32::MAX)).contains(bound))
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let order = self.instance.order(solution);
        Some(order.map(|order| self.instance.makespan(&order).into()))
    }
}
