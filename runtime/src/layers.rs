//! [`by_layers`]: searches a tree by layers first, on all threads, and leaves the rest to a depth-first search. Open nodes
//! are saved between layers.

use crate::cancel::Cancel;
use crate::check::check_value;
use crate::error::{MOST_THREADS, RunError};
use crate::memory::{self, MemoryLimit};
use crate::on_drop::OnDrop;
use crate::outcome::{ProgressSnapshot, Watcher};
use crate::save::{Save, Saver};
use crate::settings::Settings;
use crate::start::{new_control, state_before};
use crate::sync::lock;
use pleach_core::search::layers::{LayersEnd, LayersLimits, LayersProgress};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Goal;
use pleach_core::search::work::Malformed;
use pleach_core::steal::Policy;
use pleach_core::wire::checkpoint::Checkpoint;
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Layers take at most this fraction of the memory that a run may use.
const SHARE: u64 = 4;
/// The nodes of a layer at which it ends if the system does not report memory use.
const MOST_NODES: usize = 1 << 20;
/// How often the limits are checked.
const CHECK_EVERY: Duration = Duration::from_millis(10);

/// Searches by layers, if the problem supports it, the settings say so, and the run does not resume a depth-first
/// search. Returns the settings of a run that continues: it resumes what layers leave open, with their counts, within
/// the limits that remain.
///
/// # Errors
/// If the machine or the problem fails, or the saved run does not match.
pub fn by_layers(
    problem: &dyn Problem,
    settings: &Settings,
    watch: &mut Watcher<'_>,
) -> Result<Option<Settings>, RunError> {
    let Some(layers) = problem.layers() else { return Ok(None) };
    let processes = settings.processes.as_ref();
    // Others wait for the first of several processes meanwhile.
    let by_default = layers.has_keys() && !settings.best_first && processes.is_none();
    let leads = processes.is_none_or(|processes| processes.leads());
    let threads = (1..=MOST_THREADS).contains(&settings.threads);
    // If the policy is refused, that must happen at once.
    let Policy { second_cutoff, profile, ref tree, .. } = settings.policy;
    let refused = processes.is_some() && (tree.drawn_first || profile);
    let plain = !settings.policy.has_depths() && second_cutoff.is_none() && !refused;
    let wanted = settings.layers.unwrap_or(by_default);
    if !wanted || !leads || !threads || !plain || settings.policy.is_late() {
        return Ok(None);
    }
    problem.set_stop_requested(false);
    let begin = Instant::now();
    let malformed = |why: Malformed| match settings.resume {
        Some(_) => RunError::Resume(why.into()),
        None => why.into(),
    };
    let mut before = state_before(problem, settings)?;
    if !before.subs.is_empty() || !layers.is_layer(&before.pieces).map_err(malformed)? {
        return Ok(None);
    }
    let control = &new_control(problem, settings, &before, None, 1);
    let saver = settings.save.as_ref().map(|save| (save, &*settings.about));
    let saver = saver.map(|save| Saver::new(save, &before, 1, begin));
    // Nothing is searched for a file that cannot be written.
    let write = |saver: &Saver<'_>| saver.lock_and_write(before.pieces.clone(), control);
    let (_lock, warning) = saver.as_ref().map(write).transpose()?.unzip();
    let warned = warning.flatten().is_some_and(|warning| {
        let known = LayersProgress::new(control.solution());
        let begun = snapshot(problem.goal(), &before, known, begin.elapsed());
        watch(&ProgressSnapshot { warning: Some(warning), ..begun }).is_break()
    });
    let open = std::mem::take(&mut before.pieces);
    let shared = Mutex::new(LayersProgress::new(control.solution()));
    let (stopped, wrong) = (AtomicBool::new(warned), Mutex::new(None));
    let (done, ended) = channel();
    let search = |warn: &Sender<String>| {
        let saving = RefCell::new(SaveTimes::new(settings));
        let limits = LayersLimits {
            run_tasks: &|n, task| run_tasks(settings.threads as usize, n, task),
            made: settings.node_limit.unwrap_or(u64::MAX),
            stop: &|| {
                settings.pause.hold(|| !stopped.load(Ordering::Acquire));
                stopped.load(Ordering::Acquire)
            },
            report: &|progress, open| {
                let better = progress.best.as_ref().filter(|best| best.score < control.best());
                // A wrong solution is neither shown nor used.
                if let Err(why) = better.map_or(Ok(()), |best| check_value(problem, best)) {
                    lock(&wrong).get_or_insert(why);
                    return stopped.store(true, Ordering::Release);
                }
                better.cloned().into_iter().for_each(|best| {
                    control.offer_solution(best);
                });
                lock(&shared).clone_from(progress);
                if let Some(saver) = saver.as_ref().filter(|_| saving.borrow_mut().is_due()) {
                    let saved = saver.write(&progress.counts, open(), control);
                    // Once the watcher is gone, nobody reads warnings.
                    saver.note(saved).into_iter().for_each(|line| drop(warn.send(line)));
                }
            },
        };
        layers.search_by_layers(open, control.best(), control.solution(), &limits)
    };
    let job = move || search(&done);
    let memory = settings.memory.or_else(memory::free_memory).map(|bytes| bytes / SHARE);
    let memory = MemoryLimit::new(memory, false);
    let (end, asked) = thread::scope(|scope| {
        let job = thread::Builder::new().spawn_scoped(scope, job);
        let job = job.map_err(|why| RunError::Thread(0, why))?;
        let stop = OnDrop(|| stopped.store(true, Ordering::Release));
        let known = || lock(&shared).clone();
        let goal = problem.goal();
        let full = || match &memory {
            None => known().layer >= MOST_NODES,
            Some(limit) => {
                limit.check();
                limit.is_full()
            }
        };
        let shown = |now| snapshot(goal, &before, known(), now);
        let asked = watch_layers(settings, begin, &ended, (&full, &shown), watch);
        drop(stop);
        // Only afterwards: a postponed node stays at its depth, and no layer may be finished without it.
        problem.set_stop_requested(true);
        Ok::<_, RunError>((job.join(), asked))
    })?;
    problem.set_stop_requested(false);
    let end = end.unwrap_or_else(|panic| resume_unwind(panic)).map_err(malformed)?;
    if let Some(why) = lock(&wrong).take() {
        return Err(why);
    }
    let rest = continued((problem, settings), before, end, begin.elapsed(), asked || warned)?;
    let grown = memory.as_ref().map_or(0, MemoryLimit::grown);
    let memory = rest.memory.map(|bytes| bytes.saturating_sub(grown));
    Ok(Some(Settings { memory, ..rest }))
}

