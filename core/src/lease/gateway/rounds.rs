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
    pub fn turn<I: Workers<Done = D>>(
        &mut self,
        cut: Option<&Portion<D>>,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if let Some(portion) = cut {
            self.cut_is_complete(portion, now_ns, inside)?;
        }
        if inside.is_idle() {
            if inside.spare() == 0.0 {
                self.is_dry(now_ns, inside)?;
                return self.is_short_of_the_away(now_ns, inside);
            }
            inside.tell(Event::Refilled)?;
        }
        self.proceed(now_ns, inside)
    }

    /// Handles units that have finished all their work.
    fn is_dry<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.learn(now_ns, inside)?;
        if let Some(held) = self.state.at_work.take() {
            let done = inside.settle()?;
            self.put_back(held, &Portion { done, open: Vec::new() });
        }
        self.proceed(now_ns, inside)
    }

    fn put_back(&mut self, held: HoldingId, portion: &Portion<D>) {
        let site = self.state.timer.site_mut();
        site.change(held, |content| content.add(portion));
        site.set_in_use(held, false);
        self.state.cut = None;
    }

    /// Returns what is done, hands waiting work to the units, and checks whether the search is over.
    pub(super) fn proceed<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.learn(now_ns, inside)?;
        for held in self.to_return() {
            self.give_back(held, now_ns, inside)?;
        }
        if self.site().finished() && !self.state.over {
            self.tell(Event::AllIdle, None, now_ns, inside)?;
        }
        let stops = self.state.stopped || self.site().leaving();
        if self.state.at_work.is_none() && !stops {
            let next = self.site().working().map(crate::lease::Holding::held);
            if let Some(held) = next {
                self.refill(held, inside)?;
            }
        }
        self.weigh(now_ns, inside)
    }

    /// The holdings to return now. A holding with leases given on is returned a little later, so that one message
    /// covers both and nobody needs to adopt those.
    fn to_return(&self) -> Vec<HoldingId> {
        let site = self.site();
        let mut surplus = site.ready().count().saturating_sub(MOST_WAITING);
        let now = site.ready().filter(|holding| {
            let early = surplus > 0;
            surplus = surplus.saturating_sub(1);
            holding.part().subs.is_empty() || early || site.leaving()
        });
        now.map(Holding::held).collect()
    }

    fn give_back<I: Workers<Done = D>>(
        &mut self,
        held: HoldingId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.act(now_ns, inside, None, |it, actions| {
            it.site_mut().give_back(held, actions);
            it.committed(held, now_ns, 0);
        })
    }

    /// Lets the peer see the current amount of work, so that it serves waiting thieves or asks for work.
    fn weigh<I: Workers<Done = D>>(&mut self, now_ns: u64, inside: &mut I) -> Result<(), I::Error> {
        if self.state.over || self.state.stopped || self.site().leaving() {
            return Ok(());
        }
        let (nodes, busy_ns) = inside.spent();
        self.tell(Event::Stepped { nodes, busy_ns }, None, now_ns, inside)?;
        if self.state.spare(inside) > 0.0 {
            self.state.bare_ns = None;
        } else if self.state.bare_ns.is_none() {
            self.state.bare_ns = Some(now_ns);
            inside.wake_at(self.state.low_at(now_ns));
        }
        self.ration(now_ns, inside)?;
        // The inner peer asks the units for another piece, or serves them.
        inside.tell(Event::Stepped { nodes: 0, busy_ns: 0 })?;
        if self.state.is_short(inside) { inside.tell(Event::Short) } else { Ok(()) }
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
        self.wake(now_ns, inside)?;
        let mut next_ns = 0;
        self.act(now_ns, inside, None, |it, actions| next_ns = it.check_timers(now_ns, actions))?;
        let lease_ns = self.state.timer.terms().lease_ns;
        self.take_back_from_the_away(lease_ns, now_ns, inside)?;
        while self.state.cut.is_none() {
            let Some(held) = self.state.timer.due(now_ns) else { break };
            self.commit(held, now_ns, inside)?;
        }
        self.proceed(now_ns, inside)?;
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
    fn commit<I: Workers<Done = D>>(
        &mut self,
        held: HoldingId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if self.site().may_return(held) {
            return self.give_back(held, now_ns, inside);
        }
        let Some(part) = self.site().freeze(held) else { return Ok(()) };
        self.state.timer.committed(held, now_ns, 0);
        if self.state.at_work == Some(held) {
            self.state.cut = Some(PendingCut { held, part, since_ns: now_ns });
            return inside.begin_cut();
        }
        self.begin_commit(held, part, now_ns, inside)
    }

    /// Completes a commit with the units' cut: their done and open work.
    fn cut_is_complete<I: Workers<Done = D>>(
        &mut self,
        portion: &Portion<D>,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.learn(now_ns, inside)?;
        let Some(PendingCut { held, mut part, since_ns }) = self.state.cut.take() else {
            return Ok(());
        };
        part.content.add(portion);
        self.state.timer.committed(held, now_ns, now_ns.saturating_sub(since_ns));
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
            return inside.save(&part, self.site().best());
        }
        self.act(now_ns, inside, None, |it, actions| it.site().commit(held, part, actions))
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
        self.tell(Event::Came { peer: site }, None, now_ns, inside)?;
        let root = self.is_root();
        if self.state.stopped && root {
            // It does not know of the stop yet.
            inside.send(site, GatewayMessage::Stop);
        }
        if site == 0 && !root {
            self.state.timer.reach_root(true, now_ns);
        }
        self.state.timer.site_joined(site, now_ns);
        self.act(now_ns, inside, None, |it, actions| it.site().ask_all_of(site, actions))
    }

    /// Handles a change of the root's process: the previous root's grants do not count towards the new one's limit.
    pub fn root_changed<I: Workers<Done = D>>(&mut self, inside: &mut I) {
        if let Some(quota) = &mut self.state.quota {
            *quota = Quota::default();
            inside.forbid();
        }
    }

    /// Handles a site that cannot be reached now. It keeps its work until its leases expire.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn unreachable<I: Workers<Done = D>>(
        &mut self,
        site: SiteId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if site == 0 {
            self.state.timer.reach_root(false, now_ns);
        }
        self.tell(Event::Lost { peer: site }, None, now_ns, inside)
    }

    /// Handles a link that is down: the other site may be dead, or come back. It keeps its work for a lease period,
    /// unless there is nothing else to do here.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn away<I: Workers<Done = D>>(
        &mut self,
        site: SiteId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.state.away.entry(site).or_insert(now_ns);
        self.unreachable(site, now_ns, inside)?;
        if self.state.stopped {
            // A stopped search does not wait for it.
            self.take_back_from_the_away(0, now_ns, inside)?;
        }
        self.proceed(now_ns, inside)?;
        if inside.is_idle() { self.is_short_of_the_away(now_ns, inside) } else { Ok(()) }
    }

    /// Takes back work that could not be sent because its place is empty.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn undelivered<I: Workers<Done = D>>(
        &mut self,
        lease: Lease,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.act(now_ns, inside, None, |it, actions| it.site_mut().suspect(lease, actions))?;
        self.proceed(now_ns, inside)
    }

    /// Takes back the work of sites that have been away for a moment, if there is nothing else to do here.
    fn is_short_of_the_away<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if self.state.away.is_empty() || !self.state.is_idle() {
            return Ok(());
        }
        let moment_ns = self.state.timer.terms().lease_ns / 8;
        self.take_back_from_the_away(moment_ns, now_ns, inside)?;
        let site = self.site();
        let relied = self.state.away.iter().filter(|(away, _)| site.relies_on(**away));
        if let Some(since_ns) = relied.map(|(_, since_ns)| *since_ns).min() {
            inside.wake_at(since_ns.saturating_add(moment_ns));
        }
        self.proceed(now_ns, inside)
    }

    /// Takes back the work of sites that have been away for this long, including leases that come with it.
    fn take_back_from_the_away<I: Workers<Done = D>>(
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
            self.act(now_ns, inside, None, |it, actions| it.site_mut().take_back(away, actions))?;
        }
    }

    /// Handles a site that the network reports as gone for good.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn lost<I: Workers<Done = D>>(
        &mut self,
        site: SiteId,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.state.away.remove(&site);
        self.tell(Event::Lost { peer: site }, None, now_ns, inside)?;
        self.act(now_ns, inside, None, |it, actions| it.site_mut().lost(site, actions))?;
        self.proceed(now_ns, inside)
    }

    /// Leaves in an orderly way: hands back all that the site holds.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn leave<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.state.timer.site_mut().leave();
        self.take_in(now_ns, inside)?;
        self.proceed(now_ns, inside)
    }

    /// Learns the best solution of the units. It must reach other sites no later than the units' counts, because they
    /// may have pruned by it.
    fn learn<I: Workers<Done = D>>(&mut self, now_ns: u64, inside: &mut I) -> Result<(), I::Error> {
        match inside.best() {
            Some(best) => self.found(&best, now_ns, inside),
            None => Ok(()),
        }
    }

    /// Takes the units' work, and gives them no more.
    fn take_in<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.learn(now_ns, inside)?;
        if let Some(held) = self.state.at_work.take() {
            let portion = inside.empty()?;
            self.put_back(held, &portion);
        }
        Ok(())
    }

    /// Stops the whole search in an orderly way: every site hands back what it holds, until the root has all of it.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn stop<I: Workers<Done = D>>(
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
        self.take_in(now_ns, inside)?;
        // A stopped search does not wait for sites that are away.
        self.take_back_from_the_away(0, now_ns, inside)?;
        self.proceed(now_ns, inside)
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
    pub fn close<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.tell(Event::AllIdle, None, now_ns, inside)
    }

    /// At a root that resumes from its file: adopts the leases that the file lists.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn resume<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.act(now_ns, inside, None, |it, actions| it.site().adopt_all(actions))
    }
}
