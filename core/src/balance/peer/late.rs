//! `master-worker:late`: peer 0 gives of its copies of what is out, and the owners hear later.

use super::super::copies::Out;
use super::super::hungry::Thief;
use super::super::message::{Action, Message, PeerId, Source, Ticket};
use super::super::policy::Victim;
use super::{Deal, Mutant, Peer, send};

/// Workers of one master of whom each reports in every span of its reports: more of them report less
/// often, so that the master has time for other things.
const CROWD: u64 = 16;

impl Peer {
    /// Whether this is the master who keeps copies.
    pub(super) fn keeps_copies(&self) -> bool {
        self.me == 0 && self.policy.victim == Victim::Late
    }

    /// A worker asks: what it had is done.
    pub(super) fn on_late_ask(&mut self, thief: Thief, size: f64, actions: &mut Vec<Action>) {
        self.let_go(thief.peer, actions);
        self.hungry.add(thief);
        self.lend(size, actions);
    }

    fn let_go(&mut self, owner: PeerId, actions: &mut Vec<Action>) {
        if self.is(Mutant::KeepsCopies) {
            return;
        }
        actions.extend(self.copies.on_done(owner).map(|ticket| Action::Release { ticket }));
    }

    /// Gives to the first who waits, of the own work or of the largest copy.
    pub(super) fn lend(&mut self, size: f64, actions: &mut Vec<Action>) {
        if self.hungry.is_empty() {
            return;
        }
        let most = self.copies.largest();
        let own = size >= 2.0 && most.is_none_or(|out| out.size() <= size);
        if !own && most.is_none() {
            return;
        }
        let Some(thief) = self.hungry.next() else { return };
        let ticket = Ticket { giver: self.me, number: self.work.sent };
        if let Some(out) = most.filter(|_| !own) {
            let share = self.part_of(&thief, out);
            self.copies.on_change(out.ticket);
            self.work.sent += 1;
            // The piece and the word to its former owner.
            self.unacknowledged += 1 + self.word();
            let from = Source::Held { ticket: out.ticket, owner: out.owner };
            actions.push(Action::Give { to: thief.peer, ticket, epoch: self.epoch, from, share });
        } else {
            self.give(&thief, size, actions);
        }
        self.copies.add(ticket, thief.peer);
    }

    /// The master has no work of its own left: it takes of the largest copy, if one can be split.
    pub(super) fn lend_to_itself(&mut self, actions: &mut Vec<Action>) -> bool {
        let Some(out) = self.copies.largest() else { return false };
        let thief = Thief { peer: self.me, power: self.power(), units: 0, waits: true };
        let share = self.part_of(&thief, out);
        self.copies.on_change(out.ticket);
        self.unacknowledged += self.word();
        let ticket = Ticket { giver: self.me, number: self.work.sent };
        let from = Source::Held { ticket: out.ticket, owner: out.owner };
        actions.push(Action::Give { to: self.me, ticket, epoch: self.epoch, from, share });
        true
    }

    /// Receipts to come for a word to the former owner of a piece.
    fn word(&self) -> u64 {
        u64::from(!self.is(Mutant::TrimsInSilence))
    }

    fn part_of(&self, thief: &Thief, out: Out) -> f64 {
        let deal = Deal {
            thief,
            power: self.power(),
            overlay: &self.overlay,
            size: out.size(),
            given: self.work.sent,
            peers: self.peers,
            unserved: self.unserved,
        };
        self.policy.share.of(&deal, &self.policy.grains)
    }

    /// A worker says now and then what is left of its piece.
    pub(super) fn say_what_is_left(&mut self, now_ns: u64, size: f64, actions: &mut Vec<Action>) {
        let Some(ticket) = self.piece.filter(|_| size > 0.0 && now_ns >= self.tell_at_ns) else {
            return;
        };
        let crowd = 1 + u64::from(self.peers) / CROWD;
        self.tell_at_ns = now_ns + self.policy.report_ns.saturating_mul(crowd);
        send(0, Message::Left { ticket }, actions);
        actions.push(Action::WakeAt { at_ns: self.tell_at_ns });
    }
}
