//! [`Wide`]: many nodes at a time, by a kernel that works on columns of them.

use super::{Columns, Node, Uts};
use pleach_core::explorer::{Explorer, Progress, read};
use pleach_core::tree::Counts;
use pleach_core::work::{Entry, Malformed, Pool, Work, portion};

/// What a run of a kernel counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Children made.
    pub nodes: u64,
    /// Children that have children.
    pub inner: u64,
    /// The greatest depth of a child.
    pub depth: u32,
}

/// Vector code for one tree.
pub trait Kernel: Send {
    /// Makes about `fuel` children of the nodes in the columns, deepest first.
    fn run(&self, columns: &mut Columns, fuel: u64) -> Tally;
}

/// Depth-first search in columns, a batch at a time.
pub struct Wide<'t, K> {
    tree: &'t Uts,
    kernel: K,
    columns: Columns,
    /// What was counted when nodes were put.
    pending: Counts,
}

impl<'t, K: Kernel> Wide<'t, K> {
    /// An explorer with nothing to do yet.
    pub fn new(tree: &'t Uts, kernel: K) -> Self {
        Self { tree, kernel, columns: Columns::default(), pending: Counts::default() }
    }

    fn take(nodes: Vec<Node>) -> Work {
        let entry = |node: Node| Entry { bound: i64::MIN, depth: node.depth, share: 0.0, node };
        Pool::new(nodes.into_iter().map(entry).collect()).to_work()
    }

    fn pending(&self) -> bool {
        self.pending != Counts::default()
    }
}

impl<K: Kernel> Explorer for Wide<'_, K> {
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed> {
        for Entry { node, .. } in read(self.tree, work)?.into_entries() {
            if node.fresh {
                // Here nodes are counted when they are met, so this one is overdue.
                self.pending.branched += u64::from(node.left > 0);
                self.pending.total += u128::from(node.depth == 0);
            }
            if node.left > 0 {
                self.columns.push(&node.state, node.left, node.depth);
            }
        }
        Ok(())
    }

    fn size(&self) -> f64 {
        // Counts still to be told keep the explorer going until they are.
        self.columns.len().max(usize::from(self.pending())) as f64
    }

    fn least_bound(&self) -> Option<i64> {
        (self.columns.len() > 0).then_some(i64::MIN)
    }

    fn open_share(&self) -> Option<f64> {
        None
    }

    fn run(&mut self, fuel: u64, _best: i64) -> Progress {
        let mut counts = std::mem::take(&mut self.pending);
        let tally = self.kernel.run(&mut self.columns, fuel);
        counts.branched += tally.inner;
        counts.bounded += tally.nodes;
        counts.total += u128::from(tally.nodes);
        counts.depth = counts.depth.max(tally.depth);
        Progress { counts, used: tally.nodes, found: None }
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let wanted = portion(share, self.columns.len());
        if wanted == 0 {
            return None;
        }
        let nodes = self.columns.take_spread(wanted);
        Some(Self::take(nodes))
    }

    fn drain(&mut self) -> Work {
        let nodes = self.columns.take_spread(self.columns.len());
        Self::take(nodes)
    }
}
