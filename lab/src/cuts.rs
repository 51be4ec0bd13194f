//! [`Cuts`]: the snapshot under way in a model, and the check that it holds every unit once.

use super::work_set::{Account, Set};
use pleach_core::steal::{InFlight, PeerId, Ticket};
use std::collections::{BTreeMap, BTreeSet};

/// The snapshot under way.
///
/// Forgets what no check needs any more, to keep the number of states small.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Cuts {
    /// How many more snapshots may be requested.
    pub left: u8,
    epoch: u64,
    /// Peers that have not made their cut yet.
    missing: BTreeSet<usize>,
    /// Units done before the snapshot began, or since then by peers that have not made their cut.
    done: Set,
    /// Units held at the cuts so far.
    held: Vec<Set>,
    /// Pieces kept at the cuts, each with its receiver.
    kept: Vec<(Ticket, PeerId, Set)>,
    /// The last piece that each receiver had taken from each giver.
    taken: BTreeMap<(PeerId, PeerId), u64>,
    /// Requests a snapshot while one is under way, as a faulty driver would.
    pub impatient: bool,
    /// Forgets what was taken, as a faulty driver would.
    pub forgets_taken: bool,
    /// Omits kept pieces, as a faulty driver would.
    pub forgets_kept: bool,
}

impl Cuts {
    /// Whether a snapshot may be requested.
    pub fn possible(&self) -> bool {
        self.left > 0 && (self.missing.is_empty() || self.impatient)
    }

    /// Whether there will be no more snapshots.
    pub fn over(&self) -> bool {
        self.left == 0 && self.missing.is_empty()
    }

    /// Starts a snapshot of this number of peers, which have done these units. Returns its epoch.
    pub fn begin(&mut self, peers: usize, done: Set) -> u64 {
        self.left -= 1;
        self.epoch += 1;
        self.missing = (0..peers).collect();
        self.done = done;
        self.epoch
    }

    /// A peer has done a unit.
    pub fn on_done(&mut self, peer: usize, unit: u8) {
        if self.missing.contains(&peer) {
            self.done.insert(unit);
        }
    }

    /// Records a peer's cut: the units it holds and what is on its way. Once all peers have made their cut, the
    /// snapshot must hold every unit once.
    pub fn on_cut(
        &mut self,
        peer: usize,
        epoch: u64,
        units: Set,
        in_flight: InFlight<Set>,
        total: u8,
    ) -> Result<(), String> {
        if epoch != self.epoch || !self.missing.remove(&peer) {
            return Err(format!("peer {peer} cuts for epoch {epoch} of {}", self.epoch));
        }
        self.held.push(units);
        if !self.forgets_kept {
            self.kept.extend(in_flight.kept);
        }
        if !self.forgets_taken {
            let taken = in_flight.taken.into_iter();
            self.taken.extend(taken.map(|(giver, number)| ((peer as PeerId, giver), number)));
        }
        if self.missing.is_empty() {
            let mut account = Account::default();
            account.add(&self.done);
            self.held.iter().for_each(|units| account.add(units));
            let open = self.kept.iter().filter(|(ticket, to, _)| {
                self.taken.get(&(*to, ticket.giver)).is_none_or(|&last| last < ticket.number)
            });
            open.for_each(|(_, _, units)| account.add(units));
            account.close(total).map_err(|why| format!("inconsistent snapshot: {why}"))?;
            self.done = Set::default();
            self.held.clear();
            self.kept.clear();
            self.taken.clear();
        }
        Ok(())
    }

    /// Whether the snapshot has the cuts of all peers.
    pub fn complete(&self) -> bool {
        self.missing.is_empty()
    }
}
