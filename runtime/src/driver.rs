//! The loop of a worker: explore, inform the peer, carry out its actions, read messages, wait.

use crate::activity::StretchRecord;
use crate::control::{Control, Stop};
use crate::error::RunError;
use crate::executor::{Budget, Executor, Stretch};
use crate::outcome::{Balance, WorkerReport};
use crate::pace::Pace;
use crate::pause::Pause;
use crate::settings::Settings;
use crate::site_state::SiteState;
use crate::timed_improver::TimedImprover;
use crate::transport::PeerMessage;
use crate::worker_io::WorkerIo;
use pleach_core::search::seed::{SeedResult, Top};
use pleach_core::search::work::Work;
use pleach_core::steal::{Event, Interpreter, Peer, SeededChooser};
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a worker explores before it looks at the clock.
const STRETCH_NS: u64 = 100_000;

/// A worker: a peer with its interpreter, and the executor, mailbox and counts that they act on.
pub(crate) struct Worker<'a> {
    interpreter: Interpreter<Arc<Work>>,
    chooser: SeededChooser,
    worker_io: WorkerIo<'a>,
    /// The snapshot that the peer was last asked for.
    epoch: u64,
    /// The current round.
    round: u64,
    /// When the worker last explored.
    explored_ns: u64,
    /// A heuristic that the worker runs alongside its search.
    heuristic: Option<TimedImprover<'a>>,
    /// Explores the top of a tree by itself, if the problem allows that.
    top: Option<&'a dyn Top>,
    /// The speed limit, if there is one.
    pace: Option<Pace>,
    /// Holds the worker.
    pause: &'a Pause,
    /// How long it was held.
    held_ns: u64,
}

/// The results of a worker.
pub struct WorkerResult {
    /// What it did.
    pub report: WorkerReport,
    /// Its part of the balancing.
    pub balance: Balance,
    /// When it started.
    pub started_ns: u64,
    /// When it last explored.
    pub explored_ns: u64,
    /// When it noticed the end.
    pub ended_ns: u64,
    /// The least bound of its open work, if it has any.
    pub least_bound: Option<i64>,
    /// Open nodes.
    pub open: f64,
    /// The open work itself, if it must be saved.
    pub work: Option<Work>,
    /// Pieces that were never acknowledged.
    pub kept: usize,
}

/// At least how long the top of a tree is explored between two checks of messages and limits. Each costs a copy of the open
/// nodes.
const TOP_STRETCH: Duration = Duration::from_millis(50);
/// How long a worker without fuel waits for others to return some.
const RETURN_NS: u64 = 200_000;
/// How long a worker that only gives, or is held, waits between two checks of the run.
const POLL_NS: u64 = 5_000_000;

impl<'a> Worker<'a> {
    pub fn new(
        peer: Peer,
        settings: &'a Settings,
        worker_io: WorkerIo<'a>,
        (heuristic, top): (Option<TimedImprover<'a>>, Option<&'a dyn Top>),
    ) -> Self {
        let pace = settings.pace.map(Pace::new);
        let chooser = SeededChooser::new(settings.seed, peer.me());
        let run_state = worker_io.run_state;
        let interpreter =
            Interpreter::new(peer, run_state.saver().is_some() || run_state.site_state().is_some());
        Self {
            interpreter,
            chooser,
            worker_io,
            epoch: 0,
            round: 0,
            explored_ns: 0,
            heuristic,
            top,
            pace,
            pause: &settings.pause,
            held_ns: 0,
        }
    }

    /// Runs until all work is done or the run is stopped.
    pub fn drive(mut self) -> Result<WorkerResult, RunError> {
        let run_state = self.worker_io.run_state;
        let started_ns = run_state.now_ns();
        match run_state.site_state() {
            None => self.run_round(started_ns)?,
            Some(site_state) => self.run_rounds(site_state, started_ns)?,
        }
        Ok(self.into_result(started_ns))
    }

