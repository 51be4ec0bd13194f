//! Unbalanced Tree Search (UTS, Olivier et al. 2006): counts trees whose shape is given by hashing.

mod arguments;
mod columns;
mod device;
pub mod parameters;
mod rules;
pub mod sha1;
mod wide;

pub(crate) use columns::{Columns, PAD};
use parameters::Parameters;
pub(crate) use rules::{ROW, Rules};
use sha1::State;
use wide::Wide;
pub(crate) use wide::{Kernel, RunCounts};

use crate::simd::Level;
#[cfg(target_arch = "x86_64")]
use crate::simd::{uts_avx512::WideKernel, uts_sha::ShaKernel};
use pleach_core::search::device::OnDevice;
use pleach_core::search::explorer::{Explorer, TreeExplorer};
use pleach_core::search::problem::Problem;
use pleach_core::search::seed::Top;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::{Entry, Pool, Work};
use pleach_core::wire::fingerprint;

/// A tree whose nodes are counted.
#[derive(Clone, Debug)]
pub struct Uts {
    parameters: Parameters,
    rules: Rules,
    level: Level,
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

impl pleach_core::search::work::Pack for Node {
    const LEAST: usize = 20 + 3;

    fn pack(&self, out: &mut Vec<u8>) {
        // The words of a hash are as likely large as small: fixed width is shortest.
        self.state.iter().for_each(|word| out.extend(word.to_be_bytes()));
        (self.depth, self.left, self.fresh).pack(out);
    }

    fn unpack(
        from: &mut pleach_core::search::work::Reader<'_>,
    ) -> Result<Self, pleach_core::search::work::Malformed> {
        let mut state = [0; 5];
        for word in &mut state {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(from.take(4)?);
            *word = u32::from_be_bytes(bytes);
        }
        let (depth, left, fresh) = pleach_core::search::work::Pack::unpack(from)?;
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

impl Problem for Uts {
    fn goal(&self) -> Goal {
        Self::GOAL
    }

    fn root(&self) -> Work {
        Pool::whole(Tree::root(self)).to_work()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        #[cfg(target_arch = "x86_64")]
        match self.level {
            Level::Avx512 => {
                if let Some(kernel) = WideKernel::new(&self.rules, self.parameters.g) {
                    return Box::new(Wide::new(self, kernel));
                }
            }
            Level::Avx2 => {
                if let Some(kernel) = ShaKernel::new(&self.rules, self.parameters.g) {
                    return Box::new(Wide::new(self, kernel));
                }
            }
            Level::Off => {}
        }
        Box::new(TreeExplorer::new(self))
    }

    fn on_device(&self) -> Result<&dyn OnDevice, &'static str> {
        self.fits_device().map(|()| self as &dyn OnDevice)
    }

    fn top(&self) -> Option<&dyn Top> {
        Some(self)
    }

    fn check(&self, _solution: &[i64]) -> Option<Result<i64, String>> {
        None
    }

    fn fingerprint(&self) -> u64 {
        fingerprint("uts", &format!("{:?}", self.parameters).into_bytes())
    }
}

#[cfg(test)]
mod tests;
