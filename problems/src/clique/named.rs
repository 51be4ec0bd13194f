//! Graphs by name: some of the second DIMACS challenge (Johnson and Trick 1996), with the sizes of their largest cliques.

use super::graph::Graph;
use super::read::read_bits;
use crate::files::files;

files! {
    include_bytes("clique", ".clq" ".b") -> [u8];
    "brock200_1" 21, "brock200_2" 12, "brock200_3" 15, "brock200_4" 17, "brock400_1" 27,
    "brock400_2" 29, "brock400_3" 31, "brock400_4" 33, "c-fat200-1" 12, "p_hat300-1" 8,
    "p_hat300-2" 25, "p_hat300-3" 36, "san200_0.9_1" 70, "sanr200_0.7" 18, "sanr400_0.5" 13,
}

/// Whether a word is a name; otherwise it is a file name.
#[must_use]
pub fn is_name(word: &str) -> bool {
    file(word).is_some()
}

/// The graph with this name, with or without `.clq`.
#[must_use]
pub fn named(word: &str) -> Option<Result<Graph, String>> {
    file(word).map(|(_, _, bytes)| read_bits(bytes))
}
