//! [`EmulatedQueue`]: batches on the emulated device. Copies and kernels happen late and in random order, as on a busy
//! device: code that reads or changes memory too early gets wrong bounds.

use super::DeviceError;
use super::kernel_mailbox::{self, KernelMailbox};
use oorandom::Rand32;
use pleach_core::search::device::Layout;
use pleach_core::search::evaluate::Parents;
use pleach_kernels::bounding::Bounding;
use pleach_kernels::emulated::{bound, serve};
use pleach_kernels::serving::{COUNTS, POST, Serving};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::thread::{Builder, JoinHandle};

/// The content of memory that was never written.
pub(super) const POISON: u32 = 0xabab_abab;

/// The progress of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EmulatedStage {
    #[default]
    Free,
    ToCopyIn,
    ToRun,
    /// A kernel that was launched once has it, under this number.
    Announced(u32),
    ToCopyOut,
    Done,
}

/// A slot: memory of the host, and of the device.
#[derive(Default)]
struct EmulatedSlot {
    stage: EmulatedStage,
    count: u32,
    children: u32,
    /// The parents' starts and words, on the host and on the device.
    sent: Vec<u32>,
    input: Vec<u32>,
    output: Vec<u32>,
    came: Vec<u32>,
}

/// All slots, with the kernel and what all batches share.
pub(super) struct EmulatedQueue {
    kernel: &'static str,
    /// Aligned as on a device.
    tables: Vec<u64>,
    sizes: [u32; 10],
    most: usize,
    slots: Vec<EmulatedSlot>,
    rng: Rand32,
    served: Option<EmulatedService>,
}

