//! The emulated device, for tests: runs the kernels on the CPU, one device thread at a time.

use super::DeviceError;
use super::emulated_queue::{EmulatedQueue, POISON};
use super::memory::Memory;
use super::slots::Slots;
use pleach_core::search::device::Layout;
use pleach_core::search::evaluate::Parents;
use pleach_kernels::emulated::{launch, prepare};
use pleach_kernels::launch::{KernelEntry, Launch};
use std::time::Duration;

/// The default number of explorers, of explorers that run side by side, of children that can be bounded at once, and of
/// bytes of memory.
const EXPLORERS: u32 = 8;
const AT_ONCE: u32 = 32;
const CHILDREN: u32 = 128;
const BYTES: u64 = 1 << 30;
/// Backups of at least this many words travel while kernels run; few, so that most backups do.
const WORTHWHILE: usize = 40;

/// Host memory that plays the role of a device's; it can fail in a chosen launch.
pub(super) struct Emulated {
    kernel: &'static str,
    /// Aligned for kernels that read two words at once.
    arrays: Vec<Vec<u64>>,
    launches: u32,
    fail: Option<u32>,
    queue: Option<EmulatedQueue>,
    staging: [Vec<u32>; 2],
    later: Option<Later>,
}

/// A pending copy: its source, its buffer, and how many more times it will be reported missing.
struct Later {
    from: u64,
    buffer: usize,
    asks: u32,
}

impl Emulated {
    /// Opens a device after this many milliseconds. It fails in launch `fail`, if given; 0 makes opening fail.
    pub fn open(late: Option<u32>, fail: Option<u32>) -> Result<Self, DeviceError> {
        std::thread::sleep(Duration::from_millis(late.unwrap_or(0).into()));
        let (arrays, staging) = (Vec::new(), Default::default());
        let device =
            Self { kernel: "", arrays, launches: 0, fail, queue: None, staging, later: None };
        if fail == Some(0) { Err(told_to_fail()) } else { Ok(device) }
    }

    /// Counts a launch, which fails if it is the chosen one. Returns a seed for it.
    fn launched(&mut self) -> Result<u64, DeviceError> {
        self.launches += 1;
        if self.fail == Some(self.launches) {
            return Err(told_to_fail());
        }
        Ok(self.launches.into())
    }

    /// The words from this address to the end of its array.
    fn words(&mut self, address: u64) -> Option<&mut [u32]> {
        self.arrays.iter_mut().find_map(|array| {
            let at = address.checked_sub(array.as_ptr() as u64)? as usize / 4;
            let words = 2 * array.len();
            // SAFETY: the array has this many words and stays borrowed as long as the slice.
            let all = unsafe { std::slice::from_raw_parts_mut(array.as_mut_ptr().cast(), words) };
            all.get_mut(at..).filter(|rest: &&mut [u32]| !rest.is_empty())
        })
    }
}

impl Memory for Emulated {
    fn bytes(&self) -> u64 {
        BYTES
    }

    fn clear(&mut self) -> Result<(), DeviceError> {
        self.arrays.clear();
        (self.queue, self.later) = (None, None);
        Ok(())
    }

    fn build_kernels(&mut self, layout: &Layout) -> Result<(u32, u32), DeviceError> {
        compile(layout.kernel)?;
        self.kernel = layout.kernel;
        Ok((EXPLORERS, AT_ONCE))
    }

    fn allocate(&mut self, words: usize) -> Result<u64, DeviceError> {
        let array = vec![0u64; words.div_ceil(2).max(1)];
        let address = array.as_ptr() as u64;
        self.arrays.push(array);
        Ok(address)
    }

    fn write(&mut self, to: u64, words: &[u32]) -> Result<(), DeviceError> {
        let place = self.words(to).and_then(|there| there.get_mut(..words.len()));
        place.ok_or_else(outside)?.copy_from_slice(words);
        Ok(())
    }

    fn read(&mut self, from: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        let place = self.words(from).and_then(|there| there.get(..words.len()));
        words.copy_from_slice(place.ok_or_else(outside)?);
        Ok(())
    }

    fn wait(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn launch(&mut self, entry: KernelEntry, record: &Launch) -> Result<(), DeviceError> {
        let seed = self.launched()?;
        // SAFETY: the addresses are those of this device's arrays, which are as long as the record
        // states.
        let done = unsafe { launch(self.kernel, entry, record, seed) };
        done.map_err(|why| DeviceError::Failed(why.to_string()))
    }

    fn make_room(&mut self, buffer: usize, words: usize, _awaited: bool) -> bool {
        self.staging[buffer] = vec![POISON; words];
        words >= WORTHWHILE
    }

    fn send_off(&mut self, buffer: usize, from: u64, words: usize) -> Result<(), DeviceError> {
        self.staging[buffer].truncate(words);
        self.later = Some(Later { from, buffer, asks: self.launches % 4 });
        Ok(())
    }

    fn have_arrived(&mut self) -> Result<bool, DeviceError> {
        let Some(Later { from, buffer, asks }) = self.later.take() else { return Ok(true) };
        if asks > 0 {
            self.later = Some(Later { from, buffer, asks: asks - 1 });
            return Ok(false);
        }
        // Copy as late as possible: if the words were overwritten meanwhile, the backup is wrong and tests notice.
        let mut words = std::mem::take(&mut self.staging[buffer]);
        let read = self.read(from, &mut words);
        self.staging[buffer] = words;
        read.map(|()| true)
    }

    fn staged(&self, buffer: usize) -> &[u32] {
        &self.staging[buffer]
    }
}

impl Slots for Emulated {
    fn make_slots(
        &mut self,
        layout: &Layout,
        slots: usize,
        most: usize,
        once: bool,
    ) -> Result<u32, DeviceError> {
        compile(layout.kernel)?;
        // A kernel that was launched once must end before its tables change.
        self.queue = None;
        self.queue = Some(EmulatedQueue::new(layout, slots, most));
        if once {
            let seed = self.launched()?;
            self.queue.as_mut().ok_or_else(outside)?.serve(seed)?;
        }
        Ok(CHILDREN)
    }

    fn start(&mut self, slot: usize, parents: &Parents) -> Result<(), DeviceError> {
        self.queue.as_mut().ok_or_else(outside)?.start(slot, parents)
    }

    fn is_done(&mut self, slot: usize) -> Result<bool, DeviceError> {
        let mut queue = self.queue.take().ok_or_else(outside)?;
        let done = queue.advance(|| self.launched()).and_then(|()| queue.is_done(slot));
        self.queue = Some(queue);
        done
    }

    fn bounds(&mut self, slot: usize) -> Result<&[u32], DeviceError> {
        self.queue.as_mut().ok_or_else(outside)?.bounds(slot)
    }
}

fn compile(kernel: &str) -> Result<(), DeviceError> {
    prepare(kernel).map_err(|why| DeviceError::Failed(why.to_string()))
}

fn told_to_fail() -> DeviceError {
    DeviceError::Failed("failed as requested".into())
}

fn outside() -> DeviceError {
    DeviceError::Failed("address outside its memory".into())
}
