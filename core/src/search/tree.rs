//! [`Tree`]: what a user implements to have a problem searched.

use crate::search::explorer::Explorer;
pub use crate::search::found::{Counts, Goal, Solution, WrongBound};
use crate::search::found::{Found, record_solution, refuse_worst};
use crate::search::real::{nearest, real};
use crate::search::work::{Entry, Malformed, Pack, Pool};

/// A search tree: its root, and how a node branches.
///
/// ```
/// use pleach_core::search::tree::{Children, Goal, Tree};
///
/// /// All strings of zeros and ones of length `n` without two ones in a row.
/// struct Strings { n: u32 }
///
/// impl Tree for Strings {
///     type Node = (u32, bool); // length so far, whether it ends in a one
///     const GOAL: Goal = Goal::Count;
///     fn root(&self) -> Self::Node {
///         (0, false)
///     }
///     fn expand(&self, &(length, one): &Self::Node, _best: Option<i64>, out: &mut Children<Self>) {
///         if length == self.n {
///             return out.count(1);
///         }
///         out.child((length + 1, false));
///         if !one {
///             out.child((length + 1, true));
///         }
///     }
/// }
/// ```
pub trait Tree: Sync {
    /// A node, with all that is needed to explore from it.
    type Node: Pack + Clone + Send;

    /// The goal of the search.
    const GOAL: Goal;

    /// The node that stands for the whole tree.
    fn root(&self) -> Self::Node;

    /// Adds the children of `node`, in the order in which to explore them, and reports solutions.
    ///
    /// The result must depend only on the node and on `best`, and must always come in the same order: nodes are
    /// explored on any worker, and some twice, for the fingerprint of the tree.
    ///
    /// `best` is the value that a solution must beat, if there is one: the incumbent's, or the one that the search was
    /// started with. A child whose bound is no better is dropped, now or later.
    fn expand(&self, node: &Self::Node, best: Option<i64>, out: &mut Children<'_, Self>);

    /// The number of decimals of real values, at most 9: all values are then multiples of a unit of 10 to the power of
    /// minus this. Solutions are rounded to the nearest unit, and bounds to the next one that excludes nothing, so a
    /// proven optimum is within one unit of the true one.
    #[inline]
    fn decimals(&self) -> u32 {
        0
    }

    /// A value in units as a real number.
    fn real(&self, units: i64) -> f64 {
        real(units, self.decimals())
    }

    /// How many nodes of the full tree this one stands for: more than 1 where symmetry is exploited, 0 for the rest of
    /// a node that was counted before.
    #[inline]
    fn weight(&self, _node: &Self::Node) -> u64 {
        1
    }

    /// Whether a decoded node can be explored: if not, its bytes count as malformed.
    fn valid(&self, _entry: &Entry<Self::Node>) -> bool {
        true
    }

    /// A fingerprint of everything that the tree depends on, apart from its goal and its decimals, which are always
    /// included. A checkpoint with another fingerprint is refused.
    ///
    /// With `None`, the default, the fingerprint is computed from nodes near the root and on two paths down: up to 255,
    /// fewer where nodes take long. A tree with data that shows only further down must compute its own:
    /// [`crate::wire::fingerprint`] accepts anything that can be packed.
    fn fingerprint(&self) -> Option<u64> {
        None
    }

    /// Notes whether the run is waiting to stop. A tree whose nodes take long may then postpone the current ones with
    /// [`Children::postpone`].
    fn set_stop_requested(&self, _requested: bool) {}

    /// A heuristic that looks for good solutions alongside the search, if the tree has one. A search that counts does
    /// not use it.
    ///
    /// [`Goal::solution`] makes what it returns. Its solutions never change which nodes there are, only which are
    /// dropped.
    fn improver(&self, _seed: u64) -> Option<Box<dyn Improver + '_>> {
        None
    }

    /// Marks nodes that can be compared: [`Tree::dominates`] is called for those with the same key.
    ///
    /// If the root has a key, a tree that minimises or maximises is searched by layers first: all nodes of a depth at
    /// once, of which those that others dominate are dropped.
    fn key(&self, _node: &Self::Node) -> Option<u128> {
        None
    }

    /// Whether every solution below `other` is matched by one below `one` that is at least as good. Both have the same
    /// key.
    fn dominates(&self, _one: &Self::Node, _other: &Self::Node) -> bool {
        false
    }

    /// How promising a node with this bound is, the lower the better: a layer that is too wide keeps the most promising
    /// nodes. By default, those with the best bounds. Without a bound, `bound` is the best value of 64 bits.
    fn guide(&self, _node: &Self::Node, bound: i64) -> i64 {
        Self::GOAL.score(bound)
    }

