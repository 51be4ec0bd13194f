//! What a simulated driver does to give work away, its own or of copies of what is out.

use super::cluster::{Kept, World};
use super::load::{Hand, Load};
use crate::balance::{Event, Message, PeerId, Source, Ticket};
use crate::work::Work;
use std::sync::Arc;

impl<L: Load> World<'_, L> {
    /// Splits a piece off, keeps it and sends it.
    pub(super) fn give(
        &mut self,
        me: PeerId,
        to: PeerId,
        (ticket, epoch): (Ticket, u64),
        from: Source,
        share: f64,
        now_ns: u64,
    ) -> Result<(), String> {
        let (hand, late) = (&mut self.units[me as usize].hand, self.cluster.policy.is_late());
        let split = match from {
            Source::Own => hand.split(share),
            Source::Held { ticket, .. } => self.split_copy(me, ticket, share)?,
        };
        let work = Arc::new(split.ok_or(format!("peer {me} gives of less than two nodes"))?);
        if let Source::Held { owner, .. } = from {
            let trim = Message::Trim { ticket };
            self.send(me, owner, trim, Some(Arc::clone(&work)), now_ns);
        }
        let unit = &mut self.units[me as usize];
        if to == me {
            let put = unit.hand.put(&work.bytes);
            self.checker.works(me, true);
            return put.map_err(|why| format!("a copy cannot be read: {why}"));
        }
        let kept = Kept { work: Arc::clone(&work), at_cut: false };
        if unit.ledger.insert(ticket, kept).is_some() {
            return Err(format!("{ticket:?} was used twice"));
        }
        if late {
            self.tell_copy(me, ticket, work.size);
        }
        self.checker.on_give();
        self.send(me, to, Message::Work { ticket, epoch }, Some(work), now_ns);
        Ok(())
    }

    /// Hands that hold these pieces.
    fn holding(&self, work: &Work) -> Result<L::Hand, String> {
        let mut hand = self.load.hand();
        if !work.bytes.is_empty() {
            hand.put(&work.bytes).map_err(|why| format!("a copy cannot be read: {why}"))?;
        }
        Ok(hand)
    }

    /// What is in the one and not in the other.
    fn without(&self, work: &Work, other: &Work) -> Result<L::Hand, String> {
        let mut hand = self.holding(work)?;
        if !other.bytes.is_empty() {
            hand.trim(&other.bytes).map_err(|why| format!("a copy cannot be trimmed: {why}"))?;
        }
        Ok(hand)
    }

    /// Splits a copy: what is left of it is kept.
    fn split_copy(
        &mut self,
        me: PeerId,
        ticket: Ticket,
        share: f64,
    ) -> Result<Option<Work>, String> {
        let mut hand = self.holding(&*self.copy(me, ticket)?)?;
        let given = hand.split(share);
        self.keep(me, ticket, hand.copy());
        Ok(given)
    }

    /// Of a copy only what came with the message is kept.
    pub(super) fn hold(&mut self, me: PeerId, ticket: Ticket) -> Result<(), String> {
        let left = self.coming.take().ok_or("nothing says what is left")?;
        let copy = self.copy(me, ticket)?;
        let done = self.without(&copy, &left)?.copy();
        let still = self.without(&copy, &done)?.copy();
        self.keep(me, ticket, still);
        Ok(())
    }

    /// Drops what was given away elsewhere. What is not there any more has been done, and will be done
    /// again: that is found out by doing it once more, aside.
    pub(super) fn trim(&mut self, me: PeerId) -> Result<(), String> {
        let away = self.coming.take().ok_or("nothing says what to trim")?;
        let hand = &mut self.units[me as usize].hand;
        let (before, best) = (hand.copy(), hand.best());
        hand.trim(&away.bytes).map_err(|why| format!("work cannot be trimmed: {why}"))?;
        let works = hand.size() > 0.0;
        self.checker.works(me, works);
        let mut twice = self.without(&away, &before)?;
        twice.beat(best);
        while twice.size() > 0.0 {
            twice.run(1 << 30);
        }
        self.checker.figures.redundant.add(&twice.counts());
        Ok(())
    }

    fn copy(&self, me: PeerId, ticket: Ticket) -> Result<Arc<Work>, String> {
        let kept = self.units[me as usize].ledger.get(&ticket);
        kept.map(|kept| Arc::clone(&kept.work)).ok_or(format!("of {ticket:?} no copy is kept"))
    }

    fn keep(&mut self, me: PeerId, ticket: Ticket, work: Work) {
        let size = work.size;
        if let Some(kept) = self.units[me as usize].ledger.get_mut(&ticket) {
            kept.work = Arc::new(work);
        }
        self.tell_copy(me, ticket, size);
    }

    /// Tells a peer how large a copy is: it does nothing about it yet.
    fn tell_copy(&mut self, me: PeerId, ticket: Ticket, size: f64) {
        let unit = &mut self.units[me as usize];
        let holds = Event::Holds { ticket, size };
        unit.peer.on(holds, 0, 0.0, &mut unit.chooser, &mut Vec::new());
    }
}
