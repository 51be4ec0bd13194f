//! [`GatewayThread`]: the thread of a site's gateway, which handles messages from workers and other sites.

use super::cluster::Cluster;
use super::message::{Order, SessionMessage, SiteProgress};
use super::other_sites::OtherSites;
use super::reconnect::Reconnect;
use super::session::{Incoming, Session};
use super::workers::SiteWorkers;
use pleach_core::lease::gateway::{Gateway, GatewayMessage, GatewayPacket, GatewayStep, Portion};
use pleach_core::lease::{LeaseMessage, SiteId};
use pleach_core::search::tree::Counts;
use pleach_core::steal::{Event, Message};
use pleach_runtime::control::Stop;
use pleach_runtime::error::RunError;
use pleach_runtime::outcome::Balance;
use pleach_runtime::run_state::RunState;
use pleach_runtime::site_state::SiteState;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Time between two messages to the root about a site's progress.
const PROGRESS_EVERY_NS: u64 = 250_000_000;

/// The maximum number of messages taken before the workers get their turn, and after this process was suspended, when
/// messages from healthy sites have piled up.
const TAKEN: usize = 64;
const PILED_UP: usize = 1 << 12;

/// How long a root that gives way lets its last message be sent.
const LAST_MESSAGE: Duration = Duration::from_millis(100);

/// The thread of a site's gateway.
pub(super) struct GatewayThread<'a> {
    pub gateway: Gateway<Counts>,
    pub workers: SiteWorkers<'a>,
    pub cluster: &'a Cluster,
    pub session: &'a mut Session,
    pub run_state: &'a RunState<'a>,
    pub site_state: &'a SiteState,
    /// The root's knowledge of the other sites.
    pub others: &'a OtherSites,
    /// The search.
    pub order: &'a Order,
    /// At the root: the depth down to which it explores before it gives anything.
    pub cutoff: Option<u32>,
    pub node_limit: Option<u64>,
    pub time_limit: Option<Duration>,
    /// At the root: the number of saves when the standby was last sent a copy.
    pub copied: Option<u64>,
    /// When the next copy may be sent, and whether the last one has not arrived yet.
    pub next_copy_ns: u64,
    pub copy_on_its_way: bool,
    /// What arrived while the gateway rested.
    pub next: Option<Incoming>,
    /// When no message was left last.
    pub heard_ns: u64,
    /// Why the search stops, or why this site asked the root to stop it.
    pub stop: Option<Stop>,
    /// Whether it leaves before the end.
    pub leaving: bool,
    pub next_progress_ns: u64,
    pub commits: u64,
    /// The attempt to reconnect to a lost root.
    pub reconnect: Option<Reconnect>,
    /// The number of the current root process.
    pub root: u64,
    /// Sites that have sent their totals, and so have left the search.
    pub parted: BTreeSet<SiteId>,
    /// The number of invalid messages from each site.
    pub invalid: BTreeMap<SiteId, u32>,
    /// The current root's order, if the previous root had stopped this site: the site begins again once it has handed
    /// over its work, or at this time.
    pub begins_again: Option<(Order, u64)>,
}

/// The results of a gateway.
pub(super) struct GatewayResult {
    /// The state of the whole search, at the root.
    pub whole: Option<Portion<Counts>>,
    pub stop: Option<Stop>,
    pub balance: Balance,
    pub commits: u64,
    /// Nodes of work that was dropped here.
    pub wasted: u64,
    /// What the gateway explored itself.
    pub counts: Counts,
}

