//! [`Settings`]: how a run goes about its search.

use crate::executor::gpu::spec::Spec;
use crate::save::{Save, SaveNow};
use crate::sites::Cluster;
use pleach_core::balance::Policy;
use pleach_core::checkpoint::Checkpoint;
use pleach_core::tree::Solution;
use std::sync::Arc;
use std::time::Duration;

/// How a run goes about its search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Threads that search; at least one where there are no devices.
    pub threads: u32,
    /// Devices that search beside them.
    pub devices: Vec<Spec>,
    /// Whether every GPU in use takes the place of a thread, since driving it needs a core.
    pub make_room: bool,
    /// Artificial slow-down factors of units, by name. Others run at full speed.
    pub slow: Vec<(String, f64)>,
    /// The most nodes that a unit explores in a second; it sleeps when it is ahead.
    pub pace: Option<u64>,
    /// How work is balanced.
    pub policy: Policy,
    /// The value that a solution must beat. If none does, there is no solution, and the value is proven to be a
    /// bound.
    pub best: Option<i64>,
    /// The incumbent to start from: other solutions must beat it. Its score is checked if the problem can.
    pub start: Option<Solution>,
    /// Whether a thread runs a heuristic beside the search, where the problem has one.
    pub improve: bool,
    /// Stop after this time.
    pub time_limit: Option<Duration>,
    /// Stop after about this number of nodes.
    pub node_limit: Option<u64>,
    /// Stop once open work takes more memory than this, in bytes; four fifths of what is free if it is not given.
    pub memory: Option<u64>,
    /// The seed for all random choices.
    pub seed: u64,
    /// Whether to record the activity of every unit.
    pub trace: bool,
    /// How long an idle unit polls for mail before it sleeps.
    pub spin: Duration,
    /// Time between two progress reports.
    pub look_every: Duration,
    /// Where and how often to save the run.
    pub save: Option<Save>,
    /// Requests to save the run at once.
    pub save_now: SaveNow,
    /// The saved run to resume.
    pub resume: Option<Arc<Checkpoint>>,
    /// What the search is, in words that a file keeps, and that other processes are told.
    pub about: String,
    /// The processes that search together, if this one is not alone.
    pub cluster: Option<Arc<Cluster>>,
}

impl Settings {
    /// The slow-down factor of a unit.
    pub(crate) fn slow_down(&self, unit: &str) -> f64 {
        let named = self.slow.iter().rev().find(|(name, _)| name == unit);
        named.map_or(1.0, |(_, factor)| *factor)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: cores(),
            devices: Vec::new(),
            make_room: false,
            slow: Vec::new(),
            pace: None,
            policy: Policy::default(),
            best: None,
            start: None,
            improve: false,
            time_limit: None,
            node_limit: None,
            memory: None,
            seed: 0,
            trace: false,
            spin: crate::transport::local::SPIN,
            look_every: Duration::from_millis(100),
            save: None,
            save_now: SaveNow::default(),
            resume: None,
            about: String::new(),
            cluster: None,
        }
    }
}

/// The number of cores that this process may use.
#[must_use]
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}
