//! [`SiteWorkers`]: this site as its gateway sees it.

use super::effects::InnerEffects;
use super::spare_piece::SparePiece;
use pleach_core::lease::gateway::{GatewayMessage, Portion, Workers};
use pleach_core::lease::{ProgressReport, SiteId};
use pleach_core::search::explorer::joined;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Counts, Goal, Solution};
use pleach_core::search::work::Work;
use pleach_core::steal::{Event, Interpreter, Peer, PeerTree, Policy, SeededChooser};
use pleach_core::wire::checkpoint::{Cut, assemble};
use pleach_runtime::error::RunError;
use pleach_runtime::outcome::Balance;
use pleach_runtime::run_state::RunState;
use pleach_runtime::site_state::SiteState;
use pleach_runtime::transport::PeerMessage;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// This site as its gateway sees it.
pub(super) struct SiteWorkers<'a> {
    pub problem: &'a dyn Problem,
    pub effects: InnerEffects<'a>,
    interpreter: Interpreter<Arc<Work>>,
    chooser: SeededChooser,
    /// The depth to which the gateway explores work that arrives.
    second_cutoff: Option<u32>,
    /// The gateway's inner peer in its state at the beginning of a round.
    new: Peer,
    workers: u32,
    epoch: u64,
    /// The counts of the workers when the current holding was handed to them.
    base: Counts,
    /// The nodes and time of the workers when the gateway last asked.
    spent: (u64, u64),
    /// The best score that the gateway knows.
    known: i64,
    /// When the gateway must check its timers.
    pub check_at_ns: u64,
    /// Messages to send to other sites.
    pub messages: Vec<(SiteId, GatewayMessage<Counts>)>,
    /// Sites whose work was taken back since they last joined.
    pub lapsed: BTreeSet<SiteId>,
}

/// How long to wait for workers to hand over their work before checking whether one has failed.
const PATIENCE: Duration = Duration::from_millis(1);

/// How long the gateway may explore the top of a piece: other sites wait for its answers.
const LONGEST_TOP: Duration = Duration::from_millis(50);

impl<'a> SiteWorkers<'a> {
    pub fn new(
        problem: &'a dyn Problem,
        run_state: &'a RunState<'a>,
        site_state: &'a SiteState,
        (policy, seed): (&Policy, u64),
        second_cutoff: Option<u32>,
    ) -> Self {
        let tree = PeerTree::new(site_state.peers(), policy.tree, seed);
        let new = Peer::new(0, &tree, policy.clone());
        let (spare, mut transport) =
            (SparePiece::new(problem), site_state.mailboxes().transport(0));
        // The gateway thread does not have its own core.
        transport.spin = Duration::ZERO;
        let balance = Balance::default();
        Self {
            problem,
            effects: InnerEffects {
                run_state,
                site_state,
                spare,
                transport,
                balance,
                counts: Counts::default(),
                wake_at_ns: None,
            },
            interpreter: Interpreter::new(new.clone(), true),
            chooser: SeededChooser::new(seed, 0),
            second_cutoff,
            new,
            workers: site_state.peers() - 1,
            epoch: 0,
            base: Counts::default(),
            spent: (0, 0),
            known: run_state.control().best(),
            check_at_ns: 0,
            messages: Vec::new(),
            lapsed: BTreeSet::new(),
        }
    }

    fn now_ns(&self) -> u64 {
        self.effects.run_state.now_ns()
    }

    /// Passes an event to the gateway's inner peer, with the work that came with it.
    pub fn pass_event(&mut self, event: Event, work: Option<Arc<Work>>) -> Result<(), RunError> {
        let now_ns = self.now_ns();
        self.interpreter.handle_event(event, work, now_ns, &mut self.chooser, &mut self.effects)
    }

