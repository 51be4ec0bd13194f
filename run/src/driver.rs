//! The one loop: explore, tell the peer, carry out what it wants, read the mail, wait.

use crate::activity::Activity;
use crate::control::{Control, Stop};
use crate::executor::{Budget, Executor};
use crate::late::Aside;
use crate::ledger::Ledger;
use crate::outcome::{Balance, UnitReport};
use crate::save::Saver;
use crate::side::Side;
use crate::sync::{AtomicI64, AtomicU64, Ordering};
use crate::transport::{Envelope, Transport};
use crate::units::Warnings;
use pleach_core::balance::{Action, Event, Message, Peer, PeerId, Seeded, Source, Ticket};
use pleach_core::checkpoint::{Checkpoint, Cut};
use pleach_core::tree::{Counts, Goal};
use pleach_core::work::{Malformed, Work};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a unit explores before it looks at the clock.
const STRETCH_NS: u64 = 100_000;
/// Open nodes of all units together beyond which a run gives up: no tree that ends was seen to come
/// near it.
const MOST_OPEN: f64 = 5e7;

/// One unit's counts for others to look at while it runs; on a cache line of its own.
#[repr(align(128))]
pub(crate) struct Gauge {
    branched: AtomicU64,
    bounded: AtomicU64,
    total: AtomicU64,
    /// The open part of the tree as the bits of an `f64`; not a number where it cannot be told.
    open: AtomicU64,
    /// The least bound of all work here or on its way from here.
    least_bound: AtomicI64,
    /// The look that the last two answer.
    answered: AtomicU64,
}

impl Default for Gauge {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            branched: zero(),
            bounded: zero(),
            total: zero(),
            open: AtomicU64::new(f64::NAN.to_bits()),
            least_bound: AtomicI64::new(i64::MIN),
            answered: zero(),
        }
    }
}

impl Gauge {
    /// The look that was answered last. Once all units have answered one, what [`Gauge::read`]
    /// reads of all of them leaves no work out.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Acquire)
    }

    /// The counts so far, the open part of the tree where it can be told, and the least bound of all
    /// work that was here at any time since the last answer.
    pub fn read(&self) -> (Counts, f64, i64) {
        let read = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let counts = Counts {
            branched: read(&self.branched),
            bounded: read(&self.bounded),
            total: u128::from(read(&self.total)),
            depth: 0,
        };
        let open = f64::from_bits(read(&self.open));
        (counts, open, self.least_bound.load(Ordering::Relaxed))
    }
}

/// What a unit shares with the rest of the run.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub control: &'a Control,
    pub goal: Goal,
    /// What no solution can beat, known without searching.
    pub least_score: i64,
    pub gauges: &'a [Gauge],
    /// Counts up when someone wants to know the open part of the tree.
    pub looks: &'a AtomicU64,
    pub start: Instant,
    pub trace: bool,
    /// What the run goes on from.
    pub before: &'a Checkpoint,
    /// Where snapshots go, if any are taken.
    pub saver: Option<&'a Saver<'a>>,
    /// Lines to be said.
    pub warnings: &'a Warnings,
}

impl Shared<'_> {
    /// What the search has taken so far.
    pub fn seconds(&self) -> f64 {
        (self.start.elapsed() + Duration::from_nanos(self.before.elapsed_ns)).as_secs_f64()
    }
}

/// One unit: an executor, its peer, and its mail.
pub(crate) struct Unit<'a, E, T> {
    me: PeerId,
    executor: E,
    transport: T,
    peer: Peer,
    chooser: Seeded,
    ledger: Ledger,
    shared: Shared<'a>,
    actions: Vec<Action>,
    /// Work that came with the message that the peer is being told of.
    coming: Option<Arc<Work>>,
    /// The snapshot that the peer was told of last.
    epoch: u64,
    wake_at_ns: Option<u64>,
    asked_at_ns: u64,
    /// When it last explored.
    explored_ns: u64,
    report: UnitReport,
    balance: Balance,
    /// What the unit runs beside its search.
    pub side: Option<Side<'a>>,
    /// What copies are split with, where work is given away before its owner hears of it.
    pub aside: Option<Aside<'a>>,
}

/// What a unit leaves behind.
pub(crate) struct Left {
    pub report: UnitReport,
    pub balance: Balance,
    /// When it began to explore.
    pub started_ns: u64,
    /// When it last explored, and when it knew of the end.
    pub explored_ns: u64,
    pub ended_ns: u64,
    pub least_bound: Option<i64>,
    pub open: f64,
    /// The open work itself, where it is to be saved.
    pub work: Option<Work>,
    /// Pieces whose receipt was never acknowledged.
    pub kept: usize,
}

