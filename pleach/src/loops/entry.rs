//! [`Entry`]: a loop as the command knows it, and what a command line asks of it.

use super::runner::Runner;
use crate::cli::flags::{FlagValues, Use};
use crate::failure::Failure;
use serde_json::Value;

/// A loop.
pub struct Entry {
    /// Its word on the command line.
    pub name: &'static str,
    /// What it is, in a phrase.
    pub about: &'static str,
    /// What its words are.
    pub words: &'static str,
    /// How many words it takes, at least and at most.
    pub takes: (usize, usize),
    /// Whether a word is a file.
    pub is_file: fn(&str) -> bool,
    /// Whether several processes can share it.
    pub shared: bool,
    /// The flags that it has beside the general ones.
    pub flags: &'static [Use],
    /// Whole command lines to show as examples, without the program's name.
    pub examples: &'static [&'static str],
    /// How the name of a result ends.
    pub writes: &'static [&'static str],
    /// Reads what the words say.
    pub prepare: fn(&Order<'_>) -> Result<Box<dyn Job>, Failure>,
}

/// What a command line asks of a loop.
pub struct Order<'a> {
    /// The words after the loop's name.
    pub words: &'a [String],
    /// The flags.
    pub given: &'a FlagValues,
}

/// A loop that is ready to run, again and again.
pub trait Job {
    /// Runs it; a new run replaces the result of the one before.
    fn run(&mut self, runner: &mut Runner<'_>) -> Result<(), Failure>;

    /// What came of the last run.
    fn found(&self) -> Found;

    /// The result as a file.
    fn file(&self, order: &Order<'_>) -> Result<Vec<u8>, Failure>;
}

/// What came of a run.
pub struct Found {
    /// Units.
    pub units: u64,
    /// A number that tells results apart.
    pub checksum: f64,
    /// Operations of the kind that is usually counted, and what they are called: their rate is shown.
    pub work: (f64, &'static str),
    /// More about the result, for JSON.
    pub more: Vec<(&'static str, Value)>,
    /// The result in a phrase.
    pub phrase: String,
}
