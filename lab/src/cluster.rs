//! [`Cluster`]: simulates many peers: the loop of each, the messages between them, and a checker that watches from
//! outside.

use super::chance::{exponential, mix};
use super::checker::Checker;
use super::cluster_state::{
    ClusterState, MESSAGE, NEVER, SNAPSHOT, SimMessage, Stretch, TURN, WAKE, Worker,
};
use super::device::hand;
use super::figures::Figures;
use super::load::{Load, WorkDone};
use super::machine::Machine;
use super::network::{Network, Traffic};
use super::queue::Queue;
use super::slots::Slots;
use super::worker_effects::WorkerEffects;
use pleach_core::search::work::Work;
use pleach_core::steal::{Event, Interpreter, Peer, PeerId, PeerTree, Policy, SeededChooser};
use std::sync::Arc;

/// Everything about a simulated run except the load.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// How work is balanced.
    pub policy: Policy,
    /// The peers.
    pub machine: Machine,
    /// The links between them.
    pub network: Network,
    /// The size of a message without the work that travels with it.
    pub message_bytes: u64,
    /// Mean time between two snapshots, if any are taken.
    pub snapshot_ns: Option<u64>,
    /// All randomness.
    pub seed: u64,
    /// The run is abandoned after this number of events.
    pub most_events: u64,
}

impl Cluster {
    /// Simulates a run.
    ///
    /// # Errors
    /// The law that was broken, or why the run did not end.
    pub fn run<L: Load>(&self, load: &L) -> Result<Figures, String> {
        World::new(self, load).run()
    }

    /// Simulates a run of peers with a known fault.
    #[cfg(test)]
    pub(super) fn run_mutant<L: Load>(
        &self,
        load: &L,
        mutant: pleach_core::steal::Mutant,
    ) -> Result<Figures, String> {
        let mut world = World::new(self, load);
        world.interpreters.iter_mut().for_each(|interpreter| interpreter.mutate(mutant));
        world.run()
    }
}

/// A simulated run.
struct World<'a, L: Load> {
    cluster: &'a Cluster,
    interpreters: Vec<Interpreter<Arc<Work>>>,
    choosers: Vec<SeededChooser>,
    state: ClusterState<'a, L>,
    epoch: u64,
    snapshot_due: bool,
    /// The peer that starts with all the work.
    first: PeerId,
    events: u64,
}

impl<'a, L: Load> World<'a, L> {
    fn new(cluster: &'a Cluster, load: &'a L) -> Self {
        let (seed, peers) = (cluster.seed, cluster.machine.peers());
        let tree = PeerTree::new(peers, cluster.policy.tree, seed);
        let interpreter = |me| {
            let peer = Peer::new(me, &tree, cluster.policy.clone());
            Interpreter::new(peer, cluster.snapshot_ns.is_some())
        };
        let interpreters: Vec<Interpreter<_>> = (0..peers).map(interpreter).collect();
        let clocks = cluster.machine.clocks(mix(seed, 22, 0), tree.first());
        let mut workers = Vec::with_capacity(clocks.len());
        for (me, (class, clock)) in (0..).zip(cluster.machine.each().zip(clocks)) {
            let hand = hand(load, class.device, class.speed, mix(seed, 24, me));
            workers.push(Worker::new(hand, clock));
        }
        let state = ClusterState {
            message_bytes: cluster.message_bytes,
            load,
            queue: Queue::new(peers),
            traffic: Traffic::new(&cluster.network, peers, mix(seed, 21, 0)),
            workers,
            messages: Slots::default(),
            checker: Checker::new(&tree),
            count: peers.into(),
        };
        Self {
            cluster,
            interpreters,
            choosers: (0..peers).map(|me| SeededChooser::new(mix(seed, 20, 0), me)).collect(),
            state,
            epoch: 0,
            snapshot_due: false,
            first: tree.first(),
            events: 0,
        }
    }

