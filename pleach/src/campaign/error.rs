//! [`Error`]: why a campaign ends without a result.

use pleach_run::RunError;
use std::fmt;
use std::io;
use std::path::Path;

/// Why a campaign ends without a result.
#[derive(Debug)]
pub enum Error {
    /// Options that do not fit the problem: which, and what was expected.
    Input(String),
    /// The run failed, or its checkpoint does not fit.
    Run(RunError),
}

impl Error {
    /// A checkpoint file that cannot be used, and why.
    pub(crate) fn file(path: &Path, why: io::Error) -> Self {
        Error::Run(RunError::Save { path: path.to_path_buf(), why })
    }

    /// A checkpoint file that cannot be resumed, and why.
    pub(crate) fn resume(path: &Path, why: impl fmt::Display) -> Self {
        let why = io::Error::new(io::ErrorKind::InvalidData, format!("cannot resume it: {why}"));
        Error::Run(RunError::Load { path: path.to_path_buf(), why })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input(why) => f.write_str(why),
            Error::Run(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<RunError> for Error {
    fn from(why: RunError) -> Self {
        Error::Run(why)
    }
}
