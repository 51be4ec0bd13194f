//! [`Peer`]: one unit's side of the protocol, a pure state machine.

use super::asking::{Around, Asking, Next};
use super::broker::Broker;
use super::chooser::Chooser;
use super::copies::Copies;
use super::hungry::{Hungry, Thief};
use super::message::{Action, Event, Message, PeerId, Source, Ticket};
use super::overlay::{Lineage, Overlay};
use super::policy::{End, Policy, Victim};
use super::quiet::{Quiet, Rules, Step, Totals};
use super::share::{Deal, Meter, Power};

mod counted;
mod late;

/// One unit's side of the protocol: sees numbers, messages and tickets, never a node of the tree.
///
/// The driver reports every [`Event`] with the size of the work at hand, and carries out the
/// [`Action`]s before the next event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    me: PeerId,
    peers: u32,
    policy: Policy,
    overlay: Overlay,
    quiet: Quiet,
    meter: Meter,
    asking: Asking,
    hungry: Hungry,
    broker: Broker,
    copies: Copies,
    /// The piece that came last, where a copy of it is kept.
    piece: Option<Ticket>,
    /// What the broker was told last, and when the next word is due.
    told: u32,
    tell_at_ns: u64,
    /// Peers below, and this one, that have not had their part of all.
    unserved: u32,
    work: Totals,
    unacknowledged: u64,
    /// Whether it is not counted among those who are not idle.
    left: bool,
    /// The best score heard of.
    best: i64,
    /// Cuts so far.
    epoch: u64,
    finished: bool,
    #[cfg(test)]
    pub(crate) mutant: Mutant,
}

impl Peer {
    /// Peer `me` of those in a tree, which is the policy's; peer 0 is expected to be given the whole
    /// work.
    #[must_use]
    pub fn new(me: PeerId, lineage: &Lineage, policy: Policy) -> Self {
        let overlay = Overlay::new(me, lineage);
        Self {
            me,
            peers: lineage.peers(),
            policy,
            quiet: Quiet::new(&overlay),
            meter: Meter::default(),
            asking: Asking::default(),
            hungry: Hungry::default(),
            broker: Broker::default(),
            copies: Copies::default(),
            piece: None,
            told: 0,
            tell_at_ns: 0,
            unserved: overlay.size(),
            overlay,
            work: Totals::default(),
            unacknowledged: 0,
            left: false,
            best: i64::MAX,
            epoch: 0,
            finished: false,
            #[cfg(test)]
            mutant: Mutant::None,
        }
    }

    /// Whether the peer has seen the end of all work.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Its speed: as given by hand, or else as measured.
    #[must_use]
    pub fn power(&self) -> Power {
        self.policy.weight(self.me).unwrap_or(self.meter.power())
    }

    /// Takes note of an event, at time `now_ns` and with `size` open nodes at hand.
    pub fn on(
        &mut self,
        event: Event,
        now_ns: u64,
        size: f64,
        chooser: &mut dyn Chooser,
        actions: &mut Vec<Action>,
    ) {
        if self.finished {
            // Questions and refusals may still come in; nobody waits for an answer.
            return;
        }
        match event {
            Event::Stepped { nodes, busy_ns } => {
                self.meter.add(nodes, busy_ns);
                self.serve(size, actions);
                self.say_what_is_left(now_ns, size, actions);
                if self.is(Mutant::CountsLate) {
                    self.come_back(actions);
                }
            }
            Event::Gave => self.serve(size, actions),
            // What to do about it is said by the event that follows.
            Event::Holds { ticket, size } => return self.copies.on_size(ticket, size),
            Event::Mail { from, message } => self.on_mail(from, message, size, actions),
            Event::Woke => self.asking.on_woke(),
            Event::Snapshot { epoch } => self.on_snapshot(epoch, actions),
            Event::AllIdle => self.end(self.me, actions),
            Event::Found { score } => self.spread(score, self.me, actions),
        }
        if self.finished {
            return;
        }
        if self.policy.victim == Victim::Broker {
            self.report(now_ns, size, actions);
        }
        if size == 0.0 {
            self.on_empty(now_ns, chooser, actions);
        }
    }

