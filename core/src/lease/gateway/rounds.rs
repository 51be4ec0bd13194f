//! The gateway's own rounds: opening and returning holdings, commits, and leaving.

use super::events::GatewayStep;
use super::message::GatewayMessage;
use super::portion::{Portion, Tally};
use super::quota::Quota;
use super::state::PendingCut;
use super::workers::Workers;
use crate::lease::{Content, Holding, HoldingId, Lease, ProgressReport, SiteId};
use crate::steal::Event;

/// The maximum number of holdings that wait for the leases passed on from them before they are
/// returned.
const MOST_WAITING: usize = 16;

impl<D: Tally, I: Workers<Done = D>> GatewayStep<'_, D, I> {
    /// Handles the state of the workers. `cut` is the requested cut, once it is complete. It is handled first, because it
    /// describes an earlier instant.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn handle_workers(&mut self, cut: Option<&Portion<D>>) -> Result<(), I::Error> {
        if let Some(portion) = cut {
            self.complete_commit(portion)?;
        }
        if self.inside.is_idle() {
            if self.inside.spare() == 0.0 {
                self.handle_idle_workers()?;
                return self.take_back_if_idle();
            }
            self.inside.pass_to_inner_peer(Event::Refilled)?;
        }
        self.advance_holdings()
    }

    /// Handles workers that have finished all their work.
    fn handle_idle_workers(&mut self) -> Result<(), I::Error> {
        self.learn_best()?;
        if let Some(held) = self.state.at_work.take() {
            let done = self.inside.take_counts()?;
            self.put_back(held, &Portion { done, open: Vec::new() });
        }
        self.advance_holdings()
    }

    fn put_back(&mut self, held: HoldingId, portion: &Portion<D>) {
        let site = self.state.timer.site_mut();
        site.change_content(held, |content| content.add(portion));
        site.set_in_use(held, false);
        self.state.cut = None;
    }

    /// Returns what is done, hands waiting work to the workers, and checks whether the search is over.
    pub(super) fn advance_holdings(&mut self) -> Result<(), I::Error> {
        self.learn_best()?;
        for held in self.to_return() {
            self.return_holding(held)?;
        }
        if self.site().finished() && !self.state.over {
            self.pass_to_peer(Event::AllIdle, None)?;
        }
        let stops = self.state.stopped || self.site().leaving();
        if self.state.at_work.is_none() && !stops && !self.state.coordinates {
            let next = self.site().current_holding().map(crate::lease::Holding::held);
            if let Some(held) = next {
                self.refill_workers(held)?;
            }
        }
        self.report_size()
    }

    /// The holdings to return now. A holding with leases passed on is returned a little later, so that one message
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

    fn return_holding(&mut self, held: HoldingId) -> Result<(), I::Error> {
        let now_ns = self.now_ns;
        self.update_leases(None, |it, actions| {
            it.site_mut().return_holding(held, actions);
            it.record_commit(held, now_ns, 0);
        })
    }

    /// Lets the peer see the current amount of work, so that it serves waiting thieves or asks for work.
    fn report_size(&mut self) -> Result<(), I::Error> {
        if self.state.over || self.state.stopped || self.site().leaving() {
            return Ok(());
        }
        let (nodes, busy_ns) = self.inside.spent();
        self.pass_to_peer(Event::Stepped { nodes, busy_ns }, None)?;
        if self.state.spare(self.inside) > 0.0 {
            self.state.bare_ns = None;
        } else if self.state.bare_ns.is_none() {
            self.state.bare_ns = Some(self.now_ns);
            self.inside.wake_at(self.state.low_at(self.now_ns));
        }
        self.supply_nodes()?;
        // The inner peer asks the workers for another piece, or serves them.
        self.inside.pass_to_inner_peer(Event::Stepped { nodes: 0, busy_ns: 0 })?;
        if self.state.is_short(self.inside) {
            self.inside.pass_to_inner_peer(Event::Short)
        } else {
            Ok(())
        }
    }

    /// Time during which this site was suspended does not count as silence of others. Call this before anything is
    /// handled.
    pub fn pardon_standstill(&mut self) {
        let still_ns = self.state.timer.pardon_standstill(self.now_ns);
        self.state.pardon_away_sites(still_ns, self.now_ns);
    }

    /// Commits, asks again, suspects and gives up where that is due. Returns when to check again.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn check_timers(&mut self) -> Result<u64, I::Error> {
        if self.state.over {
            return Ok(u64::MAX);
        }
        if self.state.wake_ns <= self.now_ns {
            self.state.wake_ns = u64::MAX;
            self.pass_to_peer(Event::Woke, None)?;
        }
        self.pardon_standstill();
        let (mut next_ns, now_ns) = (0, self.now_ns);
        self.update_leases(None, |it, actions| next_ns = it.check_timers(now_ns, actions))?;
        let lease_ns = self.state.timer.terms().lease_ns;
        if self.state.timer.reaches_root() {
            self.take_back_from_away_sites(lease_ns)?;
        }
        while self.state.cut.is_none() {
            let Some(held) = self.state.timer.due_commit(self.now_ns) else { break };
            self.commit_holding(held)?;
        }
        self.advance_holdings()?;
        let commit_ns =
            if self.state.cut.is_some() { u64::MAX } else { self.state.timer.next_commit_ns() };
        let next_ns = next_ns.min(self.ask_root_again());
        Ok(next_ns.max(self.now_ns + 1).min(commit_ns).min(self.state.wake_ns))
    }

    /// Asks the root if this site holds nothing for anybody and hears nothing: the site that should have given it work,
    /// adopted it, or announced the end may be gone. Returns when to do so next.
    fn ask_root_again(&mut self) -> u64 {
        if !self.site().holdings().iter().all(Holding::is_orphan) {
            return u64::MAX;
        }
        let every_ns = self.state.timer.terms().lease_ns / 2;
        if self.now_ns >= self.state.last_heard_ns.saturating_add(every_ns) {
            self.state.last_heard_ns = self.now_ns;
            self.inside.send(0, GatewayMessage::Peer(self.peer.peer().request_again(0)));
        }
        self.state.last_heard_ns.saturating_add(every_ns)
    }

    /// Commits a holding, or begins to.
    fn commit_holding(&mut self, held: HoldingId) -> Result<(), I::Error> {
        if self.site().may_return(held) {
            return self.return_holding(held);
        }
        let Some(part) = self.site().current_report(held) else { return Ok(()) };
        self.state.timer.record_commit(held, self.now_ns, 0);
        if self.state.at_work == Some(held) {
            self.state.cut = Some(PendingCut { held, part, since_ns: self.now_ns });
            return self.inside.begin_cut();
        }
        self.begin_commit(held, part)
    }

    /// Completes a commit with the workers' cut: their done and open work.
    fn complete_commit(&mut self, portion: &Portion<D>) -> Result<(), I::Error> {
        self.learn_best()?;
        let Some(PendingCut { held, mut part, since_ns }) = self.state.cut.take() else {
            return Ok(());
        };
        part.content.add(portion);
        self.state.timer.record_commit(held, self.now_ns, self.now_ns.saturating_sub(since_ns));
        self.begin_commit(held, part)
    }

    fn begin_commit(
        &mut self,
        held: HoldingId,
        part: ProgressReport<Portion<D>>,
    ) -> Result<(), I::Error> {
        if held.is_none() {
            return self.inside.save_report(&part, self.state.site().best());
        }
        self.update_leases(None, |it, actions| it.send_commit(held, part, actions))
    }

    /// Handles a site that has joined, where sites come and go.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn site_joined(&mut self, site: SiteId) -> Result<(), I::Error> {
        self.state.away.remove(&site);
        self.pass_to_peer(Event::Came { peer: site }, None)?;
        let root = self.is_root();
        if self.state.stopped && root {
            // It does not know yet that the search was stopped.
            self.inside.send(site, GatewayMessage::Stop);
        }
        if site == 0 && !root {
            let deaf_ns = self.state.timer.reach_root(true, self.now_ns);
            self.state.pardon_away_sites(deaf_ns, self.now_ns);
        }
        self.state.timer.site_joined(site, self.now_ns);
        self.update_leases(None, |it, actions| it.site().ask_about_leases_of(site, actions))
    }

    /// Handles a part of a long message that has arrived from a site. The site learns of it: it waits for an answer.
    pub fn on_arriving_message(&mut self, site: SiteId) {
        self.state.timer.hear_site(site, self.now_ns);
        if !self.state.over {
            self.inside.send(site, GatewayMessage::Arriving);
        }
    }

    /// Handles a change of the root's process: the previous root's grants do not count towards the new one's limit.
    pub fn root_changed(&mut self) {
        if let Some(quota) = &mut self.state.quota {
            *quota = Quota::default();
            self.inside.forbid_nodes();
        }
    }

    /// Handles a site that cannot be reached now. It keeps its work until its leases expire.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn on_site_unreachable(&mut self, site: SiteId) -> Result<(), I::Error> {
        if site == 0 {
            self.state.timer.reach_root(false, self.now_ns);
        }
        self.pass_to_peer(Event::Lost { peer: site }, None)
    }

    /// Handles a link that is down: the other site may be dead, or come back. It keeps its work for a lease period,
    /// unless there is nothing else to do here.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn on_link_down(&mut self, site: SiteId) -> Result<(), I::Error> {
        self.state.away.entry(site).or_insert(self.now_ns);
        self.on_site_unreachable(site)?;
        if self.state.stopped {
            // A stopped search does not wait for it.
            self.take_back_from_away_sites(0)?;
        }
        self.advance_holdings()?;
        if self.inside.is_idle() { self.take_back_if_idle() } else { Ok(()) }
    }

    /// Takes back work that could not be sent because its place is empty.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn on_undelivered(&mut self, lease: Lease) -> Result<(), I::Error> {
        self.update_leases(None, |it, actions| it.site_mut().take_back_lease(lease, actions))?;
        self.advance_holdings()
    }

    /// Takes back the work of sites that have been away for a moment, if there is nothing else to do here.
    fn take_back_if_idle(&mut self) -> Result<(), I::Error> {
        let waits = !self.state.is_idle() || !self.state.timer.reaches_root();
        if self.state.away.is_empty() || waits {
            return Ok(());
        }
        let moment_ns = self.state.timer.terms().lease_ns / 8;
        self.take_back_from_away_sites(moment_ns)?;
        let site = self.site();
        let relied = self.state.away.iter().filter(|(away, _)| site.relies_on(**away));
        if let Some(since_ns) = relied.map(|(_, since_ns)| *since_ns).min() {
            self.inside.wake_at(since_ns.saturating_add(moment_ns));
        }
        self.advance_holdings()
    }

    /// Takes back the work of sites that have been away for this long, including leases that come with it.
    fn take_back_from_away_sites(&mut self, wait_ns: u64) -> Result<(), I::Error> {
        loop {
            let site = self.site();
            let due = |since_ns: u64| self.now_ns >= since_ns.saturating_add(wait_ns);
            let mut away = self.state.away.iter();
            let next = away.find(|&(&away, &since_ns)| due(since_ns) && site.relies_on(away));
            let Some((&away, _)) = next else { return Ok(()) };
            self.update_leases(None, |it, actions| {
                it.site_mut().take_back_leases_of(away, actions)
            })?;
        }
    }

    /// Handles a site that the network reports as gone for good.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn on_site_lost(&mut self, site: SiteId) -> Result<(), I::Error> {
        self.state.away.remove(&site);
        self.pass_to_peer(Event::Lost { peer: site }, None)?;
        self.update_leases(None, |it, actions| it.site_mut().on_site_lost(site, actions))?;
        self.advance_holdings()
    }

    /// Drops a holding that cannot be returned. Its lender takes it over by the last commit.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn drop_holding(&mut self, lease: Lease) -> Result<(), I::Error> {
        self.update_leases(None, |it, actions| it.site_mut().drop_holding(lease, actions))?;
        self.advance_holdings()
    }

    /// Leaves in an orderly way: hands back all that the site holds.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn leave_search(&mut self) -> Result<(), I::Error> {
        self.state.timer.site_mut().leave();
        self.take_workers_work()?;
        self.advance_holdings()
    }

    /// Learns the best solution of the workers. It must reach other sites no later than the workers' counts, because they
    /// may have pruned by it.
    fn learn_best(&mut self) -> Result<(), I::Error> {
        match self.inside.best() {
            Some(best) => self.record_solution(&best),
            None => Ok(()),
        }
    }

    /// Takes the workers' work, and gives them no more.
    fn take_workers_work(&mut self) -> Result<(), I::Error> {
        self.learn_best()?;
        if let Some(held) = self.state.at_work.take() {
            let portion = self.inside.take_all()?;
            self.put_back(held, &portion);
        }
        Ok(())
    }

    /// Stops the whole search in an orderly way: every site hands back what it holds, until the root has all of it.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn stop_search(&mut self) -> Result<(), I::Error> {
        if std::mem::replace(&mut self.state.stopped, true) {
            return Ok(());
        }
        for to in Vec::from_iter(self.peer.peer().tree_neighbours()) {
            self.inside.send(to, GatewayMessage::Stop);
        }
        self.state.timer.site_mut().leave();
        self.take_workers_work()?;
        // A stopped search does not wait for sites that are away.
        self.take_back_from_away_sites(0)?;
        self.advance_holdings()
    }

    /// At the root: ends a stopped search. Sites that ask later are informed.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn end_search(&mut self) -> Result<(), I::Error> {
        self.pass_to_peer(Event::AllIdle, None)
    }

    /// At a root that resumes from its file: adopts the leases that the file lists.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn adopt_listed_leases(&mut self) -> Result<(), I::Error> {
        self.update_leases(None, |it, actions| it.site().adopt_all(actions))
    }
}
