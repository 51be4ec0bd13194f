//! [`LoopEntry`]: a loop as the command knows it; [`LoopCommand`]: what a command line asks of it.

use super::runner::Runner;
use crate::cli::flags::{FlagValues, Use};
use crate::failure::Failure;
use serde_json::Value;

/// A loop.
pub struct LoopEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// What its words mean.
    pub words: &'static str,
    /// The least and the most words that it takes.
    pub takes: (usize, usize),
    /// Whether a word is a file.
    pub is_file: fn(&str) -> bool,
    /// Whether several processes can share it.
    pub shared: bool,
    /// Its flags, in addition to the general ones.
    pub flags: &'static [Use],
    /// Whole command lines to show as examples, without the program's name.
    pub examples: &'static [&'static str],
    /// The file name endings of its results.
    pub writes: &'static [&'static str],
    /// Reads the words and prepares a job.
    pub prepare: fn(&LoopCommand<'_>) -> Result<Box<dyn Job>, Failure>,
}

/// What a command line asks of a loop.
pub struct LoopCommand<'a> {
    /// The words after the loop's name.
    pub words: &'a [String],
    /// The flags.
    pub given: &'a FlagValues,
}

/// A loop that is ready to run, again and again.
pub trait Job {
    /// Runs it; a new run replaces the result of the one before.
    fn run(&mut self, runner: &mut Runner<'_>) -> Result<(), Failure>;

    /// Checks the result of the last run, which takes no part of its time.
    fn check(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// The result of the last run.
    fn found(&self) -> LoopOutput;

    /// The result as a file.
    fn file(&self, command: &LoopCommand<'_>) -> Result<Vec<u8>, Failure>;
}

/// The result of a run.
pub struct LoopOutput {
    /// The number of units.
    pub units: u64,
    /// A checksum that tells results apart.
    pub checksum: f64,
    /// The number of operations and their name, for the rate that is shown.
    pub work: (f64, &'static str),
    /// Further entries for JSON.
    pub more: Vec<(&'static str, Value)>,
    /// The result in a phrase.
    pub phrase: String,
}
