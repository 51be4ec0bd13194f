//! `end=counter`: a shared counter of the units that are not idle, and of the messages on their way that
//! matter.
//!
//! A piece on its way needs no count of its own: its giver is not idle until the receipt comes, and the
//! receiver joins before it sends the receipt.

use super::super::message::Action;
use super::super::mutant::Mutant;
use super::super::policy::End;
use super::Peer;

impl Peer {
    /// Changes the counter, if that is how the end is found.
    pub(super) fn count(&self, change: Action, actions: &mut Vec<Action>) {
        if self.policy.end == Some(End::Counter) {
            actions.push(change);
        }
    }

    /// Joins the counter again, now that there is work.
    pub(super) fn come_back(&mut self, actions: &mut Vec<Action>) {
        if std::mem::take(&mut self.left) {
            actions.push(Action::Join);
        }
    }

    /// Leaves the counter once nothing that the peer gave is on its way. Questions need no answer.
    pub(super) fn leave(&mut self, actions: &mut Vec<Action>) {
        let acknowledged = self.unacknowledged == 0 || self.is(Mutant::LeavesEarly);
        if acknowledged && self.copies.is_empty() && !self.left {
            self.left = true;
            actions.push(Action::Leave);
        }
    }
}
