//! [`FlagValues`]: the flags of a command line as they were written.

use clap::ArgMatches;
use clap::parser::ValueSource;
use pleach_cluster::Cluster;
use pleach_gpu::spec::Spec;
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Marks a word that clap would take for flags: UTS arguments in quotes.
pub const WORD: char = '\u{1}';

/// A word or a flag's value without that mark.
pub fn unmarked(word: &str) -> &str {
    word.strip_prefix(WORD).unwrap_or(word)
}

/// The flags of a command line.
pub struct FlagValues {
    pub(super) matches: ArgMatches,
    /// Read only once, since looking for GPUs takes time.
    pub(super) workers: OnceCell<Result<Workers, String>>,
    /// What is saved with the search, as the command line says it.
    pub saving: Saving,
    /// The processes that search together; `None` if this one is alone.
    pub cluster: Option<Arc<Cluster>>,
    /// The texts of input files by name: as read here, or as another process sent them.
    pub texts: Texts,
    /// The same for loops, whose files need not be texts.
    pub files: RefCell<Files>,
}

/// Texts by the names of their files.
pub type Texts = RefCell<BTreeMap<String, String>>;

/// The files of loops, by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What is saved with a search.
#[derive(Clone, Debug, Default)]
pub struct Saving {
    /// The words, the flags and the fingerprints of the input files.
    pub origin: Value,
    /// The file that `resume` names.
    pub from: Option<String>,
    /// Whether that is the copy of a standby: the input files need not exist here.
    pub copied: bool,
}

/// Threads and devices.
#[derive(Clone)]
pub struct Workers {
    /// Threads of the CPU.
    pub threads: u32,
    /// Devices.
    pub devices: Devices,
}

/// Devices, and the `--devices` list that stands for them.
#[derive(Clone)]
pub struct Devices {
    /// The list, as `--devices` takes it.
    pub words: String,
    /// One for each device.
    pub specs: Vec<Spec>,
}

impl FlagValues {
    /// The flags that were parsed.
    pub fn new(matches: ArgMatches) -> Self {
        Self {
            matches,
            workers: OnceCell::new(),
            saving: Saving::default(),
            cluster: None,
            texts: Texts::default(),
            files: RefCell::default(),
        }
    }

    /// Whether a flag is on the command line.
    pub fn has(&self, name: &str) -> bool {
        self.matches.value_source(name) == Some(ValueSource::CommandLine)
    }

    /// Whether a switch is on.
    pub fn on(&self, name: &str) -> bool {
        self.matches.get_flag(name)
    }

    /// A flag's value as it was written; the last one of a flag that may be repeated.
    pub fn word(&self, name: &str) -> Option<&str> {
        // A value that begins with a dash and has a blank was marked as a word.
        self.matches.get_many::<String>(name)?.next_back().map(|word| unmarked(word))
    }

    /// A flag's value as a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.word(name).map(PathBuf::from)
    }

    /// The slowed workers as they were written.
    pub fn slow(&self) -> Vec<&str> {
        let words = self.matches.get_many::<String>("slow").into_iter().flatten();
        words.flat_map(|word| word.split(',')).collect()
    }

    /// The words before the flags.
    pub fn words(&self) -> Vec<String> {
        let words = self.matches.get_many::<String>("words").into_iter().flatten();
        words.map(|word| unmarked(word).to_string()).collect()
    }
}
