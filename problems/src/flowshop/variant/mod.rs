//! Flowshops with other objectives than the makespan, and with side conditions.
//!
//! Schedules are built from the front. What matters of a partial schedule is when each machine becomes free (its
//! fronts), what it costs so far, the set of jobs left, and with setup times its last job.

mod anneal;
mod base;
mod beam;
mod greedy;
mod improve;
mod lanes;
mod layers;
mod model;
mod objective;
mod places;
mod preemptive;
mod remaining;
mod rest;
mod set_bounds;
mod table;
#[cfg(test)]
mod tests;
mod tree;

pub use lanes::Passing;
pub use layers::{Layers, LayersEnd, LayersLimits, LayersProgress};
pub use model::{MOST_JOBS_BY_LAYERS, Variant};
pub use objective::Objective;
pub use tree::VariantTree;
