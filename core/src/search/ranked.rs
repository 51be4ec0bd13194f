//! [`Ranked`] and [`RankedExplorer`]: searching permutation trees, with intervals of leaves as
//! work.
//!
//! Any range of consecutive leaves is a piece of work. With n = 3 and leaves numbered from left to
//! right:
//!
//! ```text
//!                       root
//!            /           |           \
//!  rank      0           1           2          digit 0 of a point
//!          /   \       /   \       /   \
//!  rank   0     1     0     1     0     1       digit 1
//!         |     |     |     |     |     |
//!  leaf   0     1     2     3     4     5       numbered across the tree
//!               '---------------'
//!          begin [0, 1]      end [2]
//! ```
//!
//! **Owned nodes.** A node belongs to the interval that contains its first leaf, and only the
//! explorer of that interval counts it. The interval above owns the nodes 01, 1, 10 and 11 (named
//! by their ranks), but not the root or 0, whose first leaf is 0.
//!
//! **Rebuilding a path.** An explorer that takes an interval walks from the root to `begin` and
//! branches every node on the way again, at most n of them. Those that it does not own are not
//! counted.
//!
//! **During the search** the path and its open children describe the remaining work. Here n = 4 and the
//! interval ends at [3, 1]:
//!
//! ```text
//!  depth 0    0 done    1 on the path   2 open    3 edge    its leaves before [3, 1] come last
//!                       |
//!  depth 1    0 done    1 on the path   2 open
//!                       |
//!  depth 2    0 done    1 open                              so [1, 1, 1] to [3, 1] is left
//! ```
//!
//! **Splitting** turns this into the interval from the first open node to the end, and cuts off a
//! share of its *leaves* at the end. A share of one half takes 6 of the 11 leaves above:
//!
//! ```text
//!  [1, 1, 1] ----- 5 leaves ----- [2, 1] ------- 6 leaves ------- [3, 1]
//!             kept by the victim            given to the thief
//! ```
//!
//! The first leaf of node 2 is `[2]`, so the victim counts that node; the thief branches the root and
//! node 2 again without counting, then counts node 21. A leaf below a pruned node counts like any
//! other, so the share only estimates the work. Both thief and victim must rebuild a path; the cut
//! is rounded to a shallow node to keep the thief's short.

use crate::search::explorer::{Explorer, Progress};
use crate::search::work::interval::{Interval, Point, digit, part, plus, trim};
use crate::search::work::{Intervals, Malformed, Work};
use std::ops::Range;

/// A depth-first search of a permutation tree, with the path from the root to the current node.
///
/// A node at depth d has n − d children; methods name a node on the path by its depth. Children are ranked from 0, in
/// an order that depends on the node alone. Pruned children may have any rank, unless the order depends on bounds that
/// may be incomplete: then they come last, in any order. Ranks are needed only where work begins, ends or is split, so
/// the search itself need not maintain them.
pub trait Ranked: Send {
    /// The number of items permuted.
    fn places(&self) -> usize;

    /// The interval of the whole tree: not all leaves if symmetry is exploited.
    fn whole(&self) -> Interval {
        Interval::whole(self.places())
    }

    /// Whether a decoded bound is a legal value.
    fn valid_bound(&self, bound: i64) -> bool;

    /// Branches the root only: children that are not pruned become open.
    fn branch_root(&mut self, best: i64, progress: &mut Progress);

    /// Moves from the node at `depth` to one of its children, open or not, and branches it. No node
    /// deeper on the path may have open children.
    fn enter_child(&mut self, depth: usize, rank: usize, best: i64, progress: &mut Progress);

    /// Closes all open children of a node except those with these ranks.
    fn keep_children(&mut self, depth: usize, ranks: Range<usize>);

    /// Whether the deepest node with open children has just been branched and none of them entered
    /// yet.
    fn fresh(&self) -> bool;

    /// Forgets the path.
    fn clear(&mut self);

    /// The number of branched nodes on the path. Nodes without open children may stay on it.
    fn depth(&self) -> usize;

    /// Whether any node on the path has an open child.
    fn any_open(&self) -> bool;

    /// The number of open children of a node on the path.
    fn open_children(&self, depth: usize) -> usize;

    /// The least and the greatest rank of a node's open children.
    fn open_ranks(&self, depth: usize) -> Option<(usize, usize)>;

    /// The least bound of a node's open children.
    fn least_open(&self, depth: usize) -> Option<i64>;

    /// The bound of the child with this rank, if that child is open.
    fn child_bound(&self, depth: usize, rank: usize) -> Option<i64>;

    /// The rank of the child through which the path continues.
    fn rank(&self, depth: usize) -> usize;

    /// Estimated fraction of the whole tree below each open child of a node.
    fn tree_part(&self, depth: usize) -> f64;

    /// Explores until no node is open, a solution is found, or the fuel is used up and the search
    /// is not [fresh](Ranked::fresh). A node leaves the path only when one above it has an open
    /// child.
    fn explore(&mut self, fuel: u64, best: i64, progress: &mut Progress);
}

