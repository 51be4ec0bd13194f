//! What a peer gives to thieves: at once, later, or not at all.

use super::super::message::{Action, Message};
use super::super::mutant::Mutant;
use super::super::share::ShareContext;
use super::super::thieves::Thief;
use super::super::ticket::{PeerId, Ticket};
use super::{Peer, send};
use std::ops::Range;

/// The largest share that leaves the giver something.
const PART: f64 = 1.0 - f64::EPSILON;

impl Peer {
    /// Whether this peer explores nothing of this much work, and waits for others to ask.
    #[must_use]
    pub fn waits(&self, size: f64) -> bool {
        let only_gives = self.coordinates() || self.is_master() && self.can_divide(size);
        // Work that could not be split for a thief must be explored first.
        only_gives && self.down_to.is_none() && self.thieves.is_empty()
    }

    /// Whether this peer gives away all its work, to the last node, and explores none of it.
    #[must_use]
    pub fn coordinates(&self) -> bool {
        self.policy.coordinator && (self.me == 0 || self.is_divider()) && self.peers > 1
    }

    /// Whether this peer divides what peer 0 gives between all other peers.
    pub(super) fn is_divider(&self) -> bool {
        self.policy.divider(self.peers) == Some(self.me)
    }

    /// The peers that have a part, where this one divides its work between all, including itself unless it coordinates.
    fn takers(&self) -> Range<PeerId> {
        match self.policy.divider(self.peers) {
            Some(divider) if self.me < divider => divider..divider + 1,
            // A coordinator has no part itself.
            _ if self.coordinates() => self.me + 1..self.peers,
            _ => 0..self.peers,
        }
    }

    /// Whether this much work suffices to give some of it, and is deep enough.
    fn can_give(&self, size: f64) -> bool {
        let enough = self.can_divide(size) || self.coordinates() && size >= 1.0;
        self.policy.gives(self.me, self.peers) && self.down_to.is_none() && enough
    }

    /// Whether this much work may be divided.
    pub(super) fn can_divide(&self, size: f64) -> bool {
        size >= self.policy.least as f64
    }

    /// Work of this size as a load that a broker may take from; less than 2 if it may not be divided.
    pub(super) fn load(&self, size: f64) -> u64 {
        if self.can_divide(size) { size as u64 } else { size.min(1.0) as u64 }
    }

    /// Answers a thief: with a share at once if there is one, later if there may be one, or with a refusal.
    pub(super) fn on_ask(&mut self, thief: Thief, size: f64, actions: &mut Vec<Action>) {
        if self.was_served(&thief) {
            self.asked_again.push(thief);
            self.begin_next_round();
        } else if self.can_give(size) {
            self.thieves.remove(thief.peer);
            self.give_share(&thief, size, actions);
        } else if thief.waits || self.policy.gives(self.me, self.peers) && size > 0.0 {
            // Work that is too small now often suffices after the next step.
            if !self.is(Mutant::ForgetsParked) {
                self.thieves.add(thief);
            }
        } else {
            self.refuse(&thief, actions);
        }
    }

    /// Whether this thief has had its part of the whole. If it repeats its request, nobody else may be left to take the
    /// rest.
    fn was_served(&mut self, thief: &Thief) -> bool {
        let repeated =
            self.asked_again.extract_if(.., |again| again.peer == thief.peer).count() > 0;
        self.policy.divides_once() && !repeated && self.served.contains(&thief.peer)
    }

    /// Divides again what a coordinator has left once all others have had their part of it.
    pub(super) fn begin_next_round(&mut self) {
        let is_present = |peer: &PeerId| match &self.others {
            Some(others) => others.contains(peer),
            None => !self.gone.contains(peer),
        };
        let takers = self.takers().filter(is_present).count();
        if self.coordinates() && self.asked_again.len() >= takers {
            self.begin_round();
        }
    }

    /// Divides its work between all peers, those that have had their part of earlier work, too.
    pub(super) fn begin_round(&mut self) {
        self.served.clear();
        self.asked_again.drain(..).for_each(|thief| self.thieves.add(thief));
    }

