//! [`by_layers`]: searches a tree by layers first, on all threads, and leaves the rest to a depth-first search.

use crate::cancel::Cancel;
use crate::check::check_value;
use crate::error::{MOST_THREADS, RunError};
use crate::memory::{self, MemoryLimit};
use crate::on_drop::OnDrop;
use crate::outcome::{ProgressSnapshot, Watcher};
use crate::settings::Settings;
use crate::start::{check_start, new_fingerprint, random_id};
use crate::sync::lock;
use pleach_core::search::layers::{LayersEnd, LayersLimits, LayersProgress};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Goal;
use pleach_core::wire::checkpoint::Checkpoint;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Layers take at most this part of the memory that a run may use.
const SHARE: u64 = 4;
/// The nodes of a layer at which it ends if the system does not report memory use.
const MOST_NODES: usize = 1 << 20;
/// How often the limits are checked.
const CHECK_EVERY: Duration = Duration::from_millis(10);

/// Searches by layers, if the problem can and the settings say so. Returns the settings of a run that continues: it
/// resumes what layers leave open, with their counts, within the limits that remain.
///
/// # Errors
/// If the machine or the problem fails.
pub fn by_layers(
    problem: &dyn Problem,
    settings: &Settings,
    watch: &mut Watcher<'_>,
) -> Result<Option<Settings>, RunError> {
    let Some(layers) = problem.layers() else { return Ok(None) };
    let wanted = settings.layers.unwrap_or(layers.has_keys() && !settings.best_first);
    let alone = settings.processes.is_none() && !settings.policy.is_late();
    let threads = (1..=MOST_THREADS).contains(&settings.threads);
    // A policy may be refused, and then at once.
    let plain = !settings.policy.has_depths() && settings.policy.second_cutoff.is_none();
    if !wanted || !alone || !threads || !plain || settings.resume.is_some() {
        return Ok(None);
    }
    problem.set_stop_requested(false);
    if let Some(start) = &settings.start {
        check_start(problem, start)?;
    }
    let (begin, goal) = (Instant::now(), problem.goal());
    let best = settings.best.map_or(i64::MAX, |value| goal.score(value));
    let shared = Mutex::new(LayersProgress::new(settings.start.clone()));
    let (stopped, wrong) = (AtomicBool::new(false), Mutex::new(None));
    let search = || {
        let limits = LayersLimits {
            run_tasks: &|n, task| run_tasks(settings.threads as usize, n, task),
            made: settings.node_limit.unwrap_or(u64::MAX),
            stop: &|| {
                settings.pause.hold(|| !stopped.load(Ordering::Relaxed));
                stopped.load(Ordering::Relaxed)
            },
            report: &|progress| {
                let mut known = lock(&shared);
                let score = known.best.as_ref().map_or(i64::MAX, |best| best.score);
                let better = progress.best.as_ref().filter(|best| best.score < score);
                match better.map_or(Ok(()), |best| check_value(problem, best)) {
                    Ok(()) => known.clone_from(progress),
                    // It is neither shown nor used.
                    Err(why) => {
                        lock(&wrong).get_or_insert(why);
                        stopped.store(true, Ordering::Relaxed);
                    }
                }
            },
        };
        layers.search_by_layers(best, settings.start.clone(), &limits)
    };
    let (done, ended) = channel::<()>();
    let job = move || {
        let _done = done;
        search()
    };
    let (end, asked) = thread::scope(|scope| {
        let job = thread::Builder::new().spawn_scoped(scope, job);
        let job = job.map_err(|why| RunError::Thread(0, why))?;
        let stop = OnDrop(|| stopped.store(true, Ordering::Relaxed));
        let known = || lock(&shared).clone();
        let asked = watch_layers((goal, settings), begin, &ended, &known, watch);
        // A node that takes long may be put off.
        problem.set_stop_requested(true);
        drop(stop);
        Ok::<_, RunError>((job.join(), asked))
    })?;
    problem.set_stop_requested(false);
    let end = end.unwrap_or_else(|panic| resume_unwind(panic));
    if let Some(why) = lock(&wrong).take() {
        return Err(why);
    }
    continued(problem, settings, end, begin.elapsed(), asked).map(Some)
}

