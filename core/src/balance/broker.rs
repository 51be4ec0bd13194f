//! [`Broker`]: peer 0 of `master-worker`, who knows how much each peer has and passes questions on.

use super::PeerId;
use super::hungry::{Hungry, Thief};

/// What the master knows of its workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Broker {
    /// What each peer had when it last said so: none for those who cannot give.
    loads: Vec<u64>,
    /// Peers that were asked to give, and to whom.
    passed: Vec<(PeerId, Thief)>,
}

impl Broker {
    /// Takes note of what a peer has.
    pub fn on_load(&mut self, peer: PeerId, load: u64) {
        let at = peer as usize;
        if self.loads.len() <= at {
            self.loads.resize(at + 1, 0);
        }
        self.loads[at] = load;
    }

    /// A peer that was asked to give has answered: one it could not serve goes on waiting.
    pub fn on_passed(&mut self, peer: PeerId, served: bool, load: u64, hungry: &mut Hungry) {
        self.on_load(peer, load);
        if let Some(at) = self.passed.iter().position(|(asked, _)| *asked == peer) {
            let (_, thief) = self.passed.remove(at);
            if !served && !hungry.has(thief.peer) {
                hungry.add(thief);
            }
        }
    }

    /// Passes the first question on to whoever has most, if that is more than `own`; each is asked
    /// one at a time.
    pub fn pass(&mut self, own: f64, hungry: &mut Hungry) -> Option<(PeerId, Thief)> {
        // Most often nobody asks, and there is nothing to look for.
        if hungry.is_empty() {
            return None;
        }
        let free = |(peer, _): &(PeerId, u64)| self.passed.iter().all(|(asked, _)| asked != peer);
        let loads = (0..).zip(self.loads.iter().copied());
        let (most, load) = loads.filter(free).max_by_key(|&(_, load)| load)?;
        if load < 2 || load as f64 <= own {
            return None;
        }
        let thief = hungry.next()?;
        self.passed.push((most, thief));
        Some((most, thief))
    }
}

/// A load on a rough scale: a change that does not show there need not be reported.
pub(super) fn rough(load: u64) -> u32 {
    u64::BITS - load.leading_zeros()
}
