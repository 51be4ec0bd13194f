//! [`FleetState`]: sites without their gateways and peers: workers, messages, files and pending events.

use super::figures::SiteFigures;
use super::fleet::{Fleet, SiteClass};
use super::incidents::Churn;
use crate::chance::mix;
use crate::cluster_state::{MESSAGE, NEVER, TURN, WAKE, Worker};
use crate::device::{self, Device};
use crate::figures::Figures;
use crate::hub::HubState;
use crate::load::{Hand, Load, WorkDone, WorkResult};
use crate::machine::Machine;
use crate::network::Traffic;
use crate::queue::Queue;
use crate::slots::Slots;
use pleach_core::lease::gateway::{GatewayMessage, Portion};
use pleach_core::lease::{ProgressReport, SiteId};
use pleach_core::search::tree::Solution;
use pleach_core::search::work::Work;
use pleach_core::steal::{Message, PeerId};
use pleach_core::wire::checkpoint::Cut;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

/// A message on its way or waiting to be read.
pub(super) enum SimMessage {
    /// Inside a site.
    Near { round: u32, from: PeerId, to: u32, message: Message, work: Option<Arc<Work>> },
    /// Between two sites. It reaches only the process that it was sent to.
    Far { from: SiteId, to: SiteId, life: u32, message: GatewayMessage<WorkDone> },
}

/// The root's last progress report, with the best solution at that time.
pub(super) type File = (ProgressReport<Portion<WorkDone>>, Option<Solution>);

/// A site without its gateway and its workers.
pub(super) struct SiteRecord {
    /// The first of its workers, which is the gateway.
    pub first: u32,
    /// How many workers it has, including the gateway.
    pub peers: u32,
    pub speed: f64,
    /// Whether its workers are devices, the gateway excepted.
    device: Option<Device>,
    pub alive: bool,
    /// The number of its current process.
    pub life: u32,
    /// How often its workers were emptied.
    pub round: u32,
    /// The counter that its workers share.
    pub count: u64,
    pub epoch: u64,
    pub cuts: Vec<(Cut, WorkDone)>,
    /// What its workers had done when the current holding was opened.
    pub base: WorkDone,
    /// Messages from other sites.
    pub messages: VecDeque<u32>,
    pub gateway_wake_ns: u64,
    /// Nodes that its workers may still explore; `u64::MAX` without a limit.
    pub allowed: u64,
    /// Nodes explored beyond the grant in the last stretches; they are deducted from the next grant.
    pub beyond: u64,
    /// What its workers had spent when the gateway last asked.
    pub spent: (u64, u64),
    pub nodes: u64,
    pub since_ns: u64,
    /// When its pause ends.
    pub stands_ns: u64,
    /// When its gateway will have explored the top of the work that arrived last.
    pub explores_until_ns: u64,
    /// When it is connected again.
    pub cut_off_ns: u64,
    /// Sites with which it has exchanged messages.
    pub contacts: HashSet<SiteId>,
    /// Sites that have found it unreachable.
    pub missed_by: BTreeSet<SiteId>,
    /// Whether others have yet to notice that its last process is gone.
    pub unnoticed: bool,
    pub over: bool,
}

/// All sites without their gateways and peers.
pub(super) struct FleetState<'a, L: Load> {
    pub fleet: &'a Fleet,
    pub load: &'a L,
    pub queue: Queue,
    traffic: Traffic<'a>,
    pub hub: HubState,
    pub workers: Vec<Worker<'a>>,
    pub records: Vec<SiteRecord>,
    pub packets: Slots<SimMessage>,
    pub file: Option<File>,
    pub figures: Figures,
    pub of_sites: SiteFigures,
    pub busy: u32,
    /// The score that solutions must beat.
    pub start: i64,
    /// An error found while a gateway was running.
    pub broken: Option<String>,
}

