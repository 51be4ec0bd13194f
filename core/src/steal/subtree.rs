//! [`SubtreePower`]: the power of all peers of a subtree together, gathered by reports up the tree.

use super::PeerId;
use super::power::Power;
use super::tree::TreePlace;
use std::collections::BTreeMap;

/// What a peer knows of the power of its subtree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct SubtreePower {
    /// The power and the number of peers of each child's subtree, as reported last.
    children: BTreeMap<PeerId, (Power, u32)>,
    /// Their sums.
    power: u128,
    peers: u64,
    /// The power that the peer itself reported last; 0 before its first report to this parent.
    reported: Power,
}

impl SubtreePower {
    /// Records the power of a child's subtree with this many peers, unless it is not measured yet.
    pub fn record(&mut self, child: PeerId, power: Power, peers: u32) {
        if power.0 > 0 && peers > 0 {
            self.remove(child);
            self.children.insert(child, (power, peers));
            self.power += u128::from(power.0);
            self.peers += u64::from(peers);
        }
    }

    /// Forgets a child.
    pub fn remove(&mut self, child: PeerId) {
        if let Some((power, peers)) = self.children.remove(&child) {
            self.power -= u128::from(power.0);
            self.peers -= u64::from(peers);
        }
    }

    /// The power of a subtree of `size` peers, one of which has power `own`. Peers that are not measured yet count as
    /// fast as the others on average; 0 if none is measured.
    pub fn total(&self, own: Power, size: u32) -> Power {
        let peers = u128::from(self.peers) + u128::from(own.0 > 0);
        let power = self.power + u128::from(own.0);
        let all = power.saturating_mul(peers.max(size.into())).checked_div(peers).unwrap_or(0);
        Power(all.try_into().unwrap_or(u64::MAX))
    }

    /// Forgets all peers that are not children here, and the last report to a former parent.
    pub fn move_to(&mut self, place: &TreePlace) {
        let others = self.children.keys().copied().filter(|&peer| !place.is_child(peer));
        for peer in others.collect::<Vec<_>>() {
            self.remove(peer);
        }
        self.forget_report();
    }

    /// Forgets the last report: the parent has not received it if it has just joined.
    pub fn forget_report(&mut self) {
        self.reported = Power(0);
    }

    /// Whether to report this total, since it differs from the last report by more than an eighth. If so, it counts as
    /// reported.
    pub fn reports(&mut self, total: Power) -> bool {
        let differs = total.0.abs_diff(self.reported.0) > self.reported.0 / 8;
        if differs {
            self.reported = total;
        }
        differs
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Action, Event, Message, Peer, PeerTree, Policy, SeededChooser};
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn peers_that_are_not_measured_count_as_fast_as_the_others() {
        let mut subtree = SubtreePower::default();
        assert_eq!(subtree.total(Power(0), 9), Power(0));
        assert_eq!(subtree.total(Power(10), 9), Power(90));
        subtree.record(4, Power(0), 3);
        subtree.record(4, Power(60), 2);
        assert_eq!(subtree.total(Power(0), 9), Power(270));
        assert_eq!(subtree.total(Power(30), 9), Power(270));
        subtree.record(4, Power(20), 2);
        subtree.record(5, Power(100), 2);
        assert_eq!(subtree.total(Power(30), 5), Power(150));
        // More peers than places count in full.
        assert_eq!(subtree.total(Power(30), 0), Power(150));
        subtree.remove(5);
        subtree.remove(5);
        assert_eq!(subtree.total(Power(0), 2), Power(20));
        let reports = [9, 10, 11, 12, 9].map(|power| subtree.reports(Power(power)));
        assert_eq!(reports, [true, false, true, false, true]);
        subtree.forget_report();
        assert!(subtree.reports(Power(9)));
        subtree.record(6, Power(u64::MAX), u32::MAX);
        assert_eq!(subtree.total(Power(u64::MAX), u32::MAX), Power(u64::MAX));
    }

    /// In whatever order peers begin, each learns the sum of the powers below it, and reports end.
    #[test]
    fn every_peer_learns_the_power_of_its_subtree() {
        let weights = [5, 1, 40, 7, 7, 300, 300, 300, 300];
        let words = "overlay:share=subtree-power,degree=2,weights=5/1/40/7/7/300";
        let policy = Policy::parse(words).unwrap();
        let tree = PeerTree::new(9, policy.tree, 0);
        let begin = |me: PeerId| (me, Event::Stepped { nodes: 0, busy_ns: 0 });
        let orders: [Vec<PeerId>; 2] = [(0..9).collect(), (0..9).rev().collect()];
        for order in orders {
            let peer = |me| Peer::new(me, &tree, policy.clone());
            let mut peers: Vec<Peer> = (0..9).map(peer).collect();
            let mut chooser = SeededChooser::new(1, 0);
            let mut events: VecDeque<(PeerId, Event)> = order.into_iter().map(begin).collect();
            while let Some((me, event)) = events.pop_front() {
                let mut actions = Vec::new();
                peers[me as usize].handle_event(event, 0, 1.0, &mut chooser, &mut actions);
                for action in actions {
                    if let Action::Send { to, message } = action {
                        assert_eq!(tree.parent(me), Some(to));
                        events.push_back((to, Event::Message { from: me, message }));
                    }
                }
            }
            let mut sums = weights;
            for me in (1..9).rev() {
                sums[tree.parent(me).unwrap() as usize] += sums[me as usize];
            }
            for (peer, sum) in peers.iter().zip(sums) {
                let Message::Ask { power, .. } = peer.request_again(0) else {
                    panic!("no request")
                };
                assert_eq!(power, Power(sum), "peer {}", peer.me());
            }
        }
    }
}
