//! The part of Pleach that is the same everywhere: search, stealing, leases, and their encodings.
//!
//! Nothing here starts a thread, reads a clock or touches a file, so the same input always gives the same output:
//! what a test or the simulator sees is what a run does.
#![forbid(unsafe_code)]

// The derived code of `Pack` says `pleach`, here and in all crates above.
extern crate self as pleach;

pub mod lease;
pub mod search;
pub mod steal;
pub mod wire;

pub use search::work::{Malformed, Pack, Reader};
