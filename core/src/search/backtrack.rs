//! [`Backtrack`]: trees whose nodes are states that moves change in place and undo, so that no node is copied.

use crate::search::explorer::{Explorer, Progress};
use crate::search::found::{Found, record_solution, refuse_worst};
use crate::search::tree::{Children, Counts, Goal, Improver, Tree, read};
use crate::search::work::{Entry, Malformed, Pack, Pool, Work};
use std::mem::take;

/// A search tree in terms of moves: each worker has one state, which moves change and undo.
///
/// [`Backtracking`] makes a [`Tree`] of it, whose nodes are the moves that lead to them: values are whole numbers, and there
/// are no layers.
///
/// ```
/// use pleach_core::search::backtrack::{Backtrack, Moves};
/// use pleach_core::search::tree::Goal;
///
/// /// Ways to place n queens so that no two attack each other.
/// struct Queens { n: u8 }
///
/// impl Backtrack for Queens {
///     type State = Vec<u8>; // the column of the queen in each row
///     type Move = u8;
///     const GOAL: Goal = Goal::Count;
///
///     fn root(&self) -> Vec<u8> {
///         Vec::new()
///     }
///     fn apply(&self, rows: &mut Vec<u8>, &column: &u8) {
///         rows.push(column);
///     }
///     fn undo(&self, rows: &mut Vec<u8>, _: &u8) {
///         rows.pop();
///     }
///     fn expand(&self, rows: &mut Vec<u8>, _: Option<i64>, out: &mut Moves<Self>) {
///         if rows.len() == usize::from(self.n) {
///             return out.count(1);
///         }
///         let free = |column: u8| {
///             (1..).zip(rows.iter().rev()).all(|(away, &other)| ![0, away].contains(&column.abs_diff(other)))
///         };
///         (0..self.n).filter(|&column| free(column)).for_each(|column| out.child(column));
///     }
/// }
/// ```
pub trait Backtrack: Sync {
    /// A state, with all memory that a worker needs: what a move overwrites can be kept here.
    type State: Send;

    /// A move from a node to a child.
    type Move: Pack + Clone + Send + PartialEq;

    /// The goal of the search.
    const GOAL: Goal;

    /// The state of the root.
    fn root(&self) -> Self::State;

    /// Makes a move.
    fn apply(&self, state: &mut Self::State, step: &Self::Move);

    /// Undoes the last move.
    fn undo(&self, state: &mut Self::State, step: &Self::Move);

    /// Adds the moves from a state, in the order in which to explore them, and reports solutions. See [`Tree::expand`].
    /// The state must be the same afterwards.
    fn expand(&self, state: &mut Self::State, best: Option<i64>, out: &mut Moves<'_, Self>);

    /// Whether a decoded move can be made from a state: if not, its bytes count as malformed.
    fn valid(&self, _state: &Self::State, _step: &Self::Move) -> bool {
        true
    }

    /// As [`Tree::fingerprint`].
    fn fingerprint(&self) -> Option<u64> {
        None
    }

    /// As [`Tree::improver`].
    fn improver(&self, _seed: u64) -> Option<Box<dyn Improver + '_>> {
        None
    }

    /// As [`Tree::check`].
    ///
    /// # Errors (in the result)
    /// Why the solution is invalid.
    fn check(&self, _solution: &[i64]) -> Option<Result<i64, String>> {
        None
    }
}

/// Collects what [`Backtrack::expand`] finds.
pub struct Moves<'a, B: Backtrack + ?Sized> {
    stack: &'a mut Vec<(i64, B::Move)>,
    found: &'a mut Found,
    /// The fuel left for the stretch: 0 once a solution is found.
    fuel: u64,
    /// The number of children that the node made.
    made: u64,
    /// What the node adds to the count.
    total: u128,
    /// The node's bound: its children's are no better.
    bound: i64,
    cutoff: i64,
}