impl<'a, E: Executor, T: Transport> Unit<'a, E, T> {
    pub fn new(
        me: PeerId,
        executor: E,
        transport: T,
        peer: Peer,
        seed: u64,
        shared: Shared<'a>,
    ) -> Self {
        let report =
            UnitReport { activity: shared.trace.then(Activity::default), ..UnitReport::default() };
        let snapshots = shared.saver.is_some();
        Self {
            me,
            executor,
            transport,
            peer,
            chooser: Seeded::new(seed, me),
            ledger: if snapshots { Ledger::for_snapshots() } else { Ledger::default() },
            shared,
            actions: Vec::new(),
            coming: None,
            epoch: 0,
            wake_at_ns: None,
            asked_at_ns: 0,
            explored_ns: 0,
            report,
            balance: Balance::default(),
            side: None,
            aside: None,
        }
    }

    /// Runs until all work is done or the run is stopped.
    pub fn drive(mut self) -> Result<Left, Malformed> {
        let started_ns = self.now_ns();
        self.tell(Event::Stepped { nodes: 0, busy_ns: 0 }, started_ns)?;
        let mut now_ns = started_ns;
        while !self.peer.finished() && self.shared.control.stopped().is_none() {
            if self.side.as_ref().is_some_and(|side| side.due(now_ns - started_ns)) {
                now_ns = self.improve(now_ns);
            } else if self.executor.explorer().size() > 0.0 {
                now_ns = self.step(now_ns)?;
            } else {
                self.answer_look();
                let wake_in = self.wake_at_ns.map(|at| at.saturating_sub(now_ns));
                self.transport.wait(wake_in.map(Duration::from_nanos));
                now_ns = self.now_ns();
            }
            while let Some(envelope) = self.transport.poll() {
                self.read(envelope, now_ns)?;
            }
            if self.wake_at_ns.is_some_and(|at| at <= now_ns) {
                self.wake_at_ns = None;
                self.tell(Event::Woke, now_ns)?;
            }
            self.begin_snapshot(now_ns)?;
        }
        self.report.power = self.peer.power().0;
        let ended_ns = self.now_ns();
        let total_s = (ended_ns - started_ns) as f64 * 1e-9;
        let improve_s = self.side.as_ref().map_or(0.0, Side::seconds);
        self.report.improve_s = improve_s;
        self.report.idle_s = (total_s - self.report.busy_s - improve_s).max(0.0);
        self.report.counts.add(&self.executor.settle().counts);
        let explorer = self.executor.explorer();
        let (least_bound, open) = (explorer.least_bound(), explorer.size());
        Ok(Left {
            started_ns,
            explored_ns: self.explored_ns,
            ended_ns,
            least_bound,
            open,
            work: self.shared.saver.map(|_| explorer.drain()),
            kept: self.ledger.len(),
            report: self.report,
            balance: self.balance,
        })
    }

    fn now_ns(&self) -> u64 {
        self.shared.start.elapsed().as_nanos() as u64
    }

    /// Explores for a stretch and tells the peer; returns the time after it.
    fn step(&mut self, now_ns: u64) -> Result<u64, Malformed> {
        let control = self.shared.control;
        let granted = control.draw(self.executor.stretch());
        if granted == 0 {
            control.stop(Stop::Nodes);
            return Ok(now_ns);
        }
        let transport = &self.transport;
        let stretch = self.executor.explore(&Budget {
            time_ns: STRETCH_NS,
            fuel: granted,
            best: &|| control.best(),
            interrupted: &|| transport.waiting() || control.stopped().is_some(),
        });
        control.settle(granted, stretch.progress.used);
        if let Some(activity) = &mut self.report.activity {
            let active = stretch.active.unwrap_or(1.0);
            activity.add(now_ns, stretch.busy_ns, stretch.progress.used, active);
        }
        let now_ns = self.now_ns();
        self.report.counts.add(&stretch.progress.counts);
        self.report.busy_s += stretch.busy_ns as f64 * 1e-9;
        // A solution first: what is published without it could claim more than is proven.
        if let Some(found) = stretch.progress.found {
            control.offer(found);
            if self.shared.goal == Goal::Find {
                control.stop(Stop::Found);
            }
        }
        self.publish();
        let units = self.shared.gauges.len() as f64;
        if self.executor.explorer().open_nodes() > MOST_OPEN / units {
            control.stop(Stop::Memory);
        }
        let nodes = stretch.progress.used;
        self.explored_ns = now_ns;
        self.tell(Event::Stepped { nodes, busy_ns: stretch.busy_ns }, now_ns)?;
        Ok(now_ns)
    }

