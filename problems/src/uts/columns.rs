//! [`Columns`]: open nodes in columns, so that many can be loaded into vector lanes at once.

use super::sha1::State;
use super::tree::Node;

/// Padding beyond the last node: a kernel may write this much past the end.
pub const PAD: usize = 48;

/// Open nodes: a column for each word of the state, one for children left, one for the depth.
///
/// All nodes in it have children left, and have been counted as branched.
#[derive(Debug)]
pub struct Columns {
    pub(crate) state: [Vec<u32>; 5],
    pub(crate) left: Vec<u32>,
    pub(crate) depth: Vec<u32>,
    len: usize,
}

impl Default for Columns {
    fn default() -> Self {
        let column = || vec![0; PAD];
        Self { state: std::array::from_fn(|_| column()), left: column(), depth: column(), len: 0 }
    }
}

impl Columns {
    /// Open nodes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Sets the number of nodes after the columns were written or read directly.
    ///
    /// # Panics
    /// If the columns do not have room for these nodes and the padding.
    pub fn set_len(&mut self, len: usize) {
        assert!(len + PAD <= self.left.len(), "{len} nodes and padding in the columns");
        self.len = len;
    }

    /// Doubles the room, and at least provides the padding.
    pub fn grow(&mut self) {
        let room = (self.left.len() * 2).max(self.len + 2 * PAD);
        self.state.iter_mut().for_each(|column| column.resize(room, 0));
        self.left.resize(room, 0);
        self.depth.resize(room, 0);
    }

    /// Pushes a node.
    pub fn push(&mut self, state: &State, left: u32, depth: u32) {
        self.reserve(1);
        let at = self.len;
        self.state.iter_mut().zip(state).for_each(|(column, &word)| column[at] = word);
        self.left[at] = left;
        self.depth[at] = depth;
        self.len += 1;
    }

    /// Makes room for `n` more nodes and the padding.
    pub fn reserve(&mut self, n: usize) {
        while self.len + n + PAD > self.left.len() {
            self.grow();
        }
    }

    /// Pushes the node at `from`, at or above the top, with `left` children left.
    pub fn keep(&mut self, from: usize, left: u32) {
        self.shift(from, self.len);
        self.left[self.len] = left;
        self.len += 1;
    }

    fn node(&self, at: usize) -> Node {
        let state = std::array::from_fn(|word| self.state[word][at]);
        Node { state, depth: self.depth[at], left: self.left[at], fresh: false }
    }

    fn shift(&mut self, from: usize, to: usize) {
        self.state.iter_mut().for_each(|column| column[to] = column[from]);
        self.left[to] = self.left[from];
        self.depth[to] = self.depth[from];
    }

    /// Removes `wanted` nodes, evenly spread from bottom to top.
    ///
    /// Depths are in order except for a batch or two, so every depth gives its share.
    pub fn take_spread(&mut self, wanted: usize) -> Vec<Node> {
        let n = self.len;
        let mut taken = Vec::with_capacity(wanted);
        let mut kept = 0;
        for at in 0..n {
            // Rounding up favours the bottom, whose nodes would have been explored last.
            if (at * wanted).div_ceil(n) < ((at + 1) * wanted).div_ceil(n) {
                taken.push(self.node(at));
            } else {
                self.shift(at, kept);
                kept += 1;
            }
        }
        self.len = kept;
        taken
    }
}