    /// Serves one waiting thief, if there is enough work. Otherwise refuses the thieves that do not wait.
    pub(super) fn serve_thieves(&mut self, size: f64, actions: &mut Vec<Action>) {
        if self.keeps_copies() {
            return self.lend(size, actions);
        }
        if !self.serve_waiting(size, actions) && !self.can_give(size) {
            let refused = self.thieves.extract_not_waiting();
            refused.iter().for_each(|thief| self.refuse(thief, actions));
        }
    }

    /// Gives to the first thief in the queue, if there is enough work.
    pub(super) fn serve_waiting(&mut self, size: f64, actions: &mut Vec<Action>) -> bool {
        let thief = if self.can_give(size) { self.thieves.next() } else { None };
        thief.inspect(|thief| self.give_share(thief, size, actions)).is_some()
    }

    pub(super) fn refuse(&mut self, thief: &Thief, actions: &mut Vec<Action>) {
        self.asking.on_refused(thief.peer, &self.place, &self.policy);
        send(thief.peer, Message::Refuse, actions);
    }

    /// The context of a share for this thief.
    pub(in super::super) fn share_context<'a>(
        &'a self,
        thief: &'a Thief,
        size: f64,
    ) -> ShareContext<'a> {
        ShareContext {
            thief,
            power: self.compared_power(),
            place: &self.place,
            size,
            part: if self.policy.share.is_once() { self.part_of(thief.peer) } else { 1.0 },
            // All places count, since others may come.
            peers: self.takers().len() as u32,
            unserved: self.unserved,
            grains: &self.policy.grains,
        }
    }

    /// A peer's part of what is left, where each peer gets one part of the whole.
    fn part_of(&self, peer: PeerId) -> f64 {
        let takers = self.takers();
        if self.policy.weights.is_empty() {
            return 1.0 / takers.len().saturating_sub(self.served.len()).max(1) as f64;
        }
        let weight = |peer| self.policy.fixed_power(peer).map_or(1, |power| power.0);
        let all: u64 = takers.map(weight).sum();
        let left = all.saturating_sub(self.served.iter().copied().map(weight).sum());
        weight(peer) as f64 / left.max(weight(peer)) as f64
    }

    pub(in super::super) fn give_share(
        &mut self,
        thief: &Thief,
        size: f64,
        actions: &mut Vec<Action>,
    ) {
        let share = self.policy.share.of(&self.share_context(thief, size));
        let share = match (self.coordinates(), size < 2.0) {
            (false, _) => share.min(PART),
            // A single node cannot be divided.
            (true, true) => 1.0,
            (true, false) => share,
        };
        let ticket = Ticket { giver: self.me, number: self.work.sent };
        let mut thief = *thief;
        if !self.policy.share.is_by_subtree() {
            // The number of peers that it counted for here, in case it gets nothing.
            thief.workers = thief.workers.min(self.unserved - 1);
            self.unserved -= thief.workers;
        }
        if self.policy.divides_once() {
            self.served.push(thief.peer);
        }
        self.work.sent += 1;
        self.unacknowledged += 1;
        actions.push(Action::Give { thief, ticket, share: share.into() });
    }

    /// Handles a piece that could not be split off after all: the thief keeps waiting, or is refused.
    pub(super) fn on_not_split(&mut self, thief: Thief, actions: &mut Vec<Action>) {
        if !self.policy.share.is_by_subtree() {
            self.unserved += thief.workers;
        }
        self.served.retain(|&peer| peer != thief.peer);
        self.work.sent -= 1;
        self.unacknowledged -= 1;
        self.copies.remove(Ticket { giver: self.me, number: self.work.sent });
        if thief.waits {
            self.thieves.add(thief);
        } else {
            self.refuse(&thief, actions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Event, Fraction, PeerTree, Policy, Power, SeededChooser};
    use super::*;

    /// Passes an event to a peer with work. Returns whom it gives a share, and which, if it does.
    fn given(peer: &mut Peer, event: Event) -> Option<(Thief, Fraction)> {
        let (mut chooser, mut actions) = (SeededChooser::new(1, 0), Vec::new());
        peer.handle_event(event, 0, 100.0, &mut chooser, &mut actions);
        actions.into_iter().find_map(|action| match action {
            Action::Give { thief, share, .. } => Some((thief, share)),
            _ => None,
        })
    }

    /// `static` used to ignore weights.
    #[test]
    fn parts_given_once_follow_the_weights() {
        for (words, parts) in [
            ("static", [1.0 / 3.0, 1.0 / 2.0]),
            ("static:weights=20/60", [60.0 / 140.0, 60.0 / 80.0]),
            ("static:cutoff=1,coordinator=yes", [1.0 / 2.0, 1.0]),
            ("static:cutoff=1,coordinator=yes,weights=9/1/3", [3.0 / 4.0, 1.0]),
        ] {
            let policy = Policy::parse(words).unwrap();
            let mut root = Peer::new(0, &PeerTree::new(3, policy.tree, 0), policy);
            assert!(given(&mut root, Event::ReachedDepth { depth: 1 }).is_none());
            for (from, part) in [2, 1].into_iter().zip(parts) {
                let message = Message::Ask { power: Power(0), workers: 0, waits: true };
                let (_, share) = given(&mut root, Event::Message { from, message }).unwrap();
                assert_eq!(share, Fraction::from(part), "{words}, to {from}");
            }
        }
    }

    /// Passes an event to a peer without work. Returns whom it asks.
    fn asked(peer: &mut Peer) -> Option<PeerId> {
        let (mut chooser, mut actions) = (SeededChooser::new(1, 0), Vec::new());
        let stepped = Event::Stepped { nodes: 0, busy_ns: 0 };
        peer.handle_event(stepped, 0, 0.0, &mut chooser, &mut actions);
        actions.into_iter().find_map(|action| match action {
            Action::Send { to, message: Message::Ask { .. } } => Some(to),
            _ => None,
        })
    }

    #[test]
    fn one_peer_divides_what_the_first_one_gives() {
        let message = Message::Ask { power: Power(0), workers: 0, waits: true };
        let ask = |from| Event::Message { from, message };
        for (words, chunk) in [("dynamic:share=chunk/5,", 5.0 / 100.0), ("static:", 1.0)] {
            let words = format!("{words}cutoff=1,second_cutoff=3,coordinator=yes");
            let policy = Policy::parse(&words).unwrap();
            let tree = |peers| PeerTree::new(peers, policy.tree, 0);
            let peer = |me, peers| Peer::new(me, &tree(peers), policy.clone());
            let asks = |me, peers| asked(&mut peer(me, peers));
            assert_eq!([0, 1, 2, 3].map(|me| asks(me, 4)), [None, Some(0), Some(1), Some(1)]);
            assert_eq!([0, 1].map(|me| asks(me, 2)), [None, Some(0)]);
            let mut root = peer(0, 4);
            assert!(given(&mut root, Event::ReachedDepth { depth: 1 }).is_none());
            assert_eq!(given(&mut root, ask(1)).unwrap().1, Fraction::from(chunk), "{words}");
            let mut divider = peer(1, 4);
            for number in 0..3 {
                let message = Message::Work { ticket: Ticket { giver: 0, number }, epoch: 0 };
                assert!(given(&mut divider, Event::Message { from: 0, message }).is_none());
                assert_eq!(divider.explores_down_to(), Some(3));
                if number == 0 {
                    assert!(given(&mut divider, ask(3)).is_none());
                }
                // The first thief has asked again since it had its part of the last piece.
                let (thief, part) = given(&mut divider, Event::ReachedDepth { depth: 3 }).unwrap();
                assert_eq!((thief.peer, part), (3, Fraction::from(0.5)));
                let (thief, rest) = given(&mut divider, ask(2)).unwrap();
                assert_eq!((thief.peer, rest), (2, Fraction::from(1.0)));
                assert!(given(&mut divider, ask(3)).is_none());
            }
        }
    }

    #[test]
    fn a_thief_served_late_gets_the_share_of_its_subtree() {
        let policy = Policy::parse("overlay:degree=2").unwrap();
        let mut root = Peer::new(0, &PeerTree::new(7, policy.tree, 0), policy);
        let message = Message::Ask { power: Power(0), workers: 3, waits: true };
        let ask = Event::Message { from: 1, message };
        for _ in 0..4 {
            let (thief, share) = given(&mut root, ask).unwrap();
            assert_eq!(share, Fraction::from(3.0 / 7.0));
            assert!(given(&mut root, Event::NotSplit { thief }).is_none());
            let stepped = Event::Stepped { nodes: 0, busy_ns: 0 };
            assert_eq!(given(&mut root, stepped).unwrap().1, share);
        }
    }
}
