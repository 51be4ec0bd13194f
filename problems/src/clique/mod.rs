//! The maximum clique problem: the largest set of vertices of a graph that are all adjacent to each other.

mod bits;
mod colours;
mod explorer;
pub mod graph;
pub mod named;
mod node;
pub mod read;
mod squeeze;
#[cfg(test)]
mod tests;
mod tree;

use graph::Graph;
use pleach_core::search::problem::{Plain, Problem};
use tree::Cliques;

/// The search for a maximum clique, with sets of as many words as the graph needs.
#[must_use]
pub fn search(graph: Graph) -> Box<dyn Problem> {
    match graph.vertices().div_ceil(64) {
        ..=2 => Box::new(Plain(Cliques::<2>::new(graph))),
        3..=4 => Box::new(Plain(Cliques::<4>::new(graph))),
        5 => Box::new(Plain(Cliques::<5>::new(graph))),
        6..=8 => Box::new(Plain(Cliques::<8>::new(graph))),
        9..=16 => Box::new(Plain(Cliques::<16>::new(graph))),
        _ => Box::new(Plain(Cliques::<64>::new(graph))),
    }
}
