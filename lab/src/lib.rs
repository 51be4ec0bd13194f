//! Tests the protocol: enumerates every schedule of a few peers, and simulates clusters of many.

pub mod any_load;
pub mod chance;
mod checker;
pub mod cluster;
mod cluster_state;
#[cfg(feature = "faults")]
mod cuts;
pub mod device;
#[cfg(feature = "faults")]
pub mod enumerate;
pub mod figures;
#[cfg(feature = "faults")]
mod fingerprints;
pub mod hub;
mod late;
#[cfg(feature = "faults")]
mod late_model;
#[cfg(feature = "faults")]
pub mod lease;
pub mod load;
pub mod machine;
#[cfg(feature = "faults")]
mod model;
pub mod network;
mod queue;
pub mod random_cluster;
pub mod recorded;
#[cfg(feature = "faults")]
mod shared;
pub mod sites;
mod slots;
pub mod spans;
#[cfg(test)]
mod tests;
#[cfg(feature = "faults")]
pub mod walk;
#[cfg(feature = "faults")]
mod work_set;
mod worker_effects;
