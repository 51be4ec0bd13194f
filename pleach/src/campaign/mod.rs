//! What it means to solve or count each problem: starts, bounds, a second search, checkpoints.

pub mod atsp;
pub mod clique;
mod contents;
mod error;
pub mod flowshop;
mod inspection;
pub mod knapsack;
pub(crate) mod plain;
pub mod qap;
pub mod queens;
mod saved;
pub mod shop;
mod started;
pub mod uts;

pub(crate) use contents::Contents;
pub use error::Error;
pub(crate) use inspection::Inspection;
pub(crate) use saved::described;

use crate::certificate::Sample;
use pleach_core::search::work::Nodes;
use pleach_core::wire::certificate::Certificate;
use pleach_problems::simd::Level;
use pleach_runtime::{ProgressSnapshot, Save, Settings};
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How to search, whatever the problem.
///
/// ```
/// use pleach::Search;
/// use std::ops::ControlFlow;
/// use std::time::Duration;
///
/// let mut search = Search::default();
/// search.settings.threads = 2;
/// search.settings.time_limit = Some(Duration::from_secs(60));
/// search.progress = Some(Box::new(|snapshot| {
///     eprintln!("{:?} at {:.1} s", snapshot.best, snapshot.seconds);
///     ControlFlow::Continue(())
/// }));
/// ```
pub struct Search<'a> {
    /// Workers, limits, balance and seed. The time limit includes the preparation: start heuristics and bounds. The
    /// campaign itself sets `best`, `start`, `improve`, `save` and `resume`.
    pub settings: Settings,
    /// Which instructions to use; the result is the same with all of them.
    pub simd: Level,
    /// The representation of open work, if a problem has a choice.
    pub nodes: Nodes,
    /// Where to save the search. If the file already holds this search, it is resumed.
    pub checkpoint: Option<Checkpoint>,
    /// Whether to make a certificate of the result.
    pub certify: Certify,
    /// Called about ten times a second; breaking stops the search with the result so far.
    pub progress: Option<Watch<'a>>,
    /// Called if the checkpoint file holds this search, which is then resumed.
    pub resumed: Option<Box<dyn FnMut() + 'a>>,
    /// Called once there is something to lose: a solution, or explored nodes.
    pub begins: Option<Box<dyn FnOnce() + 'a>>,
}

/// Whether a search makes a certificate.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Certify {
    /// No.
    #[default]
    No,
    /// Yes, by a second search from the proven value.
    Make,
    /// The command audits this one instead of searching; functions that search ignore it.
    Audit(Arc<Certificate>, Sample),
}

/// How to solve an instance of a problem that has no settings of its own.
#[derive(Default)]
pub struct Options<'a> {
    /// The value that the search starts from.
    pub best: Best,
    /// A solution to start from, counted from 0: jobs in order, or the location of each facility.
    pub start: Option<Vec<u16>>,
    /// Workers, limits, checkpoint, progress.
    pub search: Search<'a>,
}

/// Watches a search, and may stop it.
pub type Watch<'a> = Box<dyn FnMut(&ProgressSnapshot) -> ControlFlow<()> + 'a>;

impl Search<'_> {
    /// Shares the search with other processes. In the first one, `about` is a JSON object that tells the others what to
    /// search; the others give what [`Processes::next_search`](crate::Processes::next_search) returned. There, the
    /// function that searches takes part in the search of the first process, and its result is about that part: it proves
    /// nothing, so its status is [`Status::Stopped`](crate::Status::Stopped). If the first process has ended the search,
    /// or begun another one, while this process was disconnected, the function fails with
    /// [`RunError::MissedEnd`](crate::RunError::MissedEnd) or [`RunError::Replaced`](crate::RunError::Replaced): then wait
    /// for the next search, as after a result.
    #[cfg(feature = "cluster")]
    pub fn share(&mut self, processes: &crate::Processes, about: impl Into<String>) {
        processes.share(&mut self.settings);
        self.settings.about = about.into();
    }
}

impl Default for Search<'_> {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            simd: Level::best(),
            nodes: Nodes::Pool,
            checkpoint: None,
            certify: Certify::No,
            progress: None,
            resumed: None,
            begins: None,
        }
    }
}

/// Where and how often to save a search.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The file.
    pub path: PathBuf,
    /// Time between two saves.
    pub every: Duration,
    /// The file of the search to resume, whatever its options.
    pub(crate) from: Option<PathBuf>,
}

impl Checkpoint {
    /// Saves to a file, twice a minute. A relative path is relative to the current directory, even if the process changes
    /// to another one.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let Save { path, every, .. } = Save::new(path, Self::EVERY);
        Self { path, every, from: None }
    }

    /// The default time between two saves.
    pub const EVERY: Duration = Duration::from_secs(30);
}

/// The value that solutions must beat, and how the first solution is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Best {
    /// None: every solution is an improvement.
    None,
    /// The solution of the NEH heuristic; flowshop only.
    Neh,
    /// The solution of good heuristics, which continue alongside the search.
    #[default]
    Search,
    /// This value; the result is `no-better` if no solution beats it.
    Value(i64),
    /// This value, which is published as the optimum: heuristics look for a solution of this value for
    /// at most a second, so that the proof comes with a solution.
    Reach(i64),
}

impl Best {
    /// Refuses the NEH heuristic, for a problem that does not have it.
    pub(crate) fn without_neh(self) -> Result<(), String> {
        if self == Best::Neh {
            return Err(
                "--best neh is for flowshop; expected none, optimum, search or a number".into()
            );
        }
        Ok(())
    }
}

impl fmt::Display for Best {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Best::None => f.write_str("none"),
            Best::Neh => f.write_str("neh"),
            Best::Search => f.write_str("search"),
            Best::Value(value) => write!(f, "{value}"),
            Best::Reach(value) => write!(f, "optimum {value}"),
        }
    }
}
