//! [`LoopSettings`]: how to run a loop; [`LoopSnapshot`]: its progress.

use super::sizes::Sizes;
use super::taker_progress::TakerSnapshot;
use pleach_cluster::Cluster;
use pleach_gpu::spec::Spec;
use pleach_runtime::settings::cores;
use std::sync::Arc;
use std::time::Duration;

/// How to run a loop.
#[derive(Clone, Debug)]
pub struct LoopSettings {
    /// The number of threads.
    pub threads: u32,
    /// Devices that run the loop alongside the threads.
    pub devices: Vec<Spec>,
    /// Artificial slow-down factors of workers, by name. All others run at full speed.
    pub slow: Vec<(String, f64)>,
    /// How many units are taken at a time.
    pub sizes: Sizes,
    /// Time between two progress snapshots.
    pub progress_every: Duration,
    /// The processes that share it; `None` if this process is alone. All of them run the same loops, one after the
    /// other.
    pub cluster: Option<Arc<Cluster>>,
}

impl Default for LoopSettings {
    fn default() -> Self {
        let progress_every = Duration::from_millis(100);
        let (devices, slow, sizes) = (Vec::new(), Vec::new(), Sizes::Measured);
        Self { threads: cores(), devices, slow, sizes, progress_every, cluster: None }
    }
}

/// The progress of a loop.
#[derive(Clone, Debug, Default)]
pub struct LoopSnapshot {
    /// Units done.
    pub done: u64,
    /// Total units.
    pub units: u64,
    /// Time since the loop started.
    pub seconds: f64,
    /// The threads and devices of this process, then the other processes that were given something.
    pub takers: Vec<TakerSnapshot>,
}
