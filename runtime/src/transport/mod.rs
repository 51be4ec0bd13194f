//! [`Transport`]: how messages and work travel between peers.

pub mod local;

use pleach_core::search::work::Work;
use pleach_core::steal::{Message, PeerId};
use std::sync::Arc;
use std::time::Duration;

/// A message on its way, with the work that goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerMessage {
    /// The sender.
    pub from: PeerId,
    /// The message.
    pub message: Message,
    /// The work that goes with a [`Message::Work`] or a [`Message::Late`], and with no other.
    pub work: Option<Arc<Work>>,
}

/// One peer's access to the mail.
///
/// Messages between two peers arrive in the order sent; no other order is guaranteed. Sending never
/// blocks.
pub trait Transport: Send {
    /// Sends a message to another peer.
    fn send(&mut self, to: PeerId, mail: PeerMessage);

    /// Takes the next message, if any.
    fn poll(&mut self) -> Option<PeerMessage>;

    /// Whether mail may be waiting; cheap enough to call every microsecond.
    fn waiting(&self) -> bool;

    /// Waits for mail, a wake-up, or the end of this time.
    fn wait(&mut self, at_most: Option<Duration>);
}
