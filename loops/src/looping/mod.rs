//! Runs loops of independent units: threads take units from the front, devices from the back, without waiting.

#[cfg(not(loom))]
mod barrier;
#[cfg(not(loom))]
mod contract;
#[cfg(not(loom))]
mod cut;
#[cfg(not(loom))]
mod device;
#[cfg(not(loom))]
mod exchange;
mod loop_queue;
#[cfg(all(test, loom))]
mod loop_queue_loom;
#[cfg(not(loom))]
mod loop_thread;
#[cfg(not(loom))]
mod phase;
mod range_deque;
#[cfg(not(loom))]
mod remote;
#[cfg(not(loom))]
mod report;
#[cfg(not(loom))]
mod run_loop;
#[cfg(not(loom))]
mod settings;
mod sizes;
#[cfg(not(loom))]
mod slab_device;
#[cfg(not(loom))]
mod steps;
mod taker_progress;
#[cfg(not(loom))]
mod team;
#[cfg(not(loom))]
mod tile_queue;

#[cfg(not(loom))]
pub use contract::*;
pub use range_deque::RangeDeque;
#[cfg(not(loom))]
pub use remote::ShareLoops;
#[cfg(not(loom))]
pub use report::{LoopReport, Part};
#[cfg(not(loom))]
pub use run_loop::{LoopOutcome, run_loop};
#[cfg(not(loom))]
pub use settings::{LoopSettings, LoopSnapshot};
pub use sizes::Sizes;
#[cfg(not(loom))]
pub use steps::{StepsOutcome, Stops, run_steps};
#[cfg(not(loom))]
pub use taker_progress::TakerSnapshot;
