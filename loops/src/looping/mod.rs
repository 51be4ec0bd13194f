//! Loops of independent units: threads take them from the front, devices from the back, and nobody waits for anybody.

#[cfg(not(loom))]
mod barrier;
mod both_ends;
#[cfg(not(loom))]
mod contract;
#[cfg(not(loom))]
mod cut;
#[cfg(not(loom))]
mod device;
#[cfg(not(loom))]
mod hands;
#[cfg(not(loom))]
mod remote;
#[cfg(not(loom))]
mod report;
#[cfg(not(loom))]
mod run;
#[cfg(not(loom))]
mod run_loop;
mod seen;
#[cfg(not(loom))]
mod settings;
mod share;
#[cfg(all(test, loom))]
mod share_loom;
mod sizes;
#[cfg(not(loom))]
mod slab_device;
#[cfg(not(loom))]
mod steps;

pub use both_ends::BothEnds;
#[cfg(not(loom))]
pub use contract::*;
#[cfg(not(loom))]
pub use remote::ShareLoops;
#[cfg(not(loom))]
pub use report::{LoopReport, LoopSite, Part};
#[cfg(not(loom))]
pub use run::RunLoops;
#[cfg(not(loom))]
pub use run_loop::LoopOutcome;
#[cfg(not(loom))]
pub use seen::TakerSnapshot;
#[cfg(not(loom))]
pub use settings::{LoopSettings, LoopSnapshot};
pub use sizes::Sizes;
#[cfg(not(loom))]
pub use steps::{StepsOutcome, Stops};
