//! [`OnDevice`]: how a problem's nodes lie in the memory of a device whose kernels explore them.

use crate::tree::Solution;
use crate::work::{Malformed, Work};

/// What a problem's kernel is compiled and fed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Constants of the instance, in the order in which the kernel names them.
    pub sizes: Vec<u32>,
    /// Words of a node.
    pub words: usize,
    /// Words of a solution.
    pub plan: usize,
    /// Children of a node at most, and nodes on a path.
    pub width: usize,
    /// See `width`.
    pub depth: usize,
    /// What is the same for all nodes of the instance.
    pub tables: Vec<u32>,
}

/// A problem that a device can explore: its nodes as words, and back.
pub trait OnDevice: Sync {
    /// What the kernel needs.
    fn layout(&self) -> Layout;

    /// Appends the nodes of canonical work as words, the shallowest first.
    ///
    /// # Errors
    /// If the work is none of this problem's, or has nodes that the kernel cannot take.
    fn to_words(&self, work: &[u8], words: &mut Vec<u32>) -> Result<(), Malformed>;

    /// Makes canonical work of nodes as words, in any order.
    fn to_work(&self, words: &[u32]) -> Work;

    /// The bound of a node; `i64::MIN` where the problem has none.
    fn bound(&self, node: &[u32]) -> i64;

    /// The solution that a kernel wrote down.
    fn solution(&self, score: i64, plan: &[u32]) -> Solution {
        Solution { score, plan: plan.iter().map(|&word| word.into()).collect() }
    }
}
