//! [`Wide`]: many nodes at a time, by a kernel that works on columns of them.

use super::columns::Columns;
use super::tree::{Node, Uts};
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::tree::{Counts, read};
use pleach_core::search::work::{Entry, Malformed, Pool, Work, portion};

/// What a run of a kernel counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunCounts {
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
    fn run(&mut self, columns: &mut Columns, fuel: u64) -> RunCounts;
}

/// Depth-first search in columns, a batch at a time.
pub struct Wide<'t, K> {
    tree: &'t Uts,
    kernel: K,
    columns: Columns,
    /// Nodes yet to be counted. Nodes in the columns were counted when they were made, so these are
    /// kept apart.
    fresh: Vec<Node>,
}

impl<'t, K: Kernel> Wide<'t, K> {
    /// An explorer with no work yet.
    pub fn new(tree: &'t Uts, kernel: K) -> Self {
        Self { tree, kernel, columns: Columns::default(), fresh: Vec::new() }
    }

    fn len(&self) -> usize {
        self.columns.len() + self.fresh.len()
    }

    /// Counts the nodes yet to be counted, and moves them to the columns.
    fn meet(&mut self) -> Counts {
        let mut counts = Counts::default();
        for Node { state, depth, left, .. } in self.fresh.drain(..) {
            counts.total += u128::from(depth == 0);
            if left > 0 {
                counts.branched += 1;
                self.columns.push(&state, left, depth);
            }
        }
        counts
    }

    /// Removes `wanted` nodes, those yet to be counted first.
    fn take(&mut self, wanted: usize) -> Work {
        let mut nodes = self.fresh.split_off(self.fresh.len().saturating_sub(wanted));
        nodes.extend(self.columns.take_spread(wanted - nodes.len()));
        let entry = |node: Node| Entry { bound: i64::MIN, depth: node.depth, share: 0.0, node };
        Pool::new(nodes.into_iter().map(entry).collect()).to_work()
    }
}

impl<K: Kernel> Explorer for Wide<'_, K> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        for Entry { node, .. } in read(self.tree, work)?.into_entries() {
            if node.fresh {
                self.fresh.push(node);
            } else {
                self.columns.push(&node.state, node.left, node.depth);
            }
        }
        Ok(())
    }

    fn size(&self) -> f64 {
        self.len() as f64
    }

    fn least_bound(&self) -> Option<i64> {
        (self.len() > 0).then_some(i64::MIN)
    }

    fn open_share(&self) -> Option<f64> {
        None
    }

    fn run(&mut self, fuel: u64, _best: i64) -> Progress {
        let mut counts = self.meet();
        let counted = self.kernel.run(&mut self.columns, fuel);
        counts.branched += counted.inner;
        counts.bounded += counted.nodes;
        counts.total += u128::from(counted.nodes);
        counts.depth = counts.depth.max(counted.depth);
        Progress { counts, used: counted.nodes, ..Progress::default() }
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let wanted = portion(share, self.len());
        (wanted > 0).then(|| self.take(wanted))
    }

    fn drain(&mut self) -> Work {
        self.take(self.len())
    }
}
