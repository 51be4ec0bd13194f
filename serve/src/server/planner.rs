//! The planner: ten times a second, and whenever something changed, it starts and stops roots and sends joiners to
//! jobs, by fair shares.

use super::folder::{CHECKPOINT, KEY, numbers};
use super::job::{Root, StopReason};
use super::joiners::{LATE, SILENCE};
use super::queue::file_bytes;
use super::root;
use super::share::{JobShare, JoinerShare, Plan, Situation, UserShare};
use super::state::{Service, State, now, threads};
use crate::api::{CommandKind, JobState, Role};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// The longest time between two plans.
const TICK: Duration = Duration::from_millis(100);
/// The shortest.
const REST: Duration = Duration::from_millis(2);
/// How often sentences, estimates and sizes are computed.
const EXPLAIN: Duration = Duration::from_secs(1);
/// How often to remove files that have expired, and the maximum number of jobs per sweep.
const SWEEP: Duration = Duration::from_secs(60);
const SWEPT: usize = 1000;
/// How often usage, and the histories of running searches, are stored.
const STORE: Duration = Duration::from_secs(10);

/// Makes plans until the task is dropped.
pub(super) async fn run(service: Arc<Service>) {
    let (mut before, mut explained, mut stored) = (Instant::now(), None, Instant::now());
    let (mut swept, mut sweep): (_, Option<JoinHandle<()>>) = (None, None);
    loop {
        // A tick without news is a reason, too.
        let _ = timeout(TICK, service.wake.notified()).await;
        sleep(REST).await;
        let now = Instant::now();
        let seconds = (now - before).as_secs_f64();
        before = now;
        let explain = explained.is_none_or(|at: Instant| now - at > EXPLAIN);
        let store = now - stored > STORE;
        if plan(&service, seconds, explain, store) {
            service.announce();
        }
        if explain {
            explained = Some(now);
            measure_files(&service);
        }
        if store {
            stored = now;
        }
        if let Some(keep) = service.settings.keep
            && swept.is_none_or(|at: Instant| now - at > SWEEP.min(keep))
            && sweep.as_ref().is_none_or(JoinHandle::is_finished)
        {
            swept = Some(now);
            let service = Arc::clone(&service);
            sweep = Some(tokio::task::spawn_blocking(move || remove_old_files(&service, keep)));
        }
    }
}

/// Makes a plan and carries it out. Returns whether anything changed that someone may be waiting for.
fn plan(service: &Arc<Service>, seconds: f64, explain: bool, store: bool) -> bool {
    let mut guard = service.lock();
    let state = &mut *guard;
    if state.closing {
        return false;
    }
    let half_life = service.settings.half_life.as_secs_f64();
    state.use_up(seconds, half_life);
    for job in state.jobs.values_mut() {
        job.view.worker_s += f64::from(job.view.workers) * seconds;
    }
    let gone: Vec<String> = state
        .joiners
        .iter()
        .filter(|(_, joiner)| joiner.waiting == 0 && joiner.heard.elapsed() > SILENCE)
        .map(|(name, _)| name.clone())
        .collect();
    for name in &gone {
        state.joiners.remove(name);
    }
    state.left.retain(|_, at| at.elapsed() < LATE);
    let situation = situation(service, state);
    let plan = situation.plan();
    let mut changed = carry_out(service, state, &plan) || !gone.is_empty();
    if explain {
        say_why(service, state, &situation, &plan);
        changed = true;
    }
    if store {
        state.failing = state.store_usage().is_err();
    }
    service.flush(state);
    drop(guard);
    for name in gone {
        service.audit(&name, "was lost");
    }
    changed
}

/// What the plan depends on.
fn situation(service: &Service, state: &State) -> Situation {
    let users = state.accounts.values().filter(|account| account.row.role != Role::Joiner);
    let share = |account: &super::state::Account| UserShare {
        weight: account.row.weight,
        usage: account.row.usage,
        most: account.row.limits.workers.unwrap_or(u32::MAX),
    };
    Situation {
        users: users.map(|account| (account.row.name.clone(), share(account))).collect(),
        jobs: contenders(state, service.settings.roots),
        joiners: state
            .joiners
            .values()
            .filter(|joiner| !joiner.dismissed)
            .map(|joiner| JoinerShare {
                threads: joiner.threads,
                only_for: joiner.only_for.clone(),
                avoids: joiner.avoids(),
                job: joiner.job,
            })
            .collect(),
        roots: service.settings.roots,
        root_threads: service.settings.root_threads,
        half_life: service.settings.half_life.as_secs_f64(),
    }
}

