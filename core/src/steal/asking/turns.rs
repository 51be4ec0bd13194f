//! Asking one peer after another, at random or in a ring, with rests in between.

use super::{Asking, Context, Next, random};
use crate::steal::Chooser;

impl Asking {
    pub(super) fn at_random(&mut self, context: &Context<'_>, chooser: &mut dyn Chooser) -> Next {
        self.rest(context).unwrap_or_else(|| random(context, chooser))
    }

    pub(super) fn in_a_ring(&mut self, context: &Context<'_>) -> Next {
        self.rest(context).unwrap_or_else(|| {
            self.turn = self.turn % (context.peers - 1) + 1;
            Next::Ask((context.me + self.turn) % context.peers)
        })
    }

    /// Rests after a few refusals, twice as long each time; `None` if it is time to ask.
    fn rest(&mut self, context: &Context<'_>) -> Option<Next> {
        if self.asked() {
            return Some(Next::Nothing);
        }
        let policy = context.policy;
        if self.refusals < policy.rests.patience {
            return None;
        }
        let rest_ns = policy.rests.first_ns.saturating_mul(1 << self.rests.min(32));
        // The count need not grow once rests are at their longest.
        self.rests += u32::from(rest_ns < policy.rests.longest_ns);
        Some(Next::Rest(rest_ns.min(policy.rests.longest_ns)))
    }
}