    /// Tells the first peer if someone asked for a snapshot since the last time.
    fn begin_snapshot(&mut self, now_ns: u64) -> Result<(), Malformed> {
        let asked = self.shared.saver.filter(|_| self.me == 0).map_or(0, Saver::epoch);
        // A snapshot counts while it begins: none begins after the end.
        if asked > self.epoch && self.shared.control.join_unless_over() {
            self.epoch = asked;
            self.tell(Event::Snapshot { epoch: asked }, now_ns)?;
            if self.shared.control.leave() {
                self.tell(Event::AllIdle, now_ns)?;
            }
        }
        Ok(())
    }

    /// Looks for a better solution beside the search; returns the time after it.
    fn improve(&mut self, now_ns: u64) -> u64 {
        let Some(side) = &mut self.side else { return now_ns };
        let found = side.improver.improve();
        let after_ns = self.shared.start.elapsed().as_nanos() as u64;
        let gained = found.is_some_and(|found| self.shared.control.offer(found));
        side.note(after_ns - now_ns, gained);
        self.answer_look();
        after_ns
    }

    fn publish(&mut self) {
        let gauge = &self.shared.gauges[self.me as usize];
        let counts = &self.report.counts;
        gauge.branched.store(counts.branched, Ordering::Relaxed);
        gauge.bounded.store(counts.bounded, Ordering::Relaxed);
        gauge.total.store(counts.total as u64, Ordering::Relaxed);
        self.answer_look();
    }

    /// Says how much of the tree is open here, if someone asked since the last time.
    fn answer_look(&mut self) {
        let look = self.shared.looks.load(Ordering::Relaxed);
        let gauge = &self.shared.gauges[self.me as usize];
        if look != gauge.answered.load(Ordering::Relaxed) {
            let open = self.executor.explorer().open_share().unwrap_or(f64::NAN);
            let here = self.executor.explorer().least_bound().unwrap_or(i64::MAX);
            gauge.open.store(open.to_bits(), Ordering::Relaxed);
            // A piece counts here until its receipt is acknowledged, and there from then on.
            gauge.least_bound.store(here.min(self.ledger.least_bound()), Ordering::Relaxed);
            gauge.answered.store(look, Ordering::Release);
        }
    }

    fn read(&mut self, envelope: Envelope, now_ns: u64) -> Result<(), Malformed> {
        let Envelope { from, message, work } = envelope;
        if matches!(message, Message::Work { .. }) {
            self.report.steals += 1;
            if self.balance.steal_ns.len() < Balance::KEPT {
                self.balance.steal_ns.push(self.now_ns() - self.asked_at_ns);
            }
        }
        if message == Message::Refuse {
            self.balance.refused += 1;
        }
        self.coming = work;
        let told = self.tell(Event::Mail { from, message }, now_ns);
        self.coming = None;
        told
    }

    /// Tells the peer what happened, and carries out what it wants.
    fn tell(&mut self, event: Event, now_ns: u64) -> Result<(), Malformed> {
        let mut next = Some(event);
        while let Some(event) = next {
            next = self.tell_once(event, now_ns)?;
        }
        Ok(())
    }

    /// Tells the peer once; says what to tell it next: that it gave work away, so that there may be
    /// more to give, or that all is done.
    fn tell_once(&mut self, event: Event, now_ns: u64) -> Result<Option<Event>, Malformed> {
        let mut next = None;
        let comes = matches!(event, Event::Mail { message: Message::Work { .. }, .. });
        let coming = self.coming.as_ref().filter(|_| comes).map_or(0.0, |work| work.size);
        let size = self.executor.explorer().size() + coming;
        self.peer.on(event, now_ns, size, &mut self.chooser, &mut self.actions);
        for action in std::mem::take(&mut self.actions) {
            match action {
                Action::Send { to, message } => {
                    let left = matches!(message, Message::Left { .. });
                    let work = left.then(|| Arc::new(self.executor.explorer().copy()));
                    self.send(to, message, work);
                }
                Action::Give { to, ticket, epoch, from, share } => {
                    next = Some(Event::Gave);
                    self.give(to, (ticket, epoch), from, share)?;
                }
                Action::Hold { ticket } => self.hold(ticket)?,
                Action::Trim => {
                    next = Some(Event::Gave);
                    self.trim()?;
                }
                Action::Take { ticket } => self.take(ticket)?,
                Action::Cut { .. } => self.cut(),
                Action::Release { ticket } => {
                    if let (true, Some(saver)) = (self.ledger.release(ticket), self.shared.saver) {
                        saver.settle();
                    }
                }
                Action::Join => self.shared.control.join(),
                Action::Leave => {
                    if self.shared.control.leave() {
                        next = Some(Event::AllIdle);
                    }
                }
                Action::WakeAt { at_ns } => self.wake_at_ns = Some(at_ns),
                // Units of one process share the best value.
                Action::Beat { .. } | Action::Finish => {}
            }
        }
        Ok(next)
    }

