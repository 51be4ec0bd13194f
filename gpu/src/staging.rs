//! [`Staging`]: copies of what a device holds, which travel to the host while kernels go on.

use super::DeviceError;

/// Two buffers on the host: one for the backup that is on its way, one for the backup before it.
pub(super) trait Staging {
    /// Makes room for words in a buffer, whose contents are garbage then. Returns whether there is room, and copying so
    /// many words while kernels run pays off. A thief may wait for some of them.
    fn make_room(&mut self, buffer: usize, words: usize, awaited: bool) -> bool;

    /// Begins to copy words to a buffer that has room for them; its contents are garbage until they are there. Kernels
    /// must leave the words alone meanwhile.
    fn send_off(&mut self, buffer: usize, from: u64, words: usize) -> Result<(), DeviceError>;

    /// Whether the words that were sent off last are there.
    fn have_arrived(&mut self) -> Result<bool, DeviceError>;

    /// The words of a buffer. They can be read whatever has become of the device.
    fn staged(&self, buffer: usize) -> &[u32];
}
