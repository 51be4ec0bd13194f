//! [`Job`]: a job that is not over, as the service knows it.

use super::share::JobShare;
use super::store::{Store, StoreError};
use crate::api::{CommandKind, HistoryPoint, JobState, JobView, SearchHistory, Update};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::process::ChildStdin;

/// The maximum number of moments of a history, an even number.
const MOMENTS: usize = 1000;
/// How long a root runs before it may be stopped for the jobs of others.
const STAYS: Duration = Duration::from_secs(10);
/// How long most workers must be idle before a search gives threads back.
const IDLE: Duration = Duration::from_millis(700);
/// How long a search may take to find work for threads that it was given.
const SETTLE: Duration = Duration::from_millis(1500);

/// Why a root is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A user paused the job.
    Pause,
    /// A user cancelled it.
    Cancel,
    /// Others come first.
    Yield,
    /// It crashed joiners.
    SetAside,
    /// The service ends.
    End,
}

/// The process of a job.
pub struct Root {
    /// Which start of the job it is.
    pub run: u64,
    /// Its standard input; closing it asks the root to stop.
    pub input: Option<ChildStdin>,
    /// The port at which joiners reach it.
    pub port: Option<u16>,
    /// The text of its key file.
    pub key: String,
    /// When it started.
    pub since: Instant,
    /// Whether there was a saved search when it started.
    pub resumes: bool,
    /// The workers of its search, once it has reported.
    pub workers: Option<u32>,
    /// Why it was asked to stop.
    pub stop: Option<StopReason>,
}

/// A job that is not over.
pub struct Job {
    /// The job as users see it.
    pub view: JobView,
    /// Roots that crashed.
    pub failures: u32,
    /// What its command does.
    pub kind: CommandKind,
    /// Its process.
    pub root: Option<Root>,
    /// How often it was started since the service began.
    pub runs: u64,
    /// When it may be started again.
    pub not_before: Option<Instant>,
    /// The joiners that crashed on it, and when each last did.
    pub crashed: BTreeMap<String, Instant>,
    /// Its history.
    pub history: Vec<HistoryPoint>,
    room: Room,
}

/// How many threads a search can use, as far as its own reports show.
struct Room {
    most: u32,
    /// Since when most workers have been idle, or all have been busy.
    idle_since: Option<Instant>,
    busy_since: Option<Instant>,
    /// When it last changed, or threads were added.
    changed: Instant,
    /// How long to wait before more threads are tried.
    wait: Duration,
}

impl Job {
    /// A job that has no process.
    pub fn new(view: JobView, kind: CommandKind) -> Self {
        let room = Room {
            most: u32::MAX,
            idle_since: None,
            busy_since: None,
            changed: Instant::now(),
            wait: Duration::from_secs(1),
        };
        Self {
            view,
            failures: 0,
            kind,
            root: None,
            runs: 0,
            not_before: None,
            crashed: BTreeMap::new(),
            history: Vec::new(),
            room,
        }
    }

    /// Stores the last state of its search and its history.
    pub fn save_history(&self, store: &Store) -> Result<(), StoreError> {
        store.save_history(self.view.id, self.view.search.as_ref(), &self.search_history())
    }

    /// Whether it should be considered when machines are shared out.
    pub fn wants(&self) -> bool {
        match (&self.root, self.view.state) {
            (Some(root), _) => root.stop.is_none(),
            (None, JobState::Waiting | JobState::Running) => {
                self.not_before.is_none_or(|at| at <= Instant::now())
            }
            (None, _) => false,
        }
    }

    /// Whether joiners can take part.
    pub fn is_search(&self) -> bool {
        self.kind == CommandKind::Search
    }

    /// Whether its root works alone so far: it prepares the search, or searches by layers, which a resumed search begins again.
    pub fn is_alone(&self) -> bool {
        self.root.as_ref().is_some_and(|root| root.workers == Some(0))
    }

    /// What fair shares depend on.
    pub fn share(&self) -> JobShare {
        JobShare {
            id: self.view.id,
            user: self.view.user.clone(),
            priority: self.view.priority,
            open: self.root.as_ref().is_some_and(|root| root.port.is_some()) && !self.is_alone(),
            running: self.root.is_some(),
            is_search: self.is_search(),
            // A command that is not a search, or a root that works alone, would lose its work.
            may_stop: self.is_search()
                && !self.is_alone()
                && self.root.as_ref().is_none_or(|root| root.since.elapsed() > STAYS),
            room: self.room.most,
        }
    }

    /// Whether it has all the threads that it can use.
    pub fn is_full(&self) -> bool {
        self.view.workers >= self.room.most
    }

    /// Asks its root to stop.
    pub fn stop(&mut self, why: StopReason) {
        if let Some(root) = &mut self.root {
            // A job that is cancelled or set aside is never run again.
            if !matches!(root.stop, Some(StopReason::Cancel | StopReason::SetAside)) {
                root.stop = Some(why);
            }
            root.input = None;
        }
    }

