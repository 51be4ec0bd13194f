//! [`JoinError`]: why a process could not join, each in one line that names the cause.

/// Why a process could not join. Trying again can help, except after [`JoinError::WrongVersion`],
/// [`JoinError::Bytes`] and, unless somebody on the way forges it, [`JoinError::WrongKey`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// No such name, or no port.
    #[error("there is no address '{address}': {why}")]
    NoSuchName {
        /// What was looked up.
        address: String,
        /// What the system says.
        why: String,
    },
    /// Nobody listens there, or there is no way to it.
    #[error("cannot reach '{address}': {why}")]
    Unreachable {
        /// Where to.
        address: String,
        /// What the system says.
        why: String,
    },
    /// The root has another key.
    #[error("the run at '{address}' has another key than this key file")]
    WrongKey {
        /// Where it listens.
        address: String,
    },
    /// Somebody else listens there.
    #[error("what listens at '{address}' is not Pleach: {why}")]
    NotPleach {
        /// Where it listens.
        address: String,
        /// What it does.
        why: String,
    },
    /// The root's program is another.
    #[error("'{address}' cannot be joined by this version: {reason}")]
    WrongVersion {
        /// Where it listens.
        address: String,
        /// Which versions these are.
        reason: String,
    },
    /// The root's caller said no.
    #[error("'{address}' refuses: {reason}")]
    Refused {
        /// Where it listens.
        address: String,
        /// Its reason.
        reason: String,
    },
    /// The root's caller has no room now.
    #[error("'{address}' is full: {reason}")]
    Busy {
        /// Where it listens.
        address: String,
        /// Its reason.
        reason: String,
    },
    /// The connection broke before the welcome had come.
    #[error("lost '{address}' while joining: {why}")]
    Lost {
        /// Where it listens.
        address: String,
        /// What happened.
        why: String,
    },
    /// It took too long.
    #[error("'{address}' took longer than {seconds} s {stage}")]
    TimedOut {
        /// Where it listens, or should.
        address: String,
        /// How long it may take.
        seconds: u64,
        /// What was waited for.
        stage: Stage,
    },
    /// More than the root takes.
    #[error("a joiner may say {limit} bytes of itself, not {bytes}")]
    Bytes {
        /// How many it wants to say.
        bytes: usize,
        /// How many it may.
        limit: usize,
    },
    /// This process cannot do what is needed.
    #[error("cannot join: {why}")]
    Here {
        /// What the system says.
        why: String,
    },
}

impl JoinError {
    /// Whether a later try may succeed on the way back to a root that was there before: another program may have
    /// taken its address for a while. Only the root itself can say that there is nothing to come back to.
    #[must_use]
    pub fn may_pass_on_return(&self) -> bool {
        !matches!(self, Self::Refused { .. } | Self::Bytes { .. } | Self::Here { .. })
    }

    /// Whether a later try may succeed although nobody does anything about it.
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
    /// Addresses of the name.
    Name,
    /// A connection.
    Connection,
    /// That both have shown the key.
    Key,
    /// An answer to the hello.
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
