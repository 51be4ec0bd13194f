//! Leases: who answers for work that another process holds, so that none is lost or counted twice while
//! processes join, leave and die.

pub mod gateway;
mod handling;
mod holding;
mod message;
mod mutant;
mod name;
mod progress_report;
mod site;
mod timer;
mod trim;
pub(crate) mod wire;

pub use holding::Holding;
pub use message::{LeaseAction, LeaseMessage};
#[cfg(any(test, feature = "faults"))]
pub use mutant::LeaseMutant;
pub use name::{HoldingId, Lease, SiteId};
pub use progress_report::nested;
pub use progress_report::{Content, ProgressReport, Rec};
pub use site::Site;
pub use timer::{LeaseTimer, Terms};
