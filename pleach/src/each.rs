//! [`each`] and [`map`]: loops over independent units of unequal cost, on all cores; [`Each`]: the same with settings,
//! and over several processes.

use crate::processes::Processes;
use pleach_core::looping::{Kept, Loop, LoopAfar};
use pleach_core::work::{Malformed, Pack, Reader};
use pleach_run::looping::{LoopReport, LoopSettings, LoopSight};
use pleach_run::{Crew, RunError};
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};

/// Runs a loop of `n` units on all cores, in ranges that get smaller towards the end, so that all end together.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let sum = AtomicU64::new(0);
/// let report = pleach::each(1000, |units| {
///     let part: usize = units.sum();
///     sum.fetch_add(part as u64, Ordering::Relaxed);
/// })?;
/// assert_eq!(sum.into_inner(), 499_500);
/// println!("{} threads, {} s", report.parts.len(), report.seconds);
/// # Ok::<(), pleach::RunError>(())
/// ```
///
/// # Errors
/// If the system gives no more threads.
pub fn each(n: usize, body: impl Fn(Range<usize>) + Sync) -> Result<LoopReport, RunError> {
    Each::new(n).run(body)
}

/// Computes a value for each of `n` units on all cores.
///
/// ```
/// let squares = pleach::map(5, |unit| unit * unit)?;
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// # Ok::<(), pleach::RunError>(())
/// ```
///
/// # Errors
/// If the system gives no more threads.
pub fn map<T: Send>(n: usize, value: impl Fn(usize) -> T + Sync) -> Result<Vec<T>, RunError> {
    let (values, _) = Each::new(n).map(value)?;
    Ok(values.expect("nobody stops it"))
}

/// Watches a loop, and may stop it.
type Watch<'a> = Box<dyn FnMut(&LoopSight) -> ControlFlow<()> + 'a>;

/// A loop with settings.
///
/// ```
/// use std::ops::ControlFlow;
///
/// let lengths = [3, 1, 4, 1, 5];
/// let report = pleach::Each::new(lengths.len())
///     .threads(2)
///     .cost(|unit| lengths[unit] as f64) // else all units cost the same
///     .on_progress(|sight| {
///         eprintln!("{} of {}", sight.done, sight.units);
///         ControlFlow::Continue(()) // `Break` stops the loop
///     })
///     .run(|units| println!("{units:?}"))?;
/// assert!(report.complete);
/// # Ok::<(), pleach::RunError>(())
/// ```
pub struct Each<'a> {
    n: usize,
    /// The cost of all units before each, and of all; empty if all cost the same.
    cost_before: Vec<f64>,
    settings: LoopSettings,
    watch: Watch<'a>,
}

impl<'a> Each<'a> {
    /// A loop of `n` units.
    #[must_use]
    pub fn new(n: usize) -> Self {
        let watch = Box::new(|_: &LoopSight| ControlFlow::Continue(()));
        Self { n, cost_before: Vec::new(), settings: LoopSettings::default(), watch }
    }