    /// Works for as long as the site does. Whenever the gateway takes all work from the workers, they hand it in and
    /// begin the next round.
    fn run_rounds(&mut self, site_state: &SiteState, started_ns: u64) -> Result<(), RunError> {
        let new = self.interpreter.peer().clone();
        loop {
            self.run_round(started_ns)?;
            if site_state.is_over() || self.worker_io.run_state.control().stopped().is_some() {
                return Ok(());
            }
            site_state.hand_over(self.worker_io.hand_over(self.interpreter.in_flight()));
            self.interpreter = Interpreter::new(new.clone(), true);
            // If that round is already over, the worker has nothing to hand over from it.
            self.round += 2;
            while site_state.round() < self.round {
                if self.worker_io.run_state.control().stopped().is_some() {
                    return Ok(());
                }
                site_state.await_round(self.round);
            }
        }
    }

    /// Works until all work is done, the round ends, or the run is stopped.
    fn run_round(&mut self, started_ns: u64) -> Result<(), RunError> {
        let run_state = self.worker_io.run_state;
        let mut now_ns = run_state.now_ns();
        self.pass_to_peer(Event::Stepped { nodes: 0, busy_ns: 0 }, None, now_ns)?;
        while !self.interpreter.peer().finished() && run_state.continues(self.round) {
            let size = self.worker_io.executor.explorer().size();
            let active_ns = now_ns - started_ns - self.held_ns;
            if self.pause.is_paused() {
                let before_ns = now_ns;
                now_ns = self.wait_for_message(POLL_NS, now_ns);
                self.held_ns += now_ns - before_ns;
                self.answer_request();
            } else if self
                .heuristic
                .as_ref()
                .is_some_and(|heuristic| heuristic.due(active_ns, size > 0.0))
            {
                now_ns = self.run_improver(now_ns)?;
            } else if size == 0.0 {
                self.answer_all_requests();
                now_ns = self.wait_for_message(u64::MAX, now_ns);
            } else if self.interpreter.peer().waits(size) {
                // Progress requests are answered between two waits.
                now_ns = self.wait_for_message(POLL_NS, now_ns);
                self.answer_request();
            } else if let Some(rest_ns) = self.pace.as_ref().and_then(|pace| pace.rest_ns(now_ns)) {
                now_ns = self.wait_for_message(rest_ns, now_ns);
            } else {
                now_ns = self.run_stretch(now_ns)?;
            }
            while let Some(message) = self.worker_io.transport.poll() {
                self.handle_message(message, now_ns)?;
            }
            if self.worker_io.wake_at_ns.is_some_and(|at| at <= now_ns) {
                self.worker_io.wake_at_ns = None;
                self.pass_to_peer(Event::Woke, None, now_ns)?;
            }
            self.begin_snapshot(now_ns)?;
        }
        Ok(())
    }

    /// Waits for a message or for the time to wake the peer, but at most this long. Returns the time afterwards.
    fn wait_for_message(&mut self, at_most_ns: u64, now_ns: u64) -> u64 {
        let wake_in_ns = self.worker_io.wake_at_ns.map_or(u64::MAX, |at| at.saturating_sub(now_ns));
        let wait_ns = Some(wake_in_ns.min(at_most_ns)).filter(|&ns| ns < u64::MAX);
        self.worker_io.transport.wait(wait_ns.map(Duration::from_nanos));
        self.worker_io.run_state.now_ns()
    }

    /// The results at the end.
    fn into_result(self, started_ns: u64) -> WorkerResult {
        let WorkerIo { run_state, mut executor, mut report, balance, .. } = self.worker_io;
        let ended_ns = run_state.now_ns();
        let total_s = (ended_ns - started_ns - self.held_ns) as f64 * 1e-9;
        report.power = self.interpreter.peer().power().0;
        report.improve_s = self.heuristic.as_ref().map_or(0.0, TimedImprover::seconds);
        report.idle_s = (total_s - report.busy_s - report.improve_s).max(0.0);
        report.counts.add(&executor.flush().counts);
        executor.fill_report(&mut report);
        let explorer = executor.explorer();
        WorkerResult {
            started_ns,
            explored_ns: self.explored_ns,
            ended_ns,
            least_bound: explorer.least_bound(),
            open: explorer.size(),
            work: run_state.saver().map(|_| explorer.drain()),
            kept: self.interpreter.ledger().len(),
            report,
            balance,
        }
    }

