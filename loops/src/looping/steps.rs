//! [`run_steps`]: does work in steps, in slabs sized by the speed of those who compute them.

use super::barrier::Barrier;
use super::cut::{CutSchedule, cut, far};
use super::report::{LoopReport, Part};
use super::run_loop::{search_options, slow_down, without_kernel};
use super::settings::{LoopSettings, LoopSnapshot};
use super::sizes::Sizes;
use super::slab_device::SlabDevice;
use super::taker_progress::TakerProgress;
use crate::looping::contract::Stepping;
use pleach_gpu::DeviceError;
use pleach_gpu::pool::DevicePool;
use pleach_gpu::spec::{Spec, names};
use pleach_runtime::error::RunError;
use pleach_runtime::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};
use pleach_runtime::worker_pool::WorkerPool;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// How many steps to do, and after which of them to show the slabs.
pub struct Stops<'a, S> {
    at: Vec<usize>,
    show: Option<Show<'a, S>>,
}

/// Called with the number of steps done and all slabs in order.
type Show<'a, S> = &'a mut dyn FnMut(usize, &[&S]);

impl<S> From<usize> for Stops<'_, S> {
    fn from(steps: usize) -> Self {
        Self { at: vec![steps], show: None }
    }
}

impl<'a, S> Stops<'a, S> {
    /// Shows the slabs this many times at equal distances, the last time when all steps are done. If the steps are
    /// restarted, so are the calls.
    pub fn showing(steps: usize, times: usize, show: Show<'a, S>) -> Self {
        let at = |k: usize| (steps as u128 * k as u128 / times as u128) as usize;
        Self { at: (1..=times).map(at).collect(), show: Some(show) }
    }
}

/// Steps done.
#[derive(Debug)]
pub struct StepsOutcome<S> {
    /// The slabs in order.
    pub slabs: Vec<S>,
    /// The report. Units count once, however many steps they did.
    pub report: LoopReport,
}

/// A thread's slab, and what the thread did.
struct SlabWork<'w, S> {
    slab: S,
    /// The device that has the slab, if it was sent to one. The host's copy is then valid only at its edges.
    device: Option<SlabDevice<'w, S>>,
    busy: Duration,
    /// The part of it since speeds were last measured.
    last: Duration,
}

impl<S> SlabWork<'_, S> {
    fn new(slab: S) -> Self {
        Self { slab, device: None, busy: Duration::ZERO, last: Duration::ZERO }
    }
}

/// A thread, or a device with the thread that drives it.
struct SlabWorker<'a> {
    name: String,
    spec: Option<&'a Spec>,
}

/// Why the steps did not finish.
enum StepsError {
    Run(RunError),
    /// The names of failed devices, and why they failed: their slabs are lost.
    Lost(Vec<(String, String)>),
}

impl From<RunError> for StepsError {
    fn from(why: RunError) -> Self {
        Self::Run(why)
    }
}

/// Does steps on all threads and devices, with a slab for each. Calls `watch` with the progress from time to time; it
/// can stop the work after a whole sweep by breaking. If a device fails, all steps are restarted without it.
///
/// # Errors
/// If the system cannot start more threads. A panic in the work continues in the caller.
pub(super) fn run_steps<'s, W: Stepping>(
    pool: &WorkerPool,
    work: &W,
    begin: impl Fn(Range<usize>) -> Result<W::Slab, String> + Sync,
    steps: impl Into<Stops<'s, W::Slab>>,
    settings: &LoopSettings,
    watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
) -> Result<StepsOutcome<W::Slab>, RunError>
where
    W::Slab: 's,
{
    let mut stops = steps.into();
    let (mut devices, mut warnings): (Vec<(&Spec, String)>, _) = if work.on_device().is_some() {
        (settings.devices.iter().zip(names(&settings.devices)).collect(), Vec::new())
    } else {
        (Vec::new(), without_kernel(&settings.devices))
    };
    if settings.threads == 0 && devices.is_empty() && !warnings.is_empty() {
        return Err(RunError::NoUnit(warnings.remove(0)));
    }
    for (spec, name) in &devices {
        if spec.once {
            warnings.push(format!("{name}: launch=once has no effect on work in steps"));
        }
        warnings.extend(search_options(&(*spec, name.clone())));
    }
    let most = (work.units() / work.least().max(1)).max(1);
    let room = most - settings.threads.min(1) as usize;
    for (_, name) in devices.drain(devices.len().min(room)..) {
        warnings.push(format!("{name} not used: there are too few units for one more slab"));
    }
    let start = Instant::now();
    loop {
        let wanted = settings.threads.max(u32::from(devices.is_empty())) as usize;
        let threads = wanted.min(most - devices.len());
        let threads = (0..threads).map(|me| SlabWorker { name: format!("cpu{me}"), spec: None });
        let with =
            |(spec, name): &(_, String)| SlabWorker { name: name.clone(), spec: Some(*spec) };
        let members: Vec<SlabWorker<'_>> = threads.chain(devices.iter().map(with)).collect();
        match try_steps(pool, work, &begin, (&mut stops, start), (settings, &members), watch) {
            Ok(mut done) => {
                done.report.warnings = warnings;
                return Ok(done);
            }
            Err(StepsError::Run(why)) => return Err(why),
            Err(StepsError::Lost(lost)) => {
                devices.retain(|(_, name)| lost.iter().all(|(other, _)| other != name));
                warnings.extend(lost.into_iter().map(|(name, why)| format!("{name} {why}")));
            }
        }
    }
}

