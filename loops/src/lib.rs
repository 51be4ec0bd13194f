//! Loops of independent work, each with plain code and with vector code.
//!
//! A loop says what one range of its units computes, and never who computes it: that is the engine's affair. Nothing
//! here starts a thread, reads a clock or opens a file.

mod bytes;
pub mod lattice;
pub mod png;
pub mod rays;
pub mod real;
mod simd;
pub mod sparse;