impl<'a> GatewayThread<'a> {
    /// Runs the gateway until the search is over.
    pub fn run(mut self, resumed: bool) -> Result<GatewayResult, RunError> {
        self.workers.pass_event(Event::Stepped { nodes: 0, busy_ns: 0 }, None)?;
        self.explore_cutoff()?;
        for site in self.session.others() {
            self.gateway().site_joined(site)?;
        }
        self.announce_standby(None);
        if resumed {
            self.gateway().adopt_listed_leases()?;
        }
        // A limit may be reached already.
        self.carry_out_requests()?;
        while self.run_state.control().stopped().is_none() {
            self.gateway().pardon_standstill();
            self.workers.handle_messages()?;
            self.look_for_the_root()?;
            self.receive_messages()?;
            while let Some(site) = self.session.arriving() {
                self.gateway().on_arriving_message(site);
            }
            let now_ns = self.run_state.now_ns();
            let cut = self.workers.take_cut()?;
            self.gateway().handle_workers(cut.as_ref())?;
            if self.workers.check_at_ns <= now_ns {
                self.workers.check_at_ns = u64::MAX;
                let next_ns = self.gateway().check_timers()?;
                self.workers.check_at_ns = self.workers.check_at_ns.min(next_ns);
            }
            self.carry_out_requests()?;
            self.send_messages()?;
            if self.is_over()? {
                break;
            }
            self.report_progress();
            self.copy_to_standby();
            self.wait_for_input()?;
        }
        self.send_messages()?;
        self.site_state.end();
        let whole = self.gateway.site().holding(None).map(|whole| whole.part().content.clone());
        Ok(GatewayResult {
            whole,
            stop: self.stop,
            balance: self.workers.effects.balance,
            commits: self.commits,
            wasted: self.gateway.wasted().bounded,
            counts: self.workers.effects.counts,
        })
    }

    /// The gateway, to handle an event now.
    pub fn gateway(&mut self) -> GatewayStep<'_, Counts, SiteWorkers<'a>> {
        self.gateway.at(self.run_state.now_ns(), &mut self.workers)
    }

    /// Explores the top of the tree, if the root is to give only what is below.
    fn explore_cutoff(&mut self) -> Result<(), RunError> {
        let stops = self.site_state.requested_stop().is_some();
        let Some(depth) = self.cutoff.filter(|_| !stops) else { return Ok(()) };
        let (workers, fuel) = (&mut self.workers, self.node_limit.unwrap_or(u64::MAX));
        let explore = |open: &[_]| workers.explore_cutoff(open, (depth, fuel));
        self.gateway.replace_open(explore)?;
        if self.node_limit.is_some() {
            let used = self.workers.effects.counts.bounded;
            self.gateway.set_node_limit(fuel.saturating_sub(used));
        }
        Ok(())
    }

    /// Handles arrivals from the network.
    fn receive_messages(&mut self) -> Result<(), RunError> {
        let behind_ns = self.run_state.now_ns().saturating_sub(self.heard_ns);
        let most = if behind_ns > self.cluster.terms().lease_ns / 8 { PILED_UP } else { TAKEN };
        for taken in 0..most {
            if taken > 0 && taken.is_multiple_of(TAKEN) {
                self.send_messages()?;
                if self.run_state.control().stopped().is_some() {
                    break;
                }
            }
            let next = self.next.take();
            let Some(incoming) =
                next.map_or_else(|| self.session.next_incoming(), |incoming| Ok(Some(incoming)))?
            else {
                self.heard_ns = self.run_state.now_ns();
                break;
            };
            self.handle_incoming(incoming)?;
        }
        Ok(())
    }

