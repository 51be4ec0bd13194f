//! [`Cluster`]: many peers in simulated time: the driver's loop of each, the mail between them, and
//! a checker that watches from outside.

use super::chance::{exponential, mix};
use super::checker::Checker;
use super::figures::Figures;
use super::load::{Hand, Load, Ran};
use super::machine::{Clock, Machine};
use super::network::{Network, Traffic};
use super::queue::Queue;
use crate::balance::{Action, Event, Lineage, Message, Peer, PeerId, Policy, Seeded, Ticket};
use crate::checkpoint::Cut;
use crate::work::Work;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Everything about a simulated run but the load.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Who gives how much to whom.
    pub policy: Policy,
    /// The peers.
    pub machine: Machine,
    /// The ways between them.
    pub network: Network,
    /// What a message takes on its way, beside the work that comes with it.
    pub message_bytes: u64,
    /// Mean time between two snapshots, if any are to be taken.
    pub snapshot_ns: Option<u64>,
    /// All chance.
    pub seed: u64,
    /// A run of more events than this is given up.
    pub most_events: u64,
}

impl Cluster {
    /// Simulates one run.
    ///
    /// # Errors
    /// The law that was broken, or why there was no end.
    pub fn run<L: Load>(&self, load: &L) -> Result<Figures, String> {
        World::new(self, load).run()
    }

    /// The same with peers that are wrong in a known way.
    #[cfg(test)]
    pub(super) fn run_mutant<L: Load>(
        &self,
        load: &L,
        mutant: crate::balance::Mutant,
    ) -> Result<Figures, String> {
        let mut world = World::new(self, load);
        world.units.iter_mut().for_each(|unit| unit.peer.mutant = mutant);
        world.run()
    }
}

/// A message on its way or waiting to be read.
struct Letter {
    from: PeerId,
    to: PeerId,
    message: Message,
    work: Option<Arc<Work>>,
}

/// A stretch of work that is going on.
struct Stretch {
    since_ns: u64,
    until_ns: u64,
    /// What it brings, where that is known already; else what it will cost.
    result: Result<Ran, u64>,
}

/// A piece that was given and not acknowledged.
pub(super) struct Kept {
    pub(super) work: Arc<Work>,
    /// Whether a snapshot has it that is not settled.
    pub(super) at_cut: bool,
}

/// One peer with all that its driver has.
pub(super) struct Unit<H> {
    pub(super) peer: Peer,
    pub(super) chooser: Seeded,
    pub(super) hand: H,
    clock: Clock,
    mail: VecDeque<u32>,
    stretch: Option<Stretch>,
    /// The turn that is planned: all others in the queue are stale.
    turn_ns: u64,
    /// When it has read what it is reading.
    free_ns: u64,
    wake_ns: u64,
    began: bool,
    busy_ns: u64,
    pub(super) ledger: BTreeMap<Ticket, Kept>,
    taken: Vec<Ticket>,
}

/// No time.
const NEVER: u64 = u64::MAX;

/// What a word in the queue means: its last two bits say which of these, the others which one.
const LETTER: u64 = 0;
const TURN: u64 = 1;
const WAKE: u64 = 2;
const SNAPSHOT: u64 = 3;

pub(super) struct World<'a, L: Load> {
    pub(super) cluster: &'a Cluster,
    pub(super) load: &'a L,
    queue: Queue,
    traffic: Traffic<'a>,
    pub(super) units: Vec<Unit<L::Hand>>,
    letters: Vec<Option<Letter>>,
    /// Places in `letters` that are empty.
    empty: Vec<u32>,
    pub(super) checker: Checker,
    actions: Vec<Action>,
    /// Work that came with the message that a peer is being told of.
    pub(super) coming: Option<Arc<Work>>,
    /// The counter that all peers share.
    count: u64,
    epoch: u64,
    snapshot_due: bool,
    events: u64,
}

