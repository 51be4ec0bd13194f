//! [`Columns`]: open nodes in columns, so that many can be taken up into vector lanes at once.

use super::Node;
use super::sha1::State;

/// Room kept free beyond the last node: a kernel may write this much past the end.
pub const PAD: usize = 48;

/// Open nodes, one column for each word of the state, one for children left, one for depth.
///
/// All nodes in it have children left, and are counted as branched already.
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

    /// Says how many nodes there are, after the columns were written or read directly.
    ///
    /// # Panics
    /// If the columns do not hold so many and their padding.
    pub fn set_len(&mut self, len: usize) {
        assert!(len + PAD <= self.left.len(), "{len} nodes and padding in the columns");
        self.len = len;
    }

    /// Makes room for as many nodes again, and at least for the padding.
    pub fn grow(&mut self) {
        let room = (self.left.len() * 2).max(self.len + 2 * PAD);
        self.state.iter_mut().for_each(|column| column.resize(room, 0));
        self.left.resize(room, 0);
        self.depth.resize(room, 0);
    }

    /// Puts a node on top.
    pub fn push(&mut self, state: &State, left: u32, depth: u32) {
        self.reserve(1);
        let at = self.len;
        self.state.iter_mut().zip(state).for_each(|(column, &word)| column[at] = word);
        self.left[at] = left;
        self.depth[at] = depth;
        self.len += 1;
    }

    /// Makes room for `n` more nodes, and the padding.
    pub fn reserve(&mut self, n: usize) {
        while self.len + n + PAD > self.left.len() {
            self.grow();
        }
    }

    /// Puts the node that lies at `from`, at or above the top, back on top with so many left.
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

    /// Takes out `wanted` nodes, evenly spread from the bottom to the top.
    ///
    /// Depths lie in order but for a batch or two, so every depth gives its share.
    pub fn take_spread(&mut self, wanted: usize) -> Vec<Node> {
        let n = self.len;
        let mut taken = Vec::with_capacity(wanted);
        let mut kept = 0;
        for at in 0..n {
            // Rounding up favours the bottom: those nodes would have been explored last.
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
