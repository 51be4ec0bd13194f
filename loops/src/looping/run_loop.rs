//! [`run_loop`]: runs a loop on the threads of a worker pool.

use super::device::LoopDevice;
use super::loop_queue::{Hooks, LoopQueue, Takers, UnitsOf};
use super::loop_thread::{LoopThread, TakerTally, stands_for};
use super::remote::{LoopProcesses, RemoteResult};
use super::report::{LoopReport, Part};
use super::settings::{LoopSettings, LoopSnapshot};
use super::taker_progress::{TakerProgress, TakerSnapshot};
use crate::looping::contract::Loop;
use pleach_gpu::pool::DevicePool;
use pleach_gpu::spec::{Spec, names, repeated};
use pleach_runtime::error::RunError;
use pleach_runtime::on_drop::OnDrop;
use pleach_runtime::worker_pool::WorkerPool;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// A finished loop.
#[derive(Clone, Debug)]
pub struct LoopOutcome<H> {
    /// The local data of each thread and device.
    pub locals: Vec<H>,
    /// Its report.
    pub report: LoopReport,
}

/// Runs all units of a loop, each once. Calls `watch` with the progress from time to time; it can stop the loop by
/// breaking.
///
/// # Errors
/// If the system cannot start more threads, or no worker can be used. A panic in the loop continues in the caller.
pub fn run_loop<L: Loop>(
    pool: &WorkerPool,
    work: &L,
    settings: &LoopSettings,
    watch: &mut dyn FnMut(&LoopSnapshot) -> ControlFlow<()>,
) -> Result<LoopOutcome<L::Local>, RunError> {
    let units = work.units();
    let grain = units.div_ceil(u32::MAX as usize).max(1);
    let cost_before = |row: u32| work.cost_before((row as usize).saturating_mul(grain).min(units));
    let (devices, mut warnings) = usable_devices(work.on_device().is_some(), settings)?;
    let threads = settings.threads.max(u32::from(devices.is_empty())) as usize;
    let names: Vec<String> = (0..threads)
        .map(|me| format!("cpu{me}"))
        .chain(devices.iter().map(|(_, name)| name.clone()))
        .collect();
    let rows = units.div_ceil(grain) as u32;
    let processes = &LoopProcesses::of(settings, work.remote())?;
    let sites = processes.as_ref().map_or(0, LoopProcesses::places);
    let follows = processes.as_ref().is_some_and(LoopProcesses::follows);
    let takers = Takers { threads, devices: devices.len(), sites };
    let done = |rows: &Range<u32>| processes.iter().for_each(|processes| processes.mark_done(rows));
    let changed = || processes.iter().for_each(LoopProcesses::wake);
    let hooks = processes.as_ref().map(|_| Hooks { done: &done, changed: &changed });
    let share = LoopQueue::new(rows, &cost_before, &settings.sizes, takers).with(hooks);
    let share = &if follows { share.fed_by_root() } else { share };
    let start = Instant::now();
    let specs = (0..threads).map(|_| None).chain(devices.iter().map(|(spec, _)| Some(*spec)));
    let jobs = specs.zip(&names).enumerate().map(|(me, (spec, name))| {
        let slow = slow_down(&settings.slow, name);
        let taker = Taker { locals: LoopThread { share, work, grain, me, slow }, spec, threads };
        Box::new(move || {
            let guard = OnDrop(|| share.stop());
            let mut did = TakerTally::default();
            let (local, lost) = taker.run(&mut did);
            std::mem::forget(guard);
            LoopJobResult::Taker(TakerResult { local, did, lost, at: start.elapsed() })
        }) as Box<dyn FnOnce() -> LoopJobResult<L::Local> + Send + '_>
    });
    let mut jobs: Vec<_> = jobs.collect();
    let stands_for = |row: &Range<u32>| stands_for(row, grain, units);
    if let Some(processes) = processes {
        let (units, names) = ((&stands_for as UnitsOf<'_>, units as u64), &names);
        jobs.push(Box::new(move || {
            LoopJobResult::Remote(processes.share_loop(share, units, names, start))
        }));
    }
    let ended = pool.side_by_side(jobs, |latch| {
        // If the watcher panics, nothing more is started.
        let guard = OnDrop(|| share.stop());
        while latch.wait(settings.progress_every, || true) > 0 {
            let seconds = start.elapsed().as_secs_f64();
            let done = share.done().saturating_mul(grain as u64).min(units as u64);
            let takers = snapshots(share.progress(), &names, grain as u64);
            let snapshot = LoopSnapshot { done, units: units as u64, seconds, takers };
            if watch(&snapshot).is_break() {
                share.stop();
            }
        }
        std::mem::forget(guard);
    })?;
    let (mut taken, mut others) = (Vec::new(), RemoteResult::default());
    for ended in ended {
        match ended {
            LoopJobResult::Taker(one) => taken.push(one),
            LoopJobResult::Remote(ended) => others = ended?,
        }
    }
    if let Some(processes) = processes.as_ref().filter(|_| others.complete == Some(true)) {
        processes.report_to_root(taken.iter().map(|one| one.did).collect());
    }
    let took = taken.iter().map(|one| one.at).max().unwrap_or_default();
    let (mut locals, mut parts) = (Vec::new(), Vec::new());
    let here = if sites > 0 && !follows { "site0/" } else { "" };
    for (name, TakerResult { local, did, lost, .. }) in names.iter().zip(taken) {
        locals.push(local);
        warnings.extend(lost.map(|why| format!("{name} {why}")));
        parts.push(Part::new(format!("{here}{name}"), &did, share.whole(), took));
    }
    parts.extend(others.parts);
    warnings.extend(others.warnings);
    let complete = others.complete.unwrap_or(share.missing() == 0);
    let (sites, seconds) = (others.sites, took.as_secs_f64());
    let report = LoopReport { parts, sites, seconds, complete, warnings };
    Ok(LoopOutcome { locals, report })
}

/// The progress of this process's workers, and of other processes that were given something.
fn snapshots(seen: &[TakerProgress], names: &[String], grain: u64) -> Vec<TakerSnapshot> {
    let (own, others) = seen.split_at(names.len().min(seen.len()));
    let own = own.iter().zip(names).map(|(seen, name)| seen.snapshot(name, grain));
    let others = (1..)
        .zip(others)
        .map(|(site, seen): (u32, _)| seen.snapshot(&format!("site{site}"), grain));
    own.chain(others.filter(|snapshot| snapshot.units > 0 || !snapshot.held.is_empty())).collect()
}

/// The result of a job of a loop.
enum LoopJobResult<H> {
    Taker(TakerResult<H>),
    /// What the other processes did.
    Remote(Result<RemoteResult, RunError>),
}

/// The local data of a taker, what it did, why its device did not do everything, and when it finished.
struct TakerResult<H> {
    local: H,
    did: TakerTally,
    lost: Option<String>,
    at: Duration,
}

/// A thread, or a device with the thread that drives it.
struct Taker<'a, L: Loop> {
    locals: LoopThread<'a, L>,
    spec: Option<&'a Spec>,
    /// How many there are; they continue without a device.
    threads: usize,
}

impl<L: Loop> Taker<'_, L> {
    /// Runs ranges until none are left.
    fn run(&self, did: &mut TakerTally) -> (L::Local, Option<String>) {
        let LoopThread { share, work, me, slow, .. } = self.locals;
        let (Some(spec), Some(on)) = (self.spec, work.on_device()) else {
            return (self.locals.run(did), None);
        };
        let mut device =
            match LoopDevice::new(on, spec, DevicePool::shared(), &|| share.is_over(me)) {
                Ok(Some(device)) => device,
                Ok(None) if self.threads == 0 => {
                    // Other processes have all units, and may give some back.
                    share.give_back(me, []);
                    return (self.locals.run(did), None);
                }
                Ok(None) => {
                    share.remove_taker(me);
                    return (work.local(), None);
                }
                Err(why) => {
                    let lost = Some(format!("not used: {why}"));
                    if self.threads > 0 {
                        share.remove_taker(me);
                        return (work.local(), lost);
                    }
                    // Its own range of a static split is taken below.
                    share.give_back(me, []);
                    return (self.locals.run(did), lost);
                }
            };
        match device.run(share, me, slow, &|row| self.locals.units(row), did) {
            Ok(()) => (work.local(), None),
            // All threads, including this one, do what is left.
            Err(why) => {
                (self.locals.run_rest(did), Some(format!("failed, its thread continues: {why}")))
            }
        }
    }
}

