//! [`Ranked`]: a search through a tree of permutations whose place can be told and found again; and
//! the explorer that makes one exchange intervals.

use crate::explorer::{Explorer, Progress};
use crate::work::interval::{Interval, Point, digit, part, plus, trim};
use crate::work::{Intervals, Malformed, Work};
use std::ops::Range;

/// Depth-first search through a tree of permutations, on the path from the root to where it is.
///
/// A node at depth d has n − d children; methods name a node of the path by its depth. Children
/// have ranks from 0 in an order that depends on the node alone; those that are pruned may come in
/// any order after those that are not. Ranks are asked for only where work begins, ends or is cut,
/// so that a search need not know them.
pub trait Ranked: Send {
    /// Things that are permuted.
    fn places(&self) -> usize;

    /// The interval that holds the whole tree: less than all leaves where symmetry is used.
    fn whole(&self) -> Interval {
        Interval::whole(self.places())
    }

    /// Whether a bound that came as bytes can be one.
    fn valid_bound(&self, bound: i64) -> bool;

    /// Branches the root and nothing else: its children that are not pruned become open.
    fn branch_root(&mut self, best: i64, progress: &mut Progress);

    /// Goes to a child of the node at `depth` of the path, below which nothing may be open, and
    /// branches it, whether it is open or not.
    fn enter(&mut self, depth: usize, rank: usize, best: i64, progress: &mut Progress);

    /// Closes the open children of a node but for those of these ranks.
    fn keep(&mut self, depth: usize, ranks: Range<usize>);

    /// Whether the deepest node with open children has been branched and none of them entered.
    fn fresh(&self) -> bool;

    /// Forgets the path.
    fn clear(&mut self);

    /// Nodes of the path that have been branched. Those without open children may stay on it.
    fn depth(&self) -> usize;

    /// Whether any child of any node of the path is open.
    fn any_open(&self) -> bool;

    /// Open children of a node of the path.
    fn open(&self, depth: usize) -> usize;

    /// The least and the greatest rank of open children.
    fn open_ranks(&self, depth: usize) -> Option<(usize, usize)>;

    /// The least bound of open children.
    fn least_open(&self, depth: usize) -> Option<i64>;

    /// The bound of the child of this rank, if there is one and it is open.
    fn child(&self, depth: usize, rank: usize) -> Option<i64>;

    /// The rank of the child at which the path goes on.
    fn rank(&self, depth: usize) -> usize;

    /// The part of the whole tree that an open child is thought to be.
    fn share(&self, depth: usize) -> f64;

    /// Explores what is open until nothing is, `used` has come to the fuel and the search is not
    /// [fresh](Ranked::fresh), or a solution is found. A node leaves the path only when another
    /// above it has an open child.
    fn explore(&mut self, fuel: u64, best: i64, progress: &mut Progress);
}

/// The child that the end of an interval leads through: its first leaves are inside.
struct Edge {
    /// The depth of its parent.
    depth: usize,
    bound: i64,
    leaves: f64,
    /// The leaves inside as part of all below it.
    part: f64,
}

/// An explorer whose work is intervals.
///
/// A node belongs to the interval that has its first leaf, which alone counts it: the way down to
/// the begin of an interval is branched again without counting. Of the children of a node on the way
/// to the end, those beyond are closed, and the one the end leads through waits at the edge.
pub struct RankedExplorer<R> {
    walk: R,
    waiting: Intervals,
    /// Where what is being explored ends.
    end: Point,
    edge: Option<Edge>,
    /// For each depth, leaves below a child of a node there.
    leaves: Vec<f64>,
    /// No node of the path above this depth has open children.
    shallow: usize,
}

impl<R: Ranked> RankedExplorer<R> {
    /// An explorer with nothing to do yet.
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

