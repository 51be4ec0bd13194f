//! [`Service`]: what a service knows, behind one lock, and how it changes.

use super::caller::Caller;
use super::folder::{IncomingFiles, LOG};
use super::job::{Job, Root, StopReason};
use super::refusal::Refused;
use super::settings::{Settings, with_port};
use super::share::decayed;
use super::store::{AccountRow, Store, StoreError};
use crate::api::{CommandKind, JobState, JobView, Role, Update, UserChange, UserLimits, UserView};
use crate::credentials::{new_token, sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::process::ChildStdin;
use tokio::sync::{Notify, watch};

/// How often the root of a job may crash, and how many joiners may crash on the job, before it is set aside.
pub(super) const CRASHES: u32 = 3;
/// How long a root must run, or joiners must not crash, for earlier crashes to be forgotten.
pub(super) const STEADY: Duration = Duration::from_secs(600);

/// A service.
pub struct Service {
    /// How it works.
    pub settings: Settings,
    /// Where it listens.
    listens: SocketAddr,
    state: Mutex<State>,
    /// Counts changes that users or joiners may be waiting for.
    changed: watch::Sender<u64>,
    /// Asks for a new plan.
    pub(super) wake: Notify,
}

/// What changes.
pub(super) struct State {
    pub store: Store,
    /// The jobs that are not over.
    pub jobs: BTreeMap<u64, Job>,
    pub accounts: BTreeMap<String, Account>,
    pub joiners: BTreeMap<String, Joiner>,
    /// The joiners that have left, and when.
    pub left: BTreeMap<String, Instant>,
    /// Jobs whose stored row is out of date.
    pub unsaved: BTreeSet<u64>,
    /// Jobs that are over and not yet stored.
    pub unstored: BTreeMap<u64, FinishedJob>,
    /// The last jobs that are over, newest last.
    pub ended: Vec<JobView>,
    /// Whether the service is ending.
    pub closing: bool,
    /// Whether the database could not be written the last time.
    pub failing: bool,
}

/// A job that is over, and its result if it has one.
pub(super) struct FinishedJob {
    pub job: Job,
    pub result: Option<Vec<u8>>,
}

/// An account.
pub(super) struct Account {
    pub row: AccountRow,
    /// Its threads now.
    pub workers: u32,
    /// The bytes of its jobs' files.
    pub bytes: u64,
}

/// A joiner.
pub(super) struct Joiner {
    pub threads: u32,
    pub only_for: Option<String>,
    /// The job that the plan gives it.
    pub job: Option<u64>,
    pub since: f64,
    /// The number of its requests that wait for an answer.
    pub waiting: u32,
    /// When the last one was answered or cut off.
    pub heard: Instant,
    /// Since when it has had no job.
    pub idle_since: Option<Instant>,
    /// Whether it should end.
    pub dismissed: bool,
    /// How often it crashed on a job, and when it last did.
    pub crashes: BTreeMap<u64, (u32, Instant)>,
}

/// The number of ended jobs that lists show.
pub(super) const SHOWN: usize = 200;

/// A number of threads.
pub(super) fn threads(number: u32) -> String {
    if number == 1 { "1 thread".into() } else { format!("{number} threads") }
}

/// Seconds since 1970.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

impl Service {
    /// Opens the folder of a service; jobs that an earlier one was running are waiting again.
    pub(super) fn open(settings: Settings, listens: SocketAddr) -> Result<Self, StoreError> {
        let store = Store::open(&settings.data.join("service.sqlite"))?;
        IncomingFiles::clear(&settings.data);
        store.end_all_over(now())?;
        let half_life = settings.half_life.as_secs_f64();
        let accounts = store.accounts()?.into_iter().map(|mut row| {
            let away = (now() - row.usage_at).max(0.0);
            (row.usage, row.usage_at) = (decayed(row.usage, 0.0, away, half_life), now());
            (row.name.clone(), Account { row, workers: 0, bytes: 0 })
        });
        let accounts = accounts.collect();
        let jobs = store.open_jobs()?.into_iter().map(|(mut view, failures)| {
            if view.state == JobState::Running {
                view.state = JobState::Waiting;
            }
            // A command that this program refuses will say so when it runs.
            let folder = settings.job_folder(view.id);
            let contents = |name: &str| std::fs::read(folder.join(name)).ok();
            let kind = (settings.check)(&view.args, &contents).unwrap_or(CommandKind::Search);
            let (id, mut job) = (view.id, Job::new(view, kind));
            job.failures = failures;
            job.history = store.search_history(id)?.unwrap_or_default().history;
            Ok((id, job))
        });
        let jobs = jobs.collect::<Result<_, StoreError>>()?;
        let mut ended: Vec<JobView> = store.ended_jobs(SHOWN)?;
        ended.reverse();
        let state = State {
            store,
            jobs,
            accounts,
            joiners: BTreeMap::new(),
            left: BTreeMap::new(),
            unsaved: BTreeSet::new(),
            unstored: BTreeMap::new(),
            ended,
            closing: false,
            failing: false,
        };
        let (changed, _) = watch::channel(0);
        let (state, wake) = (Mutex::new(state), Notify::new());
        Ok(Self { settings, listens, state, changed, wake })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address that users and joiners type.
    pub(super) fn address(&self) -> String {
        with_port(&self.settings.address, self.listens.port())
    }

    /// Wakes all that wait for changes.
    pub(super) fn announce(&self) {
        self.changed.send_modify(|changes| *changes += 1);
    }

    /// Follows changes.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The folder of a job.
    pub(super) fn folder(&self, id: u64) -> PathBuf {
        self.settings.job_folder(id)
    }

    /// Writes an event to the audit log.
    pub(super) fn audit(&self, who: &str, what: &str) {
        (self.settings.note)(&format!("{who}: {what}"));
        // A full disk must not stop the service.
        let _ = self.lock().store.audit(now(), who, what);
    }

    /// Creates or changes an account. Returns the token if it is a new one.
    pub(super) fn set_account(
        &self,
        who: &str,
        name: &str,
        change: &UserChange,
        renew: bool,
    ) -> Result<Option<String>, Refused> {
        let mut state = self.lock();
        let broken = |why: StoreError| Refused(500, why.to_string());
        let known = state.accounts.get(name).map(|account| account.row.clone());
        if known.is_none() && name == "none" {
            // As in `--only-for none`.
            let why = "'none' cannot be a user: the word stands for all users";
            return Err(Refused(400, why.into()));
        }
        if known.is_none() && state.store.has_jobs(name).map_err(broken)? {
            let why = format!("jobs of an earlier '{name}' are stored: choose another name");
            return Err(Refused(409, why));
        }
        let role = change.role.or(known.as_ref().map(|row| row.role));
        if known.as_ref().is_some_and(|row| Some(row.role) != role) {
            if name == who {
                return Err(Refused(409, "you cannot change your own role".into()));
            }
            if state.jobs.values().any(|job| job.view.user == name) {
                return Err(Refused(
                    409,
                    format!("{name} has unfinished jobs, so its role cannot change"),
                ));
            }
        }
        let token = if known.is_none() || renew {
            Some(new_token().map_err(|why| Refused(500, why))?)
        } else {
            None
        };
        let before = known.as_ref().map(|row| (row.role, row.token));
        let mut row = known.unwrap_or_else(|| AccountRow {
            name: name.into(),
            role: Role::User,
            token: [0; 32],
            weight: 1.0,
            limits: UserLimits::default(),
            only_for: None,
            usage: 0.0,
            usage_at: now(),
        });
        if let Some(token) = &token {
            row.token = sha256(token.as_bytes());
        }
        row.role = role.unwrap_or(row.role);
        row.weight = change.weight.unwrap_or(row.weight);
        if let Some(limits) = &change.limits {
            row.limits.clone_from(limits);
        }
        if let Some(user) = &change.only_for {
            row.only_for = Some(user.clone()).filter(|user| !user.is_empty());
        }
        state.store.save_account(&row).map_err(broken)?;
        let (workers, bytes) =
            state.accounts.get(name).map_or((0, 0), |account| (account.workers, account.bytes));
        let what = format!("set {} {name}, weight {}", row.role.word(), row.weight);
        let admitted = before == Some((row.role, row.token));
        state.accounts.insert(name.into(), Account { row, workers, bytes });
        state.update_joiners(name, admitted);
        drop(state);
        self.audit(who, &what);
        self.wake.notify_one();
        self.announce();
        Ok(token)
    }

    /// Whether a first account is needed: it still has its role, or nobody has.
    pub(super) fn needs(&self, name: &str, role: Role) -> bool {
        let accounts = &self.lock().accounts;
        match accounts.get(name) {
            Some(own) => own.row.role == role,
            None => accounts.values().all(|it| it.row.role != role),
        }
    }

    /// Removes an account that has no jobs.
    pub(super) fn remove_account(&self, who: &str, name: &str) -> Result<(), Refused> {
        let mut state = self.lock();
        if name == who {
            return Err(Refused(409, "you cannot remove yourself".into()));
        }
        let open = state.jobs.values().filter(|job| job.view.user == name).count();
        if open > 0 {
            return Err(Refused(409, format!("{name} has unfinished jobs: {open}")));
        }
        if !state.accounts.contains_key(name) {
            return Err(Refused(404, format!("there is no user '{name}'")));
        }
        state.store.remove_account(name).map_err(|why| Refused(500, why.to_string()))?;
        state.accounts.remove(name);
        state.update_joiners(name, false);
        drop(state);
        self.audit(who, &format!("removed {name}"));
        self.wake.notify_one();
        self.announce();
        Ok(())
    }

    /// Asks all roots to stop, and waits until they have.
    pub(super) async fn close(&self) {
        let mut changes = self.changes();
        {
            let mut state = self.lock();
            state.closing = true;
            for job in state.jobs.values_mut() {
                // What users asked for still holds.
                if job.root.as_ref().is_some_and(|root| root.stop.is_none()) {
                    job.stop(StopReason::End);
                }
            }
        }
        self.announce();
        loop {
            if self.lock().jobs.values().all(|job| job.root.is_none()) {
                break;
            }
            if changes.changed().await.is_err() {
                break;
            }
        }
        let mut state = self.lock();
        self.flush(&mut state);
        // At most ten seconds of usage are lost if they cannot be stored.
        let _ = state.store_usage();
    }

    /// Calls `act` with a job and its root if it is still this one.
    fn with_root<T>(
        &self,
        id: u64,
        run: u64,
        act: impl FnOnce(&mut Job, &mut Root) -> T,
    ) -> Option<T> {
        let mut state = self.lock();
        let job = state.jobs.get_mut(&id)?;
        let mut root = job.root.take_if(|root| root.run == run)?;
        let done = act(job, &mut root);
        job.root = Some(root);
        Some(done)
    }

    /// The process of a root has started.
    pub(super) fn root_began(&self, id: u64, run: u64, input: Option<ChildStdin>) {
        // It may have been asked to stop before it started.
        self.with_root(id, run, |_, root| root.input = input.filter(|_| root.stop.is_none()));
    }

    /// Joiners can reach a root.
    pub(super) fn root_listens(&self, id: u64, run: u64, port: u16, key: String) {
        self.with_root(id, run, |_, root| (root.port, root.key) = (Some(port), key));
        self.wake.notify_one();
    }

    /// A root resumes a search. Returns its state.
    pub(super) fn root_resumes(&self, id: u64, run: u64) -> Option<Update> {
        self.with_root(id, run, |job, root| {
            root.resumes = true;
            job.view.search.clone()
        })?
    }

    /// A root reported its state.
    pub(super) fn root_reported(&self, id: u64, run: u64, update: Update) {
        self.with_root(id, run, |job, root| {
            root.workers = Some(update.workers);
            job.update(update, now());
        });
    }

    /// An earlier root left this state.
    pub(super) fn root_left(&self, id: u64, run: u64, last: Update) {
        self.with_root(id, run, |job, _| job.update_last(last, now()));
    }

    /// Why a root was asked to stop, if it was.
    pub(super) fn stop_now(&self, id: u64, run: u64) -> Option<StopReason> {
        self.with_root(id, run, |_, root| root.stop)?
    }

    /// Waits until a root is asked to stop.
    pub(super) async fn stop_of(&self, id: u64, run: u64) -> StopReason {
        let mut changes = self.changes();
        loop {
            if let Some(stop) = self.stop_now(id, run) {
                return stop;
            }
            if changes.changed().await.is_err() {
                return StopReason::End;
            }
        }
    }

    /// Removes a job that is over from those that are not. It is stored with the next changes, together with others.
    pub(super) fn retire(&self, state: &mut State, id: u64, result: Option<Vec<u8>>) {
        let Some(mut job) = state.jobs.remove(&id) else { return };
        let view = &mut job.view;
        view.ended = Some(now());
        // It no longer has threads.
        (view.workers, view.joiners, view.more_in_s) = (0, 0, None);
        view.why.clear();
        state.unsaved.remove(&id);
        state.ended.push(view.clone());
        if state.ended.len() > 2 * SHOWN {
            state.ended.drain(..SHOWN);
        }
        state.unstored.insert(id, FinishedJob { job, result });
    }

    /// What a root said, as far as it is kept.
    pub(super) fn log_of(&self, id: u64) -> String {
        std::fs::read(self.folder(id).join(LOG))
            .map_or_else(|_| String::new(), |text| String::from_utf8_lossy(&text).into_owned())
    }
}

impl State {
    /// The account of a caller, unless its role or token has changed since the caller was identified.
    pub fn account_of(&self, caller: &Caller) -> Option<&Account> {
        let account = self.accounts.get(&caller.name)?;
        ((account.row.role, account.row.token) == (caller.role, caller.token)).then_some(account)
    }

    /// The number of running searches that could use more threads, and may.
    pub fn wanting(&self) -> usize {
        let may = |job: &Job| {
            self.accounts.get(&job.view.user).is_some_and(|account| {
                account.row.limits.workers.is_none_or(|most| account.workers < most)
            })
        };
        let runs = |job: &Job| job.root.as_ref().is_some_and(|root| root.port.is_some());
        self.jobs
            .values()
            .filter(|job| job.wants() && runs(job) && !job.is_alone() && !job.is_full() && may(job))
            .count()
    }

    /// Stores what changed, all or nothing. Returns the jobs that are over and stored, and whether they failed.
    pub fn flush(&mut self) -> Vec<(u64, bool)> {
        if self.unsaved.is_empty() && self.unstored.is_empty() {
            return Vec::new();
        }
        let saved = self.store.together(|store| {
            for job in self.unsaved.iter().filter_map(|id| self.jobs.get(id)) {
                store.save_job(&job.view, job.failures)?;
                if job.root.is_none() && !job.history.is_empty() {
                    job.save_history(store)?;
                }
            }
            self.unstored.values().try_for_each(|FinishedJob { job, result }| {
                store.save_job(&job.view, job.failures)?;
                job.save_history(store)?;
                result.as_ref().map_or(Ok(()), |result| store.save_result(job.view.id, result))
            })
        });
        self.failing = saved.is_err();
        if saved.is_err() {
            // They are tried again.
            return Vec::new();
        }
        self.unsaved.clear();
        let over = std::mem::take(&mut self.unstored).into_iter();
        over.map(|(id, ended)| (id, ended.job.view.state == JobState::Failed)).collect()
    }

    /// Stores what users and running jobs have used.
    pub fn store_usage(&self) -> Result<(), StoreError> {
        self.store.together(|store| {
            self.accounts.values().try_for_each(|account| store.save_account(&account.row))?;
            self.jobs.values().filter(|job| job.root.is_some()).try_for_each(|job| {
                store.save_job(&job.view, job.failures)?;
                job.save_history(store)
            })
        })
    }

    /// Brings the usage of all users up to date.
    pub fn use_up(&mut self, seconds: f64, half_life: f64) {
        for account in self.accounts.values_mut() {
            let row = &mut account.row;
            row.usage = decayed(row.usage, account.workers.into(), seconds, half_life);
            row.usage_at += seconds;
        }
    }

    /// An account as users see it.
    pub fn user_view(account: &Account) -> UserView {
        let Account { row, workers, .. } = account;
        UserView {
            name: row.name.clone(),
            role: row.role,
            weight: row.weight,
            limits: row.limits.clone(),
            usage: row.usage,
            workers: *workers,
            only_for: row.only_for.clone(),
        }
    }
}