    fn on_mail(&mut self, from: PeerId, message: Message, size: f64, actions: &mut Vec<Action>) {
        match message {
            Message::Ask { power, units, waits } => {
                let thief = Thief { peer: from, power, units, waits };
                if self.keeps_copies() {
                    self.on_late_ask(thief, size, actions);
                } else {
                    self.on_ask(thief, size, actions);
                }
            }
            Message::Pass { thief, power } => {
                let served = size >= 2.0;
                if served {
                    self.give(&Thief { peer: thief, power, units: 1, waits: true }, size, actions);
                }
                // About half of it is left; the next word says it exactly.
                let load = if served { size / 2.0 } else { size } as u64;
                self.told = rough(load);
                send(from, Message::Passed { served, load }, actions);
            }
            Message::Passed { served, load } => {
                self.broker.on_passed(from, served, load, &mut self.hungry);
            }
            Message::Load { load } => self.broker.on_load(from, load),
            Message::Unpark => {
                self.hungry.remove(from);
                self.asking.on_unpark(from);
            }
            Message::Refuse => self.asking.on_refusal(from, &self.policy),
            Message::Work { ticket, epoch } => {
                // A piece given after the giver's cut must not be in the receiver's: it would be in
                // both.
                if !self.is(Mutant::TakesBeforeCut) {
                    self.cut(epoch, actions);
                }
                actions.push(Action::Take { ticket });
                if self.policy.is_late() {
                    self.piece = Some(ticket);
                } else {
                    // A broker that does not hear of it would count on nothing here.
                    self.tell_at_ns = 0;
                }
                self.work.received += 1;
                if !self.is(Mutant::CountsLate) {
                    self.come_back(actions);
                }
                if !self.is(Mutant::NeverAcknowledges) {
                    send(from, Message::Ack { ticket, epoch: self.epoch }, actions);
                }
                let told = self.asking.on_work(from, &self.overlay, &self.policy);
                told.into_iter().for_each(|peer| send(peer, Message::Unpark, actions));
                self.serve_waiting(size, actions);
            }
            Message::Ack { ticket, epoch } => {
                // A piece taken after the receiver's cut must still be in the giver's: it would be
                // in neither.
                if !self.is(Mutant::ReleasesBeforeCut) {
                    self.cut(epoch, actions);
                }
                self.unacknowledged -= 1;
                if !self.keeps_copies() {
                    actions.push(Action::Release { ticket });
                }
            }
            Message::Left { ticket } => {
                if self.copies.has(ticket) {
                    self.copies.on_change(ticket);
                    actions.push(Action::Hold { ticket });
                }
            }
            Message::Trim { ticket } => {
                actions.push(Action::Trim);
                if !self.is(Mutant::TrimsInSilence) {
                    send(from, Message::Ack { ticket, epoch: self.epoch }, actions);
                }
            }
            Message::Snapshot { epoch } => {
                self.on_snapshot(epoch, actions);
                self.count(Action::Leave, actions);
            }
            Message::Best { score } => {
                if score < self.best {
                    actions.push(Action::Beat { score });
                    self.spread(score, from, actions);
                }
                self.count(Action::Leave, actions);
            }
            Message::Wave => {
                let step = self.quiet.on_wave();
                self.carry_out(step, actions);
            }
            Message::Report { sent, received } => {
                self.quiet.on_report(Totals { sent, received });
            }
            Message::Done => self.end(from, actions),
        }
    }

    /// Tells the neighbours in the tree of a better score, all but the one it came from.
    ///
    /// Links keep order, so that word of a score goes before the report of whoever found it, and so
    /// reaches the root before the end; and every peer before it is told of the end.
    fn spread(&mut self, score: i64, from: PeerId, actions: &mut Vec<Action>) {
        if score < self.best {
            self.best = score;
            for peer in self.neighbours(from) {
                self.count(Action::Join, actions);
                send(peer, Message::Best { score }, actions);
            }
        }
    }

