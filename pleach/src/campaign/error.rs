//! [`Error`]: why a campaign ends without a result.

use pleach_runtime::RunError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a campaign ends without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Options that do not suit the problem: which, and what was expected.
    #[error("{0}")]
    Input(String),
    /// A checkpoint that cannot be resumed.
    #[error("cannot resume {}: {why}", path.display())]
    Resume {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The run failed, or its checkpoint file cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Error {
    /// A checkpoint file that cannot be used, and why.
    pub(crate) fn file(path: &Path, why: io::Error) -> Self {
        Error::Run(RunError::Save { path: path.to_path_buf(), why })
    }

    /// A checkpoint file that cannot be resumed, and why.
    pub(crate) fn resume(path: &Path, why: impl fmt::Display) -> Self {
        Error::Resume { path: path.to_path_buf(), why: why.to_string() }
    }
}
