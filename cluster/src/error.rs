//! [`NetError`]: why a network cannot be opened or cannot continue, each in one line.

use crate::Rank;
use pleach_runtime::RunError;

/// Why a network cannot be opened or cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// A launcher was found, but no library that matches it.
    #[error(
        "{found} is set by {launcher}, but no library for it can be opened (tried {tried}): {help}"
    )]
    NoLibrary {
        /// The environment variable that revealed the launcher.
        found: &'static str,
        /// The launcher's family.
        launcher: &'static str,
        /// The names tried, and what is wrong with those that exist.
        tried: String,
        /// What to install.
        help: &'static str,
    },
    /// The library named by hand cannot be opened.
    #[error("cannot open the MPI library '{path}': {why}")]
    CannotOpen {
        /// Its path.
        path: String,
        /// The system error.
        why: String,
    },
    /// The library has none of the known binary interfaces.
    #[error(
        "'{path}' is not a usable MPI library: expected the MPI 5 ABI, Open MPI or MPICH{found}"
    )]
    UnknownLibrary {
        /// Its path.
        path: String,
        /// How it identifies itself, if it does.
        found: String,
    },
    /// The library lacks a function or an object.
    #[error("the MPI library '{path}' lacks {symbol}")]
    NoSymbol {
        /// Its path.
        path: String,
        /// The missing symbol.
        symbol: String,
    },
    /// The library only allows calls from one thread.
    #[error("the MPI library only offers thread level {offered}, but {needed} is needed")]
    ThreadLevel {
        /// The level that it offers.
        offered: i32,
        /// The level that is needed.
        needed: i32,
    },
    /// The library and the launcher disagree, so they do not belong together.
    #[error(
        "the launcher started {launched} processes, but {library} sees {seen}: it belongs to another launcher"
    )]
    OtherLauncher {
        /// The number of processes according to the launcher.
        launched: u32,
        /// The number of processes according to the library.
        seen: u32,
        /// How the library identifies itself.
        library: String,
    },
    /// An impossible rank or size.
    #[error("the MPI library reports an impossible rank: {rank} of {size}")]
    Rank {
        /// The rank.
        rank: i32,
        /// The number of ranks.
        size: i32,
    },
    /// A call failed.
    #[error("{call} failed: {why}")]
    Call {
        /// The call.
        call: &'static str,
        /// The error of the library.
        why: String,
    },
    /// The other end of a link has died. The network survives that, and reports the site as lost.
    #[error("a process of the job has died")]
    Died,
    /// The root cannot open its star.
    #[error("cannot listen on '{address}': {why}")]
    Listen {
        /// The address.
        address: String,
        /// The kind of the system error.
        kind: std::io::ErrorKind,
        /// The system error.
        why: String,
    },
    /// A message to a site that does not exist.
    #[error("a message to site {to}, but there are {sites} sites")]
    NoSite {
        /// Its receiver.
        to: Rank,
        /// How many sites there are.
        sites: u32,
    },
    /// A message after the announced end.
    #[error("a message to site {to} after the end was announced")]
    Finished {
        /// Its receiver.
        to: Rank,
    },
    /// A message longer than allowed, sent or announced.
    #[error("a message of {bytes} bytes, but at most {limit} are allowed")]
    TooLong {
        /// Its length.
        bytes: u64,
        /// The longest allowed.
        limit: u64,
    },
    /// An invalid message arrived.
    #[error("invalid message from site {from}: {what}")]
    Garbled {
        /// Its sender.
        from: Rank,
        /// What is wrong.
        what: &'static str,
    },
}

#[cfg(any(feature = "mpi", feature = "tls"))]
impl NetError {
    /// The error for a message of this many bytes.
    pub(crate) fn too_long(bytes: u64, limit: usize) -> Self {
        Self::TooLong { bytes, limit: limit as u64 }
    }

    /// Checks that a message may be sent: to an existing site, before the end, and not too long.
    pub(crate) fn check_message(
        (to, sites): (Rank, u32),
        finished: bool,
        (bytes, limit): (usize, usize),
    ) -> Result<(), Self> {
        if to >= sites {
            return Err(Self::NoSite { to, sites });
        }
        if finished {
            return Err(Self::Finished { to });
        }
        if bytes > limit { Err(Self::too_long(bytes as u64, limit)) } else { Ok(()) }
    }
}

impl From<NetError> for RunError {
    fn from(why: NetError) -> Self {
        Self::Net(Box::new(why))
    }
}
