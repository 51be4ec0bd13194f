//! [`Cuda`]: NVIDIA's GPUs through the CUDA driver, whose library is opened at run time.

use super::driver::Driver;
use super::forms::KernelForms;
use super::module::{CudaFunction, CudaModule, failed};
use crate::DeviceError;
use crate::form::{BuiltKernel, Handling};
use cudarc::driver::sys::{self, CU_MEMHOSTALLOC_WRITECOMBINED};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, PinnedHostSlice, result};
use pleach_core::search::device::Layout;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

/// The oldest CUDA version that has all functions used here; calling a missing one would panic.
const LEAST_VERSION: i32 = 12_010;

/// An NVIDIA GPU.
pub(super) struct Cuda {
    context: Arc<CudaContext>,
    multiprocessors: u32,
}

/// The number of NVIDIA GPUs.
///
/// # Errors
/// Why none can be used.
pub(super) fn count() -> Result<u32, DeviceError> {
    // SAFETY: only loads a system library by name.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::Failed("no CUDA driver is installed".into()));
    }
    let mut version = 0;
    // SAFETY: writes to a valid integer.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(failed)?;
    if version < LEAST_VERSION {
        let (major, minor) = (version / 1000, version % 1000 / 10);
        let why = format!("the CUDA driver supports CUDA {major}.{minor}, expected 12.1 or later");
        return Err(DeviceError::Failed(why));
    }
    let n = CudaContext::device_count().map_err(failed)?;
    if n > 0 {
        Ok(n as u32)
    } else {
        Err(DeviceError::Failed("the CUDA driver sees no GPU".into()))
    }
}

/// The name of a GPU, and its memory in bytes.
///
/// # Errors
/// If the driver fails.
pub(super) fn describe(number: u32) -> Result<(String, u64), DeviceError> {
    let gpu = result::device::get(number as i32).map_err(failed)?;
    let name = result::device::get_name(gpu).map_err(failed)?;
    // SAFETY: there is such a GPU.
    let memory = unsafe { result::device::total_mem(gpu) }.map_err(failed)?;
    Ok((name, memory as u64))
}

impl Cuda {
    /// Opens a GPU by its number.
    pub fn open(number: u32) -> Result<Self, DeviceError> {
        let context = CudaContext::new(number as usize).map_err(failed)?;
        // A waiting thread should leave its core to others.
        let _ = context.set_blocking_synchronize();
        let count = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let multiprocessors = context.attribute(count).map_err(failed)?.max(0) as u32;
        Ok(Self { context, multiprocessors })
    }
}

/// Page-locked words. Keeps their address, which the owner does not return once the GPU has failed.
pub(super) struct CudaPinned {
    words: *mut u32,
    count: usize,
    _memory: PinnedHostSlice<u32>,
}

// SAFETY: it is memory like any other, and has one owner.
unsafe impl Send for CudaPinned {}

/// The driver's handle of a stream; the default stream if none is given.
fn handle(stream: Option<&(Arc<CudaStream>, CudaEvent)>) -> sys::CUstream {
    stream.map_or(null_mut(), |(stream, _)| stream.cu_stream())
}

impl Driver for Cuda {
    type Code = CudaModule;
    type Kernel = CudaFunction;
    type Stream = (Arc<CudaStream>, CudaEvent);
    type Pinned = CudaPinned;

    fn bind(&self) -> Result<(), DeviceError> {
        self.context.bind_to_thread().map_err(failed)
    }

    fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    fn free_bytes(&self) -> u64 {
        self.context.mem_get_info().map_or(0, |(free, _)| free as u64)
    }

