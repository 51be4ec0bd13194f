//! [`Processes`]: the processes that share searches and loops.

use crate::joining::{self, Joining, LASTING, MESSAGE_BY_MPI};
use pleach_cluster::Cluster;
use pleach_cluster::mpi::{self, Choice};
use pleach_cluster::sites::message::SessionMessage;
use pleach_cluster::tls::{Key, Reach};
use pleach_runtime::{Cancel, RunError, Settings, usable_memory};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The maximum number of processes at once, if they join.
const PLACES: u32 = 64;

/// How long a joining process tries to reach the first one if that does not answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Processes that share searches ([`Solver::run_across`](crate::Solver::run_across)) and loops
/// ([`Each::map_across`](crate::Each::map_across)): started by `mpiexec` or `srun`, or joining over the network.
///
/// All of them run the same program, and make the same searches and loops in the same order:
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
/// When dropped, it waits for the other processes, or leaves them if this process has joined. Afterwards, the launcher's
/// MPI library can no longer be used.
#[derive(Debug)]
pub struct Processes {
    cluster: Option<Arc<Cluster>>,
    address: Option<SocketAddr>,
    /// Whether this process has joined others, so that it need not wait for their end.
    joined: bool,
    /// Whether the first process has announced that nothing follows.
    over: AtomicBool,
}

/// The memory that a search may use in this process unless it has a limit, if a launcher has started several on this
/// machine.
pub(crate) fn share_of_memory() -> Option<u64> {
    mpi::processes_here().filter(|&processes| processes > 1).and_then(usable_memory)
}

impl Processes {
    /// The processes that a launcher started together; without a launcher, only this one.
    ///
    /// # Errors
    /// If there is a launcher, but its MPI library cannot be opened.
    pub fn launched() -> Result<Self, RunError> {
        let network = mpi::open(&Choice::Auto, MESSAGE_BY_MPI)?;
        let cluster = |network| Cluster::new(network, None, Arc::default(), LASTING);
        Ok(Self::of(network.map(cluster), None, false))
    }

    /// Listens on `HOST:PORT`, where others with the same key may join at any time. The key file is created if missing.
    /// With port 0, the system chooses a port.
    ///
    /// # Errors
    /// If the key cannot be read or created, or the address cannot be opened.
    pub fn listen(address: impl Into<String>, key: impl AsRef<Path>) -> Result<Self, RunError> {
        let key = Key::make(key.as_ref()).map_err(|why| RunError::Net(Box::new(why)))?;
        let (cluster, at) = joining::listen(address.into(), key, PLACES)?;
        Ok(Self::of(Some(cluster), Some(at), false))
    }

    /// Joins the process that listens on this address, and all others that have joined it. If the connection is lost, this
    /// process tries to reconnect for a minute, even if the other one restarts.
    ///
    /// # Errors
    /// If the key cannot be read, the address cannot be reached within a minute, or this process is refused.
    pub fn join(address: impl Into<String>, key: impl AsRef<Path>) -> Result<Self, RunError> {
        Self::join_for(address, key, PATIENCE)
    }

    /// Joins as [`Self::join`] does, but waits this long, instead of a minute, to reach the address and for a search to begin
    /// there.
    ///
    /// # Errors
    /// As for [`Self::join`].
    pub fn join_for(
        address: impl Into<String>,
        key: impl AsRef<Path>,
        patience: Duration,
    ) -> Result<Self, RunError> {
        let key = Key::read(key.as_ref()).map_err(|why| RunError::Net(Box::new(why)))?;
        let cluster = joining::join(Joining {
            at: address.into(),
            key,
            patience: Some(patience),
            reach: Reach::Automatic,
            standby: None,
            cancel: Cancel::default(),
        })?;
        Ok(Self::of(Some(cluster), None, true))
    }

    /// Has a search share its work with the other processes, if there are others.
    pub(crate) fn share(&self, settings: &mut Settings) -> Option<&Arc<Cluster>> {
        let cluster = self.cluster()?;
        settings.processes = Some(Arc::clone(cluster) as _);
        settings.memory = settings.memory.or_else(share_of_memory);
        Some(cluster)
    }

    fn of(cluster: Option<Cluster>, address: Option<SocketAddr>, joined: bool) -> Self {
        Self { cluster: cluster.map(Arc::new), address, joined, over: AtomicBool::new(false) }
    }

    /// The address at which others join, if this process listens.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Whether this is the first process, which should print for all.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.cluster.as_ref().is_none_or(|cluster| cluster.is_root())
    }

    /// Waits until this number of other processes have joined the first one. Returns false if `waits` returns false before
    /// that. `note` gets lines for the user, such as why a process cannot join. Call it between searches.
    ///
    /// # Errors
    /// If the network fails, or fewer can join.
    pub fn wait_for(
        &self,
        others: usize,
        note: impl FnMut(String),
        waits: impl Fn() -> bool,
    ) -> Result<bool, RunError> {
        match &self.cluster {
            Some(cluster) => cluster.wait_for(others, note, waits),
            None if others > 0 => Err(RunError::Places { wanted: others, most: 0 }),
            None => Ok(true),
        }
    }

    /// Waits for the next search that the first process begins and shares by [`Search::share`](crate::Search::share),
    /// and returns its description. Returns `None` if nothing follows, even if this process has missed the end, or if
    /// `waits` returns false.
    ///
    /// # Errors
    /// If the network fails, or the first process is lost.
    pub fn next_search(&self, waits: impl Fn() -> bool) -> Result<Option<String>, RunError> {
        let Some(cluster) = &self.cluster else { return Ok(None) };
        let order = match cluster.next_order(&waits) {
            Err(RunError::MissedEnd) => None,
            order => order?,
        };
        if order.is_none() && waits() {
            self.note_end();
        }
        Ok(order.map(|order| String::from_utf8_lossy(&order.about).into_owned()))
    }

    /// Signs off from the first process after a search that continues without this one: messages on their way there must
    /// not be lost.
    ///
    /// # Errors
    /// If the network fails.
    pub fn sign_off(&self) -> Result<(), RunError> {
        self.cluster.as_ref().map_or(Ok(()), |cluster| cluster.sign_off())
    }

    /// The cluster of processes, if there are several.
    pub(crate) fn cluster(&self) -> Option<&Arc<Cluster>> {
        self.cluster.as_ref()
    }

    /// Records that the first process has announced that nothing follows.
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
                if !cluster.is_root() {
                    // The others do not wait for a process that ends earlier.
                    cluster.session().send(0, &SessionMessage::Left);
                }
                cluster.end();
            }
            None => {}
        }
    }
}