impl<'a, L: Load> FleetState<'a, L> {
    pub fn new(fleet: &'a Fleet, load: &'a L) -> Self {
        let mut records = Vec::new();
        let mut first = 0;
        for class in &fleet.sites {
            for _ in 0..class.count {
                records.push(record(first, class));
                first += class.workers + 1;
            }
        }
        let mut machine = Machine::uniform(1, 0, fleet.poll_ns);
        let mut workers = Vec::with_capacity(first as usize);
        for record in &records {
            machine.classes[0].speed = record.speed;
            for at in record.first..record.first + record.peers {
                let clock = machine.clocks(mix(fleet.seed, 22, at.into()), 0)[0];
                workers.push(Worker::new(record.hand(at, load, fleet.seed), clock));
            }
        }
        let sites = records.len() as u32;
        Self {
            fleet,
            load,
            queue: Queue::new(first),
            traffic: Traffic::new(&fleet.network, sites, mix(fleet.seed, 21, 0)),
            hub: HubState::default(),
            workers,
            records,
            packets: Slots::default(),
            file: None,
            figures: Figures { peers: sites, ..Figures::default() },
            of_sites: SiteFigures::default(),
            busy: 0,
            start: load.hand().best(),
            broken: None,
        }
    }

    /// The workers of a site, including its gateway.
    pub fn range(&self, site: SiteId) -> std::ops::Range<usize> {
        let record = &self.records[site as usize];
        record.first as usize..(record.first + record.peers) as usize
    }

    pub fn gateway(&self, site: SiteId) -> u32 {
        self.records[site as usize].first
    }

    /// Schedules a worker's next turn, unless an earlier one is scheduled.
    pub fn plan(&mut self, worker: u32, at_ns: u64) {
        let turn_ns = &mut self.workers[worker as usize].turn_ns;
        if at_ns < *turn_ns {
            *turn_ns = at_ns;
            self.queue.push(at_ns, u64::from(worker) << 2 | TURN);
        }
    }

    /// Schedules a wake-up of a worker's peer.
    pub fn plan_to_wake(&mut self, worker: u32, at_ns: u64) {
        self.workers[worker as usize].wake_ns = at_ns;
        self.queue.push(at_ns, u64::from(worker) << 2 | WAKE);
    }

    fn put_message(&mut self, packet: SimMessage, at_ns: u64) {
        let place = self.packets.put(packet);
        self.queue.push(at_ns, u64::from(place) << 2 | MESSAGE);
    }

    /// Sends a message inside a site.
    pub fn send_near(
        &mut self,
        site: SiteId,
        from: PeerId,
        to: PeerId,
        (message, work): (Message, Option<Arc<Work>>),
        now_ns: u64,
    ) {
        let record = &self.records[site as usize];
        let (round, to) = (record.round, record.first + to);
        let at_ns = now_ns + self.fleet.near_ns;
        self.put_message(SimMessage::Near { round, from, to, message, work }, at_ns);
    }

    /// Sends a packet to another site.
    pub fn send(
        &mut self,
        from: SiteId,
        to: SiteId,
        message: GatewayMessage<WorkDone>,
        now_ns: u64,
    ) {
        let bytes = self.fleet.message_bytes + message.bytes();
        self.note(&message, bytes);
        let at_ns = match &self.fleet.hub {
            Some(hub) => self.hub.send(hub, &mut self.traffic, (from, to, bytes), now_ns),
            None => self.traffic.send(from, to, bytes, now_ns),
        };
        if self.fleet.churn != Churn::default() {
            self.records[from as usize].contacts.insert(to);
            self.records[to as usize].contacts.insert(from);
        }
        let life = self.records[to as usize].life;
        self.put_message(SimMessage::Far { from, to, life, message }, at_ns);
    }

    fn note(&mut self, message: &GatewayMessage<WorkDone>, bytes: u64) {
        use pleach_core::lease::LeaseMessage;
        let figures = &mut self.figures;
        figures.messages += 1;
        figures.bytes += bytes;
        match message {
            GatewayMessage::Peer(Message::Ask { .. }) => figures.requests += 1,
            GatewayMessage::Gift(..) => figures.pieces += 1,
            GatewayMessage::Lease(LeaseMessage::Commit { .. }) => {
                self.of_sites.commits += 1;
                self.of_sites.largest = self.of_sites.largest.max(bytes);
            }
            _ => {}
        }
    }

