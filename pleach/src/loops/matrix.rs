//! Matrices named on the command line: files or families.

use super::entry::LoopCommand;
use crate::cli::flags::{PRECISION, Precision, SEED};
use crate::failure::{Failure, usage};
use pleach_loops::sparse::generate::{EXPECTED, is_family, named};
use pleach_loops::sparse::market;
use pleach_loops::sparse::matrix::Csr;

/// The matrix that a word names.
///
/// # Errors
/// One line: what is wrong with it.
pub fn matrix(command: &LoopCommand<'_>, word: &str) -> Result<Csr<f64>, Failure> {
    let seed = command.given.get(&SEED)?.unwrap_or(0);
    if !command.is_file(word, is_file)
        && let Some(made) = named(word, seed)
    {
        return made.map_err(Failure::Usage);
    }
    let text =
        command.text(word).or_else(|why| usage(format!("{word}: {why}; expected {EXPECTED}")))?;
    let read = market::read(&text).or_else(|why| usage(format!("{word}: {why}")))?;
    let single = command.given.get(&PRECISION)? == Some(Precision::Single);
    match read.values.iter().find(|value| single && !(**value as f32).is_finite()) {
        Some(value) => usage(format!("{word}: {value:e} needs --precision f64")),
        None => Ok(read),
    }
}

/// Whether a word is a file.
pub fn is_file(word: &str) -> bool {
    std::path::Path::new(word).exists() || !is_family(word)
}
