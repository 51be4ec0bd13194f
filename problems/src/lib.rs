//! The problems that Pleach brings: each a plain tree, and faster explorers beside it.

pub mod atsp;
pub mod flowshop;
pub mod knapsack;
mod permutation;
pub mod queens;
pub mod simd;
pub mod uts;
