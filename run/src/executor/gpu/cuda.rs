//! CUDA GPUs, found at run time.

use super::DeviceError;
use super::compile::KernelForms;
use super::cuda_slots::Queue;
use super::memory::Memory;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DeviceRepr};
use cudarc::driver::{DriverError, LaunchConfig, PushKernelArg, result, sys};
use cudarc::nvrtc::Ptx;
use pleach_core::device::Layout;
use pleach_kernels::launch::{EXPLORERS, Entry, Launch, THREADS, blocks};
use std::sync::Arc;

/// The oldest CUDA version with all functions used here; calling a missing one would panic.
const LEAST_VERSION: i32 = 12_010;

/// A GPU, the memory allocated on it, and its kernels.
pub(super) struct Gpu {
    pub(super) context: Arc<CudaContext>,
    kernels: Vec<CudaFunction>,
    taken: Vec<sys::CUdeviceptr>,
    pub(super) multiprocessors: i32,
    pub(super) queue: Option<Queue>,
}

/// The launch record, a kernel's only parameter.
#[repr(transparent)]
struct Record(Launch);

// SAFETY: only integers of fixed size, in C layout.
unsafe impl DeviceRepr for Record {}

pub(super) fn failed(why: DriverError) -> DeviceError {
    DeviceError::Failed(why.to_string())
}

/// The number of GPUs of this machine.
///
/// # Errors
/// Why none can be used.
pub fn count() -> Result<u32, DeviceError> {
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

impl Gpu {
    /// Opens a GPU by its number.
    pub fn open(number: u32) -> Result<Self, DeviceError> {
        let n = count()?;
        if number >= n {
            return Err(DeviceError::Failed(format!("no such GPU, expected a number below {n}")));
        }
        let context = CudaContext::new(number as usize).map_err(failed)?;
        // A waiting thread should leave its core to others.
        let _ = context.set_blocking_synchronize();
        let count = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let multiprocessors = context.attribute(count).map_err(failed)?;
        Ok(Self { context, kernels: Vec::new(), taken: Vec::new(), multiprocessors, queue: None })
    }

    /// Its name and its memory in bytes.
    pub fn describe(&self) -> Result<(String, u64), DeviceError> {
        let name = self.context.name().map_err(failed)?;
        Ok((name, self.context.total_mem().map_err(failed)? as u64))
    }

    /// Loads the first form of a kernel that the driver accepts.
    pub(super) fn load(&self, layout: &Layout) -> Result<Arc<CudaModule>, DeviceError> {
        let mut fault = None;
        let mut forms =
            KernelForms::new(layout, self.context.compute_capability().map_err(failed)?);
        while let Some(form) = forms.next() {
            let load = |text: String| self.context.load_module(Ptx::from_src(text));
            match form.and_then(|text| load(text).map_err(|why| why.to_string())) {
                Ok(module) => {
                    forms.keep();
                    return Ok(module);
                }
                // The error of the best form says most.
                Err(why) => fault = fault.or(Some(why)),
            }
        }
        let why = fault.unwrap_or_else(|| "no such kernel".into());
        Err(DeviceError::Kernel(layout.kernel.into(), why))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // A lost device has already freed its memory.
        let _ = self.clear();
    }
}

impl Memory for Gpu {
    fn bytes(&self) -> u64 {
        self.context.mem_get_info().map_or(0, |(free, _)| free as u64)
    }

    fn clear(&mut self) -> Result<(), DeviceError> {
        self.context.bind_to_thread().map_err(failed)?;
        // No kernel may still be using the arrays.
        self.context.synchronize().map_err(failed)?;
        self.queue = None;
        let mut freed = Ok(());
        for address in self.taken.drain(..) {
            // SAFETY: each was allocated once, and no kernel uses it any more.
            freed = freed.and(unsafe { result::free_sync(address) });
        }
        freed.map_err(failed)
    }

    fn build_kernels(&mut self, layout: &Layout) -> Result<u32, DeviceError> {
        self.context.bind_to_thread().map_err(failed)?;
        let fault = |why: DriverError| DeviceError::Kernel(layout.kernel.into(), why.to_string());
        let module = self.load(layout)?;
        let kernel = |entry: Entry| module.load_function(entry.name()).map_err(fault);
        self.kernels = Entry::ALL.into_iter().map(kernel).collect::<Result<_, _>>()?;
        let explore = &self.kernels[Entry::Explore as usize];
        let blocks = explore.occupancy_max_active_blocks_per_multiprocessor(THREADS, 0, None);
        match blocks.map_err(failed)? {
            0 => Err(DeviceError::Failed("it cannot run a single thread block".into())),
            blocks => Ok(blocks * EXPLORERS * self.multiprocessors as u32),
        }
    }

    fn allocate(&mut self, words: usize) -> Result<u64, DeviceError> {
        self.context.bind_to_thread().map_err(failed)?;
        let bytes = 4 * words;
        let memory = self.bytes();
        // SAFETY: nothing reads this memory before it is written.
        let address = unsafe { result::malloc_sync(bytes) };
        let address = address.map_err(|_| DeviceError::Memory(memory, bytes as u64))?;
        self.taken.push(address);
        Ok(address)
    }

    fn write(&mut self, to: u64, words: &[u32]) -> Result<(), DeviceError> {
        if words.is_empty() {
            return Ok(());
        }
        self.context.bind_to_thread().map_err(failed)?;
        // SAFETY: the caller guarantees an array with this many words from `to` on.
        unsafe { result::memcpy_htod_sync(to, words) }.map_err(failed)
    }

    fn read(&mut self, from: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        if words.is_empty() {
            return Ok(());
        }
        self.context.bind_to_thread().map_err(failed)?;
        // SAFETY: the caller guarantees an array with this many words from `from` on.
        unsafe { result::memcpy_dtoh_sync(words, from) }.map_err(failed)
    }

    fn launch(&mut self, entry: Entry, record: &Launch) -> Result<(), DeviceError> {
        let Some(function) = self.kernels.get(entry as usize) else {
            return Err(DeviceError::Failed("its kernels are not loaded".into()));
        };
        let shape = LaunchConfig {
            grid_dim: (blocks(record.explorers), 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let (stream, record) = (self.context.default_stream(), Record(*record));
        // SAFETY: the kernels take this record, and its arrays have the sizes it states.
        unsafe { stream.launch_builder(function).arg(&record).launch(shape) }.map_err(failed)?;
        Ok(())
    }
}
