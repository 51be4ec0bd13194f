//! Search: what a problem is, the work that its tree can be split into, and explorers that consume work.

pub mod device;
pub mod evaluate;
pub mod explorer;
pub mod inside;
pub mod laws;
pub mod level;
pub mod problem;
pub mod ranked;
pub mod region;
pub(crate) mod sample;
pub mod seed;
pub mod tree;
pub mod work;