/// A kernel that was launched once, on its own thread.
struct EmulatedService {
    words: Arc<[AtomicU32]>,
    mailbox: KernelMailbox,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl EmulatedService {
    /// Why the kernel has ended, if it has.
    fn end(&mut self) -> Result<(), DeviceError> {
        let Some(thread) = self.thread.take_if(|thread| thread.is_finished()) else {
            return Ok(());
        };
        let why = match thread.join() {
            Ok(Ok(())) => "its kernel ended early".into(),
            Ok(Err(why)) => why,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Err(DeviceError::Failed(why))
    }
}

impl Drop for EmulatedQueue {
    /// The kernel uses the slots' arrays, so it must end first.
    fn drop(&mut self) {
        if let Some(EmulatedService { words, thread, .. }) = &mut self.served {
            kernel_mailbox::stop(words);
            let _ = thread.take().map(JoinHandle::join);
        }
    }
}

impl EmulatedQueue {
    /// Slots for batches of at most this many parents.
    pub fn new(layout: &Layout, slots: usize, most: usize) -> Self {
        let two =
            |words: &[u32]| u64::from(words[0]) | u64::from(*words.get(1).unwrap_or(&0)) << 32;
        Self {
            kernel: layout.kernel,
            tables: layout.tables.chunks(2).map(two).collect(),
            sizes: layout.constants(),
            most,
            slots: (0..slots).map(|_| EmulatedSlot::default()).collect(),
            rng: Rand32::new(slots as u64),
            served: None,
        }
    }

    /// Launches the kernel once, for all batches.
    pub fn serve(&mut self, seed: u64) -> Result<(), DeviceError> {
        let words: Arc<[AtomicU32]> = (0..POST).map(|_| AtomicU32::new(0)).collect();
        let (kernel, sizes, tables) = (self.kernel, self.sizes, self.tables.as_mut_ptr() as u64);
        let theirs = Arc::clone(&words);
        let run = move || {
            let (mut copy, mut counts) = (vec![0u32; POST], vec![0u32; COUNTS]);
            let (copy, counts) = (copy.as_mut_ptr() as u64, counts.as_mut_ptr() as u64);
            let record = Serving { post: theirs.as_ptr() as u64, copy, counts, tables, sizes };
            // SAFETY: all arrays but the tables live as long as this thread. The queue, which owns the tables and the
            // slots' arrays, waits for the thread, and leaves the arrays of a batch alone until it is done.
            unsafe { serve(kernel, &record, seed) }.map_err(|why| why.to_string())
        };
        let thread = Builder::new().name(kernel.into()).spawn(run);
        let thread = thread.map_err(|why| DeviceError::Failed(why.to_string()))?;
        self.served = Some(EmulatedService {
            words,
            mailbox: KernelMailbox::default(),
            thread: Some(thread),
        });
        Ok(())
    }

    fn slot(&mut self, at: usize) -> Result<&mut EmulatedSlot, DeviceError> {
        self.slots.get_mut(at).ok_or_else(|| DeviceError::Failed("no such slot".into()))
    }

    /// Puts a batch into a free slot.
    pub fn start(&mut self, at: usize, parents: &Parents) -> Result<(), DeviceError> {
        let most = self.most;
        let slot = self.slot(at)?;
        if slot.stage != EmulatedStage::Free || parents.len() > most {
            return Err(DeviceError::Failed("the batch does not fit its slot".into()));
        }
        (slot.count, slot.children) = (parents.len() as u32, parents.children());
        slot.sent.clear();
        slot.sent.extend(&parents.starts);
        slot.sent.extend(&parents.words);
        for array in [&mut slot.output, &mut slot.came] {
            array.clear();
            array.resize(slot.children as usize, POISON);
        }
        slot.input.clear();
        slot.input.resize(slot.sent.len(), POISON);
        slot.stage = EmulatedStage::ToCopyIn;
        Ok(())
    }

    /// Takes the next step of a random slot, if there is one. `launched` counts launches and returns a seed for each.
    pub fn advance(
        &mut self,
        launched: impl FnOnce() -> Result<u64, DeviceError>,
    ) -> Result<(), DeviceError> {
        let at = self.rng.rand_range(0..self.slots.len() as u32) as usize;
        let slot = &mut self.slots[at];
        if let Some(served) = &mut self.served {
            served.end()?;
            slot.stage = match slot.stage {
                // The kernel reads where the host writes: there is nothing to copy.
                EmulatedStage::ToCopyIn => {
                    launched()?;
                    let (starts, words) = (vec![0, slot.children], slot.sent[2..].to_vec());
                    let address = slot.output.as_mut_ptr() as u64;
                    let parents = Parents { starts, words };
                    EmulatedStage::Announced(
                        served.mailbox.announce(&served.words, &parents, address)?,
                    )
                }
                EmulatedStage::Announced(number)
                    if kernel_mailbox::is_done(&served.words, number) =>
                {
                    EmulatedStage::ToCopyOut
                }
                EmulatedStage::ToCopyOut => {
                    slot.came.clone_from(&slot.output);
                    EmulatedStage::Done
                }
                stage => stage,
            };
            return Ok(());
        }
        slot.stage = match slot.stage {
            EmulatedStage::ToCopyIn => {
                slot.input.clone_from(&slot.sent);
                EmulatedStage::ToRun
            }
            EmulatedStage::ToRun => {
                let starts = slot.input.as_ptr() as u64;
                let record = Bounding {
                    starts,
                    parents: starts + 4 * (u64::from(slot.count) + 1),
                    bounds: slot.output.as_mut_ptr() as u64,
                    tables: self.tables.as_mut_ptr() as u64,
                    count: slot.count,
                    children: slot.children,
                    sizes: self.sizes,
                };
                let seed = launched()?;
                // SAFETY: the arrays belong to the slot, with room for what the record says; the tables
                // are those of the kernel.
                let done = unsafe { bound(self.kernel, &record, seed) };
                done.map_err(|why| DeviceError::Failed(why.to_string()))?;
                EmulatedStage::ToCopyOut
            }
            EmulatedStage::ToCopyOut => {
                slot.came.clone_from(&slot.output);
                EmulatedStage::Done
            }
            stage => stage,
        };
        Ok(())
    }

    /// Whether a batch has come back.
    pub fn is_done(&mut self, at: usize) -> Result<bool, DeviceError> {
        Ok(self.slot(at)?.stage == EmulatedStage::Done)
    }

    /// The bounds that have arrived; this frees the slot.
    pub fn bounds(&mut self, at: usize) -> Result<&[u32], DeviceError> {
        let slot = self.slot(at)?;
        slot.stage = EmulatedStage::Free;
        Ok(&slot.came)
    }
}
