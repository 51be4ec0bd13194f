//! [`JoinError`]: why a process could not join; each message is one line that names the cause.

/// Why a standby admits nobody: by this, joiners recognise that it is not the root.
pub const ONLY_STANDBY: &str = "it is only a standby: the root may come back";

/// Why a process could not join. Trying again can help, except after [`JoinError::WrongVersion`], [`JoinError::Bytes`]
/// and, unless somebody on the network path forges it, [`JoinError::WrongKey`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The address has no port, or its name cannot be resolved.
    #[error("cannot resolve '{address}': {why}")]
    NoSuchName {
        /// The address.
        address: String,
        /// The system error.
        why: String,
    },
    /// Nothing listens there, or there is no route.
    #[error("cannot reach '{address}': {why}")]
    Unreachable {
        /// The address.
        address: String,
        /// The system error.
        why: String,
    },
    /// The root has another key.
    #[error("the key file does not hold the key of the run at '{address}'")]
    WrongKey {
        /// The root's address.
        address: String,
    },
    /// Another program listens there.
    #[error("the program that listens on '{address}' is not Pleach: {why}")]
    NotPleach {
        /// The root's address.
        address: String,
        /// How it failed.
        why: String,
    },
    /// The root is another version.
    #[error("'{address}' cannot be joined by this version: {reason}")]
    WrongVersion {
        /// The root's address.
        address: String,
        /// The versions.
        reason: String,
    },
    /// The root's caller refused.
    #[error("'{address}' refuses to let this process join: {reason}")]
    Refused {
        /// The root's address.
        address: String,
        /// Its reason.
        reason: String,
    },
    /// The root admits no process now.
    #[error("'{address}' admits no process now: {reason}")]
    Busy {
        /// The root's address.
        address: String,
        /// Its reason.
        reason: String,
    },
    /// The connection broke before the welcome arrived.
    #[error("lost '{address}' while joining: {why}")]
    Lost {
        /// The root's address.
        address: String,
        /// What happened.
        why: String,
    },
    /// Joining took too long.
    #[error("'{address}' took longer than {seconds} s {stage}")]
    TimedOut {
        /// The root's address.
        address: String,
        /// The longest time allowed.
        seconds: u64,
        /// The stage that was not completed.
        stage: Stage,
    },
    /// Other joiners cannot reach this one at the requested address.
    #[error("joiners cannot reach '{address}': {why}")]
    Reach {
        /// The requested address.
        address: String,
        /// The system error.
        why: String,
    },
    /// The joiner's own bytes are too many.
    #[error("a joiner may send at most {limit} bytes about itself, not {bytes}")]
    Bytes {
        /// How many there are.
        bytes: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// This process fails.
    #[error("{why}")]
    Here {
        /// The system error.
        why: String,
    },
}

impl JoinError {
    /// Whether a later try may succeed for a site that comes back to a root: another program may have taken the root's
    /// address for a while. Only the root itself can say that there is nothing to come back to.
    #[must_use]
    pub fn may_pass_on_return(&self) -> bool {
        !matches!(self, Self::Refused { .. } | Self::Bytes { .. } | Self::Here { .. })
    }

    /// Whether the root is reachable: it has shown the key, but admits nobody now, or has not answered yet. A standby
    /// is not the root.
    #[must_use]
    pub fn shows_root(&self) -> bool {
        match self {
            Self::Busy { reason, .. } => reason != ONLY_STANDBY,
            Self::TimedOut { stage, .. } => *stage == Stage::Answer,
            _ => false,
        }
    }

    /// Whether a later try may succeed without any action by the user.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Busy { .. }
                | Self::Lost { .. }
                | Self::TimedOut { .. }
        )
    }
}

/// What a joiner waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The addresses of the name.
    Name,
    /// A connection.
    Connection,
    /// The proof of the key on both ends.
    Key,
    /// The answer to the hello.
    Answer,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Name => "to be looked up",
            Self::Connection => "to be reached",
            Self::Key => "to show its key",
            Self::Answer => "to answer",
        })
    }
}