impl<'a, L: Load> World<'a, L> {
    fn new(cluster: &'a Cluster, load: &'a L) -> Self {
        let (seed, peers) = (cluster.seed, cluster.machine.peers());
        let lineage = Lineage::new(peers, &cluster.policy, seed);
        let unit = |(me, clock)| Unit {
            peer: Peer::new(me, &lineage, cluster.policy.clone()),
            chooser: Seeded::new(mix(seed, 20, 0), me),
            hand: load.hand(),
            clock,
            mail: VecDeque::new(),
            stretch: None,
            turn_ns: NEVER,
            free_ns: 0,
            wake_ns: NEVER,
            began: false,
            busy_ns: 0,
            ledger: BTreeMap::new(),
            taken: Vec::new(),
        };
        Self {
            cluster,
            load,
            queue: Queue::new(peers),
            traffic: Traffic::new(&cluster.network, peers, mix(seed, 21, 0)),
            units: (0..).zip(cluster.machine.clocks(mix(seed, 22, 0))).map(unit).collect(),
            letters: Vec::new(),
            empty: Vec::new(),
            checker: Checker::new(&lineage),
            actions: Vec::new(),
            coming: None,
            count: peers.into(),
            epoch: 0,
            snapshot_due: false,
            events: 0,
        }
    }

    fn run(mut self) -> Result<Figures, String> {
        let root = self.load.root();
        let put = self.units[0].hand.put(&root.bytes);
        put.map_err(|why| format!("the whole cannot be read: {why}"))?;
        self.checker.works(0, self.units[0].hand.size() > 0.0);
        for me in 0..self.units.len() as u32 {
            let clock = self.units[me as usize].clock;
            self.plan(me, clock.awake(clock.joins_ns));
        }
        self.plan_snapshot(0);
        while (self.checker.finished as usize) < self.units.len() {
            let Some((now_ns, what)) = self.queue.pop() else {
                let left = self.units.len() as u32 - self.checker.finished;
                return Err(format!("nothing can happen, and {left} peers wait for the end"));
            };
            self.events += 1;
            if self.events > self.cluster.most_events {
                return Err(format!("no end after {} events", self.cluster.most_events));
            }
            let which = (what >> 2) as u32;
            let happened = match what & 3 {
                LETTER => self.arrive(which, now_ns),
                TURN if self.units[which as usize].turn_ns == now_ns => self.turn(which, now_ns),
                WAKE if self.units[which as usize].wake_ns == now_ns => self.attend(which, now_ns),
                SNAPSHOT => self.ask_snapshot(now_ns),
                // A turn or a time to wake that another has taken the place of.
                _ => Ok(()),
            };
            happened.map_err(|why| format!("after {} s: {why}", now_ns as f64 * 1e-9))?;
        }
        self.close()
    }

    fn close(mut self) -> Result<Figures, String> {
        let waiting = self.letters.iter().flatten().find(|letter| !letter.message.is_talk());
        if let Some(letter) = waiting {
            return Err(format!("{:?} is still on its way at the end", letter.message));
        }
        let (mut counts, mut kept) = (crate::tree::Counts::default(), None);
        for unit in &self.units {
            counts.add(&unit.hand.counts());
            kept = kept.or(unit.ledger.keys().next().copied());
            self.checker.figures.busy_ns += unit.busy_ns;
        }
        self.checker.figures.power = self.cluster.machine.power();
        self.checker.figures.events = self.events;
        let scores = self.units.iter().map(|unit| unit.hand.best());
        self.checker.close(counts, scores, kept, self.load)
    }

    /// Plans a peer's next turn, instead of any other.
    fn plan(&mut self, me: PeerId, at_ns: u64) {
        self.units[me as usize].turn_ns = at_ns;
        self.queue.push(at_ns, u64::from(me) << 2 | TURN);
    }

