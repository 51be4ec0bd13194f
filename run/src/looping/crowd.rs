//! A loop run by the threads of a crew: [`Crew::run_loop`], its settings, and what comes of it.

use super::device::OnDevice;
use super::hands::{Did, Hands};
use super::share::Share;
use super::sizes::Sizes;
use crate::crew::Crew;
use crate::error::RunError;
use crate::executor::gpu::spec::{Spec, names};
use crate::settings::cores;
use pleach_core::looping::Loop;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How a loop is run.
#[derive(Clone, Debug)]
pub struct LoopSettings {
    /// Threads.
    pub threads: u32,
    /// Devices that run the loop beside them.
    pub devices: Vec<Spec>,
    /// Artificial slow-down factors of units, by name. Others run at full speed.
    pub slow: Vec<(String, f64)>,
    /// How many units are taken at a time.
    pub sizes: Sizes,
    /// Time between two looks at it.
    pub look_every: Duration,
}

impl Default for LoopSettings {
    fn default() -> Self {
        let look_every = Duration::from_millis(100);
        let devices = Vec::new();
        Self { threads: cores(), devices, slow: Vec::new(), sizes: Sizes::Measured, look_every }
    }
}

/// A loop under way.
#[derive(Clone, Copy, Debug)]
pub struct LoopSight {
    /// Units done.
    pub done: u64,
    /// All units.
    pub units: u64,
    /// Since the loop began.
    pub seconds: f64,
}

/// A loop that has ended.
#[derive(Clone, Debug)]
pub struct LoopOutcome<H> {
    /// The hand of each unit of the machine.
    pub hands: Vec<H>,
    /// How it went.
    pub report: LoopReport,
}

/// How a loop went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopReport {
    /// What each unit of the machine did.
    pub parts: Vec<Part>,
    /// How long it took.
    pub seconds: f64,
    /// Whether all units were run; else the watcher has stopped it.
    pub complete: bool,
    /// A line about each device that was not used, or failed.
    pub warnings: Vec<String>,
}

/// What a thread or a device did in a loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Units of the loop.
    pub units: u64,
    /// Ranges in which it took them.
    pub ranges: u64,
    /// Their part of the cost of all.
    pub share: f64,
    /// Time in which it had something to do.
    pub busy_s: f64,
    /// Time in which it had not.
    pub idle_s: f64,
}

