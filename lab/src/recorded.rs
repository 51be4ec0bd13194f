//! [`Recorded`]: a tree recorded once, so that later searches of it are cheap.

use pleach_core::search::tree::{Children, Expansion, Tree, expansion};
use pleach_core::search::work::Entry;
use pleach_core::wire::fingerprint;
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// A recorded node. Its children have consecutive numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Node {
    first: u32,
    children: u32,
    /// Children that need no search.
    leaves: u32,
    /// What the node itself adds to the counts.
    total: u32,
    weight: u32,
}

/// Another tree's nodes by number, with their bounds and solutions.
///
/// A search with an initial best score no worse than the one used for recording sees the same nodes, counts and scores
/// as in the original tree. Its solutions have a score only.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded<T> {
    nodes: Vec<Node>,
    /// The nodes' bounds as scores; empty if the tree has none.
    bounds: Vec<i64>,
    /// Scores of solutions, by the number of the node that finds them.
    solutions: BTreeMap<u32, i64>,
    tree: PhantomData<fn() -> T>,
}

impl<T: Tree> Recorded<T> {
    /// Records a tree except for nodes that cannot beat the score `best`; `None` if more than `most` nodes remain, not
    /// counting leaves.
    #[must_use]
    pub fn of(tree: &T, best: i64, most: u32) -> Option<Self> {
        let root = tree.root();
        let node = Node { weight: u32::try_from(tree.weight(&root)).ok()?, ..Node::default() };
        let (nodes, bounds) = (vec![node], vec![i64::MIN]);
        let mut all = Self { nodes, bounds, solutions: BTreeMap::new(), tree: PhantomData };
        let mut open = vec![(0, root)];
        while let Some((number, node)) = open.pop() {
            let Expansion { children, made, total, solution } =
                expansion(tree, &node, all.bounds[number as usize], best);
            let first = all.nodes.len() as u32;
            let mut kept = 0;
            for (bound, child) in children {
                let weight = tree.weight(&child);
                kept += weight;
                let weight = u32::try_from(weight).ok()?;
                open.push((all.nodes.len() as u32, child));
                all.nodes.push(Node { weight, ..Node::default() });
                all.bounds.push(bound);
            }
            if all.nodes.len() > most as usize {
                return None;
            }
            all.solutions.extend(solution.map(|found| (number, found.score)));
            let children = all.nodes.len() as u32 - first;
            let node = &mut all.nodes[number as usize];
            node.first = first;
            node.leaves = u32::try_from(made - kept).ok()?;
            node.total = u32::try_from(total).ok()?;
            node.children = children;
        }
        if all.bounds.iter().all(|&bound| bound == i64::MIN) {
            all.bounds = Vec::new();
        }
        Some(all)
    }

    /// The number of nodes, not counting leaves.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn bound(&self, number: u32) -> i64 {
        self.bounds.get(number as usize).copied().unwrap_or(i64::MIN)
    }
}

impl<T: Tree> Tree for Recorded<T> {
    type Node = u32;
    const GOAL: pleach_core::search::tree::Goal = T::GOAL;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &number: &u32, _best: Option<i64>, out: &mut Children<'_, Self>) {
        let node = self.nodes[number as usize];
        out.leaves(node.leaves.into());
        out.count(node.total.into());
        for child in node.first..node.first + node.children {
            if self.bounds.is_empty() {
                out.child(child);
            } else {
                out.child_within(T::GOAL.value(self.bound(child)), child);
            }
        }
        if let Some(&score) = self.solutions.get(&number) {
            out.solution(T::GOAL.value(score), Vec::new);
        }
    }

    fn weight(&self, &number: &u32) -> u64 {
        self.nodes[number as usize].weight.into()
    }

    fn valid(&self, entry: &Entry<u32>) -> bool {
        (entry.node as usize) < self.nodes.len() && entry.bound == self.bound(entry.node)
    }

    fn fingerprint(&self) -> Option<u64> {
        let leaves: u64 = self.nodes.iter().map(|node| u64::from(node.leaves)).sum();
        Some(fingerprint("recorded", &(self.nodes.len() as u64, leaves)))
    }
}
