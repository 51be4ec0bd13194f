//! Good schedules without proof: NEH, iterated greedy.

mod greedy;
mod insertion;
mod neh;

pub use greedy::Greedy;
pub use neh::neh;
