//! How a peer handles each message.

use super::super::broker::log2_load;
use super::super::message::{Action, Message};
use super::super::mutant::Mutant;
use super::super::quiet::Totals;
use super::super::thieves::Thief;
use super::super::ticket::{PeerId, Ticket};
use super::{Peer, send};

impl Peer {
    pub(super) fn on_message(
        &mut self,
        from: PeerId,
        message: Message,
        size: f64,
        actions: &mut Vec<Action>,
    ) {
        match message {
            Message::Ask { power, workers, waits } => {
                let thief = Thief { peer: from, power, workers, waits };
                // A child's request is a report, too.
                self.record_report(from, power, workers);
                // The thief's last report is out of date: a broker must not ask it to give.
                self.broker.on_empty(from);
                if self.keeps_copies() {
                    self.on_late_ask(thief, size, actions);
                } else {
                    self.on_ask(thief, size, actions);
                }
            }
            Message::Pass { thief, power } => {
                let thief = Thief { peer: thief, power, workers: 1, waits: true };
                self.on_pass(from, &thief, size, actions);
            }
            Message::Passed { served, load } => {
                self.broker.on_passed(from, served, load, &mut self.thieves);
            }
            Message::Load { load } => self.broker.on_load(from, load),
            Message::Unpark => {
                self.thieves.remove(from);
                self.asking.on_unpark(from);
            }
            Message::Refuse => self.asking.on_refusal(from, &self.policy),
            Message::Work { ticket, epoch } => self.on_work(from, ticket, epoch, size, actions),
            Message::Ack { ticket, epoch } => self.on_ack(ticket, epoch, actions),
            Message::Snapshot { epoch } => {
                self.on_snapshot(epoch, actions);
                self.change_counter(Action::Leave, actions);
            }
            Message::Best { score } => {
                if score < self.best || self.is(Mutant::SpreadsAnyScore) {
                    actions.push(Action::UpdateIncumbent { score });
                    if self.is(Mutant::KeepsTheBest) {
                        self.best = score;
                    }
                    self.spread_best(score, from, actions);
                }
                self.change_counter(Action::Leave, actions);
            }
            Message::Wave => {
                let step = self.waves.on_wave();
                self.carry_out_step(step, actions);
            }
            Message::Report { sent, received } => {
                self.waves.on_report(Totals { sent, received });
            }
            Message::Done => self.pass_on_done(from, actions),
            Message::Below { power, peers } => self.record_report(from, power, peers),
            Message::Late(recall) => self.on_recall(from, recall, actions),
        }
    }

    /// Handles a thief that the broker passed on.
    fn on_pass(&mut self, broker: PeerId, thief: &Thief, size: f64, actions: &mut Vec<Action>) {
        let served = self.can_divide(size);
        if served {
            self.give_share(thief, size, actions);
        }
        // About half of it is left. The next report is exact.
        let load = self.load(if served { size / 2.0 } else { size });
        self.reported_load = log2_load(load);
        send(broker, Message::Passed { served, load }, actions);
    }

    /// Handles work that has arrived.
    fn on_work(
        &mut self,
        from: PeerId,
        ticket: Ticket,
        epoch: u64,
        size: f64,
        actions: &mut Vec<Action>,
    ) {
        // A piece given after the giver's cut must not be in the receiver's: it would be in both.
        if !self.is(Mutant::TakesBeforeCut) {
            self.cut(epoch, actions);
        }
        actions.push(Action::Take { ticket });
        if self.policy.is_late() {
            self.piece = Some(ticket);
        } else {
            // Report it soon: a broker that does not know of this work would pass no thieves here.
            self.report_at_ns = 0;
        }
        self.work.received += 1;
        let at = actions.len();
        if !self.is(Mutant::CountsLate) {
            self.rejoin_counter(actions);
        }
        if !self.is(Mutant::NeverAcknowledges) {
            send(from, Message::Ack { ticket, epoch: self.epoch }, actions);
        }
        if self.is(Mutant::AcknowledgesBeforeJoining) {
            actions[at..].reverse();
        }
        self.begin_at_top();
        let parked = self.asking.on_work(from, &self.place, &self.policy);
        parked.into_iter().for_each(|peer| send(peer, Message::Unpark, actions));
        self.begin_round();
        self.serve_waiting(size, actions);
    }

    /// Handles the acknowledgement of a piece.
    fn on_ack(&mut self, ticket: Ticket, epoch: u64, actions: &mut Vec<Action>) {
        // A piece taken after the receiver's cut must still be in the giver's: it would be in neither.
        if !self.is(Mutant::ReleasesBeforeCut) {
            self.cut(epoch, actions);
        }
        self.unacknowledged = self.unacknowledged.saturating_sub(1);
        if !self.keeps_copies() {
            actions.push(Action::Release { ticket });
        }
    }
}
