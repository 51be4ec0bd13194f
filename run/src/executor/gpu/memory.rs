//! [`Memory`]: what a kind of device must provide: memory that kernels can reach, and a way to launch them.

use super::DeviceError;
use pleach_core::device::Layout;
use pleach_kernels::launch::{Entry, Launch};

/// Memory that kernels can reach, and a way to launch them. It is not used again after an error.
pub(super) trait Memory: Send {
    /// The number of free bytes.
    fn bytes(&self) -> u64;

    /// Frees all arrays that were taken.
    fn clear(&mut self) -> Result<(), DeviceError>;

    /// Makes the kernels of a problem. Returns how many explorers can run at once.
    fn make(&mut self, layout: &Layout) -> Result<u32, DeviceError>;

    /// Takes an array of words with any content. Returns its address.
    fn take(&mut self, words: usize) -> Result<u64, DeviceError>;

    /// Copies words to an address.
    fn write(&mut self, to: u64, words: &[u32]) -> Result<(), DeviceError>;

    /// Copies words from an address, once all kernels that were launched have ended.
    fn read(&mut self, from: u64, words: &mut [u32]) -> Result<(), DeviceError>;

    /// Launches a kernel, which runs after those launched before it.
    fn launch(&mut self, entry: Entry, launch: &Launch) -> Result<(), DeviceError>;
}
