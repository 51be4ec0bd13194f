//! `master-worker:late`, the master and workers of paper C (Vu et al., CLUSTER 2012), for comparison: all
//! that only this policy needs is in this folder.
//!
//! Peer 0 keeps a copy of every piece that is out, and gives from the largest copy at once. The owner
//! of that copy hears of it later, so some nodes are explored twice.

mod carry;
mod copies;
mod master;

pub(super) use carry::carry_out;
pub(super) use copies::Copies;

use super::host;
use super::message::{Part, PeerId, Ticket};

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
        share: Part,
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

/// What is left of a copy, and what was split off, if it can be split.
pub type Split<P> = (P, Option<P>);

/// What a driver must be able to do with copies.
pub trait Verbs: host::Verbs {
    /// A copy of the own work.
    ///
    /// # Errors
    /// If the work cannot be written down.
    fn copy(&mut self) -> Result<Self::Piece, Self::Error>;

    /// Splits a copy: what is left of it, and what was split off, if it can be split.
    ///
    /// # Errors
    /// If the copy cannot be read.
    fn split_copy(
        &mut self,
        copy: &Self::Piece,
        share: f64,
    ) -> Result<Split<Self::Piece>, Self::Error>;

    /// What is both in a copy and in what its owner says is left.
    ///
    /// # Errors
    /// If either cannot be read.
    fn intersect(
        &mut self,
        copy: &Self::Piece,
        left: &Self::Piece,
    ) -> Result<Self::Piece, Self::Error>;

    /// Drops from the own work what was given to another peer, and counts what of it was explored
    /// already.
    ///
    /// # Errors
    /// If the piece cannot be read.
    fn trim(&mut self, away: &Self::Piece) -> Result<(), Self::Error>;
}
