//! [`Move`]: everything that can happen in a model: the sites' own steps, their timers, and faults.

use super::bits::Bits;
use super::lease_model::LeaseModel;
use pleach_core::lease::{
    Content, Holding, HoldingId, Lease, LeaseMutant, ProgressReport, Site, SiteId,
};

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// A unit of work is done.
    Work(usize),
    /// The last open units of a holding, this many, go to another site.
    Give(usize, HoldingId, SiteId, u32),
    /// A site takes a progress report.
    Cut(usize, HoldingId),
    /// A site sends the report to its lender, or writes it to the file.
    Tell(usize),
    /// A site answers a lender that asked.
    Answer(usize, Lease),
    Return(usize, Lease),
    Deliver(usize),
    Ask(usize, Lease),
    /// A site reports to a lender that may not list the lease.
    Commit(usize, Lease),
    SayAgain(usize, Lease),
    Suspect(usize, Lease),
    Abandon(usize, Lease),
    Join(usize),
    Leave(usize),
    Exit(usize),
    Die(usize),
    Resume,
    /// The root starts another run.
    Restart,
    /// A standby takes the place of a root that is alive.
    TakeOver,
    /// A message to the root reaches the one whose place was taken.
    DeliverToOld(usize),
    Lose(usize),
    Double(usize),
}

impl LeaseModel {
    /// Everything that can happen now, and whether it is a fault or chance. The other moves alone must lead to an end.
    pub fn moves(&self) -> Vec<(Move, bool)> {
        let mut moves = Vec::new();
        for place in 0..self.places {
            self.moves_at(place, &mut moves);
        }
        self.moves_of_old_root(&mut moves);
        let old = self.processes.get(self.places).is_some_and(Option::is_some);
        for at in self.deliverable() {
            moves.push((Move::Deliver(at), false));
            if old && self.in_flight[at].to == 0 {
                moves.push((Move::DeliverToOld(at), true));
            }
            if self.left.losses > 0 {
                moves.push((Move::Lose(at), true));
            }
            if self.left.doubles > 0 {
                moves.push((Move::Double(at), true));
            }
        }
        moves
    }

    fn moves_at(&self, place: usize, moves: &mut Vec<(Move, bool)>) {
        let left = &self.left;
        let Some(process) = &self.processes[place] else {
            if place == 0 {
                if self.file.is_some() {
                    moves.push((Move::Resume, false));
                }
                if left.restarts > 0 {
                    moves.push((Move::Restart, self.file.is_some()));
                }
            } else if left.joins > 0 {
                moves.push((Move::Join(place), true));
            }
            return;
        };
        let site = &process.site;
        if site.has_left() {
            return moves.push((Move::Exit(place), false));
        }
        // A site that is leaving only hands over its work.
        if !site.leaving() && site.current_holding().is_some() {
            moves.push((Move::Work(place), false));
        }
        for holding in site.holdings() {
            self.moves_of(place, holding.held(), site, moves);
        }
        if process.cut.is_some() {
            moves.push((Move::Tell(place), false));
        }
        moves.extend(process.owed.iter().map(|&lease| (Move::Answer(place, lease), false)));
        if place > 0 && left.leaves > 0 && !site.leaving() {
            moves.push((Move::Leave(place), true));
        }
        if place > 0 && left.deaths > 0 {
            moves.push((Move::Die(place), true));
        }
        if place == 0 && left.takeovers > 0 && self.file.is_some() {
            moves.push((Move::TakeOver, true));
        }
        if place == 0 && left.root_deaths > 0 && (self.file.is_some() || left.restarts > 0) {
            moves.push((Move::Die(place), true));
        }
    }

    /// Nobody needs what a root does once its place was taken.
    fn moves_of_old_root(&self, moves: &mut Vec<(Move, bool)>) {
        let place = self.places;
        let Some(Some(process)) = self.processes.get(place) else { return };
        let mut own = Vec::new();
        if process.site.current_holding().is_some() {
            own.push((Move::Work(place), true));
        }
        own.extend(process.owed.iter().map(|&lease| (Move::Answer(place, lease), true)));
        for holding in process.site.holdings() {
            self.moves_of(place, holding.held(), &process.site, &mut own);
            let subs = holding.part().subs.keys();
            own.extend(subs.map(|&lease| (Move::Suspect(place, lease), true)));
        }
        // Its file is no longer that of the search.
        own.retain(|(what, _)| !matches!(what, Move::Cut(..)));
        moves.extend(own.into_iter().map(|(what, _)| (what, true)));
    }