    /// Passes an event to the peer, and carries out its actions.
    fn pass_to_peer(
        &mut self,
        event: Event,
        work: Option<Arc<Work>>,
        now_ns: u64,
    ) -> Result<(), RunError> {
        self.interpreter.handle_event(event, work, now_ns, &mut self.chooser, &mut self.worker_io)
    }

    /// Explores for a stretch and informs the peer. Returns the time afterwards.
    fn run_stretch(&mut self, now_ns: u64) -> Result<u64, RunError> {
        let Some((stretch, descent)) = self.explore()? else {
            // More fuel may come from other sites, or from workers that return some.
            let run_state = self.worker_io.run_state;
            let at_most_ns = run_state.site_state().map_or(RETURN_NS, |_| u64::MAX);
            let over = run_state.control().stopped().is_some();
            return Ok(if over { now_ns } else { self.wait_for_message(at_most_ns, now_ns) });
        };
        let WorkerIo { me, run_state, executor, report, .. } = &mut self.worker_io;
        let Stretch { progress, mut busy_ns, active, phases } = stretch;
        if let Some(pace) = &mut self.pace {
            busy_ns = pace.charge_nodes(now_ns, progress.used).max(busy_ns);
        }
        if let Some(activity) = &mut report.activity {
            let (nodes, active) = (progress.used, active.unwrap_or(1.0));
            activity.add(&StretchRecord { from_ns: now_ns, busy_ns, nodes, active, phases });
        }
        let now_ns = run_state.now_ns();
        report.counts.add(&progress.counts);
        report.busy_s += busy_ns as f64 * 1e-9;
        report.phases.add(phases);
        if let Some(fault) = progress.fault {
            return Err(fault.into());
        }
        // Offer the solution first: counts shown without it could claim more than is proven.
        if let Some(found) = progress.found {
            run_state.offer_solution(found)?;
        }
        let explorer = executor.explorer();
        run_state.counters(*me).publish_counts(&report.counts, explorer.open_nodes());
        run_state.counters(*me).publish_size(explorer.size());
        run_state.counters(*me).add_busy_time(busy_ns);
        self.answer_request();
        self.explored_ns = now_ns;
        self.pass_to_peer(Event::Stepped { nodes: progress.used, busy_ns }, None, now_ns)?;
        if let Some(event) = descent {
            self.pass_to_peer(event, None, now_ns)?;
        }
        Ok(now_ns)
    }

    /// Explores for a stretch; `None` if the node limit is reached. Returns also the event that ends a descent to a depth
    /// that the peer demands.
    fn explore(&mut self) -> Result<Option<(Stretch, Option<Event>)>, RunError> {
        let WorkerIo { run_state, executor, transport, .. } = &mut self.worker_io;
        let control = run_state.control();
        let depth = self.interpreter.peer().explores_down_to();
        let pace = self.pace.as_ref().filter(|_| depth.is_none());
        let most = pace.map_or(u64::MAX, Pace::fuel);
        let granted = control.draw_fuel(executor.max_fuel().min(most));
        match run_state.site_state() {
            None if control.is_dry() => {
                control.stop(Stop::Nodes);
                return Ok(None);
            }
            Some(site_state) if control.is_low() => site_state.wake_gateway(),
            _ => {}
        }
        if granted == 0 {
            return Ok(None);
        }
        let short = run_state.memory_limit().is_some_and(|limit| {
            // Once workers go deep, the watcher's checks suffice.
            if !limit.is_short() {
                limit.check();
            }
            limit.is_short()
        });
        if short {
            executor.explorer().go_deep();
        } else if let Some(top) = depth.zip(self.top) {
            let (stretch, done) = explore_top(&mut **executor, top, control, granted)?;
            control.refund_fuel(granted, stretch.progress.counts.bounded);
            let reached = done.then_some(Event::ReachedDepth { depth: top.0 });
            return Ok(Some((stretch, reached)));
        }
        let stretch = executor.explore(&Budget {
            time_ns: STRETCH_NS,
            fuel: granted.min(most),
            best: &|| control.best(),
            interrupted: &|| transport.waiting() || control.stopped().is_some(),
        });
        // The limit applies to counted nodes; fuel is also used by nodes without children.
        control.refund_fuel(granted, stretch.progress.counts.bounded);
        // Where memory is short, the top is as wide as it may become.
        Ok(Some((stretch, depth.filter(|_| short).map(|_| Event::EndedDescent))))
    }

