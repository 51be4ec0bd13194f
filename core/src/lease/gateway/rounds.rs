//! The gateway's own rounds: opening and returning holdings, commits, and leaving.

use super::events::Gateway;
use super::message::GatewayMessage;
use super::portion::{Portion, Tally};
use super::quota::Quota;
use super::state::PendingCut;
use super::workers::Workers;
use crate::lease::{Content, Holding, HoldingId, Lease, ProgressReport, SiteId};
use crate::steal::Event;

/// The most holdings that wait for their leases given on before they are returned.
const MOST_WAITING: usize = 16;

impl<D: Tally> Gateway<D> {
    /// Handles the state of the units. `cut` is the requested cut, once it is complete. It is handled first, because it
    /// describes an earlier instant.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn handle_units<I: Workers<Done = D>>(
        &mut self,
        cut: Option<&Portion<D>>,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if let Some(portion) = cut {
            self.complete_commit(portion, now_ns, inside)?;
        }
        if inside.is_idle() {
            if inside.spare() == 0.0 {
                self.handle_idle_units(now_ns, inside)?;
                return self.take_back_if_idle(now_ns, inside);
            }
            inside.pass_to_inner_peer(Event::Refilled)?;
        }
        self.advance_holdings(now_ns, inside)
    }

    /// Handles units that have finished all their work.
    fn handle_idle_units<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.learn_best(now_ns, inside)?;
        if let Some(held) = self.state.at_work.take() {
            let done = inside.take_counts()?;
            self.put_back(held, &Portion { done, open: Vec::new() });
        }
        self.advance_holdings(now_ns, inside)
    }

    fn put_back(&mut self, held: HoldingId, portion: &Portion<D>) {
        let site = self.state.timer.site_mut();
        site.change_content(held, |content| content.add(portion));
        site.set_in_use(held, false);
        self.state.cut = None;
    }

    /// Returns what is done, hands waiting work to the units, and checks whether the search is over.
    pub(super) fn advance_holdings<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.learn_best(now_ns, inside)?;
        for held in self.to_return() {
            self.return_holding(held, now_ns, inside)?;
        }
        if self.site().finished() && !self.state.over {
            self.pass_to_peer(Event::AllIdle, None, now_ns, inside)?;
        }
        let stops = self.state.stopped || self.site().leaving();
        if self.state.at_work.is_none() && !stops && !self.state.coordinates {
            let next = self.site().current_holding().map(crate::lease::Holding::held);
            if let Some(held) = next {
                self.refill_units(held, inside)?;
            }
        }
        self.report_size(now_ns, inside)
    }

    /// The holdings to return now. A holding with leases given on is returned a little later, so that one message
    /// covers both and nobody needs to adopt those.
    fn to_return(&self) -> Vec<HoldingId> {
        let site = self.site();
        let mut surplus = site.returnable_holdings().count().saturating_sub(MOST_WAITING);
        let now = site.returnable_holdings().filter(|holding| {
            let early = surplus > 0;
            surplus = surplus.saturating_sub(1);
            holding.part().subs.is_empty() || early || site.leaving()
        });
        now.map(Holding::held).collect()
    }

    fn return_holding<I: Workers<Done = D>>(
        &mut self,
        held: HoldingId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.update_leases(now_ns, inside, None, |it, actions| {
            it.site_mut().return_holding(held, actions);
            it.record_commit(held, now_ns, 0);
        })
    }

    /// Lets the peer see the current amount of work, so that it serves waiting thieves or asks for work.
    fn report_size<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if self.state.over || self.state.stopped || self.site().leaving() {
            return Ok(());
        }
        let (nodes, busy_ns) = inside.spent();
        self.pass_to_peer(Event::Stepped { nodes, busy_ns }, None, now_ns, inside)?;
        if self.state.spare(inside) > 0.0 {
            self.state.bare_ns = None;
        } else if self.state.bare_ns.is_none() {
            self.state.bare_ns = Some(now_ns);
            inside.wake_at(self.state.low_at(now_ns));
        }
        self.supply_nodes(now_ns, inside)?;
        // The inner peer asks the units for another piece, or serves them.
        inside.pass_to_inner_peer(Event::Stepped { nodes: 0, busy_ns: 0 })?;
        if self.state.is_short(inside) { inside.pass_to_inner_peer(Event::Short) } else { Ok(()) }
    }

    /// Time in which this site stood still does not count as silence of others. Call this before anything is handled.
    pub fn pardon_standstill(&mut self, now_ns: u64) {
        let still_ns = self.state.timer.pardon_standstill(now_ns);
        self.state.pardon_away_sites(still_ns, now_ns);
    }

    /// Commits, asks again, suspects and gives up where it is time. Returns when to check again.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn check_timers<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<u64, I::Error> {
        if self.state.over {
            return Ok(u64::MAX);
        }
        self.wake_peer(now_ns, inside)?;
        self.pardon_standstill(now_ns);
        let mut next_ns = 0;
        self.update_leases(now_ns, inside, None, |it, actions| {
            next_ns = it.check_timers(now_ns, actions)
        })?;
        let lease_ns = self.state.timer.terms().lease_ns;
        if self.state.timer.reaches_root() {
            self.take_back_from_away_sites(lease_ns, now_ns, inside)?;
        }
        while self.state.cut.is_none() {
            let Some(held) = self.state.timer.due_commit(now_ns) else { break };
            self.commit_holding(held, now_ns, inside)?;
        }
        self.advance_holdings(now_ns, inside)?;
        let commit_ns =
            if self.state.cut.is_some() { u64::MAX } else { self.state.timer.next_commit_ns() };
        let next_ns = next_ns.min(self.ask_root_again(now_ns, inside));
        Ok(next_ns.max(now_ns + 1).min(commit_ns).min(self.wakes_ns()))
    }

    /// Asks the root if this site holds nothing for anybody and hears nothing: the site that should have given it work,
    /// adopted it, or announced the end may be gone. Returns when to do so next.
    fn ask_root_again<I: Workers<Done = D>>(&mut self, now_ns: u64, inside: &mut I) -> u64 {
        if !self.site().holdings().iter().all(Holding::is_orphan) {
            return u64::MAX;
        }
        let every_ns = self.state.timer.terms().lease_ns / 2;
        if now_ns >= self.state.last_heard_ns.saturating_add(every_ns) {
            self.state.last_heard_ns = now_ns;
            inside.send(0, GatewayMessage::Peer(self.peer().request_again(0)));
        }
        self.state.last_heard_ns.saturating_add(every_ns)
    }

    /// Commits a holding, or begins to.
    fn commit_holding<I: Workers<Done = D>>(
        &mut self,
        held: HoldingId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if self.site().may_return(held) {
            return self.return_holding(held, now_ns, inside);
        }
        let Some(part) = self.site().current_report(held) else { return Ok(()) };
        self.state.timer.record_commit(held, now_ns, 0);
        if self.state.at_work == Some(held) {
            self.state.cut = Some(PendingCut { held, part, since_ns: now_ns });
            return inside.begin_cut();
        }
        self.begin_commit(held, part, now_ns, inside)
    }

    /// Completes a commit with the units' cut: their done and open work.
    fn complete_commit<I: Workers<Done = D>>(
        &mut self,
        portion: &Portion<D>,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.learn_best(now_ns, inside)?;
        let Some(PendingCut { held, mut part, since_ns }) = self.state.cut.take() else {
            return Ok(());
        };
        part.content.add(portion);
        self.state.timer.record_commit(held, now_ns, now_ns.saturating_sub(since_ns));
        self.begin_commit(held, part, now_ns, inside)
    }

    fn begin_commit<I: Workers<Done = D>>(
        &mut self,
        held: HoldingId,
        part: ProgressReport<Portion<D>>,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if held.is_none() {
            return inside.save_report(&part, self.site().best());
        }
        self.update_leases(now_ns, inside, None, |it, actions| it.send_commit(held, part, actions))
    }

    /// Handles a site that has joined, where sites come and go.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn site_joined<I: Workers<Done = D>>(
        &mut self,
        site: SiteId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.state.away.remove(&site);
        self.pass_to_peer(Event::Came { peer: site }, None, now_ns, inside)?;
        let root = self.is_root();
        if self.state.stopped && root {
            // It does not know of the stop yet.
            inside.send(site, GatewayMessage::Stop);
        }
        if site == 0 && !root {
            let deaf_ns = self.state.timer.reach_root(true, now_ns);
            self.state.pardon_away_sites(deaf_ns, now_ns);
        }
        self.state.timer.site_joined(site, now_ns);
        self.update_leases(now_ns, inside, None, |it, actions| {
            it.site().ask_about_leases_of(site, actions)
        })
    }

    /// Handles a change of the root's process: the previous root's grants do not count towards the new one's limit.
    pub fn root_changed<I: Workers<Done = D>>(&mut self, inside: &mut I) {
        if let Some(quota) = &mut self.state.quota {
            *quota = Quota::default();
            inside.forbid_nodes();
        }
    }

    /// Handles a site that cannot be reached now. It keeps its work until its leases expire.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn on_site_unreachable<I: Workers<Done = D>>(
        &mut self,
        site: SiteId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if site == 0 {
            self.state.timer.reach_root(false, now_ns);
        }
        self.pass_to_peer(Event::Lost { peer: site }, None, now_ns, inside)
    }

    /// Handles a link that is down: the other site may be dead, or come back. It keeps its work for a lease period,
    /// unless there is nothing else to do here.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn on_link_down<I: Workers<Done = D>>(
        &mut self,
        site: SiteId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.state.away.entry(site).or_insert(now_ns);
        self.on_site_unreachable(site, now_ns, inside)?;
        if self.state.stopped {
            // A stopped search does not wait for it.
            self.take_back_from_away_sites(0, now_ns, inside)?;
        }
        self.advance_holdings(now_ns, inside)?;
        if inside.is_idle() { self.take_back_if_idle(now_ns, inside) } else { Ok(()) }
    }

    /// Takes back work that could not be sent because its place is empty.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn on_undelivered<I: Workers<Done = D>>(
        &mut self,
        lease: Lease,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.update_leases(now_ns, inside, None, |it, actions| {
            it.site_mut().take_back_lease(lease, actions)
        })?;
        self.advance_holdings(now_ns, inside)
    }

    /// Takes back the work of sites that have been away for a moment, if there is nothing else to do here.
    fn take_back_if_idle<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        let waits = !self.state.is_idle() || !self.state.timer.reaches_root();
        if self.state.away.is_empty() || waits {
            return Ok(());
        }
        let moment_ns = self.state.timer.terms().lease_ns / 8;
        self.take_back_from_away_sites(moment_ns, now_ns, inside)?;
        let site = self.site();
        let relied = self.state.away.iter().filter(|(away, _)| site.relies_on(**away));
        if let Some(since_ns) = relied.map(|(_, since_ns)| *since_ns).min() {
            inside.wake_at(since_ns.saturating_add(moment_ns));
        }
        self.advance_holdings(now_ns, inside)
    }

    /// Takes back the work of sites that have been away for this long, including leases that come with it.
    fn take_back_from_away_sites<I: Workers<Done = D>>(
        &mut self,
        wait_ns: u64,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        loop {
            let site = self.site();
            let due = |since_ns: u64| now_ns >= since_ns.saturating_add(wait_ns);
            let mut away = self.state.away.iter();
            let next = away.find(|&(&away, &since_ns)| due(since_ns) && site.relies_on(away));
            let Some((&away, _)) = next else { return Ok(()) };
            self.update_leases(now_ns, inside, None, |it, actions| {
                it.site_mut().take_back_leases_of(away, actions)
            })?;
        }
    }

    /// Handles a site that the network reports as gone for good.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn on_site_lost<I: Workers<Done = D>>(
        &mut self,
        site: SiteId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.state.away.remove(&site);
        self.pass_to_peer(Event::Lost { peer: site }, None, now_ns, inside)?;
        self.update_leases(now_ns, inside, None, |it, actions| {
            it.site_mut().on_site_lost(site, actions)
        })?;
        self.advance_holdings(now_ns, inside)
    }

    /// Leaves in an orderly way: hands back all that the site holds.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn leave_search<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.state.timer.site_mut().leave();
        self.take_units_work(now_ns, inside)?;
        self.advance_holdings(now_ns, inside)
    }

    /// Learns the best solution of the units. It must reach other sites no later than the units' counts, because they
    /// may have pruned by it.
    fn learn_best<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        match inside.best() {
            Some(best) => self.record_solution(&best, now_ns, inside),
            None => Ok(()),
        }
    }

    /// Takes the units' work, and gives them no more.
    fn take_units_work<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.learn_best(now_ns, inside)?;
        if let Some(held) = self.state.at_work.take() {
            let portion = inside.take_all()?;
            self.put_back(held, &portion);
        }
        Ok(())
    }

    /// Stops the whole search in an orderly way: every site hands back what it holds, until the root has all of it.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn stop_search<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if std::mem::replace(&mut self.state.stopped, true) {
            return Ok(());
        }
        for to in self.neighbours() {
            inside.send(to, GatewayMessage::Stop);
        }
        self.state.timer.site_mut().leave();
        self.take_units_work(now_ns, inside)?;
        // A stopped search does not wait for sites that are away.
        self.take_back_from_away_sites(0, now_ns, inside)?;
        self.advance_holdings(now_ns, inside)
    }

    /// Whether the root of a stopped search has gathered all counts and all open work.
    #[must_use]
    pub fn is_gathered(&self) -> bool {
        let whole = self.site().holding(None);
        self.state.stopped && whole.is_some_and(|whole| whole.part().subs.is_empty())
    }

    /// At the root: ends a stopped search. Sites that ask later are informed.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn end_search<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.pass_to_peer(Event::AllIdle, None, now_ns, inside)
    }

    /// At a root that resumes from its file: adopts the leases that the file lists.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn adopt_listed_leases<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.update_leases(now_ns, inside, None, |it, actions| it.site().adopt_all(actions))
    }
}
