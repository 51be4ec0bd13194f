//! [`Site`]: one process's side of custody, a pure state machine: every rule of the README's table.

use super::certificate::{Certificate, Content, Rec};
use super::estate::Estate;
use super::lien::{Held, Lien, SiteId};
use super::mutant::Mutant;
use super::trim::MOST_BYTES;
use super::word::{Deed, Word};
use crate::tree::Solution;
use std::sync::Arc;

/// One process's side of custody.
///
/// Its host says what happens, carries out the [`Deed`]s, and decides when to commit, to ask again, to
/// suspect and to give up: nothing that it decides can make a count wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site<C> {
    me: SiteId,
    incarnation: u64,
    given: u64,
    /// How large the certificates are that it tells.
    most_bytes: u64,
    best: Option<Solution>,
    pub(super) leaving: bool,
    /// In the order in which they came.
    pub(super) estates: Vec<Estate<C>>,
    #[cfg(test)]
    pub(crate) mutant: Mutant,
}

pub(super) type Deeds<C> = Vec<Deed<C>>;

impl<C: Content> Site<C> {
    /// A site without work. The incarnation is a random number that this process has just drawn.
    #[must_use]
    pub fn new(me: SiteId, incarnation: u64) -> Self {
        Self {
            me,
            incarnation,
            given: 0,
            most_bytes: MOST_BYTES,
            best: None,
            leaving: false,
            estates: Vec::new(),
            #[cfg(test)]
            mutant: Mutant::None,
        }
    }

    /// The site that holds the whole search: from its beginning, or as a file tells.
    ///
    /// Whoever may still hold what the file lists is told, by [`Site::adopt_all`].
    #[must_use]
    pub fn root(
        me: SiteId,
        incarnation: u64,
        whole: Certificate<C>,
        best: Option<Solution>,
    ) -> Self {
        let mut site = Self::new(me, incarnation);
        site.best = best;
        site.hold(None, None, whole);
        site
    }

    /// Tells the holders of all that the root lists that they now hold it for this site.
    pub fn adopt_all(&self, deeds: &mut Deeds<C>) {
        let estates = self.estates.iter().filter(|_| !self.is(Mutant::ResumeWithoutAdopt));
        for (&lien, rec) in estates.flat_map(|estate| &estate.part.subs) {
            send(rec.holder, Word::Adopt { lien }, deeds);
        }
    }

    /// The site's number.
    #[must_use]
    pub fn me(&self) -> SiteId {
        self.me
    }

    /// The best solution that it knows.
    #[must_use]
    pub fn best(&self) -> Option<&Solution> {
        self.best.as_ref()
    }

    /// Whether it takes no more work.
    #[must_use]
    pub fn leaving(&self) -> bool {
        self.leaving
    }

    /// Whether it was leaving and nothing keeps it any more.
    #[must_use]
    pub fn has_left(&self) -> bool {
        self.leaving && self.estates.is_empty()
    }

    /// All that it holds.
    #[must_use]
    pub fn estates(&self) -> &[Estate<C>] {
        &self.estates
    }

    /// The estate that it works on: the one of which the units have some in hand, or else the first of
    /// which something is open. Others wait.
    #[must_use]
    pub fn working(&self) -> Option<&Estate<C>> {
        let open = |estate: &&Estate<C>| !estate.returning && estate.part.content.has_open();
        let lent = self.estates.iter().find(|estate| estate.lent);
        lent.or_else(|| self.estates.iter().find(open))
    }

    /// What it holds under a name.
    #[must_use]
    pub fn estate(&self, held: Held) -> Option<&Estate<C>> {
        self.estates.iter().find(|estate| estate.held == held)
    }

    pub(super) fn estate_mut(&mut self, held: Held) -> Option<&mut Estate<C>> {
        self.estates.iter_mut().find(|estate| estate.held == held)
    }

    fn live(&mut self, held: Held) -> Option<&mut Estate<C>> {
        self.estate_mut(held).filter(|estate| !estate.returning)
    }

