//! [`Broker`]: peer 0 of `master-worker`, which knows every peer's load and passes requests on.

use super::PeerId;
use super::thieves::{Thief, Thieves};

/// The broker's knowledge of the other peers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Broker {
    /// Each peer's load when it last reported; 0 for peers that cannot give.
    loads: Vec<u64>,
    /// Victims that have yet to answer, each with its thief.
    passed: Vec<(PeerId, Thief)>,
}

impl Broker {
    /// Records a peer's load.
    pub fn on_load(&mut self, peer: PeerId, load: u64) {
        let at = peer as usize;
        if self.loads.len() <= at {
            self.loads.resize(at + 1, 0);
        }
        self.loads[at] = load;
    }

    /// Records that a peer has no work.
    pub fn on_empty(&mut self, peer: PeerId) {
        if let Some(load) = self.loads.get_mut(peer as usize) {
            *load = 0;
        }
    }

    /// Records a victim's answer: a thief that it could not serve keeps waiting.
    pub fn on_passed(&mut self, peer: PeerId, served: bool, load: u64, thieves: &mut Thieves) {
        self.on_load(peer, load);
        if let Some(at) = self.passed.iter().position(|(asked, _)| *asked == peer) {
            let (_, thief) = self.passed.remove(at);
            if !served && !thieves.contains(thief.peer) {
                thieves.add(thief);
            }
        }
    }

    /// Passes the first request on to the peer with the greatest load, if that exceeds `own`. No
    /// peer gets a second request before it has answered the first.
    pub fn pass(&mut self, own: f64, thieves: &mut Thieves) -> Option<(PeerId, Thief)> {
        // In most calls there is no request.
        if thieves.is_empty() {
            return None;
        }
        let free = |(peer, _): &(PeerId, u64)| self.passed.iter().all(|(asked, _)| asked != peer);
        let loads = (0..).zip(self.loads.iter().copied());
        let (most, load) = loads.filter(free).max_by_key(|&(_, load)| load)?;
        if load < 2 || load as f64 <= own {
            return None;
        }
        let thief = thieves.next()?;
        self.passed.push((most, thief));
        Some((most, thief))
    }
}

/// A load on a coarse scale: a change that does not show on it is not worth reporting.
pub(super) fn log2_load(load: u64) -> u32 {
    u64::BITS - load.leading_zeros()
}
