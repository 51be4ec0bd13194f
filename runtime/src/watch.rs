//! [`watch_over`]: waits for the workers to end, reports progress, saves the run, and stops it at its limits.

use crate::control::Stop;
use crate::done_estimate::DoneEstimate;
use crate::memory::MemoryLimit;
use crate::outcome::{ProgressSnapshot, SiteSnapshot, SitesSnapshot, Watcher, WorkerSnapshot};
use crate::run_state::RunState;
use crate::save::{SaveNow, Saver};
use crate::settings::Settings;
use crate::site_state::{SiteState, nodes_of, share_open};
use crate::transport::Mailboxes;
use crate::worker_counters::WorkerCounters;
use crate::worker_pool::Latch;
use pleach_core::lease::ProgressReport;
use pleach_core::lease::gateway::Portion;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Counts, Goal};
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

/// The progress of all sites, as the root knows it.
type Whole = Arc<ProgressReport<Portion<Counts>>>;

/// How often to check whether the snapshot under way is complete.
const ASK_EVERY: Duration = Duration::from_millis(1);

/// The number of open nodes at which a run gives up if the system does not report memory use. No known finite tree
/// comes near it.
const MOST_OPEN: u64 = 50_000_000;

/// How often to check whether the run has stopped, and the memory in use if that may be near its limit.
const CHECK_EVERY: Duration = Duration::from_millis(100);
const WEIGH_EVERY: Duration = Duration::from_millis(20);

/// Summing up the open work of all sites takes at most 1/SHARE_EVERY of the time.
const SHARE_EVERY: u32 = 50;

/// How often to check for a progress report to save.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Waits for the workers to end, reports progress, saves the run, and stops it at its limits.
pub fn watch_over(
    problem: &dyn Problem,
    settings: &Settings,
    run_state: &RunState<'_>,
    latch: &Arc<Latch>,
    mailboxes: &Mailboxes,
    watcher: &mut Watcher<'_>,
) {
    let control = run_state.control();
    let halt = |why| {
        run_state.request_stop(why);
        problem.set_stop_requested(true);
        mailboxes.wake_all();
    };
    let mut known = WatchState { proven: run_state.least_score(), ..WatchState::default() };
    let mut progress_at = settings.progress_every;
    let mut halted = None;
    settings.cancel.wakes(latch);
    thread::scope(|scope| {
        let mut saving = Saving::new(run_state, mailboxes, &settings.save_now, scope);
        loop {
            let now = run_state.elapsed();
            let limit =
                settings.time_limit.filter(|_| halted.is_none() && control.stopped().is_none());
            let mut until = limit.map_or(progress_at, |limit| progress_at.min(limit));
            until = saving.next(now).map_or(until, |at| until.min(at));
            let weigh = run_state.memory_limit().map_or(WEIGH_EVERY, MemoryLimit::safe_for);
            until = until.min(now.saturating_add(weigh.clamp(WEIGH_EVERY, CHECK_EVERY)));
            // A joiner whose root is gone waits for it, even once a limit has halted it, until it is cancelled.
            let cancels = || halted != Some(Stop::Asked) && settings.cancel.is_cancelled();
            if latch.wait(until.saturating_sub(now), || !cancels()) == 0 {
                return;
            }
            let now = run_state.elapsed();
            if cancels() {
                halted = Some(Stop::Asked);
                halt(Stop::Asked);
            } else if control.stopped().is_some() {
                problem.set_stop_requested(true);
                progress_at = now.saturating_add(settings.progress_every);
            } else if limit.is_some_and(|limit| now >= limit) {
                halted = Some(Stop::Time);
                halt(Stop::Time);
                progress_at = now.saturating_add(settings.progress_every);
            } else if halted.is_none() && is_memory_full(run_state) {
                halted = Some(Stop::Memory);
                halt(Stop::Memory);
            } else {
                let warning = saving.save_if_due(now).or_else(|| run_state.next_warning());
                if now >= progress_at || warning.is_some() {
                    progress_at = now.saturating_add(settings.progress_every);
                    if watcher(&ProgressSnapshot {
                        warning,
                        ..take_snapshot(problem, run_state, &mut known)
                    })
                    .is_break()
                    {
                        halted = Some(Stop::Asked);
                        halt(Stop::Asked);
                    }
                }
            }
        }
    });
}

/// Shows the user the remaining warnings, with what is known at the end: no solution has a score below `proven`.
pub fn last_warnings(
    problem: &dyn Problem,
    run_state: &RunState<'_>,
    proven: i64,
    watcher: &mut Watcher<'_>,
) {
    let proven = run_state.least_score().max(proven);
    let mut known = WatchState { proven, ..WatchState::default() };
    while let Some(warning) = run_state.next_warning() {
        let snapshot = take_snapshot(problem, run_state, &mut known);
        // There is nothing left to stop.
        let _ = watcher(&ProgressSnapshot { warning: Some(warning), ..snapshot });
    }
}