impl Crew {
    /// Runs all units of a loop, each once. `watch` is shown how far it is now and then, and stops it by breaking.
    ///
    /// # Errors
    /// If the system gives no more threads. A panic in the loop continues in the caller.
    pub fn run_loop<L: Loop>(
        &self,
        work: &L,
        settings: &LoopSettings,
        watch: &mut dyn FnMut(&LoopSight) -> ControlFlow<()>,
    ) -> Result<LoopOutcome<L::Hand>, RunError> {
        let units = work.units();
        let grain = units.div_ceil(u32::MAX as usize).max(1);
        let cost_before =
            |row: u32| work.cost_before((row as usize).saturating_mul(grain).min(units));
        let (devices, mut warnings) = usable(work, settings);
        let threads = settings.threads.max(u32::from(devices.is_empty())) as usize;
        if settings.threads == 0 && devices.is_empty() && !warnings.is_empty() {
            return Err(RunError::NoUnit(warnings.remove(0)));
        }
        let names: Vec<String> = (0..threads)
            .map(|me| format!("cpu{me}"))
            .chain(devices.iter().map(|(_, name)| name.clone()))
            .collect();
        let rows = units.div_ceil(grain) as u32;
        let share = &Share::new(rows, &cost_before, &settings.sizes, (threads, devices.len()));
        let start = Instant::now();
        let specs = (0..threads).map(|_| None).chain(devices.iter().map(|(spec, _)| Some(*spec)));
        let jobs = specs.zip(&names).enumerate().map(|(me, (spec, name))| {
            let slow = slow_down(&settings.slow, name);
            let taker = Taker { hands: Hands { share, work, grain, me, slow }, spec, threads };
            Box::new(move || {
                let guard = StopOnDrop(share);
                let mut did = Did::default();
                let (hand, lost) = taker.run(self, &mut did);
                std::mem::forget(guard);
                (hand, did, lost, start.elapsed())
            }) as Box<dyn FnOnce() -> Taken<L::Hand> + Send + '_>
        });
        let ended = self.side_by_side(jobs.collect(), |latch| {
            // If the watcher panics, nothing more is begun.
            let guard = StopOnDrop(share);
            while latch.wait(settings.look_every) > 0 {
                let seconds = start.elapsed().as_secs_f64();
                let done = share.done().saturating_mul(grain as u64).min(units as u64);
                if watch(&LoopSight { done, units: units as u64, seconds }).is_break() {
                    share.stop();
                }
            }
            std::mem::forget(guard);
        })?;
        let ended = ended.into_iter().map(|ended| match ended {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let ended: Vec<_> = ended.collect();
        let took = ended.iter().map(|(.., at)| *at).max().unwrap_or_default();
        let (mut hands, mut parts) = (Vec::new(), Vec::new());
        for (name, (hand, did, lost, _)) in names.iter().zip(ended) {
            hands.push(hand);
            warnings.extend(lost.map(|why| format!("{name} {why}")));
            parts.push(part(name.clone(), &did, share.whole(), took));
        }
        let (seconds, complete) = (took.as_secs_f64(), share.missing() == 0);
        Ok(LoopOutcome { hands, report: LoopReport { parts, seconds, complete, warnings } })
    }
}

/// A hand, what was done with it, why a device did not do it all, and when it was over.
type Taken<H> = (H, Did, Option<String>, Duration);

/// A thread, or a device with the thread that drives it.
struct Taker<'a, L: Loop> {
    hands: Hands<'a, L>,
    spec: Option<&'a Spec>,
    /// How many there are: they go on without a device.
    threads: usize,
}

impl<L: Loop> Taker<'_, L> {
    /// Runs ranges until none are left.
    fn run(&self, crew: &Crew, did: &mut Did) -> (L::Hand, Option<String>) {
        let Hands { share, work, me, slow, .. } = self.hands;
        let (Some(spec), Some(on)) = (self.spec, work.on_device()) else {
            return (self.hands.run(did), None);
        };
        let mut device = match OnDevice::new(on, spec, crew.shelf(), &|| share.is_over()) {
            Ok(Some(device)) => device,
            Ok(None) => {
                share.leave(me);
                return (work.hand(), None);
            }
            Err(why) => {
                let lost = Some(format!("not used: {why}"));
                if self.threads > 0 {
                    share.leave(me);
                    return (work.hand(), lost);
                }
                // Its own range of a static split is taken below.
                share.give_back(me, []);
                return (self.hands.run(did), lost);
            }
        };
        match device.run(share, me, slow, &|row| self.hands.units(row), did) {
            Ok(()) => (work.hand(), None),
            // What is left is done by all threads, this one among them.
            Err(why) => {
                (self.hands.go_on(did), Some(format!("failed, its thread continues: {why}")))
            }
        }
    }
}

/// The devices that have a kernel for the loop, with their names, and a line about each of the others.
fn usable<'s, L: Loop>(
    work: &L,
    settings: &'s LoopSettings,
) -> (Vec<(&'s Spec, String)>, Vec<String>) {
    if settings.devices.is_empty() || work.on_device().is_some() {
        (settings.devices.iter().zip(names(&settings.devices)).collect(), Vec::new())
    } else {
        (Vec::new(), without_kernel(&settings.devices))
    }
}

/// A line about each device that was asked for, where there is no kernel.
pub(super) fn without_kernel(devices: &[Spec]) -> Vec<String> {
    let asked = devices.iter().zip(names(devices)).filter(|(spec, _)| spec.asked);
    asked.map(|(_, name)| format!("{name} not used: it has no kernel for this loop")).collect()
}

fn part(name: String, did: &Did, whole: f64, took: Duration) -> Part {
    let share = if whole > 0.0 { did.cost / whole } else { 0.0 };
    let idle_s = took.saturating_sub(did.busy).as_secs_f64();
    let (units, ranges, busy_s) = (did.units, did.ranges, did.busy.as_secs_f64());
    Part { name, units, ranges, share, busy_s, idle_s }
}

/// The slow-down factor of a unit.
pub(super) fn slow_down(slow: &[(String, f64)], unit: &str) -> f64 {
    let named = slow.iter().rev().find(|(name, _)| name == unit);
    named.map_or(1.0, |(_, factor)| factor.max(1.0))
}

/// Stops a loop if its owner unwinds.
struct StopOnDrop<'a>(&'a Share<'a>);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