    /// Explores the top of some work, at most `fuel` nodes and not longer than this, and returns what was counted and
    /// what is left.
    fn explore_top(
        &mut self,
        work: &Work,
        (depth, fuel): (u32, u64),
        longest: Duration,
    ) -> Result<(Counts, Work), RunError> {
        let InnerEffects { run_state, site_state, counts, .. } = &mut self.effects;
        let (control, start) = (run_state.control(), Instant::now());
        let top = self.problem.top().ok_or(RunError::Cutoff)?;
        let may_continue = || {
            let stops = control.stopped().is_some() || site_state.requested_stop().is_some();
            !stops && start.elapsed() < longest
        };
        let seeded = top.seed(&work.bytes, depth, control.best(), fuel, &may_continue)?;
        if let Some(fault) = seeded.progress.fault {
            return Err(fault.into());
        }
        // Offer the solution first: the counts must not leave this site without it.
        if let Some(found) = seeded.progress.found {
            run_state.offer_solution(found)?;
        }
        counts.add(&seeded.progress.counts);
        site_state.record_counts(0, counts.clone());
        run_state.counters(0).publish_counts(counts, 0.0);
        Ok((seeded.progress.counts, seeded.work))
    }

    /// At the root: explores all work down to a depth before any of it is given.
    pub fn explore_cutoff(
        &mut self,
        open: &[Arc<Work>],
        (depth, fuel): (u32, u64),
    ) -> Result<Portion<Counts>, RunError> {
        let open = joined(&mut *self.problem.explorer(), open)?;
        let (done, work) = self.explore_top(&open, (depth, fuel), Duration::MAX)?;
        // The workers have counted nothing of it.
        self.base.add(&done);
        let found = self.problem.goal() == Goal::Find && self.best().is_some();
        let open = if work.size > 0.0 && !found { vec![Arc::new(work)] } else { Vec::new() };
        Ok(Portion { done, open })
    }

    /// Reads messages from the workers, and wakes the peer if it is due.
    pub fn handle_messages(&mut self) -> Result<(), RunError> {
        while let Some(PeerMessage { from, message, work }) = self.effects.transport.poll() {
            self.pass_event(Event::Message { from, message }, work)?;
        }
        if self.effects.wake_at_ns.is_some_and(|at_ns| at_ns <= self.now_ns()) {
            self.effects.wake_at_ns = None;
            self.pass_event(Event::Woke, None)?;
        }
        Ok(())
    }

    /// The requested cut, once all workers have made theirs.
    pub fn take_cut(&mut self) -> Result<Option<Portion<Counts>>, RunError> {
        let Some(cuts) = self.effects.site_state.take_cuts() else { return Ok(None) };
        let (all, open) = assemble(cuts);
        Ok(Some(portion(since(&all, &self.base)?, open)))
    }

    /// Waits until all workers have handed in their work.
    fn all_handed_in(&mut self) -> Result<Vec<Cut>, RunError> {
        loop {
            if let Some(ends) = self.effects.site_state.all_ends() {
                return Ok(ends);
            }
            if self.effects.run_state.control().stopped().is_some() {
                // The failed worker reports the reason.
                return Err(RunError::Protocol("the workers of a site have ended".into()));
            }
            // Workers of this round may still write; nobody reads their messages any more.
            while self.effects.transport.poll().is_some() {}
            self.effects.transport.wait(Some(PATIENCE));
        }
    }
}

fn portion(done: Counts, open: Vec<Work>) -> Portion<Counts> {
    Portion { done, open: open.into_iter().map(Arc::new).collect() }
}

/// What was counted since.
fn since(all: &Counts, before: &Counts) -> Result<Counts, RunError> {
    all.without(before).ok_or_else(|| RunError::Protocol("less was counted than before".into()))
}

