//! Starts a run: checks its settings, sets up the state that its workers share, and starts the workers.

use crate::check::check_solution;
use crate::control::{Control, Stop};
use crate::driver::{Worker, WorkerResult};
use crate::error::{MOST_THREADS, RunError};
use crate::gather::gather;
use crate::on_drop::OnDrop;
use crate::outcome::Watcher;
use crate::outcome::{Outcome, WorkerReport};
use crate::profile;
use crate::run_state::RunState;
use crate::save::Saver;
use crate::settings::Settings;
use crate::timed_improver::TimedImprover;
use crate::transport::Mailboxes;
use crate::watch::{last_warnings, watch_over};
use crate::worker_io::WorkerIo;
use crate::worker_pool::WorkerPool;
use crate::workers::{Plan, PlannedWorker, plan_workers};
use pleach_core::search::problem::Problem;
use pleach_core::search::real::written;
use pleach_core::search::tree::{Goal, Solution};
use pleach_core::search::work::{Malformed, Work};
use pleach_core::steal::{End, Peer, PeerTree};
use pleach_core::wire::Unreadable;
use pleach_core::wire::checkpoint::Checkpoint;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// Searches a problem's whole tree, or as much as the limits allow, with the worker pool of the process.
///
/// `watch` receives progress snapshots, and may stop the run by returning `Break`.
///
/// # Errors
/// If the machine or the problem fails. A panic in the problem's own code continues in the caller.
pub fn run(
    problem: &dyn Problem,
    settings: &Settings,
    watch: &mut Watcher<'_>,
) -> Result<Outcome, RunError> {
    WorkerPool::shared().run(problem, settings, watch)
}

impl WorkerPool {
    /// Searches a problem's whole tree, or as much as the limits allow.
    ///
    /// # Errors
    /// As [`run`].
    pub fn run(
        &self,
        problem: &dyn Problem,
        settings: &Settings,
        watch: &mut Watcher<'_>,
    ) -> Result<Outcome, RunError> {
        let start = Instant::now();
        let settings = &with_defaults(settings);
        if settings.threads > MOST_THREADS {
            return Err(RunError::Threads(settings.threads));
        }
        if settings.best_first && problem.best_first().is_none() {
            return Err(RunError::BestFirst);
        }
        if settings.policy.is_late() {
            return Err(RunError::Late);
        }
        problem.set_stop_requested(false);
        // The problem may be searched, or its tree sampled, again.
        let _clear = OnDrop(|| problem.set_stop_requested(false));
        if let Some(processes) = &settings.processes {
            return processes.run(self, problem, settings, watch);
        }
        if settings.policy.has_depths() && problem.top().is_none() {
            return Err(RunError::Cutoff);
        }
        let Plan { mut workers, warnings } = plan_workers(problem, settings, start)?;
        let n_workers = workers.len() as u32;
        let threads = workers.iter().filter(|worker| worker.is_thread()).count();
        if settings.policy.second_cutoff.is_some() && (threads < 2 || n_workers < 3) {
            return Err(RunError::SecondCutoff { threads, devices: workers.len() - threads });
        }
        // This process is alone: it takes over what others held when the file was written.
        let before = &initial_state(problem, settings)?
            .flattened()
            .map_err(|why| RunError::Resume(why.into()))?;
        let saver = settings.save.as_ref().map(|save| (save, &*settings.about));
        let saver = saver.map(|save| Saver::new(save, before, n_workers, start));
        let control = new_control(problem, settings, before, settings.node_limit, n_workers);
        let settings = &profile::with_powers(problem, settings, &mut workers, control.best())?;
        let names = workers.iter().map(|worker| worker.name.as_str().into()).collect();
        let run_state =
            &RunState::new(problem, before, control, names, (start, saver), settings, None);
        warnings.into_iter().for_each(|line| run_state.warn(line));
        reached_limit(settings, before).into_iter().for_each(|why| run_state.request_stop(why));
        let begin =
            |saver: &Saver<'_>| saver.lock_and_write(before.pieces.clone(), run_state.control());
        let (_lock, warning) = run_state.saver().map(begin).transpose()?.unzip();
        warning.flatten().into_iter().for_each(|line| run_state.warn(line));
        let mailboxes = &Mailboxes::new(n_workers);
        let context = RunContext { problem, settings, run_state, mailboxes };
        let left = self.run_workers(&context, workers, watch)?;
        let (mut outcome, open) = gather(problem, run_state, mailboxes, left);
        check_solution(problem, outcome.solution.as_ref())?;
        if let Some(saver) = run_state.saver() {
            // If the search found or proved what it looked for, nothing is left to do.
            let stopped = outcome.stop.is_some_and(|why| why != Stop::Found);
            let open = if stopped { open } else { Vec::new() };
            let saved = saver.write(&outcome.counts, open, run_state.control());
            if let Some(warning) = saver.note_at_end(saved) {
                run_state.warn(warning);
            }
        }
        last_warnings(problem, run_state, outcome.lower_bound, watch);
        outcome.balance.weights = settings.policy.weights.to_vec();
        outcome.counts.add(&before.counts);
        outcome.seconds = run_state.seconds();
        Ok(outcome)
    }