    fn handle_incoming(&mut self, incoming: Incoming) -> Result<(), RunError> {
        let now_ns = self.run_state.now_ns();
        let root = self.cluster.is_root();
        match incoming {
            Incoming::Message(from, SessionMessage::Gateway(bytes)) => {
                let (fingerprint, places) = (self.order.fingerprint, self.session.places());
                let read = GatewayPacket::from_bytes(&bytes, fingerprint, places);
                match read.ok().filter(|packet| packet.from == from && self.may_be(packet)) {
                    // Where processes come and go, only the root may stop or end the search.
                    Some(GatewayPacket {
                        message: GatewayMessage::Stop | GatewayMessage::Peer(Message::Done),
                        ..
                    }) if from > 0 && self.cluster.is_open() => {}
                    Some(packet) => self.gateway().handle_message(from, packet.message)?,
                    None => self.on_invalid_message(from)?,
                }
            }
            Incoming::Message(from, SessionMessage::SiteProgress(progress)) if root => {
                if progress.blind {
                    self.site_state.go_blind();
                }
                self.others.record_progress(from, progress);
            }
            // Where processes come and go, one without memory leaves.
            Incoming::Message(_, SessionMessage::Wish(Stop::Memory))
                if root && !self.cluster.comes_back() =>
            {
                self.site_state.request_stop(Stop::Memory)
            }
            Incoming::Message(site, SessionMessage::Failed(why)) if root || site == 0 => {
                return Err(RunError::Site { site, why });
            }
            Incoming::Message(from, SessionMessage::SiteTotals(totals)) if root => {
                // The site leaves before the end, and waits for a confirmation.
                self.others.record_totals(from, totals);
                self.parted.insert(from);
                self.session.forget_standby(from);
                self.gateway().on_site_unreachable(from)?;
                self.session.send(from, &SessionMessage::Dismissed);
            }
            Incoming::Message(0, SessionMessage::Standby(address)) => {
                self.cluster.know_standby(address);
            }
            Incoming::Message(0, SessionMessage::Copy(copy)) => {
                self.cluster.keep_copy(copy);
                self.session.send(0, &SessionMessage::Copied);
            }
            Incoming::Message(_, SessionMessage::Copied) if root => self.copy_on_its_way = false,
            Incoming::Message(..) | Incoming::Nothing => {}
            // It arrived with the last message of the search: it took no part, and nobody waits for its totals.
            Incoming::Joined(_) if self.gateway.over() => {}
            Incoming::Joined(site) => {
                let host = self.session.host_of(site).to_string();
                let is_back = self.session.is_back(site);
                self.others.record_join(site, host, is_back, now_ns);
                self.workers.lapsed.remove(&site);
                // A site that comes back after invalid messages is still excluded.
                if !is_back {
                    self.invalid.remove(&site);
                }
                self.parted.remove(&site);
                self.gateway().site_joined(site)?;
                self.announce_standby(Some(site));
            }
            // The search is over here: the next search reconnects to the root.
            Incoming::Lost(0) if self.gateway.over() || self.session.is_dismissed() => {}
            Incoming::Lost(0) => return self.lose_the_root(),
            Incoming::Lost(site) => {
                self.others.record_loss(site, now_ns);
                if self.parted.remove(&site) {
                    self.gateway().on_site_lost(site)?;
                } else {
                    self.on_link_down(site)?;
                }
            }
            Incoming::Left(site) => {
                self.others.record_loss(site, now_ns);
                self.gateway().on_site_lost(site)?;
            }
            Incoming::Invalid(site) => self.on_invalid_message(site)?,
            Incoming::Note(line) => self.run_state.warn(line),
            Incoming::TakenOver(address) => {
                if let Some(address) = address {
                    self.session.send_all(&SessionMessage::Standby(address));
                    std::thread::sleep(LAST_MESSAGE);
                }
                return Err(RunError::TakenOver);
            }
            Incoming::End => return Err(RunError::Lost("the network was shut down".into())),
        }
        Ok(())
    }

    /// Handles a broken link to another site.
    fn on_link_down(&mut self, site: SiteId) -> Result<(), RunError> {
        if self.cluster.comes_back() {
            self.gateway().on_link_down(site)
        } else {
            self.gateway().on_site_lost(site)
        }
    }

    /// Handles the loss of the root. The workers continue with their work: the next root may adopt it.
    fn lose_the_root(&mut self) -> Result<(), RunError> {
        let others = self.session.others();
        // The next root may give another order.
        self.begins_again = None;
        let lost = self.session.root_loss();
        self.run_state.warn(format!("{lost}; trying to reconnect"));
        let lost = RunError::Lost(lost);
        self.reconnect =
            Some(self.cluster.begin_to_return(self.session, self.gateway.stopped()).ok_or(lost)?);
        for site in others {
            self.gateway().on_site_unreachable(site)?;
        }
        self.gateway().on_site_unreachable(0)
    }

