//! The words of late giving: what master and owner tell each other, and what a peer wants done.

use crate::steal::ticket::{Fraction, PeerId, Ticket};

/// What the master and the owner of a piece tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recall {
    /// From the master: the work that comes with this message was given to another peer. Drop it, and
    /// acknowledge it under the ticket of that piece.
    Trim {
        /// The name of the piece that was given.
        ticket: Ticket,
    },
    /// To the master: the work that comes with this message is what is left of a piece.
    Left {
        /// The piece's name.
        ticket: Ticket,
    },
}

/// What a peer wants done with copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Split a copy. Give what was split off, as any piece, and send the owner of the copy
    /// [`Recall::Trim`] with the same bytes. A peer takes at once what it gives to itself: nothing is
    /// kept or sent then.
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
    /// Reduce a copy to what is also in the work that came with the message.
    Hold {
        /// The piece's name.
        ticket: Ticket,
    },
    /// Drop the work that came with the message from the peer's own work.
    Trim,
    /// Send peer 0 a copy of the own work as [`Recall::Left`].
    Tell {
        /// The name of the piece that the work came from.
        ticket: Ticket,
    },
}
