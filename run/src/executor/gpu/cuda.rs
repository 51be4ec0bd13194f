//! CUDA GPUs, found at run time.

use super::DeviceError;
use super::cuda_queue::{Queue, Slot};
use super::form::{Built, Form, Handling};
use super::forms::KernelForms;
use super::memory::Memory;
use super::module::{Function, Module, failed};
use super::slots::Slots;
use cudarc::driver::{CudaContext, DriverError, LaunchConfig, result, sys};
use pleach_core::device::Layout;
use pleach_core::evaluate::Parents;
use pleach_kernels::bounding::BOUND;
use pleach_kernels::launch::{Entry, Launch, THREADS, blocks, explorers_per_block};
use std::ptr::null_mut;
use std::sync::Arc;
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

/// The oldest CUDA version with all functions used here; calling a missing one would panic.
const LEAST_VERSION: i32 = 12_010;

/// More time for each step that every explorer may make; a step takes far less.
const WAIT_PER_STEP: Duration = Duration::from_micros(100);
/// How long a wait may keep its core.
const SHORT: Duration = Duration::from_micros(100);

/// A GPU, the memory allocated on it, and its kernels.
pub(super) struct Gpu {
    context: Arc<CudaContext>,
    kernels: Vec<Function>,
    loaded: Option<Loaded>,
    handling: Handling,
    taken: Vec<sys::CUdeviceptr>,
    multiprocessors: i32,
    queue: Option<Queue>,
    /// How long the kernels that were launched may take, while nobody has waited for them.
    running: Option<Duration>,
    /// Whether a kernel did not end: then the driver must not be waited for any more.
    hung: bool,
}

