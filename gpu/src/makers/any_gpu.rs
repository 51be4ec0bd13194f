//! [`Gpu`]: a GPU of any maker: its memory, its kernels, and how long they may run.

use super::driver::Driver;
use super::pinned_staging::PinnedStaging;
use super::queue::{Queue, Slot};
use crate::DeviceError;
use crate::ending::AtWork;
use crate::form::{BuiltKernel, Form, Handling};
use crate::memory::Memory;
use crate::slots::Slots;
use pleach_core::search::device::Layout;
use pleach_core::search::evaluate::Parents;
use pleach_kernels::bounding::BOUND;
use pleach_kernels::launch::{
    KernelEntry, Launch, LaunchReport, THREADS, blocks, explorers_per_block,
};
use pleach_kernels::serving::{COUNTS, POST, SERVE};
use pleach_runtime::sync::{AtomicBool, Mutex, Ordering, lock};
use std::ptr::from_ref;
use std::sync::Arc;
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

/// Additional time for each step that every explorer may make; a step takes far less.
const WAIT_PER_STEP: Duration = Duration::from_micros(100);
/// Smaller backups are copied at once. If a thief waits for part of it, that part arrives before the thief comes back.
const WORTHWHILE: usize = 1 << 10;
const WORTH_WAITING: usize = 1 << 18;
/// How long a wait may occupy its core.
const SHORT: Duration = Duration::from_micros(100);

/// A GPU, the memory allocated on it, and its kernels.
pub(super) struct Gpu<D: Driver> {
    kernels: Vec<D::Kernel>,
    loaded: Option<LoadedCode<D>>,
    handling: Handling,
    taken: Vec<u64>,
    queue: Option<Queue<D>>,
    /// Page-locked words for the report of a launch, both ways, from the first one on.
    tally: Option<D::Pinned>,
    /// Backups of its work, from the first one on.
    staging: Option<PinnedStaging<D>>,
    /// How long the launched kernels may run, until somebody has waited for them.
    running: Option<Duration>,
    /// Whether a kernel hung, also if another open device of the same GPU launched it: from then on nothing may wait for
    /// the driver. The map of all GPUs has one reference, and each open device of this GPU one.
    hung: Arc<AtomicBool>,
    /// Dropped last, because everything else needs it.
    driver: D,
}

/// Loaded code, which the next run may reuse.
struct LoadedCode<D: Driver> {
    from: CodeKey,
    code: D::Code,
    built: BuiltKernel,
}

