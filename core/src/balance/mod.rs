//! Who gives how much to whom, and when it is over: numbers, messages and tickets only.
//!
//! The protocol is on one page in `README.md` beside this file.

mod asking;
mod broker;
mod chooser;
mod copies;
mod hungry;
mod message;
mod overlay;
mod peer;
mod policy;
mod quiet;
mod share;

pub use chooser::{Chooser, Seeded};
pub use message::{Action, Event, Message, PeerId, Source, Ticket};
pub use overlay::{Growth, Lineage, Overlay};
pub use peer::Peer;
pub use policy::{End, Policy, Victim};
pub use share::{Power, Share};

#[cfg(test)]
pub(crate) use peer::Mutant;
