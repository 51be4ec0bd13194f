//! [`Tree`]: what a user implements to have a problem searched.

use crate::search::work::{Entry, Pack};

/// The goal of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The solution of least value, with proof.
    Minimise,
    /// The solution of greatest value, with proof.
    Maximise,
    /// The number of solutions.
    Count,
    /// Any one solution.
    Find,
}

impl Goal {
    /// The score of a value, by which the engine compares: lower is better.
    ///
    /// The complement reverses the order and, unlike negation, cannot overflow.
    #[must_use]
    pub fn score(self, value: i64) -> i64 {
        if self == Goal::Maximise { !value } else { value }
    }

    /// The value behind a score.
    #[must_use]
    pub fn value(self, score: i64) -> i64 {
        // The complement is its own inverse.
        self.score(score)
    }

    /// A solution with this value.
    #[must_use]
    pub fn solution(self, value: i64, solution: Vec<i64>) -> Solution {
        Solution { score: self.score(value), solution }
    }

    /// The value to beat behind a score; `None` if any solution will do.
    #[must_use]
    #[inline]
    pub fn to_beat(self, score: i64) -> Option<i64> {
        (score < i64::MAX).then(|| self.value(score))
    }
}

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
    /// explored on any unit, and some twice, for the fingerprint of the tree.
    ///
    /// `best` is the value that a solution must beat, if there is one: the incumbent's, or the one that the search was
    /// started with. A child whose bound is no better is dropped, now or later.
    fn expand(&self, node: &Self::Node, best: Option<i64>, out: &mut Children<'_, Self>);

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

    /// A fingerprint of everything that the tree depends on. A checkpoint with another fingerprint is refused.
    ///
    /// With `None`, the default, the fingerprint is computed from nodes near the root and on two paths down: up to 255,
    /// fewer where nodes take long. A tree with data that shows only further down must compute its own:
    /// [`crate::wire::fingerprint`] accepts anything that can be packed.
    fn fingerprint(&self) -> Option<u64> {
        None
    }

    /// Notes whether the run is waiting to stop. A tree whose nodes take long may then put off the current ones with
    /// [`Children::postpone`].
    fn set_stop_requested(&self, _requested: bool) {}

    /// A heuristic that looks for good solutions beside the search, if the tree has one.
    ///
    /// [`Goal::solution`] makes what it returns. Its solutions never change which nodes there are, only which are
    /// dropped.
    fn improver(&self, _seed: u64) -> Option<Box<dyn Improver + '_>> {
        None
    }

    /// Recomputes a solution's value from the problem alone. `None` means that the tree has no check.
    ///
    /// If a tree has a check, no solution is reported unchecked.
    ///
    /// # Errors (in the result)
    /// Why the solution is invalid.
    fn check(&self, _solution: &[i64]) -> Option<Result<i64, String>> {
        None
    }
}

/// A heuristic that a unit runs beside its search.
pub trait Improver {
    /// Tries for a short while. Returns the best solution so far if it is new.
    fn improve(&mut self) -> Option<Solution>;

    /// Continues from a better solution that was found elsewhere, if it can.
    fn adopt(&mut self, _solution: &Solution) {}
}

/// A finished solution.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Pack)]
pub struct Solution {
    /// Its score, by which the engine compares: lower is better.
    pub score: i64,
    /// The solution itself, as numbers in a format that the problem defines.
    pub solution: Vec<i64>,
}

/// A solution that is better than a bound of the tree allows: the bound is wrong, and the search may have
/// lost the best solution to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the bound of {tree} is wrong: below a node with the bound {bound} there is a solution of value \
     {value}"
)]
pub struct WrongBound {
    /// The tree's type.
    pub tree: &'static str,
    /// The bound of the node.
    pub bound: i64,
    /// The value of the solution.
    pub value: i64,
}

/// The findings of a stretch of exploring.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub solution: Option<Solution>,
    pub fault: Option<WrongBound>,
}