/// What code is compiled from: the kernel, the sizes compiled in, and the user's choices.
type CodeKey = (&'static str, Vec<u32>, Handling);

/// The key of a kernel's code, which does not depend on how long the kernel may run.
fn code_key(layout: &Layout, handling: Handling) -> CodeKey {
    (layout.kernel, layout.sizes.clone(), Handling { wait: None, ..handling })
}

impl<D: Driver> Gpu<D> {
    /// An open GPU without kernels. All devices of the same GPU share `hung`.
    pub fn new(driver: D, hung: Arc<AtomicBool>) -> Self {
        Self {
            kernels: Vec::new(),
            loaded: None,
            handling: Handling::default(),
            taken: Vec::new(),
            queue: None,
            tally: None,
            staging: None,
            running: None,
            hung,
            driver,
        }
    }

    /// Loads the code of a kernel: that of the previous run if it fits, otherwise the first form that works.
    fn load(&mut self, layout: &Layout) -> Result<(), DeviceError> {
        // Functions become invalid with their code.
        self.kernels.clear();
        self.queue = None;
        let from = code_key(layout, self.handling);
        let kept = self.loaded.take().filter(|loaded| loaded.from == from);
        self.loaded = Some(match kept {
            Some(LoadedCode { code, mut built, .. }) => {
                if built.form != Form::Committed {
                    built = BuiltKernel { form: Form::Cached, log: String::new() };
                }
                LoadedCode { from, code, built }
            }
            None => {
                // Compile for one GPU at a time: the next of the same kind finds the cached code.
                static COMPILES: Mutex<()> = Mutex::new(());
                let _turn = lock(&COMPILES);
                let (code, built) = self.driver.load(layout, self.handling)?;
                LoadedCode { from, code, built }
            }
        });
        Ok(())
    }

    /// An entry point of the loaded code.
    fn kernel(&self, name: &str) -> Result<D::Kernel, DeviceError> {
        let loaded = self.loaded.as_ref().ok_or_else(unloaded)?;
        self.driver.kernel(&loaded.code, name)
    }

    /// How many blocks of a kernel a multiprocessor holds; sets the shared memory that they need.
    fn blocks(&self, kernel: D::Kernel) -> Result<u32, DeviceError> {
        let blocks = self.driver.blocks(kernel)?;
        if blocks == 0 {
            return Err(DeviceError::Failed("it cannot run a single thread block".into()));
        }
        self.driver.carve_out(kernel, blocks);
        Ok(blocks)
    }

    /// How long something that may take `alone` can take when all open devices of this GPU take turns. Those that are
    /// idle count, too, so that nothing is given up too early.
    fn in_turns(&self, alone: Duration) -> Duration {
        let devices = Arc::strong_count(&self.hung).saturating_sub(1).max(1);
        alone.saturating_mul(u32::try_from(devices).unwrap_or(u32::MAX))
    }

    /// Waits for all launched kernels, but not forever.
    fn finish(&mut self) -> Result<(), DeviceError> {
        let Some(limit) = self.running.take() else { return self.responds() };
        let start = Instant::now();
        while !self.driver.is_idle()? {
            let waited = start.elapsed();
            if waited >= self.in_turns(limit) {
                self.hung.store(true, Ordering::Relaxed);
                return self.responds();
            }
            if waited < SHORT {
                yield_now();
            } else {
                // The delay is a small fraction of the time that the kernels take.
                sleep((waited / 64).clamp(SHORT / 10, Duration::from_millis(10)));
            }
        }
        Ok(())
    }

    fn responds(&self) -> Result<(), DeviceError> {
        if self.hung.load(Ordering::Relaxed) {
            return Err(DeviceError::Failed("a kernel hangs".into()));
        }
        Ok(())
    }

    /// Waits for all batches under way, but not forever.
    fn finish_slots(&mut self) -> Result<(), DeviceError> {
        for at in self.queue.as_ref().map_or(Vec::new(), Queue::busy) {
            while !self.is_done(at)? {
                sleep(SHORT / 10);
            }
        }
        Ok(())
    }

    /// Ends a kernel that was launched once, without waiting forever.
    fn stop_serving(&mut self) -> Result<(), DeviceError> {
        let (start, patience) = (Instant::now(), self.in_turns(self.handling.patience()));
        let Some(queue) = &mut self.queue else { return Ok(()) };
        while !queue.has_stopped(&self.driver)? {
            if start.elapsed() > patience {
                self.hung.store(true, Ordering::Relaxed);
                return self.responds();
            }
            sleep(SHORT / 10);
        }
        Ok(())
    }

    /// Page-locked words for sending and receiving the report of a launch, with the driver.
    fn tally(&mut self) -> Result<(&mut [u32], &mut [u32], &D), DeviceError> {
        let tally = match self.tally.take() {
            Some(tally) => tally,
            None => self.driver.pin(2 * LaunchReport::WORDS, false)?,
        };
        let words = self.driver.words(self.tally.insert(tally));
        let (sent, came) = words.split_at_mut(LaunchReport::WORDS);
        Ok((sent, came, &self.driver))
    }

    /// The slots, bound to the calling thread, with the driver.
    fn queue(&mut self) -> Result<(&mut Queue<D>, &D), DeviceError> {
        self.responds()?;
        self.driver.bind()?;
        let none = || DeviceError::Failed("it has no slots".into());
        Ok((self.queue.as_mut().ok_or_else(none)?, &self.driver))
    }
}

fn unloaded() -> DeviceError {
    DeviceError::Failed("its kernels are not loaded".into())
}

impl<D: Driver> Slots for Gpu<D> {
    fn make_slots(
        &mut self,
        layout: &Layout,
        slots: usize,
        most: usize,
        once: bool,
    ) -> Result<u32, DeviceError> {
        // The warps of a block then wait for one another.
        if once && !self.driver.has_independent_warps() {
            return Err(DeviceError::Dependent("launch=once"));
        }
        self.driver.bind()?;
        self.load(layout)?;
        let kernel = self.kernel(if once { SERVE } else { BOUND })?;
        let blocks = self.blocks(kernel)?;
        let tables = self.allocate(layout.tables.len().max(1))?;
        self.write(tables, &layout.tables)?;
        let (sent, came) = (1 + most * (1 + layout.words), (most * layout.width).max(1));
        let mut all = Vec::new();
        for _ in 0..slots {
            let (input, output) = (self.allocate(sent)?, self.allocate(came)?);
            all.push(Slot::new(&self.driver, (input, sent), (output, came))?);
        }
        let sizes = layout.constants();
        let mut queue = Queue { kernel, tables, sizes, slots: all, served: None };
        let mut zeros = |words: usize| {
            let address = self.allocate(words)?;
            self.write(address, &vec![0; words]).map(|()| address)
        };
        let own = if once { Some((zeros(POST)?, zeros(COUNTS)?)) } else { None };
        // The slots' streams do not wait for copies on the default stream.
        self.driver.synchronize()?;
        let blocks = blocks * self.driver.multiprocessors();
        if let Some(own) = own {
            queue.serve(&self.driver, own, blocks)?;
        }
        self.queue = Some(queue);
        // Two lanes for each child.
        Ok(blocks * THREADS / 2)
    }

    fn start(&mut self, slot: usize, parents: &Parents) -> Result<(), DeviceError> {
        let (queue, driver) = self.queue()?;
        queue.start(driver, slot, parents)
    }

    fn is_done(&mut self, slot: usize) -> Result<bool, DeviceError> {
        let patience = self.in_turns(self.handling.patience());
        let (queue, driver) = self.queue()?;
        let done = queue.is_done(driver, slot)?;
        if done.is_err_and(|waited| waited > patience) {
            self.hung.store(true, Ordering::Relaxed);
        }
        self.responds().map(|()| done.is_ok())
    }

    fn bounds(&mut self, slot: usize) -> Result<&[u32], DeviceError> {
        let (queue, driver) = self.queue()?;
        queue.bounds(driver, slot)
    }
}

impl<D: Driver> Drop for Gpu<D> {
    fn drop(&mut self) {
        // A lost device has already freed its memory.
        let _ = self.clear();
        if self.hung.load(Ordering::Relaxed) {
            std::mem::forget(self.loaded.take());
            std::mem::forget((self.queue.take(), self.tally.take(), self.staging.take()));
            self.driver.abandon();
            // Cleaning up at the end of the process would wait for the hung kernel too.
            std::mem::forget(AtWork::new());
        }
    }
}

impl<D: Driver> Memory for Gpu<D> {
    fn bytes(&self) -> u64 {
        self.driver.free_bytes()
    }

    fn configure(&mut self, handling: Handling) {
        self.handling = handling;
    }

    fn has_kernel(&self, layout: &Layout, handling: Handling) -> bool {
        let from = code_key(layout, handling);
        self.loaded.as_ref().is_some_and(|loaded| loaded.from == from)
    }

    fn built(&self) -> Option<BuiltKernel> {
        self.loaded.as_ref().map(|loaded| loaded.built.clone())
    }

    fn clear(&mut self) -> Result<(), DeviceError> {
        self.responds()?;
        self.driver.bind()?;
        self.finish()?;
        let finished = self.finish_slots();
        self.stop_serving()?;
        finished?;
        // No kernel may still use the arrays.
        self.driver.synchronize()?;
        self.queue = None;
        self.staging.iter_mut().for_each(PinnedStaging::trim);
        let mut freed = Ok(());
        for address in self.taken.drain(..) {
            // SAFETY: each was allocated once, and no kernel uses it any more.
            freed = freed.and(unsafe { self.driver.free(address) });
        }
        freed
    }

    fn build_kernels(&mut self, layout: &Layout) -> Result<(u32, u32), DeviceError> {
        self.driver.bind()?;
        self.load(layout)?;
        let fault = |why: DeviceError| DeviceError::Kernel(layout.kernel.into(), why.to_string());
        let kernel = |entry: KernelEntry| self.kernel(entry.name()).map_err(fault);
        self.kernels =
            KernelEntry::of(layout.kernel).iter().copied().map(kernel).collect::<Result<_, _>>()?;
        let at_once = |entry: KernelEntry| {
            let Some(&kernel) = self.kernels.get(entry as usize) else { return Ok(0) };
            let each = explorers_per_block(layout.kernel, entry) * self.driver.multiprocessors();
            self.blocks(kernel).map(|blocks| blocks * each)
        };
        // Those that give wait for one another.
        let gives = self.driver.has_independent_warps();
        let giving = if gives { at_once(KernelEntry::Give)? } else { 0 };
        Ok((at_once(KernelEntry::Explore)?, giving))
    }

    fn allocate(&mut self, words: usize) -> Result<u64, DeviceError> {
        self.driver.bind()?;
        let (bytes, memory) = (4 * words, self.bytes());
        let address = self.driver.allocate(bytes);
        let address = address.ok_or(DeviceError::Memory(memory, bytes as u64))?;
        self.taken.push(address);
        Ok(address)
    }

    fn write(&mut self, to: u64, words: &[u32]) -> Result<(), DeviceError> {
        if words.is_empty() {
            return Ok(());
        }
        self.driver.bind()?;
        self.finish()?;
        // SAFETY: the caller guarantees an array with this many words from `to` on.
        unsafe { self.driver.write(to, words) }
    }

    fn read(&mut self, from: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        if words.is_empty() {
            return Ok(());
        }
        self.driver.bind()?;
        self.finish()?;
        // SAFETY: the caller guarantees an array with this many words from `from` on.
        unsafe { self.driver.read(from, words) }
    }

    fn wait(&mut self) -> Result<(), DeviceError> {
        self.driver.bind()?;
        self.finish()
    }

    fn launch(&mut self, entry: KernelEntry, record: &Launch) -> Result<(), DeviceError> {
        self.responds()?;
        self.driver.bind()?;
        let kernel = *self.kernels.get(entry as usize).ok_or_else(unloaded)?;
        let name = self.loaded.as_ref().map_or("", |loaded| loaded.from.0);
        let limit = self.handling.patience() + record.budget * WAIT_PER_STEP;
        self.running = Some(self.running.map_or(limit, |other| other.max(limit)));
        let blocks = blocks(name, entry, record.explorers);
        // SAFETY: the kernels take this record, and its arrays have the sizes it states.
        unsafe { self.driver.launch(kernel, None, blocks, from_ref(record).cast()) }
    }

    /// Enqueues all operations of a round at once and waits once.
    fn run(
        &mut self,
        entry: KernelEntry,
        record: &Launch,
        report: &mut [u32; LaunchReport::WORDS],
    ) -> Result<(), DeviceError> {
        self.wait()?;
        let (sent, _, driver) = self.tally()?;
        sent.copy_from_slice(report);
        // SAFETY: the record's report has as many words, and nobody touches the page-locked ones before the wait ends.
        unsafe { driver.send(None, record.report, sent)? };
        self.launch(entry, record)?;
        let (_, came, driver) = self.tally()?;
        // SAFETY: as above.
        unsafe { driver.fetch(None, came, record.report)? };
        self.finish()?;
        report.copy_from_slice(self.tally()?.1);
        Ok(())
    }

    fn make_room(&mut self, buffer: usize, words: usize, awaited: bool) -> bool {
        let least = if awaited { WORTH_WAITING } else { WORTHWHILE };
        if words < least || self.driver.bind().is_err() {
            return false;
        }
        let staging = self.staging.take().or_else(|| PinnedStaging::new(&self.driver).ok());
        let Some(staging) = staging else { return false };
        self.staging.insert(staging).make_room(&self.driver, buffer, words)
    }

    fn send_off(&mut self, buffer: usize, from: u64, words: usize) -> Result<(), DeviceError> {
        self.wait()?;
        let staging = self.staging.as_mut().ok_or_else(|| DeviceError::Failed("no room".into()))?;
        // SAFETY: the caller guarantees an array with this many words from `from` on, which it leaves alone.
        unsafe { staging.send_off(&self.driver, (buffer, from, words)) }
    }

    fn have_arrived(&mut self) -> Result<bool, DeviceError> {
        self.responds()?;
        self.driver.bind()?;
        let patience = self.in_turns(self.handling.patience());
        let Some(staging) = &mut self.staging else { return Ok(true) };
        let come = staging.have_arrived(&self.driver)?;
        if come.is_err_and(|waited| waited > patience) {
            self.hung.store(true, Ordering::Relaxed);
        }
        self.responds().map(|()| come.is_ok())
    }

    fn staged(&self, buffer: usize) -> &[u32] {
        self.staging.as_ref().map_or(&[], |staging| staging.staged(&self.driver, buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake_driver::FakeDriver;
    use super::*;

    #[test]
    fn another_wait_loads_no_other_code() {
        let (driver, layout) = (FakeDriver::default(), Layout::default());
        let mut gpu = Gpu::new(driver.clone(), Arc::default());
        let handling = |lines, wait| Handling { form: None, lines, wait };
        for (handling, loads) in [
            (handling(false, None), 1),
            (handling(false, Some(3)), 1),
            (handling(true, Some(3)), 2),
            (handling(true, None), 2),
        ] {
            gpu.configure(handling);
            assert_eq!(gpu.has_kernel(&layout, handling), loads == driver.loads());
            gpu.make_slots(&layout, 1, 1, false).unwrap();
            gpu.clear().unwrap();
            assert_eq!(driver.loads(), loads, "{handling:?}");
        }
    }

    #[test]
    fn devices_of_a_gpu_wait_for_one_another() {
        let (hung, second) = (Arc::default(), Duration::from_secs(1));
        let first = Gpu::new(FakeDriver::default(), Arc::clone(&hung));
        assert_eq!(first.in_turns(second), second);
        let other = Gpu::new(FakeDriver::default(), Arc::clone(&hung));
        assert_eq!((first.in_turns(second), other.in_turns(second)), (2 * second, 2 * second));
        drop(other);
        assert_eq!(first.in_turns(second), second);
    }
}
