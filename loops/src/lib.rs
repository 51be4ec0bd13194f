//! Loops of independent work, with plain code and vector code for each.
//!
//! A loop says what a range of its units computes, and never who computes it: `looping` decides that. No other folder
//! starts a thread, reads a clock or opens a file.

// The derived code of `Pack` says `pleach`.
extern crate pleach_core as pleach;

#[cfg(not(loom))]
mod bytes;
#[cfg(not(loom))]
pub mod lattice;
pub mod looping;
#[cfg(not(loom))]
pub mod png;
#[cfg(not(loom))]
pub mod rays;
#[cfg(not(loom))]
pub mod real;
#[cfg(not(loom))]
mod simd;
#[cfg(not(loom))]
pub mod sparse;
#[cfg(not(loom))]
mod vtk;
