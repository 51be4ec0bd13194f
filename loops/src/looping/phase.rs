//! [`Phase`]: threads and devices sweep fixed slabs for some steps, and exchange edges after each sweep.

use super::barrier::Barrier;
use super::contract::Stepping;
use super::loop_thread::sleep;
use super::run_loop::slow_down;
use super::settings::{LoopSettings, LoopSnapshot};
use super::slab_device::SlabDevice;
use super::taker_progress::TakerProgress;
use pleach_gpu::DeviceError;
use pleach_gpu::pool::DevicePool;
use pleach_gpu::spec::Spec;
use pleach_runtime::error::RunError;
use pleach_runtime::on_drop::OnDrop;
use pleach_runtime::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};
use pleach_runtime::worker_pool::WorkerPool;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A thread's slab, and what the thread did.
pub(super) struct SlabWork<'w, S> {
    pub slab: S,
    /// The device that has the slab, if it was sent to one. The host's copy is then valid only at its edges.
    pub device: Option<SlabDevice<'w, S>>,
    /// Time during which the thread was busy: it made slabs, swept them or copied edges.
    pub busy: Duration,
    /// The part of it that sweeps took since speeds were last measured.
    pub last: Duration,
}

impl<S> SlabWork<'_, S> {
    /// A slab that took this long to make.
    pub fn new(slab: S, busy: Duration) -> Self {
        Self { slab, device: None, busy, last: Duration::ZERO }
    }
}

/// A thread, or a device with the thread that drives it.
pub(super) struct SlabWorker<'a> {
    pub name: String,
    pub spec: Option<&'a Spec>,
}

/// Why the steps did not finish.
pub(super) enum StepsError {
    Run(RunError),
    /// The names of failed devices, and why they failed: their slabs are lost.
    Lost(Vec<(String, String)>),
}

impl From<RunError> for StepsError {
    fn from(why: RunError) -> Self {
        Self::Run(why)
    }
}

/// Says that a device has failed.
pub(super) fn restart_reason(why: &DeviceError) -> String {
    format!("failed, restarting all steps: {why}")
}

/// Does steps with fixed slabs.
pub(super) struct Phase<'a, W> {
    pub pool: &'a WorkerPool,
    pub work: &'a W,
    pub settings: &'a LoopSettings,
    pub members: &'a [SlabWorker<'a>],
    /// The progress of each member.
    pub seen: &'a [TakerProgress],
    pub start: Instant,
    pub all: usize,
    pub done: usize,
    pub stopped: bool,
    /// The edges of all slabs.
    pub edges: Vec<Edges>,
    /// Whether the slabs know their neighbours' edges.
    pub exchanged: bool,
}

/// The edges of a slab for the neighbour below and the one above, after even and odd sweeps.
pub(super) type Edges = [[Mutex<Vec<f32>>; 2]; 2];

