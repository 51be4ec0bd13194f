//! [`Queue`]: batches on a CUDA GPU, in slots that each have a stream, page-locked memory both ways, and an event.

use super::DeviceError;
use super::module::{Function, failed};
use cudarc::driver::sys::{CU_MEMHOSTALLOC_WRITECOMBINED, CUdeviceptr};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, LaunchConfig, PinnedHostSlice, result};
use pleach_core::evaluate::Parents;
use pleach_kernels::bounding::Bounding;
use pleach_kernels::launch::THREADS;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A slot. What its stream does happens in the order asked for.
pub(super) struct Slot {
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
    /// Since when a batch is under way; nothing if none is.
    since: Option<Instant>,
}

impl Slot {
    /// A slot with these arrays on the device, and as many words on the host.
    pub fn new(
        context: &Arc<CudaContext>,
        (input, sent): (CUdeviceptr, usize),
        (output, came): (CUdeviceptr, usize),
    ) -> Result<Self, DeviceError> {
        // SAFETY: the memory is written before it is read: by `start`, and by the copy that it asks for.
        let (sent, came) = unsafe {
            let sent = context.alloc_pinned_with_flags(sent, CU_MEMHOSTALLOC_WRITECOMBINED);
            (sent.map_err(failed)?, context.alloc_pinned_with_flags(came, 0).map_err(failed)?)
        };
        let stream = context.new_stream().map_err(failed)?;
        let done = context.new_event(None).map_err(failed)?;
        Ok(Self { stream, sent, input, output, came, done, children: 0, since: None })
    }
}

/// All slots, with the kernel and what all batches share.
pub(super) struct Queue {
    pub kernel: Function,
    pub tables: CUdeviceptr,
    pub sizes: [u32; 10],
    pub slots: Vec<Slot>,
}

impl Queue {
    fn slot(&mut self, at: usize) -> Result<&mut Slot, DeviceError> {
        self.slots.get_mut(at).ok_or_else(|| DeviceError::Failed("no such slot".into()))
    }

    /// Sends a batch through a free slot.
    pub fn start(&mut self, at: usize, parents: &Parents) -> Result<(), DeviceError> {
        let (kernel, tables, sizes) = (self.kernel, self.tables, self.sizes);
        let slot = self.slot(at)?;
        let starts = parents.starts.len();
        let (words, children) = (starts + parents.words.len(), parents.children() as usize);
        if slot.since.is_some() || words > slot.sent.len() || children > slot.came.len() {
            return Err(DeviceError::Failed("a batch that does not fit its slot".into()));
        }
        slot.children = children;
        let sent = slot.sent.as_mut_slice().map_err(failed)?;
        sent[..starts].copy_from_slice(&parents.starts);
        sent[starts..words].copy_from_slice(&parents.words);
        let record = Bounding {
            starts: slot.input,
            parents: slot.input + 4 * starts as u64,
            bounds: slot.output,
            tables,
            count: parents.len() as u32,
            children: parents.children(),
            sizes,
        };
        let shape = LaunchConfig {
            grid_dim: (record.blocks(), 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let stream = slot.stream.cu_stream();
        // SAFETY: the slot's memory has room for the batch. Nobody touches it before the event says that all of
        // this is done: the slot is not free.
        unsafe {
            result::memcpy_htod_async(slot.input, &sent[..words], stream).map_err(failed)?;
            kernel.launch(stream, shape, &record).map_err(failed)?;
            let came = slot.came.as_mut_slice().map_err(failed)?;
            let came = &mut came[..children];
            result::memcpy_dtoh_async(came, slot.output, stream).map_err(failed)?;
        }
        slot.done.record(&slot.stream).map_err(failed)?;
        slot.since = Some(Instant::now());
        Ok(())
    }

    /// Whether a batch has come back; if not, how long it has been under way.
    pub fn is_done(&mut self, at: usize) -> Result<Result<(), Duration>, DeviceError> {
        let slot = self.slot(at)?;
        let done = slot.done.try_is_complete().map_err(failed)?;
        let waited = slot.since.map_or(Duration::ZERO, |since| since.elapsed());
        Ok(if done { Ok(()) } else { Err(waited) })
    }

    /// The slots with a batch under way.
    pub fn busy(&self) -> Vec<usize> {
        (0..self.slots.len()).filter(|&at| self.slots[at].since.is_some()).collect()
    }

    /// The bounds that have come; the slot is free again.
    pub fn bounds(&mut self, at: usize) -> Result<&[u32], DeviceError> {
        let slot = self.slot(at)?;
        slot.since = None;
        let children = slot.children;
        Ok(&slot.came.as_slice().map_err(failed)?[..children])
    }
}
