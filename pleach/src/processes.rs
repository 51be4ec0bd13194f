//! [`Processes`]: those that a launcher has started, for loops that they share.

use crate::cli::{LASTING, LETTER};
use pleach_net::mpi::{self, Choice};
use pleach_run::{Cluster, First, RunError};
use std::sync::Arc;

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
        let network = mpi::open(&Choice::Auto, LETTER)?;
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
                    // Whoever ends before the others is not waited for.
                    cluster.leave_loops();
                }
                cluster.end();
            }
            None => {}
        }
    }
}
