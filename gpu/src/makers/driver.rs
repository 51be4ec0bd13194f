//! [`Driver`]: what the library of a GPU's maker provides: memory, code, launches, and streams with page-locked memory.

use crate::DeviceError;
use crate::form::{BuiltKernel, Handling};
use pleach_core::search::device::Layout;
use std::ffi::c_void;

/// An open GPU, accessed through the library of its maker. Memory holds 32-bit words; addresses are those of the
/// device.
pub(super) trait Driver: Send + 'static {
    /// A kernel's code on the GPU.
    type Code: Send;
    /// An entry point, valid only while its code is loaded.
    type Kernel: Copy + Send;
    /// A stream with an event. Its operations run in order.
    type Stream: Send;
    /// Page-locked memory of the host.
    type Pinned: Send;

    /// Binds this GPU to the calling thread. All other calls require that.
    fn bind(&self) -> Result<(), DeviceError>;

    /// The number of multiprocessors, which hold blocks of threads.
    fn multiprocessors(&self) -> u32;

    /// Whether warps run independently, so that one may wait for any other.
    fn has_independent_warps(&self) -> bool {
        true
    }

    /// The number of free bytes.
    fn free_bytes(&self) -> u64;

    /// Allocates bytes with arbitrary content; `None` if there are too few.
    fn allocate(&self, bytes: usize) -> Option<u64>;

    /// Frees an array.
    ///
    /// # Safety
    /// It was allocated once, and nothing uses it any more.
    unsafe fn free(&self, address: u64) -> Result<(), DeviceError>;

    /// Copies words to the device. The copy is done on return, before all later operations on the default stream.
    ///
    /// # Safety
    /// There is room for that many words at `to`.
    unsafe fn write(&self, to: u64, words: &[u32]) -> Result<(), DeviceError>;

    /// Copies words from the device, after all earlier operations on the default stream.
    ///
    /// # Safety
    /// There are that many words at `from`.
    unsafe fn read(&self, from: u64, words: &mut [u32]) -> Result<(), DeviceError>;

    /// Waits for all operations of the GPU.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Whether all operations on the default stream are done.
    fn is_idle(&self) -> Result<bool, DeviceError>;

    /// Loads the first form of a kernel that works.
    ///
    /// # Errors
    /// The messages of compiler and driver about all allowed forms.
    fn load(
        &self,
        layout: &Layout,
        handling: Handling,
    ) -> Result<(Self::Code, BuiltKernel), DeviceError>;

    /// An entry point.
    fn kernel(&self, code: &Self::Code, name: &str) -> Result<Self::Kernel, DeviceError>;

    /// How many blocks of a kernel's threads a multiprocessor holds at once.
    fn blocks(&self, kernel: Self::Kernel) -> Result<u32, DeviceError>;

    /// Reserves as much shared memory as this many blocks need. Only a hint: without it the driver decides.
    fn carve_out(&self, _kernel: Self::Kernel, _blocks: u32) {}

    /// Launches a kernel on this stream, or else on the default stream.
    ///
    /// # Safety
    /// `record` points to the only parameter of the kernel, and its arrays have the sizes that it states.
    unsafe fn launch(
        &self,
        kernel: Self::Kernel,
        stream: Option<&Self::Stream>,
        blocks: u32,
        record: *const c_void,
    ) -> Result<(), DeviceError>;

    /// Makes a stream that does not wait for others.
    fn stream(&self) -> Result<Self::Stream, DeviceError>;

    /// Allocates page-locked words, for sending if `sends`, otherwise for receiving.
    fn pin(&self, words: usize, sends: bool) -> Result<Self::Pinned, DeviceError>;

    /// The words of page-locked memory. They remain readable even if the GPU has failed.
    fn words<'m>(&self, memory: &'m mut Self::Pinned) -> &'m mut [u32];

    /// The same words, read-only.
    fn as_words<'m>(&self, memory: &'m Self::Pinned) -> &'m [u32];

    /// Enqueues a copy of page-locked words to the device on this stream, or else on the default stream.
    ///
    /// # Safety
    /// As for [`Driver::write`]; nobody writes the words until the copy is done.
    unsafe fn send(
        &self,
        stream: Option<&Self::Stream>,
        to: u64,
        words: &[u32],
    ) -> Result<(), DeviceError>;

    /// Enqueues a copy of words from the device to page-locked memory on this stream, or else on the default stream.
    ///
    /// # Safety
    /// As for [`Driver::read`]; nobody reads or writes the words until the copy is done.
    unsafe fn fetch(
        &self,
        stream: Option<&Self::Stream>,
        words: &mut [u32],
        from: u64,
    ) -> Result<(), DeviceError>;

    /// Records the event after all earlier operations on the stream.
    fn mark(&self, stream: &Self::Stream) -> Result<(), DeviceError>;

    /// Whether the stream has passed its event.
    fn is_past(&self, stream: &Self::Stream) -> Result<bool, DeviceError>;

    /// Leaves the GPU as it is until the process ends: touching it would wait for a hung kernel.
    fn abandon(&mut self);
}
