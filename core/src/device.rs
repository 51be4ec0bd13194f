//! [`OnDevice`]: how a problem's nodes are laid out in the memory of a device that explores them.

use crate::tree::Solution;
use crate::work::{Malformed, Work};

/// What compiling and running a problem's kernel takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Constants with which the kernel is compiled, in the order in which it names them.
    pub sizes: Vec<u32>,
    /// Further constants of the instance, for which the same code serves.
    pub values: Vec<u32>,
    /// Words per node.
    pub words: usize,
    /// Words per solution.
    pub plan: usize,
    /// The most children a node can have.
    pub width: usize,
    /// The most nodes on a path.
    pub depth: usize,
    /// Data shared by all nodes of the instance.
    pub tables: Vec<u32>,
}

/// Constants of an instance that a launch has room for.
pub const SIZES: usize = 10;

impl Layout {
    /// All constants as a launch takes them, with zeros after the last one.
    #[must_use]
    pub fn constants(&self) -> [u32; SIZES] {
        let mut all = [0; SIZES];
        let given = self.sizes.iter().chain(&self.values);
        all.iter_mut().zip(given).for_each(|(size, &given)| *size = given);
        all
    }
}

/// A problem that a device can explore, with conversions between nodes and words.
pub trait OnDevice: Sync {
    /// What the kernel needs.
    fn layout(&self) -> Layout;

    /// Appends the nodes in `work` as words, the shallowest first.
    ///
    /// # Errors
    /// If the work does not belong to this problem or contains nodes that the kernel cannot handle.
    fn to_words(&self, work: &[u8], words: &mut Vec<u32>) -> Result<(), Malformed>;

    /// Converts nodes, in any order, from words to canonical work.
    fn to_work(&self, words: &[u32]) -> Work;

    /// The bound of a node; `i64::MIN` where the problem has none.
    fn bound(&self, node: &[u32]) -> i64;

    /// The solution that a kernel wrote.
    fn solution(&self, score: i64, plan: &[u32]) -> Solution {
        Solution { score, plan: plan.iter().map(|&word| word.into()).collect() }
    }
}
