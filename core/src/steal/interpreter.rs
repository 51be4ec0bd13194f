//! [`Interpreter`]: the only interpreter of a peer's actions. Real runs, the simulator and the enumeration of all
//! schedules run this code, and differ only in their [`Effects`].

use super::chooser::Chooser;
use super::effects::{Effects, Violation};
use super::giving::hand_over;
use super::late::carry::carry_out;
use super::ledger::{InFlight, Ledger};
use super::message::{Action, Event, Message};
use super::peer::Peer;
use super::thieves::Thief;
use super::ticket::PeerId;

/// A peer, the pieces that it answers for, and its pending actions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interpreter<P> {
    pub(super) peer: Peer,
    pub(super) ledger: Ledger<P>,
    /// The work that came with the message being handled.
    pub(super) incoming: Option<P>,
    /// Whether that work is for [`Action::Take`].
    to_take: bool,
    /// The batch being carried out, and how many of its actions have been.
    batch: Vec<Action>,
    done: usize,
    /// Events for the peer after this batch.
    gave: bool,
    all_idle: bool,
    not_split: Vec<Thief>,
}

impl<P: Clone> Interpreter<P> {
    /// An interpreter for a peer; `snapshots` says whether snapshots of the run may be taken.
    #[must_use]
    pub fn new(peer: Peer, snapshots: bool) -> Self {
        Self {
            peer,
            ledger: Ledger::new(snapshots),
            incoming: None,
            to_take: false,
            batch: Vec::new(),
            done: 0,
            gave: false,
            all_idle: false,
            not_split: Vec::new(),
        }
    }

    /// The peer.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The pieces that the peer answers for.
    #[must_use]
    pub fn ledger(&self) -> &Ledger<P> {
        &self.ledger
    }

    /// The pieces on their way to and from the peer.
    #[must_use]
    pub fn in_flight(&self) -> InFlight<P> {
        self.ledger.in_flight()
    }

    /// The work that has arrived and that the peer has not taken yet.
    #[must_use]
    pub fn to_take(&self) -> Option<&P> {
        self.incoming.as_ref().filter(|_| self.to_take)
    }

    /// Whether it records what a snapshot needs.
    #[cfg(feature = "faults")]
    #[must_use]
    pub fn records_snapshots(&self) -> bool {
        self.ledger.records_snapshots()
    }

    /// Notes that no further snapshot will be taken.
    #[cfg(feature = "faults")]
    pub fn end_snapshots(&mut self) {
        self.ledger.end_snapshots();
    }

    /// Passes an event to the peer, with the work that came with it, and carries out the peer's actions.
    ///
    /// # Errors
    /// The first effect that fails.
    pub fn handle_event<V: Effects<Piece = P>>(
        &mut self,
        event: Event,
        piece: Option<P>,
        now_ns: u64,
        chooser: &mut dyn Chooser,
        effects: &mut V,
    ) -> Result<(), V::Error> {
        self.begin_event(event, piece, now_ns, chooser, effects);
        while self.carry_out_next(now_ns, chooser, effects)? {}
        Ok(())
    }

    /// Passes an event to the peer. [`Interpreter::carry_out_next`] carries out its actions.
    pub fn begin_event<V: Effects<Piece = P>>(
        &mut self,
        event: Event,
        piece: Option<P>,
        now_ns: u64,
        chooser: &mut dyn Chooser,
        effects: &mut V,
    ) {
        if let Event::Message { from, message } = event {
            if !self.is_possible(from, message, piece.is_some()) {
                return;
            }
            self.to_take = message.brings_work();
        } else {
            self.to_take = false;
        }
        self.incoming = piece;
        self.collect_actions(event, now_ns, chooser, effects);
    }

