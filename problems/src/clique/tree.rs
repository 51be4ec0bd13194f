//! The search tree: a node is a clique, with the vertices that can extend it.

use super::bits::{Bits, below, insert, is_empty, remove, vertices, without};
use super::colours::branch;
use super::explorer::CliqueExplorer;
use super::graph::Graph;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::{Entry, Malformed, Pack, Reader};
use pleach_core::wire::fingerprint;

/// A graph whose vertices are sorted for colouring: by decreasing degree, in the order of the input among equals.
pub(super) struct Cliques<const W: usize> {
    graph: Graph,
    /// For each place in the order, the vertex there, counted from 0.
    order: Vec<usize>,
    /// The neighbours of each place.
    rows: Vec<Bits<W>>,
}

/// A clique, the vertices adjacent to all of it that may be added, and its size.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node<const W: usize> {
    pub clique: Bits<W>,
    pub open: Bits<W>,
    pub size: u32,
}

impl<const W: usize> Pack for Node<W> {
    const LEAST: usize = 2 * W + 1;

    fn pack(&self, out: &mut Vec<u8>) {
        self.clique.pack(out);
        self.open.pack(out);
        self.size.pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (clique, open) = Pack::unpack(from)?;
        Ok(Self { clique, open, size: u32::unpack(from)? })
    }
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

    /// The neighbours of each place.
    pub fn rows(&self) -> &[Bits<W>] {
        &self.rows
    }

    /// A clique as a solution: the numbers of its vertices, in order.
    pub fn solution(&self, clique: impl IntoIterator<Item = usize>) -> Vec<i64> {
        let numbers = clique.into_iter().map(|place| self.order[place] as i64 + 1);
        let mut numbers: Vec<i64> = numbers.collect();
        numbers.sort_unstable();
        numbers
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
        let most = self.order.len() as i64;
        let spare = best.unwrap_or(0).saturating_sub(size).clamp(0, most) as usize;
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
                out.solution(size + 1, || self.solution(vertices(&child.clique)));
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
        Some(Box::new(CliqueExplorer::new(self)))
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        Some(self.graph.clique(solution))
    }
}
