//! [`Slots`]: concurrent batches of parents that travel to a device, through its kernel and back.

use super::DeviceError;
use pleach_core::search::device::Layout;
use pleach_core::search::evaluate::Parents;
use pleach_kernels::serving::RING;

/// The maximum number of slots of a device.
pub const MOST_SLOTS: u32 = 64;

/// How many batches may be sent from the oldest unfinished one on, so that a kernel that is launched once has a place for
/// each, even if those in its slots are announced in another order.
pub const AHEAD: usize = RING / 2;

/// Places for batches on a device. What happens in one slot happens in order, independently of the other slots.
pub trait Slots: Send {
    /// Builds a problem's kernel and makes this many slots for batches of at most this many parents. If the kernel is
    /// launched `once`, batches have a single parent. Returns how many children can be bounded at once.
    fn make_slots(
        &mut self,
        layout: &Layout,
        slots: usize,
        most: usize,
        once: bool,
    ) -> Result<u32, DeviceError>;

    /// Sends parents, bounds their children, and fetches the bounds. The slot must be free.
    fn start(&mut self, slot: usize, parents: &Parents) -> Result<(), DeviceError>;

    /// Whether the bounds have arrived.
    fn is_done(&mut self, slot: usize) -> Result<bool, DeviceError>;

    /// The bounds, a word for each child, once they have arrived. Frees the slot.
    fn bounds(&mut self, slot: usize) -> Result<&[u32], DeviceError>;
}
