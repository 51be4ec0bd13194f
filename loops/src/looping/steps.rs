//! [`run_steps`]: does work in steps, in slabs sized by the speed of those who compute them.

use super::cut::{CutSchedule, cut, speed_up};
use super::phase::{Edges, Phase, SlabWork, SlabWorker, StepsError, restart_reason};
use super::report::{LoopReport, Part};
use super::run_loop::{slow_down, usable_devices};
use super::settings::{LoopSettings, LoopSnapshot};
use super::sizes::Sizes;
use super::taker_progress::TakerProgress;
use crate::looping::contract::Stepping;
use pleach_runtime::error::RunError;
use pleach_runtime::worker_pool::WorkerPool;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// Probed speeds that differ by at most this factor count as equal.
const ALIKE: f64 = 1.25;

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

/// Does steps on all threads and devices, with a slab for each. Calls `watch` with the progress from time to time; it
/// can stop the work after a whole sweep by breaking. If a device fails, all steps are restarted without it.
///
/// # Errors
/// If the system cannot start more threads. A panic in the work continues in the caller.
pub fn run_steps<'s, W: Stepping>(
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
    let (mut devices, mut warnings) = usable_devices(work.on_device().is_some(), settings)?;
    for (_, name) in devices.iter().filter(|(spec, _)| spec.once) {
        warnings.push(format!("{name}: launch=once has no effect on work in steps"));
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
        Sizes::Measured => probe(pool, work, begin, (settings, members))?,
        Sizes::FirstStep | Sizes::Given(..) | Sizes::Block(..) => vec![1.0; members.len()],
    };
    let mut ranges = cut(work.units(), work.least(), &shares);
    let mut held = begin_slabs(pool, begin, &ranges)?;
    let steps = stops.at.last().copied().unwrap_or(0);
    let mut phase = Phase {
        pool,
        work,
        settings,
        members,
        seen: &TakerProgress::all(members.len()),
        start,
        all: steps,
        done: 0,
        stopped: false,
        edges: members.iter().map(|_| Edges::default()).collect(),
        exchanged: false,
    };
    let learns = if members.len() > 1 { &settings.sizes } else { &Sizes::Given(1, 1) };
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
            let times: Vec<f64> =
                held.iter().map(|held| held.last.as_secs_f64().max(1e-9)).collect();
            let rates = ranges.iter().zip(&times).map(|(range, took)| range.len() as f64 / took);
            let learnt = cut(work.units(), work.least(), &rates.collect::<Vec<_>>());
            schedule.begin();
            if speed_up(&ranges, &times, &learnt) > WORTHWHILE {
                fetch_slabs(&mut held, members)?;
                held = recut_slabs(pool, work, held, (&ranges, &learnt))?;
                (ranges, phase.exchanged) = (learnt, false);
            }
            schedule.end(phase.done);
            held.iter_mut().for_each(|held| held.last = Duration::ZERO);
        }
        let before = phase.done;
        for (seen, range) in phase.seen.iter().zip(&ranges) {
            seen.record_start(range.start as u64..range.end as u64);
        }
        held = phase.run(held, stop.min(schedule.next()) - before, watch)?;
        for (share, range) in shares.iter_mut().zip(&ranges) {
            *share += (range.len() * (phase.done - before)) as f64;
        }
    }
    let complete = phase.done == steps;
    // Also if they were stopped in the last sweep, which comes too late.
    if complete {
        fetch_slabs(&mut held, members)?;
    }
    let seconds = start.elapsed().as_secs_f64();
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
        lost.extend(fetched.err().map(|why| (member.name.clone(), restart_reason(&why))));
    }
    if lost.is_empty() { Ok(()) } else { Err(StepsError::Lost(lost)) }
}

/// Rough speeds: each thread makes a small slab and does an even and an odd step with it. Nearly equal speeds, and
/// those of devices, count as equal.
fn probe<W: Stepping>(
    pool: &WorkerPool,
    work: &W,
    begin: &(impl Fn(Range<usize>) -> Result<W::Slab, String> + Sync),
    (settings, members): (&LoopSettings, &[SlabWorker<'_>]),
) -> Result<Vec<f64>, RunError> {
    let even = vec![1.0; members.len()];
    if members.len() == 1 || members.iter().any(|member| member.spec.is_some()) {
        return Ok(even);
    }
    let (least, units) = (work.least(), work.units());
    // The last range ends with the units: what is left behind a range must not be too small for a slab.
    let last = members.len() - 1;
    let range =
        |me: usize| if me == last { units - least..units } else { me * least..(me + 1) * least };
    let ranges = (0..=last).map(range).collect();
    let seconds = on_each(pool, ranges, &|range| {
        let mut slab = begin(range)?;
        let began = Instant::now();
        work.sweep(&mut slab, 1);
        work.sweep(&mut slab, 1);
        Ok(began.elapsed().as_secs_f64())
    })?;
    let seconds: Result<Vec<f64>, String> = seconds.into_iter().map(|(took, _)| took).collect();
    let times = seconds.map_err(RunError::Slab)?.into_iter().zip(members);
    let times =
        times.map(|(took, member)| took.max(1e-9) * slow_down(&settings.slow, &member.name));
    let rates: Vec<f64> = times.map(|took| 1.0 / took).collect();
    let (least, most) =
        rates.iter().fold((f64::MAX, 0.0), |(a, b), &rate| (rate.min(a), rate.max(b)));
    Ok(if most > ALIKE * least { rates } else { even })
}

/// Creates all slabs, each on its own thread.
fn begin_slabs<'w, S: Send>(
    pool: &WorkerPool,
    begin: &(impl Fn(Range<usize>) -> Result<S, String> + Sync),
    ranges: &[Range<usize>],
) -> Result<Vec<SlabWork<'w, S>>, RunError> {
    let made = on_each(pool, ranges.to_vec(), &begin)?;
    let made = made.into_iter().map(|(slab, took)| Ok(SlabWork::new(slab?, took)));
    made.collect::<Result<_, String>>().map_err(RunError::Slab)
}

/// Moves units between slabs, from these ranges to those. Slabs on devices are sent there again.
fn recut_slabs<'w, W: Stepping>(
    pool: &WorkerPool,
    work: &'w W,
    held: Vec<SlabWork<'w, W::Slab>>,
    (from, to): (&[Range<usize>], &[Range<usize>]),
) -> Result<Vec<SlabWork<'w, W::Slab>>, RunError> {
    let (slabs, busy): (Vec<_>, Vec<_>) =
        held.into_iter().map(|held| (held.slab, held.busy)).unzip();
    let copied =
        on_each(pool, slabs.iter().zip(from).enumerate().collect(), &|(me, (slab, own))| {
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
    let mut copying = Vec::new();
    for (moved, took) in copied {
        copying.push(took);
        moved.into_iter().for_each(|(other, units)| missing[other].push(units));
    }
    let jobs = slabs.into_iter().zip(to).zip(missing).collect();
    let made = on_each(pool, jobs, &|((mut slab, units), missing): ((W::Slab, _), Vec<_>)| {
        work.recut(&mut slab, Range::clone(units), &missing).map(|()| slab)
    })?;
    let made = made.into_iter().zip(busy.into_iter().zip(copying));
    let made =
        made.map(|((slab, took), (busy, copying))| Ok(SlabWork::new(slab?, busy + copying + took)));
    made.collect::<Result<_, String>>().map_err(RunError::Slab)
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
