//! [`Evaluation`]: a search on the host whose nodes are bounded many at a time, elsewhere.

use crate::search::depth_first::TreeExplorer;
use crate::search::device::Layout;
use crate::search::explorer::{Explorer, Progress};
use crate::search::tree::{Counts, Tree, read};
use crate::search::work::{Entry, Malformed, Pool, Work, portion};
use std::collections::VecDeque;

/// A tree whose nodes' children are bounded many at a time. Each node has a [`Tree::weight`] of 1.
pub trait BatchBounded: Send {
    /// The tree.
    type Tree: Tree;
    /// A node as the host holds it, with data that saves time.
    type Held: Clone + Send;

    /// The tree.
    fn tree(&self) -> &Self::Tree;

    /// The parameters of the bounding kernel. A node's words are those of [`BatchBounded::write_parent`]; solutions
    /// have none, and each child has one word of bounds.
    fn layout(&self) -> Layout;

    /// Converts a node to the host's form.
    fn hold(&self, node: &<Self::Tree as Tree>::Node) -> Self::Held;

    /// Converts a node back from the host's form.
    fn node(&self, held: &Self::Held) -> <Self::Tree as Tree>::Node;

    /// Appends the words of a node from which its children are bounded. Returns the number of children; 0, with nothing
    /// appended, if they need no bounds.
    fn write_parent(&self, held: &Self::Held, words: &mut Vec<u32>) -> usize;

    /// Appends the children that [`Tree::expand`] makes and whose scores are below the cutoff, best first, each with
    /// its score. Returns the number of children made.
    fn branch(
        &self,
        held: &Self::Held,
        bounds: &[u32],
        cutoff: i64,
        children: &mut Vec<(i64, Self::Held)>,
    ) -> u64;
}

/// Parents whose children must be bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parents {
    /// The index of each parent's first child; the last entry is the number of children.
    pub starts: Vec<u32>,
    /// The words of all parents, one after the other.
    pub words: Vec<u32>,
}

impl Parents {
    /// The number of parents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are no parents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of their children.
    #[must_use]
    pub fn children(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    fn clear(&mut self) {
        self.words.clear();
        self.starts.clear();
        self.starts.push(0);
    }
}

/// A search on the host whose nodes are bounded elsewhere.
///
/// Nodes that were sent stay part of the search until their bounds arrive: a copy includes them, and they have not been
/// counted yet. So the device that computes the bounds may fail at any time.
pub trait HostSearch: Explorer {
    /// The parameters of the bounding kernel.
    fn layout(&self) -> Layout;

    /// The number of open nodes that are not sent.
    fn unsent(&self) -> usize;

    /// Sends a batch of at most `most` of the deepest nodes. Nodes that need no bounds are branched at once.
    fn send(&mut self, most: usize, best: i64, parents: &mut Parents) -> (Batch, Progress);

    /// Branches the nodes of a batch, given the bounds of all their children. Does nothing if the batch was
    /// recalled.
    fn receive(&mut self, batch: Batch, bounds: &[u32], best: i64) -> Progress;
}

/// The number of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch(u64);

/// A batch under way: its nodes, each with the number of its children.
type BatchOut<N> = (Batch, Vec<(Entry<N>, usize)>);

/// A search by the rules of a tree.
pub struct Evaluation<B: BatchBounded> {
    by: B,
    pool: Pool<B::Held>,
    /// In the order sent.
    sent: VecDeque<BatchOut<B::Held>>,
    batches: u64,
    /// Kept for its memory.
    children: Vec<(i64, B::Held)>,
}

impl<B: BatchBounded> Evaluation<B> {
    /// A search without work.
    #[must_use]
    pub fn new(by: B) -> Self {
        let (pool, sent, children) = (Pool::default(), VecDeque::new(), Vec::new());
        Self { by, pool, sent, batches: 0, children }
    }

    /// The number of nodes that are sent.
    fn in_flight(&self) -> usize {
        self.sent.iter().map(|(_, nodes)| nodes.len()).sum()
    }

    /// The nodes that are sent, oldest last.
    fn sent(&self) -> impl Iterator<Item = &Entry<B::Held>> {
        let last_first = self.sent.iter().rev();
        last_first.flat_map(|(_, nodes)| nodes.iter().rev().map(|(node, _)| node))
    }

    /// Takes back all nodes that were sent.
    fn recall(&mut self) {
        // The nodes sent first are explored first.
        let sent = std::mem::take(&mut self.sent).into_iter().rev();
        let nodes = sent.flat_map(|(_, nodes)| nodes.into_iter().rev().map(|(entry, _)| entry));
        self.pool.append(Pool::new(nodes.collect()));
    }

