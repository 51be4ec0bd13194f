//! Trying the protocol: every schedule of a few peers, and simulated clusters of many.

pub mod chance;
mod checker;
pub mod cluster;
mod cuts;
pub mod enumerate;
pub mod figures;
mod floor;
mod late;
pub mod lease;
pub mod load;
pub mod machine;
pub mod network;
mod pile;
mod prints;
mod queue;
pub mod random_cluster;
pub mod recorded;
mod room;
mod seat;
pub mod sites;
pub mod spans;
#[cfg(test)]
mod tests;
pub mod walk;