    fn allocate(&self, bytes: usize) -> Option<u64> {
        // SAFETY: nothing reads this memory before it is written.
        unsafe { result::malloc_sync(bytes) }.ok()
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn free(&self, address: u64) -> Result<(), DeviceError> {
        // SAFETY: as the caller guarantees.
        unsafe { result::free_sync(address) }.map_err(failed)
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn write(&self, to: u64, words: &[u32]) -> Result<(), DeviceError> {
        // SAFETY: as the caller guarantees.
        unsafe { result::memcpy_htod_sync(to, words) }.map_err(failed)
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn read(&self, from: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        // SAFETY: as the caller guarantees.
        unsafe { result::memcpy_dtoh_sync(words, from) }.map_err(failed)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.context.synchronize().map_err(failed)
    }

    fn is_idle(&self) -> Result<bool, DeviceError> {
        // SAFETY: the default stream always exists.
        match unsafe { sys::cuStreamQuery(null_mut()) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => other.result().map(|()| true).map_err(failed),
        }
    }

    fn load(
        &self,
        layout: &Layout,
        handling: Handling,
    ) -> Result<(CudaModule, BuiltKernel), DeviceError> {
        let capability = self.context.compute_capability().map_err(failed)?;
        let mut log = Vec::new();
        let mut forms = KernelForms::new(layout, capability, handling);
        while let Some((form, code)) = forms.next() {
            let load = |code| CudaModule::load(&self.context, code, handling.lines);
            match code.and_then(load) {
                Ok(module) => {
                    forms.keep();
                    return Ok((module, BuiltKernel { form, log: log.join("; ") }));
                }
                Err(why) => log.push(format!("{form}: {why}")),
            }
        }
        let why = if log.is_empty() { "no such kernel".into() } else { log.join("; ") };
        Err(DeviceError::Kernel(layout.kernel.into(), why))
    }

    fn kernel(&self, code: &CudaModule, name: &str) -> Result<CudaFunction, DeviceError> {
        code.function(name).map_err(failed)
    }

    fn blocks(&self, kernel: CudaFunction) -> Result<u32, DeviceError> {
        kernel.blocks().map_err(failed)
    }

    fn carve_out(&self, kernel: CudaFunction, blocks: u32) {
        let _ = kernel.carve_out(&self.context, blocks);
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn launch(
        &self,
        kernel: CudaFunction,
        stream: Option<&Self::Stream>,
        blocks: u32,
        record: *const c_void,
    ) -> Result<(), DeviceError> {
        // SAFETY: as the caller guarantees.
        unsafe { kernel.launch(handle(stream), blocks, record) }.map_err(failed)
    }

    fn stream(&self) -> Result<Self::Stream, DeviceError> {
        let stream = self.context.new_stream().map_err(failed)?;
        Ok((stream, self.context.new_event(None).map_err(failed)?))
    }

    fn pin(&self, words: usize, sends: bool) -> Result<CudaPinned, DeviceError> {
        let flags = if sends { CU_MEMHOSTALLOC_WRITECOMBINED } else { 0 };
        // SAFETY: words are plain numbers, and are written below.
        let memory = unsafe { self.context.alloc_pinned_with_flags(words, flags) };
        let mut memory = memory.map_err(failed)?;
        let address: *mut u32 = memory.as_mut_ptr().map_err(failed)?;
        // SAFETY: there is room for as many words.
        unsafe { address.write_bytes(0, words) };
        Ok(CudaPinned { words: address, count: words, _memory: memory })
    }

    fn words<'m>(&self, memory: &'m mut CudaPinned) -> &'m mut [u32] {
        // SAFETY: it has as many words, all of them written, and one owner.
        unsafe { std::slice::from_raw_parts_mut(memory.words, memory.count) }
    }

    fn as_words<'m>(&self, memory: &'m CudaPinned) -> &'m [u32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(memory.words, memory.count) }
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn send(
        &self,
        stream: Option<&Self::Stream>,
        to: u64,
        words: &[u32],
    ) -> Result<(), DeviceError> {
        // SAFETY: as the caller guarantees.
        unsafe { result::memcpy_htod_async(to, words, handle(stream)) }.map_err(failed)
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn fetch(
        &self,
        stream: Option<&Self::Stream>,
        words: &mut [u32],
        from: u64,
    ) -> Result<(), DeviceError> {
        // SAFETY: as the caller guarantees.
        unsafe { result::memcpy_dtoh_async(words, from, handle(stream)) }.map_err(failed)
    }

    fn mark(&self, (stream, event): &Self::Stream) -> Result<(), DeviceError> {
        event.record(stream).map_err(failed)
    }

    fn is_past(&self, (_, event): &Self::Stream) -> Result<bool, DeviceError> {
        event.try_is_complete().map_err(failed)
    }

    fn abandon(&mut self) {
        std::mem::forget(Arc::clone(&self.context));
    }
}