    /// Runs all workers while the run is watched.
    fn run_workers<'a>(
        &self,
        context: &RunContext<'a>,
        workers: Vec<PlannedWorker<'a>>,
        watch: &mut Watcher<'_>,
    ) -> Result<Vec<WorkerResult>, RunError> {
        let (settings, n_workers) = (context.settings, workers.len() as u32);
        let tree = &PeerTree::new(n_workers, settings.policy.tree, settings.seed);
        let threads = workers.iter().filter(|worker| worker.is_thread()).count() as u32;
        // The last thread: at the beginning, the first one usually has all the work.
        let last = threads.max(1) - 1;
        let jobs = (0..n_workers).zip(workers).map(|(me, planned)| {
            let peer = Peer::new(me, tree, settings.policy.clone());
            let improves = me == last;
            let pieces = &context.run_state.before.pieces;
            // If the whole work is one piece, the first peer gets it.
            let place = (me + n_workers - tree.first()) % n_workers;
            let pieces = pieces.iter().skip(place as usize).step_by(n_workers as usize);
            let pieces: Vec<&Work> = pieces.collect();
            let job = move || context.run_worker(peer, planned, &pieces, improves);
            Box::new(job) as Box<dyn FnOnce() -> Result<WorkerResult, RunError> + Send + '_>
        });
        let ended = self.side_by_side(jobs.collect(), |latch| {
            let mut guard = context.guard();
            watch_over(
                context.problem, settings, context.run_state, latch, context.mailboxes, watch,
            );
            guard.well = true;
        })?;
        ended.into_iter().collect()
    }
}

/// The context in which the workers of a run work.
pub struct RunContext<'a> {
    /// The problem.
    pub problem: &'a dyn Problem,
    /// The parameters of the run.
    pub settings: &'a Settings,
    /// The state that the workers share.
    pub run_state: &'a RunState<'a>,
    /// The mailboxes of the workers.
    pub mailboxes: &'a Mailboxes,
}

impl<'a> RunContext<'a> {
    /// Runs one worker, which begins with these pieces, on the calling thread.
    pub fn run_worker(
        &self,
        peer: Peer,
        planned: PlannedWorker<'a>,
        pieces: &[&Work],
        improves: bool,
    ) -> Result<WorkerResult, RunError> {
        let RunContext { problem, settings, run_state, mailboxes } = *self;
        let mut guard = self.guard();
        let me = peer.me();
        let activity = settings.trace.then(Default::default);
        let name = planned.name.clone();
        let report = WorkerReport { name, activity, ..WorkerReport::default() };
        let slow = settings.slow_down(&planned.name);
        let improves = improves || planned.is_thread() && problem.favours_improver();
        let executor = planned.executor(problem, pieces, run_state, slow)?;
        let top = peer.explores_down_to().is_some().then(|| problem.top()).flatten();
        let mut transport = mailboxes.transport(me);
        // A paced worker simulates its own machine, and shares its core with others.
        transport.spin = if settings.pace.is_some() { Duration::ZERO } else { settings.spin };
        // Several heuristics look in different places.
        let heuristic_seed = settings.seed.wrapping_add(me.into());
        // A solution would prune what is counted.
        let hope =
            problem.goal() != Goal::Count && run_state.control().best() > run_state.least_score();
        let heuristic = (settings.improve && hope && improves)
            .then(|| TimedImprover::new(problem, heuristic_seed, run_state.control().best()))
            .flatten();
        let worker_io = WorkerIo::new(me, run_state, executor, transport, report);
        let left = Worker::new(peer, settings, worker_io, (heuristic, top)).drive()?;
        guard.well = true;
        Ok(left)
    }

    /// A guard that stops all workers if its holder fails.
    pub fn guard(&self) -> Guard<'a> {
        Guard { control: self.run_state.control(), mailboxes: self.mailboxes, well: false }
    }
}

/// Stops all workers when one of them or the watcher fails: an error or a panic leaves `well` unset.
pub struct Guard<'a> {
    control: &'a Control,
    mailboxes: &'a Mailboxes,
    /// Whether the holder has succeeded.
    pub well: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.well {
            self.control.stop(Stop::Failed);
        }
        if self.control.stopped().is_some() {
            self.mailboxes.wake_all();
        }
    }
}

