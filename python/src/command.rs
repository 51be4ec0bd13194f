//! [`command`]: the whole command in the process of the interpreter.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs a command line, which owns signals and standard streams from here on, and returns the exit code. `program` is what
/// runs the command again in another process.
#[pyfunction]
pub fn command(py: Python<'_>, program: PathBuf, words: Vec<OsString>) -> u8 {
    py.detach(|| pleach::cli::embedded(program, words))
}
