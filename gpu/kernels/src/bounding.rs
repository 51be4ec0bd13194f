//! The arguments of a launch that bounds the children of parents on the host: matches `cuda/bounding.cuh`.

use crate::launch::THREADS;

/// What the entry point `bound` takes, by value. Addresses are device addresses.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounding {
    /// `u32[count + 1]`: the number of children before those of each parent, and the total.
    pub starts: u64,
    /// `u32[count * words]`: the parents.
    pub parents: u64,
    /// `u32[children]`: receives the bounds of each child, at the front in the lower half, at the back in the upper.
    pub bounds: u64,
    /// `u32[]`: the problem's tables. Aligned to eight bytes. Kernels of work in steps change them.
    pub tables: u64,
    /// The number of parents.
    pub count: u32,
    /// The number of children of all parents.
    pub children: u32,
    /// Constants of the instance.
    pub sizes: [u32; 10],
}

/// The entry point of kernels that bound.
pub const BOUND: &str = "bound";

impl Bounding {
    /// Blocks in a launch: a thread for each child and each end.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        (2 * u64::from(self.children)).div_ceil(u64::from(THREADS)) as u32
    }
}