    /// The number of threads; all cores if this is not called.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.settings.threads = threads.max(1);
        self
    }

    /// All settings at once.
    #[must_use]
    pub fn settings(mut self, settings: LoopSettings) -> Self {
        self.settings = settings;
        self
    }

    /// About what each unit costs, in any measure. Costs that are negative or not finite count as 0.
    #[must_use]
    pub fn cost(mut self, cost: impl Fn(usize) -> f64) -> Self {
        let mut sum = 0.0;
        let mut before = |unit| {
            let cost = cost(unit);
            sum += if cost.is_finite() { cost.max(0.0) } else { 0.0 };
            sum
        };
        self.cost_before = std::iter::once(0.0).chain((0..self.n).map(&mut before)).collect();
        self
    }

    /// Called about ten times a second; stops the loop by breaking. Ranges that have begun come to their end.
    #[must_use]
    pub fn on_progress(mut self, watch: impl FnMut(&LoopSight) -> ControlFlow<()> + 'a) -> Self {
        self.watch = Box::new(watch);
        self
    }

    /// Runs each unit once, in ranges.
    ///
    /// # Errors
    /// If the system gives no more threads.
    pub fn run(self, body: impl Fn(Range<usize>) + Sync) -> Result<LoopReport, RunError> {
        let (_, report) = self.each(|units, (): &mut ()| body(units))?;
        Ok(report)
    }

    /// Computes a value for each unit. None if the loop was stopped.
    ///
    /// # Errors
    /// If the system gives no more threads.
    pub fn map<T: Send>(
        self,
        value: impl Fn(usize) -> T + Sync,
    ) -> Result<(Option<Vec<T>>, LoopReport), RunError> {
        let n = self.n;
        let (hands, report) = self.each(|units, parts: &mut Vec<(usize, Vec<T>)>| {
            parts.push((units.start, units.map(&value).collect()));
        })?;
        if !report.complete {
            return Ok((None, report));
        }
        let mut parts: Vec<(usize, Vec<T>)> = hands.into_iter().flatten().collect();
        parts.sort_unstable_by_key(|part| part.0);
        let mut values = Vec::with_capacity(n);
        parts.into_iter().for_each(|(_, mut part)| values.append(&mut part));
        Ok((Some(values), report))
    }

    /// Runs each unit once, in one of the processes that share the loop: what the closure leaves behind stays there. All
    /// of them call this, with the same number of units.
    ///
    /// # Errors
    /// If the network fails, or another process runs another loop.
    pub fn run_across(
        self,
        processes: &Processes,
        body: impl Fn(Range<usize>) + Sync,
    ) -> Result<LoopReport, RunError> {
        let shared = Shared {
            n: self.n,
            body,
            apart: true,
            store: |_, _: &[u8]| Ok(()),
            load: |_, _: &mut Vec<u8>| {},
        };
        self.across(processes, "run_across", shared)
    }

    /// Computes a value for each unit, on all processes that share the loop; each of them gets all values. All of them
    /// call this, with the same number of units. None if the loop was stopped.
    ///
    /// # Errors
    /// If the network fails, or another process runs another loop.
    ///
    /// # Panics
    /// If the closure has panicked.
    pub fn map_across<T: Pack + Send>(
        self,
        processes: &Processes,
        value: impl Fn(usize) -> T + Sync,
    ) -> Result<(Option<Vec<T>>, LoopReport), RunError> {
        let values: Vec<Mutex<Option<T>>> = (0..self.n).map(|_| Mutex::new(None)).collect();
        let at = |unit: usize| values[unit].lock().unwrap_or_else(PoisonError::into_inner);
        let shared = Shared {
            n: self.n,
            apart: false,
            body: |units: Range<usize>| units.for_each(|unit| *at(unit) = Some(value(unit))),
            load: |unit: usize, out: &mut Vec<u8>| at(unit).pack(out),
            store: |units: Range<usize>, bytes: &[u8]| {
                let mut from = Reader::new(bytes);
                for unit in units {
                    *at(unit) = Pack::unpack(&mut from)?;
                }
                from.finish()
            },
        };
        let kind = format!("map_across to {}", std::any::type_name::<T>());
        let report = self.across(processes, &kind, shared)?;
        let whole = report.complete;
        let take =
            |value: Mutex<Option<T>>| value.into_inner().unwrap_or_else(PoisonError::into_inner);
        let all = whole.then(|| values.into_iter().map(take).collect::<Option<Vec<T>>>());
        Ok((all.flatten(), report))
    }

    fn across(
        mut self,
        processes: &Processes,
        kind: &str,
        shared: impl Loop,
    ) -> Result<LoopReport, RunError> {
        processes.begin(&format!("{kind} of {} units", self.n))?;
        self.settings.cluster = processes.cluster();
        let costs = self.costs();
        let all = Costed { of: shared, costs };
        let outcome = Crew::shared().run_loop(&all, &self.settings, &mut *self.watch);
        let outcome = outcome.inspect_err(|why| processes.fail(why))?;
        processes.end()?;
        Ok(outcome.report)
    }

    /// The costs, if they differ.
    fn costs(&mut self) -> Option<Vec<f64>> {
        Some(std::mem::take(&mut self.cost_before)).filter(|costs| costs.last() > Some(&0.0))
    }

    fn each<H: Default + Send>(
        mut self,
        body: impl Fn(Range<usize>, &mut H) + Sync,
    ) -> Result<(Vec<H>, LoopReport), RunError> {
        let costs = self.costs();
        let body = Costed { of: Body { n: self.n, body, hand: H::default }, costs };
        let outcome = Crew::shared().run_loop(&body, &self.settings, &mut *self.watch)?;
        Ok((outcome.hands, outcome.report))
    }
}

/// A closure as a loop.
struct Body<F, G> {
    n: usize,
    body: F,
    hand: G,
}

impl<H: Send, F: Fn(Range<usize>, &mut H) + Sync, G: Fn() -> H + Sync> Loop for Body<F, G> {
    type Hand = H;

    fn units(&self) -> usize {
        self.n
    }

    fn hand(&self) -> H {
        (self.hand)()
    }

    fn run(&self, units: Range<usize>, hand: &mut H) {
        (self.body)(units, hand);
    }
}

/// A closure as a loop that several processes share.
struct Shared<F, L, S> {
    n: usize,
    body: F,
    /// Whether results stay where they are.
    apart: bool,
    load: L,
    store: S,
}

impl<F, L, S> Loop for Shared<F, L, S>
where
    F: Fn(Range<usize>) + Sync,
    L: Fn(usize, &mut Vec<u8>) + Sync,
    S: Fn(Range<usize>, &[u8]) -> Result<(), Malformed> + Sync,
{
    type Hand = ();

    fn units(&self) -> usize {
        self.n
    }

    fn hand(&self) {}

    fn run(&self, units: Range<usize>, (): &mut ()) {
        (self.body)(units);
    }

    fn afar(&self) -> Option<&dyn LoopAfar> {
        Some(self)
    }
}

impl<F, L, S> LoopAfar for Shared<F, L, S>
where
    F: Fn(Range<usize>) + Sync,
    L: Fn(usize, &mut Vec<u8>) + Sync,
    S: Fn(Range<usize>, &[u8]) -> Result<(), Malformed> + Sync,
{
    fn kept(&self) -> Kept {
        if self.apart { Kept::Apart } else { Kept::All }
    }

    fn pack(&self, units: Range<usize>, out: &mut Vec<u8>) {
        units.for_each(|unit| (self.load)(unit, out));
    }

    fn unpack(&self, units: Range<usize>, results: &[u8]) -> Result<(), Malformed> {
        (self.store)(units, results)
    }
}

/// A loop with costs.
struct Costed<L> {
    of: L,
    costs: Option<Vec<f64>>,
}

impl<L: Loop> Loop for Costed<L> {
    type Hand = L::Hand;

    fn units(&self) -> usize {
        self.of.units()
    }

    fn cost_before(&self, unit: usize) -> f64 {
        self.costs.as_ref().map_or(unit as f64, |costs| costs[unit])
    }

    fn hand(&self) -> L::Hand {
        self.of.hand()
    }

    fn run(&self, units: Range<usize>, hand: &mut L::Hand) {
        self.of.run(units, hand);
    }

    fn afar(&self) -> Option<&dyn LoopAfar> {
        self.of.afar()
    }
}
