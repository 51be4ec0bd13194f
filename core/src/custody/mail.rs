//! What a site does about each word, and the fold: how it takes over what another site says.

use super::certificate::{Certificate, Content, Rec};
use super::lien::{Lien, SiteId};
use super::mutant::Mutant;
use super::site::{Deeds, Site, send};
use super::word::{Deed, Word};
use crate::tree::Solution;
use std::collections::btree_map::Entry;
use std::sync::Arc;

impl<C: Content> Site<C> {
    /// Takes in a word from another site, or from itself.
    pub fn on(&mut self, from: SiteId, word: Word<C>, deeds: &mut Deeds<C>) {
        match word {
            Word::Work { lien, content, best } => {
                self.take_best(best, deeds);
                self.on_work(from, lien, content, deeds);
            }
            Word::Ack { lien } => self.on_ack(from, lien, deeds),
            Word::Commit { lien, certificate, best } => {
                self.take_best(best, deeds);
                self.on_certificate(from, lien, &certificate, false, deeds);
            }
            Word::Return { lien, certificate, best } => {
                self.take_best(best, deeds);
                self.on_certificate(from, lien, &certificate, true, deeds);
            }
            // That it came is all it says.
            Word::Committed { .. } => {}
            Word::Returned { lien } => self.estates.retain(|estate| {
                !(estate.held == Some(lien) && estate.returning && estate.patron == Some(from))
            }),
            Word::Adopt { lien } => self.on_adopt(from, lien, deeds),
            Word::Missing { lien } => {
                if self.live_recs(lien).any(|rec| rec.holder == from) {
                    self.fold_all(lien, deeds);
                }
            }
            Word::Unknown { lien } => {
                let drops = self.is(Mutant::DropsOnUnknown);
                if let Some(estate) = self.estate_mut(Some(lien))
                    && estate.patron == Some(from)
                {
                    estate.patron = None;
                    if drops {
                        self.abandon(lien, deeds);
                    }
                }
            }
        }
    }

    fn on_work(&mut self, from: SiteId, lien: Lien, content: C, deeds: &mut Deeds<C>) {
        if self.leaving {
            return self.miss(from, lien, deeds);
        }
        if self.estate(Some(lien)).is_none() {
            let mixes = self.is(Mutant::MixesLiens);
            let first = self.estates.iter_mut().find(|estate| mixes && !estate.returning);
            if let Some(first) = first {
                first.part.content.add(&content);
                self.hold(Some(lien), Some(from), Certificate::default());
            } else {
                self.hold(Some(lien), Some(from), Certificate::of(content));
            }
            send(from, Word::Ack { lien }, deeds);
            deeds.push(Deed::Came { lien, from });
        }
    }

    fn on_ack(&mut self, from: SiteId, lien: Lien, deeds: &mut Deeds<C>) {
        let (mut live, mut new) = (false, false);
        for rec in self.live_recs(lien) {
            live = true;
            new |= !std::mem::replace(&mut rec.acked, true);
        }
        if new {
            deeds.push(Deed::Arrived { lien, at: from });
        } else if !live && !self.lists_in_return(lien) {
            send(from, Word::Unknown { lien }, deeds);
        }
    }

    fn on_certificate(
        &mut self,
        from: SiteId,
        lien: Lien,
        certificate: &Arc<Certificate<C>>,
        returned: bool,
        deeds: &mut Deeds<C>,
    ) {
        let (mut live, mut new) = (false, false);
        for rec in self.live_recs(lien) {
            live = true;
            new |= !rec.acked;
            (rec.holder, rec.acked) = (from, true);
            rec.heard = Some(Arc::clone(certificate));
        }
        if new {
            deeds.push(Deed::Arrived { lien, at: from });
        }
        if live {
            if returned {
                self.fold_all(lien, deeds);
                send(from, Word::Returned { lien }, deeds);
            }
        } else if !self.lists_in_return(lien) {
            self.on_unlisted(from, lien, certificate, returned);
            send(from, Word::Unknown { lien }, deeds);
        }
    }

    /// What two mutants do about a certificate of a lien that is not listed.
    fn on_unlisted(
        &mut self,
        from: SiteId,
        lien: Lien,
        certificate: &Arc<Certificate<C>>,
        returned: bool,
    ) {
        let (folds, lists) = (Mutant::FoldsTheUnlisted, Mutant::ListsTheUnlisted);
        let (folds, lists) = (returned && self.is(folds), !returned && self.is(lists));
        if let Some(estate) = self.estates.iter_mut().find(|estate| !estate.returning) {
            if folds {
                estate.part.content.add(&certificate.content);
            } else if lists {
                let (given, heard) = (Arc::default(), Some(Arc::clone(certificate)));
                estate.part.subs.insert(lien, Rec { holder: from, acked: true, given, heard });
            }
        }
    }

    fn on_adopt(&mut self, from: SiteId, lien: Lien, deeds: &mut Deeds<C>) {
        let Some(estate) = self.estate_mut(Some(lien)) else {
            return self.miss(from, lien, deeds);
        };
        estate.patron = Some(from);
        if estate.returning {
            self.say_again(Some(lien), deeds);
        } else {
            deeds.push(Deed::Owed { lien });
        }
    }

    fn miss(&self, to: SiteId, lien: Lien, deeds: &mut Deeds<C>) {
        if !self.is(Mutant::NoMissing) {
            send(to, Word::Missing { lien }, deeds);
        }
    }

    /// A lien as all live estates have it that list it: after a wrong suspicion there can be two.
    pub(super) fn live_recs(&mut self, lien: Lien) -> impl Iterator<Item = &mut Rec<C>> {
        let frozen = !self.is(Mutant::NotFrozen);
        let live = self.estates.iter_mut().filter(move |estate| !(frozen && estate.returning));
        live.filter_map(move |estate| estate.part.subs.get_mut(&lien))
    }

    pub(super) fn lists_in_return(&self, lien: Lien) -> bool {
        let mut returning = self.estates.iter().filter(|estate| estate.returning);
        returning.any(|estate| estate.part.subs.contains_key(&lien))
    }

    /// Takes a lien over for good, by its last certificate, in every live estate that lists it.
    pub(super) fn fold_all(&mut self, lien: Lien, deeds: &mut Deeds<C>) {
        let (frozen, keeps) = (!self.is(Mutant::NotFrozen), self.is(Mutant::FoldKeepsTheLien));
        let silent = self.is(Mutant::FoldWithoutAdopt);
        for estate in self.estates.iter_mut().filter(|estate| !(frozen && estate.returning)) {
            let Some(rec) = estate.part.subs.remove(&lien) else { continue };
            estate.part.content.add(rec.content());
            for (&sub, nested) in rec.subs() {
                // No estate lists a lien twice, unless a site lies; then the first entry stands.
                if let Entry::Vacant(place) = estate.part.subs.entry(sub) {
                    place.insert(nested.clone());
                }
                if !silent {
                    send(nested.holder, Word::Adopt { lien: sub }, deeds);
                }
            }
            if keeps {
                estate.part.subs.insert(lien, rec);
            }
            deeds.push(Deed::Folded { into: estate.held, lien });
        }
    }

    pub(super) fn take_best(&mut self, best: Option<Solution>, deeds: &mut Deeds<C>) {
        if let Some(best) = best.filter(|_| !self.is(Mutant::IgnoresThePlan)) {
            self.found(&best, deeds);
        }
    }
}