    /// At the first peer: begins a snapshot if one was requested since the last call.
    fn begin_snapshot(&mut self, now_ns: u64) -> Result<(), RunError> {
        let run_state = self.worker_io.run_state;
        let saver = run_state.saver().filter(|_| self.worker_io.me == 0);
        let epoch = saver.map_or(0, |saver| saver.epoch());
        // Where a counter detects the end, the snapshot is counted until the peer has passed it on.
        let counted = self.interpreter.peer().uses_counter();
        if epoch > self.epoch && (!counted || run_state.control().add_busy_unless_over()) {
            self.epoch = epoch;
            self.pass_to_peer(Event::Snapshot { epoch }, None, now_ns)?;
        }
        Ok(())
    }

    /// Looks for a better solution alongside the search. Returns the time afterwards.
    fn run_improver(&mut self, now_ns: u64) -> Result<u64, RunError> {
        let Some(heuristic) = &mut self.heuristic else { return Ok(now_ns) };
        let run_state = self.worker_io.run_state;
        let found = heuristic.improve(run_state.control());
        let after_ns = run_state.now_ns();
        let gained = found.map_or(Ok(false), |found| run_state.offer_solution(found))?;
        heuristic.record_time(after_ns - now_ns, gained);
        if let Some(activity) = &mut self.worker_io.report.activity {
            activity.add_improvement(now_ns, after_ns - now_ns);
        }
        self.answer_request();
        Ok(after_ns)
    }

    /// Publishes how much of the tree is open here, if that was requested since the last call.
    fn answer_request(&mut self) {
        let (run_state, me) = (self.worker_io.run_state, self.worker_io.me);
        let progress_request = run_state.progress_request();
        if run_state.counters(me).must_answer(progress_request) {
            let explorer = self.worker_io.executor.explorer();
            let open = explorer.open_share().unwrap_or(f64::NAN);
            let here = explorer.least_bound().unwrap_or(i64::MAX);
            run_state.counters(me).answer_request(
                progress_request,
                open,
                here.min(self.least_kept()),
            );
        }
    }

    /// Answers all progress requests until there is work again: there is none now.
    fn answer_all_requests(&mut self) {
        let run_state = self.worker_io.run_state;
        run_state.counters(self.worker_io.me).answer_all_requests(self.least_kept());
    }

    /// The least bound of all pieces on their way from here.
    fn least_kept(&self) -> i64 {
        let bounds = self.interpreter.ledger().pieces().map(|(_, piece)| piece.least_bound);
        bounds.min().unwrap_or(i64::MAX)
    }

    fn handle_message(&mut self, message: PeerMessage, now_ns: u64) -> Result<(), RunError> {
        let PeerMessage { from, message, work } = message;
        self.worker_io.note_message(&message);
        self.pass_to_peer(Event::Message { from, message }, work, now_ns)
    }
}

/// Explores the open nodes above a depth for a stretch. Returns also whether none are left.
fn explore_top(
    executor: &mut dyn Executor,
    (depth, top): (u32, &dyn Top),
    control: &Control,
    fuel: u64,
) -> Result<(Stretch, bool), RunError> {
    let (start, copied) = (Instant::now(), OnceCell::new());
    let work = executor.explorer().drain();
    let may_continue = || {
        // Exploring takes at least as long as copying.
        let copied: Instant = *copied.get_or_init(Instant::now);
        control.stopped().is_none() && copied.elapsed() < TOP_STRETCH.max(copied - start)
    };
    let SeedResult { work, progress, done } =
        top.seed(&work.bytes, depth, control.best(), fuel, &may_continue)?;
    executor.explorer().add_work(&work.bytes)?;
    let busy_ns = start.elapsed().as_nanos() as u64;
    Ok((Stretch { progress, busy_ns, ..Stretch::default() }, done))
}
