//! [`RunState`]: everything that the workers of a process share.

use crate::check::check_value;
use crate::control::{Control, Stop};
use crate::error::RunError;
use crate::memory::MemoryLimit;
use crate::save::Saver;
use crate::settings::Settings;
use crate::site_state::SiteState;
use crate::sync::{AtomicU64, Mutex, Ordering, lock};
use crate::worker_counters::WorkerCounters;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Goal, Solution};
use pleach_core::steal::PeerId;
use pleach_core::wire::checkpoint::{Checkpoint, Cut};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The state that the workers of a run share.
pub struct RunState<'a> {
    /// The problem that is searched.
    problem: &'a dyn Problem,
    /// The state that the run resumes or starts with.
    pub before: &'a Checkpoint,
    control: Control,
    worker_counters: Vec<WorkerCounters>,
    names: Vec<Arc<str>>,
    /// The number of requests for the open part of the tree so far.
    progress_requests: AtomicU64,
    start: Instant,
    saver: Option<Saver<'a>>,
    /// By how much the process may grow, if the system reports memory use.
    memory_limit: Option<MemoryLimit>,
    /// Lines for the user.
    warnings: Mutex<VecDeque<String>>,
    /// The state shared with the gateway, if there are other sites.
    site_state: Option<SiteState>,
}

impl<'a> RunState<'a> {
    /// The state of a run that begins.
    pub fn new(
        problem: &'a dyn Problem,
        before: &'a Checkpoint,
        control: Control,
        names: Vec<Arc<str>>,
        (start, saver): (Instant, Option<Saver<'a>>),
        settings: &Settings,
        site_state: Option<SiteState>,
    ) -> Self {
        Self {
            problem,
            before,
            control,
            worker_counters: names.iter().map(|_| WorkerCounters::default()).collect(),
            names,
            progress_requests: AtomicU64::new(0),
            start,
            saver,
            memory_limit: MemoryLimit::new(settings.memory, settings.save.is_some()),
            warnings: Mutex::default(),
            site_state,
        }
    }

    /// The incumbent, the fuel, the signal to stop, and the counter of workers that are not idle.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The saver, if the run is saved.
    pub fn saver(&self) -> Option<&Saver<'a>> {
        self.saver.as_ref()
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Time since the start, on the clock of the peers.
    pub fn now_ns(&self) -> u64 {
        self.elapsed().as_nanos() as u64
    }

    /// The seconds spent on the search so far, including earlier runs.
    pub fn seconds(&self) -> f64 {
        (self.elapsed() + Duration::from_nanos(self.before.elapsed_ns)).as_secs_f64()
    }

    /// By how much the process may grow, if the system reports memory use.
    pub(crate) fn memory_limit(&self) -> Option<&MemoryLimit> {
        self.memory_limit.as_ref()
    }

    /// What the search is for.
    pub fn goal(&self) -> Goal {
        self.problem.goal()
    }

    /// The bound known without searching: no solution can beat it.
    pub fn least_score(&self) -> i64 {
        self.problem.least_score()
    }

    /// Offers a solution that a worker has found. Returns whether it is better than the incumbent.
    ///
    /// # Errors
    /// If it is not what it claims to be. It must not prune anything then.
    pub fn offer_solution(&self, found: Solution) -> Result<bool, RunError> {
        if found.score < self.control.best() {
            check_value(self.problem, &found)?;
        }
        let better = self.control.offer_solution(found);
        if better && self.goal() == Goal::Find {
            self.request_stop(Stop::Found);
        } else if let Some(site_state) = self.site_state.as_ref().filter(|_| better) {
            site_state.wake_gateway();
        }
        Ok(better)
    }

    /// Stops the search: at once in a single process, otherwise as soon as the sites can.
    pub fn request_stop(&self, why: Stop) {
        match &self.site_state {
            None => self.control.stop(why),
            Some(site_state) => site_state.request_stop(why),
        }
    }

    /// The state shared with the gateway, if there are other sites.
    pub fn site_state(&self) -> Option<&SiteState> {
        self.site_state.as_ref()
    }

    /// The current round of the workers; always the same in a single process.
    pub fn round(&self) -> u64 {
        self.site_state.as_ref().map_or(0, SiteState::round)
    }

    /// Whether workers that began in a round continue.
    #[inline]
    pub fn continues(&self, round: u64) -> bool {
        self.control.stopped().is_none() && self.round() == round
    }

    /// A worker's counters.
    pub fn counters(&self, me: PeerId) -> &WorkerCounters {
        &self.worker_counters[me as usize]
    }

    /// The counters of all workers.
    pub fn worker_counters(&self) -> &[WorkerCounters] {
        &self.worker_counters
    }

    /// Their names.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The number of the latest progress request.
    pub fn progress_request(&self) -> u64 {
        self.progress_requests.load(Ordering::Relaxed)
    }

    /// Asks all workers for the open part of the tree.
    pub fn request_progress(&self) {
        self.progress_requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a worker's part of a snapshot.
    pub fn hand_in(&self, cut: Cut) {
        match (&self.site_state, &self.saver) {
            (Some(site_state), _) => site_state.hand_in(cut),
            (None, Some(saver)) => saver.hand_in(cut),
            (None, None) => {}
        }
    }

    /// Queues a line for the user.
    pub fn warn(&self, line: String) {
        lock(&self.warnings).push_back(line);
    }

    /// The next line for the user, if any.
    pub fn next_warning(&self) -> Option<String> {
        lock(&self.warnings).pop_front()
    }
}
