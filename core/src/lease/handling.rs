//! How a site handles each message, and how it takes over another site's progress report.

use super::message::{LeaseAction, LeaseMessage};
use super::mutant::LeaseMutant;
use super::name::{Lease, SiteId};
use super::progress_report::{Content, ProgressReport, Rec};
use super::site::{LeaseActions, Site, send};
use crate::search::tree::Solution;
use std::collections::btree_map::Entry;
use std::sync::Arc;

impl<C: Content> Site<C> {
    /// Handles a message from another site, or from itself.
    pub fn handle_message(
        &mut self,
        from: SiteId,
        message: LeaseMessage<C>,
        actions: &mut LeaseActions<C>,
    ) {
        match message {
            LeaseMessage::Work { lease, content, best } => {
                self.record_best(best, actions);
                self.on_work(from, lease, content, actions);
            }
            LeaseMessage::Ack { lease } => self.on_ack(from, lease, actions),
            LeaseMessage::Commit { lease, progress_report, best } => {
                self.record_best(best, actions);
                self.on_progress_report(from, lease, &progress_report, false, actions);
            }
            LeaseMessage::Return { lease, progress_report, best } => {
                self.record_best(best, actions);
                self.on_progress_report(from, lease, &progress_report, true, actions);
            }
            // The timer has already noted that the lender is alive.
            LeaseMessage::Committed { .. } => {}
            LeaseMessage::Returned { lease } => self.holdings.retain(|holding| {
                !(holding.held == Some(lease) && holding.returning && holding.lender == Some(from))
            }),
            LeaseMessage::Adopt { lease } => self.on_adopt(from, lease, actions),
            LeaseMessage::Missing { lease } => {
                if self.live_recs(lease).any(|rec| rec.holder == from) {
                    self.take_over_lease(lease, actions);
                }
            }
            LeaseMessage::Unknown { lease } => {
                let drops = self.is(LeaseMutant::DropsOnUnknown);
                if let Some(holding) = self.holding_mut(Some(lease))
                    && holding.lender == Some(from)
                {
                    holding.lender = None;
                    if drops {
                        self.drop_holding(lease, actions);
                    }
                }
            }
        }
    }

    fn on_work(&mut self, from: SiteId, lease: Lease, content: C, actions: &mut LeaseActions<C>) {
        if self.leaving {
            return self.send_missing(from, lease, actions);
        }
        if self.holding(Some(lease)).is_none() {
            let mixes = self.is(LeaseMutant::MixesLeases);
            let first = self.holdings.iter_mut().find(|holding| mixes && !holding.returning);
            if let Some(first) = first {
                first.part.content.add(&content);
                self.add_holding(Some(lease), Some(from), ProgressReport::default());
            } else {
                self.add_holding(Some(lease), Some(from), ProgressReport::of(content));
            }
            send(from, LeaseMessage::Ack { lease }, actions);
            actions.push(LeaseAction::Came { lease, from });
        }
    }

    fn on_ack(&mut self, from: SiteId, lease: Lease, actions: &mut LeaseActions<C>) {
        let (mut live, mut new) = (false, false);
        for rec in self.live_recs(lease) {
            live = true;
            new |= !std::mem::replace(&mut rec.acked, true);
        }
        if new {
            actions.push(LeaseAction::Arrived { lease });
        } else if !live && !self.lists_in_return(lease) {
            send(from, LeaseMessage::Unknown { lease }, actions);
        }
    }

    fn on_progress_report(
        &mut self,
        from: SiteId,
        lease: Lease,
        progress_report: &Arc<ProgressReport<C>>,
        returned: bool,
        actions: &mut LeaseActions<C>,
    ) {
        let (mut live, mut new) = (false, false);
        for rec in self.live_recs(lease) {
            live = true;
            new |= !rec.acked;
            (rec.holder, rec.acked) = (from, true);
            rec.latest = Some(Arc::clone(progress_report));
        }
        if new {
            actions.push(LeaseAction::Arrived { lease });
        }
        if live {
            if returned {
                self.take_over_lease(lease, actions);
                send(from, LeaseMessage::Returned { lease }, actions);
            }
        } else if !self.lists_in_return(lease) {
            self.on_unlisted(from, lease, progress_report, returned);
            send(from, LeaseMessage::Unknown { lease }, actions);
        }
    }