    fn arrive(&mut self, letter: u32, now_ns: u64) -> Result<(), String> {
        let Some(Letter { to, message, .. }) = &self.letters[letter as usize] else {
            return Err("an empty letter arrived".into());
        };
        let to = *to;
        let unit = &mut self.units[to as usize];
        if unit.peer.finished() {
            if !message.is_talk() {
                return Err(format!("{message:?} reached peer {to}, which knows of the end"));
            }
            self.take_letter(letter);
            return Ok(());
        }
        unit.mail.push_back(letter);
        let longest = &mut self.checker.figures.longest_mail;
        *longest = unit.mail.len().max(*longest);
        self.attend(to, now_ns)
    }

    fn take_letter(&mut self, letter: u32) -> Option<Letter> {
        self.empty.push(letter);
        self.letters[letter as usize].take()
    }

    /// Something waits for a peer: it turns to it when it looks next.
    fn attend(&mut self, me: PeerId, now_ns: u64) -> Result<(), String> {
        let unit = &self.units[me as usize];
        let at_ns = match &unit.stretch {
            // It will hear of everything when it comes.
            _ if !unit.began => return Ok(()),
            None => now_ns.max(unit.free_ns),
            // It looks at the end of the stretch, which is one of its looks.
            Some(Stretch { result: Ok(_), .. }) => return Ok(()),
            Some(Stretch { since_ns, until_ns, .. }) => {
                let poll_ns = unit.clock.poll_ns.max(1);
                let looks = now_ns.saturating_sub(*since_ns).div_ceil(poll_ns);
                (since_ns + looks * poll_ns).min(*until_ns)
            }
        };
        let at_ns = unit.clock.awake(at_ns);
        if at_ns == now_ns {
            return self.turn(me, now_ns);
        }
        if at_ns < unit.turn_ns {
            self.plan(me, at_ns);
        }
        Ok(())
    }

    /// Once round the driver's loop: what was worked, the mail, the clock, and back to work.
    fn turn(&mut self, me: PeerId, then_ns: u64) -> Result<(), String> {
        let mut now_ns = then_ns;
        let unit = &mut self.units[me as usize];
        unit.turn_ns = NEVER;
        if !std::mem::replace(&mut unit.began, true) {
            self.tell(me, Event::Stepped { nodes: 0, busy_ns: 0 }, now_ns)?;
        } else if let Some(stretch) = unit.stretch.take() {
            self.end_stretch(me, stretch, now_ns)?;
        }
        while let Some(letter) = self.units[me as usize].mail.pop_front() {
            now_ns += self.cluster.machine.handle_ns;
            self.read(me, letter, now_ns)?;
        }
        if self.units[me as usize].wake_ns <= now_ns {
            self.units[me as usize].wake_ns = NEVER;
            self.tell(me, Event::Woke, now_ns)?;
        }
        let due = me == 0 && std::mem::take(&mut self.snapshot_due) && self.count > 0;
        if due && self.checker.may_cut() {
            self.epoch += 1;
            self.tell(me, Event::Snapshot { epoch: self.epoch }, now_ns)?;
        }
        self.units[me as usize].free_ns = now_ns;
        self.begin_stretch(me, then_ns, now_ns);
        Ok(())
    }

    fn begin_stretch(&mut self, me: PeerId, then_ns: u64, now_ns: u64) {
        let unit = &mut self.units[me as usize];
        if unit.peer.finished() || unit.hand.size() == 0.0 {
            return;
        }
        let (result, until_ns) = match unit.hand.ahead_ns() {
            Some(cost_ns) => (Err(cost_ns), unit.clock.end(now_ns, cost_ns)),
            // What has come while it read must be read first.
            None if now_ns > then_ns => return self.plan(me, now_ns),
            None => {
                let ran = unit.hand.run((unit.clock.speed * unit.clock.poll_ns as f64) as u64);
                (Ok(ran), unit.clock.end(now_ns, ran.cost_ns))
            }
        };
        unit.stretch = Some(Stretch { since_ns: now_ns, until_ns, result });
        self.plan(me, until_ns);
    }

