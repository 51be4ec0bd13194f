//! Loops of independent work, each with plain code and with vector code.
//!
//! A loop says what one range of its units computes, and never who computes it: that is the affair of `looping`. No
//! other folder starts a thread, reads a clock or opens a file.

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
