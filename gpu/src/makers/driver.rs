//! [`Driver`]: what the library of a GPU's maker does: memory, code, launches, and streams with page-locked memory.

use crate::DeviceError;
use crate::form::{BuiltKernel, Handling};
use pleach_core::search::device::Layout;
use std::ffi::c_void;

/// An open GPU, by the library of its maker. Memory holds 32-bit words; addresses are those of the device.
pub(super) trait Driver: Send + 'static {
    /// A kernel's code on the GPU.
    type Code: Send;
    /// An entry point, to be used only while its code is loaded.
    type Kernel: Copy + Send;
    /// A stream with an event. What it is told happens in that order.
    type Stream: Send;
    /// Page-locked memory of the host.
    type Pinned: Send;

    /// Makes this GPU the one of the calling thread. All other calls need it.
    fn bind(&self) -> Result<(), DeviceError>;

    /// Units that hold blocks of threads.
    fn multiprocessors(&self) -> u32;

    /// Bytes of memory that are free.
    fn free_bytes(&self) -> u64;

    /// Allocates bytes with arbitrary content; nothing if there are too few.
    fn allocate(&self, bytes: usize) -> Option<u64>;

    /// Frees an array.
    ///
    /// # Safety
    /// It was allocated once, and nothing uses it any more.
    unsafe fn free(&self, address: u64) -> Result<(), DeviceError>;

    /// Copies words to the device: once this returns, before anything that the default stream is told.
    ///
    /// # Safety
    /// There is room for as many from `to` on.
    unsafe fn write(&self, to: u64, words: &[u32]) -> Result<(), DeviceError>;

    /// Copies words from the device, after all that the default stream was told.
    ///
    /// # Safety
    /// There are as many from `from` on.
    unsafe fn read(&self, from: u64, words: &mut [u32]) -> Result<(), DeviceError>;

    /// Waits for all that was asked of the GPU.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Whether all that the default stream was told has happened.
    fn is_idle(&self) -> Result<bool, DeviceError>;

    /// Loads the first form of a kernel that works.
    ///
    /// # Errors
    /// What compiler and driver say of all forms that are allowed.
    fn load(
        &self,
        layout: &Layout,
        handling: Handling,
    ) -> Result<(Self::Code, BuiltKernel), DeviceError>;

    /// An entry point.
    fn kernel(&self, code: &Self::Code, name: &str) -> Result<Self::Kernel, DeviceError>;

    /// How many blocks of a kernel's threads a multiprocessor holds at once.
    fn blocks(&self, kernel: Self::Kernel) -> Result<u32, DeviceError>;

    /// Sets aside as much shared memory as this many blocks take. Only a hint: without it the driver decides.
    fn carve_out(&self, _kernel: Self::Kernel, _blocks: u32) {}

    /// Launches a kernel, on the default stream if on no other.
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

    /// Makes a stream that waits for no other.
    fn stream(&self) -> Result<Self::Stream, DeviceError>;

    /// Allocates page-locked words, to be sent or else to be received.
    fn pin(&self, words: usize, sends: bool) -> Result<Self::Pinned, DeviceError>;

    /// The words of page-locked memory. They can be read whatever has become of the GPU.
    fn words<'m>(&self, memory: &'m mut Self::Pinned) -> &'m mut [u32];

    /// The same, only to be read.
    fn as_words<'m>(&self, memory: &'m Self::Pinned) -> &'m [u32];

    /// Copies page-locked words to the device, when it is the turn of the stream, or else of the default stream.
    ///
    /// # Safety
    /// As for [`Driver::write`]; nobody writes the words before that.
    unsafe fn send(
        &self,
        stream: Option<&Self::Stream>,
        to: u64,
        words: &[u32],
    ) -> Result<(), DeviceError>;

    /// Copies words from the device to page-locked memory, when it is the turn of the stream, or else of the default
    /// stream.
    ///
    /// # Safety
    /// As for [`Driver::read`]; nobody reads or writes the words before that.
    unsafe fn fetch(
        &self,
        stream: Option<&Self::Stream>,
        words: &mut [u32],
        from: u64,
    ) -> Result<(), DeviceError>;

    /// Marks how far the stream has been told.
    fn mark(&self, stream: &Self::Stream) -> Result<(), DeviceError>;

    /// Whether the stream has come to its mark.
    fn is_past(&self, stream: &Self::Stream) -> Result<bool, DeviceError>;

    /// Leaves the GPU as it is until the process ends: whatever touches it would wait for a kernel that hangs.
    fn forsake(&mut self);
}
