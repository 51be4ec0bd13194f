//! [`Staging`]: copies of what a device holds, which travel to the host while kernels run.

use super::DeviceError;

/// Two buffers on the host: one for the incoming backup, one for the backup before it.
pub(super) trait Staging {
    /// Makes room for words in a buffer, whose contents are garbage then. Returns whether there is room and it pays to
    /// copy this many words while kernels run. If `awaited`, a thief is waiting for some of them.
    fn make_room(&mut self, buffer: usize, words: usize, awaited: bool) -> bool;

    /// Starts copying words to a buffer that has room for them; its contents are garbage until they arrive. Until then,
    /// kernels must not change the words.
    fn send_off(&mut self, buffer: usize, from: u64, words: usize) -> Result<(), DeviceError>;

    /// Whether the words last sent off have arrived.
    fn have_arrived(&mut self) -> Result<bool, DeviceError>;

    /// The words of a buffer. They remain readable even if the device has failed.
    fn staged(&self, buffer: usize) -> &[u32];
}
