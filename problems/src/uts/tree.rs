//! [`Uts`]: the tree, whose shape is given by hashing, and its nodes.

use super::parameters::Parameters;
use super::rules::Rules;
use super::sha1::{self, State};
use crate::simd::Level;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::{Entry, Malformed, Pack, Reader};

/// A tree whose nodes are counted.
#[derive(Clone, Debug)]
pub struct Uts {
    pub(super) parameters: Parameters,
    pub(super) rules: Rules,
    pub(super) level: Level,
}

/// A node with children; those with numbers below `left` have yet to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The node's hash.
    pub state: State,
    /// Distance from the root.
    pub depth: u32,
    /// Children yet to be made.
    pub left: u32,
    /// Whether the node itself has yet to be counted as branched.
    pub fresh: bool,
}

impl Pack for Node {
    const LEAST: usize = 20 + 3;

    fn pack(&self, out: &mut Vec<u8>) {
        // The words of a hash are as likely large as small: fixed width is shortest.
        self.state.iter().for_each(|word| out.extend(word.to_be_bytes()));
        (self.depth, self.left, self.fresh).pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut state = [0; 5];
        for word in &mut state {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(from.take(4)?);
            *word = u32::from_be_bytes(bytes);
        }
        let (depth, left, fresh) = Pack::unpack(from)?;
        Ok(Self { state, depth, left, fresh })
    }
}

impl Uts {
    /// The tree with these parameters, explored on this code path.
    #[must_use]
    pub fn new(parameters: Parameters, level: Level) -> Self {
        Self { rules: Rules::new(&parameters), parameters, level }
    }

    fn plain_child(&self, parent: &State, number: u32) -> State {
        for _ in 1..self.parameters.g {
            std::hint::black_box(sha1::child(std::hint::black_box(parent), number));
        }
        sha1::child(parent, number)
    }

    /// Reports a child with this state.
    #[inline]
    fn meet(&self, depth: u32, state: State, out: &mut Children<'_, Self>) {
        out.count(1);
        match self.rules.children(depth, value(&state)) {
            0 => out.leaves(1),
            left => out.child(Node { state, depth, left, fresh: true }),
        }
    }
}

/// A node's random value: the last word, top bit cleared.
fn value(state: &State) -> u32 {
    state[4] & (u32::MAX >> 1)
}

impl Tree for Uts {
    type Node = Node;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Node {
        let state = sha1::root(self.parameters.seed);
        Node { state, depth: 0, left: self.rules.children(0, value(&state)), fresh: true }
    }

    fn expand(&self, node: &Node, _best: Option<i64>, out: &mut Children<'_, Self>) {
        if node.depth == 0 && node.fresh {
            out.count(1);
        }
        let depth = node.depth + 1;
        for number in 0..node.left {
            self.meet(depth, self.plain_child(&node.state, number), out);
        }
    }

    fn weight(&self, node: &Node) -> u64 {
        // A root without children is a leaf like any other.
        u64::from(node.fresh && node.left > 0)
    }

    fn valid(&self, Entry { depth, bound, node, .. }: &Entry<Node>) -> bool {
        if *depth != node.depth || *bound != i64::MIN {
            return false;
        }
        let root = node.depth == 0 && node.fresh;
        (node.left > 0 || root) && node.left <= self.rules.widest() && node.depth < u32::MAX / 2
    }
}
