//! [`Ledger`]: the bytes behind every piece of work that was given and not yet acknowledged.

use pleach_core::balance::Ticket;
use pleach_core::work::Work;
use std::collections::HashMap;
use std::sync::Arc;

/// Ticket to bytes, from the moment a piece is given until its receiver has said that it has it.
#[derive(Default)]
pub(crate) struct Ledger {
    pieces: HashMap<Ticket, Arc<Work>>,
}

impl Ledger {
    /// Keeps a piece.
    pub fn keep(&mut self, ticket: Ticket, work: Arc<Work>) {
        self.pieces.insert(ticket, work);
    }

    /// Forgets a piece.
    pub fn release(&mut self, ticket: Ticket) {
        self.pieces.remove(&ticket);
    }

    /// The least bound of all pieces kept.
    pub fn least_bound(&self) -> i64 {
        self.pieces.values().map(|piece| piece.least_bound).min().unwrap_or(i64::MAX)
    }

    /// Pieces kept.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }
}