/// The child whose leaves lie partly inside the interval: the path to `end` leads through it.
struct Edge {
    /// The depth of its parent.
    depth: usize,
    bound: i64,
    leaves: f64,
    /// The leaves inside as a fraction of all leaves below the child.
    part: f64,
}

/// An explorer whose work is intervals.
///
/// Children beyond the end of the interval are closed. The child that the end passes through is
/// explored last, as the edge.
pub struct RankedExplorer<R> {
    walk: R,
    waiting: Intervals,
    /// The end of the interval being explored.
    end: Point,
    edge: Option<Edge>,
    /// For each depth, the number of leaves below a child of a node at that depth.
    leaves: Vec<f64>,
    /// Nodes on the path above this depth have no open children.
    shallow: usize,
}

impl<R: Ranked> RankedExplorer<R> {
    /// An explorer without work.
    #[must_use]
    pub fn new(walk: R) -> Self {
        let n = walk.places();
        let mut leaves = vec![1.0; n];
        for depth in (1..n).rev() {
            leaves[depth - 1] = (leaves[depth] * (n - depth) as f64).min(f64::MAX);
        }
        let waiting = Intervals::none(n);
        Self { walk, waiting, end: Vec::new(), edge: None, leaves, shallow: 0 }
    }

    /// Rebuilds the path to an interval's `begin` and opens the nodes inside.
    fn take_up(&mut self, interval: Interval, best: i64, progress: &mut Progress) {
        let Interval { begin, end, bound } = interval;
        if bound >= best {
            return;
        }
        let same = |&depth: &usize| digit(&begin, depth) == digit(&end, depth);
        let common = (0..self.walk.places()).take_while(same).count();
        (self.end, self.edge, self.shallow) = (end, None, 0);
        let mut aside = Progress::default();
        self.walk.branch_root(best, if begin.is_empty() { progress } else { &mut aside });
        for depth in 0.. {
            if self.walk.depth() != depth + 1 {
                return;
            }
            let here = begin.get(depth).map(|&rank| usize::from(rank));
            let next = here.filter(|&rank| self.walk.child_bound(depth, rank).is_some());
            let mut kept = here.map_or(0, |rank| rank + 1)..usize::MAX;
            if depth <= common {
                kept.end = digit(&self.end, depth).into();
                // Until the two paths part, the path to `begin` is also the path to `end`.
                if depth == common || here.is_none() {
                    self.find_edge(depth);
                }
            }
            self.walk.keep_children(depth, kept);
            // If the path leads into a pruned child, nothing below it is open.
            let Some(rank) = next else { return };
            let owned = depth + 1 >= begin.len();
            self.walk.enter_child(depth, rank, best, if owned { progress } else { &mut aside });
        }
    }

    /// Records the child, of a node on the path to the end, that the end passes through.
    fn find_edge(&mut self, depth: usize) {
        let Some(rest) = self.end.get(depth + 1..).filter(|rest| !rest.is_empty()) else { return };
        let Some(bound) = self.walk.child_bound(depth, self.end[depth].into()) else { return };
        let weights = self.leaves[depth + 1..].iter();
        let leaves = rest.iter().zip(weights).map(|(&digit, weight)| f64::from(digit) * weight);
        let leaves = leaves.sum::<f64>().min(f64::MAX);
        let part = part(self.walk.places() - depth - 1, rest);
        self.edge = Some(Edge { depth, bound, leaves, part });
    }

    /// Explores the edge, once nothing else is open.
    fn take_edge(&mut self, edge: &Edge, best: i64, progress: &mut Progress) {
        if edge.bound >= best {
            return;
        }
        let below = edge.depth + 1;
        self.walk.enter_child(edge.depth, self.end[edge.depth].into(), best, progress);
        self.shallow = below;
        if self.walk.depth() == below + 1 {
            self.find_edge(below);
            self.walk.keep_children(below, 0..self.end[below].into());
        }
    }

    /// Whether a point can separate what has been counted from what has not. It cannot separate a
    /// node from its child of rank 0, which has the same first leaf: the search must then continue
    /// to the end of the path.
    fn at_a_point(&self) -> bool {
        if self.walk.any_open() {
            !self.walk.fresh()
        } else {
            self.edge.as_ref().is_none_or(|edge| self.end[edge.depth] > 0)
        }
    }

    /// The point made of the ranks on the path down to `depth`, and `last`.
    fn path(&self, depth: usize, last: usize) -> Point {
        let ranks = (0..depth).map(|above| self.walk.rank(above));
        ranks.chain([last]).map(|rank| rank as u16).collect()
    }

