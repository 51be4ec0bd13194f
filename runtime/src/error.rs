//! [`RunError`]: why a run could not be carried out.

use pleach_core::search::tree::WrongBound;
use pleach_core::search::work::Malformed;
use pleach_core::wire::Unreadable;
use std::error::Error;
use std::io;
use std::path::PathBuf;

/// The maximum number of threads of a run.
pub const MOST_THREADS: u32 = 1024;

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A policy by which nodes are explored twice.
    #[error("master-worker:late is for simulations only")]
    Late,
    /// A search that cannot be explored down to a depth first.
    #[error("cutoff and depth need work held as open nodes, which this search does not have")]
    Cutoff,
    /// A problem that is always searched depth first.
    #[error("this problem cannot be searched best first")]
    BestFirst,
    /// Too few workers to divide the nodes of a pool in a single process.
    #[error(
        "second_cutoff in a single process needs two threads that do not search, and at least one \
         more worker (threads: {threads}, usable devices: {devices})"
    )]
    SecondCutoff {
        /// The threads.
        threads: usize,
        /// The devices that can be used.
        devices: usize,
    },
    /// A policy that a search by several processes does not support.
    #[error("depth, first, and weighted without weights=… work only in a single process")]
    Alone,
    /// More processes than there are places for.
    #[error("{wanted} other processes, expected at most {most}: there are no more places")]
    Places {
        /// How many others should have joined.
        wanted: usize,
        /// How many can.
        most: usize,
    },
    /// More threads than any machine can use.
    #[error("{0} threads, expected at most {MOST_THREADS}")]
    Threads(u32),
    /// The system cannot start another thread.
    #[error("cannot start thread {0}: {1}")]
    Thread(u32, #[source] io::Error),
    /// Work that a worker received could not be read.
    #[error("work between workers cannot be read: {0}")]
    Work(#[from] Malformed),
    /// The protocol broke one of its own laws.
    #[error("the protocol failed: {0}")]
    Protocol(String),
    /// A solution shows that a bound of the problem is wrong.
    #[error(transparent)]
    Bound(#[from] WrongBound),
    /// The solution to start from is wrong.
    #[error("the solution to start from is wrong: {0}")]
    Start(String),
    /// A value to beat, or a solution to start from, where no best solution is wanted.
    #[error("a value to beat or a solution to start from needs a search for the best solution")]
    NoValues,
    /// A solution fails the check.
    #[error("a solution is wrong: {0}")]
    Solution(String),
    /// The run cannot be saved.
    #[error("{}: {why}", path.display())]
    Save {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        why: io::Error,
    },
    /// A checkpoint cannot be read.
    #[error("{}: {why}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        why: io::Error,
    },
    /// A slab of a loop in steps does not fit.
    #[error("{0}")]
    Slab(String),
    /// No device can be used, and no thread was requested.
    #[error("{0}")]
    NoWorker(String),
    /// The network to other processes failed.
    #[error("{0}")]
    Net(#[source] Box<dyn Error + Send + Sync>),
    /// A joined process has lost the root.
    #[error("{0}")]
    Lost(String),
    /// The root ended the search while this process was disconnected. No search follows.
    #[error("the search ended while this process was away")]
    MissedEnd,
    /// A process came back to a root that now searches something else, or has given its place away.
    #[error("the search was replaced by another one")]
    Replaced,
    /// Another process has taken the place of this root.
    #[error("another process has taken over this search")]
    TakenOver,
    /// Another process reported a failure that ends the search.
    #[error("site {site}: {why}")]
    Site {
        /// Its number.
        site: u32,
        /// Its reason.
        why: String,
    },
    /// A process cannot follow the root, because its search differs.
    #[error("{0}")]
    Follow(&'static str),
    /// A checkpoint belongs to another search, or its content is damaged.
    #[error("the checkpoint cannot be resumed: {0}")]
    Resume(#[from] Unreadable),
}
