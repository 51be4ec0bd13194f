//! [`run_steps`]: does work in steps, in slabs sized by the speed of those who compute them.

use super::cut::{CutSchedule, cut, speed_up};
use super::exchange::Edges;
use super::loop_thread::TakerTally;
use super::phase::{Phase, SlabWork, SlabWorker, StepsError, restart_reason};
use super::report::{LoopReport, Part};
use super::run_loop::usable_devices;
use super::settings::{LoopSettings, LoopSnapshot};
use super::sizes::Sizes;
use super::taker_progress::TakerProgress;
use super::team::BLOCKS;
use crate::looping::contract::Stepping;
use pleach_runtime::error::RunError;
use pleach_runtime::worker_pool::WorkerPool;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// A cut that makes a step this many times as fast pays for the time that cutting takes.
const WORTHWHILE: f64 = 1.02;

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
        if times == 0 {
            return Self::from(steps);
        }
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

/// Does steps on all threads and devices. Each device has a slab; so has each thread, unless sizes follow measured
/// rates and the work lets threads share one. Calls `watch` with the progress from time to time; it can stop the work
/// after a whole sweep by breaking. If a device fails, all steps are restarted without it.
///
/// # Errors
/// If the system cannot start more threads. A panic in the work continues in the caller.
pub fn run_steps<'s, W: Stepping>(
    pool: &WorkerPool,
    work: &W,
    steps: impl Into<Stops<'s, W::Slab>>,
    settings: &LoopSettings,
    watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
) -> Result<StepsOutcome<W::Slab>, RunError>
where
    W::Slab: 's,
{
    let mut stops = steps.into();
    let (mut devices, mut warnings) = usable_devices(work.on_device().is_some(), settings)?;
    for (spec, name) in &devices {
        let options = [("launch=once", spec.once), ("rmax", spec.rmax.is_some())];
        for (option, _) in options.into_iter().filter(|(_, given)| *given) {
            warnings.push(format!("{name}: {option} has no effect on work in steps"));
        }
    }
    let most = (work.units() / work.least().max(1)).max(1);
    let room = most - settings.threads.min(1) as usize;
    for (_, name) in devices.drain(devices.len().min(room)..) {
        warnings.push(format!("{name} not used: there are too few units for one more slab"));
    }
    let start = Instant::now();
    loop {
        let wanted = settings.threads.max(u32::from(devices.is_empty())) as usize;
        let names: Vec<String> = (0..wanted).map(|me| format!("cpu{me}")).collect();
        // A team with fewer blocks than threads would leave some of them idle.
        let together =
            settings.sizes == Sizes::Measured && work.together().is_some() && most >= 2 * wanted;
        let size = if together { wanted.max(1) } else { 1 };
        let threads = names.chunks(size).take(most - devices.len());
        let threads = threads.map(|names| SlabWorker { names: names.to_vec(), spec: None });
        let with = |(spec, name): &(_, String)| SlabWorker {
            names: vec![name.clone()],
            spec: Some(*spec),
        };
        let members: Vec<SlabWorker<'_>> = threads.chain(devices.iter().map(with)).collect();
        match try_steps(pool, work, (&mut stops, start), (settings, &members), watch) {
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
    (stops, start): (&mut Stops<'_, W::Slab>, Instant),
    (settings, members): (&LoopSettings, &[SlabWorker<'_>]),
    watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
) -> Result<StepsOutcome<W::Slab>, StepsError> {
    let shares: Vec<f64> = match &settings.sizes {
        Sizes::Static(shares) => {
            (0..members.len()).map(|me| shares.get(me).copied().unwrap_or(0.0)).collect()
        }
        _ => members.iter().map(|member| member.names.len() as f64).collect(),
    };
    let ranges = cut(work.units(), work.least(), &shares);
    let mut held = begin_slabs(pool, work, members, &ranges)?;
    let workers: usize = members.iter().map(|member| member.names.len()).sum();
    let steps = stops.at.last().copied().unwrap_or(0);
    let mut phase = Phase {
        pool,
        work,
        settings,
        members,
        seen: &TakerProgress::all(workers),
        start,
        all: steps,
        done: 0,
        stopped: false,
        edges: members.iter().map(|_| Edges::default()).collect(),
        exchanged: false,
    };
    let learns = if members.len() > 1 { &settings.sizes } else { &Sizes::Given(1, 1) };
    let mut schedule = CutSchedule::new(learns, work.depth());
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
            let times: Vec<f64> =
                held.iter().map(|held| held.last.as_secs_f64().max(1e-9)).collect();
            let ranges: Vec<Range<usize>> = held.iter().map(|held| held.units.clone()).collect();
            let rates = ranges.iter().zip(&times).map(|(range, took)| range.len() as f64 / took);
            let learnt = cut(work.units(), work.least(), &rates.collect::<Vec<_>>());
            schedule.begin();
            if speed_up(&ranges, &times, &learnt) > WORTHWHILE {
                fetch_slabs(&mut held, members)?;
                recut_slabs(pool, work, &mut held, &learnt)?;
                phase.exchanged = false;
            }
            schedule.end(phase.done);
            held.iter_mut().for_each(|held| held.last = Duration::ZERO);
        }
        let next = stop.min(schedule.next()) - phase.done;
        phase.run(&mut held, next, watch)?;
    }
    let complete = phase.done == steps;
    // Also if they were stopped in the last sweep, which comes too late.
    if complete {
        fetch_slabs(&mut held, members)?;
    }
    let took = start.elapsed();
    let all: f64 = held.iter().flat_map(|held| &held.did).map(|did| did.cost).sum();
    let mut parts = Vec::new();
    for (held, member) in held.iter().zip(members) {
        let costs: Vec<f64> = held.did.iter().map(|did| did.cost).collect();
        let units = cut(held.units.len(), 0, &costs);
        for ((name, did), units) in member.names.iter().zip(&held.did).zip(units) {
            let part = Part::new(name.clone(), did, all, took);
            parts.push(Part { units: units.len() as u64, ..part });
        }
    }
    let slabs = held.into_iter().map(|held| held.slab).collect();
    let seconds = took.as_secs_f64();
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
        lost.extend(fetched.err().map(|why| (member.names[0].clone(), restart_reason(&why))));
    }
    if lost.is_empty() { Ok(()) } else { Err(StepsError::Lost(lost)) }
}

/// Creates all slabs, each on its own thread. The threads of a team set its blocks to their start together.
fn begin_slabs<'w, W: Stepping>(
    pool: &WorkerPool,
    work: &W,
    members: &[SlabWorker<'_>],
    ranges: &[Range<usize>],
) -> Result<Vec<SlabWork<'w, W::Slab>>, RunError> {
    let together = work.together().filter(|_| members[0].is_team());
    let jobs = ranges.iter().cloned().enumerate().collect();
    let made = on_each(pool, jobs, &|(me, units): (usize, Range<usize>)| match together {
        Some(together) if me == 0 => together.reserve(units),
        _ => work.begin(units),
    })?;
    let mut held = Vec::new();
    for (((slab, took), units), member) in made.into_iter().zip(ranges).zip(members) {
        let slab = slab.map_err(RunError::Slab)?;
        let mut did = vec![TakerTally::default(); member.names.len()];
        did[0].busy_ns = took.as_nanos() as u64;
        held.push(SlabWork { units: units.clone(), slab, device: None, did, last: Duration::ZERO });
    }
    if let Some(together) = together {
        let SlabWork { slab, did, .. } = &mut held[0];
        let blocks = together.blocks(slab, BLOCKS * did.len());
        let cut = |me: usize| me * blocks.count() / did.len();
        let made = on_each(pool, (0..did.len()).collect(), &|me| {
            (cut(me)..cut(me + 1)).for_each(|block| blocks.begin(block));
        })?;
        for (did, ((), took)) in did.iter_mut().zip(made) {
            did.busy_ns += took.as_nanos() as u64;
        }
    }
    Ok(held)
}

/// Moves units between slabs, to these ranges. Slabs on devices are sent there again.
fn recut_slabs<W: Stepping>(
    pool: &WorkerPool,
    work: &W,
    held: &mut [SlabWork<'_, W::Slab>],
    to: &[Range<usize>],
) -> Result<(), RunError> {
    held.iter_mut().for_each(|held| held.device = None);
    let slabs = held.iter().map(|held| (&held.slab, &held.units)).enumerate().collect();
    let copied = on_each(pool, slabs, &|(me, (slab, own)): (usize, (&W::Slab, &Range<usize>))| {
        let mut moved = Vec::new();
        for (other, range) in to.iter().enumerate().filter(|(other, _)| *other != me) {
            let both = own.start.max(range.start)..own.end.min(range.end);
            if !both.is_empty() {
                let mut state = Vec::new();
                work.state(slab, both.clone(), &mut state);
                moved.push((other, (both, state)));
            }
        }
        moved
    })?;
    let mut missing: Vec<Vec<(Range<usize>, Vec<f32>)>> = to.iter().map(|_| Vec::new()).collect();
    for (held, (moved, took)) in held.iter_mut().zip(copied) {
        held.did[0].busy_ns += took.as_nanos() as u64;
        moved.into_iter().for_each(|(other, units)| missing[other].push(units));
    }
    let slabs = held.iter_mut().map(|held| &mut held.slab);
    let jobs = slabs.zip(to).zip(missing).collect();
    let made = on_each(pool, jobs, &|((slab, units), missing): ((&mut W::Slab, _), Vec<_>)| {
        work.recut(slab, Range::clone(units), &missing)
    })?;
    for ((held, units), (recut, took)) in held.iter_mut().zip(to).zip(made) {
        recut.map_err(RunError::Slab)?;
        held.units = units.clone();
        held.did[0].busy_ns += took.as_nanos() as u64;
    }
    Ok(())
}

/// Runs a job for each item, on a thread of its own; also returns how long it took.
fn on_each<T: Send, R: Send>(
    pool: &WorkerPool,
    items: Vec<T>,
    job: &(impl Fn(T) -> R + Sync),
) -> Result<Vec<(R, Duration)>, RunError> {
    let jobs = items.into_iter().map(|item| {
        Box::new(move || {
            let began = Instant::now();
            (job(item), began.elapsed())
        }) as Box<dyn FnOnce() -> (R, Duration) + Send + '_>
    });
    pool.side_by_side(jobs.collect(), |_| ())
}
