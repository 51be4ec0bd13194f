//! [`Phase`]: threads and devices sweep fixed slabs for some steps, and exchange edges after each sweep.

use super::barrier::Barrier;
use super::contract::Stepping;
use super::exchange::{Edges, PhaseShare, PhaseWorker};
use super::loop_thread::{TakerTally, sleep};
use super::run_loop::slow_down;
use super::settings::{LoopSettings, LoopSnapshot};
use super::slab_device::SlabDevice;
use super::taker_progress::TakerProgress;
use super::team::{BLOCKS, Team};
use pleach_gpu::DeviceError;
use pleach_gpu::pool::DevicePool;
use pleach_gpu::spec::Spec;
use pleach_runtime::error::RunError;
use pleach_runtime::on_drop::OnDrop;
use pleach_runtime::sync::{AtomicBool, AtomicU64, Ordering};
use pleach_runtime::worker_pool::WorkerPool;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// A slab, and what those who hold it did.
pub(super) struct SlabWork<'w, S> {
    pub units: Range<usize>,
    pub slab: S,
    /// The device that has the slab, if it was sent to one. The host's copy is then valid only at its edges.
    pub device: Option<SlabDevice<'w, S>>,
    /// What each of the threads did, or the device: it made slabs, swept them or copied edges.
    pub did: Vec<TakerTally>,
    /// The time that sweeps took since speeds were last measured.
    pub last: Duration,
}

/// Who holds a slab.
pub(super) struct SlabWorker<'a> {
    /// The names of the threads, or that of the device.
    pub names: Vec<String>,
    /// The device, which a thread drives.
    pub spec: Option<&'a Spec>,
}

impl SlabWorker<'_> {
    /// Whether several threads sweep the slab together.
    pub fn is_team(&self) -> bool {
        self.names.len() > 1
    }
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
    /// Only the first can be a team.
    pub members: &'a [SlabWorker<'a>],
    /// The progress of each thread and device.
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

/// What a thread does: returns how long its completed sweeps took, or why its device failed.
type PhaseJob<'j> = Box<dyn FnOnce() -> Result<Duration, String> + Send + 'j>;

