//! [`Explorer`]: what the engine drives, and the default one that serves any [`Tree`].

use crate::tree::{Children, Counts, Solution, Tree};
use crate::work::{Malformed, Pool, Work};

/// What a stretch of exploring brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// What was counted.
    pub counts: Counts,
    /// Fuel that was used, in nodes.
    pub used: u64,
    /// A solution better than the best that was known, the best of the stretch.
    pub found: Option<Solution>,
}

impl Progress {
    /// Adds the stretch that followed.
    pub fn add(&mut self, later: Progress) {
        self.counts.add(&later.counts);
        self.used += later.used;
        self.found = later.found.or(self.found.take());
    }
}

/// A search that can be run for a while, cut and fed.
///
/// It owns its layout; work that enters or leaves it is canonical, so that explorers of different
/// make exchange it freely. The laws are in [`crate::laws`].
pub trait Explorer: Send {
    /// Takes up work, beside what there is already.
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed>;

    /// Open nodes: 0 when there is nothing to do, at least 2 when a split would give something.
    fn size(&self) -> f64;

    /// The least bound over all open nodes.
    fn least_bound(&self) -> Option<i64>;

    /// The part of the whole tree that is open here, where that can be told.
    fn open_share(&self) -> Option<f64>;

    /// Explores about `fuel` nodes, fewer if work ends or a solution is found.
    ///
    /// Nodes whose bound is `best` or more are dropped.
    fn run(&mut self, fuel: u64, best: i64) -> Progress;

    /// Gives away a share of the work.
    fn split(&mut self, share: f64) -> Option<Work>;

    /// Gives away everything.
    fn drain(&mut self) -> Work;
}

/// Reads a pool of a tree's nodes from bytes that anyone may have sent.
///
/// # Errors
/// If the bytes are no pool, or one of its nodes none of this tree's.
pub fn read<T: Tree>(tree: &T, work: &[u8]) -> Result<Pool<T::Node>, Malformed> {
    let pool = Pool::from_bytes(work)?;
    let valid = pool.entries().iter().all(|entry| tree.valid(entry));
    if valid { Ok(pool) } else { Err(Malformed::Range) }
}

/// Depth-first search of any [`Tree`] on a pool.
pub struct TreeExplorer<'t, T: Tree> {
    tree: &'t T,
    pool: Pool<T::Node>,
}

impl<'t, T: Tree> TreeExplorer<'t, T> {
    /// An explorer with nothing to do yet.
    #[must_use]
    pub fn new(tree: &'t T) -> Self {
        Self { tree, pool: Pool::default() }
    }

    /// Takes up nodes as they are, without a detour over bytes.
    pub fn put_pool(&mut self, pool: Pool<T::Node>) {
        self.pool.append(pool);
    }

    /// Hands over all open nodes as they are.
    pub fn take_pool(&mut self) -> Pool<T::Node> {
        std::mem::take(&mut self.pool)
    }
}

impl<T: Tree> Explorer for TreeExplorer<'_, T> {
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.pool.append(read(self.tree, work)?);
        Ok(())
    }

    fn size(&self) -> f64 {
        self.pool.len() as f64
    }

    fn least_bound(&self) -> Option<i64> {
        self.pool.least_bound()
    }

    fn open_share(&self) -> Option<f64> {
        Some(self.pool.share())
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let mut progress = Progress::default();
        let mut cutoff = best;
        let stack = &mut self.pool.stack;
        while progress.used < fuel {
            let Some(entry) = stack.pop() else { break };
            // The best may have improved since the node was pushed.
            if entry.bound >= cutoff {
                continue;
            }
            progress.used += 1;
            progress.counts.branched += self.tree.weight(&entry.node);
            let base = stack.len();
            let made = progress.counts.bounded;
            let mut out = Children {
                tree: self.tree,
                stack,
                counts: &mut progress.counts,
                found: &mut progress.found,
                depth: entry.depth + 1,
                bound: entry.bound,
                cutoff,
            };
            self.tree.expand(&entry.node, T::GOAL.value(cutoff), &mut out);
            cutoff = out.cutoff;
            let children = &mut stack[base..];
            if progress.counts.bounded > made {
                progress.counts.depth = progress.counts.depth.max(entry.depth + 1);
            }
            if !children.is_empty() {
                let share = entry.share / children.len() as f32;
                children.iter_mut().for_each(|child| child.share = share);
                children.reverse();
            }
            if progress.found.is_some() {
                break;
            }
        }
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.pool.split(share).map(|given| given.to_work())
    }

    fn drain(&mut self) -> Work {
        std::mem::take(&mut self.pool).to_work()
    }
}
