//! [`Copies`]: what peer 0 of `master-worker:late` knows of the copies that it keeps.

use super::message::{PeerId, Ticket};

/// A piece that is out, and of which a copy is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Out {
    pub ticket: Ticket,
    /// Who has it.
    pub owner: PeerId,
    /// The copy's size as bits: those of two positive numbers are in the order of the numbers.
    size: u64,
}

impl Out {
    pub fn size(&self) -> f64 {
        f64::from_bits(self.size)
    }
}

/// All pieces that are out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Copies {
    out: Vec<Out>,
}

impl Copies {
    /// A piece goes out.
    pub fn add(&mut self, ticket: Ticket, owner: PeerId) {
        self.out.push(Out { ticket, owner, size: 0 });
    }

    /// A copy is about to change: how large it is then is told later.
    pub fn on_change(&mut self, ticket: Ticket) {
        self.on_size(ticket, 0.0);
    }

    /// Takes note of a copy's size.
    pub fn on_size(&mut self, ticket: Ticket, size: f64) {
        if let Some(out) = self.out.iter_mut().find(|out| out.ticket == ticket) {
            out.size = size.max(0.0).to_bits();
        }
    }

    /// A peer has done what it had: the names of the copies that nobody needs any more.
    pub fn on_done(&mut self, owner: PeerId) -> impl Iterator<Item = Ticket> {
        self.out.extract_if(.., move |out| out.owner == owner).map(|out| out.ticket)
    }

    /// Whether a piece is out.
    pub fn has(&self, ticket: Ticket) -> bool {
        self.out.iter().any(|out| out.ticket == ticket)
    }

    /// Whether none is out.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The largest copy that can be split.
    pub fn largest(&self) -> Option<Out> {
        self.out.iter().copied().filter(|out| out.size() >= 2.0).max_by_key(|out| out.size)
    }
}
