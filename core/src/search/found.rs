//! What a search finds: [`Goal`], [`Solution`], [`Counts`], and a bound that is wrong.

use crate::search::real::{scale, written};
use crate::search::work::{Malformed, Pack, Reader};

/// The greatest number of counters of a tree.
pub const MOST_COUNTERS: usize = 4096;

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

    /// The score of a bound that a tree states. Where values do not matter, it says nothing.
    #[inline]
    pub(crate) fn bound(self, bound: i64) -> i64 {
        match self {
            Goal::Count | Goal::Find => i64::MIN,
            Goal::Minimise | Goal::Maximise => self.score(bound),
        }
    }

    /// The score of a solution that a tree reports; `None` if the search is not for solutions. To find one, its value
    /// does not matter, even if it is the one that means "none yet".
    #[inline]
    pub(crate) fn reported(self, value: i64) -> Option<i64> {
        match self {
            Goal::Count => None,
            Goal::Find => Some(value.min(i64::MAX - 1)),
            Goal::Minimise | Goal::Maximise => Some(self.score(value)),
        }
    }

    /// A solution with this value.
    ///
    /// # Panics
    /// If the best solution is wanted, and the value is the worst of 64 bits: it means "none yet".
    #[must_use]
    pub fn solution(self, value: i64, solution: Vec<i64>) -> Solution {
        let score = self.reported(value);
        if score == Some(i64::MAX) {
            refuse_worst(self);
        }
        Solution { score: score.unwrap_or_else(|| self.score(value)), solution }
    }

    /// The next number of units that no solution within a real bound beats, however it is rounded. Bounds that are not a
    /// number say nothing.
    pub(crate) fn outward(self, bound: f64, decimals: u32) -> i64 {
        let units = bound * scale(decimals);
        match self {
            _ if units.is_nan() => self.value(i64::MIN),
            Goal::Maximise => units.ceil() as i64,
            _ => units.floor() as i64,
        }
    }

    /// The value to beat behind a score; `None` if any solution will do.
    #[must_use]
    #[inline]
    pub fn to_beat(self, score: i64) -> Option<i64> {
        (score < i64::MAX).then(|| self.value(score))
    }
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
    "the bound of {tree} is wrong: below a node with the bound {} there is a solution of value {}",
    written(*bound, *decimals), written(*value, *decimals)
)]
pub struct WrongBound {
    /// The tree's type.
    pub tree: &'static str,
    /// The bound of the node.
    pub bound: i64,
    /// The value of the solution.
    pub value: i64,
    /// Both are multiples of 10 to the power of minus this.
    pub decimals: u32,
}

/// The findings of a stretch of exploring.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub solution: Option<Solution>,
    pub fault: Option<WrongBound>,
    pub tally: Vec<u128>,
}

impl Found {
    /// Adds to a counter of the tree's own.
    #[inline]
    pub fn add_to_counter(&mut self, counter: usize, n: u64) {
        match self.tally.get_mut(counter) {
            Some(sum) => *sum += u128::from(n),
            None => new_counter(&mut self.tally, counter, n),
        }
    }
}

/// Adds to a counter that was 0 so far.
#[cold]
#[inline(never)]
fn new_counter(tally: &mut Vec<u128>, counter: usize, n: u64) {
    let most = MOST_COUNTERS - 1;
    assert!(counter <= most, "counter {counter}: expected a number from 0 to {most}");
    if n > 0 {
        tally.resize(counter + 1, 0);
        tally[counter] = n.into();
    }
}

/// Records a better solution, or a fault if values matter and it is better than the bound of its node. Returns the score to
/// beat. `T` is the tree's type; its values have `decimals`.
///
/// Not a method and never inlined: a rare call must not take registers from the explorer's loop.
#[cold]
#[inline(never)]
pub(crate) fn record_solution<T: ?Sized>(
    found: &mut Found,
    (goal, decimals): (Goal, u32),
    score: i64,
    bound: i64,
    solution: impl FnOnce() -> Vec<i64>,
) -> i64 {
    if score < bound && goal != Goal::Find {
        let full = std::any::type_name::<T>();
        let tree = full.rsplit("::").next().unwrap_or(full);
        let (bound, value) = (goal.value(bound), goal.value(score));
        found.fault = Some(WrongBound { tree, bound, value, decimals });
    } else {
        found.solution = Some(Solution { score, solution: solution() });
    }
    score
}

