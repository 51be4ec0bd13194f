//! [`Cuts`]: the snapshot that is being taken of a room, and whether it holds together.

use crate::balance::Ticket;
use std::collections::{BTreeMap, BTreeSet};

/// The snapshot under way, and what the next one needs to know.
///
/// Nothing that no snapshot can need any more is kept, so that states stay few.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Cuts {
    /// Snapshots that may still be asked for.
    pub left: u8,
    epoch: u64,
    /// Peers whose cut is still to come.
    missing: BTreeSet<usize>,
    /// Units in the snapshot: done before a cut, or in hand at one.
    saved: u8,
    /// Pieces kept at the cuts, with their units.
    kept: BTreeMap<Ticket, u8>,
    /// Of these, the ones that are not released yet.
    unsettled: BTreeSet<Ticket>,
    /// Tickets taken before the cuts.
    taken: BTreeSet<Ticket>,
    /// Tickets that each peer has taken since its last cut.
    recent: BTreeMap<usize, BTreeSet<Ticket>>,
    /// Forgets what was taken, as a faulty driver would.
    #[cfg(test)]
    pub forgets_taken: bool,
    /// Leaves kept pieces out, as a faulty driver would.
    #[cfg(test)]
    pub forgets_kept: bool,
}

impl Cuts {
    /// Whether a snapshot may be asked for: the last one must be settled.
    pub fn possible(&self) -> bool {
        self.left > 0 && self.missing.is_empty() && self.unsettled.is_empty()
    }

    /// Begins a snapshot of so many peers, who have done so many units; returns its epoch.
    pub fn begin(&mut self, peers: usize, done: u8) -> u64 {
        self.left -= 1;
        self.epoch += 1;
        self.missing = (0..peers).collect();
        self.saved = done;
        self.epoch
    }

    /// A peer has done a unit.
    pub fn on_done(&mut self, peer: usize) {
        self.saved += u8::from(self.missing.contains(&peer));
    }

    /// A peer has taken up a piece.
    pub fn on_taken(&mut self, peer: usize, ticket: Ticket) {
        if self.left > 0 || self.missing.contains(&peer) {
            self.recent.entry(peer).or_default().insert(ticket);
        }
    }

    /// A giver has released a piece.
    pub fn on_released(&mut self, ticket: Ticket) {
        self.unsettled.remove(&ticket);
        self.tidy();
    }

    /// A peer is written down, with the units in its hands and the pieces it keeps; once all are,
    /// every unit must be there once.
    pub fn on_cut(
        &mut self,
        peer: usize,
        epoch: u64,
        units: u8,
        kept: impl Iterator<Item = (Ticket, u8)>,
        total: u8,
    ) -> Result<(), String> {
        if epoch != self.epoch || !self.missing.remove(&peer) {
            return Err(format!("peer {peer} cuts for epoch {epoch} of {}", self.epoch));
        }
        self.saved += units;
        let kept: Vec<_> = kept.collect();
        self.unsettled.extend(kept.iter().map(|&(ticket, _)| ticket));
        if !self.forgets_kept() {
            self.kept.extend(kept);
        }
        let recent = self.recent.remove(&peer).unwrap_or_default();
        if !self.forgets_taken() {
            self.taken.extend(recent);
        }
        if self.missing.is_empty() {
            let open = self.kept.iter().filter(|(ticket, _)| !self.taken.contains(ticket));
            let all = self.saved + open.map(|(_, units)| units).sum::<u8>();
            if all != total {
                return Err(format!("a snapshot of {all} units instead of {total}: {self:?}"));
            }
            self.tidy();
        }
        Ok(())
    }

    /// Forgets a snapshot that is complete.
    fn tidy(&mut self) {
        if self.missing.is_empty() {
            self.saved = 0;
            self.kept.clear();
            self.taken.clear();
        }
    }

    /// Whether every peer was written down that was asked for.
    pub fn complete(&self) -> bool {
        self.missing.is_empty()
    }

    #[cfg(test)]
    fn forgets_taken(&self) -> bool {
        self.forgets_taken
    }

    #[cfg(test)]
    fn forgets_kept(&self) -> bool {
        self.forgets_kept
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self)]
    const fn forgets_taken(&self) -> bool {
        false
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self)]
    const fn forgets_kept(&self) -> bool {
        false
    }
}