    /// Splits a piece off, keeps it and sends it.
    fn give(
        &mut self,
        to: PeerId,
        (ticket, epoch): (Ticket, u64),
        from: Source,
        share: f64,
    ) -> Result<(), Malformed> {
        let split = match (from, self.aside.as_mut()) {
            (Source::Held { ticket: of, owner }, Some(aside)) => {
                let (left, given) = aside.split(&self.ledger.copy(of), share)?;
                self.keep(of, left);
                given.map(Arc::new).inspect(|given| {
                    self.send(owner, Message::Trim { ticket }, Some(Arc::clone(given)));
                })
            }
            _ => self.executor.explorer().split(share).map(Arc::new),
        };
        // A peer gives only of two nodes or more, and those can always be split.
        let work = split.expect("two nodes or more can be split");
        if to == self.me {
            return self.executor.explorer().put(&work.bytes);
        }
        self.balance.served += 1;
        self.balance.moved_bytes += work.bytes.len() as u64;
        self.ledger.keep(ticket, Arc::clone(&work));
        if self.aside.is_some() {
            self.tell_copy(ticket, work.size);
        }
        self.send(to, Message::Work { ticket, epoch }, Some(work));
        Ok(())
    }

    /// Keeps less of a piece that is out.
    fn keep(&mut self, ticket: Ticket, work: Work) {
        let size = work.size;
        self.ledger.keep(ticket, Arc::new(work));
        self.tell_copy(ticket, size);
    }

    /// Tells the peer how large a copy is: it does nothing about it yet.
    fn tell_copy(&mut self, ticket: Ticket, size: f64) {
        let holds = Event::Holds { ticket, size };
        self.peer.on(holds, 0, 0.0, &mut self.chooser, &mut Vec::new());
    }

    /// Of a copy only what came with the message is kept.
    fn hold(&mut self, ticket: Ticket) -> Result<(), Malformed> {
        let (Some(aside), Some(left)) = (&mut self.aside, self.coming.take()) else {
            return Ok(());
        };
        let both = aside.both(&self.ledger.copy(ticket), &left)?;
        self.keep(ticket, both);
        Ok(())
    }

    /// Drops what was given away elsewhere, and counts what of it was explored already.
    fn trim(&mut self) -> Result<(), Malformed> {
        let (Some(aside), Some(away)) = (&mut self.aside, self.coming.take()) else {
            return Ok(());
        };
        let explorer = self.executor.explorer();
        let left = explorer.copy();
        explorer.trim(&away.bytes)?;
        let control = self.shared.control;
        let stopped = || control.stopped().is_some();
        let twice = aside.counted(&away, &left, control.best(), &stopped)?;
        self.balance.redundant += twice.bounded;
        Ok(())
    }

    /// Takes up the work that came with a message.
    fn take(&mut self, ticket: Ticket) -> Result<(), Malformed> {
        let Some(work) = self.coming.take() else { return Ok(()) };
        self.executor.explorer().put(&work.bytes)?;
        let gauge = &self.shared.gauges[self.me as usize];
        gauge.least_bound.fetch_min(work.least_bound, Ordering::Relaxed);
        self.ledger.take(ticket);
        Ok(())
    }

    /// Writes this unit down for the snapshot under way.
    fn cut(&mut self) {
        let Some(saver) = self.shared.saver else { return };
        let (kept, taken) = self.ledger.cut();
        self.report.counts.add(&self.executor.settle().counts);
        let work = self.executor.explorer().copy();
        saver.hand_in(Cut { work, counts: self.report.counts, kept, taken });
    }

    fn send(&mut self, to: PeerId, message: Message, work: Option<Arc<Work>>) {
        if matches!(message, Message::Ask { .. }) {
            self.balance.requests += 1;
            self.asked_at_ns = self.now_ns();
        }
        self.balance.messages += 1;
        self.transport.send(to, Envelope { from: self.me, message, work });
    }
}
