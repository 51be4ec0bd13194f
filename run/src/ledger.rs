//! [`Ledger`]: the bytes behind every piece of work that was given and not yet acknowledged.

use pleach_core::balance::Ticket;
use pleach_core::work::Work;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Ticket to bytes, from the moment a piece is given until its receiver has said that it has it; and
/// what a snapshot must know of pieces on their way.
#[derive(Default)]
pub(crate) struct Ledger {
    pieces: HashMap<Ticket, Arc<Work>>,
    /// Pieces that were kept at the last cut and still are.
    unsettled: HashSet<Ticket>,
    /// Tickets of the pieces taken since the last cut, where someone wants to know.
    taken: Option<Vec<Ticket>>,
}

impl Ledger {
    /// Keeps a piece.
    pub fn keep(&mut self, ticket: Ticket, work: Arc<Work>) {
        self.pieces.insert(ticket, work);
    }

    /// A piece that is kept.
    pub fn copy(&self, ticket: Ticket) -> Arc<Work> {
        self.pieces.get(&ticket).map(Arc::clone).unwrap_or_default()
    }

    /// A ledger for a run of which snapshots are taken.
    pub fn for_snapshots() -> Self {
        Self { taken: Some(Vec::new()), ..Self::default() }
    }

    /// Takes note of a piece that was taken.
    pub fn take(&mut self, ticket: Ticket) {
        if let Some(taken) = &mut self.taken {
            taken.push(ticket);
        }
    }

    /// Forgets a piece; says whether it was kept at the last cut.
    pub fn release(&mut self, ticket: Ticket) -> bool {
        self.pieces.remove(&ticket);
        self.unsettled.remove(&ticket)
    }

    /// The pieces kept, and the tickets of those taken since the last cut.
    pub fn cut(&mut self) -> (Vec<(Ticket, Arc<Work>)>, Vec<Ticket>) {
        self.unsettled.extend(self.pieces.keys());
        let kept = self.pieces.iter().map(|(&ticket, work)| (ticket, Arc::clone(work)));
        (kept.collect(), self.taken.as_mut().map(std::mem::take).unwrap_or_default())
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