    /// Checks whether the attempt to reconnect to the root has finished.
    fn look_for_the_root(&mut self) -> Result<(), RunError> {
        let Some(end) = self.reconnect.as_ref().and_then(Reconnect::result) else { return Ok(()) };
        self.reconnect = None;
        let me = self.cluster.me();
        self.cluster.come_back(self.session, end)?;
        let Some(order) = self.session.continues(me, self.order) else {
            let here = self.cluster.me() == me;
            let why =
                if here { "the root has begun another run" } else { "this site has a new number" };
            self.run_state.warn(format!("{why}: starting over"));
            return Err(RunError::Replaced);
        };
        self.run_state.warn("reached the root again".into());
        self.cluster.follow(&order);
        let same = std::mem::replace(&mut self.root, order.root) == order.root;
        if !same {
            self.gateway().root_changed();
        }
        if self.gateway.stopped() && !same {
            // The previous root has stopped this site, but this root has not.
            let wait_ns = self.cluster.terms().lease_ns / 4;
            self.begins_again = Some((order, self.run_state.now_ns().saturating_add(wait_ns)));
        }
        self.gateway().site_joined(0)
    }

    /// Carries out requests of the workers or their watcher.
    fn carry_out_requests(&mut self) -> Result<(), RunError> {
        let follows = !self.cluster.is_root();
        let full =
            self.cluster.comes_back() && self.site_state.requested_stop() == Some(Stop::Memory);
        if follows && (full || self.site_state.asked_to_leave()) && !self.leaving {
            if full {
                let why =
                    "this process leaves the search, because its growth exceeds the memory limit";
                self.run_state.warn(why.into());
            }
            (self.leaving, self.stop) = (true, Some(Stop::Asked));
            self.gateway().leave_search()?;
        }
        let Some(why) = self.site_state.requested_stop().filter(|_| self.stop.is_none()) else {
            return Ok(());
        };
        self.stop = Some(why);
        match why {
            // The root learns of this solution like of any other.
            Stop::Found if follows => Ok(()),
            _ if follows => {
                self.session.send(0, &SessionMessage::Wish(why));
                Ok(())
            }
            _ => self.gateway().stop_search(),
        }
    }

    /// Whether the search is over for this site.
    fn is_over(&mut self) -> Result<bool, RunError> {
        if self.gateway.stopped() && !self.gateway.over() && self.cluster.is_root() {
            self.take_back_from_missing_sites()?;
        }
        if self.gateway.is_gathered() && !self.gateway.over() {
            self.gateway().end_search()?;
            self.send_messages()?;
        }
        if self.gateway.stopped() && self.stop.is_none() && self.cluster.is_root() {
            // The gateway stops by itself when the node limit is reached.
            self.stop = Some(Stop::Nodes);
        }
        let follows = !self.cluster.is_root();
        let has_left = self.gateway.site().has_left();
        let late = |&(_, until_ns): &(Order, u64)| has_left || self.run_state.now_ns() >= until_ns;
        if let Some((order, _)) = self.begins_again.take_if(|it| !self.leaving && late(it)) {
            self.send_messages()?;
            self.session.announce(order);
            return Err(RunError::Replaced);
        }
        // A lost root takes nothing back, and may never return: others repeat what is held here.
        let alone = self.reconnect.is_some() && self.site_state.asked_to_leave();
        let left = self.leaving && (has_left || alone);
        Ok(self.gateway.over() || follows && (left || self.session.is_past()))
    }

    /// At the root of a stopped search: takes back what absent processes hold. The root need not have met them: they
    /// may be listed in its file, or by a process that gave them work. A stop does not wait for them.
    fn take_back_from_missing_sites(&mut self) -> Result<(), RunError> {
        // What one of them held may list what another one holds.
        loop {
            let whole = self.gateway.site().holding(None);
            let listed = whole.into_iter().flat_map(|whole| whole.part().subs.values());
            let mut holders = listed.map(|rec| rec.holder);
            let Some(site) = holders.find(|&site| !self.session.is_there(site)) else {
                return Ok(());
            };
            self.gateway().on_site_lost(site)?;
        }
    }

