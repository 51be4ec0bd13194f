//! [`Logic`]: the interface between the loop and the root's or a joiner's side. Both sides are pure: frames and orders
//! in, frames and arrivals out; no socket, no clock.

use super::frame::{Frame, FrameFault};
use super::hello::{Contact, Hello, Refusal};
use super::outbox::FrameOutbox;
use super::secure::PublicKey;
use crate::Rank;
use std::sync::Arc;
use std::time::Duration;

/// The limits of a network on memory and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest message. It should be the same for all sites: where it is smaller, messages are refused.
    pub message: usize,
    /// The longest welcome.
    pub welcome: usize,
    /// The maximum number of bytes that wait for one receiver; a receiver for which more wait is lost. Twice as many
    /// may wait for the root. Messages that the root sends to several receivers do not count. A joiner that has not
    /// read this much of what the root sent takes no more off its socket until it has.
    pub waiting: usize,
    /// A connection that is silent for this long is lost. It should be about five seconds, and at least three.
    pub silence: Duration,
    /// The number of messages in about ten seconds after which two joiners open a direct link: then it saves more than
    /// its handshake and its signs of life cost.
    pub link_after: u32,
}

impl Default for Limits {
    fn default() -> Self {
        let (message, welcome) = (64 << 20, 64 << 20);
        Self {
            message,
            welcome,
            waiting: 512 << 20,
            silence: Duration::from_secs(6),
            link_after: 100,
        }
    }
}

/// The reason when the other side closes a connection.
pub const CLOSED: &str = "its connection was closed";

/// A command of the caller.
pub enum HubCommand {
    /// Send a message to the process with this connection.
    Send { to: Rank, number: u32, bytes: Vec<u8> },
    /// At the root: send it a message that others get, too.
    SendShared { to: Rank, number: u32, bytes: Arc<[u8]> },
    /// Announce that no more messages follow.
    Finish,
    /// An authenticated peer with this key calls on this connection: a joiner asks the root for a place, or another
    /// joiner for a direct link.
    JoinRequest { number: u32, hello: Hello, key: PublicKey },
    /// Give it this place.
    Admit { number: u32, site: Rank, welcome: Arc<[u8]> },
    /// Refuse it, for now or for good.
    Refuse { number: u32, refusal: Refusal },
    /// Cut off the process at this place.
    Expel { site: Rank, reason: String },
    /// Too many unread messages from this connection wait for the caller.
    Flooded { number: u32 },
}

/// An arrival for the caller.
#[derive(Debug, PartialEq, Eq)]
pub enum Delivery {
    Message { from: Rank, number: u32, bytes: Vec<u8> },
    Joined { site: Rank, number: u32, bytes: Vec<u8> },
    Lost { site: Rank },
    End,
}

/// An event other than the network's arrivals.
#[derive(Debug, PartialEq, Eq)]
pub enum HubEvent {
    /// A process asks to join.
    JoinRequest { number: u32, hello: Hello },
    /// A process that asked to join has gone before it was answered.
    Withdrawn { number: u32 },
    /// A line for the user.
    Note(String),
    /// This joiner was admitted: its place, the number of places, and the welcome.
    Welcome { site: Rank, places: u32, bytes: Vec<u8> },
    /// This joiner was refused.
    Refused(Refusal),
    /// This joiner has lost the root, for this reason.
    Gone(String),
}

/// The output of a side.
#[derive(Debug, Default)]
pub struct HubOutput {
    pub deliveries: Vec<Delivery>,
    pub events: Vec<HubEvent>,
    /// Sites of which a part of a long message has arrived.
    pub arriving: Vec<Rank>,
    /// Connections with something new to send.
    pub touched: Vec<u32>,
    /// Connections to end, with a last frame if there is one.
    pub cut: Vec<(u32, Option<Refusal>)>,
    /// Connections to open, under these numbers.
    pub connect: Vec<(u32, Contact)>,
}

/// One side of the star.
pub trait Logic: Send {
    /// Takes a frame. A fault ends the connection.
    fn handle_frame(&mut self, number: u32, frame: Frame) -> Result<(), FrameFault>;

    /// Takes a command.
    fn handle_command(&mut self, order: HubCommand);

    /// Handles a broken connection.
    fn on_disconnected(&mut self, number: u32, why: &str);

    /// Notes that half a second has passed.
    fn on_tick(&mut self);

    /// Notes that everything for a connection has been sent.
    fn on_flushed(&mut self, number: u32);

    /// The frames that wait for a connection.
    fn outbox(&mut self, number: u32) -> Option<&mut FrameOutbox>;

    /// The output since the last call.
    fn output_mut(&mut self) -> &mut HubOutput;
}
