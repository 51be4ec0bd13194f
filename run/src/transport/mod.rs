//! [`Transport`]: how messages and work get from one peer to another.

pub mod local;

use pleach_core::balance::PeerId;
pub use pleach_core::wire::Envelope;
use std::time::Duration;

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