    /// Takes the last state that a root left, unless it had not begun to continue the search.
    pub fn update_last(&mut self, last: Update, at: f64) {
        let before = self.view.search.as_ref();
        if before.is_none_or(|it| last.nodes >= it.nodes && last.seconds >= it.seconds) {
            self.update(last, at);
        }
    }

    /// Takes a report of its root.
    pub fn update(&mut self, update: Update, at: f64) {
        self.room.learn(update.workers, update.busy);
        let moment = HistoryPoint {
            at,
            best: update.best,
            bound: update.bound,
            busy: update.busy,
            workers: update.workers,
            nodes: update.nodes,
        };
        // The last moment is always there; those before thin out with age. The clock may have been set back.
        let step = |a: &HistoryPoint, b: &HistoryPoint| b.at - a.at;
        if let [.., before, last] = &self.history[..]
            && (0.0..0.5).contains(&step(before, last))
        {
            self.history.pop();
        }
        self.history.push(moment);
        if self.history.len() > MOMENTS {
            let mut at = 0;
            self.history.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
        let warning = update.warning.clone();
        let before = self.view.search.take().and_then(|search| search.warning);
        self.view.search = Some(Update { warning: warning.or(before), ..update });
    }

    /// Notes that its number of threads changed.
    pub fn has_now(&mut self, workers: u32, joiners: u32) {
        if self.view.workers != workers {
            self.room.settle();
        }
        (self.view.workers, self.view.joiners) = (workers, joiners);
    }

    /// The history of its search.
    pub fn search_history(&self) -> SearchHistory {
        let decimals = self.view.search.as_ref().map_or(0, |search| search.decimals);
        SearchHistory { decimals, history: self.history.clone() }
    }
}

impl Room {
    fn settle(&mut self) {
        self.changed = Instant::now();
        (self.idle_since, self.busy_since) = (None, None);
    }

    /// Learns from a report how many workers have work. A search that has nothing to share gives workers back; one
    /// whose workers are all busy gets more, but waits longer each time that more were of no use.
    fn learn(&mut self, workers: u32, busy: u32) {
        let now = Instant::now();
        let idle = workers > 1 && 2 * busy < workers;
        self.idle_since = idle.then(|| self.idle_since.unwrap_or(now));
        let all = busy >= workers;
        self.busy_since = all.then(|| self.busy_since.unwrap_or(now));
        if now - self.changed < SETTLE {
            return;
        }
        if self.idle_since.is_some_and(|since| now - since > IDLE) {
            self.most = busy.max(1);
            self.wait = (2 * self.wait).min(Duration::from_secs(60));
            self.settle();
        } else if self.most < u32::MAX && self.busy_since.is_some_and(|at| now - at > self.wait) {
            self.most = self.most.saturating_mul(2).max(workers.saturating_mul(2));
            if self.most > 1 << 16 {
                (self.most, self.wait) = (u32::MAX, Duration::from_secs(1));
            }
            self.settle();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_that_works_alone_is_not_stopped_for_others() {
        let view = JobView { id: 1, state: JobState::Running, ..JobView::default() };
        let mut job = Job::new(view, CommandKind::Search);
        job.root = Some(Root {
            run: 1,
            input: None,
            port: Some(1),
            key: String::new(),
            since: Instant::now().checked_sub(2 * STAYS).unwrap(),
            resumes: false,
            workers: None,
            stop: None,
        });
        for (workers, shared) in [(None, true), (Some(0), false), (Some(2), true)] {
            job.root.iter_mut().for_each(|root| root.workers = workers);
            let share = job.share();
            assert_eq!((share.open, share.may_stop), (shared, shared), "{workers:?}");
        }
    }

    /// Each moment used to replace the last one until the clock had caught up.
    #[test]
    fn a_history_continues_when_the_clock_is_set_back() {
        let mut job = Job::new(JobView::default(), CommandKind::Search);
        for at in [100.0, 101.0, 50.0, 51.0, 51.1, 52.0] {
            job.update(Update::default(), at);
        }
        let times: Vec<f64> = job.history.iter().map(|moment| moment.at).collect();
        assert_eq!(times, [100.0, 101.0, 50.0, 51.0, 52.0]);
    }

    /// The moment at which there were too many used to be dropped, and the first one with it.
    #[test]
    fn however_long_a_search_is_its_history_has_the_first_and_the_last_moment() {
        let view = JobView { id: 1, state: JobState::Running, ..JobView::default() };
        let mut job = Job::new(view, CommandKind::Search);
        for at in 0..5000 {
            job.update(Update { nodes: at, ..Update::default() }, at as f64);
            let nodes = |moment: Option<&HistoryPoint>| moment.map(|moment| moment.nodes);
            assert_eq!(nodes(job.history.first()), Some(0));
            assert_eq!(nodes(job.history.last()), Some(at));
            assert!(job.history.len() <= MOMENTS);
        }
    }
}