    /// What the workers of a site have done since the current holding was opened.
    pub fn done(&self, site: SiteId) -> WorkDone {
        let mut done = WorkDone::default();
        self.workers[self.range(site)].iter().for_each(|worker| done.add(&worker.hand.done()));
        done.without(&self.records[site as usize].base).unwrap_or_default()
    }

    /// The best score that a worker of a site knows.
    pub fn best(&self, site: SiteId) -> i64 {
        let known = self.workers[self.range(site)].iter().map(|worker| worker.hand.best());
        known.min().unwrap_or(i64::MAX)
    }

    /// Open nodes that the workers of a site hold.
    pub fn in_hand(&self, site: SiteId) -> f64 {
        self.workers[self.range(site)][1..].iter().map(|worker| worker.hand.size()).sum()
    }

    /// Splits a share off what a gateway has, or takes all of it.
    pub fn split_spare(&mut self, gateway: u32, share: f64) -> Option<Work> {
        let hand = &mut self.workers[gateway as usize].hand;
        let size = hand.size();
        if size == 0.0 {
            return None;
        }
        hand.split(if size >= 2.0 && share < 0.999 { share } else { 1.0 })
    }

    /// Adds the time that a site was present to the capacity.
    pub fn close_account(&mut self, site: SiteId, now_ns: u64) {
        let record = &mut self.records[site as usize];
        if record.alive {
            let power = f64::from(record.peers - 1) * record.speed;
            self.of_sites.capacity_ns += power * (now_ns - record.since_ns) as f64;
            record.since_ns = now_ns;
        }
    }

    /// Discards everything that the workers of a site hold, and all messages between them.
    pub fn clear(&mut self, site: SiteId) {
        for at in self.range(site) {
            let best = self.workers[at].hand.best();
            let worker = &mut self.workers[at];
            self.busy -= u32::from(worker.stretch.is_some());
            worker.hand = self.records[site as usize].hand(at as u32, self.load, self.fleet.seed);
            worker.hand.update_incumbent(best);
            worker.messages.clear();
            worker.stretch = None;
            (worker.turn_ns, worker.wake_ns, worker.began) = (NEVER, NEVER, false);
            worker.busy_ns = 0;
        }
        let record = &mut self.records[site as usize];
        record.round += 1;
        record.count = record.peers.into();
        record.epoch = 0;
        record.cuts.clear();
        record.base = WorkDone::default();
        (record.nodes, record.spent) = (0, (0, 0));
    }
}

impl SiteRecord {
    /// An empty hand for one of its workers.
    fn hand<'a, L: Load>(&self, at: u32, load: &'a L, seed: u64) -> Box<dyn Hand + 'a> {
        let device = self.device.filter(|_| at > self.first);
        device::hand(load, device, self.speed, mix(seed, 24, at.into()))
    }

    /// Counts explored nodes towards the limit.
    pub fn spend_nodes(&mut self, nodes: u64) {
        self.beyond += nodes.saturating_sub(self.allowed);
        self.allowed = self.allowed.saturating_sub(nodes);
    }

    /// The speed at which the gateway explores the top of some work.
    pub fn top_speed(&self) -> f64 {
        self.device.map_or(self.speed, |device| device.host_speed)
    }

    /// How long the gateway takes to explore the top of some work.
    pub fn top_ns(&self, top: &WorkResult) -> u64 {
        (top.time_ns as f64 / self.top_speed()) as u64
    }
}

fn record(first: u32, class: &SiteClass) -> SiteRecord {
    SiteRecord {
        first,
        peers: class.workers + 1,
        speed: class.speed,
        device: class.device,
        alive: false,
        life: 0,
        round: 0,
        count: 0,
        epoch: 0,
        cuts: Vec::new(),
        base: WorkDone::default(),
        messages: VecDeque::new(),
        gateway_wake_ns: NEVER,
        allowed: u64::MAX,
        beyond: 0,
        spent: (0, 0),
        nodes: 0,
        since_ns: 0,
        stands_ns: 0,
        explores_until_ns: 0,
        cut_off_ns: 0,
        contacts: HashSet::new(),
        missed_by: BTreeSet::new(),
        unnoticed: false,
        over: false,
    }
}
