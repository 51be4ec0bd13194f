//! A loop run by the threads of a crew: [`Crew::run_loop`], its settings, and what comes of it.

use super::hands::{Did, Hands};
use super::share::Share;
use super::sizes::Sizes;
use crate::crew::Crew;
use crate::error::RunError;
use crate::settings::cores;
use pleach_core::looping::Loop;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How a loop is run.
#[derive(Clone, Debug)]
pub struct LoopSettings {
    /// Threads.
    pub threads: u32,
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
        Self { threads: cores(), slow: Vec::new(), sizes: Sizes::Measured, look_every }
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
        let threads = settings.threads.max(1) as usize;
        let rows = units.div_ceil(grain) as u32;
        let share = &Share::new(rows, &cost_before, &settings.sizes, (threads, 0));
        let start = Instant::now();
        let jobs = (0..threads).map(|me| {
            let slow = slow_down(&settings.slow, &name(me));
            let hands = Hands { share, work, grain, me, slow };
            Box::new(move || {
                let guard = StopOnDrop(share);
                let mut did = Did::default();
                let hand = hands.run(&mut did);
                std::mem::forget(guard);
                (hand, did, start.elapsed())
            }) as Box<dyn FnOnce() -> (L::Hand, Did, Duration) + Send + '_>
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
        let took = ended.iter().map(|(_, _, at)| *at).max().unwrap_or_default();
        let (mut hands, mut parts) = (Vec::new(), Vec::new());
        for (me, (hand, did, _)) in ended.into_iter().enumerate() {
            hands.push(hand);
            parts.push(part(name(me), &did, share.whole(), took));
        }
        let (seconds, complete) = (took.as_secs_f64(), share.missing() == 0);
        Ok(LoopOutcome { hands, report: LoopReport { parts, seconds, complete } })
    }
}

fn name(me: usize) -> String {
    format!("cpu{me}")
}

fn part(name: String, did: &Did, whole: f64, took: Duration) -> Part {
    let share = if whole > 0.0 { did.cost / whole } else { 0.0 };
    let idle_s = took.saturating_sub(did.busy).as_secs_f64();
    let (units, ranges, busy_s) = (did.units, did.ranges, did.busy.as_secs_f64());
    Part { name, units, ranges, share, busy_s, idle_s }
}

/// The slow-down factor of a unit.
fn slow_down(slow: &[(String, f64)], unit: &str) -> f64 {
    let named = slow.iter().rev().find(|(name, _)| name == unit);
    named.map_or(1.0, |(_, factor)| *factor)
}

/// Stops a loop if its owner unwinds.
struct StopOnDrop<'a>(&'a Share<'a>);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