    /// Sends the gateway's messages.
    fn send_messages(&mut self) -> Result<(), RunError> {
        while !self.workers.messages.is_empty() {
            let (mut missing, mut too_long) = (Vec::new(), Vec::new());
            for (to, message) in std::mem::take(&mut self.workers.messages) {
                let given = if let GatewayMessage::Gift(_, message) = &message {
                    Some(message.lease())
                } else {
                    None
                };
                let packet = GatewayPacket { from: self.cluster.me(), message };
                let bytes = packet.to_bytes(self.order.fingerprint);
                if let GatewayMessage::Lease(LeaseMessage::Return { lease, .. }) = packet.message
                    && bytes.len() as u64 > self.cluster.longest_packet()
                {
                    too_long.push(lease);
                    continue;
                }
                let balance = &mut self.workers.effects.balance;
                count_message(balance, &mut self.commits, &packet.message);
                let message = SessionMessage::Gateway(bytes);
                if !self.session.send(to, &message) {
                    missing.push((to, given));
                }
            }
            for (site, given) in missing {
                self.gateway().on_site_unreachable(site)?;
                if let Some(lease) = given {
                    self.gateway().on_undelivered(lease)?;
                }
            }
            for lease in too_long {
                let why = "this site's open work is too long for a message: other sites repeat what it has done since its last commit";
                self.run_state.warn(why.into());
                self.gateway().drop_holding(lease)?;
            }
        }
        Ok(())
    }

    /// Reports this site's progress to the root periodically.
    fn report_progress(&mut self) {
        let now_ns = self.run_state.now_ns();
        if self.cluster.is_root() || now_ns < self.next_progress_ns {
            return;
        }
        self.next_progress_ns = now_ns + PROGRESS_EVERY_NS;
        let mut progress = SiteProgress {
            workers: self.site_state.peers() - 1,
            blind: self.site_state.is_blind(),
            ..SiteProgress::default()
        };
        for counters in self.run_state.worker_counters() {
            progress.counts.add(&counters.read().0);
            progress.busy += u32::from(counters.size() > 0.0);
        }
        self.session.send(0, &SessionMessage::SiteProgress(progress));
    }

    /// Waits for the workers, the network or a timer.
    fn wait_for_input(&mut self) -> Result<(), RunError> {
        loop {
            if self.next.is_none() {
                self.next = self.session.next_incoming()?;
            }
            let peer_ns = self.workers.effects.wake_at_ns.unwrap_or(u64::MAX);
            let progress_ns = if self.cluster.is_root() { u64::MAX } else { self.next_progress_ns };
            let until_ns = peer_ns.min(self.workers.check_at_ns).min(progress_ns);
            let left_ns = until_ns.saturating_sub(self.run_state.now_ns());
            if self.next.is_some() || left_ns == 0 || self.workers.effects.transport.waiting() {
                return Ok(());
            }
            let left = Duration::from_nanos(left_ns);
            match self.session.rest() {
                None => self.workers.effects.transport.wait(Some(left)),
                Some(Duration::ZERO) => std::thread::yield_now(),
                Some(rest) => self.workers.effects.transport.wait(Some(rest.min(left))),
            }
        }
    }
}

/// Counts a message that a gateway sends.
fn count_message(balance: &mut Balance, commits: &mut u64, message: &GatewayMessage<Counts>) {
    balance.messages += 1;
    match message {
        GatewayMessage::Peer(Message::Ask { .. }) => balance.requests += 1,
        GatewayMessage::Peer(Message::Refuse) => balance.refused += 1,
        GatewayMessage::Gift(..) => {
            balance.served += 1;
            balance.moved_bytes += message.bytes();
        }
        GatewayMessage::Lease(LeaseMessage::Commit { .. } | LeaseMessage::Return { .. }) => {
            *commits += 1
        }
        _ => {}
    }
}
