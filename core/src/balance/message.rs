//! The words of the protocol: what peers say to each other, and what driver and peer do.

use super::share::Power;

/// A peer's number: 0 to n − 1, peer 0 starts with the whole work and ends the run.
pub type PeerId = u32;

/// The name of a piece of work that was given: the giver's number and the giver's count of gifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket {
    /// Who gave the piece.
    pub giver: PeerId,
    /// Which of the giver's pieces it is.
    pub number: u64,
}

/// What one peer tells another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// "I have nothing to do": asks for work.
    Ask {
        /// How fast the thief is.
        power: Power,
        /// Peers for whom it asks: itself and all below it in the tree; 0 if for itself alone.
        units: u32,
        /// Whether it waits until there is work; else it wants an answer.
        waits: bool,
    },
    /// From a broker: give to this thief, in its name.
    Pass {
        /// Who asks.
        thief: PeerId,
        /// How fast the thief is.
        power: Power,
    },
    /// The answer to `Pass`.
    Passed {
        /// Whether the thief was given something.
        served: bool,
        /// Open nodes left.
        load: u64,
    },
    /// To a broker: so many open nodes are here.
    Load {
        /// How many.
        load: u64,
    },
    /// "There is work here": whoever waits or had nothing does not any more.
    Unpark,
    /// "Nor have I": the answer to an `Ask` that brings no work.
    Refuse,
    /// The answer to an `Ask` that brings work; the bytes travel beside it.
    Work {
        /// The piece's name.
        ticket: Ticket,
        /// The sender's epoch.
        epoch: u64,
    },
    /// "I have it": the piece is the receiver's from now on.
    Ack {
        /// The piece's name.
        ticket: Ticket,
        /// The sender's epoch.
        epoch: u64,
    },
    /// From a master who keeps copies: what travels beside was given to another one, drop it. It is
    /// acknowledged like that piece itself.
    Trim {
        /// The name of the piece that was given.
        ticket: Ticket,
    },
    /// To a master who keeps copies: what travels beside is left of a piece.
    Left {
        /// The piece's name.
        ticket: Ticket,
    },
    /// Along the tree: a solution of this score is known, where units do not share a memory.
    Best {
        /// The score: lower is better.
        score: i64,
    },
    /// Down the tree: a new epoch begins with a cut.
    Snapshot {
        /// The epoch that begins.
        epoch: u64,
    },
    /// Down the tree: say when you are idle.
    Wave,
    /// Up the tree: all below are idle and have together sent and received so many pieces.
    Report {
        /// Pieces of work sent.
        sent: u64,
        /// Pieces of work received.
        received: u64,
    },
    /// Down the tree: all work is done.
    Done,
}

impl Message {
    /// Whether it is talk about who has work: that alone may still be on its way at the end, when
    /// nobody waits for it.
    #[must_use]
    pub fn is_talk(&self) -> bool {
        use Message::{Ask, Load, Pass, Passed, Refuse, Unpark};
        matches!(self, Ask { .. } | Refuse | Unpark | Pass { .. } | Passed { .. } | Load { .. })
    }
}

/// What happened to a peer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A piece was split off, or dropped by [`Action::Trim`]: the size says what is left.
    Gave,
    /// A copy that is kept has changed, by [`Action::Hold`] or by giving: comes before all other events.
    Holds {
        /// The piece's name.
        ticket: Ticket,
        /// Its size now.
        size: f64,
    },
    /// Its explorer ran for a while; there is work left if the size says so.
    Stepped {
        /// Nodes explored.
        nodes: u64,
        /// Time spent exploring them.
        busy_ns: u64,
    },
    /// A message came. The work that comes with [`Message::Work`] counts as at hand, and waits for
    /// [`Action::Take`].
    Mail {
        /// Who sent it.
        from: PeerId,
        /// What it says.
        message: Message,
    },
    /// The time asked for by [`Action::WakeAt`] has come.
    Woke,
    /// [`Action::Leave`] has brought the shared counter to zero: all is done.
    AllIdle,
    /// The own explorer found a solution of this score, and other units cannot see that by themselves.
    Found {
        /// The score: lower is better.
        score: i64,
    },
    /// Peer 0 only: all peers are to be written down. The last snapshot must be settled: every piece
    /// that was kept at one of its cuts has been released.
    Snapshot {
        /// The epoch that begins: one more than the last.
        epoch: u64,
    },
}

/// What a piece is split off from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The own work.
    Own,
    /// A copy that is kept of a piece that is out. Its owner is to be sent [`Message::Trim`] with the
    /// new piece beside it.
    Held {
        /// The name of the piece that is out.
        ticket: Ticket,
        /// Who has it.
        owner: PeerId,
    },
}

/// What a peer wants done, in this order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Send a message; beside [`Message::Left`] a copy of the own work.
    Send {
        /// To whom.
        to: PeerId,
        /// What.
        message: Message,
    },
    /// Split off a share, keep its bytes under the ticket, send it as `Work`. What a peer gives to itself
    /// it takes up at once: nothing is kept or sent.
    Give {
        /// To whom.
        to: PeerId,
        /// The piece's name.
        ticket: Ticket,
        /// The giver's epoch, to be sent along.
        epoch: u64,
        /// What to split.
        from: Source,
        /// The part of it to give.
        share: f64,
    },
    /// Of the bytes kept under a ticket keep only what came with the message, too.
    Hold {
        /// The piece's name.
        ticket: Ticket,
    },
    /// Drop of the own work what came with the message; then say `Gave`.
    Trim,
    /// Take up the work that came with the message.
    Take {
        /// The piece's name.
        ticket: Ticket,
    },
    /// Write down, as it is now: the work at hand, what was counted, the pieces kept, and the tickets
    /// of those taken since the last cut.
    Cut {
        /// The epoch that begins.
        epoch: u64,
    },
    /// Look only for solutions better than this: another unit knows one.
    Beat {
        /// The score: lower is better.
        score: i64,
    },
    /// Forget the bytes kept under a ticket: the receiver has them.
    Release {
        /// The piece's name.
        ticket: Ticket,
    },
    /// Count one more in the counter that all units share: before what follows.
    Join,
    /// Count one less there; if that leaves none, say [`Event::AllIdle`].
    Leave,
    /// Wake the peer at a time, unless mail comes first.
    WakeAt {
        /// The time, on the clock of `now_ns`.
        at_ns: u64,
    },
    /// All work of all peers is done: stop.
    Finish,
}