    /// What two of the mutants do with a progress report of an unlisted lease.
    fn on_unlisted(
        &mut self,
        from: SiteId,
        lease: Lease,
        progress_report: &Arc<ProgressReport<C>>,
        returned: bool,
    ) {
        let (takes_over, lists) =
            (LeaseMutant::TakesOverTheUnlisted, LeaseMutant::ListsTheUnlisted);
        let (takes_over, lists) = (returned && self.is(takes_over), !returned && self.is(lists));
        if let Some(holding) = self.holdings.iter_mut().find(|holding| !holding.returning) {
            if takes_over {
                holding.part.content.add(&progress_report.content);
            } else if lists {
                let (given, latest) = (Arc::default(), Some(Arc::clone(progress_report)));
                holding.part.subs.insert(lease, Rec { holder: from, acked: true, given, latest });
            }
        }
    }

    fn on_adopt(&mut self, from: SiteId, lease: Lease, actions: &mut LeaseActions<C>) {
        let Some(holding) = self.holding_mut(Some(lease)) else {
            return self.send_missing(from, lease, actions);
        };
        holding.lender = Some(from);
        if holding.returning {
            self.repeat_return(Some(lease), actions);
        } else {
            actions.push(LeaseAction::Owed { lease });
        }
    }

    fn send_missing(&self, to: SiteId, lease: Lease, actions: &mut LeaseActions<C>) {
        if !self.is(LeaseMutant::NoMissing) {
            send(to, LeaseMessage::Missing { lease }, actions);
        }
    }

    /// The records of a lease in all live holdings that list it: after a false suspicion there can be two.
    pub(super) fn live_recs(&mut self, lease: Lease) -> impl Iterator<Item = &mut Rec<C>> {
        let frozen = !self.is(LeaseMutant::NotFrozen);
        let live = self.holdings.iter_mut().filter(move |holding| !(frozen && holding.returning));
        live.filter_map(move |holding| holding.part.subs.get_mut(&lease))
    }

    pub(super) fn lists_in_return(&self, lease: Lease) -> bool {
        let mut returning = self.holdings.iter().filter(|holding| holding.returning);
        returning.any(|holding| holding.part.subs.contains_key(&lease))
    }

    /// Takes over a lease for good, by its last progress report, in every live holding that lists it.
    pub(super) fn take_over_lease(&mut self, lease: Lease, actions: &mut LeaseActions<C>) {
        let (frozen, keeps) =
            (!self.is(LeaseMutant::NotFrozen), self.is(LeaseMutant::TakeOverKeepsTheLease));
        let silent = self.is(LeaseMutant::TakeOverWithoutAdopt);
        for holding in self.holdings.iter_mut().filter(|holding| !(frozen && holding.returning)) {
            let Some(rec) = holding.part.subs.remove(&lease) else { continue };
            holding.part.content.add(rec.content());
            for (&sub, nested) in rec.subs() {
                // Only a faulty site makes a holding list a lease twice; then the first entry stands.
                if let Entry::Vacant(place) = holding.part.subs.entry(sub) {
                    place.insert(nested.clone());
                }
                if !silent {
                    send(nested.holder, LeaseMessage::Adopt { lease: sub }, actions);
                }
            }
            if keeps {
                holding.part.subs.insert(lease, rec);
            }
            actions.push(LeaseAction::TakenOver { into: holding.held, lease });
        }
    }

    pub(super) fn record_best(&mut self, best: Option<Solution>, actions: &mut LeaseActions<C>) {
        if let Some(best) = best.filter(|_| !self.is(LeaseMutant::IgnoresTheSolution)) {
            self.record_solution(&best, actions);
        }
    }
}
