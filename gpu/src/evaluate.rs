//! [`Evaluator`]: a search on the host whose nodes a device bounds in several concurrent batches.

use super::batch::BatchSize;
use super::executor::{Rounds, run_rounds};
use super::form::BuiltKernel;
use super::pool::BorrowedDevice;
use super::spec::{Mode, Spec};
use super::{DeviceError, Exchange};
use pleach_core::search::device::Layout;
use pleach_core::search::evaluate::{Batch, HostSearch, Parents};
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::problem::Problem;
use pleach_core::search::work::{Malformed, Work};
use pleach_runtime::activity::Phases;
use std::time::{Duration, Instant};

/// Batches under way by default.
const SLOTS: u32 = 3;
/// Memory for all batches under way, in words.
const MOST_WORDS: usize = 16 << 20;
/// Fuel of a step after the device is lost.
const WITHOUT: u64 = 1 << 16;
/// How long to poll for bounds without a pause, and how long to pause after that.
const EAGER: Duration = Duration::from_micros(100);
const PAUSE: Duration = Duration::from_micros(20);
/// If this much time passes between two steps, batches under way have waited for the host.
const AWAY: Duration = Duration::from_micros(200);

/// A search whose nodes a device bounds. If the device fails, a CPU explorer continues the work.
pub struct Evaluator<'p> {
    problem: &'p dyn Problem,
    state: BoundingState<'p>,
    /// Why the device was given up, until reported.
    lost: Option<DeviceError>,
    built: Option<BuiltKernel>,
}

enum BoundingState<'p> {
    Device(Box<DeviceBounds<'p>>),
    Plain(Box<dyn Explorer + 'p>),
}

/// A host's search and the device that bounds for it.
struct DeviceBounds<'p> {
    host: Box<dyn HostSearch + 'p>,
    device: BorrowedDevice,
    free: Vec<usize>,
    /// In the order in which they were sent.
    under_way: Vec<DeviceBatch>,
    slots: u32,
    size: BatchSize,
    /// The most children of a parent.
    width: u64,
    /// Kept to reuse its memory.
    parents: Parents,
    phases: Phases,
    /// When the last step ended.
    stepped: Instant,
}

/// A batch under way.
struct DeviceBatch {
    slot: usize,
    batch: Batch,
    /// Its number of parents, or 0 if its time is not to be recorded.
    parents: usize,
    children: u32,
    since: Instant,
}

/// The number of slots, and the maximum number of parents in each.
fn room(layout: &Layout, spec: &Spec) -> (usize, usize) {
    let slots = spec.rmax.unwrap_or(SLOTS) as usize;
    let each = 1 + layout.words + layout.width;
    let room = (MOST_WORDS / slots / each).max(1);
    (slots, spec.pool.map_or(room, |pool| (pool as usize).min(room)))
}

/// Prepares a device to bound, which may compile a kernel. Returns how many children it can bound at once.
///
/// # Errors
/// If the device cannot run it.
pub(super) fn prepare_to_bound(
    device: &mut BorrowedDevice,
    layout: &Layout,
    spec: &Spec,
) -> Result<u32, DeviceError> {
    device.configure(spec.handling, Exchange::default());
    let (slots, most) = room(layout, spec);
    device.make_slots(layout, slots, most, false).inspect_err(|_| device.mark_failed())
}

impl<'p> Evaluator<'p> {
    /// Uses a device that is ready to bound this many children at once.
    pub(super) fn new(
        (device, at_once): (BorrowedDevice, u32),
        problem: &'p dyn Problem,
        host: Box<dyn HostSearch + 'p>,
        spec: &Spec,
    ) -> Self {
        let layout = host.layout();
        let (slots, most) = room(&layout, spec);
        let width = layout.width.max(1);
        let wave = (at_once as usize).div_ceil(width);
        let on = DeviceBounds {
            host,
            device,
            free: (0..slots).rev().collect(),
            under_way: Vec::new(),
            slots: slots as u32,
            // All slots together keep the device busy.
            size: BatchSize::new(wave.div_ceil(slots), most, spec.pool.is_some()),
            width: width as u64,
            parents: Parents::default(),
            phases: Phases::default(),
            stepped: Instant::now(),
        };
        let built = on.device.built();
        Self { problem, state: BoundingState::Device(Box::new(on)), lost: None, built }
    }

    fn explorer(&self) -> &dyn Explorer {
        match &self.state {
            BoundingState::Device(on) => &*on.host,
            BoundingState::Plain(plain) => &**plain,
        }
    }

    fn explorer_mut(&mut self) -> &mut dyn Explorer {
        match &mut self.state {
            BoundingState::Device(on) => &mut *on.host,
            BoundingState::Plain(plain) => &mut **plain,
        }
    }

    /// Takes the search back from a device that has failed.
    fn give_up(&mut self, why: DeviceError) {
        if let BoundingState::Device(on) = &mut self.state {
            on.device.mark_failed();
            let mut plain = self.problem.explorer();
            let all = on.host.drain();
            plain.add_work(&all.bytes).expect("a problem can read its own work");
            (self.state, self.lost) = (BoundingState::Plain(plain), Some(why));
        }
    }
}