/// The jobs that have a root, and of each user the first ones that could: no more can start.
fn contenders(state: &State, roots: usize) -> Vec<JobShare> {
    let mut waiting: BTreeMap<&str, Vec<(Reverse<i32>, u64)>> = BTreeMap::new();
    let first = |own: &mut Vec<_>| {
        if own.len() > roots {
            own.select_nth_unstable(roots);
            own.truncate(roots);
        }
    };
    let mut all = Vec::new();
    for (&id, job) in state.jobs.iter().filter(|(_, job)| job.wants()) {
        if job.root.is_some() {
            all.push(job.share());
        } else {
            let own = waiting.entry(&job.view.user).or_default();
            own.push((Reverse(job.view.priority), id));
            // There may be thousands.
            if own.len() > 2 * roots {
                first(own);
            }
        }
    }
    for mut own in waiting.into_values() {
        first(&mut own);
        all.extend(own.iter().filter_map(|(_, id)| Some(state.jobs.get(id)?.share())));
    }
    all
}

/// Starts and stops roots, and gives joiners their jobs.
fn carry_out(service: &Arc<Service>, state: &mut State, plan: &Plan) -> bool {
    let mut changed = false;
    for job in state.jobs.values_mut() {
        let stops = job.root.as_ref().is_some_and(|root| root.stop.is_none())
            && plan.roots.binary_search(&job.view.id).is_err();
        // A command that is not a search would lose its work.
        if stops && job.is_search() {
            job.stop(StopReason::Yield);
            changed = true;
        }
    }
    let running = state.jobs.values().filter(|job| job.root.is_some()).count();
    let mut free = service.settings.roots.saturating_sub(running);
    for &id in &plan.roots {
        if free > 0 && state.jobs.get(&id).is_some_and(|job| job.root.is_none()) {
            start_root(service, state, id);
            free -= 1;
            changed = true;
        }
    }
    let mut served: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
    let there = state.joiners.values_mut().filter(|joiner| !joiner.dismissed);
    for (joiner, job) in there.zip(&plan.joiners) {
        changed |= joiner.job != *job;
        joiner.job = *job;
        joiner.idle_since = match joiner.job {
            None => joiner.idle_since.or_else(|| Some(Instant::now())),
            Some(_) => None,
        };
        if let Some(job) = job {
            let served = served.entry(*job).or_default();
            *served = (served.0 + joiner.threads, served.1 + 1);
        }
    }
    state.accounts.values_mut().for_each(|account| account.workers = 0);
    for job in state.jobs.values_mut() {
        let own = if job.root.is_some() { service.settings.root_threads } else { 0 };
        let (threads, joiners) = served.get(&job.view.id).copied().unwrap_or_default();
        job.has_now(own + threads, joiners);
        if let Some(account) = state.accounts.get_mut(&job.view.user) {
            account.workers += own + threads;
        }
    }
    changed
}

/// Starts the root of a job.
fn start_root(service: &Arc<Service>, state: &mut State, id: u64) {
    let memory = |name: &str| state.accounts.get(name)?.row.limits.memory;
    let Some(job) = state.jobs.get_mut(&id) else { return };
    let mut args = job.view.args.clone();
    let threads = service.settings.root_threads.to_string();
    args.extend(["--json", "--threads", &threads].map(String::from));
    match job.kind {
        CommandKind::Simulation => args.push("--until-eof".into()),
        CommandKind::Loop => args.extend(["--until-eof", "--devices", "cpu"].map(String::from)),
        CommandKind::Search => {
            let listen = format!("{}:0", service.settings.listen.ip());
            for (flag, value) in [
                ("--checkpoint", CHECKPOINT),
                ("--listen", &listen),
                ("--key", KEY),
                ("--places", "4096"),
                ("--devices", "cpu"),
            ] {
                args.extend([flag.to_string(), value.to_string()]);
            }
            args.extend(["--updates", "--until-eof", "--quiet"].map(String::from));
            if let Some(memory) = memory(&job.view.user) {
                // The job may be older than the limit.
                remove_memory(&mut args);
                args.extend(["--memory".to_string(), memory.to_string()]);
            }
        }
    }
    job.runs += 1;
    job.not_before = None;
    let run = job.runs;
    job.root = Some(Root {
        run,
        input: None,
        port: None,
        key: String::new(),
        since: Instant::now(),
        resumes: false,
        workers: None,
        stop: None,
    });
    job.view.state = JobState::Running;
    job.view.started.get_or_insert_with(now);
    state.unsaved.insert(id);
    tokio::spawn(root::run(Arc::clone(service), id, run, args));
}

/// Removes `--memory` from a command.
fn remove_memory(args: &mut Vec<String>) {
    if let Some(at) = args.iter().position(|arg| arg == "--memory") {
        args.drain(at..args.len().min(at + 2));
    }
    args.retain(|arg| !arg.starts_with("--memory="));
}

