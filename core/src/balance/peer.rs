//! [`Peer`]: one unit's side of the protocol, a pure state machine.

use super::chooser::Chooser;
use super::message::{Action, Event, Message, PeerId, Ticket};
use super::overlay::Overlay;
use super::policy::{Policy, Victim};
use super::quiet::{Quiet, Rules, Step, Totals};
use super::share::{Meter, Power};

/// What a peer without work is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Search {
    /// It has work, or has not looked for any yet.
    None,
    /// It has asked and waits for the answer.
    Asked,
    /// It waits for its time to ask again.
    Resting,
}

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
    search: Search,
    /// Refusals in a row, and rests in a row.
    refusals: u32,
    rests: u32,
    /// Thieves that asked when nothing could be split: they are answered after the next step.
    parked: Vec<(PeerId, Power)>,
    work: Totals,
    unacknowledged: u64,
    /// The best score heard of.
    best: i64,
    /// Cuts so far.
    epoch: u64,
    finished: bool,
    #[cfg(test)]
    pub(crate) mutant: Mutant,
}

impl Peer {
    /// Peer `me` of `peers`; peer 0 is expected to be given the whole work.
    #[must_use]
    pub fn new(me: PeerId, peers: u32, policy: Policy) -> Self {
        let overlay = Overlay::new(me, peers, policy.degree);
        Self {
            me,
            peers,
            policy,
            overlay,
            quiet: Quiet::new(&overlay),
            meter: Meter::default(),
            search: Search::None,
            refusals: 0,
            rests: 0,
            parked: Vec::new(),
            work: Totals::default(),
            unacknowledged: 0,
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

    /// The speed it has measured.
    #[must_use]
    pub fn power(&self) -> Power {
        self.meter.power()
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
                self.serve_parked(size, actions);
            }
            Event::Mail { from, message } => self.on_mail(from, message, size, actions),
            Event::Woke if self.search == Search::Resting => self.search = Search::None,
            Event::Woke => {}
            Event::Snapshot { epoch } => self.on_snapshot(epoch, actions),
            Event::Found { score } => self.spread(score, self.me, actions),
        }
        if size == 0.0 && !self.finished {
            self.on_empty(now_ns, chooser, actions);
        }
    }

    fn on_mail(&mut self, from: PeerId, message: Message, size: f64, actions: &mut Vec<Action>) {
        match message {
            Message::Ask { power } if size >= 2.0 => self.give(from, power, actions),
            // One node cannot be split now, but often can after the next step.
            Message::Ask { power } if size > 0.0 => {
                if !self.is(Mutant::ForgetsParked) {
                    self.parked.push((from, power));
                }
            }
            Message::Ask { .. } => send(from, Message::Refuse, actions),
            Message::Refuse => {
                self.search = Search::None;
                self.refusals += 1;
            }
            Message::Work { ticket, epoch } => {
                // A piece given after the giver's cut must not be in the receiver's: it would be in
                // both.
                if !self.is(Mutant::TakesBeforeCut) {
                    self.cut(epoch, actions);
                }
                actions.push(Action::Take { ticket });
                self.search = Search::None;
                self.refusals = 0;
                self.rests = 0;
                self.work.received += 1;
                if !self.is(Mutant::NeverAcknowledges) {
                    send(from, Message::Ack { ticket, epoch: self.epoch }, actions);
                }
            }
            Message::Ack { ticket, epoch } => {
                // A piece taken after the receiver's cut must still be in the giver's: it would be
                // in neither.
                if !self.is(Mutant::ReleasesBeforeCut) {
                    self.cut(epoch, actions);
                }
                self.unacknowledged -= 1;
                actions.push(Action::Release { ticket });
            }
            Message::Snapshot { epoch } => self.on_snapshot(epoch, actions),
            Message::Best { score } if score < self.best => {
                actions.push(Action::Beat { score });
                self.spread(score, from, actions);
            }
            Message::Best { .. } => {}
            Message::Wave => {
                let step = self.quiet.on_wave();
                self.carry_out(step, actions);
            }
            Message::Report { sent, received } => {
                self.quiet.on_report(Totals { sent, received });
            }
            Message::Done => self.carry_out(Step::End, actions),
        }
    }

    /// Tells the neighbours in the tree of a better score, all but the one it came from.
    ///
    /// Links keep order, so that word of a score goes before the report of whoever found it, and so
    /// reaches the root before the end; and every peer before it is told of the end.
    fn spread(&mut self, score: i64, from: PeerId, actions: &mut Vec<Action>) {
        if score < self.best {
            self.best = score;
            let neighbours = self.overlay.parent().into_iter().chain(self.overlay.children());
            let others = neighbours.filter(|&peer| peer != from);
            others.for_each(|peer| send(peer, Message::Best { score }, actions));
        }
    }

    /// Begins an epoch, and tells those below.
    fn on_snapshot(&mut self, epoch: u64, actions: &mut Vec<Action>) {
        self.cut(epoch, actions);
        let children = self.overlay.children();
        children.for_each(|child| send(child, Message::Snapshot { epoch }, actions));
    }

    /// Begins an epoch, unless it has begun.
    fn cut(&mut self, epoch: u64, actions: &mut Vec<Action>) {
        if epoch > self.epoch {
            self.epoch = epoch;
            actions.push(Action::Cut { epoch });
        }
    }

    /// Answers those who asked in vain before: one with work if there is enough, else all with no.
    fn serve_parked(&mut self, size: f64, actions: &mut Vec<Action>) {
        if self.parked.is_empty() {
            return;
        }
        if size >= 2.0 {
            let (thief, power) = self.parked.remove(0);
            self.give(thief, power, actions);
        } else {
            self.parked.drain(..).for_each(|(thief, _)| send(thief, Message::Refuse, actions));
        }
    }

    fn give(&mut self, to: PeerId, thief: Power, actions: &mut Vec<Action>) {
        let ticket = Ticket { giver: self.me, number: self.work.sent };
        self.work.sent += 1;
        self.unacknowledged += 1;
        let share = self.policy.share.of(self.meter.power(), thief);
        actions.push(Action::Give { to, ticket, epoch: self.epoch, share });
    }

    /// Without work: ask, rest or wait, and take part in the waves.
    fn on_empty(&mut self, now_ns: u64, chooser: &mut dyn Chooser, actions: &mut Vec<Action>) {
        self.parked.drain(..).for_each(|(thief, _)| send(thief, Message::Refuse, actions));
        if self.search == Search::None && self.peers > 1 {
            if self.refusals < self.policy.patience {
                let victim = self.victim(chooser);
                send(victim, Message::Ask { power: self.meter.power() }, actions);
                self.search = Search::Asked;
            } else {
                let doubled = self.policy.rest_ns.saturating_mul(1 << self.rests.min(32));
                let at_ns = now_ns + doubled.min(self.policy.longest_rest_ns);
                actions.push(Action::WakeAt { at_ns });
                // Rests that cannot grow longer need not be counted.
                self.rests += u32::from(doubled < self.policy.longest_rest_ns);
                self.refusals = 0;
                self.search = Search::Resting;
            }
        }
        let waits = self.search == Search::Asked && !self.is(Mutant::IdleWhileAsking);
        if !waits && self.unacknowledged == 0 {
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

    fn victim(&self, chooser: &mut dyn Chooser) -> PeerId {
        match self.policy.victim {
            Victim::Random => {
                let other = chooser.choose(self.peers - 1);
                other + u32::from(other >= self.me)
            }
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
            Step::End => {
                down(Message::Done, actions);
                actions.push(Action::Finish);
                self.finished = true;
            }
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
}