impl<B: Backtrack + ?Sized> Moves<'_, B> {
    /// Adds a move without a bound of its own.
    #[inline]
    pub fn child(&mut self, step: B::Move) {
        self.made += 1;
        self.stack.push((self.bound, step));
    }

    /// Adds a move after which no solution is better than `bound`. See [`Children::child_within`].
    #[inline]
    pub fn child_within(&mut self, bound: i64, step: B::Move) {
        self.made += 1;
        let bound = B::GOAL.bound(bound).max(self.bound);
        if bound < self.cutoff {
            self.stack.push((bound, step));
        }
    }

    /// As [`Children::leaves`].
    #[inline]
    pub fn leaves(&mut self, n: u64) {
        self.made += n;
    }

    /// As [`Children::count`].
    #[inline]
    pub fn count(&mut self, n: u64) {
        self.total += u128::from(n);
    }

    /// As [`Children::tally`].
    ///
    /// # Panics
    /// If `counter` is 4096 or more.
    #[inline]
    pub fn tally(&mut self, counter: usize, n: u64) {
        self.found.add_to_counter(counter, n);
    }

    /// As [`Children::solution`].
    ///
    /// # Panics
    /// If the value is the worst of the range.
    #[inline]
    pub fn solution(&mut self, value: i64, solution: impl FnOnce() -> Vec<i64>) {
        let Some(score) = B::GOAL.reported(value) else { return };
        if score < self.cutoff {
            self.fuel = 0;
            self.cutoff =
                record_solution::<B>(self.found, (B::GOAL, 0), score, self.bound, solution);
        } else if score == i64::MAX {
            refuse_worst(B::GOAL);
        }
    }
}

/// The tree of a [`Backtrack`].
pub struct Backtracking<B>(pub B);

impl<B: Backtrack> Tree for Backtracking<B> {
    type Node = Vec<B::Move>;
    const GOAL: Goal = B::GOAL;

    fn root(&self) -> Vec<B::Move> {
        Vec::new()
    }

    /// Makes all moves to the node again; the tree's own explorer does not.
    fn expand(&self, node: &Vec<B::Move>, _: Option<i64>, out: &mut Children<'_, Self>) {
        let mut explorer = BacktrackExplorer::new(self);
        let (depth, node) = (node.len() as u32, node.clone());
        explorer.pool = Pool::new(vec![Entry { bound: out.bound, depth, share: 1.0, node }]);
        let Progress { counts, found, fault, .. } = explorer.run(1, out.cutoff);
        out.total += counts.total;
        (0..).zip(counts.tally).for_each(|(counter, n)| out.tally(counter, n as u64));
        explorer.flatten();
        let children = explorer.pool.into_entries();
        out.leaves(counts.bounded - children.len() as u64);
        for child in children.into_iter().rev() {
            out.child_within(B::GOAL.value(child.bound), child.node);
        }
        out.take_over(found, fault);
    }

    fn valid(&self, entry: &Entry<Vec<B::Move>>) -> bool {
        let mut state = self.0.root();
        entry.depth as usize == entry.node.len()
            && entry.node.iter().all(|step| {
                let valid = self.0.valid(&state, step);
                if valid {
                    self.0.apply(&mut state, step);
                }
                valid
            })
    }

    fn own_explorer(&self) -> Option<Box<dyn Explorer + '_>> {
        Some(Box::new(BacktrackExplorer::new(self)))
    }

    fn fingerprint(&self) -> Option<u64> {
        self.0.fingerprint()
    }

    fn improver(&self, seed: u64) -> Option<Box<dyn Improver + '_>> {
        self.0.improver(seed)
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        self.0.check(solution)
    }
}

/// A node on the path to the present one.
struct PathNode {
    /// Its moves that were not made yet, on the stack.
    left: usize,
    /// The part of the whole tree below each of them.
    share: f32,
}

/// Depth-first search with one state.
struct BacktrackExplorer<'t, B: Backtrack> {
    tree: &'t Backtracking<B>,
    /// Open nodes outside of `frames`.
    pool: Pool<Vec<B::Move>>,
    state: B::State,
    /// The moves that lead to the state.
    path: Vec<B::Move>,
    /// The nodes that end the path, from the one taken from the pool on.
    frames: Vec<PathNode>,
    /// The moves left of all frames, with their bounds; the next one is last.
    stack: Vec<(i64, B::Move)>,
}

impl<'t, B: Backtrack> BacktrackExplorer<'t, B> {
    fn new(tree: &'t Backtracking<B>) -> Self {
        let state = tree.0.root();
        let (pool, path, frames, stack) = Default::default();
        Self { tree, pool, state, path, frames, stack }
    }

