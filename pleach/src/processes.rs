//! [`Processes`]: those that a launcher has started, and loops that they share.

use crate::each::{Costed, Each};
use pleach_cluster::mpi::{self, Choice};
use pleach_cluster::{Cluster, First};
use pleach_core::lease::Terms;
use pleach_core::search::work::{Malformed, Pack, Reader};
use pleach_loops::looping::LoopReport;
use pleach_loops::looping::{Kept, Loop, RemoteLoop};
use pleach_loops::looping::{RunLoops, ShareLoops};
use pleach_runtime::{RunError, WorkerPool};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The longest message between two processes.
pub(crate) const MESSAGE: usize = 1 << 29;

pub(crate) const SECOND: u64 = 1_000_000_000;

/// Times for processes that live and die together: nobody is ever taken for dead.
pub(crate) const LASTING: Terms =
    Terms { commit_ns: 2 * SECOND, lease_ns: 3600 * SECOND, patience_ns: 36_000 * SECOND };

/// The processes that `mpiexec` or `srun` has started; only this one without such a launcher.
///
/// All processes run the same program, and share the loops that name them, one after the other:
///
/// ```
/// let processes = pleach::Processes::launched()?;
/// let (squares, _) = pleach::Each::new(5).map_across(&processes, |unit| unit * unit)?;
/// assert_eq!(squares.unwrap(), [0, 1, 4, 9, 16]); // in each of the processes
/// if processes.is_first() {
///     println!("done");
/// }
/// # Ok::<(), pleach::RunError>(())
/// ```
///
/// A closure must not begin another loop on the same processes: that is an error.
///
/// When it is dropped, it waits for the others; nothing of a launcher can be used afterwards.
#[derive(Debug)]
pub struct Processes(Option<Arc<Cluster>>);

impl Processes {
    /// The processes that were started together with this one.
    ///
    /// # Errors
    /// If there is a launcher, but no MPI library that goes with it.
    pub fn launched() -> Result<Self, RunError> {
        let network = mpi::open(&Choice::Auto, MESSAGE)?;
        let cluster = |network| Arc::new(Cluster::new(network, None, Arc::default(), LASTING));
        Ok(Self(network.map(cluster)))
    }

    /// Whether this is the first of them, which should speak for all.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.0.as_ref().is_none_or(|cluster| cluster.is_root())
    }

    /// All of them, if there are several.
    pub(crate) fn cluster(&self) -> Option<Arc<Cluster>> {
        self.0.clone()
    }

    /// Begins a loop in all of them.
    pub(crate) fn begin(&self, about: &str) -> Result<(), RunError> {
        let Some(cluster) = &self.0 else { return Ok(()) };
        cluster.can_begin_loops()?;
        if cluster.is_root() {
            return cluster.begin_loops(about.into(), First::default());
        }
        let order = cluster.next_order(|| true)?;
        let same = order.is_some_and(|order| order.about == about.as_bytes());
        if !same || cluster.first_of_loops(false, || true)?.is_none() {
            return Err(RunError::Follow("the first process runs another loop, or none"));
        }
        Ok(())
    }

    /// This process cannot go on with the loop that it has begun: the others are told why.
    pub(crate) fn fail(&self, why: &RunError) {
        let known = matches!(why, RunError::Site { .. } | RunError::Lost(_));
        if let Some(cluster) = self.0.as_ref().filter(|_| !known) {
            cluster.fail_loops(&why.to_string());
        }
    }

    /// Ends it, once all know.
    pub(crate) fn end(&self) -> Result<(), RunError> {
        match self.0.as_ref().filter(|cluster| cluster.is_root()) {
            Some(cluster) => cluster.end_loops_together(),
            None => Ok(()),
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        match &self.0 {
            Some(cluster) if std::thread::panicking() => cluster.abort(1),
            Some(cluster) => {
                if !cluster.is_root() {
                    // Nobody waits for a process that ends before the others.
                    cluster.leave_loops();
                }
                cluster.end();
            }
            None => {}
        }
    }
}

impl Each<'_> {
    /// Computes a value for each unit, on all processes that share the loop; each of them gets all values. All of them
    /// call this, with the same number of units. None if the loop was stopped.
    ///
    /// # Errors
    /// If the network fails, or another process runs another loop.
    ///
    /// # Panics
    /// If the closure has panicked.
    pub fn map_across<T: Pack + Send>(
        mut self,
        processes: &Processes,
        value: impl Fn(usize) -> T + Sync,
    ) -> Result<(Option<Vec<T>>, LoopReport), RunError> {
        let values = (0..self.n).map(|_| Mutex::new(None)).collect();
        processes.begin(&format!("{} units of {}", self.n, std::any::type_name::<T>()))?;
        self.settings.cluster = processes.cluster();
        let costs = self.costs();
        let all = Costed { of: Shared { values, value }, costs };
        let outcome = WorkerPool::shared().run_loop(&all, &self.settings, &mut *self.watch);
        let report = outcome.inspect_err(|why| processes.fail(why))?.report;
        processes.end()?;
        let take =
            |value: Mutex<Option<T>>| value.into_inner().unwrap_or_else(PoisonError::into_inner);
        let values = all.of.values.into_iter().map(take).collect::<Option<Vec<T>>>();
        Ok((values.filter(|_| report.complete), report))
    }
}

/// A closure as a loop that several processes share.
struct Shared<T, F> {
    values: Vec<Mutex<Option<T>>>,
    value: F,
}

impl<T, F> Shared<T, F> {
    fn at(&self, unit: usize) -> MutexGuard<'_, Option<T>> {
        self.values[unit].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Pack + Send, F: Fn(usize) -> T + Sync> Loop for Shared<T, F> {
    type Hand = ();

    fn units(&self) -> usize {
        self.values.len()
    }

    fn hand(&self) {}

    fn run(&self, units: Range<usize>, (): &mut ()) {
        units.for_each(|unit| *self.at(unit) = Some((self.value)(unit)));
    }

    fn remote(&self) -> Option<&dyn RemoteLoop> {
        Some(self)
    }
}

impl<T: Pack + Send, F: Fn(usize) -> T + Sync> RemoteLoop for Shared<T, F> {
    fn kept(&self) -> Kept {
        Kept::All
    }

    fn pack(&self, units: Range<usize>, out: &mut Vec<u8>) {
        units.for_each(|unit| self.at(unit).pack(out));
    }

    fn unpack(&self, units: Range<usize>, results: &[u8]) -> Result<(), Malformed> {
        let mut from = Reader::new(results);
        for unit in units {
            *self.at(unit) = Pack::unpack(&mut from)?;
        }
        from.finish()
    }
}