/// Code that the next run may use too.
struct Loaded {
    /// What it was made from: the kernel, the sizes compiled in, and the user's choices.
    from: (&'static str, Vec<u32>, Handling),
    module: Module,
    built: Built,
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

/// Sees whether there is a GPU with this number.
///
/// # Errors
/// If there is none: why.
pub fn check(number: u32) -> Result<(), DeviceError> {
    let n = count()?;
    if number >= n {
        return Err(DeviceError::Failed(format!("no such GPU, expected a number below {n}")));
    }
    Ok(())
}

impl Gpu {
    /// Opens a GPU by its number.
    pub fn open(number: u32) -> Result<Self, DeviceError> {
        check(number)?;
        let context = CudaContext::new(number as usize).map_err(failed)?;
        // A waiting thread should leave its core to others.
        let _ = context.set_blocking_synchronize();
        let count = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let multiprocessors = context.attribute(count).map_err(failed)?;
        Ok(Self {
            context,
            kernels: Vec::new(),
            loaded: None,
            handling: Handling::default(),
            taken: Vec::new(),
            multiprocessors,
            queue: None,
            running: None,
            hung: false,
        })
    }

    /// Its name and its memory in bytes.
    pub fn describe(&self) -> Result<(String, u64), DeviceError> {
        let name = self.context.name().map_err(failed)?;
        Ok((name, self.context.total_mem().map_err(failed)? as u64))
    }

    /// The code of a kernel: that of the run before if it fits, or the first form that the driver accepts.
    fn load(&mut self, layout: &Layout) -> Result<&Module, DeviceError> {
        // Functions of the code before end with it.
        self.kernels.clear();
        self.queue = None;
        let from = (layout.kernel, layout.sizes.clone(), self.handling);
        let kept = self.loaded.take().filter(|loaded| loaded.from == from);
        let loaded = match kept {
            Some(Loaded { module, mut built, .. }) => {
                if built.form != Form::Committed {
                    built = Built { form: Form::Cached, log: String::new() };
                }
                Loaded { from, module, built }
            }
            None => {
                let (module, built) = self.load_anew(layout)?;
                Loaded { from, module, built }
            }
        };
        Ok(&self.loaded.insert(loaded).module)
    }

    fn load_anew(&self, layout: &Layout) -> Result<(Module, Built), DeviceError> {
        let mut log = Vec::new();
        let capability = self.context.compute_capability().map_err(failed)?;
        let mut forms = KernelForms::new(layout, capability, self.handling);
        while let Some((form, code)) = forms.next() {
            let load = |code| Module::load(&self.context, code, self.handling.lines);
            match code.and_then(load) {
                Ok(module) => {
                    forms.keep();
                    return Ok((module, Built { form, log: log.join("; ") }));
                }
                Err(why) => log.push(format!("{form}: {why}")),
            }
        }
        let why = if log.is_empty() { "no such kernel".into() } else { log.join("; ") };
        Err(DeviceError::Kernel(layout.kernel.into(), why))
    }

    /// Waits for all kernels that were launched, but not for ever.
    fn finish(&mut self) -> Result<(), DeviceError> {
        let Some(limit) = self.running.take() else { return self.responds() };
        let start = Instant::now();
        loop {
            // SAFETY: the default stream, on which all kernels run, always exists.
            match unsafe { sys::cuStreamQuery(null_mut()) } {
                sys::CUresult::CUDA_ERROR_NOT_READY => {}
                other => return other.result().map_err(failed),
            }
            let waited = start.elapsed();
            if waited >= limit {
                self.hung = true;
                return self.responds();
            }
            if waited < SHORT {
                yield_now();
            } else {
                // Late by a small part of the time that the kernels take.
                sleep((waited / 64).clamp(SHORT / 10, Duration::from_millis(10)));
            }
        }
    }

    fn responds(&self) -> Result<(), DeviceError> {
        if self.hung {
            return Err(DeviceError::Failed("a kernel does not end".into()));
        }
        Ok(())
    }
}

impl Gpu {
    /// Waits for all batches under way, but not for ever.
    fn finish_slots(&mut self) -> Result<(), DeviceError> {
        for at in self.queue.as_ref().map_or(Vec::new(), Queue::busy) {
            while !self.is_done(at)? {
                sleep(SHORT / 10);
            }
        }
        Ok(())
    }

    /// The slots, on the thread that uses them.
    fn queue(&mut self) -> Result<&mut Queue, DeviceError> {
        self.responds()?;
        self.context.bind_to_thread().map_err(failed)?;
        self.queue.as_mut().ok_or_else(|| DeviceError::Failed("no slots were made".into()))
    }
}

impl Slots for Gpu {
    fn make_slots(
        &mut self,
        layout: &Layout,
        slots: usize,
        most: usize,
    ) -> Result<u32, DeviceError> {
        self.context.bind_to_thread().map_err(failed)?;
        let kernel = self.load(layout)?.function(BOUND).map_err(failed)?;
        let blocks = some_blocks(kernel.blocks().map_err(failed)?)?;
        // Only a hint: without it the driver decides.
        let _ = kernel.carve_out(&self.context, blocks);
        let tables = self.allocate(layout.tables.len().max(1))?;
        self.write(tables, &layout.tables)?;
        let (sent, came) = (1 + most * (1 + layout.words), (most * layout.width).max(1));
        let mut all = Vec::new();
        for _ in 0..slots {
            let (input, output) = (self.allocate(sent)?, self.allocate(came)?);
            all.push(Slot::new(&self.context, (input, sent), (output, came))?);
        }
        self.queue = Some(Queue { kernel, tables, sizes: layout.constants(), slots: all });
        // The slots' streams do not wait for what was copied on the default stream.
        self.context.synchronize().map_err(failed)?;
        // Two lanes for each child.
        Ok(blocks * self.multiprocessors as u32 * THREADS / 2)
    }

    fn start(&mut self, slot: usize, parents: &Parents) -> Result<(), DeviceError> {
        self.queue()?.start(slot, parents)
    }

    fn is_done(&mut self, slot: usize) -> Result<bool, DeviceError> {
        let patience = self.handling.patience();
        let done = self.queue()?.is_done(slot)?;
        self.hung |= done.is_err_and(|waited| waited > patience);
        self.responds().map(|()| done.is_ok())
    }

    fn bounds(&mut self, slot: usize) -> Result<&[u32], DeviceError> {
        self.queue()?.bounds(slot)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // A lost device has already freed its memory.
        let _ = self.clear();
        if self.hung {
            // Whatever touches the context would wait for the kernel: it stays until the process ends.
            std::mem::forget(self.loaded.take());
            std::mem::forget(self.queue.take());
            std::mem::forget(Arc::clone(&self.context));
        }
    }
}

/// Refuses a kernel of which not a single block fits.
fn some_blocks(blocks: u32) -> Result<u32, DeviceError> {
    if blocks == 0 {
        return Err(DeviceError::Failed("it cannot run a single thread block".into()));
    }
    Ok(blocks)
}

impl Memory for Gpu {
    fn bytes(&self) -> u64 {
        self.context.mem_get_info().map_or(0, |(free, _)| free as u64)
    }

    fn handle(&mut self, handling: Handling) {
        self.handling = handling;
    }

    fn has_kernel(&self, layout: &Layout, handling: Handling) -> bool {
        let from = (layout.kernel, layout.sizes.clone(), handling);
        self.loaded.as_ref().is_some_and(|loaded| loaded.from == from)
    }

    fn built(&self) -> Option<Built> {
        self.loaded.as_ref().map(|loaded| loaded.built.clone())
    }

    fn clear(&mut self) -> Result<(), DeviceError> {
        self.responds()?;
        self.context.bind_to_thread().map_err(failed)?;
        self.finish()?;
        self.finish_slots()?;
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
        let kernel = |entry: Entry| module.function(entry.name()).map_err(fault);
        self.kernels = Entry::ALL.into_iter().map(kernel).collect::<Result<_, _>>()?;
        let explore = self.kernels[Entry::Explore as usize];
        let blocks = some_blocks(explore.blocks().map_err(failed)?)?;
        // Only a hint: without it the driver decides.
        let _ = explore.carve_out(&self.context, blocks);
        Ok(blocks * explorers_per_block(layout.kernel) * self.multiprocessors as u32)
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
        self.finish()?;
        // SAFETY: the caller guarantees an array with this many words from `to` on.
        unsafe { result::memcpy_htod_sync(to, words) }.map_err(failed)
    }

    fn read(&mut self, from: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        if words.is_empty() {
            return Ok(());
        }
        self.context.bind_to_thread().map_err(failed)?;
        self.finish()?;
        // SAFETY: the caller guarantees an array with this many words from `from` on.
        unsafe { result::memcpy_dtoh_sync(words, from) }.map_err(failed)
    }

    fn wait(&mut self) -> Result<(), DeviceError> {
        self.context.bind_to_thread().map_err(failed)?;
        self.finish()
    }

    fn launch(&mut self, entry: Entry, record: &Launch) -> Result<(), DeviceError> {
        self.responds()?;
        self.context.bind_to_thread().map_err(failed)?;
        let Some(&function) = self.kernels.get(entry as usize) else {
            return Err(DeviceError::Failed("its kernels are not loaded".into()));
        };
        let kernel = self.loaded.as_ref().map_or("", |loaded| loaded.from.0);
        let shape = LaunchConfig {
            grid_dim: (blocks(kernel, record.explorers), 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let wait = self.handling.patience();
        let limit = wait + record.budget * WAIT_PER_STEP;
        self.running = Some(self.running.map_or(limit, |other| other.max(limit)));
        // SAFETY: the kernels take this record, and its arrays have the sizes it states.
        unsafe { function.launch(null_mut(), shape, record) }.map_err(failed)
    }
}