impl Workers for SiteWorkers<'_> {
    type Done = Counts;
    type Error = RunError;

    fn workers(&self) -> u32 {
        self.workers
    }

    fn spare(&self) -> f64 {
        self.effects.spare.size()
    }

    fn in_hand(&self) -> f64 {
        self.effects
            .run_state
            .worker_counters()
            .iter()
            .map(pleach_runtime::worker_counters::WorkerCounters::size)
            .sum()
    }

    fn has_idle_worker(&self) -> bool {
        self.effects.run_state.worker_counters()[1..].iter().any(|counters| counters.size() == 0.0)
    }

    fn is_idle(&self) -> bool {
        self.effects.run_state.control().is_idle()
    }

    fn spent(&mut self) -> (u64, u64) {
        let worker_counters = self.effects.run_state.worker_counters()[1..]
            .iter()
            .map(pleach_runtime::worker_counters::WorkerCounters::spent);
        let all = worker_counters.fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
        let before = std::mem::replace(&mut self.spent, all);
        let busy_ns = all.1.saturating_sub(before.1) / u64::from(self.workers.max(1));
        (all.0.saturating_sub(before.0), busy_ns)
    }

    fn allowed_nodes(&self) -> u64 {
        self.effects.run_state.control().fuel()
    }

    fn allow_nodes(&mut self, nodes: u64) {
        self.effects.run_state.control().add_fuel(nodes);
        self.effects.site_state.mailboxes().wake_all();
    }

    fn forbid_nodes(&mut self) {
        self.effects.run_state.control().remove_fuel();
    }

    fn add_work(&mut self, pieces: &[Arc<Work>]) -> Result<(), RunError> {
        let work = joined(&mut *self.problem.explorer(), pieces)?;
        let Some(depth) = self.second_cutoff else {
            return Ok(self.effects.spare.add_work(&work.bytes)?);
        };
        let granted = self.effects.run_state.control().draw_fuel(u64::MAX);
        if granted == 0 {
            // The workers share the piece as it is.
            return Ok(self.effects.spare.add_work(&work.bytes)?);
        }
        let (done, below) = self.explore_top(&work, (depth, granted), LONGEST_TOP)?;
        self.effects.run_state.control().refund_fuel(granted, done.bounded);
        Ok(self.effects.spare.add_work(&below.bytes)?)
    }

    fn pass_to_inner_peer(&mut self, event: Event) -> Result<(), RunError> {
        self.pass_event(event, None)
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.effects.spare.split(share)
    }

    fn divide_piece(&self, piece: &Work, share: f64) -> Option<(Work, Work)> {
        self.effects.spare.divide_piece(piece, share)
    }

    fn begin_cut(&mut self) -> Result<(), RunError> {
        // The cut is counted until the peer has passed it on.
        self.effects.run_state.control().add_busy();
        self.effects.site_state.forget_cuts();
        self.epoch += 1;
        self.pass_event(Event::Snapshot { epoch: self.epoch }, None)
    }

    fn best(&self) -> Option<Solution> {
        let control = self.effects.run_state.control();
        if control.best() < self.known { control.solution() } else { None }
    }

    fn take_counts(&mut self) -> Result<Counts, RunError> {
        // Cuts made by now are no longer needed.
        self.effects.site_state.forget_cuts();
        let all = self.effects.site_state.total_counts();
        let before = std::mem::replace(&mut self.base, all.clone());
        since(&all, &before)
    }

    fn take_all(&mut self) -> Result<Portion<Counts>, RunError> {
        let site_state = self.effects.site_state;
        self.problem.set_stop_requested(true);
        site_state.close_round();
        let (work, in_flight) = (self.effects.spare.drain(), self.interpreter.in_flight());
        site_state.hand_over(Cut { peer: 0, work, counts: self.effects.counts.clone(), in_flight });
        let (all, open) = assemble(self.all_handed_in()?);
        let done = since(&all, &self.base)?;
        self.base = all;
        // Work that is still in a mailbox is also with its sender.
        drop(site_state.mailboxes().leftovers());
        while self.effects.transport.poll().is_some() {}
        self.effects.wake_at_ns = None;
        self.interpreter = Interpreter::new(self.new.clone(), true);
        self.epoch = 0;
        self.effects.run_state.control().set_all_busy();
        self.problem.set_stop_requested(false);
        site_state.begin_round();
        self.pass_event(Event::Stepped { nodes: 0, busy_ns: 0 }, None)?;
        Ok(portion(done, open))
    }

    fn update_incumbent(&mut self, best: &Solution) -> Result<(), RunError> {
        self.known = self.known.min(best.score);
        self.effects.run_state.offer_solution(best.clone()).map(drop)
    }

    fn report_lapsed_site(&mut self, site: SiteId) {
        // A site may hold several leases that all lapse: warn only once.
        if self.lapsed.insert(site) {
            let line = format!("site {site} is silent: its work is taken back and done again");
            self.effects.run_state.warn(line);
        }
    }

    fn send(&mut self, to: SiteId, message: GatewayMessage<Counts>) {
        self.messages.push((to, message));
    }

    fn wake_at(&mut self, at_ns: u64) {
        self.check_at_ns = self.check_at_ns.min(at_ns);
    }

    fn save_report(
        &mut self,
        whole: &ProgressReport<Portion<Counts>>,
        _best: Option<&Solution>,
    ) -> Result<(), RunError> {
        self.effects.site_state.set_progress_report(whole.clone());
        Ok(())
    }
}