/// When to save layers.
pub struct SaveTimes<'a> {
    settings: &'a Settings,
    saved: Instant,
    /// Requests that were answered.
    answered: u64,
}

impl<'a> SaveTimes<'a> {
    /// The first save is due `every` after this call.
    #[must_use]
    pub fn new(settings: &'a Settings) -> Self {
        Self { settings, saved: Instant::now(), answered: settings.save_now.before() }
    }

    /// Whether to save now. It is then not due again until some time has passed, or a save is requested.
    pub fn is_due(&mut self) -> bool {
        let Settings { save: Some(save), save_now, .. } = self.settings else { return false };
        let asked = save_now.count();
        let due = self.answered < asked || self.saved.elapsed() >= save.every;
        if due {
            (self.answered, self.saved) = (asked, Instant::now());
        }
        due
    }
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
    settings: &Settings,
    begin: Instant,
    ended: &Receiver<String>,
    (full, shown): (&dyn Fn() -> bool, &dyn Fn(Duration) -> ProgressSnapshot),
    watch: &mut Watcher<'_>,
) -> bool {
    let mut progress_at = settings.progress_every;
    loop {
        let warning = match ended.recv_timeout(CHECK_EVERY) {
            Ok(warning) => Some(warning),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return false,
        };
        let now = begin.elapsed();
        let over = settings.time_limit.is_some_and(|limit| now >= limit);
        if full() || over || settings.cancel.is_cancelled() {
            return false;
        }
        if now >= progress_at || warning.is_some() {
            progress_at = now.saturating_add(settings.progress_every);
            if watch(&ProgressSnapshot { warning, ..shown(now) }).is_break() {
                return true;
            }
        }
    }
}

fn snapshot(
    goal: Goal,
    before: &Checkpoint,
    known: LayersProgress,
    now: Duration,
) -> ProgressSnapshot {
    let LayersProgress { mut counts, best, least, .. } = known;
    counts.add(&before.counts);
    ProgressSnapshot {
        seconds: now.as_secs_f64() + before.elapsed_ns as f64 * 1e-9,
        counts,
        best: best.as_ref().map(|best| goal.value(best.score)),
        solution: best,
        bound: (i64::MIN + 1..i64::MAX).contains(&least).then(|| goal.value(least)),
        ..ProgressSnapshot::default()
    }
}

/// The settings of the run that continues.
fn continued(
    (problem, settings): (&dyn Problem, &Settings),
    before: Checkpoint,
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
    let made = progress.counts.bounded;
    let mut saved = Checkpoint {
        about: settings.about.clone(),
        elapsed_ns: before.elapsed_ns.saturating_add(elapsed.as_nanos() as u64),
        solution: progress.best,
        pieces: open,
        ..before
    };
    saved.counts.add(&progress.counts);
    let best = saved.solution.as_ref().map_or(i64::MAX, |best| best.score);
    let to_beat = settings.best.map_or(i64::MAX, |value| problem.goal().score(value));
    saved.best = saved.best.min(best).min(to_beat);
    let cancel = if asked { Cancel::cancelled() } else { settings.cancel.clone() };
    Ok(Settings {
        resume: Some(Arc::new(saved)),
        save: settings.save.clone().map(|save| Save { begun: true, ..save }),
        start: None,
        cancel,
        time_limit: settings.time_limit.map(|limit| limit.saturating_sub(elapsed)),
        node_limit: settings.node_limit.map(|limit| limit.saturating_sub(made)),
        ..settings.clone()
    })
}
