//! `end=counter`: units that are not idle, and messages on their way that matter, counted by all together.
//!
//! A piece on its way needs no count of its own: its giver is not idle until the receipt has come, and
//! the receiver counts itself before it sends that.

use super::super::message::Action;
use super::super::policy::End;
use super::{Mutant, Peer};

impl Peer {
    /// Counts, if that is how the end is found.
    pub(super) fn count(&self, what: Action, actions: &mut Vec<Action>) {
        if self.policy.end == Some(End::Counter) {
            actions.push(what);
        }
    }

    /// Has work: it counts again, if it did not.
    pub(super) fn come_back(&mut self, actions: &mut Vec<Action>) {
        if std::mem::take(&mut self.left) {
            actions.push(Action::Join);
        }
    }

    /// Idle, and nothing that it gave is on its way: it counts no more. Questions need not be waited for.
    pub(super) fn leave(&mut self, actions: &mut Vec<Action>) {
        let settled = self.unacknowledged == 0 || self.is(Mutant::LeavesEarly);
        if settled && self.copies.is_empty() && !self.left {
            self.left = true;
            actions.push(Action::Leave);
        }
    }
}