impl<'a, W: Stepping> Phase<'a, W> {
    /// Does this many steps, unless they are stopped.
    pub fn run(
        &mut self,
        held: Vec<SlabWork<'a, W::Slab>>,
        steps: usize,
        watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
    ) -> Result<Vec<SlabWork<'a, W::Slab>>, StepsError> {
        let Phase { pool, work, settings, members, seen, start, all, done, exchanged, .. } = *self;
        let (meet, stop, swept) =
            (&Barrier::new(held.len()), &AtomicBool::new(false), &AtomicU64::new(done as u64));
        let edges = &self.edges;
        let jobs = held.into_iter().zip(members).enumerate().map(|(me, (mut held, member))| {
            let slow = slow_down(&settings.slow, &member.name);
            let seen = &seen[me];
            let turn = PhaseShare { work, me, slow, member, seen, edges, meet, stop, swept };
            Box::new(move || {
                let guard = OnDrop(|| meet.leave());
                let lost = turn.sweep_slab(&mut held, steps, exchanged).err();
                if lost.is_none() {
                    std::mem::forget(guard);
                }
                (held, lost)
            })
                as Box<dyn FnOnce() -> (SlabWork<'a, W::Slab>, Option<String>) + Send + '_>
        });
        let ended = pool.side_by_side(jobs.collect(), |latch| {
            // If the watcher panics, no new sweep starts.
            let guard = OnDrop(|| stop.store(true, Ordering::Relaxed));
            while latch.wait(settings.progress_every, || true) > 0 {
                let done = swept.load(Ordering::Relaxed);
                let seconds = start.elapsed().as_secs_f64();
                let snapshots = seen.iter().zip(members);
                let takers =
                    snapshots.map(|(seen, member)| seen.snapshot(&member.name, 1)).collect();
                if watch(&LoopSnapshot { done, units: all as u64, seconds, takers }).is_break() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            std::mem::forget(guard);
        })?;
        self.done = swept.load(Ordering::Relaxed) as usize;
        self.stopped = stop.load(Ordering::Relaxed);
        self.exchanged = true;
        let (mut all, mut lost) = (Vec::new(), Vec::new());
        for ((held, why), member) in ended.into_iter().zip(members) {
            all.push(held);
            lost.extend(why.map(|why| (member.name.clone(), why)));
        }
        if lost.is_empty() { Ok(all) } else { Err(StepsError::Lost(lost)) }
    }
}

/// What a member shares with the others in a phase.
struct PhaseShare<'a, 'w, W> {
    work: &'w W,
    me: usize,
    /// Its slow-down factor.
    slow: f64,
    member: &'a SlabWorker<'a>,
    seen: &'a TakerProgress,
    edges: &'a [Edges],
    meet: &'a Barrier,
    stop: &'a AtomicBool,
    swept: &'a AtomicU64,
}

impl<'w, W: Stepping> PhaseShare<'_, 'w, W> {
    /// Sweeps a slab until all steps are done, the work is stopped, or another member is lost.
    ///
    /// # Errors
    /// Why the device failed; its slab is then lost.
    fn sweep_slab(
        &self,
        held: &mut SlabWork<'w, W::Slab>,
        steps: usize,
        exchanged: bool,
    ) -> Result<(), String> {
        let Self { work, me, edges, meet, stop, .. } = *self;
        if let (None, Some(spec), Some(on)) = (&held.device, self.member.spec, work.on_device()) {
            let device = SlabDevice::new(on, spec, DevicePool::shared(), &held.slab);
            held.device = Some(device.map_err(|why| format!("not used: {why}"))?);
        }
        let (mut left, mut taking) = (steps, Duration::ZERO);
        let mut continues = true;
        if !exchanged {
            publish_edges(work, &held.slab, &edges[me], 1);
            let met = meet.wait(|| !stop.load(Ordering::Relaxed));
            let Some(goes_on) = met else { return Ok(()) };
            continues = goes_on;
            take_edges(work, &mut held.slab, (me, edges), 1);
        }
        for parity in [0, 1].into_iter().cycle() {
            if !continues || left == 0 {
                break;
            }
            let (now, began) = (left.min(work.depth()), Instant::now());
            match &mut held.device {
                Some(device) => {
                    device.sweep(&mut held.slab, now).map_err(|why| restart_reason(&why))?;
                }
                None => work.sweep(&mut held.slab, now),
            }
            publish_edges(work, &held.slab, &edges[me], parity);
            let owed = (taking + began.elapsed()).mul_f64(self.slow - 1.0);
            sleep(owed, || stop.load(Ordering::Relaxed));
            let took = began.elapsed();
            held.last += took + taking;
            held.busy += took;
            self.seen.record_sweep(now, took);
            left -= now;
            if me == 0 {
                self.swept.fetch_add(now as u64, Ordering::Relaxed);
            }
            let Some(goes_on) = meet.wait(|| !stop.load(Ordering::Relaxed)) else { return Ok(()) };
            continues = goes_on;
            // Also at the end: the next phase and the caller need the edges.
            let began = Instant::now();
            take_edges(work, &mut held.slab, (me, edges), parity);
            taking = began.elapsed();
            held.busy += taking;
        }
        Ok(())
    }
}

/// Writes a slab's edges for its neighbours.
fn publish_edges<W: Stepping>(work: &W, slab: &W::Slab, edges: &Edges, parity: usize) {
    for above in [false, true] {
        let mut edge = lock(&edges[parity][usize::from(above)]);
        edge.clear();
        work.edge(slab, above, &mut edge);
    }
}

/// Takes the edges of a slab's neighbours.
fn take_edges<W: Stepping>(
    work: &W,
    slab: &mut W::Slab,
    (me, edges): (usize, &[Edges]),
    parity: usize,
) {
    let last = edges.len() - 1;
    let below = if me > 0 { Some(me - 1) } else { work.is_ring().then_some(last) };
    let above = if me < last { Some(me + 1) } else { work.is_ring().then_some(0) };
    for (from, is_above) in [(below, false), (above, true)] {
        if let Some(from) = from {
            work.set_edge(slab, is_above, &lock(&edges[from][parity][usize::from(!is_above)]));
        }
    }
}