/// Whether the process takes more memory than it may; if the system does not report memory use, whether there is so
/// much open work that the tree may be infinite.
fn is_memory_full(run_state: &RunState<'_>) -> bool {
    let Some(limit) = run_state.memory_limit() else {
        let open = run_state.worker_counters().iter().map(WorkerCounters::open_nodes);
        return open.fold(0, u64::saturating_add) > MOST_OPEN;
    };
    limit.check();
    limit.is_full()
}

/// When to take snapshots, the one under way, and the one that is being written.
struct Saving<'scope, 'a> {
    run_state: &'a RunState<'a>,
    mailboxes: &'a Mailboxes,
    saver: Option<&'a Saver<'a>>,
    /// Writing may take long, and limits are checked meanwhile.
    scope: &'scope Scope<'scope, 'a>,
    writing: Option<ScopedJoinHandle<'scope, io::Result<()>>>,
    under_way: bool,
    at: Duration,
    /// The progress report that was saved last.
    last: Option<Whole>,
    /// Requests to save, and how many were answered.
    requests: &'a SaveNow,
    answered: u64,
}

impl<'scope, 'a> Saving<'scope, 'a> {
    fn new(
        run_state: &'a RunState<'a>,
        mailboxes: &'a Mailboxes,
        requests: &'a SaveNow,
        scope: &'scope Scope<'scope, 'a>,
    ) -> Self {
        let saver = run_state.saver();
        let first = |saver: &Saver<'_>| run_state.elapsed().saturating_add(saver.every());
        let at = saver.map_or(Duration::MAX, first);
        let answered = requests.before();
        Self {
            run_state,
            mailboxes,
            saver,
            scope,
            writing: None,
            under_way: false,
            at,
            last: None,
            requests,
            answered,
        }
    }

    /// When the next thing is due.
    fn next(&self, now: Duration) -> Option<Duration> {
        // A gateway makes progress reports on its own schedule.
        let waits = self.run_state.site_state().is_some() || self.writing.is_some();
        let ask_every = if waits { LOOK_EVERY } else { ASK_EVERY };
        let asks = self.under_way || self.writing.is_some() || self.at <= now;
        self.saver.map(|_| if asks { now + ask_every } else { self.at })
    }

    /// Requests a snapshot if it is time, and begins to write the one under way if it is complete. Returns a warning if
    /// a write has failed for the first time, and a line if one succeeds again.
    fn save_if_due(&mut self, now: Duration) -> Option<String> {
        let saver = self.saver?;
        let asked = self.requests.count();
        if std::mem::replace(&mut self.answered, asked) < asked {
            self.at = now;
        }
        if let Some(writing) = self.writing.take_if(|writing| writing.is_finished()) {
            let written = writing.join().unwrap_or_else(|panic| resume_unwind(panic));
            return saver.note(written);
        }
        if self.writing.is_some() {
            return None;
        }
        let control = self.run_state.control();
        if let Some(site_state) = self.run_state.site_state() {
            let newest = if now >= self.at { site_state.progress_report() } else { None };
            let new = newest.filter(|newest| !is_same(Some(newest), self.last.as_ref()))?;
            self.at = now.saturating_add(saver.every());
            let whole = Arc::clone(&new);
            let warning = self.write(move || saver.write_whole(&whole, control));
            self.last = self.writing.as_ref().map(|_| new);
            return warning;
        }
        if self.under_way {
            let (counts, pieces) = saver.take_if_whole()?;
            self.under_way = false;
            return self.write(move || saver.write(&counts, pieces, control));
        }
        if now >= self.at {
            saver.request_snapshot();
            self.under_way = true;
            self.at = now.saturating_add(saver.every());
            self.mailboxes.wake_peer(0);
        }
        None
    }

    /// Writes on another thread. Returns a warning if the system refuses it.
    fn write(&mut self, write: impl FnOnce() -> io::Result<()> + Send + 'scope) -> Option<String> {
        match thread::Builder::new().spawn_scoped(self.scope, write) {
            Ok(writing) => {
                self.writing = Some(writing);
                None
            }
            Err(why) => self.saver?.note(Err(why)),
        }
    }
}

/// What the watcher remembers between two snapshots.
#[derive(Default)]
struct WatchState {
    /// The best bound proven so far.
    proven: i64,
    /// The fraction done by the latest progress report of all sites, and that report.
    done: Option<f64>,
    whole: Option<Whole>,
    estimate: DoneEstimate,
    /// The name of this machine, if it was needed.
    host: Option<String>,
    /// When to sum up the open work of all sites again.
    share_at: Duration,
}

impl WatchState {
    /// Handles the root's newest progress report.
    fn handle_root_report(
        &mut self,
        problem: &dyn Problem,
        run_state: &RunState<'_>,
        site_state: &SiteState,
    ) {
        self.proven = site_state.least_bound().max(self.proven);
        let newest = site_state.progress_report();
        let start = run_state.elapsed();
        if start >= self.share_at && !is_same(newest.as_ref(), self.whole.as_ref()) {
            let open = newest.as_deref().filter(|_| !site_state.is_blind());
            let open = open.and_then(|whole| share_open(problem, whole));
            let nodes = newest.as_deref().map_or(0, nodes_of);
            let done = open.map(|open| (1.0 - open).clamp(0.0, 1.0));
            self.done = done.and_then(|done| self.estimate.trusted(nodes, done));
            self.whole = newest;
            // The open work of many sites is large.
            let now = run_state.elapsed();
            let rest = (now - start) * SHARE_EVERY;
            self.share_at = now.saturating_add(rest);
        }
    }
}

