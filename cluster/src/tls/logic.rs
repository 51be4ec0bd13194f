//! [`Logic`]: what the loop asks of the root's and of a joiner's side, both pure: frames and orders in,
//! frames and arrivals out. No socket, no clock.

use super::frame::{Frame, FrameFault};
use super::hello::{Hello, Refusal};
use super::outbox::FrameOutbox;
use crate::Rank;
use std::sync::Arc;
use std::time::Duration;

/// What a network may take and hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest message. The same for all sites, or messages are refused where it is smaller.
    pub message: usize,
    /// The longest welcome.
    pub welcome: usize,
    /// The most bytes that wait for one receiver. One that lets more wait is lost.
    pub waiting: usize,
    /// A connection that is silent for this long is lost; five seconds or so, never less than three.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let (message, welcome) = (64 << 20, 64 << 20);
        Self { message, welcome, waiting: 512 << 20, silence: Duration::from_secs(6) }
    }
}

/// Why a connection ends that the other side closes.
pub const CLOSED: &str = "its connection was closed";

/// What the caller wants.
pub enum HubCommand {
    /// A message, to the process that has this connection.
    Send { to: Rank, number: u32, bytes: Vec<u8> },
    /// No more messages.
    Finish,
    /// Somebody with the key asks to come in on this connection.
    JoinRequest { number: u32, hello: Hello },
    /// It may have this place.
    Admit { number: u32, site: Rank, welcome: Arc<[u8]> },
    /// It may not, now or for good.
    Refuse { number: u32, refusal: Refusal },
    /// The process at this place is cut off.
    Expel { site: Rank, reason: String },
    /// This connection's messages are not read, and too many wait.
    Flooded { number: u32 },
}

/// What the caller is told.
#[derive(Debug, PartialEq, Eq)]
pub enum Delivery {
    Message { from: Rank, number: u32, bytes: Vec<u8> },
    Joined { site: Rank, number: u32, bytes: Vec<u8> },
    Lost { site: Rank },
    End,
}

/// What the caller may know beside the network.
#[derive(Debug, PartialEq, Eq)]
pub enum HubEvent {
    /// Somebody asks to come in.
    JoinRequest { number: u32, hello: Hello },
    /// Something happened.
    Note(String),
    /// This joiner is in: its place, how many places there are, and the welcome.
    Welcome { site: Rank, places: u32, bytes: Vec<u8> },
    /// This joiner is not in.
    Refused(Refusal),
    /// This joiner has lost the root, for this reason.
    Gone(String),
}

/// The output.
#[derive(Debug, Default)]
pub struct HubOutput {
    pub deliveries: Vec<Delivery>,
    pub events: Vec<HubEvent>,
    /// Connections with something new to send.
    pub touched: Vec<u32>,
    /// Connections to end with a last word, if there is one.
    pub cut: Vec<(u32, Option<Refusal>)>,
}

/// One side of the star.
pub trait Logic: Send {
    /// Takes a frame. After a fault the connection is ended.
    fn frame(&mut self, number: u32, frame: Frame) -> Result<(), FrameFault>;

    /// Takes an order.
    fn order(&mut self, order: HubCommand);

    /// The connection is broken.
    fn gone(&mut self, number: u32, why: &str);

    /// Everything has left for a connection.
    fn flushed(&mut self, number: u32);

    /// What waits for a connection.
    fn outbox(&mut self, number: u32) -> Option<&mut FrameOutbox>;

    /// What has come out since.
    fn out(&mut self) -> &mut HubOutput;
}