/// The counts of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pack)]
pub struct Counts {
    /// Nodes that were branched.
    pub branched: u64,
    /// Children that were made and bounded.
    pub bounded: u64,
    /// The problem's own count: of solutions, or of nodes.
    pub total: u128,
    /// The greatest depth seen.
    pub depth: u32,
}

impl Counts {
    /// Adds another unit's counts.
    ///
    /// # Panics
    /// If there are more than 2^128 solutions.
    pub fn add(&mut self, other: &Counts) {
        self.branched += other.branched;
        self.bounded += other.bounded;
        self.total = self.total.checked_add(other.total).expect("fewer than 2^128 solutions");
        self.depth = self.depth.max(other.depth);
    }

    /// The counts minus these; `None` if there are fewer.
    #[must_use]
    pub fn without(&self, other: &Counts) -> Option<Counts> {
        Some(Counts {
            branched: self.branched.checked_sub(other.branched)?,
            bounded: self.bounded.checked_sub(other.bounded)?,
            total: self.total.checked_sub(other.total)?,
            depth: self.depth,
        })
    }
}

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
        let (first, others, made, total) = (None, 0, 0, 0);
        Self { tree, first, others, stack, found, fuel, made, total, depth: 0, bound: 0, cutoff }
    }

    /// Adds a child without a bound of its own.
    #[inline]
    pub fn child(&mut self, node: T::Node) {
        self.made += self.tree.weight(&node);
        self.push(self.bound, node);
    }

    /// Adds a child below which no solution is better than `bound`.
    #[inline]
    pub fn child_within(&mut self, bound: i64, node: T::Node) {
        self.made += self.tree.weight(&node);
        let bound = T::GOAL.score(bound).max(self.bound);
        if bound < self.cutoff {
            self.push(bound, node);
        }
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

    /// Puts the node off instead of adding children. The stretch ends here.
    ///
    /// The node has been counted, so its rest should have a [`Tree::weight`] of 0.
    pub fn postpone(&mut self, bound: i64, node: T::Node) {
        self.first = Some((T::GOAL.score(bound).max(self.bound), node));
        self.depth -= 1;
        self.fuel = 0;
    }

    /// Reports a finished solution. `solution` is called only if the solution beats the incumbent.
    ///
    /// The worst value of the range, `i64::MAX` when minimising and `i64::MIN` when maximising, means "none yet" and
    /// cannot be a solution's value.
    #[inline]
    pub fn solution(&mut self, value: i64, solution: impl FnOnce() -> Vec<i64>) {
        let score = T::GOAL.score(value);
        if score < self.cutoff {
            self.fuel = 0;
            self.cutoff = record_solution::<T>(self.found, score, self.bound, solution);
        }
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
    out.bound = bound;
    tree.expand(node, T::GOAL.to_beat(best), &mut out);
    let (made, total) = (out.made, out.total);
    let first = out.first.take().into_iter();
    let others = stack.into_iter().map(|entry| (entry.bound, entry.node));
    Expansion { children: first.chain(others).collect(), made, total, solution: found.solution }
}

/// Records a better solution, or a fault if it is better than the bound of its node. Returns the score to beat.
///
/// Not a method and never inlined: a rare call must not take registers from the explorer's loop.
#[cold]
#[inline(never)]
fn record_solution<T: Tree + ?Sized>(
    found: &mut Found,
    score: i64,
    bound: i64,
    solution: impl FnOnce() -> Vec<i64>,
) -> i64 {
    if score < bound {
        let full = std::any::type_name::<T>();
        let tree = full.rsplit("::").next().unwrap_or(full);
        let (bound, value) = (T::GOAL.value(bound), T::GOAL.value(score));
        found.fault = Some(WrongBound { tree, bound, value });
    } else {
        found.solution = Some(Solution { score, solution: solution() });
    }
    score
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
