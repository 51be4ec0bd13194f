//! [`Queue`]: batches on a GPU, in slots with a stream, an event, and page-locked memory both ways.

use super::driver::Driver;
use crate::DeviceError;
use crate::kernel_mailbox::{self, KernelMailbox};
use pleach_core::search::evaluate::Parents;
use pleach_kernels::bounding::Bounding;
use pleach_kernels::serving::{POST, Serving};
use std::ptr::from_ref;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

/// A slot. Operations on its stream happen in order.
pub(super) struct Slot<D: Driver> {
    stream: D::Stream,
    /// The parents' starts and words, on the host and on the device, with this capacity.
    sent: D::Pinned,
    sent_room: usize,
    input: u64,
    /// The bounds, on the device and on the host, with this capacity.
    output: u64,
    came: D::Pinned,
    came_room: usize,
    children: usize,
    /// When the batch under way was sent or, if that was later, when one that was sent before it came back: until then it
    /// may have waited for that one. `None` if the slot is free.
    since: Option<Instant>,
    /// The batch's number, while a kernel that was launched once has it.
    announced: Option<u32>,
}

/// A kernel that was launched once, and its mailbox.
pub(super) struct PersistentKernel<D: Driver> {
    stream: D::Stream,
    words: D::Pinned,
    mailbox: KernelMailbox,
}

impl<D: Driver> Slot<D> {
    /// A slot with these arrays on the device, and arrays of the same sizes on the host.
    pub fn new(
        driver: &D,
        (input, sent): (u64, usize),
        (output, came): (u64, usize),
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            stream: driver.stream()?,
            sent: driver.pin(sent, true)?,
            sent_room: sent,
            input,
            output,
            came: driver.pin(came, false)?,
            came_room: came,
            children: 0,
            since: None,
            announced: None,
        })
    }
}

/// All slots, with the kernel and what all batches share.
pub(super) struct Queue<D: Driver> {
    pub kernel: D::Kernel,
    pub tables: u64,
    pub sizes: [u32; 10],
    pub slots: Vec<Slot<D>>,
    /// The kernel, if it was launched only once.
    pub served: Option<PersistentKernel<D>>,
}

/// Page-locked memory as words that a running kernel may read and write.
fn shared(words: &mut [u32]) -> &[AtomicU32] {
    // SAFETY: both types have the same size, alignment and values, and nobody else on the host uses the words.
    unsafe { std::slice::from_raw_parts(words.as_mut_ptr().cast::<AtomicU32>(), words.len()) }
}

impl<D: Driver> Queue<D> {
    fn slot(&mut self, at: usize) -> Result<&mut Slot<D>, DeviceError> {
        self.slots.get_mut(at).ok_or_else(|| DeviceError::Failed("no such slot".into()))
    }

    /// Launches the kernel once, for all batches.
    pub fn serve(
        &mut self,
        driver: &D,
        (copy, counts): (u64, u64),
        blocks: u32,
    ) -> Result<(), DeviceError> {
        let (stream, mut words) = (driver.stream()?, driver.pin(POST, false)?);
        let there = driver.words(&mut words);
        there.fill(0);
        let post = there.as_mut_ptr() as u64;
        let record = Serving { post, copy, counts, tables: self.tables, sizes: self.sizes };
        // SAFETY: the record's arrays have the sizes that the kernel expects, and are freed only after it has stopped.
        unsafe { driver.launch(self.kernel, Some(&stream), blocks, from_ref(&record).cast())? };
        driver.mark(&stream)?;
        self.served = Some(PersistentKernel { stream, words, mailbox: KernelMailbox::default() });
        Ok(())
    }

    /// Stops a kernel that was launched once. Returns whether it has ended.
    pub fn has_stopped(&mut self, driver: &D) -> Result<bool, DeviceError> {
        let Some(served) = &mut self.served else { return Ok(true) };
        kernel_mailbox::stop(shared(driver.words(&mut served.words)));
        let stopped = driver.is_past(&served.stream)?;
        if stopped {
            self.served = None;
        }
        Ok(stopped)
    }

    /// Whether an announced batch is done; if so, starts fetching its bounds.
    fn is_served(&mut self, driver: &D, at: usize) -> Result<bool, DeviceError> {
        let (Some(slot), Some(served)) = (self.slots.get_mut(at), &mut self.served) else {
            return Ok(true);
        };
        let Some(number) = slot.announced else { return Ok(true) };
        if !kernel_mailbox::is_done(shared(driver.words(&mut served.words)), number) {
            // The kernel must not end before it is stopped.
            return match driver.is_past(&served.stream)? {
                true => Err(DeviceError::Failed("its kernel ended early".into())),
                false => Ok(false),
            };
        }
        let came = &mut driver.words(&mut slot.came)[..slot.children];
        // SAFETY: as in `start`; the kernel has written the words that are fetched.
        unsafe { driver.fetch(Some(&slot.stream), came, slot.output)? };
        driver.mark(&slot.stream)?;
        slot.announced = None;
        Ok(true)
    }