    fn end_stretch(&mut self, me: PeerId, stretch: Stretch, now_ns: u64) -> Result<(), String> {
        let Stretch { since_ns, until_ns, result } = stretch;
        if now_ns < until_ns && now_ns <= since_ns {
            return Ok(());
        }
        let unit = &mut self.units[me as usize];
        let ran = match result {
            Ok(ran) => ran,
            Err(cost_ns) if now_ns >= until_ns => unit.hand.run(cost_ns),
            Err(cost_ns) => unit.hand.run(unit.clock.done(since_ns, now_ns).min(cost_ns)),
        };
        let busy_ns = now_ns - since_ns;
        unit.busy_ns += busy_ns;
        let works = unit.hand.size() > 0.0;
        self.checker.works(me, works);
        let figures = &mut self.checker.figures;
        figures.work_ns += ran.cost_ns;
        figures.last_work_ns = figures.last_work_ns.max(now_ns);
        if let Some(score) = ran.found {
            self.checker.on_score(score, now_ns);
            self.tell(me, Event::Found { score }, now_ns)?;
        }
        self.tell(me, Event::Stepped { nodes: ran.nodes, busy_ns }, now_ns)
    }

    fn read(&mut self, me: PeerId, letter: u32, now_ns: u64) -> Result<(), String> {
        let Some(Letter { from, message, work, .. }) = self.take_letter(letter) else {
            return Err("an empty letter was read".into());
        };
        self.checker.figures.handling_ns += self.cluster.machine.handle_ns;
        if self.units[me as usize].peer.finished() && !message.is_talk() {
            return Err(format!("{message:?} reached peer {me}, which knows of the end"));
        }
        self.coming = work;
        self.tell(me, Event::Mail { from, message }, now_ns)?;
        match self.coming.take() {
            Some(_) if !matches!(message, Message::Left { .. }) => {
                Err(format!("work came to peer {me} in vain"))
            }
            _ => Ok(()),
        }
    }

    /// Tells a peer what happened, and carries out what it wants; if it gave, there may be more to
    /// give.
    fn tell(&mut self, me: PeerId, event: Event, now_ns: u64) -> Result<(), String> {
        let mut next = Some(event);
        while let Some(event) = next {
            let was = self.count;
            let gave = self.tell_once(me, event, now_ns)?;
            let over = was > 0 && self.count == 0;
            next = gave.then_some(Event::Gave).or(over.then_some(Event::AllIdle));
        }
        Ok(())
    }

    fn tell_once(&mut self, me: PeerId, event: Event, now_ns: u64) -> Result<bool, String> {
        let unit = &mut self.units[me as usize];
        let comes = matches!(event, Event::Mail { message: Message::Work { .. }, .. });
        let coming = self.coming.as_ref().filter(|_| comes).map_or(0.0, |work| work.size);
        let size = unit.hand.size() + coming;
        let mut actions = std::mem::take(&mut self.actions);
        unit.peer.on(event, now_ns, size, &mut unit.chooser, &mut actions);
        let changes = |action: &Action| matches!(action, Action::Give { .. } | Action::Trim);
        let gave = actions.iter().any(changes);
        let done = actions.drain(..).try_for_each(|action| self.act(me, action, now_ns));
        self.actions = actions;
        done.map(|()| gave)
    }

