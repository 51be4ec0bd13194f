//! Late giving: the messages between master and owner, and the changes to copies that a peer asks for.

use crate::search::work::Pack;
use crate::steal::ticket::{Fraction, PeerId, Ticket};

/// A message between the master and the owner of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pack)]
pub enum Recall {
    /// From the master: the attached work was given to another peer. Drop it, and acknowledge it under the ticket of
    /// that piece.
    Trim {
        /// The name of the piece that was given.
        ticket: Ticket,
    },
    /// To the master: the attached work is what is left of a piece.
    Left {
        /// The piece's name.
        ticket: Ticket,
    },
}

/// A change to copies that a peer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Split a copy. Give the part like any piece, and send the owner of the copy [`Recall::Trim`] with the same bytes.
    /// A peer that gives to itself takes the part at once: nothing is kept or sent.
    Give {
        /// The receiver.
        to: PeerId,
        /// The new piece's name.
        ticket: Ticket,
        /// The name of the copy.
        of: Ticket,
        /// The owner of the copy.
        owner: PeerId,
        /// The part of the copy to give.
        share: Fraction,
    },
    /// Reduce a copy to its intersection with the work that came with the message.
    Hold {
        /// The piece's name.
        ticket: Ticket,
    },
    /// Drop the work that came with the message from the peer's own work.
    Trim,
    /// Send peer 0 a copy of the peer's own work as [`Recall::Left`].
    Tell {
        /// The name of the piece that the work came from.
        ticket: Ticket,
    },
}