    /// Branches a node that needs no bounds.
    fn expand(&mut self, entry: &Entry<B::Held>, best: i64) -> Progress {
        let mut alone = TreeExplorer::new(self.by.tree());
        alone.put_pool(Pool::new(vec![with(entry, self.by.node(&entry.node))]));
        let progress = alone.run(1, best);
        let made = alone.take_pool().into_entries();
        let made = made.iter().map(|entry| with(entry, self.by.hold(&entry.node)));
        self.pool.append(Pool::new(made.collect()));
        progress
    }

    /// The open nodes as canonical work.
    fn canonical<'a>(&self, held: impl Iterator<Item = &'a Entry<B::Held>>) -> Work
    where
        B::Held: 'a,
    {
        Pool::new(held.map(|entry| with(entry, self.by.node(&entry.node))).collect()).to_work()
    }
}

/// The same entry with another form of the node.
fn with<N, M>(entry: &Entry<N>, node: M) -> Entry<M> {
    Entry { bound: entry.bound, depth: entry.depth, share: entry.share, node }
}

impl<B: BatchBounded> HostSearch for Evaluation<B> {
    fn layout(&self) -> Layout {
        self.by.layout()
    }

    fn unsent(&self) -> usize {
        self.pool.len()
    }

    fn send(&mut self, most: usize, best: i64, parents: &mut Parents) -> (Batch, Progress) {
        parents.clear();
        let (mut sent, mut done) = (Vec::new(), Progress::default());
        while sent.len() < most && done.found.is_none() {
            let Some(entry) = self.pool.stack.pop() else { break };
            if entry.bound >= best {
                continue;
            }
            let children = self.by.write_parent(&entry.node, &mut parents.words);
            if children == 0 {
                done.add(self.expand(&entry, best));
            } else {
                parents.starts.push(parents.children() + children as u32);
                sent.push((entry, children));
            }
        }
        self.batches += 1;
        let batch = Batch(self.batches);
        if !sent.is_empty() {
            self.sent.push_back((batch, sent));
        }
        (batch, done)
    }

    fn receive(&mut self, batch: Batch, bounds: &[u32], best: i64) -> Progress {
        let at = self.sent.iter().position(|(sent, _)| *sent == batch);
        let Some((_, nodes)) = at.and_then(|at| self.sent.remove(at)) else {
            return Progress::default();
        };
        let (mut counts, mut used, mut from) = (Counts::default(), 0, 0);
        let mut grown = Vec::with_capacity(2 * nodes.len());
        for (Entry { bound, depth, share, node }, all) in nodes {
            let bounds = &bounds[from..from + all];
            from += all;
            // The incumbent may have improved since the node was sent.
            if bound >= best {
                continue;
            }
            let made = self.by.branch(&node, bounds, best, &mut self.children);
            counts.branched += 1;
            counts.bounded += made;
            used += made.max(1);
            let reached = depth + u32::from(made > 0);
            counts.depth = counts.depth.max(reached);
            let share = share / self.children.len().max(1) as f32;
            let child =
                |(score, node)| Entry { bound: bound.max(score), depth: depth + 1, share, node };
            grown.extend(self.children.drain(..).rev().map(child));
        }
        self.pool.append(Pool::new(grown));
        Progress { counts, used, ..Progress::default() }
    }
}

impl<B: BatchBounded> Explorer for Evaluation<B> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        let entries = read(self.by.tree(), work)?.into_entries();
        let held = entries.iter().map(|entry| with(entry, self.by.hold(&entry.node)));
        self.pool.append(Pool::new(held.collect()));
        Ok(())
    }

    fn size(&self) -> f64 {
        (self.pool.len() + self.in_flight()) as f64
    }

    fn least_bound(&self) -> Option<i64> {
        self.sent().map(|entry| entry.bound).chain(self.pool.least_bound()).min()
    }

    fn open_share(&self) -> Option<f64> {
        Some(self.pool.share() + self.sent().map(|entry| f64::from(entry.share)).sum::<f64>())
    }

    /// Bounds the nodes on the host.
    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let all = self.drain();
        let mut plain = TreeExplorer::new(self.by.tree());
        plain.add_work(&all.bytes).expect("a search takes its own work back");
        let progress = plain.run(fuel, best);
        let left = plain.drain();
        self.add_work(&left.bytes).expect("a search takes its own work back");
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let all = self.pool.len() + self.in_flight();
        let wanted = portion(share, all);
        if self.pool.len() <= wanted {
            // Their bounds will be ignored.
            self.recall();
        }
        let share = wanted as f64 / self.pool.len().max(1) as f64;
        let given = self.pool.split(share)?;
        Some(self.canonical(given.entries().iter()))
    }

    fn drain(&mut self) -> Work {
        self.recall();
        let all = std::mem::take(&mut self.pool);
        self.canonical(all.entries().iter())
    }

    fn copy(&mut self) -> Work {
        self.canonical(self.pool.entries().iter().chain(self.sent()))
    }
}
