//! [`Memory`]: memory that kernels can reach, and a way to start them; what a kind of device must have.

use super::DeviceError;
use pleach_core::device::Layout;
use pleach_kernels::launch::{Entry, Launch};

/// Memory that kernels can reach, and a way to start them.
///
/// After any error it is not used again.
pub(super) trait Memory: Send {
    /// Bytes that are free.
    fn bytes(&self) -> u64;

    /// Makes the kernels of a problem; how many explorers can run at once.
    fn make(&mut self, layout: &Layout) -> Result<u32, DeviceError>;

    /// Takes so many words, whatever is in them; returns their address.
    fn take(&mut self, words: usize) -> Result<u64, DeviceError>;

    /// Copies words to an address.
    fn write(&mut self, to: u64, words: &[u32]) -> Result<(), DeviceError>;

    /// Copies words from an address, once all kernels that were started have ended.
    fn read(&mut self, from: u64, words: &mut [u32]) -> Result<(), DeviceError>;

    /// Starts a kernel, which runs when those started before it have ended.
    fn launch(&mut self, entry: Entry, launch: &Launch) -> Result<(), DeviceError>;
}
