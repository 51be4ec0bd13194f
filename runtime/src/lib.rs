//! Searches on the threads of one process: clocks, messages between workers, the loop of a worker, limits and files.
//!
//! With `--cfg loom`, only the primitives that threads share are built, for loom to test.

// The derived code of `Pack` says `pleach`.
extern crate pleach_core as pleach;

pub mod control;
pub mod sync;
pub mod transport;

#[cfg(not(loom))]
pub mod activity;
#[cfg(not(loom))]
mod cancel;
#[cfg(not(loom))]
pub mod check;
#[cfg(not(loom))]
pub mod devices;
#[cfg(not(loom))]
mod done_estimate;
#[cfg(not(loom))]
pub mod driver;
#[cfg(not(loom))]
pub mod error;
#[cfg(not(loom))]
pub mod executor;
#[cfg(not(loom))]
pub mod gather;
#[cfg(not(loom))]
mod host;
#[cfg(not(loom))]
mod layers;
#[cfg(not(loom))]
mod lock;
#[cfg(not(loom))]
mod memory;
#[cfg(not(loom))]
pub mod on_drop;
#[cfg(not(loom))]
pub mod outcome;
#[cfg(not(loom))]
mod outcome_wire;
#[cfg(not(loom))]
mod pace;
#[cfg(not(loom))]
mod pause;
#[cfg(not(loom))]
mod pins;
#[cfg(not(loom))]
mod profile;
#[cfg(not(loom))]
mod recorded;
#[cfg(not(loom))]
pub mod run_state;
#[cfg(not(loom))]
pub mod save;
#[cfg(not(loom))]
pub mod settings;
#[cfg(not(loom))]
pub mod site_state;
#[cfg(not(loom))]
mod standard;
#[cfg(not(loom))]
pub mod start;
#[cfg(not(loom))]
mod timed_improver;
#[cfg(not(loom))]
pub mod watch;
#[cfg(not(loom))]
pub mod worker_counters;
#[cfg(not(loom))]
mod worker_io;
#[cfg(not(loom))]
pub mod worker_pool;
#[cfg(not(loom))]
pub mod workers;

#[cfg(not(loom))]
pub use crate::{
    cancel::Cancel,
    control::Stop,
    error::RunError,
    host::host,
    layers::{SaveTimes, by_layers},
    lock::{Lock, real_path},
    memory::usable_memory,
    outcome::{
        Balance, Outcome, ProgressSnapshot, SiteEnd, SiteReport, SiteSnapshot, SitesSnapshot,
        WorkerReport, WorkerSnapshot, gap,
    },
    pause::Pause,
    recorded::Recorded,
    save::{Save, SaveNow, load},
    settings::{Settings, cores},
    standard::output_was_closed,
    start::run,
    worker_pool::WorkerPool,
};
