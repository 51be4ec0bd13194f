//! [`Copies`]: the master's record of the copies that it keeps.

use super::super::ticket::{PeerId, Ticket};

/// A piece given out, of which the master keeps a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopyOut {
    pub ticket: Ticket,
    /// The peer that has it.
    pub owner: PeerId,
    /// The copy's size as bits: the order of positive numbers is that of their bits.
    size: u64,
}

impl CopyOut {
    pub fn size(&self) -> f64 {
        f64::from_bits(self.size)
    }
}

/// All pieces given out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Copies {
    out: Vec<CopyOut>,
}

impl Copies {
    /// Adds a piece that is given out.
    pub fn add(&mut self, ticket: Ticket, owner: PeerId) {
        self.out.push(CopyOut { ticket, owner, size: 0 });
    }

    /// Notes that a copy is about to change: its new size is reported later.
    pub fn on_change(&mut self, ticket: Ticket) {
        self.on_size(ticket, 0.0);
    }

    /// Notes the size of a copy.
    pub fn on_size(&mut self, ticket: Ticket, size: f64) {
        if let Some(out) = self.out.iter_mut().find(|out| out.ticket == ticket) {
            out.size = size.max(0.0).to_bits();
        }
    }

    /// Removes the copies of a peer that has done all its work, and returns their names.
    pub fn on_done(&mut self, owner: PeerId) -> impl Iterator<Item = Ticket> {
        self.out.extract_if(.., move |out| out.owner == owner).map(|out| out.ticket)
    }

    /// Removes a piece that was not given after all.
    pub fn remove(&mut self, ticket: Ticket) {
        self.out.retain(|out| out.ticket != ticket);
    }

    /// Whether a peer has this piece.
    pub fn has(&self, ticket: Ticket, owner: PeerId) -> bool {
        self.out.iter().any(|out| out.ticket == ticket && out.owner == owner)
    }

    /// Whether no piece is given out.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The largest copy that can be split.
    pub fn largest(&self) -> Option<CopyOut> {
        self.out.iter().copied().filter(|out| out.size() >= 2.0).max_by_key(|out| out.size)
    }
}
