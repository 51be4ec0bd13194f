//! [`Site`]: one process's side of the lease protocol, a pure state machine with every rule of the README's table.

use super::holding::Holding;
use super::message::{LeaseAction, LeaseMessage};
use super::mutant::LeaseMutant;
use super::name::{HoldingId, Lease, SiteId};
use super::progress_report::{Content, ProgressReport, Rec};
use super::trim::MOST_BYTES;
use crate::search::tree::Solution;
use std::sync::Arc;

/// One process's side of the lease protocol.
///
/// Its interpreter reports events, carries out the [`LeaseAction`]s, and decides when to commit, ask again, suspect
/// and give up. None of these decisions can make a count wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site<C> {
    me: SiteId,
    incarnation: u64,
    given: u64,
    /// The approximate limit on the bytes of a progress report that it sends.
    most_bytes: u64,
    best: Option<Solution>,
    pub(super) leaving: bool,
    /// In the order of arrival.
    pub(super) holdings: Vec<Holding<C>>,
    #[cfg(any(test, feature = "faults"))]
    /// Its deliberate fault.
    pub mutant: LeaseMutant,
}

pub(super) type LeaseActions<C> = Vec<LeaseAction<C>>;

impl<C: Content> Site<C> {
    /// A site without work. This process draws the incarnation at random.
    #[must_use]
    pub fn new(me: SiteId, incarnation: u64) -> Self {
        Self {
            me,
            incarnation,
            given: 0,
            most_bytes: MOST_BYTES,
            best: None,
            leaving: false,
            holdings: Vec::new(),
            #[cfg(any(test, feature = "faults"))]
            mutant: LeaseMutant::None,
        }
    }

    /// The site that holds the whole search, from its beginning or as saved in a file.
    ///
    /// [`Site::adopt_all`] notifies the sites that may still hold what the file lists.
    #[must_use]
    pub fn root(
        me: SiteId,
        incarnation: u64,
        whole: ProgressReport<C>,
        best: Option<Solution>,
    ) -> Self {
        let mut site = Self::new(me, incarnation);
        site.best = best;
        site.add_holding(None, None, whole);
        site
    }

    /// Adopts all leases that the root lists: their holders now hold them for this site.
    pub fn adopt_all(&self, actions: &mut LeaseActions<C>) {
        let holdings = self.holdings.iter().filter(|_| !self.is(LeaseMutant::ResumeWithoutAdopt));
        for (&lease, rec) in holdings.flat_map(|holding| &holding.part.subs) {
            send(rec.holder, LeaseMessage::Adopt { lease }, actions);
        }
    }

    /// The site's number.
    #[must_use]
    pub fn me(&self) -> SiteId {
        self.me
    }

    /// The best known solution.
    #[must_use]
    pub fn best(&self) -> Option<&Solution> {
        self.best.as_ref()
    }

    /// Whether it takes no more work.
    #[must_use]
    pub fn leaving(&self) -> bool {
        self.leaving
    }

    /// Whether it was leaving and has handed everything back.
    #[must_use]
    pub fn has_left(&self) -> bool {
        self.leaving && self.holdings.is_empty()
    }

    /// All its holdings.
    #[must_use]
    pub fn holdings(&self) -> &[Holding<C>] {
        &self.holdings
    }

    /// The holding to work on: the one in use by the workers, or else the first with open work. Others wait.
    #[must_use]
    pub fn current_holding(&self) -> Option<&Holding<C>> {
        let open = |holding: &&Holding<C>| !holding.returning && holding.part.content.has_open();
        let in_use = self.holdings.iter().find(|holding| holding.in_use);
        in_use.or_else(|| self.holdings.iter().find(open))
    }

    /// The holding with this name.
    #[must_use]
    pub fn holding(&self, held: HoldingId) -> Option<&Holding<C>> {
        self.holdings.iter().find(|holding| holding.held == held)
    }

    pub(super) fn holding_mut(&mut self, held: HoldingId) -> Option<&mut Holding<C>> {
        self.holdings.iter_mut().find(|holding| holding.held == held)
    }

    fn live_holding_mut(&mut self, held: HoldingId) -> Option<&mut Holding<C>> {
        self.holding_mut(held).filter(|holding| !holding.returning)
    }

