//! The kernels of devices on the CPU, one thread of a device after the other: for tests.

use super::DeviceError;
use super::memory::Memory;
use pleach_core::device::Layout;
use pleach_kernels::emulated::launch;
use pleach_kernels::launch::{Entry, Launch};

/// Explorers, and bytes of memory.
const EXPLORERS: u32 = 8;
const BYTES: u64 = 1 << 30;

/// Memory of the host that plays a device's; it can be told to fail in some launch.
pub(super) struct Emulated {
    kernel: &'static str,
    /// As kernels read two words at once, all begin where two words may.
    arrays: Vec<Vec<u64>>,
    launches: u32,
    fail: Option<u32>,
}

impl Emulated {
    /// A device that fails in its `fail`-th launch, if that is given.
    pub fn new(fail: Option<u32>) -> Self {
        Self { kernel: "", arrays: Vec::new(), launches: 0, fail }
    }

    /// The words from an address on.
    fn words(&mut self, address: u64) -> Option<&mut [u32]> {
        self.arrays.iter_mut().find_map(|array| {
            let at = address.checked_sub(array.as_ptr() as u64)? as usize / 4;
            let words = 2 * array.len();
            // SAFETY: so many words lie there, borrowed for as long as the array is.
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
        Ok(())
    }

    fn make(&mut self, layout: &Layout) -> Result<u32, DeviceError> {
        self.kernel = layout.kernel;
        Ok(EXPLORERS)
    }

    fn take(&mut self, words: usize) -> Result<u64, DeviceError> {
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

    fn launch(&mut self, entry: Entry, record: &Launch) -> Result<(), DeviceError> {
        self.launches += 1;
        if self.fail == Some(self.launches) {
            return Err(DeviceError::Failed("told to fail".into()));
        }
        // SAFETY: the addresses are those of arrays that this device holds, as long as the kernel
        // takes them to be.
        let done = unsafe { launch(self.kernel, entry, record, self.launches.into()) };
        done.map_err(|why| DeviceError::Failed(why.to_string()))
    }
}

fn outside() -> DeviceError {
    DeviceError::Failed("an address outside its memory".into())
}
