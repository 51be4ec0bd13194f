//! `end=counter`: a shared counter of the workers that are not idle, and of the messages in flight that matter.
//!
//! A piece on its way is not counted itself: its giver is not idle until the receipt arrives, and the receiver joins
//! before it sends the receipt.

use super::super::message::Action;
use super::super::mutant::Mutant;
use super::super::policy::End;
use super::Peer;

impl Peer {
    /// Changes the counter, if it detects the end.
    pub(super) fn change_counter(&self, change: Action, actions: &mut Vec<Action>) {
        if self.policy.end == Some(End::Counter) {
            actions.push(change);
        }
    }

    /// Joins the counter again, now that there is work.
    pub(super) fn rejoin_counter(&mut self, actions: &mut Vec<Action>) {
        if std::mem::take(&mut self.left) {
            actions.push(Action::Join);
        }
    }

    /// Leaves the counter once no piece that the peer gave is on its way. Requests may stay unanswered.
    pub(super) fn leave_counter(&mut self, actions: &mut Vec<Action>) {
        let acknowledged = self.unacknowledged == 0 || self.is(Mutant::LeavesEarly);
        if acknowledged && self.copies.is_empty() && !self.left {
            self.left = true;
            actions.push(Action::Leave);
        }
    }
}
