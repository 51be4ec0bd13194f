//! The peer's side of late giving: what the master gives from its copies, and what a worker reports.

use super::super::message::{Action, Message};
use super::super::mutant::Mutant;
use super::super::peer::{Peer, send};
use super::super::policy::Victim;
use super::super::power::Power;
use super::super::share::ShareContext;
use super::super::thieves::Thief;
use super::super::ticket::{PeerId, Ticket};
use super::copies::CopyOut;
use super::messages::{Change, Recall};

/// The maximum number of workers of a master that all report in every period. If there are more, they report less
/// often, so that the master has time for other things.
const CROWD: u64 = 16;

impl Peer {
    /// Whether this is the master, which keeps copies.
    pub(in super::super) fn keeps_copies(&self) -> bool {
        self.me == 0 && self.policy.victim == Victim::Late
    }

    /// Notes the size of a copy that has just changed.
    pub(in super::super) fn note_copy(&mut self, ticket: Ticket, size: f64) {
        self.copies.on_size(ticket, size);
    }

    /// Handles a request of a worker, which shows that it has finished its work.
    pub(in super::super) fn on_late_ask(
        &mut self,
        thief: Thief,
        size: f64,
        actions: &mut Vec<Action>,
    ) {
        if !self.is(Mutant::KeepsCopies) {
            let done = self.copies.on_done(thief.peer);
            actions.extend(done.map(|ticket| Action::Release { ticket }));
        }
        self.thieves.add(thief);
        self.lend(size, actions);
    }

    /// Handles a message between master and owner.
    pub(in super::super) fn on_recall(
        &mut self,
        from: PeerId,
        recall: Recall,
        actions: &mut Vec<Action>,
    ) {
        match recall {
            Recall::Left { ticket } => {
                if self.copies.has(ticket, from) {
                    self.copies.on_change(ticket);
                    actions.push(Action::Late(Change::Hold { ticket }));
                }
            }
            Recall::Trim { ticket } => {
                actions.push(Action::Late(Change::Trim));
                if !self.is(Mutant::TrimsInSilence) {
                    send(from, Message::Ack { ticket, epoch: self.epoch }, actions);
                }
            }
        }
    }

    /// Gives to the first waiting thief, from the master's own work or from the largest copy.
    pub(in super::super) fn lend(&mut self, size: f64, actions: &mut Vec<Action>) {
        if self.thieves.is_empty() {
            return;
        }
        let most = self.copies.largest();
        let own = size >= 2.0 && most.is_none_or(|out| out.size() <= size);
        if !own && most.is_none() {
            return;
        }
        let Some(thief) = self.thieves.next() else { return };
        let ticket = Ticket { giver: self.me, number: self.work.sent };
        if let Some(out) = most.filter(|_| !own) {
            self.work.sent += 1;
            // One receipt for the piece, and one for the message to its former owner.
            self.unacknowledged += 1 + self.recall();
            self.give_copy(&thief, ticket, out, actions);
        } else {
            self.give_share(&thief, size, actions);
        }
        self.copies.add(ticket, thief.peer);
    }

    /// Gives the master, once its own work is done, a part of the largest copy that can be split.
    pub(in super::super) fn lend_to_itself(&mut self, actions: &mut Vec<Action>) -> bool {
        let Some(out) = self.copies.largest() else { return false };
        let thief = Thief { peer: self.me, power: self.power(), workers: 0, waits: true };
        self.unacknowledged += self.recall();
        let ticket = Ticket { giver: self.me, number: self.work.sent };
        self.give_copy(&thief, ticket, out, actions);
        true
    }

    fn give_copy(
        &mut self,
        thief: &Thief,
        ticket: Ticket,
        out: CopyOut,
        actions: &mut Vec<Action>,
    ) {
        let context = ShareContext { size: out.size(), ..self.share_context(thief, 0.0) };
        let share = self.policy.share.of(&context).into();
        self.copies.on_change(out.ticket);
        let (to, of, owner) = (thief.peer, out.ticket, out.owner);
        actions.push(Action::Late(Change::Give { to, ticket, of, owner, share }));
    }

    /// Handles a copy that could not be split after all: the thief keeps waiting.
    pub(in super::super) fn take_copy_back(&mut self, to: PeerId, ticket: Ticket) {
        self.unacknowledged -= self.recall();
        if to != self.me {
            self.unacknowledged -= 1;
            self.work.sent -= 1;
            self.copies.remove(ticket);
            self.thieves.add(Thief { peer: to, power: Power(0), workers: 0, waits: true });
        }
    }

    /// The number of receipts to expect for the message to the former owner of a piece.
    fn recall(&self) -> u64 {
        u64::from(!self.is(Mutant::TrimsInSilence))
    }

    /// Reports periodically, at a worker, what is left of its piece.
    pub(in super::super) fn report_what_is_left(
        &mut self,
        now_ns: u64,
        size: f64,
        actions: &mut Vec<Action>,
    ) {
        let Some(ticket) = self.piece.filter(|_| size > 0.0 && now_ns >= self.report_at_ns) else {
            return;
        };
        let crowd = 1 + u64::from(self.peers) / CROWD;
        self.report_at_ns = now_ns + self.policy.report_ns.saturating_mul(crowd);
        actions.push(Action::Late(Change::Tell { ticket }));
        actions.push(Action::WakeAt { at_ns: self.report_at_ns });
    }
}
