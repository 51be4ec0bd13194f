//! The protocol's messages between peers, and the events and actions between a peer and its interpreter.

use super::late::messages::{Change, Recall};
use super::power::Power;
use super::thieves::Thief;
use super::ticket::{Fraction, PeerId, Ticket};
use crate::search::work::Pack;

/// A message from one peer to another. The order of the kinds is part of the wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pack)]
pub enum Message {
    /// "I have no work": asks for some.
    Ask {
        /// The thief's speed.
        power: Power,
        /// The number of peers it asks for: itself and its subtree, or 0 if it asks for itself alone.
        workers: u32,
        /// Whether it waits until there is work. Otherwise it expects an answer.
        waits: bool,
    },
    /// From a broker: "Give to this thief on my behalf."
    Pass {
        /// The thief.
        thief: PeerId,
        /// The thief's speed.
        power: Power,
    },
    /// The answer to `Pass`.
    Passed {
        /// Whether the thief was given something.
        served: bool,
        /// Open nodes left.
        load: u64,
    },
    /// To a broker: the number of open nodes here.
    Load {
        /// Open nodes.
        load: u64,
    },
    /// "There is work here now": cancels a wait, or an earlier refusal.
    Unpark,
    /// The answer to an `Ask` that brings no work.
    Refuse,
    /// The answer to an `Ask` that brings work. The bytes travel with it.
    Work {
        /// The piece's name.
        ticket: Ticket,
        /// The sender's epoch.
        epoch: u64,
    },
    /// "I have it": the piece now belongs to the receiver.
    Ack {
        /// The piece's name.
        ticket: Ticket,
        /// The sender's epoch.
        epoch: u64,
    },
    /// Along the tree: a solution with this score is known. Needed where workers share no memory.
    Best {
        /// The score: lower is better.
        score: i64,
    },
    /// Down the tree: a new epoch begins with a cut.
    Snapshot {
        /// The epoch that begins.
        epoch: u64,
    },
    /// Down the tree: report when you are idle.
    Wave,
    /// Up the tree: the whole subtree is idle, and has sent and received this many pieces.
    Report {
        /// Pieces of work sent.
        sent: u64,
        /// Pieces of work received.
        received: u64,
    },
    /// Down the tree: all work is done.
    Done,
    /// Between the master of `master-worker:late` and an owner.
    Late(Recall),
    /// Up the tree: the power of the sender's subtree. Needed where shares depend on it.
    Below {
        /// The sum of the powers.
        power: Power,
        /// The number of peers.
        peers: u32,
    },
}

impl Message {
    /// Whether the message is only about who has work, or how fast peers are. At the end of a run only such messages may
    /// still be on their way, since nobody waits for them.
    #[must_use]
    pub fn is_talk(&self) -> bool {
        use Message::{Ask, Below, Load, Pass, Passed, Refuse, Unpark};
        let about_brokers = matches!(self, Pass { .. } | Passed { .. } | Load { .. });
        about_brokers || matches!(self, Ask { .. } | Refuse | Unpark | Below { .. })
    }

    /// Whether sites send it to one another. Between them, work and acknowledgements travel with leases, which also decide
    /// the end; the remaining kinds are sent only within a process.
    #[must_use]
    pub(crate) fn is_between_sites(&self) -> bool {
        use Message::Done;
        self.is_talk() || matches!(self, Done)
    }

    /// Whether the message brings work that its receiver must take.
    #[must_use]
    pub fn brings_work(&self) -> bool {
        matches!(self, Message::Work { .. })
    }
}

/// An event for a peer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The explorer ran for a while. The size shows whether there is work left.
    Stepped {
        /// Nodes explored.
        nodes: u64,
        /// Time spent exploring them.
        busy_ns: u64,
    },
    /// A message arrived. The work that comes with [`Message::Work`] counts as present, and waits for [`Action::Take`].
    Message {
        /// The sender.
        from: PeerId,
        /// The message.
        message: Message,
    },
    /// The time asked for by [`Action::WakeAt`] has come.
    Woke,
    /// All open nodes are as deep as [`Peer::explores_down_to`](super::Peer::explores_down_to) demanded.
    ReachedDepth {
        /// The depth that it demanded when the worker began.
        depth: u32,
    },
    /// The worker cannot explore down to that depth, because memory is short: it explores depth first.
    EndedDescent,
    /// A piece was split off. The size shows what is left.
    Gave,
    /// A piece that the peer wanted to give could not be split off.
    NotSplit {
        /// The intended receiver.
        thief: Thief,
    },
    /// All work is done: [`Action::Leave`] has brought the shared counter to zero, or no lease is left.
    AllIdle,
    /// The worker's own explorer found a solution with this score. Needed where workers share no memory.
    Found {
        /// The score: lower is better.
        score: i64,
    },
    /// Work came from a source other than a peer, and is already among the worker's own.
    Refilled,
    /// The peer has work, but less than it should hold ready for others: it asks for more.
    Short,
    /// A peer has joined, where peers come and go.
    Came {
        /// The peer.
        peer: PeerId,
    },
    /// A peer is gone: it will not answer, and its requests are void.
    Lost {
        /// The peer.
        peer: PeerId,
    },
    /// Peer 0 only: take a snapshot. The previous one must be complete: every peer has made its cut. Where a counter
    /// detects the end, this event counts as a message on its way.
    Snapshot {
        /// The epoch that begins: one more than the last.
        epoch: u64,
    },
}

impl Event {
    /// Whether it brings work that the peer must take.
    #[must_use]
    pub fn brings_work(&self) -> bool {
        matches!(self, Event::Message { message, .. } if message.brings_work())
    }
}

/// An action that a peer asks for. Actions are carried out in the order in which the peer lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Send a message.
    Send {
        /// The receiver.
        to: PeerId,
        /// The message.
        message: Message,
    },
    /// Split off a share of the work, keep its bytes under the ticket, and send them as `Work`.
    Give {
        /// The receiver.
        thief: Thief,
        /// The piece's name.
        ticket: Ticket,
        /// The part of the work to give.
        share: Fraction,
    },
    /// Take the work that came with the message.
    Take {
        /// The piece's name.
        ticket: Ticket,
    },
    /// Record the work, the counts, the pieces kept, and the last ticket taken from each peer.
    Cut {
        /// The epoch that begins.
        epoch: u64,
    },
    /// Look only for solutions better than this score, which another worker knows.
    UpdateIncumbent {
        /// The score: lower is better.
        score: i64,
    },
    /// Forget the bytes kept under a ticket: the receiver has them.
    Release {
        /// The piece's name.
        ticket: Ticket,
    },
    /// Add one to the counter that all workers share.
    Join,
    /// Subtract one from that counter. If that leaves zero, [`Event::AllIdle`] follows.
    Leave,
    /// Wake the peer at this time, unless a message comes first.
    WakeAt {
        /// The time, on the clock of `now_ns`.
        at_ns: u64,
    },
    /// All work of all peers is done: stop.
    Finish,
    /// An action that only `master-worker:late` needs.
    Late(Change),
}