    /// Makes the moves that lead to a node, from the last node that its path has in common with the present one.
    fn go_to(&mut self, node: Vec<B::Move>) {
        let same = self.path.iter().zip(&node).take_while(|(one, other)| one == other).count();
        while self.path.len() > same {
            self.step_back();
        }
        for step in node.into_iter().skip(same) {
            self.tree.0.apply(&mut self.state, &step);
            self.path.push(step);
        }
    }

    #[inline]
    fn step_back(&mut self) {
        if let Some(step) = self.path.pop() {
            self.tree.0.undo(&mut self.state, &step);
        }
    }

    /// Turns all moves left into nodes of the pool.
    fn flatten(&mut self) {
        let mut entries = Vec::with_capacity(self.stack.len());
        let base = (self.path.len() + 1).saturating_sub(self.frames.len());
        let mut stack = take(&mut self.stack).into_iter();
        for (length, frame) in (base..).zip(take(&mut self.frames)) {
            for (bound, step) in stack.by_ref().take(frame.left) {
                let node = [&self.path[..length], &[step]].concat();
                let depth = node.len() as u32;
                entries.push(Entry { bound, depth, share: frame.share, node });
            }
        }
        self.pool.append(Pool::new(entries));
    }

    /// Moves on to the next open node that may have a solution of a score below `cutoff`; returns its bound and its part of
    /// the whole tree.
    #[inline]
    fn advance(&mut self, cutoff: i64) -> Option<(i64, f32)> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                let entry = self.pool.stack.pop()?;
                if entry.bound < cutoff {
                    self.go_to(entry.node);
                    return Some((entry.bound, entry.share));
                }
                continue;
            };
            if frame.left == 0 {
                self.frames.pop();
                if !self.frames.is_empty() {
                    self.step_back();
                }
                continue;
            }
            frame.left -= 1;
            let share = frame.share;
            let (bound, step) = self.stack.pop()?;
            if bound < cutoff {
                self.tree.0.apply(&mut self.state, &step);
                self.path.push(step);
                return Some((bound, share));
            }
        }
    }
}

impl<B: Backtrack> Explorer for BacktrackExplorer<'_, B> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.pool.append(read(self.tree, work)?);
        Ok(())
    }

    fn size(&self) -> f64 {
        (self.pool.len() + self.stack.len()) as f64
    }

    fn least_bound(&self) -> Option<i64> {
        let moves = self.stack.iter().map(|(bound, _)| *bound);
        moves.chain(self.pool.least_bound()).min()
    }

    fn open_share(&self) -> Option<f64> {
        let frames = self.frames.iter().map(|frame| frame.left as f64 * f64::from(frame.share));
        Some(self.pool.share() + frames.sum::<f64>())
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let (mut counts, mut used, mut found) = (Counts::default(), 0, Found::default());
        let (mut left, mut cutoff) = (fuel, best);
        while used < left {
            let Some((bound, share)) = self.advance(cutoff) else { break };
            let start = self.stack.len();
            let (stack, found) = (&mut self.stack, &mut found);
            let mut out = Moves { stack, found, fuel: left, made: 0, total: 0, bound, cutoff };
            self.tree.0.expand(&mut self.state, B::GOAL.to_beat(cutoff), &mut out);
            (left, cutoff) = (out.fuel, out.cutoff);
            let (made, total) = (out.made, out.total);
            counts.branched += 1;
            counts.bounded += made;
            counts.total += total;
            used += made.max(1);
            let depth = self.path.len() as u32 + u32::from(made > 0);
            counts.depth = counts.depth.max(depth);
            let children = self.stack.len() - start;
            if children > 0 {
                self.stack[start..].reverse();
                let share = share / children as f32;
                self.frames.push(PathNode { left: children, share });
            } else if !self.frames.is_empty() {
                self.step_back();
            }
        }
        let Found { solution: found, fault, tally } = found;
        counts.tally = tally;
        Progress { counts, used, found, fault }
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.flatten();
        self.pool.split(share).map(|given| given.to_work())
    }

    fn drain(&mut self) -> Work {
        self.flatten();
        take(&mut self.pool).to_work()
    }

    fn copy(&mut self) -> Work {
        self.flatten();
        self.pool.to_work()
    }
}

#[cfg(test)]
#[path = "backtrack_tests.rs"]
mod tests;