    /// The neighbours in the tree but for one.
    fn neighbours(&self, but: PeerId) -> impl Iterator<Item = PeerId> {
        let all = self.overlay.parent().into_iter().chain(self.overlay.children());
        all.filter(move |&peer| peer != but)
    }

    /// Whoever does not know of the end by way of one neighbour is told by another one.
    fn end(&mut self, from: PeerId, actions: &mut Vec<Action>) {
        self.neighbours(from).for_each(|peer| send(peer, Message::Done, actions));
        actions.push(Action::Finish);
        self.finished = true;
    }

    /// Begins an epoch, and tells those below.
    fn on_snapshot(&mut self, epoch: u64, actions: &mut Vec<Action>) {
        self.cut(epoch, actions);
        for child in self.overlay.children() {
            self.count(Action::Join, actions);
            send(child, Message::Snapshot { epoch }, actions);
        }
    }

    /// Begins an epoch, unless it has begun.
    fn cut(&mut self, epoch: u64, actions: &mut Vec<Action>) {
        if epoch > self.epoch {
            self.epoch = epoch;
            actions.push(Action::Cut { epoch });
        }
    }

    /// A broker passes questions on; a worker tells it now and then how much there is.
    fn report(&mut self, now_ns: u64, size: f64, actions: &mut Vec<Action>) {
        if self.me == 0 {
            while let Some((peer, thief)) = self.broker.pass(size, &mut self.hungry) {
                let Thief { peer: thief, power, .. } = thief;
                send(peer, Message::Pass { thief, power }, actions);
            }
            return;
        }
        let load = size as u64;
        if rough(load) != self.told && now_ns >= self.tell_at_ns {
            self.told = rough(load);
            self.tell_at_ns = now_ns + self.policy.report_ns;
            send(0, Message::Load { load }, actions);
        }
    }

    /// Someone asks: a share at once if there is one; later if there can be; else no.
    fn on_ask(&mut self, thief: Thief, size: f64, actions: &mut Vec<Action>) {
        let gives = self.policy.gives(self.me);
        if gives && size >= 2.0 {
            self.hungry.remove(thief.peer);
            self.give(&thief, size, actions);
        } else if thief.waits || gives && size > 0.0 {
            // One node cannot be split now, but often can after the next step.
            if !self.is(Mutant::ForgetsParked) {
                self.hungry.add(thief);
            }
        } else {
            self.refuse(&thief, actions);
        }
    }

    /// Answers one who asked before if there is enough; else those who do not wait, with no.
    fn serve(&mut self, size: f64, actions: &mut Vec<Action>) {
        if self.keeps_copies() {
            return self.lend(size, actions);
        }
        if !self.serve_waiting(size, actions) && size < 2.0 {
            let in_vain = self.hungry.in_vain();
            in_vain.iter().for_each(|thief| self.refuse(thief, actions));
        }
    }

    /// Gives to the first who asked before, if there is enough.
    fn serve_waiting(&mut self, size: f64, actions: &mut Vec<Action>) -> bool {
        let enough = size >= 2.0 && self.policy.gives(self.me);
        let thief = if enough { self.hungry.next() } else { None };
        thief.inspect(|thief| self.give(thief, size, actions)).is_some()
    }

    fn refuse(&mut self, thief: &Thief, actions: &mut Vec<Action>) {
        self.asking.on_refused(thief.peer, &self.overlay, &self.policy);
        send(thief.peer, Message::Refuse, actions);
    }

    fn give(&mut self, thief: &Thief, size: f64, actions: &mut Vec<Action>) {
        let deal = Deal {
            thief,
            power: self.power(),
            overlay: &self.overlay,
            size,
            given: self.work.sent,
            peers: self.peers,
            unserved: self.unserved,
        };
        let share = self.policy.share.of(&deal, &self.policy.grains);
        let ticket = Ticket { giver: self.me, number: self.work.sent };
        self.unserved -= thief.units.min(self.unserved - 1);
        self.work.sent += 1;
        self.unacknowledged += 1;
        let from = Source::Own;
        actions.push(Action::Give { to: thief.peer, ticket, epoch: self.epoch, from, share });
    }