    /// The rest of the interval being explored. Pruned children at its end are dropped: otherwise they would make up
    /// most of what a split gives away.
    fn current_interval(&self) -> Option<Interval> {
        let open = |&depth: &usize| self.walk.open_children(depth) > 0;
        let path = 0..self.walk.depth();
        let deepest = path.clone().rev().find(open);
        let begin = match (deepest, &self.edge) {
            (Some(depth), _) => self.path(depth, self.walk.open_ranks(depth)?.0),
            (None, Some(edge)) => self.path(edge.depth, self.end[edge.depth].into()),
            (None, None) => return None,
        };
        let end = if self.edge.is_some() {
            self.end.clone()
        } else {
            let shallowest = path.clone().find(open)?;
            let last = self.path(shallowest, self.walk.open_ranks(shallowest)?.1);
            let one: Point = std::iter::repeat_n(0, shallowest).chain([1]).collect();
            plus(self.walk.places(), &last, &one).min(self.end.clone())
        };
        let mut interval = Interval { begin, end, bound: self.least_here().unwrap_or(i64::MIN) };
        trim(&mut interval.begin);
        Some(interval)
    }

    /// The least bound in the interval being explored.
    fn least_here(&self) -> Option<i64> {
        let open = (0..self.walk.depth()).filter_map(|depth| self.walk.least_open(depth));
        open.chain(self.edge.iter().map(|edge| edge.bound)).min()
    }

    /// All work, as intervals.
    fn all_work(&self) -> Intervals {
        let mut all = self.waiting.clone();
        if let Some(current) = self.current_interval() {
            let current = Intervals::one(self.walk.places(), current);
            // `add_work` rejects work that overlaps with any of this.
            all.append(current).expect("explored and waiting work never overlap");
        }
        all
    }

    /// Turns the interval being explored into a waiting one.
    fn requeue_current(&mut self) {
        self.waiting = self.all_work();
        self.walk.clear();
        self.edge = None;
    }
}

impl<R: Ranked> Explorer for RankedExplorer<R> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        let more = Intervals::from_bytes(self.walk.places(), work)?;
        let whole = self.walk.whole();
        let valid = |interval: &Interval| {
            interval.end <= whole.end && self.walk.valid_bound(interval.bound)
        };
        if !more.parts().iter().all(valid) {
            return Err(Malformed::Range);
        }
        self.requeue_current();
        self.waiting.append(more)
    }

    /// Leaves below open nodes, counting only the two shallowest depths with open nodes.
    fn size(&self) -> f64 {
        let edge = self.edge.as_ref().map_or(0.0, |edge| edge.leaves);
        let open = |depth| self.walk.open_children(depth) as f64 * self.leaves[depth];
        let mut open = (self.shallow..self.walk.depth()).map(open).filter(|&leaves| leaves > 0.0);
        let open = open.next().map_or(0.0, |first| first + open.next().unwrap_or(0.0));
        (self.waiting.size() + edge + open).min(f64::MAX)
    }

    fn open_nodes(&self) -> f64 {
        let open = (self.shallow..self.walk.depth()).map(|depth| self.walk.open_children(depth));
        (open.sum::<usize>() + self.waiting.parts().len()) as f64
    }

    fn least_bound(&self) -> Option<i64> {
        self.waiting.least_bound().into_iter().chain(self.least_here()).min()
    }

    /// Estimated as for pools: a node's fraction is divided equally among its open children.
    /// Counting leaves would show nearly the whole tree as done once its first nodes are pruned.
    /// Waiting intervals are still measured in leaves, but only until the search takes them up.
    fn open_share(&self) -> Option<f64> {
        let open = |depth| self.walk.open_children(depth) as f64 * self.walk.tree_part(depth);
        let edge = |edge: &Edge| self.walk.tree_part(edge.depth) * edge.part;
        let waiting = self.waiting.part() / part(self.walk.places(), &self.walk.whole().end);
        let path = (0..self.walk.depth()).map(open).sum::<f64>();
        Some(waiting + path + self.edge.as_ref().map_or(0.0, edge))
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let mut progress = Progress::default();
        while (progress.used < fuel || !self.at_a_point()) && progress.found.is_none() {
            if self.walk.any_open() {
                self.walk.explore(fuel, best, &mut progress);
            } else if let Some(edge) = self.edge.take() {
                self.take_edge(&edge, best, &mut progress);
            } else if let Some(interval) = self.waiting.take_first() {
                self.take_up(interval, best, &mut progress);
            } else {
                break;
            }
        }
        while self.shallow < self.walk.depth() && self.walk.open_children(self.shallow) == 0 {
            self.shallow += 1;
        }
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.requeue_current();
        self.waiting.split(share).map(|given| given.to_work())
    }

    fn drain(&mut self) -> Work {
        self.requeue_current();
        let given = self.waiting.to_work();
        self.waiting = Intervals::none(self.walk.places());
        given
    }

    fn copy(&mut self) -> Work {
        self.all_work().to_work()
    }

    fn trims(&self) -> bool {
        true
    }

    fn trim(&mut self, away: &[u8]) -> Result<(), Malformed> {
        let away = Intervals::from_bytes(self.walk.places(), away)?;
        self.requeue_current();
        self.waiting = self.waiting.without(&away);
        Ok(())
    }
}
