//! Rules in which work comes from one direction only: a master, a broker, or parents in the tree.

use super::{Around, Asking, Next};

impl Asking {
    /// Waits at peer 0; only once if the division is even.
    pub(super) fn master(&mut self, around: &Around<'_>) -> Next {
        if around.me == 0 || self.served && around.policy.share.is_once() {
            return Next::Nothing;
        }
        self.wait_at([0].into_iter())
    }

    /// Waits at peer 0.
    pub(super) fn at_peer_0(&self, around: &Around<'_>) -> Next {
        self.wait_at((around.me > 0).then_some(0).into_iter())
    }

    /// Waits at the parent, and at the next inner peer on the same level.
    pub(super) fn parent(&self, around: &Around<'_>, siblings: bool) -> Next {
        let beside = around.overlay.beside().filter(|_| siblings);
        self.wait_at(around.overlay.parent().into_iter().chain(beside))
    }
}