    fn moves_of(
        &self,
        place: usize,
        held: HoldingId,
        site: &Site<Bits>,
        moves: &mut Vec<(Move, bool)>,
    ) {
        let (left, Some(process), Some(holding)) =
            (&self.left, &self.processes[place], site.holding(held))
        else {
            return;
        };
        let mut open = holding.part().content.open.count_ones();
        let in_hand = process.in_hand == Some(held);
        if in_hand {
            open += process.hand.open.count_ones();
        }
        let live = !holding.returning();
        if live && left.gives > 0 && !site.leaving() {
            // A site may send to itself too; the rules need no exception for that.
            for to in 0..self.places {
                let sizes = 1..open;
                moves.extend(sizes.map(|n| (Move::Give(place, held, to as SiteId, n), true)));
            }
        }
        if live && left.commits > 0 && process.cut.is_none() && !holding.is_orphan() {
            moves.push((Move::Cut(place, held), true));
        }
        if live {
            self.timers_of_subs(place, held, site, moves);
        }
        let Some(lease) = held else { return };
        if site.may_return(held) {
            moves.push((Move::Return(place, lease), false));
        }
        if holding.returning() && self.faulty && !self.is_on_its_way(lease) {
            moves.push((Move::SayAgain(place, lease), false));
        }
        let lender = holding.lender().filter(|&lender| self.processes[lender as usize].is_some());
        let listed = lender.is_none_or(|lender| self.lists_live(lender as usize, lease));
        if live && self.faulty && !listed && !self.is_on_its_way(lease) {
            moves.push((Move::Commit(place, lease), false));
        }
        if lender.is_none() && !self.is_listed(lease) && !self.is_on_its_way(lease) {
            moves.push((Move::Abandon(place, lease), false));
        } else if left.suspicions > 0 {
            moves.push((Move::Abandon(place, lease), true));
        }
    }

    /// The timers of leases whose borrower has been silent for long.
    fn timers_of_subs(
        &self,
        place: usize,
        held: HoldingId,
        site: &Site<Bits>,
        moves: &mut Vec<(Move, bool)>,
    ) {
        let Some(holding) = site.holding(held) else { return };
        for (&lease, rec) in &holding.part().subs {
            let silent = !self.is_on_its_way(lease);
            let holder = self.processes[rec.holder as usize].as_ref();
            let held = holder.and_then(|holder| holder.site.holding(Some(lease)));
            let holds = held.is_some_and(|held| held.lender() == Some(place as SiteId));
            if (self.faulty || !holds)
                && silent
                && !holding.is_orphan()
                && self.mutant != LeaseMutant::NeverAsksAgain
            {
                moves.push((Move::Ask(place, lease), false));
            }
            if holder.is_none() && silent {
                moves.push((Move::Suspect(place, lease), false));
            } else if self.left.suspicions > 0 {
                moves.push((Move::Suspect(place, lease), true));
            }
        }
    }

    fn is_on_its_way(&self, lease: Lease) -> bool {
        self.in_flight.iter().any(|packet| packet.message.lease() == lease)
    }

