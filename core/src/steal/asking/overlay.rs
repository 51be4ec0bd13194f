//! `overlay`, after Vu et al. (CLUSTER 2012): down the tree, up the tree, and over a bridge.

use super::{Asking, Context, Next};
use crate::steal::{Chooser, PeerId};

impl Asking {
    /// Waits at the bridge. Meanwhile asks the children in random order, except those that have asked or have nothing,
    /// and then waits at the parent.
    pub(super) fn overlay(
        &mut self,
        context: &Context<'_>,
        bridges: bool,
        chooser: &mut dyn Chooser,
    ) -> Next {
        let parent = context.place.parent();
        // Where the tree changes, a request that waits elsewhere already serves as the bridge.
        let bridged = self.waiting.iter().any(|&peer| Some(peer) != parent);
        let bridge = context.place.bridge().filter(|_| bridges && !bridged);
        if let next @ Next::Wait(_) = self.wait_at(bridge.into_iter()) {
            return next;
        }
        if self.asked() {
            return Next::Nothing;
        }
        let open = |&child: &PeerId| {
            context.is_present(child)
                && !context.thieves.contains(child)
                && !self.empty.contains(&child)
        };
        let open: Vec<PeerId> = context.place.children().filter(open).collect();
        if open.is_empty() {
            return self.wait_at(parent.into_iter());
        }
        Next::Ask(open[chooser.choose(open.len() as u32) as usize])
    }
}