    /// Whether it waits for this work to be done elsewhere.
    #[must_use]
    pub fn lists(&self, lien: Lien) -> bool {
        self.rec(lien).is_some()
    }

    /// The site that holds a lien for this one, as far as is known.
    #[must_use]
    pub fn holder_of(&self, lien: Lien) -> Option<SiteId> {
        self.rec(lien).map(|rec| rec.holder)
    }

    /// Whether the holder of a lien has said before that it holds it.
    #[must_use]
    pub fn is_acked(&self, lien: Lien) -> bool {
        self.rec(lien).is_some_and(|rec| rec.acked)
    }

    /// A lien as a live estate lists it.
    fn rec(&self, lien: Lien) -> Option<&Rec<C>> {
        let mut live = self.estates.iter().filter(|estate| !estate.returning);
        live.find_map(|estate| estate.part.subs.get(&lien))
    }

    /// Whether the whole search is done.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.estate(None).is_some_and(|root| !root.lent && root.part.is_done())
    }

    /// Takes some of what is open here out for the units, or puts it back, by a change to the content.
    /// Returns what the change returns; `None` if this is not live here.
    pub fn change<R>(&mut self, held: Held, change: impl FnOnce(&mut C) -> R) -> Option<R> {
        self.live(held).map(|estate| change(&mut estate.part.content))
    }

    /// Notes whether the units have some of it in hand.
    pub fn lend(&mut self, held: Held, lent: bool) {
        if let Some(estate) = self.live(held) {
            estate.lent = lent;
        }
    }

    /// Knows a solution from now on.
    pub fn found(&mut self, solution: &Solution, deeds: &mut Deeds<C>) {
        if self.best.as_ref().is_none_or(|best| solution.score < best.score) {
            self.best = Some(solution.clone());
            deeds.push(Deed::Better);
        }
    }

    /// Gives what `take` takes from the open work to another site. Returns its name, or `None` if this
    /// is not live here, the site is leaving, or nothing can be taken.
    pub fn give(
        &mut self,
        held: Held,
        to: SiteId,
        take: impl FnOnce(&mut C) -> Option<C>,
        deeds: &mut Deeds<C>,
    ) -> Option<Lien> {
        if self.leaving {
            return None;
        }
        let lien = Lien { site: self.me, incarnation: self.incarnation, number: self.given };
        let keeps = self.is(Mutant::GivesAndKeeps);
        let best = self.told();
        let estate = self.live(held)?;
        let before = keeps.then(|| estate.part.content.clone());
        let content = take(&mut estate.part.content)?;
        if let Some(before) = before {
            estate.part.content = before;
        }
        let rec = Rec { holder: to, acked: false, given: Arc::new(content.clone()), heard: None };
        estate.part.subs.insert(lien, rec);
        self.given += 1;
        send(to, Word::Work { lien, content, best }, deeds);
        Some(lien)
    }

    /// A certificate of this instant, but for what the units have in hand: the host adds what they had
    /// at the same instant.
    #[must_use]
    pub fn freeze(&self, held: Held) -> Option<Certificate<C>> {
        let estate = self.estate(held).filter(|estate| !estate.returning)?;
        let mut part = estate.part.clone();
        if self.is(Mutant::NestedWithoutBytes) {
            part.subs.values_mut().for_each(strip);
        }
        Some(part)
    }

    /// Tells the patron how far a live estate is, by a certificate of any instant.
    pub fn commit(&self, held: Held, certificate: Certificate<C>, deeds: &mut Deeds<C>) {
        let Some(estate) = self.estate(held).filter(|estate| !estate.returning) else { return };
        if let (Some(lien), Some(to)) = (estate.held, estate.patron) {
            let (certificate, best) = (self.trim(certificate), self.told());
            send(to, Word::Commit { lien, certificate, best }, deeds);
        }
    }

    /// Tells the patron of a live estate that it is still held here, when there is no certificate to tell: a
    /// node may take longer than a lease.
    pub fn affirm(&self, held: Held, deeds: &mut Deeds<C>) {
        let Some(estate) = self.estate(held).filter(|estate| !estate.returning) else { return };
        if let (Some(lien), Some(to)) = (estate.held, estate.patron) {
            send(to, Word::Ack { lien }, deeds);
        }
    }

    /// Whether an estate can be returned now.
    #[must_use]
    pub fn may_return(&self, held: Held) -> bool {
        self.estate(held).is_some_and(|estate| self.is_ready(estate))
    }

    /// The estates that can be returned now.
    pub fn ready(&self) -> impl Iterator<Item = &Estate<C>> {
        self.estates.iter().filter(|estate| self.is_ready(estate))
    }

    fn is_ready(&self, estate: &Estate<C>) -> bool {
        let early = [Mutant::ReturnsBeforeAcks, Mutant::ReturnsUnackedAsOpen];
        let early = early.into_iter().any(|early| self.is(early));
        estate.held.is_some()
            && estate.patron.is_some()
            && !estate.returning
            && !estate.lent
            && (self.leaving || !estate.part.content.has_open())
            && (early || estate.part.subs.values().all(|rec| rec.acked))
    }

    /// Returns an estate to its patron if it can be returned now.
    pub fn give_back(&mut self, held: Held, deeds: &mut Deeds<C>) -> bool {
        if !self.may_return(held) {
            return false;
        }
        let open = self.is(Mutant::ReturnsUnackedAsOpen);
        if let Some(estate) = self.estate_mut(held) {
            estate.returning = true;
            if open {
                estate.part.subs.retain(|_, rec| {
                    if !rec.acked {
                        estate.part.content.add(rec.content());
                    }
                    rec.acked
                });
            }
        }
        self.say_again(held, deeds);
        if self.is(Mutant::ForgetsAtReturn) {
            self.estates.retain(|estate| estate.held != held);
        }
        true
    }

    /// Says again that an estate is returned.
    pub fn say_again(&self, held: Held, deeds: &mut Deeds<C>) {
        let Some(estate) = self.estate(held).filter(|estate| estate.returning) else { return };
        if let (Some(lien), Some(to)) = (estate.held, estate.patron) {
            let mut certificate = estate.part.clone();
            if self.is(Mutant::ReturnWithoutSubs) {
                certificate.subs.clear();
            }
            let (certificate, best) = (self.trim(certificate), self.told());
            send(to, Word::Return { lien, certificate, best }, deeds);
        }
    }

    /// Asks the holder of a lien how far it is.
    pub fn ask(&self, lien: Lien, deeds: &mut Deeds<C>) {
        let foreign = lien.incarnation != self.incarnation;
        if foreign && self.is(Mutant::ResumeWithoutAdopt) {
            return;
        }
        let known = |estate: &&Estate<C>| !estate.returning && !estate.is_orphan();
        let rec = self.estates.iter().filter(known).find_map(|one| one.part.subs.get(&lien));
        if let Some(rec) = rec {
            send(rec.holder, Word::Adopt { lien }, deeds);
        }
    }

    /// Asks for all that a site holds, which may just have come back.
    pub fn ask_all_of(&self, holder: SiteId, deeds: &mut Deeds<C>) {
        let live = self.estates.iter().filter(|estate| !estate.returning);
        let held = live.flat_map(|estate| &estate.part.subs).filter(|(_, it)| it.holder == holder);
        held.for_each(|(&lien, _)| self.ask(lien, deeds));
    }

    /// Takes a lien back from a holder that is silent or gone. If it is neither, that costs only time.
    pub fn suspect(&mut self, lien: Lien, deeds: &mut Deeds<C>) {
        let rec = self.live_recs(lien).next();
        if let Some(holder) = rec.map(|rec| rec.holder) {
            send(holder, Word::Unknown { lien }, deeds);
            self.fold_all(lien, deeds);
        }
    }

    /// Gives up an estate for which no patron comes.
    pub fn abandon(&mut self, lien: Lien, deeds: &mut Deeds<C>) {
        let Some(at) = self.estates.iter().position(|estate| estate.held == Some(lien)) else {
            return;
        };
        let Certificate { content, subs } = self.estates.remove(at).part;
        for (sub, rec) in subs {
            send(rec.holder, Word::Unknown { lien: sub }, deeds);
        }
        deeds.push(Deed::Dropped { lien, content });
    }

    /// Has the site tell certificates of about this many bytes at most, where it can. Whatever is left out
    /// costs only time: if several sites die at once, more of what they did is done again.
    pub fn tell_at_most(&mut self, bytes: u64) {
        self.most_bytes = bytes;
    }

    /// Takes no more work, and returns what there is as soon as the units have handed it over.
    pub fn leave(&mut self) {
        self.leaving = true;
    }

    /// Takes back all that another site holds.
    pub fn take_back(&mut self, site: SiteId, deeds: &mut Deeds<C>) {
        let live = self.estates.iter().filter(|estate| !estate.returning);
        let held: Vec<Lien> = live
            .flat_map(|estate| &estate.part.subs)
            .filter(|(_, rec)| rec.holder == site)
            .map(|(&lien, _)| lien)
            .collect();
        held.into_iter().for_each(|lien| self.suspect(lien, deeds));
    }

    /// Whether another site holds something for this one.
    #[must_use]
    pub fn relies_on(&self, site: SiteId) -> bool {
        let mut live = self.estates.iter().filter(|estate| !estate.returning);
        live.any(|estate| estate.part.subs.values().any(|rec| rec.holder == site))
    }

    /// Another site is gone for good: it is as silent as can be.
    pub fn lost(&mut self, site: SiteId, deeds: &mut Deeds<C>) {
        self.take_back(site, deeds);
        for estate in &mut self.estates {
            estate.patron = estate.patron.filter(|&patron| patron != site);
        }
    }

    pub(super) fn hold(&mut self, held: Held, patron: Option<SiteId>, part: Certificate<C>) {
        self.estates.push(Estate { held, patron, returning: false, lent: false, part });
    }

    /// A certificate as others are told of it: not too large.
    fn trim(&self, certificate: Certificate<C>) -> Arc<Certificate<C>> {
        let mut certificate = certificate.trimmed(self.most_bytes);
        if self.is(Mutant::TrimsTheSubs) {
            let heard = certificate.subs.values_mut().filter_map(|rec| rec.heard.as_mut());
            heard.for_each(|heard| Arc::make_mut(heard).subs.clear());
        }
        Arc::new(certificate)
    }

    /// The best solution as others are told of it: always with its plan.
    fn told(&self) -> Option<Solution> {
        let mut best = self.best.clone();
        if let Some(best) = best.as_mut().filter(|_| self.is(Mutant::ValueWithoutPlan)) {
            best.plan.clear();
        }
        best
    }

    /// Holds something in any state, to try what no run may ever reach.
    #[cfg(test)]
    pub(crate) fn hold_anything(
        &mut self,
        lien: Lien,
        patron: Option<SiteId>,
        returning: bool,
        part: Certificate<C>,
    ) {
        self.estates.push(Estate { held: Some(lien), patron, returning, lent: false, part });
    }

    #[cfg(test)]
    pub(super) fn is(&self, mutant: Mutant) -> bool {
        self.mutant == mutant
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self)]
    pub(super) const fn is(&self, _mutant: Mutant) -> bool {
        false
    }
}

pub(super) fn send<C>(to: SiteId, word: Word<C>, deeds: &mut Vec<Deed<C>>) {
    deeds.push(Deed::Send { to, word });
}

/// What a mutant leaves of a lien: its name.
fn strip<C: Content>(rec: &mut Rec<C>) {
    (rec.given, rec.heard) = (Arc::default(), None);
}
