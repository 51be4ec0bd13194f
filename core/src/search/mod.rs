//! Search: what a problem is, the work that its tree can be split into, and explorers that consume work.

pub mod backtrack;
mod best_first;
pub mod depth_first;
pub mod device;
pub mod evaluate;
pub mod explorer;
mod found;
pub mod inside;
pub mod laws;
pub mod layers;
pub mod level;
#[doc(hidden)]
pub mod named;
pub mod problem;
pub mod ranked;
pub mod real;
pub mod region;
pub(crate) mod sample;
pub mod seed;
pub mod tree;
pub mod work;
