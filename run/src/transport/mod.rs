//! [`Transport`]: how messages and work get from one peer to another.

pub mod local;

use pleach_core::balance::{Message, PeerId};
use pleach_core::work::Work;
use std::sync::Arc;
use std::time::Duration;

/// A message on its way, with the work that goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// Who sent it.
    pub from: PeerId,
    /// What it says.
    pub message: Message,
    /// The work that goes with a [`Message::Work`].
    pub work: Option<Arc<Work>>,
}

/// One peer's access to the mail.
///
/// Messages from one peer to another arrive in the order in which they were sent; nothing else is
/// promised about order. Sending never waits.
pub trait Transport: Send {
    /// Sends to another peer.
    fn send(&mut self, to: PeerId, envelope: Envelope);

    /// Takes the next message, if one has come.
    fn poll(&mut self) -> Option<Envelope>;

    /// Whether mail may be waiting: cheap enough to be asked every microsecond.
    fn waiting(&self) -> bool;

    /// Waits until there is mail, the bell was rung, or the time is up.
    fn wait(&mut self, at_most: Option<Duration>);
}
