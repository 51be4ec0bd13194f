//! [`Paths`]: the papers' search: paths from city 0, bounded by their cost so far.

mod device;
mod interval;
pub(crate) mod rows;
pub(crate) mod trail;

use super::instance::{Instance, solution_of};
use crate::simd::Level;
use pleach_core::search::seed::Top;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::{Entry, Interval, Intervals, Nodes, Pack, Pool, Work};
use pleach_core::wire::fingerprint;
pub use rows::MOST_CITIES;
use rows::Rows;

/// The paths of an instance with at most [`MOST_CITIES`] cities.
#[derive(Clone, Debug)]
pub struct Paths {
    pub(crate) rows: Rows,
    instance: Instance,
    nodes: Nodes,
    level: Level,
}

/// A path: the cities after city 0, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pack)]
pub struct Node {
    /// The cities.
    pub path: Vec<u8>,
}

impl Paths {
    /// The paths of an instance, with work stored as `nodes`, on this code path.
    ///
    /// # Errors
    /// If there are too many cities.
    pub fn new(instance: &Instance, nodes: Nodes, level: Level) -> Result<Self, String> {
        let n = instance.cities();
        if n > MOST_CITIES {
            return Err(format!("partial: {n} cities, expected at most {MOST_CITIES}"));
        }
        // A single city has no path that could be cut.
        let nodes = if n == 1 { Nodes::Pool } else { nodes };
        Ok(Self { rows: Rows::new(instance), instance: instance.clone(), nodes, level })
    }

    /// The cities not on a path, as bits.
    fn left(&self, path: &[u8]) -> u64 {
        path.iter().fold(self.rows.all(), |left, &city| left & !(1 << city))
    }

    /// The cost of a path, in the raised costs of [`Rows`].
    fn cost(&self, path: &[u8]) -> i64 {
        let from = [0].iter().chain(path);
        from.zip(path).map(|(&i, &j)| self.rows.cost(i.into(), j.into())).sum()
    }

    /// The solution of a path that includes its last city.
    fn solution_of(path: impl IntoIterator<Item = u8>) -> Vec<i64> {
        solution_of(&[0].into_iter().chain(path).map(u16::from).collect::<Vec<_>>())
    }
}

impl Tree for Paths {
    type Node = Node;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Node {
        Node::default()
    }

    fn expand(&self, node: &Node, _best: Option<i64>, out: &mut Children<'_, Self>) {
        let (left, cost) = (self.left(&node.path), self.cost(&node.path));
        let here = node.path.last().copied().unwrap_or(0);
        if left.count_ones() <= 1 {
            let last = (left != 0).then(|| left.trailing_zeros() as u8);
            out.leaves(last.into_iter().count() as u64);
            let tour = || node.path.iter().copied().chain(last);
            let length = self.cost(&tour().collect::<Vec<_>>())
                + self.rows.cost(last.unwrap_or(here).into(), 0);
            return out.solution(self.rows.outside(length), || Self::solution_of(tour()));
        }
        for (city, more) in self.rows.nearest(here.into()) {
            if left >> city & 1 == 1 {
                let path = node.path.iter().copied().chain([city]).collect();
                out.child_within(self.rows.outside(cost + more), Node { path });
            }
        }
    }

    fn valid(&self, entry: &Entry<Node>) -> bool {
        let Entry { bound, depth, node, .. } = entry;
        let n = self.instance.cities();
        let mut left = self.rows.all();
        let fresh = |&city: &u8| {
            let is_left = usize::from(city) < n && left >> city & 1 == 1;
            left &= !(u64::from(is_left) << (city & 63));
            is_left
        };
        // A path through all cities is a tour, not a node.
        node.path.len() < n.max(2) - 1
            && node.path.iter().all(fresh)
            && *depth as usize == node.path.len()
            && self.rows.valid_bound(*bound)
    }

    fn fingerprint(&self) -> Option<u64> {
        let costs = self.instance.costs().to_vec();
        Some(fingerprint("atsp", &(costs, format!("partial {}", self.nodes).into_bytes())))
    }
}

impl Paths {
    /// The whole tree as one piece of work.
    pub(super) fn whole(&self) -> Work {
        let steps = self.instance.cities() - 1;
        match self.nodes {
            Nodes::Interval => Intervals::one(steps, Interval::whole(steps)).to_work(),
            Nodes::Pool => Pool::whole(self.root()).to_work(),
        }
    }

    /// The top of the tree, where work is open nodes.
    pub(super) fn top(&self) -> Option<&dyn Top> {
        (self.nodes == Nodes::Pool).then_some(self as &dyn Top)
    }

    /// A lower bound on all tours.
    pub(super) fn least(&self) -> i64 {
        self.rows.outside(0)
    }
}