    /// Plays a move.
    ///
    /// # Errors
    /// The law that it broke.
    pub fn play(&mut self, what: Move) -> Result<(), String> {
        match what {
            Move::Work(place) => self.work(place)?,
            Move::Give(place, held, to, count) => self.give(place, held, to, count)?,
            Move::Cut(place, held) => {
                self.left.commits -= 1;
                self.cut(place, held)?;
            }
            Move::Tell(place) => self.tell(place)?,
            Move::Answer(place, lease) | Move::Commit(place, lease) => {
                self.at(place)?.owed.remove(&lease);
                if let Some(part) = self.whole(place, Some(lease))? {
                    self.act(place, |site, actions| site.send_commit(Some(lease), part, actions))?;
                }
            }
            Move::Return(place, lease) => {
                self.at(place)?.owed.remove(&lease);
                self.act(place, |site, actions| {
                    site.return_holding(Some(lease), actions);
                })?;
            }
            Move::Deliver(at) => {
                let packet = self.in_flight.remove(at);
                let place = packet.to as usize;
                self.deliver(packet, place)?;
            }
            Move::DeliverToOld(at) => {
                let packet = self.in_flight.remove(at);
                self.deliver(packet, self.places)?;
            }
            Move::Ask(place, lease) => {
                self.act(place, |site, actions| site.ask_holder(lease, actions))?
            }
            Move::SayAgain(place, lease) => {
                self.act(place, |site, actions| site.repeat_return(Some(lease), actions))?;
            }
            Move::Suspect(place, lease) => {
                let holder = self.holder(place, lease);
                let there = holder.is_some_and(|holder| self.processes[holder as usize].is_some());
                // After a takeover, any lease may be held for the other root.
                if place < self.places && (there || self.is_on_its_way(lease)) {
                    self.left.suspicions -= 1;
                    self.fault();
                }
                self.act(place, |site, actions| site.take_back_lease(lease, actions))?;
            }
            Move::Abandon(place, lease) => {
                let site = &self.at(place)?.site;
                let lender = site.holding(Some(lease)).and_then(Holding::lender);
                let gone = lender.is_none_or(|lender| self.processes[lender as usize].is_none());
                if !gone || self.is_listed(lease) || self.is_on_its_way(lease) {
                    self.left.suspicions -= 1;
                    self.fault();
                }
                self.act(place, |site, actions| site.drop_holding(lease, actions))?;
            }
            Move::Join(place) => {
                self.left.joins -= 1;
                self.join(place);
            }
            Move::Leave(place) => {
                self.left.leaves -= 1;
                self.settle(place)?;
                self.at(place)?.site.leave();
            }
            Move::Exit(place) => self.processes[place] = None,
            Move::Die(place) => {
                let deaths =
                    if place == 0 { &mut self.left.root_deaths } else { &mut self.left.deaths };
                *deaths -= 1;
                self.fault();
                self.processes[place] = None;
            }
            Move::Resume => self.resume()?,
            Move::TakeOver => {
                self.left.takeovers -= 1;
                self.fault();
                self.take_over()?;
            }
            Move::Restart => {
                self.left.restarts -= 1;
                self.restart();
            }
            Move::Lose(at) => {
                self.left.losses -= 1;
                self.fault();
                self.in_flight.remove(at);
            }
            Move::Double(at) => {
                self.left.doubles -= 1;
                self.fault();
                let packet = self.in_flight[at].clone();
                let place = packet.to as usize;
                self.deliver(packet, place)?;
            }
        }
        self.judge()
    }

    fn lists_live(&self, place: usize, lease: Lease) -> bool {
        self.holder(place, lease).is_some()
    }

    fn holder(&self, place: usize, lease: Lease) -> Option<SiteId> {
        let holdings = self.processes[place].iter().flat_map(|process| process.site.holdings());
        let mut live = holdings.filter(|holding| !holding.returning());
        live.find_map(|holding| holding.part().subs.get(&lease)).map(|rec| rec.holder)
    }

    fn give(
        &mut self,
        place: usize,
        held: HoldingId,
        to: SiteId,
        count: u32,
    ) -> Result<(), String> {
        self.left.gives -= 1;
        // What the workers hold must first return to the site.
        if self.at(place)?.in_hand == Some(held) {
            self.settle(place)?;
        }
        self.act(place, |site, actions| {
            site.lend_work(held, to, |content| Some(content.take(count)), actions);
        })
    }

    /// A progress report of the current state.
    fn whole(
        &mut self,
        place: usize,
        held: HoldingId,
    ) -> Result<Option<ProgressReport<Bits>>, String> {
        let process = self.at(place)?;
        let mut part = process.site.current_report(held);
        if let Some(part) = part.as_mut().filter(|_| process.in_hand == Some(held)) {
            part.content.add(&process.hand);
        }
        Ok(part)
    }

    fn cut(&mut self, place: usize, held: HoldingId) -> Result<(), String> {
        let part = self.whole(place, held)?;
        self.at(place)?.cut = part.map(|part| (held, part));
        Ok(())
    }

    fn tell(&mut self, place: usize) -> Result<(), String> {
        let mutant = self.mutant;
        let Some((held, mut part)) = self.at(place)?.cut.take() else { return Ok(()) };
        let now = self.whole(place, held)?;
        match (mutant, now) {
            (LeaseMutant::SubsOfNow, Some(now)) => part.subs = now.subs,
            (LeaseMutant::RestOfNow, Some(now)) => part.content.open = now.content.open,
            (LeaseMutant::Deltas, Some(_)) => self.forget_done(place, held)?,
            _ => {}
        }
        if held.is_some() {
            return self.act(place, |site, actions| site.send_commit(held, part, actions));
        }
        let best = self.at(place)?.site.best().cloned();
        self.file = Some((part, best));
        Ok(())
    }

    /// What a mutant does once it has reported what was done.
    fn forget_done(&mut self, place: usize, held: HoldingId) -> Result<(), String> {
        let process = self.at(place)?;
        process.site.change_content(held, |content| content.done = 0);
        if process.in_hand == Some(held) {
            process.hand.done = 0;
        }
        Ok(())
    }
}