    /// Whether another site holds this lease for it.
    #[must_use]
    pub fn lists(&self, lease: Lease) -> bool {
        self.rec(lease).is_some()
    }

    /// The work that a lease names, as recorded in each live holding that lists it: always the same, unless a site is
    /// faulty.
    pub fn given(&self, lease: Lease) -> impl Iterator<Item = &C> {
        let live = self.holdings.iter().filter(|holding| !holding.returning);
        live.filter_map(move |holding| Some(&*holding.part.subs.get(&lease)?.given))
    }

    /// The record of a lease in a live holding.
    pub(super) fn rec(&self, lease: Lease) -> Option<&Rec<C>> {
        let mut live = self.holdings.iter().filter(|holding| !holding.returning);
        live.find_map(|holding| holding.part.subs.get(&lease))
    }

    /// The leases in live holdings that another site holds.
    fn leases_of(&self, holder: SiteId) -> impl Iterator<Item = Lease> {
        let live = self.holdings.iter().filter(|holding| !holding.returning);
        let subs = live.flat_map(|holding| &holding.part.subs);
        subs.filter(move |(_, rec)| rec.holder == holder).map(|(&lease, _)| lease)
    }

    /// Whether the whole search is done.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.holding(None).is_some_and(|root| !root.in_use && root.part.is_done())
    }

    /// Changes the content of a live holding, to take open work out for the workers or put it back. Returns the result
    /// of `change`; `None` if there is no such live holding.
    pub fn change_content<R>(
        &mut self,
        held: HoldingId,
        change: impl FnOnce(&mut C) -> R,
    ) -> Option<R> {
        self.live_holding_mut(held).map(|holding| change(&mut holding.part.content))
    }

    /// Notes whether the workers are working on a holding.
    pub fn set_in_use(&mut self, held: HoldingId, in_use: bool) {
        if let Some(holding) = self.live_holding_mut(held) {
            holding.in_use = in_use;
        }
    }

    /// Records a solution if it is better than the best known one.
    pub fn record_solution(&mut self, solution: &Solution, actions: &mut LeaseActions<C>) {
        if self.best.as_ref().is_none_or(|best| solution.score < best.score) {
            self.best = Some(solution.clone());
            actions.push(LeaseAction::Better);
        }
    }

    /// Gives what `take` takes from the open work to another site. Returns its name; `None` if there is no such live
    /// holding, the site is leaving, or nothing can be taken.
    pub fn lend_work(
        &mut self,
        held: HoldingId,
        to: SiteId,
        take: impl FnOnce(&mut C) -> Option<C>,
        actions: &mut LeaseActions<C>,
    ) -> Option<Lease> {
        if self.leaving {
            return None;
        }
        let lease = Lease { site: self.me, incarnation: self.incarnation, number: self.given };
        let keeps = self.is(LeaseMutant::GivesAndKeeps);
        let best = self.best_to_send();
        let holding = self.live_holding_mut(held)?;
        let before = keeps.then(|| holding.part.content.clone());
        let content = take(&mut holding.part.content)?;
        if let Some(before) = before {
            holding.part.content = before;
        }
        let rec = Rec { holder: to, acked: false, given: Arc::new(content.clone()), latest: None };
        holding.part.subs.insert(lease, rec);
        self.given += 1;
        send(to, LeaseMessage::Work { lease, content, best }, actions);
        Some(lease)
    }

    /// A progress report of this instant, without what the workers have: the interpreter adds what they had at the same
    /// instant.
    #[must_use]
    pub fn current_report(&self, held: HoldingId) -> Option<ProgressReport<C>> {
        let holding = self.holding(held).filter(|holding| !holding.returning)?;
        let mut part = holding.part.clone();
        if self.is(LeaseMutant::NestedWithoutBytes) {
            part.subs.values_mut().for_each(strip);
        }
        Some(part)
    }

    /// Sends the lender of a live holding a progress report, which may be of any instant.
    pub fn send_commit(
        &self,
        held: HoldingId,
        progress_report: ProgressReport<C>,
        actions: &mut LeaseActions<C>,
    ) {
        let Some(holding) = self.holding(held).filter(|holding| !holding.returning) else { return };
        if let (Some(lease), Some(to)) = (holding.held, holding.lender) {
            let (progress_report, best) = (self.trim(progress_report), self.best_to_send());
            send(to, LeaseMessage::Commit { lease, progress_report, best }, actions);
        }
    }

    /// Affirms to the lender of a live holding that it is still held here. Used when there is no new progress report: a
    /// node may take longer than a lease period.
    pub fn affirm_holding(&self, held: HoldingId, actions: &mut LeaseActions<C>) {
        let Some(holding) = self.holding(held).filter(|holding| !holding.returning) else { return };
        if let (Some(lease), Some(to)) = (holding.held, holding.lender) {
            send(to, LeaseMessage::Ack { lease }, actions);
        }
    }

    /// Whether a holding can be returned now.
    #[must_use]
    pub fn may_return(&self, held: HoldingId) -> bool {
        self.holding(held).is_some_and(|holding| self.is_ready(holding))
    }

    /// The holdings that can be returned now.
    pub fn returnable_holdings(&self) -> impl Iterator<Item = &Holding<C>> {
        self.holdings.iter().filter(|holding| self.is_ready(holding))
    }

    fn is_ready(&self, holding: &Holding<C>) -> bool {
        let early = [LeaseMutant::ReturnsBeforeAcks, LeaseMutant::ReturnsUnackedAsOpen];
        let early = early.into_iter().any(|early| self.is(early));
        holding.held.is_some()
            && holding.lender.is_some()
            && !holding.returning
            && !holding.in_use
            && (self.leaving || !holding.part.content.has_open())
            && (early || holding.part.subs.values().all(|rec| rec.acked))
    }

    /// Returns a holding to its lender if it can be returned now.
    pub fn return_holding(&mut self, held: HoldingId, actions: &mut LeaseActions<C>) -> bool {
        if !self.may_return(held) {
            return false;
        }
        let open = self.is(LeaseMutant::ReturnsUnackedAsOpen);
        if let Some(holding) = self.holding_mut(held) {
            holding.returning = true;
            if open {
                holding.part.subs.retain(|_, rec| {
                    if !rec.acked {
                        holding.part.content.add(rec.content());
                    }
                    rec.acked
                });
            }
        }
        self.repeat_return(held, actions);
        if self.is(LeaseMutant::ForgetsAtReturn) {
            self.holdings.retain(|holding| holding.held != held);
        }
        true
    }

    /// Repeats the return of a holding.
    pub fn repeat_return(&self, held: HoldingId, actions: &mut LeaseActions<C>) {
        let Some(holding) = self.holding(held).filter(|holding| holding.returning) else { return };
        if let (Some(lease), Some(to)) = (holding.held, holding.lender) {
            let mut progress_report = holding.part.clone();
            if self.is(LeaseMutant::ReturnWithoutSubs) {
                progress_report.subs.clear();
            }
            let (progress_report, best) = (self.trim(progress_report), self.best_to_send());
            send(to, LeaseMessage::Return { lease, progress_report, best }, actions);
        }
    }

    /// Asks the holder of a lease for its progress.
    pub fn ask_holder(&self, lease: Lease, actions: &mut LeaseActions<C>) {
        let foreign = lease.incarnation != self.incarnation;
        if foreign && self.is(LeaseMutant::ResumeWithoutAdopt) {
            return;
        }
        let known = |holding: &&Holding<C>| !holding.returning && !holding.is_orphan();
        let rec = self.holdings.iter().filter(known).find_map(|one| one.part.subs.get(&lease));
        if let Some(rec) = rec {
            send(rec.holder, LeaseMessage::Adopt { lease }, actions);
        }
    }

    /// Asks a site for the progress of all its leases: it may just have come back.
    pub fn ask_about_leases_of(&self, holder: SiteId, actions: &mut LeaseActions<C>) {
        self.leases_of(holder).for_each(|lease| self.ask_holder(lease, actions));
    }

    /// Takes a lease back from a holder that is silent or gone. A false suspicion costs only time.
    pub fn take_back_lease(&mut self, lease: Lease, actions: &mut LeaseActions<C>) {
        let rec = self.live_recs(lease).next();
        if let Some(holder) = rec.map(|rec| rec.holder) {
            send(holder, LeaseMessage::Unknown { lease }, actions);
            self.take_over_lease(lease, actions);
        }
    }

    /// Gives up a holding: no lender has adopted it, or it cannot be returned.
    pub fn drop_holding(&mut self, lease: Lease, actions: &mut LeaseActions<C>) {
        let Some(at) = self.holdings.iter().position(|holding| holding.held == Some(lease)) else {
            return;
        };
        let ProgressReport { content, subs } = self.holdings.remove(at).part;
        for (sub, rec) in subs {
            send(rec.holder, LeaseMessage::Unknown { lease: sub }, actions);
            // Nobody will acknowledge it any more.
            if !rec.acked {
                actions.push(LeaseAction::Arrived { lease: sub });
            }
        }
        actions.push(LeaseAction::Dropped { lease, content });
    }

    /// Limits the size of progress reports that the site sends, where possible. Leaving details out costs only time: if
    /// several sites die at once, more of their work is repeated.
    pub fn set_max_report_bytes(&mut self, bytes: u64) {
        self.most_bytes = bytes;
    }

    /// Stops taking work, and returns what there is as soon as the workers have handed it over.
    pub fn leave(&mut self) {
        self.leaving = true;
    }

    /// Takes back all leases of another site.
    pub fn take_back_leases_of(&mut self, site: SiteId, actions: &mut LeaseActions<C>) {
        let held = Vec::from_iter(self.leases_of(site));
        held.into_iter().for_each(|lease| self.take_back_lease(lease, actions));
    }

    /// Whether another site holds a lease for this one.
    #[must_use]
    pub fn relies_on(&self, site: SiteId) -> bool {
        self.leases_of(site).next().is_some()
    }

    /// Handles the loss of another site: takes its leases back, and makes orphans of what was held for it.
    pub fn on_site_lost(&mut self, site: SiteId, actions: &mut LeaseActions<C>) {
        self.take_back_leases_of(site, actions);
        for holding in &mut self.holdings {
            holding.lender = holding.lender.filter(|&lender| lender != site);
        }
    }

    pub(super) fn add_holding(
        &mut self,
        held: HoldingId,
        lender: Option<SiteId>,
        part: ProgressReport<C>,
    ) {
        self.holdings.push(Holding { held, lender, returning: false, in_use: false, part });
    }

    /// A progress report as it is sent: within the size limit.
    fn trim(&self, progress_report: ProgressReport<C>) -> Arc<ProgressReport<C>> {
        let mut progress_report = progress_report.trimmed(self.most_bytes);
        if self.is(LeaseMutant::TrimsTheSubs) {
            let latest = progress_report.subs.values_mut().filter_map(|rec| rec.latest.as_mut());
            latest.for_each(|latest| Arc::make_mut(latest).subs.clear());
        }
        Arc::new(progress_report)
    }

    /// The best solution as it is sent: always complete, except by a mutant.
    fn best_to_send(&self) -> Option<Solution> {
        let mut best = self.best.clone();
        if let Some(best) = best.as_mut().filter(|_| self.is(LeaseMutant::ValueWithoutSolution)) {
            best.solution.clear();
        }
        best
    }

    /// Adds a holding in any state, to test states that no run may reach.
    #[cfg(any(test, feature = "faults"))]
    pub fn add_any_holding(
        &mut self,
        lease: Lease,
        lender: Option<SiteId>,
        returning: bool,
        part: ProgressReport<C>,
    ) {
        self.holdings.push(Holding { held: Some(lease), lender, returning, in_use: false, part });
    }

    #[cfg(any(test, feature = "faults"))]
    pub(super) fn is(&self, mutant: LeaseMutant) -> bool {
        self.mutant == mutant
    }

    #[cfg(not(any(test, feature = "faults")))]
    #[allow(clippy::unused_self)]
    pub(super) const fn is(&self, _mutant: LeaseMutant) -> bool {
        false
    }
}

pub(super) fn send<C>(to: SiteId, message: LeaseMessage<C>, actions: &mut Vec<LeaseAction<C>>) {
    actions.push(LeaseAction::Send { to, message });
}

/// Reduces a lease to its name, as a mutant does.
fn strip<C: Content>(rec: &mut Rec<C>) {
    (rec.given, rec.latest) = (Arc::default(), None);
}
