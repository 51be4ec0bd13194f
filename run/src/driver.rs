//! The one loop: explore, tell the peer, carry out what it wants, read the mail, wait.

use crate::activity::Activity;
use crate::control::{Control, Stop};
use crate::executor::{Budget, Executor};
use crate::ledger::Ledger;
use crate::outcome::{Balance, UnitReport};
use crate::side::Side;
use crate::sync::{AtomicI64, AtomicU64, Ordering};
use crate::transport::{Envelope, Transport};
use pleach_core::balance::{Action, Event, Message, Peer, PeerId, Seeded};
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
    wake_at_ns: Option<u64>,
    asked_at_ns: u64,
    report: UnitReport,
    balance: Balance,
    /// What the unit runs beside its search.
    pub side: Option<Side<'a>>,
}

/// What a unit leaves behind.
pub(crate) struct Left {
    pub report: UnitReport,
    pub balance: Balance,
    /// When it began to explore.
    pub started_ns: u64,
    pub least_bound: Option<i64>,
    pub open: f64,
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
        Self {
            me,
            executor,
            transport,
            peer,
            chooser: Seeded::new(seed, me),
            ledger: Ledger::default(),
            shared,
            actions: Vec::new(),
            wake_at_ns: None,
            asked_at_ns: 0,
            report,
            balance: Balance::default(),
            side: None,
        }
    }

    /// Runs until all work is done or the run is stopped.
    pub fn drive(mut self) -> Result<Left, Malformed> {
        let started_ns = self.now_ns();
        self.tell(Event::Stepped { nodes: 0, busy_ns: 0 }, started_ns);
        let mut now_ns = started_ns;
        while !self.peer.finished() && self.shared.control.stopped().is_none() {
            if self.side.as_ref().is_some_and(|side| side.due(now_ns - started_ns)) {
                now_ns = self.improve(now_ns);
            } else if self.executor.explorer().size() > 0.0 {
                now_ns = self.step(now_ns);
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
                self.tell(Event::Woke, now_ns);
            }
        }
        self.report.power = self.peer.power().0;
        let total_s = (self.now_ns() - started_ns) as f64 * 1e-9;
        let improve_s = self.side.as_ref().map_or(0.0, Side::seconds);
        self.report.improve_s = improve_s;
        self.report.idle_s = (total_s - self.report.busy_s - improve_s).max(0.0);
        let explorer = self.executor.explorer();
        Ok(Left {
            started_ns,
            least_bound: explorer.least_bound(),
            open: explorer.size(),
            kept: self.ledger.len(),
            report: self.report,
            balance: self.balance,
        })
    }

    fn now_ns(&self) -> u64 {
        self.shared.start.elapsed().as_nanos() as u64
    }

    /// Explores for a stretch and tells the peer; returns the time after it.
    fn step(&mut self, now_ns: u64) -> u64 {
        let control = self.shared.control;
        let granted = control.draw();
        if granted == 0 {
            control.stop(Stop::Nodes);
            return now_ns;
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
            activity.add(now_ns, stretch.busy_ns, stretch.progress.used);
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
        self.tell(Event::Stepped { nodes, busy_ns: stretch.busy_ns }, now_ns);
        now_ns
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
        if let Some(work) = work {
            self.executor.explorer().put(&work.bytes)?;
            let gauge = &self.shared.gauges[self.me as usize];
            gauge.least_bound.fetch_min(work.least_bound, Ordering::Relaxed);
            self.report.steals += 1;
            if self.balance.steal_ns.len() < Balance::KEPT {
                self.balance.steal_ns.push(self.now_ns() - self.asked_at_ns);
            }
        }
        if message == Message::Refuse {
            self.balance.refused += 1;
        }
        self.tell(Event::Mail { from, message }, now_ns);
        Ok(())
    }

    /// Tells the peer what happened, and carries out what it wants.
    fn tell(&mut self, event: Event, now_ns: u64) {
        let size = self.executor.explorer().size();
        self.peer.on(event, now_ns, size, &mut self.chooser, &mut self.actions);
        for action in std::mem::take(&mut self.actions) {
            match action {
                Action::Send { to, message } => self.send(to, message, None),
                Action::Give { to, ticket, share } => {
                    let split = self.executor.explorer().split(share);
                    // A peer gives only of two nodes or more, and those can always be split.
                    let work = Arc::new(split.expect("two nodes or more can be split"));
                    self.balance.served += 1;
                    self.balance.moved_bytes += work.bytes.len() as u64;
                    self.ledger.keep(ticket, Arc::clone(&work));
                    self.send(to, Message::Work { ticket }, Some(work));
                }
                Action::Release { ticket } => self.ledger.release(ticket),
                Action::WakeAt { at_ns } => self.wake_at_ns = Some(at_ns),
                Action::Finish => {}
            }
        }
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
