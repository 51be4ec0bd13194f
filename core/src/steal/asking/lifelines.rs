//! `lifelines`, after Saraswat et al. (PPoPP 2011), and `adaptive`, which first spreads work down a
//! tree.

use super::{Asking, Context, Next, random};
use crate::steal::policy::Policy;
use crate::steal::{Chooser, PeerId, Victim};

/// Where peers come and go, a waiting peer asks again after this many of the longest rests.
const AGAIN: u64 = 200;

impl Asking {
    /// The default: down the tree at the start, lifelines afterwards.
    pub(super) fn tree_then_lifelines(
        &mut self,
        context: &Context<'_>,
        chooser: &mut dyn Chooser,
    ) -> Next {
        if self.at_start(context.policy) {
            self.start(context)
        } else {
            self.lifelines(context, chooser)
        }
    }

    /// Whether the peer has never had work and waits for its share of the whole work.
    pub fn at_start(&self, policy: &Policy) -> bool {
        policy.victim == Victim::TreeThenLifelines && !self.served && !self.rested
    }

    /// Waits only at the parent, from which work spreads down the tree.
    fn start(&mut self, context: &Context<'_>) -> Next {
        match self.wait_at(context.place.parent().into_iter()) {
            // Work that does not arrive soon may never arrive.
            Next::Nothing => Next::Rest(context.policy.rests.longest_ns),
            wait => wait,
        }
    }

    /// Asks a few peers at random, then waits at its neighbours in a hypercube.
    pub(super) fn lifelines(&mut self, context: &Context<'_>, chooser: &mut dyn Chooser) -> Next {
        if self.asked() {
            Next::Nothing
        } else if self.refusals < context.policy.rests.patience {
            random(context, chooser)
        } else {
            match self.wait_at(context.neighbours()) {
                // A waiting request may be lost with the peer that had it, even if that peer comes back.
                Next::Nothing if context.others.is_some() => {
                    Next::Rest(context.policy.rests.longest_ns.saturating_mul(AGAIN))
                }
                next => next,
            }
        }
    }
}

impl Context<'_> {
    /// The neighbours of this peer in a hypercube of all present peers, in order.
    fn neighbours(&self) -> impl Iterator<Item = PeerId> {
        let all = self.others.map_or(self.peers, |others| others.len() as u32 + 1);
        let earlier = |others: &[PeerId]| others.partition_point(|&peer| peer < self.me) as u32;
        let rank = self.others.map_or(self.me, earlier);
        let dimensions = u32::BITS - (all - 1).leading_zeros();
        let ranks = (0..dimensions).map(move |bit| rank ^ (1 << bit)).filter(move |&it| it < all);
        ranks.map(move |it| match self.others {
            None => it,
            Some(others) => others[(if it < rank { it } else { it - 1 }) as usize],
        })
    }
}