impl<'a, W: Stepping> Phase<'a, W> {
    /// Does this many steps, unless they are stopped.
    pub fn run(
        &mut self,
        held: &mut [SlabWork<'a, W::Slab>],
        steps: usize,
        watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
    ) -> Result<(), StepsError> {
        let Phase { pool, work, settings, members, seen, start, all, done, exchanged, .. } = *self;
        let shared = &PhaseShare {
            edges: &self.edges,
            is_ring: work.is_ring(),
            exchanged,
            done,
            steps,
            depth: work.depth().max(1),
            meet: Barrier::new(seen.len()),
            stop: AtomicBool::new(false),
            swept: AtomicU64::new(done as u64),
        };
        let names = members.iter().flat_map(|member| &member.names);
        let workers: Vec<PhaseWorker<'_>> = names
            .zip(seen)
            .map(|(name, seen)| PhaseWorker { name, slow: slow_down(&settings.slow, name), seen })
            .collect();
        let teams = usize::from(members[0].is_team());
        let (together, alone) = held.split_at_mut(teams);
        let team = together.first_mut().zip(work.together()).map(|(held, together)| {
            let SlabWork { slab, did, .. } = held;
            let threads = did.len();
            (Team::new(together.blocks(slab, BLOCKS * threads), threads, shared), did)
        });
        let (team, did) = team.unzip();
        let mut jobs: Vec<PhaseJob<'_>> = Vec::new();
        if let Some(team) = &team {
            for (me, (did, worker)) in did.into_iter().flatten().zip(&workers).enumerate() {
                jobs.push(Box::new(move || {
                    let guard = OnDrop(|| {
                        team.leave();
                        shared.meet.leave();
                    });
                    let took = team.sweep(shared, me, worker, did);
                    std::mem::forget(guard);
                    Ok(took)
                }));
            }
        }
        let alone = alone.iter_mut().zip(&members[teams..]).zip(&workers[jobs.len()..]);
        for (at, ((held, member), worker)) in alone.enumerate() {
            let turn = SlabTurn { work, shared, me: teams + at, spec: member.spec, worker };
            jobs.push(Box::new(move || {
                let guard = OnDrop(|| shared.meet.leave());
                let took = turn.sweep_slab(held);
                if took.is_ok() {
                    std::mem::forget(guard);
                }
                took
            }));
        }
        let ended = pool.side_by_side(jobs, |latch| {
            // If the watcher panics, no new sweep starts.
            let guard = OnDrop(|| shared.stop.store(true, Ordering::Relaxed));
            while latch.wait(settings.progress_every, || true) > 0 {
                let done = shared.swept.load(Ordering::Relaxed);
                let seconds = start.elapsed().as_secs_f64();
                let takers = workers.iter().map(|it| it.seen.snapshot(it.name, 1)).collect();
                if watch(&LoopSnapshot { done, units: all as u64, seconds, takers }).is_break() {
                    shared.stop.store(true, Ordering::Relaxed);
                }
            }
            std::mem::forget(guard);
        })?;
        drop(team);
        self.done = shared.swept.load(Ordering::Relaxed) as usize;
        self.stopped = shared.stop.load(Ordering::Relaxed);
        self.exchanged = true;
        if let Some(together) = work.together().filter(|_| teams > 0) {
            together.swept(&mut held[0].slab, self.done - done);
        }
        let (mut ended, mut lost) = (ended.into_iter(), Vec::new());
        for (held, member) in held.iter_mut().zip(members) {
            for (name, took) in member.names.iter().zip(ended.by_ref()) {
                match took {
                    Ok(took) => held.last += took,
                    Err(why) => lost.push((name.clone(), why)),
                }
            }
        }
        if lost.is_empty() { Ok(()) } else { Err(StepsError::Lost(lost)) }
    }
}

/// A thread's turn with a slab of its own, or with a device's.
struct SlabTurn<'a, 'w, W> {
    work: &'w W,
    shared: &'a PhaseShare<'a>,
    /// The number of the slab.
    me: usize,
    spec: Option<&'a Spec>,
    worker: &'a PhaseWorker<'a>,
}

impl<'w, W: Stepping> SlabTurn<'_, 'w, W> {
    /// Sweeps a slab until all steps are done, the work is stopped, or another member is lost. Returns how long the
    /// sweeps took.
    ///
    /// # Errors
    /// Why the device failed; its slab is then lost.
    fn sweep_slab(&self, held: &mut SlabWork<'w, W::Slab>) -> Result<Duration, String> {
        let Self { work, shared, me, worker, .. } = *self;
        let units = held.units.start as u64..held.units.end as u64;
        worker.seen.record_start(units);
        if let (None, Some(spec), Some(on)) = (&held.device, self.spec, work.on_device()) {
            let device = SlabDevice::new(on, spec, DevicePool::shared(), &held.slab);
            held.device = Some(device.map_err(|why| format!("not used: {why}"))?);
        }
        let (mut all, mut taking) = (Duration::ZERO, Duration::ZERO);
        let mut continues = true;
        if !shared.exchanged {
            self.publish_edges(&held.slab, 0);
            let Some(all_continue) = shared.wait() else { return Ok(all) };
            continues = all_continue;
            self.take_edges(&mut held.slab, 0);
        }
        for sweep in 0..shared.sweeps() {
            if !continues {
                break;
            }
            let ((_, now), began) = (shared.steps_of(sweep), Instant::now());
            match &mut held.device {
                Some(device) => {
                    device.sweep(&mut held.slab, now).map_err(|why| restart_reason(&why))?;
                }
                None => work.sweep(&mut held.slab, now),
            }
            self.publish_edges(&held.slab, sweep + 1);
            let owed = (taking + began.elapsed()).mul_f64(worker.slow - 1.0);
            sleep(owed, || shared.stop.load(Ordering::Relaxed));
            let took = began.elapsed();
            all += took + taking;
            let units = held.units.len() * now;
            held.did[0].add(units as u64, units as f64, took);
            worker.seen.record_sweep(now, took);
            if me == 0 {
                shared.swept.fetch_add(now as u64, Ordering::Relaxed);
            }
            let Some(all_continue) = shared.wait() else { return Ok(all) };
            continues = all_continue;
            // Also at the end: the next phase and the caller need the edges.
            let began = Instant::now();
            self.take_edges(&mut held.slab, sweep + 1);
            taking = began.elapsed();
            held.did[0].busy_ns += taking.as_nanos() as u64;
        }
        Ok(all)
    }

    /// Writes a slab's edges for its neighbours.
    fn publish_edges(&self, slab: &W::Slab, sweeps: usize) {
        self.shared.publish(self.me, sweeps, |above, edge| self.work.edge(slab, above, edge));
    }

    /// Takes the edges of a slab's neighbours.
    fn take_edges(&self, slab: &mut W::Slab, sweeps: usize) {
        for above in [false, true] {
            let read = |edge: &[f32]| self.work.set_edge(slab, above, edge);
            self.shared.take(self.me, above, sweeps, read);
        }
    }
}
