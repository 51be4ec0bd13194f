//! Trying the protocol: every schedule of a few peers, and simulated clusters of many.

pub mod chance;
mod checker;
pub mod cluster;
mod cluster_state;
#[cfg(feature = "faults")]
mod cuts;
#[cfg(feature = "faults")]
pub mod enumerate;
pub mod figures;
mod late;
#[cfg(feature = "faults")]
mod late_room;
#[cfg(feature = "faults")]
pub mod lease;
pub mod load;
pub mod machine;
pub mod network;
#[cfg(feature = "faults")]
mod pile;
#[cfg(feature = "faults")]
mod prints;
mod queue;
pub mod random_cluster;
pub mod recorded;
#[cfg(feature = "faults")]
mod room;
pub mod sites;
pub mod spans;
#[cfg(test)]
mod tests;
mod unit_effects;
#[cfg(feature = "faults")]
pub mod walk;
