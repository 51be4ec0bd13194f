//! [`Failure`]: why a command ends without a result.

use crate::campaign::Error;
use pleach_cluster::NetError;
use pleach_runtime::RunError;
use std::io::ErrorKind;

/// Why a command ends without a result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Bad usage or bad input: what is wrong, where, and what was expected.
    #[error("{0}")]
    Usage(String),
    /// The machine failed: no more threads, or a full disk.
    #[error("{0}")]
    Machine(String),
    /// This process was asked to leave before the search began.
    #[error("{0}")]
    Left(String),
    /// An output of a run that has ended cannot be written.
    #[error("{0}")]
    Unwritten(String),
    /// The program or the problem's own code is wrong.
    #[error("{0}")]
    Inside(String),
    /// The process that leads the search can no longer be reached.
    #[error("{0}")]
    Lost(String),
    /// The search ended while this process was away.
    #[error("the search ended while this process was away")]
    MissedEnd,
    /// The process that leads the search has failed.
    #[error("{0}")]
    Ended(String),
    /// The leading process has started another search.
    #[error("the search was replaced by another one")]
    Replaced,
}

/// Bad usage with this explanation.
pub fn usage<T>(why: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Usage(why.into()))
}

impl Failure {
    /// Converts a campaign's error into a command's failure.
    pub fn of(why: Error) -> Self {
        match why {
            Error::Input(why) => Failure::Usage(why),
            Error::Resume { .. } => Failure::Usage(why.to_string()),
            Error::Run(why) => match why {
                RunError::NoWorker(why) => Failure::Usage(format!("--devices: {why}")),
                RunError::Threads(_) => Failure::Usage(format!("--threads: {why}")),
                RunError::Start(why) => Failure::Usage(format!("--start: {why}")),
                RunError::NoValues => Failure::Usage(why.to_string()),
                RunError::Slab(why) => Failure::Machine(why),
                RunError::Save { .. } => Failure::Usage(format!("--checkpoint {why}")),
                RunError::Late
                | RunError::Cutoff
                | RunError::SecondCutoff { .. }
                | RunError::Alone => Failure::Usage(format!("--balance: {why}")),
                RunError::Load { .. } => Failure::Usage(format!("cannot resume {why}")),
                RunError::Resume(why) => Failure::Usage(format!("cannot resume: {why}")),
                RunError::Thread(..)
                | RunError::Net(_)
                | RunError::Follow(_)
                | RunError::TakenOver => Failure::Machine(why.to_string()),
                RunError::Lost(why) => Failure::Lost(why),
                RunError::MissedEnd => Failure::MissedEnd,
                RunError::Replaced => Failure::Replaced,
                RunError::Site { site: 0, why } => Failure::Ended(why),
                _ => Failure::Inside(why.to_string()),
            },
        }
    }

    /// The failure of a system call about an address or a file that the user named. Others are faults of the machine that
    /// may pass: disks and addresses become free.
    pub fn of_system(kind: ErrorKind, why: String) -> Self {
        const WRONG: [ErrorKind; 8] = [
            ErrorKind::AddrNotAvailable,
            ErrorKind::AlreadyExists,
            ErrorKind::InvalidInput,
            ErrorKind::IsADirectory,
            ErrorKind::NotADirectory,
            ErrorKind::NotFound,
            ErrorKind::PermissionDenied,
            ErrorKind::ReadOnlyFilesystem,
        ];
        if WRONG.contains(&kind) { Failure::Usage(why) } else { Failure::Machine(why) }
    }

    /// The failure to open the address of this flag.
    pub fn of_listening(flag: &str, why: &NetError) -> Self {
        let text = format!("{flag}: {why}");
        match why {
            NetError::Listen { kind, .. } => Failure::of_system(*kind, text),
            _ => Failure::Usage(text),
        }
    }

    /// The same failure; bad input names the instance.
    pub fn about(self, instance: &str) -> Self {
        match self {
            Failure::Usage(why) if !why.starts_with("--") && !why.starts_with("cannot resume") => {
                Failure::Usage(format!("{instance}: {why}"))
            }
            other => other,
        }
    }
}

impl From<Error> for Failure {
    fn from(why: Error) -> Self {
        Failure::of(why)
    }
}

impl From<RunError> for Failure {
    fn from(why: RunError) -> Self {
        Failure::of(Error::Run(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_no_bad_usage() {
        for kind in [ErrorKind::AddrInUse, ErrorKind::StorageFull, ErrorKind::OutOfMemory] {
            assert!(matches!(Failure::of_system(kind, String::new()), Failure::Machine(_)));
        }
        for kind in [ErrorKind::AddrNotAvailable, ErrorKind::PermissionDenied] {
            assert!(matches!(Failure::of_system(kind, String::new()), Failure::Usage(_)));
        }
    }
}
