//! [`Ledger`]: the pieces that a peer gave and that are not acknowledged yet, and what a snapshot must know of pieces
//! on their way.

use super::ticket::{PeerId, Ticket};
use std::collections::BTreeMap;

/// A piece that is kept until its receiver has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct KeptPiece<P> {
    to: PeerId,
    piece: P,
}

/// The bytes behind every ticket, from the moment a piece is given until it is acknowledged.
///
/// For pieces taken, the last ticket of each giver is enough: messages between two peers keep their order, so a peer
/// takes the pieces of one giver in the order of their tickets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ledger<P> {
    kept: BTreeMap<Ticket, KeptPiece<P>>,
    /// The last ticket taken from each giver, where snapshots may be taken.
    taken: Option<BTreeMap<PeerId, u64>>,
}

/// A snapshot's record of the pieces on their way to and from one peer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InFlight<P> {
    /// Pieces given but not acknowledged, each with its receiver.
    pub kept: Vec<(Ticket, PeerId, P)>,
    /// The number of the last piece taken from each giver.
    pub taken: Vec<(PeerId, u64)>,
}

impl<P> Default for InFlight<P> {
    fn default() -> Self {
        Self { kept: Vec::new(), taken: Vec::new() }
    }
}

impl<P: Clone> Ledger<P> {
    /// An empty ledger; `snapshots` says whether snapshots of the run may be taken.
    pub(super) fn new(snapshots: bool) -> Self {
        Self { kept: BTreeMap::new(), taken: snapshots.then(BTreeMap::new) }
    }

    /// Keeps a piece. Returns whether the ticket is new.
    pub(super) fn insert(&mut self, ticket: Ticket, to: PeerId, piece: P) -> bool {
        self.kept.insert(ticket, KeptPiece { to, piece }).is_none()
    }

    /// The piece kept under a ticket.
    pub(super) fn piece_mut(&mut self, ticket: Ticket) -> Option<&mut P> {
        self.kept.get_mut(&ticket).map(|kept| &mut kept.piece)
    }

    /// Whether this piece awaits an acknowledgement by this peer.
    pub(super) fn awaits(&self, ticket: Ticket, from: PeerId) -> bool {
        self.kept.get(&ticket).is_some_and(|kept| kept.to == from)
    }

    /// Notes that a piece was taken.
    pub(super) fn record_taken(&mut self, ticket: Ticket) {
        if let Some(taken) = &mut self.taken {
            taken.insert(ticket.giver, ticket.number);
        }
    }

    /// Whether a snapshot may still be taken.
    #[cfg(feature = "faults")]
    pub(super) fn records_snapshots(&self) -> bool {
        self.taken.is_some()
    }

    /// No further snapshot will be taken.
    #[cfg(feature = "faults")]
    pub(super) fn end_snapshots(&mut self) {
        self.taken = None;
    }

    /// Forgets a piece. Returns whether it was kept.
    pub(super) fn release(&mut self, ticket: Ticket) -> bool {
        self.kept.remove(&ticket).is_some()
    }

    /// The record for a snapshot.
    pub(super) fn in_flight(&self) -> InFlight<P> {
        let kept = self.kept.iter().map(|(&ticket, kept)| (ticket, kept.to, kept.piece.clone()));
        let taken = self.taken.iter().flatten().map(|(&giver, &number)| (giver, number));
        InFlight { kept: kept.collect(), taken: taken.collect() }
    }

    /// All pieces kept.
    pub fn pieces(&self) -> impl Iterator<Item = (Ticket, &P)> {
        self.kept.iter().map(|(&ticket, kept)| (ticket, &kept.piece))
    }

    /// The number of pieces kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no piece is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}
