//! [`LoopSettings`]: how a loop is run; and [`LoopSnapshot`], how far it is.

use super::sizes::Sizes;
use super::taker_progress::TakerSnapshot;
use pleach_cluster::Cluster;
use pleach_gpu::spec::Spec;
use pleach_runtime::settings::cores;
use std::sync::Arc;
use std::time::Duration;

/// How a loop is run.
#[derive(Clone, Debug)]
pub struct LoopSettings {
    /// Threads.
    pub threads: u32,
    /// Devices that run the loop beside them.
    pub devices: Vec<Spec>,
    /// Artificial slow-down factors of units, by name. Others run at full speed.
    pub slow: Vec<(String, f64)>,
    /// How many units are taken at a time.
    pub sizes: Sizes,
    /// Time between two looks at it.
    pub progress_every: Duration,
    /// The processes that share it; none if this one is alone. All of them run the same loops, one after the other.
    pub cluster: Option<Arc<Cluster>>,
}

impl Default for LoopSettings {
    fn default() -> Self {
        let progress_every = Duration::from_millis(100);
        let (devices, slow, sizes) = (Vec::new(), Vec::new(), Sizes::Measured);
        Self { threads: cores(), devices, slow, sizes, progress_every, cluster: None }
    }
}

/// A loop under way.
#[derive(Clone, Debug, Default)]
pub struct LoopSnapshot {
    /// Units done.
    pub done: u64,
    /// All units.
    pub units: u64,
    /// Since the loop began.
    pub seconds: f64,
    /// The threads and devices of this process, then the other processes that have had a part of it.
    pub takers: Vec<TakerSnapshot>,
}