/// Does the steps from the start, unless a device fails.
fn try_steps<W: Stepping>(
    pool: &WorkerPool,
    work: &W,
    begin: &(impl Fn(Range<usize>) -> Result<W::Slab, String> + Sync),
    (stops, start): (&mut Stops<'_, W::Slab>, Instant),
    (settings, members): (&LoopSettings, &[SlabWorker<'_>]),
    watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
) -> Result<StepsOutcome<W::Slab>, StepsError> {
    let shares = match &settings.sizes {
        Sizes::Static(shares) => {
            (0..members.len()).map(|me| shares.get(me).copied().unwrap_or(0.0)).collect()
        }
        _ => vec![1.0; members.len()],
    };
    let mut ranges = cut(work.units(), work.least(), &shares);
    let mut held = begin_slabs(pool, begin, &ranges)?;
    let learns = members.len() > 1 && settings.sizes == Sizes::Measured;
    let steps = stops.at.last().copied().unwrap_or(0);
    let (done, stopped) = (0, false);
    let seen = &TakerProgress::all(members.len());
    let mut phase = Phase { pool, work, settings, members, seen, start, all: steps, done, stopped };
    let mut schedule = CutSchedule::new(learns, work.depth());
    let mut shares = vec![0.0; members.len()];
    let mut to_come = stops.at.iter().copied().peekable();
    loop {
        // Before cutting again: new slabs do not know their neighbours' edges yet.
        while to_come.next_if_eq(&phase.done).is_some() {
            if let Some(show) = &mut stops.show {
                fetch_slabs(&mut held, members)?;
                show(phase.done, &held.iter().map(|held| &held.slab).collect::<Vec<_>>());
            }
        }
        let Some(&stop) = to_come.peek().filter(|_| !phase.stopped) else { break };
        if phase.done >= schedule.next() {
            let rates = held
                .iter()
                .zip(&ranges)
                .map(|(held, range)| range.len() as f64 / held.last.as_secs_f64().max(1e-9));
            let learnt = cut(work.units(), work.least(), &rates.collect::<Vec<_>>());
            schedule.begin();
            if far(&ranges, &learnt, work.units()) {
                fetch_slabs(&mut held, members)?;
                held = recut_slabs(pool, work, held, &learnt)?;
                ranges = learnt;
            }
            schedule.end(phase.done);
            held.iter_mut().for_each(|held| held.last = Duration::ZERO);
        }
        let before = phase.done;
        for (seen, range) in seen.iter().zip(&ranges) {
            seen.record_start(range.start as u64..range.end as u64);
        }
        held = phase.run(held, stop.min(schedule.next()) - before, watch)?;
        for (share, range) in shares.iter_mut().zip(&ranges) {
            *share += (range.len() * (phase.done - before)) as f64;
        }
    }
    if !phase.stopped {
        fetch_slabs(&mut held, members)?;
    }
    let (seconds, complete) = (start.elapsed().as_secs_f64(), phase.done == steps);
    let all: f64 = shares.iter().sum();
    let parts = members.iter().zip(held.iter().zip(&ranges)).zip(shares);
    let parts = parts.map(|((member, (held, range)), share)| Part {
        name: member.name.clone(),
        units: range.len() as u64,
        ranges: 1,
        share: if all > 0.0 { share / all } else { 0.0 },
        busy_s: held.busy.as_secs_f64(),
        idle_s: (seconds - held.busy.as_secs_f64()).max(0.0),
    });
    let parts = parts.collect();
    let slabs = held.into_iter().map(|held| held.slab).collect();
    Ok(StepsOutcome {
        slabs,
        report: LoopReport { parts, seconds, complete, ..LoopReport::default() },
    })
}

/// Fetches all slabs that devices have.
fn fetch_slabs<S>(
    held: &mut [SlabWork<'_, S>],
    members: &[SlabWorker<'_>],
) -> Result<(), StepsError> {
    let mut lost = Vec::new();
    for (SlabWork { slab, device, .. }, member) in held.iter_mut().zip(members) {
        let fetched = device.as_mut().map_or(Ok(()), |device| device.fetch(slab));
        lost.extend(fetched.err().map(|why| (member.name.clone(), began_anew(&why))));
    }
    if lost.is_empty() { Ok(()) } else { Err(StepsError::Lost(lost)) }
}

fn began_anew(why: &DeviceError) -> String {
    format!("failed, restarting all steps: {why}")
}

/// Creates all slabs, each on its own thread.
fn begin_slabs<'w, S: Send>(
    pool: &WorkerPool,
    begin: &(impl Fn(Range<usize>) -> Result<S, String> + Sync),
    ranges: &[Range<usize>],
) -> Result<Vec<SlabWork<'w, S>>, RunError> {
    let jobs = ranges.iter().map(|range| {
        Box::new(move || begin(range.clone())) as Box<dyn FnOnce() -> Result<S, String> + Send>
    });
    let made = pool.side_by_side(jobs.collect(), |_| ())?;
    let made = made.into_iter().map(|made| match made {
        Ok(slab) => slab.map_err(RunError::Slab).map(SlabWork::new),
        Err(panic) => std::panic::resume_unwind(panic),
    });
    made.collect()
}

/// Cuts slabs again.
fn recut_slabs<'w, W: Stepping>(
    pool: &WorkerPool,
    work: &'w W,
    held: Vec<SlabWork<'w, W::Slab>>,
    ranges: &[Range<usize>],
) -> Result<Vec<SlabWork<'w, W::Slab>>, RunError> {
    let busy: Vec<Duration> = held.iter().map(|held| held.busy).collect();
    let slabs: Vec<W::Slab> = held.into_iter().map(|held| held.slab).collect();
    let made = begin_slabs(pool, &|range| work.cut(&slabs, range), ranges)?;
    Ok(made.into_iter().zip(busy).map(|(held, busy)| SlabWork { busy, ..held }).collect())
}

/// Does steps with fixed slabs.
struct Phase<'a, W> {
    pool: &'a WorkerPool,
    work: &'a W,
    settings: &'a LoopSettings,
    members: &'a [SlabWorker<'a>],
    /// The progress of each member.
    seen: &'a [TakerProgress],
    start: Instant,
    all: usize,
    done: usize,
    stopped: bool,
}

