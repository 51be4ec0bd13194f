//! The search tree: a node is a clique, with the vertices that can extend it.

use super::bits::{Bits, below, insert, is_empty, remove, vertices, without};
use super::colours::branch;
use super::explorer::CliqueExplorer;
use super::graph::Graph;
use super::node::{Node, solution};
use pleach_core::search::explorer::Explorer;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::Entry;
use pleach_core::wire::fingerprint;

/// A graph whose vertices are sorted for colouring: by decreasing degree, in the order of the input among equals.
pub(super) struct Cliques<const W: usize> {
    graph: Graph,
    /// For each place in the order, the vertex there, counted from 0.
    order: Vec<usize>,
    /// The neighbours of each place.
    rows: Vec<Bits<W>>,
}

impl<const W: usize> Cliques<W> {
    /// The tree of a graph with at most `64 * W` vertices.
    pub fn new(graph: Graph) -> Self {
        let mut order: Vec<usize> = (0..graph.vertices()).collect();
        order.sort_by_key(|&vertex| std::cmp::Reverse(graph.degree(vertex)));
        let row = |&vertex: &usize| {
            let mut row = [0; W];
            let near = (0..order.len()).filter(|&at| graph.adjacent(vertex, order[at]));
            near.for_each(|at| insert(&mut row, at));
            row
        };
        let rows = order.iter().map(row).collect();
        Self { graph, order, rows }
    }
}

impl<const W: usize> Tree for Cliques<W> {
    type Node = Node<W>;
    const GOAL: Goal = Goal::Maximise;

    fn root(&self) -> Node<W> {
        Node { clique: [0; W], open: below(self.order.len()), size: 0 }
    }

    fn expand(&self, node: &Node<W>, best: Option<i64>, out: &mut Children<'_, Self>) {
        let size = i64::from(node.size);
        let spare = best.unwrap_or(0).saturating_sub(size).max(0) as usize;
        let mut children = Vec::new();
        branch(&self.rows, &node.open, spare, |colour, vertex, open| {
            let mut clique = node.clique;
            insert(&mut clique, vertex);
            let bound = size + colour as i64 + 1;
            children.push((bound, Node { clique, open, size: node.size + 1 }));
        });
        for (at, (bound, child)) in children.into_iter().rev().enumerate() {
            if !is_empty(&child.open) {
                out.child_within(bound, child);
                continue;
            }
            // A later sibling of this kind would improve nothing: below the first child there is a larger clique.
            out.leaves(1);
            if at == 0 {
                out.solution(size + 1, || solution(&self.order, vertices(&child.clique)));
            }
        }
    }

    fn valid(&self, entry: &Entry<Node<W>>) -> bool {
        let Node { clique, open, size } = &entry.node;
        let all = below(self.order.len());
        let mut rest = *clique;
        let adjacent = |vertex| {
            remove(&mut rest, vertex);
            is_empty(&without(&rest, &self.rows[vertex]))
                && is_empty(&without(open, &self.rows[vertex]))
        };
        is_empty(&without(clique, &all))
            && is_empty(&without(open, &all))
            && vertices(clique).count() == *size as usize
            && entry.depth == *size
            && vertices(clique).all(adjacent)
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(fingerprint("clique", &(self.graph.vertices(), self.graph.rows().to_vec())))
    }

    fn own_explorer(&self) -> Option<Box<dyn Explorer + '_>> {
        Some(Box::new(CliqueExplorer::new(self, &self.order, &self.rows)))
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        Some(self.graph.clique(solution))
    }
}
