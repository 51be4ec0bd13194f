//! [`Processes`]: those that share searches and loops.

use crate::campaign::Cancel;
use crate::joining::{self, LASTING, MESSAGE};
use pleach_cluster::Cluster;
use pleach_cluster::mpi::{self, Choice};
use pleach_cluster::tls::Key;
use pleach_runtime::RunError;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How many processes may be there at once, where they join.
const PLACES: u32 = 64;

/// How long a process that joins tries to reach the first one, when that does not answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Processes that share searches ([`Solver::run_across`](crate::Solver::run_across)) and loops
/// ([`Each::map_across`](crate::Each::map_across)): those that `mpiexec` or `srun` has started, or those that join.
///
/// All of them run the same program, and do the same searches and loops, one after the other:
///
/// ```
/// let processes = pleach::Processes::launched()?;
/// # #[cfg(feature = "loops")] {
/// let (squares, _) = pleach::Each::new(5).map_across(&processes, |unit| unit * unit)?;
/// assert_eq!(squares.unwrap(), [0, 1, 4, 9, 16]); // in each of the processes
/// # }
/// if processes.is_first() {
///     println!("done");
/// }
/// # Ok::<(), pleach::RunError>(())
/// ```
///
/// A closure must not begin another loop on the same processes: that is an error.
///
/// When it is dropped, it waits for the others, unless it has joined them: then it leaves. Nothing of a launcher can be used
/// afterwards.
#[derive(Debug)]
pub struct Processes {
    cluster: Option<Arc<Cluster>>,
    address: Option<SocketAddr>,
    /// Whether this process has joined others, and need not wait for their end.
    joined: bool,
    /// Whether the first process has said that nothing follows.
    over: AtomicBool,
}

impl Processes {
    /// The processes that were started together with this one; only this one without a launcher.
    ///
    /// # Errors
    /// If there is a launcher, but no MPI library that goes with it.
    pub fn launched() -> Result<Self, RunError> {
        let network = mpi::open(&Choice::Auto, MESSAGE)?;
        let cluster = |network| Cluster::new(network, None, Arc::default(), LASTING);
        Ok(Self::of(network.map(cluster), None, false))
    }

    /// Listens on `HOST:PORT`, where others with the same key may join at any time. The key is a file, created if missing.
    /// Port 0 lets the system choose one.
    ///
    /// # Errors
    /// If the key cannot be read or created, or nobody can listen at this address.
    pub fn listen(address: impl Into<String>, key: impl AsRef<Path>) -> Result<Self, RunError> {
        let key = Key::make(key.as_ref()).map_err(|why| RunError::Net(Box::new(why)))?;
        let (cluster, at) = joining::listen(address.into(), key, PLACES)?;
        Ok(Self::of(Some(cluster), Some(at), false))
    }

    /// Joins the process that listens at this address, and all others that have joined it. If the connection is lost, it is
    /// retried for a minute, even if that process restarts.
    ///
    /// # Errors
    /// If the key cannot be read, or the address is not reached within a minute, or refuses this process.
    pub fn join(address: impl Into<String>, key: impl AsRef<Path>) -> Result<Self, RunError> {
        let key = Key::read(key.as_ref()).map_err(|why| RunError::Net(Box::new(why)))?;
        let cluster = joining::join(address.into(), key, Some(PATIENCE), Cancel::default())?;
        Ok(Self::of(Some(cluster), None, true))
    }

    fn of(cluster: Option<Cluster>, address: Option<SocketAddr>, joined: bool) -> Self {
        Self { cluster: cluster.map(Arc::new), address, joined, over: AtomicBool::new(false) }
    }

    /// Where others join, if this process listens.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Whether this is the first of them, which should speak for all.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.cluster.as_ref().is_none_or(|cluster| cluster.is_root())
    }

    /// All of them, if there are several.
    pub(crate) fn cluster(&self) -> Option<&Arc<Cluster>> {
        self.cluster.as_ref()
    }

    /// Notes that the first process has said that nothing follows.
    pub(crate) fn note_end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let over = self.over.load(Ordering::Relaxed);
        match &self.cluster {
            Some(cluster) if std::thread::panicking() => cluster.abort(1),
            Some(cluster) if self.joined && !over => cluster.leave(),
            Some(cluster) => {
                #[cfg(feature = "loops")]
                if !cluster.is_root() {
                    use pleach_loops::looping::ShareLoops;
                    // Nobody waits for a process that ends before the others.
                    cluster.leave_loops();
                }
                cluster.end();
            }
            None => {}
        }
    }
}
