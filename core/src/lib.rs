//! The part of Pleach that is the same everywhere: contracts, work, balance and simulation.
//!
//! Nothing here starts a thread, reads a clock or touches a file, so the same input always gives
//! the same output: what a test or the simulator sees is what a run does.
#![forbid(unsafe_code)]

pub mod balance;
pub mod checkpoint;
pub mod device;
pub mod evaluate;
pub mod explorer;
pub mod gateway;
pub mod laws;
pub mod lease;
pub mod level;
pub mod looping;
pub mod problem;
pub mod ranked;
mod sample;
pub mod seed;
#[cfg(feature = "lab")]
pub mod sim;
pub mod tree;
pub mod wire;
pub mod work;