/// Refuses the value that means "none yet". Never inlined, as above.
#[cold]
#[inline(never)]
pub(crate) fn refuse_worst(goal: Goal) -> ! {
    let value = goal.value(i64::MAX);
    panic!("a solution has the value {value}: expected one that is better than none");
}

/// The counts of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Nodes that were branched.
    pub branched: u64,
    /// Children that were made and bounded.
    pub bounded: u64,
    /// The problem's own count: of solutions, or of nodes.
    pub total: u128,
    /// The greatest depth seen.
    pub depth: u32,
    /// The tree's own counters, by number; those above the last one that is not 0 are missing.
    pub tally: Vec<u128>,
}

impl Counts {
    /// Adds another worker's counts.
    ///
    /// # Panics
    /// If there are more than 2^64 nodes, or 2^128 of what the tree counts.
    pub fn add(&mut self, other: &Counts) {
        *self = self.plus(other).expect("fewer than 2^64 nodes and 2^128 solutions");
    }

    /// The sum, if it fits.
    #[must_use]
    pub fn plus(&self, other: &Counts) -> Option<Counts> {
        self.zip(other, u64::checked_add, u128::checked_add)
    }

    /// The sum, or the largest counts where it does not fit.
    pub fn add_saturating(&mut self, other: &Counts) {
        let nodes = |a: u64, b| Some(a.saturating_add(b));
        let sum = self.zip(other, nodes, |a: u128, b| Some(a.saturating_add(b)));
        *self = sum.expect("saturated sums fit");
    }

    /// The counts minus these; `None` if there are fewer.
    #[must_use]
    pub fn without(&self, other: &Counts) -> Option<Counts> {
        let mut left = self.zip(other, u64::checked_sub, u128::checked_sub)?;
        left.depth = self.depth;
        left.tally.truncate(left.tally.iter().rposition(|&n| n > 0).map_or(0, |last| last + 1));
        Some(left)
    }

    /// Combines counts one by one, if all can be combined.
    fn zip(
        &self,
        other: &Counts,
        nodes: impl Fn(u64, u64) -> Option<u64>,
        counted: impl Fn(u128, u128) -> Option<u128>,
    ) -> Option<Counts> {
        let at = |list: &[u128], i: usize| list.get(i).copied().unwrap_or(0);
        let counters = 0..self.tally.len().max(other.tally.len());
        Some(Counts {
            branched: nodes(self.branched, other.branched)?,
            bounded: nodes(self.bounded, other.bounded)?,
            total: counted(self.total, other.total)?,
            depth: self.depth.max(other.depth),
            tally: counters
                .map(|i| counted(at(&self.tally, i), at(&other.tally, i)))
                .collect::<Option<_>>()?,
        })
    }

    /// Whether a search can continue from these counts without an overflow, and no tree has more counters.
    #[must_use]
    pub fn can_grow(&self) -> bool {
        let Counts { branched, bounded, total, tally, .. } = self;
        let most = tally.iter().fold(*total, |most, &n| most.max(n));
        *branched.max(bounded) <= u64::MAX / 2
            && most <= u128::MAX / 2
            && tally.len() <= MOST_COUNTERS
    }
}

/// Only counts from which a search can continue are read.
impl Pack for Counts {
    const LEAST: usize = 5;

    fn pack(&self, out: &mut Vec<u8>) {
        (self.branched, self.bounded, self.total, self.depth).pack(out);
        self.tally.pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (branched, bounded, total, depth, tally) = Pack::unpack(from)?;
        let counts = Self { branched, bounded, total, depth, tally };
        if counts.can_grow() { Ok(counts) } else { Err(Malformed::Range) }
    }
}
