//! Slots of a CUDA GPU: each with a stream, page-locked memory both ways, and an event.

use super::DeviceError;
use super::cuda::{Gpu, failed};
use super::memory::Memory;
use super::slots::Slots;
use cudarc::driver::sys::{CU_MEMHOSTALLOC_WRITECOMBINED, CUdeviceptr};
use cudarc::driver::{CudaEvent, CudaFunction, CudaStream, DeviceRepr, PinnedHostSlice};
use cudarc::driver::{LaunchConfig, PushKernelArg, result};
use pleach_core::device::Layout;
use pleach_core::evaluate::Parents;
use pleach_kernels::bounding::{BOUND, Bounding};
use pleach_kernels::launch::THREADS;
use std::sync::Arc;

/// The launch record, the kernel's only parameter.
#[repr(transparent)]
struct Record(Bounding);

// SAFETY: only integers of fixed size, in C layout.
unsafe impl DeviceRepr for Record {}

/// A slot. What its stream does happens in the order asked for.
struct Slot {
    stream: Arc<CudaStream>,
    /// The parents' starts and words, on the host and on the device.
    sent: PinnedHostSlice<u32>,
    input: CUdeviceptr,
    /// The bounds, on the device and on the host.
    output: CUdeviceptr,
    came: PinnedHostSlice<u32>,
    /// Recorded after the last copy.
    done: CudaEvent,
    children: usize,
    free: bool,
}

/// All slots, with the kernel and what all batches share.
pub(super) struct Queue {
    kernel: CudaFunction,
    tables: CUdeviceptr,
    sizes: [u32; 10],
    slots: Vec<Slot>,
}

impl Gpu {
    fn slot(&mut self, at: usize) -> Result<&mut Slot, DeviceError> {
        let slot = self.queue.as_mut().and_then(|queue| queue.slots.get_mut(at));
        slot.ok_or_else(|| DeviceError::Failed("no such slot".into()))
    }

    fn make_slot(&mut self, sent: usize, came: usize) -> Result<Slot, DeviceError> {
        let (input, output) = (self.allocate(sent)?, self.allocate(came)?);
        // SAFETY: the memory is written before it is read: by `start`, and by the copy that it asks for.
        let (sent, came) = unsafe {
            let sent = self.context.alloc_pinned_with_flags(sent, CU_MEMHOSTALLOC_WRITECOMBINED);
            (sent.map_err(failed)?, self.context.alloc_pinned_with_flags(came, 0).map_err(failed)?)
        };
        let stream = self.context.new_stream().map_err(failed)?;
        let done = self.context.new_event(None).map_err(failed)?;
        Ok(Slot { stream, sent, input, output, came, done, children: 0, free: true })
    }
}

impl Slots for Gpu {
    fn make_slots(
        &mut self,
        layout: &Layout,
        slots: usize,
        most: usize,
    ) -> Result<u32, DeviceError> {
        let kernel = self.load(layout)?.load_function(BOUND).map_err(failed)?;
        let blocks = kernel.occupancy_max_active_blocks_per_multiprocessor(THREADS, 0, None);
        let at_once = blocks.map_err(failed)? * self.multiprocessors as u32 * THREADS;
        let tables = self.allocate(layout.tables.len().max(1))?;
        self.write(tables, &layout.tables)?;
        let mut sizes = [0; 10];
        sizes.iter_mut().zip(&layout.sizes).for_each(|(size, &given)| *size = given);
        let (sent, came) = (1 + most * (1 + layout.words), (most * layout.width).max(1));
        let slots = (0..slots).map(|_| self.make_slot(sent, came));
        let slots = slots.collect::<Result<Vec<Slot>, DeviceError>>()?;
        self.queue = Some(Queue { kernel, tables, sizes, slots });
        // Two lanes for each child.
        Ok(at_once / 2)
    }

    fn start(&mut self, at: usize, parents: &Parents) -> Result<(), DeviceError> {
        self.context.bind_to_thread().map_err(failed)?;
        let Some(Queue { kernel, tables, sizes, slots }) = &mut self.queue else {
            return Err(DeviceError::Failed("no slots were made".into()));
        };
        let starts = parents.starts.len();
        let words = starts + parents.words.len();
        let fits = |slot: &&mut Slot| slot.free && words <= slot.sent.len();
        let slot = slots.get_mut(at).filter(fits);
        let Some(slot) = slot.filter(|it| parents.children() as usize <= it.came.len()) else {
            return Err(DeviceError::Failed("a batch that does not fit its slot".into()));
        };
        (slot.free, slot.children) = (false, parents.children() as usize);
        let sent = slot.sent.as_mut_slice().map_err(failed)?;
        sent[..starts].copy_from_slice(&parents.starts);
        sent[starts..words].copy_from_slice(&parents.words);
        let record = Record(Bounding {
            starts: slot.input,
            parents: slot.input + 4 * starts as u64,
            bounds: slot.output,
            tables: *tables,
            count: parents.len() as u32,
            children: parents.children(),
            sizes: *sizes,
        });
        let shape = LaunchConfig {
            grid_dim: (record.0.blocks(), 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let stream = slot.stream.cu_stream();
        // SAFETY: the slot's memory has room for the batch. Nobody touches it before the event says that all of
        // this is done: the slot is not free.
        unsafe {
            result::memcpy_htod_async(slot.input, &sent[..words], stream).map_err(failed)?;
            slot.stream.launch_builder(kernel).arg(&record).launch(shape).map_err(failed)?;
            let came = slot.came.as_mut_slice().map_err(failed)?;
            let came = &mut came[..slot.children];
            result::memcpy_dtoh_async(came, slot.output, stream).map_err(failed)?;
        }
        slot.done.record(&slot.stream).map_err(failed)
    }

    fn is_done(&mut self, at: usize) -> Result<bool, DeviceError> {
        self.context.bind_to_thread().map_err(failed)?;
        self.slot(at)?.done.try_is_complete().map_err(failed)
    }

    fn bounds(&mut self, at: usize) -> Result<&[u32], DeviceError> {
        let slot = self.slot(at)?;
        slot.free = true;
        let children = slot.children;
        Ok(&slot.came.as_slice().map_err(failed)?[..children])
    }
}
