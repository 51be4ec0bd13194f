//! Tests leases: a small model in which every order of events is played, with faults of every kind.

#[cfg(test)]
mod arbitrary;
mod bits;
mod explore;
#[cfg(test)]
mod hostile;
mod judge;
mod lease_model;
mod moves;
pub mod settings;

mod walk;

pub use explore::{Seen, every_order};
pub use lease_model::Budget;
pub use walk::random_order;
#[cfg(test)]
mod tests;