    fn act(&mut self, me: PeerId, action: Action, now_ns: u64) -> Result<(), String> {
        let unit = &mut self.units[me as usize];
        match action {
            Action::Send { to, message } => {
                let left = matches!(message, Message::Left { .. });
                let work = left.then(|| Arc::new(unit.hand.copy()));
                self.send(me, to, message, work, now_ns);
            }
            Action::Give { to, ticket, epoch, from, share } => {
                return self.give(me, to, (ticket, epoch), from, share, now_ns);
            }
            Action::Hold { ticket } => return self.hold(me, ticket),
            Action::Trim => return self.trim(me),
            Action::Take { ticket } => {
                let Some(work) = self.coming.take() else {
                    return Err(format!("peer {me} takes {ticket:?}, which did not come"));
                };
                let put = unit.hand.put(&work.bytes);
                put.map_err(|why| format!("{ticket:?} cannot be read: {why}"))?;
                if self.cluster.snapshot_ns.is_some() {
                    unit.taken.push(ticket);
                }
                self.checker.on_take(me);
            }
            Action::Release { ticket } => match unit.ledger.remove(&ticket) {
                None => return Err(format!("{ticket:?} was released but not kept")),
                Some(Kept { at_cut: true, .. }) => self.checker.settle(),
                Some(_) => {}
            },
            Action::Cut { .. } => return self.cut(me),
            Action::Join if self.count == 0 => return Err("joined after the end".into()),
            Action::Join => self.count += 1,
            Action::Leave => {
                self.count = self.count.checked_sub(1).ok_or("more left than were counted")?;
            }
            Action::Beat { score } => {
                unit.hand.beat(score);
                self.checker.on_score(score, now_ns);
            }
            Action::WakeAt { at_ns } => {
                unit.wake_ns = at_ns.max(now_ns);
                let wake_ns = unit.wake_ns;
                self.queue.push(wake_ns, u64::from(me) << 2 | WAKE);
            }
            Action::Finish => {
                let there_ns = now_ns - unit.clock.joins_ns;
                let handling = &mut self.checker.figures;
                handling.idle_ns += there_ns.saturating_sub(unit.busy_ns);
                return self.checker.on_finish(me, now_ns);
            }
        }
        Ok(())
    }

    pub(super) fn send(
        &mut self,
        me: u32,
        to: u32,
        message: Message,
        work: Option<Arc<Work>>,
        now_ns: u64,
    ) {
        let work_bytes = work.as_ref().map_or(0, |work| work.bytes.len() as u64);
        let bytes = self.cluster.message_bytes + work_bytes;
        self.checker.on_send(me, &message, bytes, work_bytes);
        let at_ns = self.traffic.send(me, to, bytes, now_ns);
        let letter = Some(Letter { from: me, to, message, work });
        let place = if let Some(place) = self.empty.pop() {
            self.letters[place as usize] = letter;
            place
        } else {
            self.letters.push(letter);
            self.letters.len() as u32 - 1
        };
        self.queue.push(at_ns, u64::from(place) << 2 | LETTER);
    }

    /// Writes a peer down for the snapshot under way.
    fn cut(&mut self, me: PeerId) -> Result<(), String> {
        let unit = &mut self.units[me as usize];
        unit.ledger.values_mut().for_each(|kept| kept.at_cut = true);
        let kept = unit.ledger.iter().map(|(&ticket, kept)| (ticket, Arc::clone(&kept.work)));
        let kept = kept.collect();
        let taken = std::mem::take(&mut unit.taken);
        let cut = Cut { work: unit.hand.copy(), counts: unit.hand.counts(), kept, taken };
        self.checker.on_cut(cut, unit.hand.best(), self.load)
    }

    fn plan_snapshot(&mut self, now_ns: u64) {
        if let Some(mean_ns) = self.cluster.snapshot_ns {
            let drawn = exponential(mix(self.cluster.seed, self.events, 23));
            self.queue.push(now_ns + (drawn * mean_ns as f64) as u64, SNAPSHOT);
        }
    }

    /// Asks for a snapshot if the last one is settled, and plans to ask again.
    fn ask_snapshot(&mut self, now_ns: u64) -> Result<(), String> {
        if self.checker.finished == 0 {
            self.plan_snapshot(now_ns);
            self.snapshot_due = true;
            return self.attend(0, now_ns);
        }
        Ok(())
    }
}