fn is_same(one: Option<&Whole>, other: Option<&Whole>) -> bool {
    one.map(Arc::as_ptr) == other.map(Arc::as_ptr)
}

/// A snapshot of the run.
fn take_snapshot(
    problem: &dyn Problem,
    run_state: &RunState<'_>,
    known: &mut WatchState,
) -> ProgressSnapshot {
    let mut counts = run_state.before.counts.clone();
    let mut open = 0.0;
    let mut bound = run_state.control().best();
    // Workers answer a progress request after their next stretch, so this snapshot reads the answers to the last request.
    let progress_request = run_state.progress_request();
    let all = progress_request > 0
        && run_state
            .worker_counters()
            .iter()
            .all(|counters| counters.has_answered(progress_request));
    let rises = || run_state.worker_counters().iter().map(WorkerCounters::rises).sum::<u64>();
    let before = rises();
    for counters in run_state.worker_counters() {
        let (worker, share, least_bound) = counters.read();
        counts.add(&worker);
        open += share;
        bound = bound.min(least_bound);
    }
    let together = rises() == before;
    run_state.request_progress();
    if let Some(site_state) = run_state.site_state() {
        known.handle_root_report(problem, run_state, site_state);
        return snapshot_of_all_sites(run_state, counts, site_state, known);
    }
    if all && together {
        known.proven = bound.max(known.proven);
    }
    let solution = run_state.control().solution();
    let done = (progress_request > 0 && !open.is_nan()).then(|| (1.0 - open).clamp(0.0, 1.0));
    counts.tally.clear();
    ProgressSnapshot {
        seconds: run_state.seconds(),
        done: done.and_then(|done| known.estimate.trusted(counts.bounded, done)),
        counts,
        best: solution.as_ref().map(|best| run_state.goal().value(best.score)),
        solution,
        bound: known_bound(run_state, known.proven),
        workers: worker_snapshots(run_state, 0),
        ..ProgressSnapshot::default()
    }
}

/// The state of each worker of this process, from this peer on: the first peer may be a gateway.
fn worker_snapshots(run_state: &RunState<'_>, first: usize) -> Vec<WorkerSnapshot> {
    let all = run_state.names().iter().zip(run_state.worker_counters()).skip(first);
    let worker = |(name, counters): (&Arc<str>, &WorkerCounters)| {
        let ((counts, ..), (_, busy_ns)) = (counters.read(), counters.spent());
        WorkerSnapshot {
            name: Arc::clone(name),
            nodes: counts.bounded.max(counts.branched),
            busy_s: busy_ns as f64 * 1e-9,
            held: counters.size(),
        }
    };
    all.map(worker).collect()
}

/// The value that no solution can beat, if known.
fn known_bound(run_state: &RunState<'_>, proven: i64) -> Option<i64> {
    let best = run_state.control().best();
    let bound = best.min(proven);
    let optimises = matches!(run_state.goal(), Goal::Minimise | Goal::Maximise);
    let known = optimises && (bound > i64::MIN || best == i64::MIN) && bound < i64::MAX;
    known.then(|| run_state.goal().value(bound))
}

/// A snapshot of a run of several sites, which report their open work to the root periodically.
fn snapshot_of_all_sites(
    run_state: &RunState<'_>,
    mut counts: Counts,
    site_state: &SiteState,
    known: &mut WatchState,
) -> ProgressSnapshot {
    let others = site_state.others().combined_progress();
    let worker_counters = &run_state.worker_counters()[1..];
    let busy = worker_counters.iter().filter(|counters| counters.size() > 0.0).count() as u32;
    let own = SiteSnapshot {
        name: "site0".into(),
        host: known.host.get_or_insert_with(crate::host::host).clone(),
        workers: worker_counters.len() as u32,
        busy,
        nodes: counts.bounded.max(counts.branched),
        ..SiteSnapshot::default()
    };
    let mut each_site = site_state.others().snapshots();
    if !each_site.is_empty() {
        each_site.insert(0, own);
    }
    counts.add_saturating(&others.counts);
    counts.tally.clear();
    let solution = run_state.control().solution();
    let best = solution.as_ref().map(|best| run_state.goal().value(best.score));
    let bound = known_bound(run_state, known.proven);
    let sites = SitesSnapshot {
        sites: 1 + others.sites,
        workers: worker_counters.len() as u32 + others.workers,
        busy: busy + others.busy,
    };
    ProgressSnapshot {
        seconds: run_state.seconds(),
        counts,
        done: known.done,
        best,
        solution,
        bound,
        sites: Some(sites),
        workers: worker_snapshots(run_state, 1),
        each_site,
        ..ProgressSnapshot::default()
    }
}