    /// An explorer of its own, without work, in place of the default one. It must obey the laws in
    /// [`laws`](crate::search::laws).
    fn own_explorer(&self) -> Option<Box<dyn Explorer + '_>> {
        None
    }

    /// Recomputes a solution's value from the problem alone, in units if values are real. `None` means that the tree has
    /// no check.
    ///
    /// If a tree has a check, no solution is reported unchecked.
    ///
    /// # Errors (in the result)
    /// Why the solution is invalid.
    fn check(&self, _solution: &[i64]) -> Option<Result<i64, String>> {
        None
    }
}

/// A heuristic that a worker runs alongside its search.
pub trait Improver {
    /// Tries for a short while. Returns the best solution so far if it is new.
    fn improve(&mut self) -> Option<Solution>;

    /// Continues from a better solution that was found elsewhere, if it can.
    fn adopt(&mut self, _solution: &Solution) {}
}

const POSTPONED_PARENT: &str = "a node that has children cannot be postponed";

/// Collects what [`Tree::expand`] finds.
pub struct Children<'a, T: Tree + ?Sized> {
    tree: &'a T,
    /// The first child: it is explored next, and so never goes on the stack.
    pub(crate) first: Option<(i64, T::Node)>,
    /// The number of other children, on top of the stack in the order in which they were added.
    pub(crate) others: usize,
    pub(crate) stack: &'a mut Vec<Entry<T::Node>>,
    found: &'a mut Found,
    /// The fuel left for the stretch: 0 once a solution is found.
    pub(crate) fuel: u64,
    /// The number of children that the node made.
    pub(crate) made: u64,
    /// The count of the whole stretch.
    pub(crate) total: u128,
    /// The depth of the node's children.
    pub(crate) depth: u32,
    /// The node's bound: its children's are no better.
    pub(crate) bound: i64,
    pub(crate) cutoff: i64,
    /// Whether the node was postponed.
    postponed: bool,
}

impl<'a, T: Tree + ?Sized> Children<'a, T> {
    /// A collector for the children of one node after the other.
    #[inline]
    pub(crate) fn new(
        tree: &'a T,
        stack: &'a mut Vec<Entry<T::Node>>,
        found: &'a mut Found,
        fuel: u64,
        cutoff: i64,
    ) -> Self {
        Self {
            tree,
            first: None,
            others: 0,
            stack,
            found,
            fuel,
            made: 0,
            total: 0,
            depth: 0,
            bound: 0,
            cutoff,
            postponed: false,
        }
    }

    /// Adds a child without a bound of its own.
    #[inline]
    pub fn child(&mut self, node: T::Node) {
        self.made += self.tree.weight(&node);
        self.push(self.bound, node);
    }

    /// Adds a child below which no solution is better than `bound`. A search that counts, or looks for any solution,
    /// ignores bounds.
    #[inline]
    pub fn child_within(&mut self, bound: i64, node: T::Node) {
        self.made += self.tree.weight(&node);
        let bound = T::GOAL.bound(bound).max(self.bound);
        if bound < self.cutoff {
            self.push(bound, node);
        }
    }

    /// Adds a child below which no solution has a better value than a real number, as [`Children::child_within`].
    #[inline]
    pub fn child_within_real(&mut self, bound: f64, node: T::Node) {
        self.child_within(T::GOAL.outward(bound, self.tree.decimals()), node);
    }

    /// Adds children with nothing below them: they are counted as made, and never explored.
    #[inline]
    pub fn leaves(&mut self, n: u64) {
        self.made += n;
    }

    /// Adds to the count that the search is for.
    #[inline]
    pub fn count(&mut self, n: u64) {
        self.total += u128::from(n);
    }

    /// Postpones the node instead of adding children. The stretch ends here.
    ///
    /// The node has been counted, so its rest should have a [`Tree::weight`] of 0.
    ///
    /// # Panics
    /// If the node has children already: they would be made again. The search panics for the same reason if the node gets
    /// children afterwards.
    pub fn postpone(&mut self, bound: i64, node: T::Node) {
        assert!(self.made == 0 && self.first.is_none(), "{POSTPONED_PARENT}");
        self.first = Some((T::GOAL.bound(bound).max(self.bound), node));
        self.depth -= 1;
        self.fuel = 0;
        self.postponed = true;
    }

    /// Ends a stretch: if its last node was postponed, it must have no children.
    #[inline]
    pub(crate) fn end_stretch(&self) {
        let parent = self.made > 0 || self.others > 0;
        assert!(!(self.postponed && parent), "{POSTPONED_PARENT}");
    }