    /// Without work: ask, wait or rest, and take part in the waves.
    fn on_empty(&mut self, now_ns: u64, chooser: &mut dyn Chooser, actions: &mut Vec<Action>) {
        if self.keeps_copies() && self.lend_to_itself(actions) {
            return;
        }
        let in_vain = self.hungry.in_vain();
        in_vain.iter().for_each(|thief| self.refuse(thief, actions));
        self.ask(now_ns, chooser, actions);
        if self.policy.end == Some(End::Counter) {
            return self.leave(actions);
        }
        let waits = self.asking.asked() && !self.is(Mutant::IdleWhileAsking);
        if !waits && self.unacknowledged == 0 && self.copies.is_empty() {
            let rules =
                Rules { two_waves: !self.is(Mutant::OneWave), counts: !self.is(Mutant::NoCounts) };
            if let Some(step) = self.quiet.on_idle(self.work, rules) {
                self.carry_out(step, actions);
                // A peer alone has nobody to wait for: it goes on at once.
                if self.peers == 1 && !self.finished {
                    self.on_empty(now_ns, chooser, actions);
                }
            }
        }
    }

    /// Asks whom the policy says.
    fn ask(&mut self, now_ns: u64, chooser: &mut dyn Chooser, actions: &mut Vec<Action>) {
        let power = self.power();
        let for_all = self.policy.share.is_by_subtree() || self.asking.at_start(&self.policy);
        let units = if for_all { self.overlay.size() } else { 0 };
        loop {
            let around = Around {
                me: self.me,
                peers: self.peers,
                policy: &self.policy,
                overlay: &self.overlay,
                hungry: &self.hungry,
            };
            let (to, waits) = match self.asking.next(&around, chooser) {
                Next::Ask(to) => (to, false),
                Next::Wait(to) => (to, true),
                Next::Rest(rest_ns) => {
                    return actions.push(Action::WakeAt { at_ns: now_ns + rest_ns });
                }
                Next::Nothing => return,
            };
            send(to, Message::Ask { power, units, waits }, actions);
        }
    }

    fn carry_out(&mut self, step: Step, actions: &mut Vec<Action>) {
        let down = |message, actions: &mut Vec<Action>| {
            self.overlay.children().for_each(|child| send(child, message, actions));
        };
        match step {
            Step::Ask => down(Message::Wave, actions),
            Step::Report(Totals { sent, received }) => {
                if let Some(parent) = self.overlay.parent() {
                    send(parent, Message::Report { sent, received }, actions);
                }
            }
            Step::End => self.end(self.me, actions),
        }
    }

    #[cfg(test)]
    fn is(&self, mutant: Mutant) -> bool {
        self.mutant == mutant
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self)]
    const fn is(&self, _mutant: Mutant) -> bool {
        false
    }
}

/// Loads that differ by little are as good as the same.
fn rough(load: u64) -> u32 {
    u64::BITS - load.leading_zeros()
}

fn send(to: PeerId, message: Message, actions: &mut Vec<Action>) {
    actions.push(Action::Send { to, message });
}

/// Known wrong protocols: tests prove that the checkers catch each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) enum Mutant {
    None,
    /// The root ends after one wave instead of two.
    OneWave,
    /// Waves say that all were idle, but carry no counts.
    NoCounts,
    /// A parked request is never answered.
    ForgetsParked,
    /// A peer reports itself idle while its request is on the way.
    IdleWhileAsking,
    /// Work received is never acknowledged.
    NeverAcknowledges,
    /// Work of a new epoch is taken up before the cut.
    TakesBeforeCut,
    /// A piece is forgotten before the cut that its receipt tells of.
    ReleasesBeforeCut,
    /// Nobody waits until the former owner of a piece has heard of it.
    TrimsInSilence,
    /// A copy is kept although its piece is done.
    KeepsCopies,
    /// Whoever gets work counts itself only after its next step.
    CountsLate,
    /// A peer leaves although pieces that it gave are not acknowledged.
    LeavesEarly,
}
