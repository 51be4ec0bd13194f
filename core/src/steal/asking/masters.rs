//! Rules under which work comes from one direction only: a master, a broker, or parents in the tree.

use super::{Asking, Context, Next};

impl Asking {
    /// Waits at peer 0, or at the peer that divides what peer 0 gives.
    pub(super) fn at_the_center(&self, context: &Context<'_>) -> Next {
        let divider = context.policy.divider(context.peers).filter(|&divider| divider < context.me);
        self.wait_at((context.me > 0).then_some(divider.unwrap_or(0)).into_iter())
    }

    /// Waits at the parent, and at the next inner peer on the same level.
    pub(super) fn parent(&self, context: &Context<'_>, siblings: bool) -> Next {
        let beside = context.place.beside().filter(|_| siblings);
        self.wait_at(context.place.parent().into_iter().chain(beside))
    }
}