/// The edges of a slab for the neighbour below and the one above, after even and odd sweeps.
type Edges = [[Mutex<Vec<f32>>; 2]; 2];

impl<'a, W: Stepping> Phase<'a, W> {
    fn run(
        &mut self,
        held: Vec<SlabWork<'a, W::Slab>>,
        steps: usize,
        watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
    ) -> Result<Vec<SlabWork<'a, W::Slab>>, StepsError> {
        let Phase { pool, work, settings, members, seen, start, all, done, .. } = *self;
        let edges: Vec<Edges> = held.iter().map(|_| Edges::default()).collect();
        let (meet, stop, swept) =
            (&Barrier::new(held.len()), &AtomicBool::new(false), &AtomicU64::new(done as u64));
        let edges = &edges;
        let jobs = held.into_iter().zip(members).enumerate().map(|(me, (mut held, member))| {
            let turn = PhaseShare { work, me, member, seen: &seen[me], edges, meet, stop, swept };
            let slow = slow_down(&settings.slow, &member.name);
            Box::new(move || {
                let guard = LeaveOnDrop(meet);
                let lost = turn.sweep_slab(&mut held, steps, slow).err();
                if lost.is_none() {
                    std::mem::forget(guard);
                }
                (held, lost)
            })
                as Box<dyn FnOnce() -> (SlabWork<'a, W::Slab>, Option<String>) + Send + '_>
        });
        let ended = pool.side_by_side(jobs.collect(), |latch| {
            // If the watcher panics, no new sweep starts.
            let guard = StopOnDrop(stop);
            while latch.wait(settings.progress_every) > 0 {
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
        let ended = ended.into_iter().map(|ended| match ended {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let (mut all, mut lost) = (Vec::new(), Vec::new());
        for ((held, why), member) in ended.zip(members) {
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
        slow: f64,
    ) -> Result<(), String> {
        let Self { work, me, edges, meet, stop, .. } = *self;
        if let (None, Some(spec), Some(on)) = (&held.device, self.member.spec, work.on_device()) {
            let device = SlabDevice::new(on, spec, DevicePool::shared(), &held.slab);
            held.device = Some(device.map_err(|why| format!("not used: {why}"))?);
        }
        let mut left = steps;
        for parity in [0, 1].into_iter().cycle() {
            publish_edges(work, &held.slab, &edges[me], parity);
            let continues = meet.wait(|| !stop.load(Ordering::Relaxed));
            let Some(continues) = continues else { return Ok(()) };
            // Also at the end: the caller may need the edges.
            take_edges(work, &mut held.slab, (me, edges), parity);
            if !continues || left == 0 {
                break;
            }
            let (now, began) = (left.min(work.depth()), Instant::now());
            match &mut held.device {
                Some(device) => {
                    device.sweep(&mut held.slab, now).map_err(|why| began_anew(&why))?;
                }
                None => work.sweep(&mut held.slab, now),
            }
            std::thread::sleep(began.elapsed().mul_f64(slow - 1.0));
            let took = began.elapsed();
            held.last += took;
            held.busy += took;
            self.seen.record_sweep(now, took);
            left -= now;
            if me == 0 {
                self.swept.fetch_add(now as u64, Ordering::Relaxed);
            }
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

/// Stops the steps if its owner unwinds.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Notifies the others if its owner unwinds.
struct LeaveOnDrop<'a>(&'a Barrier);

impl Drop for LeaveOnDrop<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}
