//! [`World`]: simulates the loop of every worker and every gateway, and what happens to them.

use super::fleet::Fleet;
use super::fleet_state::{FleetState, SimMessage};
use super::incidents::{CHANCES, Incident};
use super::site_inside::{FleetWorkers, SiteInside};
use crate::chance::mix;
use crate::cluster_state::{MESSAGE, NEVER, SNAPSHOT, Stretch, TURN, WAKE};
use crate::figures::Figures;
use crate::load::{Hand, Load, WorkDone};
use pleach_core::lease::gateway::{Gateway, GatewayStep, Portion, Tally};
use pleach_core::lease::{ProgressReport, Site, SiteId};
use pleach_core::search::tree::Solution;
use pleach_core::steal::{Event, Peer, PeerTree, Policy, SeededChooser};
use pleach_core::wire::checkpoint::assemble;
use std::sync::Arc;

impl Tally for WorkDone {
    fn add(&mut self, other: &Self) {
        WorkDone::add(self, other);
    }
}

impl Fleet {
    /// Simulates a run.
    ///
    /// # Errors
    /// The law that was broken, or why the run did not end.
    pub fn run<L: Load>(&self, load: &L) -> Result<Figures, String> {
        World::new(self, load).run()
    }
}

/// A simulated run on sites.
pub(super) struct World<'a, L: Load> {
    pub(super) inner: FleetWorkers<'a, L>,
    pub(super) gateways: Vec<Option<Gateway<WorkDone>>>,
    sites: PeerTree,
    policy: Policy,
    pub(super) incidents: Vec<Incident>,
    pub(super) drawn: u64,
    pub(super) end: Option<(WorkDone, Option<Solution>, Vec<pleach_core::search::work::Work>)>,
}

impl<'a, L: Load> World<'a, L> {
    pub fn new(fleet: &'a Fleet, load: &'a L) -> Self {
        let state = FleetState::new(fleet, load);
        let count = fleet.count();
        let policy = fleet.policy.between_sites(count, fleet.open);
        Self {
            inner: FleetWorkers::new(state),
            gateways: (0..count).map(|_| None).collect(),
            sites: PeerTree::new(count, policy.tree, fleet.seed),
            policy,
            incidents: Vec::new(),
            drawn: 0,
            end: None,
        }
    }

