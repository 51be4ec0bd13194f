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
        let size = if self.others.is_some() { 0 } else { self.present };
        self.subtree.total(self.power(), size)
    }

    /// Records the power of a child's subtree.
    pub(super) fn record_report(&mut self, from: PeerId, power: Power, peers: u32) {
        if self.compares_subtrees() && self.place.is_child(from) {
            self.subtree.record(from, power, peers);
        }
    }

    /// Whether another peer is present, as far as this one knows.
    fn is_present(&self, peer: PeerId) -> bool {
        let others = self.others.as_ref();
        others.map_or(!self.gone.contains(&peer), |others| others.binary_search(&peer).is_ok())
    }

    /// Reports the power of the subtree to the parent, if it has changed or the parent is new.
    pub(super) fn report_power(&mut self, actions: &mut Vec<Action>) {
        if !self.compares_subtrees() {
            return;
        }
        let Some(parent) = self.place.parent().filter(|&parent| self.is_present(parent)) else {
            return;
        };
        let power = self.compared_power();
        if self.subtree.reports(power) {
            send(parent, Message::Below { power, peers: self.present }, actions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Event, PeerTree, Policy, SeededChooser};
    use super::*;

    /// A peer that is present with six others in a binary tree.
    fn peer(me: PeerId) -> Peer {
        let policy = Policy::parse("overlay:share=subtree-power,degree=2,weights=10").unwrap();
        Peer::new(me, &PeerTree::new(7, policy.tree, 0), policy)
    }

    /// Passes an event to a peer with work. Returns the power that it reports, if it does.
    fn reported(peer: &mut Peer, event: Event) -> Option<Power> {
        let (mut chooser, mut actions) = (SeededChooser::new(1, 0), Vec::new());
        peer.handle_event(event, 0, 1.0, &mut chooser, &mut actions);
        actions.into_iter().find_map(|action| match action {
            Action::Send { message: Message::Below { power, .. }, .. } => Some(power),
            _ => None,
        })
    }

    const STEPPED: Event = Event::Stepped { nodes: 0, busy_ns: 0 };

    #[test]
    fn a_subtree_that_is_gone_has_no_power() {
        let mut root = peer(0);
        assert_eq!(root.compared_power(), Power(70));
        let below = Message::Below { power: Power(30), peers: 3 };
        reported(&mut root, Event::Message { from: 1, message: below });
        assert_eq!(root.compared_power(), Power(70));
        reported(&mut root, Event::Lost { peer: 1 });
        assert_eq!(root.compared_power(), Power(40));
        // Its own subtree counts once.
        reported(&mut root, Event::Lost { peer: 3 });
        reported(&mut root, Event::Lost { peer: 1 });
        assert_eq!(root.compared_power(), Power(40));
        reported(&mut root, Event::Lost { peer: 2 });
        assert_eq!(root.compared_power(), Power(10));
        reported(&mut root, Event::Came { peer: 2 });
        assert_eq!(root.compared_power(), Power(40));
    }

    #[test]
    fn a_parent_that_comes_back_learns_the_power() {
        let mut child = peer(1).with_changing_peers();
        assert_eq!(reported(&mut child, STEPPED), None);
        assert_eq!(reported(&mut child, Event::Came { peer: 0 }), Some(Power(10)));
        assert_eq!(reported(&mut child, STEPPED), None);
        assert_eq!(reported(&mut child, Event::Lost { peer: 0 }), None);
        assert_eq!(reported(&mut child, Event::Came { peer: 0 }), Some(Power(10)));
        // Another process may have taken its place.
        assert_eq!(reported(&mut child, Event::Came { peer: 0 }), Some(Power(10)));
        let mut child = peer(1);
        assert_eq!(reported(&mut child, STEPPED), Some(Power(30)));
        assert_eq!(reported(&mut child, Event::Lost { peer: 0 }), None);
    }
}