    fn run(mut self) -> Result<Figures, String> {
        let root = self.state.load.root();
        let first = self.first as usize;
        let put = self.state.workers[first].hand.add_work(&root.bytes);
        put.map_err(|why| format!("the whole work cannot be read: {why}"))?;
        let works = self.state.workers[first].hand.size() > 0.0;
        self.state.checker.works(self.first, works);
        for me in 0..self.interpreters.len() as u32 {
            let clock = self.state.workers[me as usize].clock;
            self.state.plan(me, clock.awake(clock.joins_ns));
        }
        self.plan_snapshot(0);
        while (self.state.checker.finished as usize) < self.interpreters.len() {
            let Some((now_ns, what)) = self.state.queue.pop() else {
                let left = self.interpreters.len() as u32 - self.state.checker.finished;
                return Err(format!("deadlock: {left} peers wait for the end"));
            };
            self.events += 1;
            if self.events > self.cluster.most_events {
                return Err(format!("did not end after {} events", self.cluster.most_events));
            }
            let which = (what >> 2) as u32;
            let worker = self.state.workers.get(which as usize);
            let happened = match what & 3 {
                MESSAGE => self.arrive(which, now_ns),
                TURN if worker.is_some_and(|worker| worker.turn_ns == now_ns) => {
                    self.turn(which, now_ns)
                }
                WAKE if worker.is_some_and(|worker| worker.wake_ns == now_ns) => {
                    self.attend(which, now_ns)
                }
                SNAPSHOT => self.ask_snapshot(now_ns),
                // A turn or a wake-up that was rescheduled since.
                _ => Ok(()),
            };
            happened.map_err(|why| format!("after {} s: {why}", now_ns as f64 * 1e-9))?;
        }
        self.close()
    }

    fn close(self) -> Result<Figures, String> {
        let ClusterState { load, workers, messages, mut checker, .. } = self.state;
        let waiting = messages.iter().find(|in_flight| !in_flight.message.is_talk());
        if let Some(in_flight) = waiting {
            return Err(format!("{:?} is still on its way at the end", in_flight.message));
        }
        let mut done = WorkDone::default();
        for worker in &workers {
            done.add(&worker.hand.done());
            checker.figures.busy_ns += worker.busy_ns;
        }
        let Figures { idle_ns, handling_ns, .. } = &mut checker.figures;
        *idle_ns = idle_ns.saturating_sub(*handling_ns);
        checker.figures.power = self.cluster.machine.power();
        checker.figures.events = self.events;
        let scores = workers.iter().map(|worker| worker.hand.best());
        let kept = self
            .interpreters
            .iter()
            .find_map(|interpreter| Some(interpreter.ledger().pieces().next()?.0));
        checker.close(done, scores, kept, load)
    }

    fn arrive(&mut self, in_flight: u32, now_ns: u64) -> Result<(), String> {
        let Some(SimMessage { to, message, .. }) = self.state.messages.get(in_flight) else {
            return Err("an empty message arrived".into());
        };
        let to = *to;
        if self.interpreters[to as usize].peer().finished() {
            if !message.is_talk() {
                return Err(format!(
                    "{message:?} reached peer {to}, which knows that the run has ended"
                ));
            }
            self.state.messages.take(in_flight);
            return Ok(());
        }
        let worker = &mut self.state.workers[to as usize];
        worker.messages.push_back(in_flight);
        let longest = &mut self.state.checker.figures.longest_queue;
        *longest = worker.messages.len().max(*longest);
        self.attend(to, now_ns)
    }

    /// A message is waiting for a peer, which reads it when it next looks.
    fn attend(&mut self, me: PeerId, now_ns: u64) -> Result<(), String> {
        let worker = &self.state.workers[me as usize];
        let Some(at_ns) = worker.looks_ns(now_ns) else { return Ok(()) };
        let at_ns = worker.clock.awake(at_ns);
        if at_ns == now_ns {
            return self.turn(me, now_ns);
        }
        if at_ns < worker.turn_ns {
            self.state.plan(me, at_ns);
        }
        Ok(())
    }

    /// One pass through a worker's loop: the work done, the messages, the clock, and back to work.
    fn turn(&mut self, me: PeerId, then_ns: u64) -> Result<(), String> {
        let mut now_ns = then_ns;
        let worker = &mut self.state.workers[me as usize];
        worker.turn_ns = NEVER;
        if !std::mem::replace(&mut worker.began, true) {
            self.tell(me, Event::Stepped { nodes: 0, busy_ns: 0 }, now_ns)?;
        } else if let Some(stretch) = worker.stretch.take() {
            self.end_stretch(me, stretch, now_ns)?;
        }
        while let Some(in_flight) = self.state.workers[me as usize].messages.pop_front() {
            now_ns += self.cluster.machine.handle_ns;
            self.read(me, in_flight, now_ns)?;
        }
        let worker = &mut self.state.workers[me as usize];
        if worker.wake_ns <= now_ns {
            worker.wake_ns = NEVER;
            self.tell(me, Event::Woke, now_ns)?;
        }
        if me == 0 && std::mem::take(&mut self.snapshot_due) {
            self.begin_snapshot(now_ns)?;
        }
        self.state.workers[me as usize].free_ns = now_ns;
        self.begin_stretch(me, then_ns, now_ns);
        Ok(())
    }

