//! All of Pleach that touches a machine: threads, clocks, mail between units, and the loop of a unit.
//!
//! Only what loom tests, the primitives that threads share, is built with `--cfg loom`.

#![cfg_attr(not(feature = "gpu"), allow(dead_code))]

mod control;
pub mod looping;
mod sync;
pub mod transport;

#[cfg(not(loom))]
pub mod activity;
#[cfg(not(loom))]
mod body;
#[cfg(not(loom))]
mod driver;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
pub mod executor;
#[cfg(not(loom))]
mod gather;
#[cfg(not(loom))]
mod gauge;
#[cfg(not(loom))]
mod late;
#[cfg(not(loom))]
mod lock;
#[cfg(not(loom))]
mod memory;
#[cfg(not(loom))]
mod outcome;
#[cfg(not(loom))]
mod pace;
#[cfg(not(loom))]
mod pins;
#[cfg(not(loom))]
mod profile;
#[cfg(not(loom))]
mod run_state;
#[cfg(not(loom))]
mod save;
#[cfg(not(loom))]
mod settings;
#[cfg(not(loom))]
mod side;
#[cfg(not(loom))]
mod sites;
#[cfg(not(loom))]
mod standard;
#[cfg(not(loom))]
mod start;
#[cfg(not(loom))]
mod units;
#[cfg(not(loom))]
mod watch;
#[cfg(not(loom))]
mod worker_pool;

#[cfg(not(loom))]
pub use control::Stop;
#[cfg(not(loom))]
pub use error::RunError;
#[cfg(not(loom))]
pub use lock::Lock;
#[cfg(not(loom))]
pub use outcome::{
    Balance, Outcome, Parting, Sight, SiteReport, SiteSight, SitesSight, UnitReport, UnitSight,
};
#[cfg(not(loom))]
pub use save::{Save, SaveNow, load};
#[cfg(not(loom))]
pub use settings::{Settings, cores};
#[cfg(not(loom))]
pub use sites::{Cluster, Entered, First, JoinTicket, Order, Return, Waker};
#[cfg(not(loom))]
pub use standard::output_was_closed;
#[cfg(not(loom))]
pub use start::run;
#[cfg(not(loom))]
pub use worker_pool::WorkerPool;