/// Runs a task for each number below `n`, on this thread and others.
fn run_tasks(threads: usize, n: usize, task: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let work = || {
        // After a panic, no other task begins.
        let _over = OnDrop(|| next.store(n, Ordering::Relaxed));
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            if nth >= n {
                break;
            }
            task(nth);
        }
    };
    thread::scope(|scope| {
        // Where the system gives no more threads, there are fewer.
        let helper = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let helpers: Vec<_> = (1..threads.min(n)).filter_map(helper).collect();
        work();
        for helper in helpers {
            helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}

/// Watches until the layers end or reach a limit. Returns whether the watcher wants the run to stop.
fn watch_layers(
    (goal, settings): (Goal, &Settings),
    begin: Instant,
    ended: &Receiver<()>,
    known: &dyn Fn() -> LayersProgress,
    watch: &mut Watcher<'_>,
) -> bool {
    let memory = settings.memory.or_else(memory::free_memory).map(|bytes| bytes / SHARE);
    let memory = MemoryLimit::new(memory, false);
    let full = || match &memory {
        None => known().layer >= MOST_NODES,
        Some(limit) => {
            limit.check();
            limit.is_full()
        }
    };
    let mut progress_at = settings.progress_every;
    // Nothing is ever sent: the channel closes when the layers have ended.
    while ended.recv_timeout(CHECK_EVERY) == Err(RecvTimeoutError::Timeout) {
        let now = begin.elapsed();
        let over = settings.time_limit.is_some_and(|limit| now >= limit);
        if full() || over || settings.cancel.is_cancelled() {
            return false;
        }
        if now >= progress_at {
            progress_at = now + settings.progress_every;
            if watch(&snapshot(goal, known(), now)).is_break() {
                return true;
            }
        }
    }
    false
}

fn snapshot(goal: Goal, known: LayersProgress, now: Duration) -> ProgressSnapshot {
    let LayersProgress { counts, best, least, .. } = known;
    ProgressSnapshot {
        seconds: now.as_secs_f64(),
        counts,
        best: best.as_ref().map(|best| goal.value(best.score)),
        solution: best,
        bound: (i64::MIN + 1..i64::MAX).contains(&least).then(|| goal.value(least)),
        ..ProgressSnapshot::default()
    }
}

/// The settings of the run that continues.
fn continued(
    problem: &dyn Problem,
    settings: &Settings,
    end: LayersEnd,
    elapsed: Duration,
    asked: bool,
) -> Result<Settings, RunError> {
    let LayersEnd { progress, open, fault } = end;
    if let Some(fault) = fault {
        return Err(fault.into());
    }
    if let Some(best) = &progress.best {
        check_value(problem, best)?;
    }
    let to_beat = settings.best.map_or(i64::MAX, |value| problem.goal().score(value));
    let best = progress.best.as_ref().map_or(to_beat, |best| best.score.min(to_beat));
    let made = progress.counts.bounded;
    let saved = Checkpoint {
        // Only a file needs one. Without it, a tree is not sampled whose nodes take long or differ from call to call.
        fingerprint: if settings.save.is_some() { new_fingerprint(problem) } else { 0 },
        run: random_id(),
        about: settings.about.clone(),
        elapsed_ns: elapsed.as_nanos() as u64,
        counts: progress.counts,
        best,
        solution: progress.best,
        pieces: open,
        ..Checkpoint::default()
    };
    let cancel = if asked { Cancel::cancelled() } else { settings.cancel.clone() };
    Ok(Settings {
        resume: Some(Arc::new(saved)),
        start: None,
        cancel,
        time_limit: settings.time_limit.map(|limit| limit.saturating_sub(elapsed)),
        node_limit: settings.node_limit.map(|limit| limit.saturating_sub(made).max(1)),
        ..settings.clone()
    })
}
