//! [`each`] and [`map`]: loops over independent units of unequal cost, on all cores; [`Each`]: the same with settings.

use pleach_loops::looping::{Loop, LoopReport, LoopSettings, LoopSnapshot, run_loop};
use pleach_runtime::{RunError, WorkerPool};
use std::ops::{ControlFlow, Range};

/// Runs a loop of `n` units on all cores, in ranges that shrink towards the end, so that all threads finish together.
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
/// If the system cannot start more threads.
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
/// If the system cannot start more threads.
pub fn map<T: Send>(n: usize, value: impl Fn(usize) -> T + Sync) -> Result<Vec<T>, RunError> {
    let (values, _) = Each::new(n).map(value)?;
    Ok(values.expect("nobody stops it"))
}

/// Watches a loop, and may stop it.
type Watch<'a> = Box<dyn FnMut(&LoopSnapshot) -> ControlFlow<()> + 'a>;

/// A loop with settings.
///
/// ```
/// use std::ops::ControlFlow;
///
/// let lengths = [3, 1, 4, 1, 5];
/// let report = pleach::Each::new(lengths.len())
///     .threads(2)
///     .cost(|unit| lengths[unit] as f64) // else all units cost the same
///     .on_progress(|snapshot| {
///         eprintln!("{} of {}", snapshot.done, snapshot.units);
///         ControlFlow::Continue(()) // `Break` stops the loop
///     })
///     .run(|units| println!("{units:?}"))?;
/// assert!(report.complete);
/// # Ok::<(), pleach::RunError>(())
/// ```
pub struct Each<'a> {
    pub(crate) n: usize,
    /// The total cost of the units before each unit, and of all; empty if all cost the same.
    cost_before: Vec<f64>,
    pub(crate) settings: LoopSettings,
    pub(crate) watch: Watch<'a>,
}

impl<'a> Each<'a> {
    /// A loop of `n` units.
    #[must_use]
    pub fn new(n: usize) -> Self {
        let watch = Box::new(|_: &LoopSnapshot| ControlFlow::Continue(()));
        Self { n, cost_before: Vec::new(), settings: LoopSettings::default(), watch }
    }

    /// The number of threads; by default all cores.
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

    /// The approximate cost of each unit, in any measure. Negative or non-finite costs count as 0.
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

    /// Called about ten times a second; breaking stops the loop. Ranges that have begun are completed.
    #[must_use]
    pub fn on_progress(mut self, watch: impl FnMut(&LoopSnapshot) -> ControlFlow<()> + 'a) -> Self {
        self.watch = Box::new(watch);
        self
    }

    /// Runs each unit once, in ranges.
    ///
    /// # Errors
    /// If the system cannot start more threads.
    pub fn run(self, body: impl Fn(Range<usize>) + Sync) -> Result<LoopReport, RunError> {
        let (_, report) = self.each(|units, (): &mut ()| body(units))?;
        Ok(report)
    }

    /// Computes a value for each unit. `None` if the loop was stopped.
    ///
    /// # Errors
    /// If the system cannot start more threads.
    pub fn map<T: Send>(
        self,
        value: impl Fn(usize) -> T + Sync,
    ) -> Result<(Option<Vec<T>>, LoopReport), RunError> {
        let n = self.n;
        let (locals, report) = self.each(|units, parts: &mut Vec<(usize, Vec<T>)>| {
            parts.push((units.start, units.map(&value).collect()));
        })?;
        if !report.complete {
            return Ok((None, report));
        }
        let mut parts: Vec<(usize, Vec<T>)> = locals.into_iter().flatten().collect();
        parts.sort_unstable_by_key(|part| part.0);
        let mut values = Vec::with_capacity(n);
        parts.into_iter().for_each(|(_, mut part)| values.append(&mut part));
        Ok((Some(values), report))
    }

    /// The costs, if they differ.
    pub(crate) fn costs(&mut self) -> Option<Vec<f64>> {
        Some(std::mem::take(&mut self.cost_before)).filter(|costs| costs.last() > Some(&0.0))
    }

    fn each<H: Default + Send>(
        mut self,
        body: impl Fn(Range<usize>, &mut H) + Sync,
    ) -> Result<(Vec<H>, LoopReport), RunError> {
        let costs = self.costs();
        let body = Body { n: self.n, body, costs, local: H::default };
        let outcome = run_loop(WorkerPool::shared(), &body, &self.settings, &mut *self.watch)?;
        Ok((outcome.locals, outcome.report))
    }
}

/// A closure as a loop.
struct Body<F, H> {
    n: usize,
    body: F,
    costs: Costs,
    local: fn() -> H,
}

/// The cost of all units before each, if they differ.
pub(crate) type Costs = Option<Vec<f64>>;

/// The cost of all units before this one.
pub(crate) fn cost_before(costs: &Costs, unit: usize) -> f64 {
    costs.as_ref().map_or(unit as f64, |costs| costs[unit])
}

impl<H: Send, F: Fn(Range<usize>, &mut H) + Sync> Loop for Body<F, H> {
    type Local = H;

    fn units(&self) -> usize {
        self.n
    }

    fn cost_before(&self, unit: usize) -> f64 {
        cost_before(&self.costs, unit)
    }

    fn local(&self) -> H {
        (self.local)()
    }

    fn run(&self, units: Range<usize>, local: &mut H) {
        (self.body)(units, local);
    }
}