    pub(super) fn state(&mut self) -> &mut FleetState<'a, L> {
        &mut self.inner.state
    }

    /// A process takes a place.
    pub(super) fn place_site(
        &mut self,
        site: SiteId,
        mut leases: Site<Portion<WorkDone>>,
        now_ns: u64,
    ) -> Result<(), String> {
        let fleet = self.inner.state.fleet;
        let life = self.inner.state.records[site as usize].life;
        let chooser = SeededChooser::new(mix(fleet.seed, 20, u64::from(life)), site);
        let peer = Peer::new(site, &self.sites, self.policy.clone());
        let peer = if fleet.open { peer.with_changing_peers() } else { peer };
        leases.set_max_report_bytes(fleet.progress_report_bytes);
        let root = leases.holding(None).is_some();
        let mut gateway = Gateway::new(leases, fleet.terms, peer, chooser, fleet.low_ns);
        let record = &mut self.inner.state.records[site as usize];
        if let Some(limit) = fleet.node_limit {
            record.allowed = 0;
            // A root that resumes a search does not know how much of its limit the others still have.
            gateway.set_node_limit(if root { limit } else { 0 });
        }
        self.gateways[site as usize] = Some(gateway);
        (record.alive, record.since_ns, record.over) = (true, now_ns, false);
        (record.stands_ns, record.explores_until_ns, record.cut_off_ns) = (0, 0, 0);
        record.gateway_wake_ns = now_ns;
        self.inner.clear(site, now_ns);
        let gateway = self.inner.state.gateway(site);
        self.state().plan(gateway, now_ns);
        self.meet(site, now_ns)
    }

    /// A random number that no process has drawn before.
    pub(super) fn incarnation(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.inner.state.fleet.seed, self.drawn, 30)
    }

    /// The whole work, explored down to the cutoff as far as the limit allows, and how long that takes.
    fn whole(&self) -> Result<(Portion<WorkDone>, u64), String> {
        let (root, fleet) = (self.inner.state.load.root(), self.inner.state.fleet);
        let most = fleet.node_limit.unwrap_or(u64::MAX);
        let Some(depth) = fleet.policy.cutoff.filter(|_| most > 0) else {
            return Ok((Portion::open(vec![root.into()]), 0));
        };
        let mut hand = self.inner.state.load.hand();
        let put = hand.add_work(&root.bytes);
        put.map_err(|why| format!("the whole work cannot be read: {why}"))?;
        let top = hand.seed(depth, u64::MAX, most).ok_or("this load has no top to explore")?;
        let open = if hand.size() > 0.0 { vec![hand.copy().into()] } else { Vec::new() };
        let top_ns = self.inner.state.records[0].top_ns(&top);
        Ok((Portion { done: hand.done(), open }, top_ns))
    }

    pub fn run(mut self) -> Result<Figures, String> {
        let fleet = self.inner.state.fleet;
        let (whole, top_ns) = self.whole()?;
        let explored = whole.done.counts.bounded;
        let incarnation = self.incarnation();
        self.place_site(0, Site::root(0, incarnation, ProgressReport::of(whole), None), 0)?;
        self.state().records[0].explores_until_ns = top_ns;
        if let (Some(limit), Some(root)) = (fleet.node_limit, &mut self.gateways[0]) {
            root.set_node_limit(limit.saturating_sub(explored));
        }
        for site in 1..fleet.count() - fleet.churn.absent {
            let incarnation = self.incarnation();
            self.place_site(site, Site::new(site, incarnation), 0)?;
        }
        CHANCES.into_iter().for_each(|incident| self.expect(incident, 0));
        self.schedule(0, Incident::CheckSites);
        if let Some(stop_ns) = fleet.stop_ns {
            self.schedule(stop_ns, Incident::End);
        }
        while !self.all_over() {
            let Some((now_ns, what)) = self.state().queue.pop() else {
                return Err("deadlock: sites wait for the end".into());
            };
            self.state().figures.events += 1;
            if self.state().figures.events > fleet.most_events {
                return Err(format!("did not end after {} events", fleet.most_events));
            }
            let which = (what >> 2) as u32;
            let happened = match what & 3 {
                MESSAGE => self.arrive(which, now_ns),
                SNAPSHOT => self.happen(which, now_ns),
                kind => self.worker_event(kind, which, now_ns),
            };
            happened.map_err(|why| format!("after {} s: {why}", now_ns as f64 * 1e-9))?;
        }
        self.close()
    }

    fn all_over(&self) -> bool {
        self.end.is_some()
            && self.inner.state.records.iter().all(|record| !record.alive || record.over)
    }

    fn close(self) -> Result<Figures, String> {
        let FleetState { load, workers, hub, mut figures, mut of_sites, .. } = self.inner.state;
        (of_sites.forwarded, of_sites.hub_ns) = (hub.forwarded, hub.busy_ns);
        figures.power = of_sites.capacity_ns / (figures.declared_ns as f64).max(1.0);
        figures.sites = Some(of_sites);
        let Some((done, best, open)) = self.end else { return Err("the run has no result".into()) };
        let score = best.as_ref().map_or(i64::MAX, |best| best.score);
        let start = load.hand().best();
        load.check(&done, score.min(start), &open)?;
        figures.counts = done.counts;
        figures.best = best.map(|best| best.score);
        figures.alone_ns = load.total_ns().filter(|_| open.is_empty());
        let known = workers.iter().map(|worker| worker.hand.best()).min().unwrap_or(i64::MAX);
        if open.is_empty() && known < score.min(start) {
            return Err(format!(
                "a worker knows the score {known}, but the root knows only {score}"
            ));
        }
        Ok(figures)
    }

    fn worker_event(&mut self, kind: u64, worker: u32, now_ns: u64) -> Result<(), String> {
        let state = &self.inner.state.workers[worker as usize];
        let due = if kind == TURN { state.turn_ns } else { state.wake_ns };
        if due != now_ns {
            return Ok(());
        }
        match kind {
            TURN => self.turn(worker, now_ns),
            WAKE => self.attend(worker, now_ns),
            _ => Ok(()),
        }
    }

    fn site_of(&self, worker: u32) -> SiteId {
        self.inner.site_of[worker as usize]
    }

    fn arrive(&mut self, place: u32, now_ns: u64) -> Result<(), String> {
        match self.inner.state.packets.get(place) {
            Some(&SimMessage::Near { round, to, .. }) => {
                let site = self.site_of(to);
                let record = &self.inner.state.records[site as usize];
                if !record.alive || record.round != round {
                    self.state().packets.take(place);
                    return Ok(());
                }
                self.state().workers[to as usize].messages.push_back(place);
                self.attend(to, now_ns)
            }
            Some(&SimMessage::Far { from, to, life, .. }) => {
                let records = &self.inner.state.records;
                let cut = |site: SiteId| records[site as usize].cut_off_ns > now_ns;
                let record = &records[to as usize];
                if !record.alive || record.life != life || cut(from) || cut(to) {
                    let dead = !record.alive;
                    self.state().packets.take(place);
                    // A site that sends to an empty place learns so at once.
                    return if dead { self.refused(from, to, now_ns) } else { Ok(()) };
                }
                self.state().records[to as usize].messages.push_back(place);
                let gateway = self.inner.state.gateway(to);
                self.attend(gateway, now_ns)
            }
            None => Err("an empty packet arrived".into()),
        }
    }

    /// A message is waiting for a worker, which reads it when it next looks.
    fn attend(&mut self, me: u32, now_ns: u64) -> Result<(), String> {
        let site = self.site_of(me);
        let stands_ns = self.inner.state.records[site as usize].stands_ns;
        let worker = &self.inner.state.workers[me as usize];
        let Some(at_ns) = worker.looks_ns(now_ns) else { return Ok(()) };
        let at_ns = at_ns.max(stands_ns);
        if at_ns == now_ns {
            return self.turn(me, now_ns);
        }
        self.state().plan(me, at_ns);
        Ok(())
    }

    fn turn(&mut self, me: u32, then_ns: u64) -> Result<(), String> {
        let site = self.site_of(me);
        let record = &self.inner.state.records[site as usize];
        self.inner.state.workers[me as usize].turn_ns = NEVER;
        if !record.alive {
            return Ok(());
        }
        let is_gateway = me == record.first;
        let explores_until_ns = if is_gateway { record.explores_until_ns } else { 0 };
        let until_ns = record.stands_ns.max(explores_until_ns);
        if until_ns > then_ns {
            self.state().plan(me, until_ns);
            return Ok(());
        }
        let mut now_ns = then_ns;
        if !std::mem::replace(&mut self.state().workers[me as usize].began, true) {
            self.tell(me, Event::Stepped { nodes: 0, busy_ns: 0 }, now_ns)?;
        } else if let Some(stretch) = self.state().workers[me as usize].stretch.take() {
            self.end_stretch(me, stretch, now_ns)?;
        }
        while let Some(place) = self.state().workers[me as usize].messages.pop_front() {
            now_ns += self.inner.state.fleet.handle_near_ns;
            if let Some(SimMessage::Near { from, message, work, .. }) =
                self.state().packets.take(place)
            {
                let site = self.site_of(me);
                self.inner.tell(site, me, (Event::Message { from, message }, work), now_ns)?;
            }
        }
        let worker = &mut self.state().workers[me as usize];
        if worker.wake_ns <= now_ns {
            worker.wake_ns = NEVER;
            self.tell(me, Event::Woke, now_ns)?;
        }
        if is_gateway {
            now_ns = self.gate_turn(site, now_ns)?;
            self.state().workers[me as usize].free_ns = now_ns;
            return Ok(());
        }
        self.state().workers[me as usize].free_ns = now_ns;
        self.begin_stretch(me, then_ns, now_ns);
        Ok(())
    }

    /// What a gateway does besides what every worker does.
    fn gate_turn(&mut self, site: SiteId, then_ns: u64) -> Result<u64, String> {
        let mut now_ns = then_ns;
        while let Some(place) = self.state().records[site as usize].messages.pop_front() {
            now_ns += self.inner.state.fleet.handle_ns;
            if let Some(SimMessage::Far { from, message, .. }) = self.state().packets.take(place) {
                self.with_gateway(site, now_ns, |gateway| gateway.handle_message(from, message))?;
                now_ns = now_ns.max(self.inner.state.records[site as usize].explores_until_ns);
            }
        }
        let cut = self.cut(site)?;
        self.with_gateway(site, now_ns, |gateway| gateway.handle_workers(cut.as_ref()))?;
        if self.state().records[site as usize].gateway_wake_ns <= now_ns {
            self.state().records[site as usize].gateway_wake_ns = NEVER;
            let mut next_ns = NEVER;
            self.with_gateway(site, now_ns, |gateway| {
                next_ns = gateway.check_timers()?;
                Ok(())
            })?;
            let record = &mut self.state().records[site as usize];
            record.gateway_wake_ns = record.gateway_wake_ns.min(next_ns.max(now_ns + 1));
        }
        self.see_end(site, now_ns)?;
        let record = &self.inner.state.records[site as usize];
        if record.alive && record.gateway_wake_ns < NEVER {
            let (gateway, at_ns) = (record.first, record.gateway_wake_ns);
            self.state().plan(gateway, at_ns);
        }
        match self.state().broken.take() {
            Some(why) => Err(why),
            None => Ok(now_ns),
        }
    }

    /// The cut of a site, once all its workers have made theirs.
    fn cut(&mut self, site: SiteId) -> Result<Option<Portion<WorkDone>>, String> {
        let record = &mut self.inner.state.records[site as usize];
        if record.cuts.len() < record.peers as usize {
            return Ok(None);
        }
        let (cuts, each): (Vec<_>, Vec<WorkDone>) =
            std::mem::take(&mut record.cuts).into_iter().unzip();
        let mut done = WorkDone::default();
        each.iter().for_each(|each| done.add(each));
        let done = done.without(&record.base).ok_or("the work done has decreased")?;
        let (_, open) = assemble(cuts);
        Ok(Some(Portion { done, open: open.into_iter().map(Arc::new).collect() }))
    }

    pub(super) fn with_gateway(
        &mut self,
        site: SiteId,
        now_ns: u64,
        act: impl FnOnce(&mut GatewayStep<'_, WorkDone, SiteInside<'_, 'a, L>>) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some(gateway) = &mut self.gateways[site as usize] else { return Ok(()) };
        act(&mut gateway.at(now_ns, &mut SiteInside { inner: &mut self.inner, site, now_ns }))
    }

    /// Checks whether a site has left, and whether the search has ended.
    fn see_end(&mut self, site: SiteId, now_ns: u64) -> Result<(), String> {
        let Some(gateway) = &self.gateways[site as usize] else { return Ok(()) };
        let (over, left, gathered) =
            (gateway.over(), gateway.site().has_left(), gateway.is_gathered());
        if site == 0 && (over || gathered) && self.end.is_none() {
            let part = gateway.site().holding(None).map(|whole| whole.part().content.clone());
            let part = part.ok_or("the root lost its own lease")?;
            let open = part
                .open
                .iter()
                .map(|piece| pleach_core::search::work::Work::clone(piece))
                .collect();
            self.end = Some((part.done, gateway.site().best().cloned(), open));
            self.state().figures.declared_ns = now_ns;
            for site in 0..self.gateways.len() as SiteId {
                self.state().close_account(site, now_ns);
            }
            if gathered {
                // A late site is notified by the next site that receives its messages.
                self.with_gateway(0, now_ns, |gateway| gateway.end_search())?;
            }
        }
        if site > 0 && left {
            self.state().of_sites.left += 1;
            return self.go(site, now_ns, 0);
        }
        if over || gathered {
            let state = self.state();
            state.records[site as usize].over = true;
            state.figures.time_ns = state.figures.time_ns.max(now_ns);
        }
        Ok(())
    }

    fn tell(&mut self, me: u32, event: Event, now_ns: u64) -> Result<(), String> {
        let site = self.site_of(me);
        self.inner.tell(site, me, (event, None), now_ns)
    }

    fn begin_stretch(&mut self, me: u32, then_ns: u64, now_ns: u64) {
        let state = &mut self.inner.state;
        let worker = &mut state.workers[me as usize];
        let site = self.inner.site_of[me as usize];
        if worker.hand.size() == 0.0 || state.records[site as usize].allowed == 0 {
            return;
        }
        let look_ns = (worker.clock.speed * worker.clock.poll_ns as f64) as u64;
        // Near a limit, a worker counts its nodes whenever it looks for messages.
        let most_ns = if state.fleet.node_limit.is_some() { look_ns.max(1) } else { u64::MAX };
        let ahead_ns = worker.hand.ahead_ns().map(|cost_ns| cost_ns.min(most_ns));
        let (result, until_ns) = match ahead_ns {
            Some(cost_ns) => (Err(cost_ns), worker.clock.end(now_ns, cost_ns)),
            None if now_ns > then_ns => return state.plan(me, now_ns),
            None => {
                let ran = worker.hand.run(look_ns);
                (Ok(ran), worker.clock.end(now_ns, ran.time_ns))
            }
        };
        worker.stretch = Some(Stretch { since_ns: now_ns, until_ns, result, to_depth: None });
        state.busy += 1;
        state.plan(me, until_ns);
    }

    fn end_stretch(&mut self, me: u32, stretch: Stretch, now_ns: u64) -> Result<(), String> {
        let site = self.site_of(me);
        let state = &mut self.inner.state;
        state.busy -= 1;
        let ended = state.workers[me as usize].end_stretch(stretch, now_ns);
        let Some((ran, busy_ns)) = ended else { return Ok(()) };
        state.figures.work_ns += ran.work_ns;
        state.figures.possible_ns += ran.time_ns;
        state.figures.last_work_ns = state.figures.last_work_ns.max(now_ns);
        let record = &mut state.records[site as usize];
        record.nodes += ran.nodes;
        if state.fleet.node_limit.is_some() {
            record.spend_nodes(ran.nodes);
            let gateway = record.first;
            state.plan(gateway, now_ns);
        }
        if let Some(score) = ran.found {
            self.tell(me, Event::Found { score }, now_ns)?;
        }
        self.tell(me, Event::Stepped { nodes: ran.nodes, busy_ns }, now_ns)
    }
}
