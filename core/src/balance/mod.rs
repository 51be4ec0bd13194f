//! Who gives how much to whom, and when all is done: numbers, messages and tickets only.
//!
//! The protocol is on one page in `README.md` beside this file.

mod asking;
mod broker;
mod chooser;
pub mod host;
mod hungry;
pub mod late;
mod ledger;
mod message;
mod mutant;
mod peer;
mod policy;
mod quiet;
mod share;
mod tree;

pub use chooser::{Chooser, Seeded};
pub use host::{Host, Law, Verbs};
pub use ledger::{Ledger, OnTheWay};
pub use message::{Action, Event, Message, Part, PeerId, Ticket};
pub use peer::Peer;
pub use policy::{End, PRESETS, Policy, Rests, TreeShape, Victim};
pub use share::{Power, Share};
pub use tree::{Growth, PeerTree, TreePlace};

#[cfg(test)]
pub(crate) use mutant::Mutant;