    /// Finds the begin of an interval and opens what lies between there and its end.
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
            let next = here.filter(|&rank| self.walk.child(depth, rank).is_some());
            let mut kept = here.map_or(0, |rank| rank + 1)..usize::MAX;
            if depth <= common {
                kept.end = digit(&self.end, depth).into();
                // Before the ends part, the way to the begin is the way to the end.
                if depth == common || here.is_none() {
                    self.find_edge(depth);
                }
            }
            self.walk.keep(depth, kept);
            // Where the way leads into what is pruned, all below is.
            let Some(rank) = next else { return };
            let owned = depth + 1 >= begin.len();
            self.walk.enter(depth, rank, best, if owned { progress } else { &mut aside });
        }
    }

    /// Notes the child through which the end leads, of a node on the way there.
    fn find_edge(&mut self, depth: usize) {
        let Some(rest) = self.end.get(depth + 1..).filter(|rest| !rest.is_empty()) else { return };
        let Some(bound) = self.walk.child(depth, self.end[depth].into()) else { return };
        let weights = self.leaves[depth + 1..].iter();
        let leaves = rest.iter().zip(weights).map(|(&digit, weight)| f64::from(digit) * weight);
        let leaves = leaves.sum::<f64>().min(f64::MAX);
        let part = part(self.walk.places() - depth - 1, rest);
        self.edge = Some(Edge { depth, bound, leaves, part });
    }

    /// Goes on with the child at the edge: nothing else is left.
    fn take_edge(&mut self, edge: &Edge, best: i64, progress: &mut Progress) {
        if edge.bound >= best {
            return;
        }
        let below = edge.depth + 1;
        self.walk.enter(edge.depth, self.end[edge.depth].into(), best, progress);
        self.shallow = below;
        if self.walk.depth() == below + 1 {
            self.find_edge(below);
            self.walk.keep(below, 0..self.end[below].into());
        }
    }

    /// Whether a point tells what has been counted and what has not. It does not between a node and
    /// its child of rank 0, which have the same first leaf: from there the search must go on, by as
    /// many nodes as it takes to come to the end of a path.
    fn at_a_point(&self) -> bool {
        if self.walk.any_open() {
            !self.walk.fresh()
        } else {
            self.edge.as_ref().is_none_or(|edge| self.end[edge.depth] > 0)
        }
    }

    /// The ranks from the root to the node at this depth of the path, and one more.
    fn path(&self, depth: usize, last: usize) -> Point {
        let ranks = (0..depth).map(|above| self.walk.rank(above));
        ranks.chain([last]).map(|rank| rank as u16).collect()
    }

    /// What is left of the interval that is being explored. Pruned children at its end are left
    /// out: they would be the larger part of what is given away.
    fn current(&self) -> Option<Interval> {
        let open = |&depth: &usize| self.walk.open(depth) > 0;
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

    /// The least bound of what is being explored.
    fn least_here(&self) -> Option<i64> {
        let open = (0..self.walk.depth()).filter_map(|depth| self.walk.least_open(depth));
        open.chain(self.edge.iter().map(|edge| edge.bound)).min()
    }

    /// All work as intervals.
    fn all(&self) -> Intervals {
        let mut all = self.waiting.clone();
        if let Some(current) = self.current() {
            let current = Intervals::one(self.walk.places(), current);
            // What comes in is held against all that is here.
            all.append(current).expect("what is explored overlaps with nothing that waits");
        }
        all
    }

    /// Turns what is being explored into an interval that waits.
    fn settle(&mut self) {
        self.waiting = self.all();
        self.walk.clear();
        self.edge = None;
    }
}

impl<R: Ranked> Explorer for RankedExplorer<R> {
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed> {
        let more = Intervals::from_bytes(self.walk.places(), work)?;
        let whole = self.walk.whole();
        let valid = |interval: &Interval| {
            interval.end <= whole.end && self.walk.valid_bound(interval.bound)
        };
        if !more.parts().iter().all(valid) {
            return Err(Malformed::Range);
        }
        self.settle();
        self.waiting.append(more)
    }

    /// Leaves below open nodes; the few that lie deep are not looked for.
    fn size(&self) -> f64 {
        let edge = self.edge.as_ref().map_or(0.0, |edge| edge.leaves);
        let open = |depth| self.walk.open(depth) as f64 * self.leaves[depth];
        let mut open = (self.shallow..self.walk.depth()).map(open).filter(|&leaves| leaves > 0.0);
        let open = open.next().map_or(0.0, |first| first + open.next().unwrap_or(0.0));
        (self.waiting.size() + edge + open).min(f64::MAX)
    }

    fn open_nodes(&self) -> f64 {
        let open = (self.shallow..self.walk.depth()).map(|depth| self.walk.open(depth));
        (open.sum::<usize>() + self.waiting.parts().len()) as f64
    }

    fn least_bound(&self) -> Option<i64> {
        self.waiting.least_bound().into_iter().chain(self.least_here()).min()
    }

    /// As pools have it, a node's part shared equally among its open children: leaves would
    /// take nearly all of the tree for done once its first nodes are pruned. What waits is known by
    /// its leaves alone until it is taken up, which is soon.
    fn open_share(&self) -> Option<f64> {
        let open = |depth| self.walk.open(depth) as f64 * self.walk.share(depth);
        let edge = |edge: &Edge| self.walk.share(edge.depth) * edge.part;
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
        while self.shallow < self.walk.depth() && self.walk.open(self.shallow) == 0 {
            self.shallow += 1;
        }
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.settle();
        self.waiting.split(share).map(|given| given.to_work())
    }

    fn drain(&mut self) -> Work {
        self.settle();
        let given = self.waiting.to_work();
        self.waiting = Intervals::none(self.walk.places());
        given
    }

    fn copy(&mut self) -> Work {
        self.all().to_work()
    }

    fn trims(&self) -> bool {
        true
    }

    fn trim(&mut self, away: &[u8]) -> Result<(), Malformed> {
        let away = Intervals::from_bytes(self.walk.places(), away)?;
        self.settle();
        self.waiting = self.waiting.without(&away);
        Ok(())
    }
}
