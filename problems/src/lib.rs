//! The problems that Pleach solves: each as a plain search tree, with faster explorers alongside it.

// The derived code of `Pack` says `pleach`.
extern crate pleach_core as pleach;

pub mod atsp;
pub mod clique;
mod files;
pub mod flowshop;
pub mod knapsack;
mod permutation;
pub mod qap;
pub mod queens;
pub mod simd;
pub mod uts;
