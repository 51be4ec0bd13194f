//! Asking one peer after another, at random or in a ring, with rests in between.

use super::{Around, Asking, Next, random};
use crate::balance::Chooser;

impl Asking {
    pub(super) fn at_random(&mut self, around: &Around<'_>, chooser: &mut dyn Chooser) -> Next {
        self.rest(around).unwrap_or_else(|| Next::Ask(random(around, chooser)))
    }

    pub(super) fn in_a_ring(&mut self, around: &Around<'_>) -> Next {
        self.rest(around).unwrap_or_else(|| {
            self.turn = self.turn % (around.peers - 1) + 1;
            Next::Ask((around.me + self.turn) % around.peers)
        })
    }

    /// Rests after a few refusals, twice as long each time; `None` if it is time to ask.
    fn rest(&mut self, around: &Around<'_>) -> Option<Next> {
        if self.asked() {
            return Some(Next::Nothing);
        }
        let policy = around.policy;
        if self.refusals < policy.rests.patience {
            return None;
        }
        let rest_ns = policy.rests.first_ns.saturating_mul(1 << self.rests.min(32));
        // Rests at their longest need not be counted.
        self.rests += u32::from(rest_ns < policy.rests.longest_ns);
        Some(Next::Rest(rest_ns.min(policy.rests.longest_ns)))
    }
}
