//! [`Tree`]: all that a user writes to have a problem searched.

use crate::search::work::{Entry, Pack};

/// What a search is for.
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
    /// A value as the engine compares it: lower is better.
    ///
    /// The complement reverses the order, and unlike negation has no exception.
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

    /// The value to beat behind a score; none if any solution will do.
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

    /// What the search is for.
    const GOAL: Goal;

    /// The node that stands for the whole tree.
    fn root(&self) -> Self::Node;

    /// Pushes the children of `node`, the one to explore first first, and reports solutions.
    ///
    /// The result must depend on the node and on `best` alone, and always come in the same order:
    /// nodes are explored on any unit, and some twice, for the print of the tree.
    ///
    /// `best` is the value that a solution must beat, if there is one: that of the incumbent, or the one
    /// that the search was started with. A child whose bound is no better is dropped, now or later.
    fn expand(&self, node: &Self::Node, best: Option<i64>, out: &mut Children<'_, Self>);

    /// How many nodes of the full tree this one stands for: more than one where symmetry is used, none
    /// where it is the rest of a node that was counted before.
    #[inline]
    fn weight(&self, _node: &Self::Node) -> u64 {
        1
    }

    /// Whether a node that came as bytes can be explored: false makes the bytes malformed.
    fn valid(&self, _entry: &Entry<Self::Node>) -> bool {
        true
    }

    /// A print of everything that the tree depends on. A checkpoint of a tree with another print is
    /// refused.
    ///
    /// With `None`, the default, some nodes near the root and on two paths down are explored and printed: up to
    /// 255, fewer where nodes take long. A tree with data that shows only further down must print the data itself:
    /// [`crate::wire::fingerprint`] prints anything that can be packed.
    fn fingerprint(&self) -> Option<u64> {
        None
    }

    /// Tells whether the run waits to stop. A tree whose nodes take long may then leave the current ones
    /// for another time, by [`Children::leave`].
    fn set_stop_requested(&self, _requested: bool) {}

    /// Computes a solution's value again, from the problem alone. `None` means that the tree has no check.
    ///
    /// With a check, no solution is reported unchecked.
    ///
    /// # Errors (in the result)
    /// Why the solution is invalid.
    fn check(&self, _solution: &[i64]) -> Option<Result<i64, String>> {
        None
    }
}

/// A finished solution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Solution {
    /// Its value as the engine compares it: lower is better.
    pub score: i64,
    /// The solution itself, in numbers of the problem's own choice.
    pub plan: Vec<i64>,
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

/// What a stretch of exploring finds.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub solution: Option<Solution>,
    pub fault: Option<WrongBound>,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Nodes that were branched.
    pub branched: u64,
    /// Children that were made and bounded.
    pub bounded: u64,
    /// What the problem counts: solutions, or nodes.
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

    /// What was counted without these; `None` if less was counted.
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

/// Takes what [`Tree::expand`] finds.
pub struct Children<'a, T: Tree + ?Sized> {
    tree: &'a T,
    /// The first child: it is explored next, and so never sees the stack.
    pub(crate) first: Option<(i64, T::Node)>,
    /// The others, on top of the stack in the order in which they came.
    pub(crate) others: usize,
    pub(crate) stack: &'a mut Vec<Entry<T::Node>>,
    found: &'a mut Found,
    /// What a stretch may use: nothing more once a solution is found.
    pub(crate) fuel: u64,
    /// Children that the node made.
    pub(crate) made: u64,
    /// What was counted in the whole stretch.
    pub(crate) total: u128,
    /// The depth of the node's children.
    pub(crate) depth: u32,
    /// The node's own bound: its children's are no better.
    pub(crate) bound: i64,
    pub(crate) cutoff: i64,
}

impl<'a, T: Tree + ?Sized> Children<'a, T> {
    /// A place for the children of one node after the other.
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

    /// A child without a bound of its own: it is always explored.
    #[inline]
    pub fn child(&mut self, node: T::Node) {
        self.made += self.tree.weight(&node);
        self.push(self.bound, node);
    }

    /// A child below which no solution is better than `bound`.
    #[inline]
    pub fn child_within(&mut self, bound: i64, node: T::Node) {
        self.made += self.tree.weight(&node);
        let bound = T::GOAL.score(bound).max(self.bound);
        if bound < self.cutoff {
            self.push(bound, node);
        }
    }

    /// Children with nothing below them: counted as made, never explored.
    #[inline]
    pub fn leaves(&mut self, n: u64) {
        self.made += n;
    }

    /// Adds to the count that the search is for.
    #[inline]
    pub fn count(&mut self, n: u64) {
        self.total += u128::from(n);
    }

    /// Leaves the node for another time, in place of any children. Nothing more is explored now.
    ///
    /// The node has been counted, so what is left of it should have a [`Tree::weight`] of 0.
    pub fn leave(&mut self, bound: i64, node: T::Node) {
        self.first = Some((T::GOAL.score(bound).max(self.bound), node));
        self.depth -= 1;
        self.fuel = 0;
    }

    /// A finished solution. `plan` is called only if the solution beats the incumbent.
    ///
    /// The worst value of the range, `i64::MAX` when minimising and `i64::MIN` when maximising, stands
    /// for "none yet" and cannot be a solution's.
    #[inline]
    pub fn solution(&mut self, value: i64, plan: impl FnOnce() -> Vec<i64>) {
        let score = T::GOAL.score(value);
        if score < self.cutoff {
            self.fuel = 0;
            self.cutoff = note::<T>(self.found, score, self.bound, plan);
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

/// What a node yields.
#[derive(Debug)]
pub struct Expansion<N> {
    /// Its children that are to be explored, with their bounds as scores.
    pub children: Vec<(i64, N)>,
    /// All children that it made.
    pub made: u64,
    /// What it adds to the count.
    pub total: u128,
    /// The best solution that it finds.
    pub solution: Option<Solution>,
}

/// Expands a node that has this bound, where solutions must beat the score `best`.
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

/// Notes a better solution, unless it is better than the bound of its node. Returns the score to beat.
///
/// Not a method, and never inlined: a rare call must not take registers from the explorer's loop.
#[cold]
#[inline(never)]
fn note<T: Tree + ?Sized>(
    found: &mut Found,
    score: i64,
    bound: i64,
    plan: impl FnOnce() -> Vec<i64>,
) -> i64 {
    if score < bound {
        let full = std::any::type_name::<T>();
        let tree = full.rsplit("::").next().unwrap_or(full);
        let (bound, value) = (T::GOAL.value(bound), T::GOAL.value(score));
        found.fault = Some(WrongBound { tree, bound, value });
    } else {
        found.solution = Some(Solution { score, plan: plan() });
    }
    score
}

/// What a command can be made of: a tree, or the result of reading one.
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