/// Explains for each job why it has the threads that it has, and when it can expect more.
fn say_why(service: &Service, state: &mut State, situation: &Situation, plan: &Plan) {
    let all: u32 = state.accounts.values().map(|account| account.workers).sum();
    let active = |name: &str| state.jobs.values().any(|job| job.view.user == name && job.wants());
    let users = state.accounts.values().filter(|account| active(&account.row.name));
    let weights: f64 = users.map(|account| account.row.weight).sum();
    let of_user: BTreeMap<String, (u32, f64, Option<u32>)> = state
        .accounts
        .values()
        .map(|account| {
            let row = &account.row;
            (row.name.clone(), (account.workers, row.weight, row.limits.workers))
        })
        .collect();
    let avoided: BTreeSet<u64> =
        state.joiners.values().flat_map(|joiner| joiner.avoids()).collect();
    // An estimate takes a hundred plans.
    let size = situation.jobs.len() * situation.joiners.len();
    let root_threads = service.settings.root_threads;
    let mut estimates = if size <= 1000 { 4 } else { 0 };
    for job in state.jobs.values_mut() {
        let (id, user) = (job.view.id, &job.view.user);
        let (workers, weight, most) = of_user.get(user).copied().unwrap_or((0, 1.0, None));
        let share = |part: f64| format!("{:.0} %", 100.0 * part);
        let due = weight / weights.max(1e-9);
        let at_limit = most.is_some_and(|most| workers >= most);
        job.view.why = match (&job.root, job.view.state) {
            (Some(root), _) if root.stop == Some(StopReason::Pause) => {
                "saving, to be paused".into()
            }
            (Some(root), _) if root.stop == Some(StopReason::Yield) => {
                "saving: the jobs of other users come first".into()
            }
            (Some(root), _) if root.stop.is_some() => "stopping".into(),
            (None, JobState::Paused) if !job.view.why.is_empty() => continue,
            (None, JobState::Paused) => format!("paused by {user} or an operator"),
            // Others see the reason, too, and so it does not have the error.
            (None, _) if job.not_before.is_some_and(|at| at > Instant::now()) => {
                "waiting to be tried again".into()
            }
            (None, _) if plan.roots.binary_search(&id).is_ok() => "starting".into(),
            (None, _) if most.is_some_and(|most| workers + root_threads > most) => format!(
                "waiting: {user} has {} of the {} allowed, and a job begins with {root_threads}",
                threads(workers),
                most.unwrap_or_default()
            ),
            (None, _) => format!(
                "waiting for one of {} places: {user} has {} of the threads; the fair share is {}",
                service.settings.roots,
                share(f64::from(workers) / f64::from(all.max(1))),
                share(due)
            ),
            (Some(_), _) if !job.is_search() => {
                "it runs in one process on the service's machine".into()
            }
            (Some(_), _) if job.is_alone() => {
                "its root prepares the search, or searches by layers: joiners are assigned afterwards".into()
            }
            (Some(_), _) if job.is_full() => {
                format!("it can keep no more than {} busy now", threads(job.view.workers))
            }
            (Some(_), _) if at_limit => {
                format!("{user} has {}, the maximum allowed", threads(workers))
            }
            (Some(_), _) => format!(
                "{user} has {} of the threads; the fair share is {} by weight and past use",
                share(f64::from(workers) / f64::from(all.max(1))),
                share(due)
            ),
        };
        if job.root.is_some() && avoided.contains(&id) {
            job.view.why += "; joiners that crashed on it serve only others for a while";
        }
        let grows = job.is_search() && !job.is_alone() && !job.is_full();
        let wants = job.wants() && grows && !at_limit;
        job.view.more_in_s = if wants && estimates > 0 && situation.users.len() > 1 {
            estimates -= 1;
            situation.more_in(id)
        } else {
            None
        };
    }
}

/// Measures the files of the jobs of users with a limit.
fn measure_files(service: &Service) {
    let jobs_of = |state: &State, name: &str| -> Vec<u64> {
        let own = state.jobs.values().filter(|job| job.view.user == name);
        own.map(|job| job.view.id).collect()
    };
    let limited: Vec<(String, Vec<u64>)> = {
        let state = service.lock();
        let accounts = state.accounts.values();
        let limited = accounts.filter(|account| account.row.limits.bytes.is_some());
        limited.map(|it| (it.row.name.clone(), jobs_of(&state, &it.row.name))).collect()
    };
    for (name, jobs) in limited {
        let files = jobs.iter().flat_map(|&id| std::fs::read_dir(service.folder(id)));
        let bytes_of = |file: std::io::Result<std::fs::DirEntry>| {
            let file = file.ok()?;
            Some(file_bytes(&file.file_name().to_string_lossy(), file.metadata().ok()?.len()))
        };
        let bytes = files.flatten().filter_map(bytes_of).sum();
        let mut state = service.lock();
        // Jobs that arrived meanwhile were counted on arrival.
        let same = jobs_of(&state, &name) == jobs;
        if let Some(account) = state.accounts.get_mut(&name).filter(|_| same) {
            account.bytes = bytes;
        }
    }
}

/// Removes the files of jobs that ended at least `keep` ago. Their results stay.
fn remove_old_files(service: &Service, keep: Duration) {
    let (at, mut removed) = (now() - keep.as_secs_f64(), 0);
    for id in numbers(&service.settings.data) {
        // What cannot be read or removed now may be later.
        if removed < SWEPT && service.lock().store.ended_by(id, at).unwrap_or(false) {
            removed += usize::from(std::fs::remove_dir_all(service.folder(id)).is_ok());
        }
    }
}