/// Devices with their names.
type NamedDevices<'s> = Vec<(&'s Spec, String)>;

/// The devices that take part in a loop, with warnings about them and about the others.
///
/// # Errors
/// If a GPU is named twice, or if only devices were asked for and none has a kernel.
pub(super) fn usable_devices(
    has_kernel: bool,
    settings: &LoopSettings,
) -> Result<(NamedDevices<'_>, Vec<String>), RunError> {
    if let Some(gpu) = repeated(&settings.devices) {
        return Err(RunError::NoWorker(format!("{gpu} is named twice")));
    }
    if settings.devices.is_empty() || has_kernel {
        let devices: Vec<_> = settings.devices.iter().zip(names(&settings.devices)).collect();
        let warnings = devices.iter().filter_map(search_options).collect();
        return Ok((devices, warnings));
    }
    let mut warnings = without_kernel(&settings.devices);
    if settings.threads == 0 && !warnings.is_empty() {
        return Err(RunError::NoWorker(warnings.remove(0)));
    }
    Ok((Vec::new(), warnings))
}

/// A line about a device with options that have no effect on a loop.
fn search_options((spec, name): &(&Spec, String)) -> Option<String> {
    let line = || format!("{name}: search options have no effect on a loop");
    spec.is_for_searches().then(line)
}

/// A line about each requested device for which there is no kernel.
fn without_kernel(devices: &[Spec]) -> Vec<String> {
    let asked = devices.iter().zip(names(devices)).filter(|(spec, _)| spec.asked);
    asked.map(|(_, name)| format!("{name} not used: it has no kernel for this loop")).collect()
}

/// The slow-down factor of a worker.
pub(super) fn slow_down(slow: &[(String, f64)], unit: &str) -> f64 {
    let named = slow.iter().rev().find(|(name, _)| name == unit);
    named.map_or(1.0, |(_, factor)| factor.max(1.0))
}