/// The settings with defaults filled in.
fn with_defaults(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    // Without any worker nothing would be searched or proven.
    settings.threads = settings.threads.max(u32::from(settings.devices.is_none()));
    // Other processes have a rule of their own.
    if settings.processes.is_none() {
        settings.policy.end.get_or_insert(End::Counter);
    }
    settings
}

/// The limit that is reached before the run begins, if one is and there is something to explore.
pub fn reached_limit(settings: &Settings, before: &Checkpoint) -> Option<Stop> {
    if before.pieces.is_empty() && before.subs.is_empty() {
        return None;
    }
    let limits = [
        (settings.cancel.is_cancelled(), Stop::Asked),
        (settings.time_limit == Some(Duration::ZERO), Stop::Time),
        (settings.node_limit == Some(0), Stop::Nodes),
    ];
    limits.into_iter().find_map(|(reached, why)| reached.then_some(why))
}

/// The longest time to sample the tree for its fingerprint.
const SAMPLE: Duration = Duration::from_millis(50);

/// The state from which the run starts: the one it resumes, or a search that has not begun.
pub fn initial_state(problem: &dyn Problem, settings: &Settings) -> Result<Checkpoint, RunError> {
    let before = state_before(problem, settings)?;
    if settings.resume.is_some() {
        let (mut explorer, whole) = (problem.explorer(), before.progress_report());
        let checked = before.counted().and_then(|_| whole.check_division(&mut *explorer, None));
        checked.map_err(|why| RunError::Resume(why.into()))?;
    }
    Ok(before)
}

/// As [`initial_state`], but the open work in it may be malformed.
pub fn state_before(problem: &dyn Problem, settings: &Settings) -> Result<Checkpoint, RunError> {
    if let Some(start) = &settings.start {
        check_start(problem, start)?;
    }
    let Some(before) = &settings.resume else {
        // A fingerprint may take a while, and is needed only for files and other processes.
        let doubted = settings.save.is_some() || settings.processes.is_some();
        let fingerprint = if doubted { new_fingerprint(problem) } else { 0 };
        let (run, best, pieces) = (random_id(), i64::MAX, vec![problem.root()]);
        return Ok(Checkpoint { fingerprint, run, best, pieces, ..Checkpoint::default() });
    };
    // A state that layers left in this process has no fingerprint.
    if before.fingerprint != 0 && !problem.has_fingerprint(before.fingerprint) {
        return Err(Unreadable::Foreign.into());
    }
    let mut before = Checkpoint::clone(before);
    let to_beat = settings.best.map_or(i64::MAX, |value| problem.goal().score(value));
    if to_beat < before.best {
        // This is a new run: processes of the run in the file do not know this value, by which this run will prune.
        before.run = random_id();
    }
    let checked = check_solution(problem, before.solution.as_ref());
    checked.map(|()| before).map_err(|_| RunError::Resume(Malformed::Range.into()))
}

/// The fingerprint of a search that begins.
pub fn new_fingerprint(problem: &dyn Problem) -> u64 {
    let start = Instant::now();
    problem.new_fingerprint(&|| start.elapsed() < SAMPLE)
}

/// A random number that no other run and no other process draws.
pub fn random_id() -> u64 {
    RandomState::new().hash_one((std::process::id(), Instant::now()))
}

/// Refuses a solution to start from that is invalid, or whose score is wrong.
pub fn check_start(problem: &dyn Problem, start: &Solution) -> Result<(), RunError> {
    let (goal, score) = (problem.goal(), start.score);
    match problem.check(&start.solution) {
        Some(Err(why)) => Err(RunError::Start(why)),
        Some(Ok(value)) if goal != Goal::Find && goal.score(value) != score => {
            let [given, value] =
                [goal.value(score), value].map(|it| written(it, problem.decimals()));
            Err(RunError::Start(format!("its value is given as {given}, but it is {value}")))
        }
        _ => Ok(()),
    }
}

/// The incumbent, the fuel and the counter of a run.
pub fn new_control(
    problem: &dyn Problem,
    settings: &Settings,
    before: &Checkpoint,
    fuel: Option<u64>,
    workers: u32,
) -> Control {
    let best = settings.best.map_or(i64::MAX, |value| problem.goal().score(value));
    let starts = [settings.start.clone(), before.solution.clone()];
    let start = starts.into_iter().flatten().min_by_key(|solution: &Solution| solution.score);
    Control::new(best.min(before.best), start, fuel, workers)
}