impl DeviceBounds<'_> {
    /// Fills free slots and branches what has come back. Waits for one batch if any is under way.
    fn step(&mut self, best: i64, done: &mut Progress) -> Result<(), DeviceError> {
        let start = Instant::now();
        if start.duration_since(self.stepped) > AWAY {
            // The batches waited for this thread, so their times are not representative.
            self.under_way.iter_mut().for_each(|sent| sent.parents = 0);
        }
        let mut came = false;
        let mut waits = None;
        while !came && done.found.is_none() {
            self.send_batches(best, done)?;
            if self.under_way.is_empty() {
                break;
            }
            let looked = *waits.get_or_insert_with(Instant::now);
            let mut at = 0;
            while at < self.under_way.len() && done.found.is_none() {
                if self.device.slots().is_done(self.under_way[at].slot)? {
                    if !came {
                        self.phases.wait_ns += looked.elapsed().as_nanos() as u64;
                    }
                    let sent = self.under_way.remove(at);
                    self.branch_batch(&sent, best, done)?;
                    came = true;
                } else {
                    at += 1;
                }
            }
            if !came && start.elapsed() > EAGER {
                std::thread::sleep(PAUSE);
            }
        }
        self.stepped = Instant::now();
        Ok(())
    }

    /// Sends batches while there are nodes and free slots.
    fn send_batches(&mut self, best: i64, done: &mut Progress) -> Result<(), DeviceError> {
        while done.found.is_none()
            && let Some(slot) = self.free.pop()
        {
            // Leave some nodes for the other free slots.
            let part = self.host.unsent().div_ceil(self.free.len() + 1).max(1);
            let most = self.size.now().min(part);
            let (batch, alone) = self.host.send(most, best, &mut self.parents);
            done.add(alone);
            if self.parents.is_empty() {
                self.free.push(slot);
                break;
            }
            let began = Instant::now();
            self.device.slots().start(slot, &self.parents)?;
            self.phases.copy_ns += began.elapsed().as_nanos() as u64;
            let (parents, children) = (self.parents.len(), self.parents.children());
            self.under_way.push(DeviceBatch {
                slot,
                batch,
                parents,
                children,
                since: Instant::now(),
            });
        }
        Ok(())
    }

    /// Branches a batch whose bounds have arrived.
    fn branch_batch(
        &mut self,
        sent: &DeviceBatch,
        best: i64,
        done: &mut Progress,
    ) -> Result<(), DeviceError> {
        let bounds = self.device.slots().bounds(sent.slot)?;
        let bounds = &bounds[..sent.children as usize];
        done.add(self.host.receive(sent.batch, bounds, best));
        self.free.push(sent.slot);
        self.size.note(sent.parents, sent.children, sent.since.elapsed());
        Ok(())
    }
}

impl Rounds for Evaluator<'_> {
    fn step(&mut self, fuel: u64, best: i64) -> Progress {
        let mut done = Progress::default();
        match &mut self.state {
            BoundingState::Plain(plain) => return plain.run(fuel.min(WITHOUT), best),
            BoundingState::Device(on) => {
                if let Err(why) = on.step(best, &mut done) {
                    self.give_up(why);
                }
            }
        }
        done
    }

    fn max_fuel(&self) -> u64 {
        match &self.state {
            BoundingState::Plain(_) => WITHOUT,
            BoundingState::Device(on) => on.size.now() as u64 * on.width,
        }
    }

    fn active(&self) -> (u32, u32) {
        match &self.state {
            BoundingState::Plain(_) => (0, 1),
            BoundingState::Device(on) => (on.under_way.len() as u32, on.slots),
        }
    }

    fn take_failure(&mut self) -> Option<DeviceError> {
        self.lost.take()
    }

    fn take_phases(&mut self) -> Phases {
        match &mut self.state {
            BoundingState::Device(on) => std::mem::take(&mut on.phases),
            BoundingState::Plain(_) => Phases::default(),
        }
    }

    fn mode(&self) -> Mode {
        Mode::Evaluate
    }

    fn is_well(&self) -> bool {
        matches!(self.state, BoundingState::Device(_))
    }

    fn built(&self) -> Option<&BuiltKernel> {
        self.built.as_ref()
    }
}

impl Explorer for Evaluator<'_> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.explorer_mut().add_work(work)
    }

    fn size(&self) -> f64 {
        self.explorer().size()
    }

    fn least_bound(&self) -> Option<i64> {
        self.explorer().least_bound()
    }

    fn open_share(&self) -> Option<f64> {
        self.explorer().open_share()
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        run_rounds(self, fuel, best)
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.explorer_mut().split(share)
    }

    fn drain(&mut self) -> Work {
        self.explorer_mut().drain()
    }

    fn copy(&mut self) -> Work {
        self.explorer_mut().copy()
    }
}