    /// Whether a peer that obeys the protocol can have sent this message. Others are dropped: invalid messages must not
    /// bring the peer down.
    fn is_possible(&self, from: PeerId, message: Message, has_work: bool) -> bool {
        let known = |peer: PeerId| peer < self.peer.peers() && peer != self.peer.me();
        let possible = match message {
            Message::Work { ticket, .. } => ticket.giver == from && has_work,
            Message::Ack { ticket, .. } => {
                self.peer.keeps_copies() || self.ledger.awaits(ticket, from)
            }
            Message::Pass { thief, .. } => known(thief) && from == 0,
            Message::Load { .. } | Message::Passed { .. } => self.peer.me() == 0,
            Message::Late(_) => has_work,
            _ => true,
        };
        known(from) && possible
    }

    /// The action that [`Interpreter::carry_out_next`] carries out next.
    pub fn next_action(&self) -> Option<&Action> {
        self.batch.get(self.done)
    }

    /// Carries out one action, or reports the results of the batch to the peer. Returns whether there is more to do.
    pub fn carry_out_next<V: Effects<Piece = P>>(
        &mut self,
        now_ns: u64,
        chooser: &mut dyn Chooser,
        effects: &mut V,
    ) -> Result<bool, V::Error> {
        if let Some(&action) = self.next_action() {
            self.done += 1;
            self.carry_out_action(action, effects)?;
            return Ok(true);
        }
        self.batch.clear();
        self.done = 0;
        let next = if let Some(thief) = self.not_split.pop() {
            Event::NotSplit { thief }
        } else if std::mem::take(&mut self.gave) {
            Event::Gave
        } else if std::mem::take(&mut self.all_idle) {
            Event::AllIdle
        } else {
            // Only work that a `Take` should have taken breaks the law: other work may be left over.
            if self.incoming.take().is_some() && std::mem::take(&mut self.to_take) {
                effects.report_violation(Violation::NotTaken)?;
            }
            return Ok(false);
        };
        self.collect_actions(next, now_ns, chooser, effects);
        Ok(true)
    }

    /// Passes an event to the peer, and collects its actions.
    fn collect_actions<V: Effects<Piece = P>>(
        &mut self,
        event: Event,
        now_ns: u64,
        chooser: &mut dyn Chooser,
        effects: &mut V,
    ) {
        let incoming = self.to_take().map_or(0.0, |piece| effects.size_of(piece));
        self.peer.handle_event(event, now_ns, effects.size() + incoming, chooser, &mut self.batch);
    }

    /// Carries out one action.
    fn carry_out_action<V: Effects<Piece = P>>(
        &mut self,
        action: Action,
        effects: &mut V,
    ) -> Result<(), V::Error> {
        match action {
            Action::Send { to, message } => effects.send(to, message, None),
            Action::Give { thief, ticket, share } => match effects.split(share.value())? {
                Some(piece) => {
                    self.gave = true;
                    let held = (&mut self.peer, &mut self.ledger);
                    hand_over(held, thief.peer, ticket, piece, effects)?;
                }
                None => self.not_split.push(thief),
            },
            Action::Take { ticket } => match self.incoming.take() {
                Some(piece) => {
                    self.ledger.record_taken(ticket);
                    effects.add_work(piece)?;
                }
                None => effects.report_violation(Violation::NotArrived(ticket))?,
            },
            Action::Release { ticket } => {
                if !self.ledger.release(ticket) {
                    effects.report_violation(Violation::NotKept(ticket))?;
                }
            }
            Action::Cut { epoch } => effects.cut(epoch, self.ledger.in_flight())?,
            Action::Join => effects.join_counter()?,
            Action::Leave => self.all_idle |= effects.leave_counter()?,
            Action::UpdateIncumbent { score } => effects.update_incumbent(score),
            Action::WakeAt { at_ns } => effects.wake_at(at_ns),
            Action::Finish => effects.finish()?,
            Action::Late(change) => {
                let held = (&mut self.peer, &mut self.ledger, &mut self.incoming);
                self.gave |= carry_out(held, change, effects)?;
            }
        }
        Ok(())
    }

    #[cfg(any(test, feature = "faults"))]
    /// Gives its peer a deliberate fault.
    pub fn mutate(&mut self, mutant: super::mutant::Mutant) {
        self.peer.mutant = mutant;
    }
}