    fn begin_stretch(&mut self, me: PeerId, then_ns: u64, now_ns: u64) {
        let worker = &mut self.state.workers[me as usize];
        let size = worker.hand.size();
        let peer = self.interpreters[me as usize].peer();
        if peer.finished() || size == 0.0 || peer.waits(size) {
            return;
        }
        let depth = peer.explores_down_to();
        if let Some(ran) = depth.and_then(|depth| worker.hand.seed(depth, u64::MAX, u64::MAX)) {
            let (result, until_ns) = (Ok(ran), worker.clock.end(now_ns, ran.time_ns));
            worker.stretch = Some(Stretch { since_ns: now_ns, until_ns, result, to_depth: depth });
            return self.state.plan(me, until_ns);
        }
        let (result, until_ns) = match worker.hand.ahead_ns() {
            Some(cost_ns) => (Err(cost_ns), worker.clock.end(now_ns, cost_ns)),
            // Messages that arrived in the meantime must be read first.
            None if now_ns > then_ns => return self.state.plan(me, now_ns),
            None => {
                let ran =
                    worker.hand.run((worker.clock.speed * worker.clock.poll_ns as f64) as u64);
                (Ok(ran), worker.clock.end(now_ns, ran.time_ns))
            }
        };
        worker.stretch = Some(Stretch { since_ns: now_ns, until_ns, result, to_depth: None });
        self.state.plan(me, until_ns);
    }

    fn end_stretch(&mut self, me: PeerId, stretch: Stretch, now_ns: u64) -> Result<(), String> {
        let worker = &mut self.state.workers[me as usize];
        let to_depth = stretch.to_depth;
        let Some((ran, busy_ns)) = worker.end_stretch(stretch, now_ns) else { return Ok(()) };
        let works = worker.hand.size() > 0.0;
        self.state.checker.works(me, works);
        let figures = &mut self.state.checker.figures;
        figures.work_ns += ran.work_ns;
        figures.possible_ns += ran.time_ns;
        figures.last_work_ns = figures.last_work_ns.max(now_ns);
        if let Some(score) = ran.found {
            self.state.checker.on_score(score, now_ns);
            self.tell(me, Event::Found { score }, now_ns)?;
        }
        self.tell(me, Event::Stepped { nodes: ran.nodes, busy_ns }, now_ns)?;
        match to_depth {
            Some(depth) => self.tell(me, Event::ReachedDepth { depth }, now_ns),
            None => Ok(()),
        }
    }

    fn read(&mut self, me: PeerId, in_flight: u32, now_ns: u64) -> Result<(), String> {
        let Some(SimMessage { from, message, work, .. }) = self.state.messages.take(in_flight)
        else {
            return Err("an empty message was read".into());
        };
        if !self.interpreters[me as usize].peer().finished() {
            self.state.checker.figures.handling_ns += self.cluster.machine.handle_ns;
        } else if !message.is_talk() {
            return Err(format!(
                "{message:?} reached peer {me}, which knows that the run has ended"
            ));
        }
        self.state.checker.on_read(&message);
        self.tell_with(me, Event::Message { from, message }, work, now_ns)
    }

    fn tell(&mut self, me: PeerId, event: Event, now_ns: u64) -> Result<(), String> {
        self.tell_with(me, event, None, now_ns)
    }

    /// Notifies a peer of an event, with the work that came, and carries out its actions.
    fn tell_with(
        &mut self,
        me: PeerId,
        event: Event,
        work: Option<Arc<Work>>,
        now_ns: u64,
    ) -> Result<(), String> {
        let chooser = &mut self.choosers[me as usize];
        let effects = &mut WorkerEffects { state: &mut self.state, me, now_ns };
        self.interpreters[me as usize].handle_event(event, work, now_ns, chooser, effects)
    }

    /// Starts a snapshot, unless one is under way or the run is over.
    fn begin_snapshot(&mut self, now_ns: u64) -> Result<(), String> {
        let counted = self.interpreters[0].peer().uses_counter();
        if !self.state.checker.may_cut() || counted && self.state.count == 0 {
            return Ok(());
        }
        self.state.count += u64::from(counted);
        self.epoch += 1;
        self.tell(0, Event::Snapshot { epoch: self.epoch }, now_ns)
    }

    fn plan_snapshot(&mut self, now_ns: u64) {
        if let Some(mean_ns) = self.cluster.snapshot_ns {
            let drawn = exponential(mix(self.cluster.seed, self.events, 23));
            self.state.queue.push(now_ns + (drawn * mean_ns as f64) as u64, SNAPSHOT);
        }
    }

    /// Requests a snapshot and schedules the next one.
    fn ask_snapshot(&mut self, now_ns: u64) -> Result<(), String> {
        if self.state.checker.finished == 0 {
            self.plan_snapshot(now_ns);
            self.snapshot_due = true;
            return self.attend(0, now_ns);
        }
        Ok(())
    }
}
