//! [`Move`]: all that can happen in a room: the sites' own steps, their timers, and faults.

use super::bits::Bits;
use super::room::Room;
use crate::custody::{Certificate, Content, Estate, Held, Lien, Mutant, Site, SiteId};

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// A unit of work is done.
    Work(usize),
    /// The last so many open units of an estate go to another site.
    Give(usize, Held, SiteId, u32),
    /// A certificate is taken.
    Cut(usize, Held),
    /// It is told to the patron, or written to the file.
    Tell(usize),
    /// A patron who asked is told.
    Answer(usize, Lien),
    Return(usize, Lien),
    Deliver(usize),
    Ask(usize, Lien),
    /// A commit to a patron who, as it happens, does not list the lien.
    Commit(usize, Lien),
    SayAgain(usize, Lien),
    Suspect(usize, Lien),
    Abandon(usize, Lien),
    Join(usize),
    Leave(usize),
    Exit(usize),
    Die(usize),
    Resume,
    /// The root begins another run.
    Restart,
    Lose(usize),
    Double(usize),
}

impl Room {
    /// Everything that can happen now, and whether it is a fault or chance: what is neither must lead to
    /// an end by itself.
    pub fn moves(&self) -> Vec<(Move, bool)> {
        let mut moves = Vec::new();
        for place in 0..self.seats.len() {
            self.moves_at(place, &mut moves);
        }
        for at in self.deliverable() {
            moves.push((Move::Deliver(at), false));
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
        let Some(seat) = &self.seats[place] else {
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
        let site = &seat.site;
        if site.has_left() {
            return moves.push((Move::Exit(place), false));
        }
        // One that leaves only hands its work over.
        if !site.leaving() && site.working().is_some() {
            moves.push((Move::Work(place), false));
        }
        for estate in site.estates() {
            self.moves_of(place, estate.held(), site, moves);
        }
        if seat.cut.is_some() {
            moves.push((Move::Tell(place), false));
        }
        moves.extend(seat.owed.iter().map(|&lien| (Move::Answer(place, lien), false)));
        if place > 0 && left.leaves > 0 && !site.leaving() {
            moves.push((Move::Leave(place), true));
        }
        if place > 0 && left.deaths > 0 {
            moves.push((Move::Die(place), true));
        }
        if place == 0 && left.root_deaths > 0 && (self.file.is_some() || left.restarts > 0) {
            moves.push((Move::Die(place), true));
        }
    }

    fn moves_of(&self, place: usize, held: Held, site: &Site<Bits>, moves: &mut Vec<(Move, bool)>) {
        let (left, Some(seat), Some(estate)) = (&self.left, &self.seats[place], site.estate(held))
        else {
            return;
        };
        let mut open = estate.part().content.open.count_ones();
        let in_hand = seat.in_hand == Some(held);
        if in_hand {
            open += seat.hand.open.count_ones();
        }
        let live = !estate.returning();
        if live && left.gives > 0 && !site.leaving() {
            // To itself too: that is no special case.
            for to in 0..self.seats.len() {
                let sizes = 1..open;
                moves.extend(sizes.map(|n| (Move::Give(place, held, to as SiteId, n), true)));
            }
        }
        if live && left.commits > 0 && seat.cut.is_none() && !estate.is_orphan() {
            moves.push((Move::Cut(place, held), true));
        }
        if live {
            self.timers_of_subs(place, held, site, moves);
        }
        let Some(lien) = held else { return };
        if site.may_return(held) {
            moves.push((Move::Return(place, lien), false));
        }
        if estate.returning() && self.faulty && !self.is_on_its_way(lien) {
            moves.push((Move::SayAgain(place, lien), false));
        }
        let patron = estate.patron().filter(|&patron| self.seats[patron as usize].is_some());
        let listed = patron.is_none_or(|patron| self.lists_live(patron as usize, lien));
        if live && self.faulty && !listed && !self.is_on_its_way(lien) {
            moves.push((Move::Commit(place, lien), false));
        }
        if patron.is_none() && !self.is_listed(lien) && !self.is_on_its_way(lien) {
            moves.push((Move::Abandon(place, lien), false));
        } else if left.suspicions > 0 {
            moves.push((Move::Abandon(place, lien), true));
        }
    }

    /// What the patron of some liens does when it hears nothing for long.
    fn timers_of_subs(
        &self,
        place: usize,
        held: Held,
        site: &Site<Bits>,
        moves: &mut Vec<(Move, bool)>,
    ) {
        let Some(estate) = site.estate(held) else { return };
        for (&lien, rec) in &estate.part().subs {
            let silent = !self.is_on_its_way(lien);
            let holder = self.seats[rec.holder as usize].as_ref();
            let held = holder.and_then(|holder| holder.site.estate(Some(lien)));
            let holds = held.is_some_and(|held| held.patron() == Some(place as SiteId));
            if (self.faulty || !holds)
                && silent
                && !estate.is_orphan()
                && self.mutant != Mutant::NeverAsksAgain
            {
                moves.push((Move::Ask(place, lien), false));
            }
            if holder.is_none() && silent {
                moves.push((Move::Suspect(place, lien), false));
            } else if self.left.suspicions > 0 {
                moves.push((Move::Suspect(place, lien), true));
            }
        }
    }

    fn is_on_its_way(&self, lien: Lien) -> bool {
        self.mail.iter().any(|letter| letter.word.lien() == lien)
    }

    /// Lets something happen.
    ///
    /// # Errors
    /// The law that it breaks.
    pub fn play(&mut self, what: Move) -> Result<(), String> {
        match what {
            Move::Work(place) => self.work(place)?,
            Move::Give(place, held, to, count) => self.give(place, held, to, count)?,
            Move::Cut(place, held) => {
                self.left.commits -= 1;
                self.cut(place, held)?;
            }
            Move::Tell(place) => self.tell(place)?,
            Move::Answer(place, lien) | Move::Commit(place, lien) => {
                self.at(place)?.owed.remove(&lien);
                if let Some(part) = self.whole(place, Some(lien))? {
                    self.act(place, |site, deeds| site.commit(Some(lien), part, deeds))?;
                }
            }
            Move::Return(place, lien) => {
                self.at(place)?.owed.remove(&lien);
                self.act(place, |site, deeds| {
                    site.give_back(Some(lien), deeds);
                })?;
            }
            Move::Deliver(at) => {
                let letter = self.mail.remove(at);
                self.deliver(letter)?;
            }
            Move::Ask(place, lien) => self.act(place, |site, deeds| site.ask(lien, deeds))?,
            Move::SayAgain(place, lien) => {
                self.act(place, |site, deeds| site.say_again(Some(lien), deeds))?;
            }
            Move::Suspect(place, lien) => {
                let holder = self.holder(place, lien);
                let there = holder.is_some_and(|holder| self.seats[holder as usize].is_some());
                if there || self.is_on_its_way(lien) {
                    self.left.suspicions -= 1;
                    self.fault();
                }
                self.act(place, |site, deeds| site.suspect(lien, deeds))?;
            }
            Move::Abandon(place, lien) => {
                let site = &self.at(place)?.site;
                let patron = site.estate(Some(lien)).and_then(Estate::patron);
                let gone = patron.is_none_or(|patron| self.seats[patron as usize].is_none());
                if !gone || self.is_listed(lien) || self.is_on_its_way(lien) {
                    self.left.suspicions -= 1;
                    self.fault();
                }
                self.act(place, |site, deeds| site.abandon(lien, deeds))?;
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
            Move::Exit(place) => self.seats[place] = None,
            Move::Die(place) => {
                let deaths =
                    if place == 0 { &mut self.left.root_deaths } else { &mut self.left.deaths };
                *deaths -= 1;
                self.fault();
                self.seats[place] = None;
            }
            Move::Resume => self.resume()?,
            Move::Restart => {
                self.left.restarts -= 1;
                self.restart();
            }
            Move::Lose(at) => {
                self.left.losses -= 1;
                self.fault();
                self.mail.remove(at);
            }
            Move::Double(at) => {
                self.left.doubles -= 1;
                self.fault();
                let letter = self.mail[at].clone();
                self.deliver(letter)?;
            }
        }
        self.judge()
    }

    fn lists_live(&self, place: usize, lien: Lien) -> bool {
        self.holder(place, lien).is_some()
    }

    fn holder(&self, place: usize, lien: Lien) -> Option<SiteId> {
        let estates = self.seats[place].iter().flat_map(|seat| seat.site.estates());
        let mut live = estates.filter(|estate| !estate.returning());
        live.find_map(|estate| estate.part().subs.get(&lien)).map(|rec| rec.holder)
    }

    fn give(&mut self, place: usize, held: Held, to: SiteId, count: u32) -> Result<(), String> {
        self.left.gives -= 1;
        // What the units have goes through the site's own hands.
        if self.at(place)?.in_hand == Some(held) {
            self.settle(place)?;
        }
        self.act(place, |site, deeds| {
            site.give(held, to, |content| Some(content.take(count)), deeds);
        })
    }

    /// A certificate of this instant.
    fn whole(&mut self, place: usize, held: Held) -> Result<Option<Certificate<Bits>>, String> {
        let seat = self.at(place)?;
        let mut part = seat.site.freeze(held);
        if let Some(part) = part.as_mut().filter(|_| seat.in_hand == Some(held)) {
            part.content.add(&seat.hand);
        }
        Ok(part)
    }

    fn cut(&mut self, place: usize, held: Held) -> Result<(), String> {
        let part = self.whole(place, held)?;
        self.at(place)?.cut = part.map(|part| (held, part));
        Ok(())
    }

    fn tell(&mut self, place: usize) -> Result<(), String> {
        let mutant = self.mutant;
        let Some((held, mut part)) = self.at(place)?.cut.take() else { return Ok(()) };
        let now = self.whole(place, held)?;
        match (mutant, now) {
            (Mutant::SubsOfNow, Some(now)) => part.subs = now.subs,
            (Mutant::RestOfNow, Some(now)) => part.content.open = now.content.open,
            (Mutant::Deltas, Some(_)) => self.forget_done(place, held)?,
            _ => {}
        }
        if held.is_some() {
            return self.act(place, |site, deeds| site.commit(held, part, deeds));
        }
        let best = self.at(place)?.site.best().cloned();
        self.file = Some((part, best));
        Ok(())
    }

    /// What a mutant does once it has told what was done.
    fn forget_done(&mut self, place: usize, held: Held) -> Result<(), String> {
        let seat = self.at(place)?;
        seat.site.change(held, |content| content.done = 0);
        if seat.in_hand == Some(held) {
            seat.hand.done = 0;
        }
        Ok(())
    }
}