    /// Adds `n` to a counter of the tree's own: what it counts, apart from nodes and solutions, is up to the tree.
    /// The counters are exact on any number of workers, however often the search is saved, resumed, or loses a process:
    /// [`Counts::tally`] has them at the end.
    ///
    /// # Panics
    /// If `counter` is 4096 or more.
    #[inline]
    pub fn tally(&mut self, counter: usize, n: u64) {
        self.found.add_to_counter(counter, n);
    }

    /// Reports a finished solution. `solution` is called only if the solution beats the incumbent.
    ///
    /// A search that counts ignores solutions, since they must not prune what it counts; one that looks for any solution
    /// ignores values.
    ///
    /// # Panics
    /// If the value is the worst of the range, `i64::MAX` when minimising and `i64::MIN` when maximising: it means "none
    /// yet".
    #[inline]
    pub fn solution(&mut self, value: i64, solution: impl FnOnce() -> Vec<i64>) {
        let Some(score) = T::GOAL.reported(value) else { return };
        if score < self.cutoff {
            self.fuel = 0;
            let values = (T::GOAL, self.tree.decimals());
            self.cutoff = record_solution::<T>(self.found, values, score, self.bound, solution);
        } else if score == i64::MAX {
            refuse_worst(T::GOAL);
        }
    }

    /// Reports a finished solution with a real value, as [`Children::solution`].
    ///
    /// # Panics
    /// If the value is not a number, or needs more than 63 bits.
    #[inline]
    pub fn solution_real(&mut self, value: f64, solution: impl FnOnce() -> Vec<i64>) {
        self.solution(nearest(value, self.tree.decimals()), solution);
    }

    /// Takes over what another explorer has found below the node.
    pub(crate) fn take_over(&mut self, found: Option<Solution>, fault: Option<WrongBound>) {
        if let Some(found) = found.filter(|found| found.score < self.cutoff) {
            (self.fuel, self.cutoff) = (0, found.score);
            self.found.solution = Some(found);
        }
        self.found.fault = self.found.fault.or(fault);
    }

    #[inline]
    fn push(&mut self, bound: i64, node: T::Node) {
        if self.first.is_none() {
            self.first = Some((bound, node));
        } else {
            self.others += 1;
            self.stack.push(Entry { bound, depth: self.depth, share: 0.0, node });
        }
    }
}

/// The result of expanding a node.
#[derive(Debug)]
pub struct Expansion<N> {
    /// Its children that must be explored, with their bounds as scores.
    pub children: Vec<(i64, N)>,
    /// The number of all children made.
    pub made: u64,
    /// What it adds to the count.
    pub total: u128,
    /// The best solution found.
    pub solution: Option<Solution>,
}

/// Expands a node with this bound, where solutions must beat the score `best`.
pub fn expansion<T: Tree>(tree: &T, node: &T::Node, bound: i64, best: i64) -> Expansion<T::Node> {
    let (mut stack, mut found) = (Vec::new(), Found::default());
    let mut out = Children::new(tree, &mut stack, &mut found, u64::MAX, best);
    (out.bound, out.depth) = (bound, 1);
    tree.expand(node, T::GOAL.to_beat(best), &mut out);
    out.end_stretch();
    let (made, total) = (out.made, out.total);
    let first = out.first.take().into_iter();
    let others = stack.into_iter().map(|entry| (entry.bound, entry.node));
    Expansion { children: first.chain(others).collect(), made, total, solution: found.solution }
}

/// Reads a pool of a tree's nodes from bytes that anyone may have sent.
///
/// # Errors
/// If the bytes are not a pool of this tree's nodes.
pub fn read<T: Tree>(tree: &T, work: &[u8]) -> Result<Pool<T::Node>, Malformed> {
    let pool = Pool::from_bytes(work)?;
    let valid = pool.entries().iter().all(|entry| tree.valid(entry));
    if valid { Ok(pool) } else { Err(Malformed::Range) }
}

/// A source of a tree for a command: a tree, or the result of reading one.
pub trait TreeSource {
    /// The tree.
    type Tree: Tree;

    /// The tree.
    ///
    /// # Errors
    /// One line about the input: what is wrong with it, where, and what was expected.
    fn into_tree(self) -> Result<Self::Tree, String>;
}

impl<T: Tree> TreeSource for T {
    type Tree = T;

    fn into_tree(self) -> Result<T, String> {
        Ok(self)
    }
}

impl<T: Tree, E: std::fmt::Display> TreeSource for Result<T, E> {
    type Tree = T;

    fn into_tree(self) -> Result<T, String> {
        self.map_err(|why| why.to_string())
    }
}
