//! All of Pleach that touches a machine: threads, clocks, mail between units, and the one loop.

#[cfg(not(loom))]
mod activity;
mod control;
#[cfg(not(loom))]
mod driver;
#[cfg(not(loom))]
pub mod executor;
#[cfg(not(loom))]
mod late;
#[cfg(not(loom))]
mod launch;
#[cfg(not(loom))]
mod ledger;
#[cfg(not(loom))]
mod lock;
#[cfg(not(loom))]
mod outcome;
#[cfg(not(loom))]
mod save;
#[cfg(not(loom))]
mod side;
mod sync;
pub mod transport;
#[cfg(not(loom))]
mod units;
#[cfg(not(loom))]
mod watch;

#[cfg(not(loom))]
pub use activity::Activity;
pub use control::Stop;
#[cfg(not(loom))]
pub use launch::{RunError, Settings, cores, run};
#[cfg(not(loom))]
pub use lock::Lock;
#[cfg(not(loom))]
pub use outcome::{Balance, Outcome, Sight, UnitReport};
#[cfg(not(loom))]
pub use save::{Save, load};
