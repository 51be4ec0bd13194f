//! What a site does about each word, and the fold: how it takes over what another site says.

use super::certificate::{Certificate, Content, Rec};
use super::lease::{Lease, SiteId};
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
            Word::Work { lease, content, best } => {
                self.take_best(best, deeds);
                self.on_work(from, lease, content, deeds);
            }
            Word::Ack { lease } => self.on_ack(from, lease, deeds),
            Word::Commit { lease, certificate, best } => {
                self.take_best(best, deeds);
                self.on_certificate(from, lease, &certificate, false, deeds);
            }
            Word::Return { lease, certificate, best } => {
                self.take_best(best, deeds);
                self.on_certificate(from, lease, &certificate, true, deeds);
            }
            // That it came is all it says.
            Word::Committed { .. } => {}
            Word::Returned { lease } => self.holdings.retain(|holding| {
                !(holding.held == Some(lease) && holding.returning && holding.lender == Some(from))
            }),
            Word::Adopt { lease } => self.on_adopt(from, lease, deeds),
            Word::Missing { lease } => {
                if self.live_recs(lease).any(|rec| rec.holder == from) {
                    self.fold_all(lease, deeds);
                }
            }
            Word::Unknown { lease } => {
                let drops = self.is(Mutant::DropsOnUnknown);
                if let Some(holding) = self.holding_mut(Some(lease))
                    && holding.lender == Some(from)
                {
                    holding.lender = None;
                    if drops {
                        self.abandon(lease, deeds);
                    }
                }
            }
        }
    }

    fn on_work(&mut self, from: SiteId, lease: Lease, content: C, deeds: &mut Deeds<C>) {
        if self.leaving {
            return self.miss(from, lease, deeds);
        }
        if self.holding(Some(lease)).is_none() {
            let mixes = self.is(Mutant::MixesLiens);
            let first = self.holdings.iter_mut().find(|holding| mixes && !holding.returning);
            if let Some(first) = first {
                first.part.content.add(&content);
                self.hold(Some(lease), Some(from), Certificate::default());
            } else {
                self.hold(Some(lease), Some(from), Certificate::of(content));
            }
            send(from, Word::Ack { lease }, deeds);
            deeds.push(Deed::Came { lease, from });
        }
    }

    fn on_ack(&mut self, from: SiteId, lease: Lease, deeds: &mut Deeds<C>) {
        let (mut live, mut new) = (false, false);
        for rec in self.live_recs(lease) {
            live = true;
            new |= !std::mem::replace(&mut rec.acked, true);
        }
        if new {
            deeds.push(Deed::Arrived { lease, at: from });
        } else if !live && !self.lists_in_return(lease) {
            send(from, Word::Unknown { lease }, deeds);
        }
    }

    fn on_certificate(
        &mut self,
        from: SiteId,
        lease: Lease,
        certificate: &Arc<Certificate<C>>,
        returned: bool,
        deeds: &mut Deeds<C>,
    ) {
        let (mut live, mut new) = (false, false);
        for rec in self.live_recs(lease) {
            live = true;
            new |= !rec.acked;
            (rec.holder, rec.acked) = (from, true);
            rec.heard = Some(Arc::clone(certificate));
        }
        if new {
            deeds.push(Deed::Arrived { lease, at: from });
        }
        if live {
            if returned {
                self.fold_all(lease, deeds);
                send(from, Word::Returned { lease }, deeds);
            }
        } else if !self.lists_in_return(lease) {
            self.on_unlisted(from, lease, certificate, returned);
            send(from, Word::Unknown { lease }, deeds);
        }
    }

    /// What two mutants do about a certificate of a lease that is not listed.
    fn on_unlisted(
        &mut self,
        from: SiteId,
        lease: Lease,
        certificate: &Arc<Certificate<C>>,
        returned: bool,
    ) {
        let (folds, lists) = (Mutant::FoldsTheUnlisted, Mutant::ListsTheUnlisted);
        let (folds, lists) = (returned && self.is(folds), !returned && self.is(lists));
        if let Some(holding) = self.holdings.iter_mut().find(|holding| !holding.returning) {
            if folds {
                holding.part.content.add(&certificate.content);
            } else if lists {
                let (given, heard) = (Arc::default(), Some(Arc::clone(certificate)));
                holding.part.subs.insert(lease, Rec { holder: from, acked: true, given, heard });
            }
        }
    }

    fn on_adopt(&mut self, from: SiteId, lease: Lease, deeds: &mut Deeds<C>) {
        let Some(holding) = self.holding_mut(Some(lease)) else {
            return self.miss(from, lease, deeds);
        };
        holding.lender = Some(from);
        if holding.returning {
            self.say_again(Some(lease), deeds);
        } else {
            deeds.push(Deed::Owed { lease });
        }
    }

    fn miss(&self, to: SiteId, lease: Lease, deeds: &mut Deeds<C>) {
        if !self.is(Mutant::NoMissing) {
            send(to, Word::Missing { lease }, deeds);
        }
    }

    /// A lease as all live holdings have it that list it: after a wrong suspicion there can be two.
    pub(super) fn live_recs(&mut self, lease: Lease) -> impl Iterator<Item = &mut Rec<C>> {
        let frozen = !self.is(Mutant::NotFrozen);
        let live = self.holdings.iter_mut().filter(move |holding| !(frozen && holding.returning));
        live.filter_map(move |holding| holding.part.subs.get_mut(&lease))
    }

    pub(super) fn lists_in_return(&self, lease: Lease) -> bool {
        let mut returning = self.holdings.iter().filter(|holding| holding.returning);
        returning.any(|holding| holding.part.subs.contains_key(&lease))
    }

    /// Takes a lease over for good, by its last certificate, in every live holding that lists it.
    pub(super) fn fold_all(&mut self, lease: Lease, deeds: &mut Deeds<C>) {
        let (frozen, keeps) = (!self.is(Mutant::NotFrozen), self.is(Mutant::FoldKeepsTheLien));
        let silent = self.is(Mutant::FoldWithoutAdopt);
        for holding in self.holdings.iter_mut().filter(|holding| !(frozen && holding.returning)) {
            let Some(rec) = holding.part.subs.remove(&lease) else { continue };
            holding.part.content.add(rec.content());
            for (&sub, nested) in rec.subs() {
                // No holding lists a lease twice, unless a site lies; then the first entry stands.
                if let Entry::Vacant(place) = holding.part.subs.entry(sub) {
                    place.insert(nested.clone());
                }
                if !silent {
                    send(nested.holder, Word::Adopt { lease: sub }, deeds);
                }
            }
            if keeps {
                holding.part.subs.insert(lease, rec);
            }
            deeds.push(Deed::Folded { into: holding.held, lease });
        }
    }

    pub(super) fn take_best(&mut self, best: Option<Solution>, deeds: &mut Deeds<C>) {
        if let Some(best) = best.filter(|_| !self.is(Mutant::IgnoresThePlan)) {
            self.found(&best, deeds);
        }
    }
}
