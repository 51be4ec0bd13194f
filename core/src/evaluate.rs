//! [`Evaluation`]: a search on the host whose nodes are bounded elsewhere, many at a time.

use crate::device::Layout;
use crate::explorer::{Explorer, Progress, TreeExplorer, hand_down, read};
use crate::tree::{Children, Counts, Found, Tree};
use crate::work::{Entry, Malformed, Pool, Work, portion};
use std::collections::VecDeque;

/// A tree whose children can be bounded elsewhere.
pub trait BoundedElsewhere: Tree {
    /// What that takes. A node's words are those of [`BoundedElsewhere::write_parent`]; solutions have none, and each
    /// child has one word of bounds.
    fn layout(&self) -> Layout;

    /// Appends what must be known of a node to bound its children. Returns how many it has; 0 if they need no
    /// bounds, and then nothing is appended.
    fn write_parent(&self, node: &Self::Node, words: &mut Vec<u32>) -> usize;

    /// Does what [`Tree::expand`] does, with the bounds of all children.
    fn branch(
        &self,
        node: &Self::Node,
        bounds: &[u32],
        best: Option<i64>,
        out: &mut Children<'_, Self>,
    );
}

/// Parents whose children are to be bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parents {
    /// How many children come before those of each parent; at last, how many there are.
    pub starts: Vec<u32>,
    /// The words of all parents, one after the other.
    pub words: Vec<u32>,
}

impl Parents {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many children they have.
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
/// Nodes that were sent stay part of it until their bounds come: a copy has them, and nothing of them has been
/// counted. So whoever computes the bounds may fail at any time.
pub trait Host: Explorer {
    /// What computing the bounds takes.
    fn layout(&self) -> Layout;

    /// Sends a batch of at most so many of the deepest nodes. Nodes that need no bounds are branched at once.
    fn send(&mut self, most: usize, best: i64, parents: &mut Parents) -> (Batch, Progress);

    /// Branches the nodes of a batch, given the bounds of all their children. Does nothing if the batch was
    /// recalled.
    fn receive(&mut self, batch: Batch, bounds: &[u32], best: i64) -> Progress;

    /// Forgets that anything was sent.
    fn recall(&mut self);
}

/// The number of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch(u64);

/// A search by a tree's own rules.
pub struct Evaluation<'t, T: BoundedElsewhere> {
    tree: &'t T,
    pool: Pool<T::Node>,
    /// The batches under way, each node with the number of its children.
    sent: VecDeque<(Batch, Vec<(Entry<T::Node>, usize)>)>,
    batches: u64,
}

impl<'t, T: BoundedElsewhere> Evaluation<'t, T> {
    /// A search with nothing to do yet.
    #[must_use]
    pub fn new(tree: &'t T) -> Self {
        Self { tree, pool: Pool::default(), sent: VecDeque::new(), batches: 0 }
    }

    /// How many nodes are sent.
    fn in_flight(&self) -> usize {
        self.sent.iter().map(|(_, nodes)| nodes.len()).sum()
    }

    fn sent(&self) -> impl Iterator<Item = &Entry<T::Node>> {
        self.sent.iter().flat_map(|(_, nodes)| nodes.iter().map(|(node, _)| node))
    }

    /// Branches nodes with what `expand` makes of them, and adds the children to the pool.
    fn grow<B>(
        &mut self,
        nodes: impl Iterator<Item = (Entry<T::Node>, B)>,
        best: i64,
        expand: impl Fn(&T, &T::Node, B, Option<i64>, &mut Children<'_, T>),
    ) -> Progress {
        let (mut counts, mut used, mut found) = (Counts::default(), 0, Found::default());
        let mut grown = Vec::new();
        let mut out = Children::new(self.tree, &mut grown, &mut found, u64::MAX, best);
        for (Entry { bound, depth, mut share, node }, bounds) in nodes {
            // The incumbent may have improved since the node was sent.
            if bound >= out.cutoff {
                continue;
            }
            counts.branched += self.tree.weight(&node);
            (out.bound, out.depth, out.made, out.others) = (bound, depth + 1, 0, 0);
            expand(self.tree, &node, bounds, T::GOAL.to_beat(out.cutoff), &mut out);
            used += out.made.max(1);
            counts.bounded += out.made;
            counts.depth = counts.depth.max(depth + u32::from(out.made > 0));
            let Some((bound, node)) = out.first.take() else { continue };
            if out.others > 0 {
                share = hand_down(share, out.others, out.stack);
            }
            out.stack.push(Entry { bound, depth: out.depth, share, node });
        }
        counts.total = out.total;
        self.pool.append(Pool::new(grown));
        let Found { solution: found, fault } = found;
        Progress { counts, used, found, fault }
    }
}

impl<T: BoundedElsewhere> Host for Evaluation<'_, T> {
    fn layout(&self) -> Layout {
        self.tree.layout()
    }

    fn send(&mut self, most: usize, best: i64, parents: &mut Parents) -> (Batch, Progress) {
        parents.clear();
        let (mut sent, mut done) = (Vec::new(), Progress::default());
        while sent.len() < most && done.found.is_none() {
            let Some(entry) = self.pool.stack.pop() else { break };
            if entry.bound >= best {
                continue;
            }
            let children = self.tree.write_parent(&entry.node, &mut parents.words);
            if children == 0 {
                let alone = std::iter::once((entry, ()));
                done.add(self.grow(alone, best, |tree, node, (), best, out| {
                    tree.expand(node, best, out);
                }));
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
        let mut left = bounds;
        let nodes = nodes.into_iter().map(|(entry, children)| {
            let (own, others) = left.split_at(children);
            left = others;
            (entry, own)
        });
        self.grow(nodes, best, |tree, node, bounds, best, out| {
            tree.branch(node, bounds, best, out);
        })
    }

    fn recall(&mut self) {
        for (_, nodes) in std::mem::take(&mut self.sent) {
            let nodes = nodes.into_iter().map(|(entry, _)| entry).collect();
            self.pool.append(Pool::new(nodes));
        }
    }
}

impl<T: BoundedElsewhere> Explorer for Evaluation<'_, T> {
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.pool.append(read(self.tree, work)?);
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

    /// Bounds its nodes itself.
    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        self.recall();
        let mut explorer = TreeExplorer::new(self.tree);
        explorer.put_pool(std::mem::take(&mut self.pool));
        let progress = explorer.run(fuel, best);
        self.pool = explorer.take_pool();
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let all = self.pool.len() + self.in_flight();
        let wanted = portion(share, all);
        if self.pool.len() <= wanted {
            // Their bounds will come for nothing.
            self.recall();
        }
        let share = wanted as f64 / self.pool.len().max(1) as f64;
        self.pool.split(share).map(|given| given.to_work())
    }

    fn drain(&mut self) -> Work {
        self.recall();
        std::mem::take(&mut self.pool).to_work()
    }

    fn copy(&mut self) -> Work {
        let sent: Vec<Entry<T::Node>> = self.sent().cloned().collect();
        let mut all = self.pool.clone();
        all.append(Pool::new(sent));
        all.to_work()
    }
}
