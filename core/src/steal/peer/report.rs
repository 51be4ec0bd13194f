//! `share=subtree-power`: how peers report the power of their subtrees up the tree.

use super::super::message::{Action, Message};
use super::super::power::Power;
use super::super::share::Share;
use super::super::ticket::PeerId;
use super::{Peer, send};

impl Peer {
    /// Whether shares depend on the powers of subtrees.
    fn compares_subtrees(&self) -> bool {
        self.policy.share == Share::SubtreePower
    }

    /// The power that a share compares with that of another peer: of the whole subtree, or of this peer alone.
    pub(super) fn compared_power(&self) -> Power {
        if !self.compares_subtrees() {
            return self.power();
        }
        // Where peers come and go, only those that have reported are known to be there.
        let size = if self.others.is_some() { 0 } else { self.place.size() };
        self.subtree.total(self.power(), size)
    }

    /// Records the power of a child's subtree.
    pub(super) fn record_report(&mut self, from: PeerId, power: Power, peers: u32) {
        if self.compares_subtrees() && self.place.is_child(from) {
            self.subtree.record(from, power, peers);
        }
    }

    /// Reports the power of the subtree to the parent, if it has changed.
    pub(super) fn report_power(&mut self, actions: &mut Vec<Action>) {
        let Some(parent) = self.place.parent().filter(|_| self.compares_subtrees()) else { return };
        let power = self.compared_power();
        if self.subtree.reports(power) {
            send(parent, Message::Below { power, peers: self.place.size() }, actions);
        }
    }
}
