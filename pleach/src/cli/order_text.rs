//! [`OrderText`]: the root's order to a process, as words and flags of a command line.

use crate::failure::{Failure, usage};
use serde_json::Value;

/// The name of the command for the problems of this library.
pub const PLEACH: &str = "pleach";

/// An order from the root.
pub struct OrderText {
    /// The words of its command line, without flags.
    pub words: Vec<String>,
    /// The flags, each with its value.
    pub flags: Vec<String>,
    /// The whole order.
    pub all: Value,
}

impl OrderText {
    /// Reads it.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn read(about: &[u8]) -> Result<Self, Failure> {
        let all: Value = serde_json::from_slice(about).map_err(|_| unclear())?;
        let strings = |name: &str| -> Option<Vec<String>> {
            all[name].as_array()?.iter().map(|word| Some(word.as_str()?.to_string())).collect()
        };
        let (words, flags) = strings("words").zip(strings("flags")).ok_or_else(unclear)?;
        Ok(Self { words, flags, all })
    }

    /// Checks that the program that started the search is this one: a user's own, or `pleach`.
    ///
    /// # Errors
    /// Which program to join with.
    pub fn is_of(&self, own: bool) -> Result<(), Failure> {
        match self.all["program"].as_str() {
            Some(root) if own == (root == PLEACH) => {
                usage(format!("the root runs '{root}': join it with '{root} join'"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the instance is the same: the words, and the content of the files that they name.
    pub fn has_instance_of(&self, other: &Self) -> bool {
        ["words", "files", "texts"].into_iter().all(|key| self.all[key] == other.all[key])
    }

    /// Keeps only the named flags.
    pub fn retain(&mut self, counts: impl Fn(&str) -> bool) {
        self.flags.retain(|flag| counts(name_of(flag)));
    }

    /// Adds this process's own flags, if it may set them.
    pub fn add(&mut self, own: Vec<String>, may: &[&str]) {
        self.flags.extend(own.into_iter().filter(|flag| may.contains(&name_of(flag))));
    }
}

/// The name of a flag that is written with its value.
pub fn name_of(flag: &str) -> &str {
    flag.trim_start_matches("--").split('=').next().unwrap_or_default()
}

/// The error for an order that this version does not know.
pub fn unclear() -> Failure {
    Failure::Inside("the root sent an unknown order".into())
}
