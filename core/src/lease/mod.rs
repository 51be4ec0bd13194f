//! Leases: who is answerable for work that another process holds, so that none is lost and none is
//! counted twice while processes join, leave and die.

mod certificate;
pub mod gateway;
mod holding;
mod mail;
mod message;
mod mutant;
mod name;
mod site;
mod timer;
mod trim;
pub(crate) mod wire;

pub use certificate::nested;
pub use certificate::{Certificate, Content, Rec};
pub use holding::Holding;
pub use message::{LeaseAction, LeaseMessage};
#[cfg(any(test, feature = "faults"))]
pub use mutant::LeaseMutant;
pub use name::{Held, Lease, SiteId};
pub use site::Site;
pub use timer::{LeaseTimer, Terms};
