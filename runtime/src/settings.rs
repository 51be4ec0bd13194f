//! [`Settings`]: the parameters of a run.

use crate::cancel::Cancel;
use crate::devices::Devices;
use crate::error::{MOST_THREADS, RunError};
use crate::outcome::{Outcome, Watcher};
use crate::pause::Pause;
use crate::save::{Save, SaveNow};
use crate::worker_pool::WorkerPool;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Solution;
use pleach_core::steal::Policy;
use pleach_core::wire::checkpoint::Checkpoint;
use std::fmt::Debug;
use std::panic::RefUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Threads that search; at least one where there are no devices.
    pub threads: u32,
    /// Devices that search alongside the threads.
    pub devices: Option<Arc<dyn Devices>>,
    /// Whether every device that keeps a core busy replaces a thread.
    pub make_room: bool,
    /// Artificial slow-down factors of workers, by name. Others run at full speed.
    pub slow: Vec<(String, f64)>,
    /// The maximum number of nodes that a worker explores in a second; it sleeps when it is ahead.
    pub pace: Option<u64>,
    /// How work is balanced.
    pub policy: Policy,
    /// The value that a solution must beat. If none does, the outcome has no solution, and the value is proven to be a
    /// bound.
    pub best: Option<i64>,
    /// The incumbent to start from: other solutions must beat it. Its score is checked if the problem can.
    pub start: Option<Solution>,
    /// Whether a thread runs a heuristic alongside the search, where the problem has one. On in a `Solver`.
    pub improve: bool,
    /// Whether a tree is searched by layers first; by default, if it minimises or maximises, has
    /// [keys](pleach_core::search::tree::Tree::key), and is not searched best first. With several processes only on
    /// request: the first one then searches by layers. Does not apply to searches that are resumed after their layers.
    pub layers: Option<bool>,
    /// Whether threads explore the nodes with the best bounds first. Once memory is short, they search depth first.
    pub best_first: bool,
    /// Stops the search and its preparation, from any thread.
    pub cancel: Cancel,
    /// Pauses the search and its preparation, from any thread.
    pub pause: Pause,
    /// Stop after this time.
    pub time_limit: Option<Duration>,
    /// Stop after about this number of nodes.
    pub node_limit: Option<u64>,
    /// Stop once the whole process takes this many bytes more than when the run began, or a third of that if the run is
    /// saved, since the final save needs copies. The default is four fifths of the free memory.
    pub memory: Option<u64>,
    /// The seed for all random choices.
    pub seed: u64,
    /// Whether to record the activity of every worker.
    pub trace: bool,
    /// How long an idle worker polls for messages before it sleeps.
    pub spin: Duration,
    /// Time between two progress reports.
    pub progress_every: Duration,
    /// Where and how often to save the run.
    pub save: Option<Save>,
    /// Requests to save the run at once.
    pub save_now: SaveNow,
    /// The saved run to resume.
    pub resume: Option<Arc<Checkpoint>>,
    /// A description of the search, which is saved in files and sent to other processes.
    pub about: String,
    /// The processes of the search, if there are others.
    pub processes: Option<Arc<dyn ProcessGroup>>,
}

/// Processes that search together, including this one.
pub trait ProcessGroup: Debug + Send + Sync + RefUnwindSafe {
    /// Takes part in a search by all of them. If this process is not the root, the outcome is about its own part.
    ///
    /// # Errors
    /// If the machine, the network or the problem fails.
    fn run(
        &self,
        pool: &WorkerPool,
        problem: &dyn Problem,
        settings: &Settings,
        watch: &mut Watcher<'_>,
    ) -> Result<Outcome, RunError>;

    /// Whether this process is the root, which leads.
    fn leads(&self) -> bool;
}

impl Settings {
    /// The slow-down factor of a worker.
    pub(crate) fn slow_down(&self, worker: &str) -> f64 {
        let named = self.slow.iter().rev().find(|(name, _)| name == worker);
        named.map_or(1.0, |(_, factor)| *factor)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: cores().min(MOST_THREADS),
            devices: None,
            make_room: false,
            slow: Vec::new(),
            pace: None,
            policy: Policy::default(),
            best: None,
            start: None,
            improve: false,
            layers: None,
            best_first: false,
            cancel: Cancel::default(),
            pause: Pause::default(),
            time_limit: None,
            node_limit: None,
            memory: None,
            seed: 0,
            trace: false,
            spin: crate::transport::SPIN,
            progress_every: Duration::from_millis(100),
            save: None,
            save_now: SaveNow::default(),
            resume: None,
            about: String::new(),
            processes: None,
        }
    }
}

/// The number of cores that this process may use, as of the first call.
#[must_use]
pub fn cores() -> u32 {
    // The system reads several files to answer.
    static CORES: OnceLock<u32> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get() as u32))
}
