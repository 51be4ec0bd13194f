//! Simulates sites: processes of several workers that join, leave, die and come back, with the actual peers, gateways and
//! leases of a real run.

mod effects;
mod figures;
mod fleet;
mod fleet_state;
mod happen;
mod incidents;
pub mod random;
mod site_inside;
#[cfg(test)]
mod tests;
mod world;

pub use figures::{Occupancy, SiteFigures};
pub use fleet::{Fleet, SiteClass};
pub use incidents::Churn;