    /// Sends a batch through a free slot.
    pub fn start(&mut self, driver: &D, at: usize, parents: &Parents) -> Result<(), DeviceError> {
        let (kernel, tables, sizes) = (self.kernel, self.tables, self.sizes);
        if let (Some(slot), Some(served)) = (self.slots.get_mut(at), &mut self.served) {
            let children = parents.children() as usize;
            if slot.since.is_some() || children > slot.came_room {
                return Err(misfit());
            }
            let words = shared(driver.words(&mut served.words));
            slot.announced = Some(served.mailbox.announce(words, parents, slot.output)?);
            (slot.children, slot.since) = (children, Some(Instant::now()));
            return Ok(());
        }
        let slot = self.slot(at)?;
        let starts = parents.starts.len();
        let (words, children) = (starts + parents.words.len(), parents.children() as usize);
        if slot.since.is_some() || words > slot.sent_room || children > slot.came_room {
            return Err(misfit());
        }
        slot.children = children;
        let sent = &mut driver.words(&mut slot.sent)[..words];
        sent[..starts].copy_from_slice(&parents.starts);
        sent[starts..].copy_from_slice(&parents.words);
        let record = Bounding {
            starts: slot.input,
            parents: slot.input + 4 * starts as u64,
            bounds: slot.output,
            tables,
            count: parents.len() as u32,
            children: parents.children(),
            sizes,
        };
        let came = &mut driver.words(&mut slot.came)[..children];
        // SAFETY: the slot's memory has room for the batch. Nobody touches it before the stream passes its event,
        // because the slot is not free.
        unsafe {
            driver.send(Some(&slot.stream), slot.input, sent)?;
            driver.launch(kernel, Some(&slot.stream), record.blocks(), from_ref(&record).cast())?;
            driver.fetch(Some(&slot.stream), came, slot.output)?;
        }
        driver.mark(&slot.stream)?;
        slot.since = Some(Instant::now());
        Ok(())
    }

    /// Whether a batch has come back; if not, how long it has been under way since the last one before it came back.
    pub fn is_done(&mut self, driver: &D, at: usize) -> Result<Result<(), Duration>, DeviceError> {
        let served = self.is_served(driver, at)?;
        let slot = self.slot(at)?;
        let (done, since) = (served && driver.is_past(&slot.stream)?, slot.since);
        if !done {
            return Ok(Err(since.map_or(Duration::ZERO, |since| since.elapsed())));
        }
        let now = Instant::now();
        let times = self.slots.iter_mut().filter_map(|slot| slot.since.as_mut());
        times.filter(|time| Some(**time) >= since).for_each(|time| *time = now);
        Ok(Ok(()))
    }

    /// The slots with a batch under way.
    pub fn busy(&self) -> Vec<usize> {
        (0..self.slots.len()).filter(|&at| self.slots[at].since.is_some()).collect()
    }

    /// The bounds that have arrived. Frees the slot.
    pub fn bounds(&mut self, driver: &D, at: usize) -> Result<&[u32], DeviceError> {
        let slot = self.slot(at)?;
        slot.since = None;
        let children = slot.children;
        Ok(&driver.words(&mut slot.came)[..children])
    }
}

fn misfit() -> DeviceError {
    DeviceError::Failed("the batch does not fit its slot".into())
}

#[cfg(test)]
mod tests {
    use super::super::fake_driver::FakeDriver;
    use super::*;
    use pleach_runtime::sync::Ordering;

    /// A queue with this many slots.
    fn queue(driver: &FakeDriver, slots: usize) -> Queue<FakeDriver> {
        let slots = (0..slots).map(|_| Slot::new(driver, (0, 9), (0, 9)).unwrap()).collect();
        Queue { kernel: (), tables: 0, sizes: [0; 10], slots, served: None }
    }

    #[test]
    fn a_batch_that_waited_for_others_is_not_hung() {
        let driver = FakeDriver::default();
        let mut queue = queue(&driver, 3);
        let parents = Parents { starts: vec![0, 1], words: vec![7] };
        (0..3).for_each(|at| queue.start(&driver, at, &parents).unwrap());
        for at in 0..2 {
            std::thread::sleep(Duration::from_millis(5));
            driver.passed.fetch_add(1, Ordering::Relaxed);
            let now = Instant::now();
            assert_eq!(queue.is_done(&driver, at).unwrap(), Ok(()));
            let waited = queue.is_done(&driver, at + 1).unwrap().unwrap_err();
            assert!(waited <= now.elapsed(), "{waited:?}");
        }
    }

    /// Its time used to begin again with every batch that came back.
    #[test]
    fn a_batch_that_later_ones_overtake_may_be_hung() {
        let driver = FakeDriver::default();
        let mut queue = queue(&driver, 2);
        let parents = Parents { starts: vec![0, 1], words: vec![7] };
        queue.start(&driver, 1, &parents).unwrap();
        let sent = Instant::now();
        std::thread::sleep(Duration::from_millis(5));
        queue.start(&driver, 0, &parents).unwrap();
        driver.passed.store(1, Ordering::Relaxed);
        assert_eq!(queue.is_done(&driver, 0).unwrap(), Ok(()));
        let least = sent.elapsed();
        let waited = queue.is_done(&driver, 1).unwrap().unwrap_err();
        assert!(waited >= least, "{waited:?}");
    }
}
