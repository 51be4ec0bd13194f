//! Slots of the emulated device. Copies and kernels happen late and in random order, as on a device that is busy:
//! whoever reads or changes memory too early gets wrong bounds.

use super::DeviceError;
use super::emulated::Emulated;
use super::slots::Slots;
use oorandom::Rand32;
use pleach_core::device::Layout;
use pleach_core::evaluate::Parents;
use pleach_kernels::bounding::Bounding;
use pleach_kernels::emulated::bound;

/// What memory holds that nobody has written.
const POISON: u32 = 0xabab_abab;
/// Lanes that the device has.
const LANES: u32 = 256;

/// A batch on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Free,
    ToCopyIn,
    ToRun,
    ToCopyOut,
    Done,
}

/// A slot: memory of the host, and of the device.
struct Slot {
    stage: Stage,
    count: u32,
    children: u32,
    /// The parents' starts and words, on the host and on the device.
    sent: Vec<u32>,
    input: Vec<u32>,
    output: Vec<u32>,
    came: Vec<u32>,
}

/// All slots, with the kernel and what all batches share.
pub(super) struct Queue {
    kernel: &'static str,
    /// Aligned for kernels that read two words at once.
    tables: Vec<u64>,
    sizes: [u32; 10],
    most: usize,
    slots: Vec<Slot>,
    rng: Rand32,
}

impl Emulated {
    /// Does the next thing in a random slot, if there is anything to do.
    fn go_on(&mut self) -> Result<(), DeviceError> {
        let Some(queue) = &mut self.queue else { return Ok(()) };
        let at = queue.rng.rand_range(0..queue.slots.len() as u32) as usize;
        let slot = &mut queue.slots[at];
        slot.stage = match slot.stage {
            Stage::ToCopyIn => {
                slot.input.clone_from(&slot.sent);
                Stage::ToRun
            }
            Stage::ToRun => {
                let starts = slot.input.as_ptr() as u64;
                let record = Bounding {
                    starts,
                    parents: starts + 4 * (u64::from(slot.count) + 1),
                    bounds: slot.output.as_mut_ptr() as u64,
                    tables: queue.tables.as_ptr() as u64,
                    count: slot.count,
                    children: slot.children,
                    sizes: queue.sizes,
                };
                let kernel = queue.kernel;
                let seed = self.launched()?;
                // SAFETY: the arrays belong to the slot, with room for what the record says; the tables
                // are those of the kernel.
                let done = unsafe { bound(kernel, &record, seed) };
                done.map_err(|why| DeviceError::Failed(why.to_string()))?;
                return self.set(at, Stage::ToCopyOut);
            }
            Stage::ToCopyOut => {
                slot.came.clone_from(&slot.output);
                Stage::Done
            }
            stage => stage,
        };
        Ok(())
    }

    fn set(&mut self, at: usize, stage: Stage) -> Result<(), DeviceError> {
        self.slot(at)?.stage = stage;
        Ok(())
    }

    fn slot(&mut self, at: usize) -> Result<&mut Slot, DeviceError> {
        let slot = self.queue.as_mut().and_then(|queue| queue.slots.get_mut(at));
        slot.ok_or_else(|| DeviceError::Failed("no such slot".into()))
    }
}

impl Slots for Emulated {
    fn make_slots(
        &mut self,
        layout: &Layout,
        slots: usize,
        most: usize,
    ) -> Result<u32, DeviceError> {
        let mut sizes = [0; 10];
        sizes.iter_mut().zip(&layout.sizes).for_each(|(size, &given)| *size = given);
        let two =
            |words: &[u32]| u64::from(words[0]) | u64::from(*words.get(1).unwrap_or(&0)) << 32;
        let slot = || Slot {
            stage: Stage::Free,
            count: 0,
            children: 0,
            sent: Vec::new(),
            input: Vec::new(),
            output: Vec::new(),
            came: Vec::new(),
        };
        self.queue = Some(Queue {
            kernel: layout.kernel,
            tables: layout.tables.chunks(2).map(two).collect(),
            sizes,
            most,
            slots: (0..slots).map(|_| slot()).collect(),
            rng: Rand32::new(slots as u64),
        });
        Ok(LANES / 2)
    }

    fn start(&mut self, at: usize, parents: &Parents) -> Result<(), DeviceError> {
        let most = self.queue.as_ref().map_or(0, |queue| queue.most);
        let slot = self.slot(at)?;
        if slot.stage != Stage::Free || parents.len() > most {
            return Err(DeviceError::Failed("a batch that does not fit its slot".into()));
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
        slot.stage = Stage::ToCopyIn;
        Ok(())
    }

    fn is_done(&mut self, at: usize) -> Result<bool, DeviceError> {
        self.go_on()?;
        Ok(self.slot(at)?.stage == Stage::Done)
    }

    fn bounds(&mut self, at: usize) -> Result<&[u32], DeviceError> {
        let slot = self.slot(at)?;
        slot.stage = Stage::Free;
        Ok(&slot.came)
    }
}
