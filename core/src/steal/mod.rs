//! Work stealing: who gives how much to whom, and when all work is done.
//!
//! The protocol sees only numbers, messages and tickets. `README.md` in this folder describes it on one page.

mod asking;
mod broker;
mod chooser;
mod effects;
mod giving;
mod interpreter;
pub mod late;
mod ledger;
mod message;
mod mutant;
mod peer;
mod policy;
mod power;
mod quiet;
mod share;
mod subtree;
mod thieves;
mod ticket;
mod tree;

pub use chooser::{Chooser, SeededChooser};
pub use effects::{Effects, Violation};
pub use interpreter::Interpreter;
pub use ledger::{InFlight, Ledger};
pub use message::{Action, Event, Message};
pub use peer::Peer;
pub use policy::{End, PRESETS, Policy, Rests, Victim};
pub use power::Power;
pub use share::Share;
pub use thieves::Thief;
pub use ticket::{Fraction, PeerId, Ticket};
pub use tree::{Growth, PeerTree, TreePlace, TreeShape};

#[cfg(any(test, feature = "faults"))]
pub use mutant::Mutant;
