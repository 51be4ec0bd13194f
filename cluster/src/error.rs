//! [`NetError`]: why a network cannot be opened or go on, each in one line.

use crate::Rank;
use pleach_runtime::RunError;

/// Why a network cannot be opened or go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// A launcher was found, but no library that goes with it.
    #[error(
        "{found} is set by {launcher}, but no library for it can be opened (tried {tried}): {help}"
    )]
    NoLibrary {
        /// The environment variable that gave the launcher away.
        found: &'static str,
        /// The launcher's family.
        launcher: &'static str,
        /// The names tried, and what was wrong with those that exist.
        tried: String,
        /// What to install.
        help: &'static str,
    },
    /// The library named by hand cannot be opened.
    #[error("cannot open the MPI library '{path}': {why}")]
    CannotOpen {
        /// Its path.
        path: String,
        /// What the system says.
        why: String,
    },
    /// The library speaks none of the known binary interfaces.
    #[error(
        "'{path}' is no MPI library that can be used: expected the MPI 5 ABI, Open MPI or MPICH{found}"
    )]
    UnknownLibrary {
        /// Its path.
        path: String,
        /// What it calls itself, if anything.
        found: String,
    },
    /// The library lacks a function or an object.
    #[error("the MPI library '{path}' lacks {symbol}")]
    NoSymbol {
        /// Its path.
        path: String,
        /// What it lacks.
        symbol: String,
    },
    /// The library insists on calls from one thread.
    #[error("the MPI library offers thread level {offered} only, and {needed} is needed")]
    ThreadLevel {
        /// What it offers.
        offered: i32,
        /// What is needed.
        needed: i32,
    },
    /// Library and launcher disagree, so they do not belong together.
    #[error(
        "the launcher started {launched} processes, but {library} sees {seen}: it belongs to another launcher"
    )]
    OtherLauncher {
        /// Processes, as the launcher says.
        launched: u32,
        /// Processes, as the library says.
        seen: u32,
        /// What the library calls itself.
        library: String,
    },
    /// A rank or a size that cannot be.
    #[error("the MPI library says that this is rank {rank} of {size}")]
    Rank {
        /// The rank.
        rank: i32,
        /// The number of ranks.
        size: i32,
    },
    /// A call failed.
    #[error("{call} failed: {why}")]
    Call {
        /// Which call.
        call: &'static str,
        /// What the library says.
        why: String,
    },
    /// The other end of a link has died. The network survives that, and tells of a site that is lost.
    #[error("a process of the job has died")]
    Died,
    /// The root cannot open its star.
    #[error("cannot listen at '{address}': {why}")]
    Listen {
        /// Where it should.
        address: String,
        /// What the system says.
        why: String,
    },
    /// A message to nobody.
    #[error("a message to site {to}, but there are {sites} sites")]
    NoSite {
        /// Its receiver.
        to: Rank,
        /// How many sites there are.
        sites: u32,
    },
    /// A message after the last one.
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
    /// Something arrived that no site sends.
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
    /// A message of this many bytes, where there is a limit.
    pub(crate) fn too_long(bytes: u64, limit: usize) -> Self {
        Self::TooLong { bytes, limit: limit as u64 }
    }

    /// Whether a message may be sent at all: to one of these sites, before the end, and not too long.
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
