//! [`Slots`]: batches of parents on their way to a device, through its kernel and back, several side by side.

use super::DeviceError;
use pleach_core::search::device::Layout;
use pleach_core::search::evaluate::Parents;

/// Places for batches on a device: what is in one slot happens in order, whatever is in the others.
pub trait Slots: Send {
    /// Builds a problem's kernel, and makes this many slots, each for batches of at most this many parents. If the kernel
    /// is launched `once`, batches have a single parent. Returns how many children can be bounded at once.
    fn make_slots(
        &mut self,
        layout: &Layout,
        slots: usize,
        most: usize,
        once: bool,
    ) -> Result<u32, DeviceError>;

    /// Sends parents, has their children bounded, and fetches the bounds. The slot must be free.
    fn start(&mut self, slot: usize, parents: &Parents) -> Result<(), DeviceError>;

    /// Whether the bounds have come.
    fn is_done(&mut self, slot: usize) -> Result<bool, DeviceError>;

    /// The bounds, a word for each child, once they have come. The slot is free again.
    fn bounds(&mut self, slot: usize) -> Result<&[u32], DeviceError>;
}
