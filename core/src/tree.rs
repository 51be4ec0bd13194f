//! [`Tree`]: all that a user writes to have a problem searched.

use crate::wire::fingerprint;
use crate::work::{Entry, Pack};

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
    /// The complement turns the order round, and unlike negation has no exception.
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
}

/// A search tree: its root, and how a node branches.
///
/// ```
/// use pleach_core::tree::{Children, Goal, Tree};
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
///     fn expand(&self, &(length, one): &Self::Node, _best: i64, out: &mut Children<Self>) {
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
    /// A node, with all that is needed to go on from it.
    type Node: Pack + Clone + Send;

    /// What the search is for.
    const GOAL: Goal;

    /// The node that stands for the whole tree.
    fn root(&self) -> Self::Node;

    /// Pushes the children of `node`, the one to explore first first, and reports solutions.
    ///
    /// `best` is the value of the best solution known, at the far end of the range while there is
    /// none. A child whose bound is no better is dropped without further ado, now or later.
    fn expand(&self, node: &Self::Node, best: i64, out: &mut Children<'_, Self>);

    /// How many nodes of the full tree this one stands for: more than one where symmetry is used,
    /// none where it is the rest of a node that was counted before.
    #[inline]
    fn weight(&self, _node: &Self::Node) -> u64 {
        1
    }

    /// Whether a node that came as bytes can be explored: false makes the bytes malformed.
    fn valid(&self, _entry: &Entry<Self::Node>) -> bool {
        true
    }

    /// The print of all that the tree depends on: a checkpoint of a tree with another one is refused.
    ///
    /// The default looks at the root alone. A tree that is made of data which its root does not hold
    /// should print them: [`fingerprint`] does it for anything packed.
    fn fingerprint(&self) -> u64 {
        fingerprint("tree", &self.root())
    }

    /// Says whether the run waits to stop. A tree whose nodes take long may then leave those under way
    /// for another time by [`Children::leave`].
    fn hurry(&self, _hurry: bool) {}

    /// Computes a solution's value again, from the problem alone; `None` if it is no solution.
    ///
    /// Where this is given, every answer is checked with it before it is reported.
    fn check(&self, _solution: &[i64]) -> Option<Result<i64, String>> {
        None
    }
}

/// A finished solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// Its value as the engine compares it: lower is better.
    pub score: i64,
    /// The solution itself, in the problem's own numbers.
    pub plan: Vec<i64>,
}

/// What has been counted.
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

    /// What was counted beside these; `None` if less was.
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

/// Where [`Tree::expand`] puts what it finds.
pub struct Children<'a, T: Tree + ?Sized> {
    tree: &'a T,
    /// The first child: it is explored next, and so never sees the stack.
    pub(crate) first: Option<(i64, T::Node)>,
    /// The others, on top of the stack in the order in which they came.
    pub(crate) others: usize,
    pub(crate) stack: &'a mut Vec<Entry<T::Node>>,
    found: &'a mut Option<Solution>,
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
    /// A place for the children of the nodes of a stretch, of one after the other.
    #[inline]
    pub(crate) fn new(
        tree: &'a T,
        stack: &'a mut Vec<Entry<T::Node>>,
        found: &'a mut Option<Solution>,
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

    /// Leaves the node for another time, instead of all else; nothing more is explored now.
    ///
    /// It has been counted: what is left of it should have no [`Tree::weight`].
    pub fn leave(&mut self, bound: i64, node: T::Node) {
        self.first = Some((T::GOAL.score(bound).max(self.bound), node));
        self.depth -= 1;
        self.fuel = 0;
    }

    /// A finished solution; `plan` is asked for only if the solution is better than the best.
    ///
    /// The worst value of the range, `i64::MAX` when minimising, `i64::MIN` when maximising, stands
    /// for "none yet" and cannot be a solution's.
    #[inline]
    pub fn solution(&mut self, value: i64, plan: impl FnOnce() -> Vec<i64>) {
        let score = T::GOAL.score(value);
        if score < self.cutoff {
            self.cutoff = score;
            self.fuel = 0;
            *self.found = Some(Solution { score, plan: rarely(plan) });
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

/// Calls what is called so seldom that it must not take registers from what is called always.
#[cold]
#[inline(never)]
fn rarely<R>(call: impl FnOnce() -> R) -> R {
    call()
}

/// A tree, or the attempt to read one: what a command can be made of.
pub trait TreeSource {
    /// The tree.
    type Tree: Tree;

    /// The tree, or what is wrong with the input that describes it.
    ///
    /// # Errors
    /// One line that says what is wrong, where, and what was expected.
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
