//! [`Search`]: a search on threads of its own, which Python waits for, watches and stops.

use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::report::{Finished, News, finished, news};
use pleach::{Cancel, Checkpoint, Pause, Processes, ProgressSnapshot, Settings};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyRuntimeWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};
use std::ffi::CString;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// How often a thread that waits checks for signals.
pub const POLL: Duration = Duration::from_millis(20);
/// The maximum number of moments that a history keeps, an even number.
const MOMENTS: usize = 2048;

/// When to stop, on how many threads to search, and where to save.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Limits {
    threads: u32,
    seed: u64,
    time_limit: Option<f64>,
    node_limit: Option<u64>,
    memory: Option<u64>,
    best_first: bool,
    gap: Option<f64>,
    no_improvement: Option<f64>,
    checkpoint: Option<PathBuf>,
    every: Option<f64>,
    cluster: Option<Py<Cluster>>,
    /// What the processes of the cluster say about the search.
    about: Option<String>,
}

impl Limits {
    /// Whether the search is saved, or shared with other processes.
    pub fn leaves_process(&self) -> bool {
        self.checkpoint.is_some() || self.cluster.is_some()
    }
}

/// What the thread of a search shares with those that wait for it.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    cancel: Cancel,
    pause: Pause,
}

#[derive(Default)]
struct State {
    /// The latest news, and how many there were.
    news: News,
    version: u64,
    /// Warnings that nobody has seen yet.
    warnings: Vec<String>,
    /// Why the search was asked to stop.
    reason: Option<&'static str>,
    end: Option<Arc<Result<Finished, Failure>>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, reason: &'static str) {
        self.state().reason.get_or_insert(reason);
        self.cancel.cancel();
    }

    /// Waits until there is something new, but at most this long.
    fn wait(&self, version: u64, at_most: Duration) {
        let same = |state: &mut State| state.end.is_none() && state.version == version;
        drop(self.changed.wait_timeout_while(self.state(), at_most, same));
    }

    fn finish(&self, end: Result<Finished, Failure>) {
        let mut state = self.state();
        let reason = state.reason;
        state.end = Some(Arc::new(end.map(|end| Finished { reason, ..end })));
        drop(state);
        self.changed.notify_all();
    }
}

/// What the progress of a search is compared with, on its own thread.
struct Criteria {
    shared: Arc<Shared>,
    gap: Option<f64>,
    no_improvement: Option<Duration>,
    best: Option<i64>,
    improved: Instant,
    history: Arc<Mutex<Vec<News>>>,
    /// Every how many snapshots one is kept, and how many there were.
    every: usize,
    seen: usize,
}

impl Criteria {
    fn watch(&mut self, snapshot: &ProgressSnapshot) -> ControlFlow<()> {
        if let Some(warning) = &snapshot.warning {
            self.shared.state().warnings.push(warning.clone());
            return ControlFlow::Continue(());
        }
        let latest = News::of(snapshot);
        if latest.best != self.best || self.shared.pause.is_paused() {
            (self.best, self.improved) = (latest.best, Instant::now());
        }
        self.note(&latest);
        let reason = if snapshot.gap().zip(self.gap).is_some_and(|(gap, enough)| gap <= enough) {
            Some("gap")
        } else {
            let waited = |limit| self.improved.elapsed() >= limit;
            (self.best.is_some() && self.no_improvement.is_some_and(waited))
                .then_some("no-improvement")
        };
        let mut state = self.shared.state();
        (state.news, state.version) = (latest, state.version + 1);
        if let Some(reason) = reason {
            state.reason.get_or_insert(reason);
        }
        drop(state);
        self.shared.changed.notify_all();
        reason.map_or(ControlFlow::Continue(()), |_| ControlFlow::Break(()))
    }

    fn note(&mut self, latest: &News) {
        self.seen += 1;
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        if history.len() == MOMENTS {
            let mut odd = false;
            history.retain(|_| {
                odd = !odd;
                odd
            });
            self.every *= 2;
        }
        if self.seen.is_multiple_of(self.every) {
            history.push(News { solution: None, ..latest.clone() });
        }
    }
}

/// A search on threads of its own. It is cancelled when nothing refers to it any more.
#[pyclass(frozen, module = "pleach._pleach")]
pub struct Search {
    shared: Arc<Shared>,
    /// The process in which its threads run.
    process: u32,
}

impl Search {
    /// Starts a search.
    pub fn start(
        mut limits: Limits,
        job: impl FnOnce(pleach::Search<'static>) -> Result<Finished, Failure> + Send + 'static,
    ) -> PyResult<Self> {
        let shared = Arc::new(Shared::default());
        let here = shared.clone();
        // Here, the thread still has the interpreter.
        let cluster = limits.cluster.take();
        let processes = cluster.map(|cluster| cluster.get().for_search()).transpose()?;
        let run = move || {
            let end = catch_unwind(AssertUnwindSafe(|| search(&here, &limits, processes, job)));
            here.finish(end.unwrap_or_else(|panic| Err(Failure::of_panic(panic))));
        };
        let thread = std::thread::Builder::new().name("pleach".into()).spawn(run);
        thread.map_err(|why| PyRuntimeError::new_err(format!("cannot start a thread: {why}")))?;
        Ok(Self { shared, process: std::process::id() })
    }

    /// Whether its threads run in this process. A forked process has none of them, and they may have had a lock.
    fn runs_here(&self) -> bool {
        self.process == std::process::id()
    }

    /// Its state, except in a forked process if one of the threads had its lock.
    fn state(&self) -> Option<MutexGuard<'_, State>> {
        if self.runs_here() {
            return Some(self.shared.state());
        }
        match self.shared.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Runs a search on the calling thread.
fn search(
    shared: &Arc<Shared>,
    limits: &Limits,
    processes: Option<Arc<Processes>>,
    job: impl FnOnce(pleach::Search<'static>) -> Result<Finished, Failure>,
) -> Result<Finished, Failure> {
    let seconds = |limit: Option<f64>| {
        limit.map(|limit| Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX))
    };
    let history = Arc::new(Mutex::new(Vec::new()));
    let mut criteria = Criteria {
        shared: shared.clone(),
        gap: limits.gap,
        no_improvement: seconds(limits.no_improvement),
        best: None,
        improved: Instant::now(),
        history: history.clone(),
        every: 1,
        seen: 0,
    };
    let settings = Settings {
        threads: limits.threads,
        seed: limits.seed,
        // A year: later times overflow some clocks.
        time_limit: seconds(limits.time_limit).map(|limit| limit.min(Duration::from_secs(1 << 25))),
        node_limit: limits.node_limit,
        memory: limits.memory,
        best_first: limits.best_first,
        cancel: shared.cancel.clone(),
        pause: shared.pause.clone(),
        ..Settings::default()
    };
    let checkpoint = limits.checkpoint.clone().map(|path| {
        let every = seconds(limits.every).unwrap_or(Checkpoint::EVERY);
        let mut checkpoint = Checkpoint::new(path);
        checkpoint.every = every;
        checkpoint
    });
    let mut search = pleach::Search {
        settings,
        checkpoint,
        progress: Some(Box::new(move |snapshot| criteria.watch(snapshot))),
        ..pleach::Search::default()
    };
    if let Some(processes) = &processes {
        search.share(processes, limits.about.clone().unwrap_or_default());
    }
    let finished = job(search)?;
    let history = std::mem::take(&mut *history.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Finished { history, ..finished })
}

#[pymethods]
impl Search {
    /// Waits for the result, for at most `timeout` seconds, and calls back from this thread.
    #[pyo3(signature = (timeout=None, on_improvement=None, on_progress=None))]
    fn wait(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
        on_improvement: Option<Bound<'_, PyAny>>,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Option<Py<PyDict>>> {
        if !self.runs_here() && !self.done() {
            let why = "the search runs in the process that this one was forked from";
            return Err(PyRuntimeError::new_err(why));
        }
        let timeout = timeout.map(|t| Duration::try_from_secs_f64(t).unwrap_or(Duration::MAX));
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut calls = Calls { on_improvement, on_progress, version: 0, solution: None };
        let (mut interrupted, mut failed) = (false, None);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let at_most = left.map_or(POLL, |left| left.min(POLL));
            let version = calls.version;
            py.detach(|| self.shared.wait(version, at_most));
            let (news, version, end, warnings) = {
                let mut state = self.shared.state();
                let warnings = std::mem::take(&mut state.warnings);
                (state.news.clone(), state.version, state.end.clone(), warnings)
            };
            let warned = warn(py, warnings).and_then(|()| py.check_signals());
            let called = warned.and_then(|()| match failed {
                None => calls.call(py, news, version, end.as_deref()),
                Some(_) => Ok(()),
            });
            if let Err(raised) = called {
                if !raised.is_instance_of::<PyKeyboardInterrupt>(py) {
                    self.shared.stop("error");
                    failed.get_or_insert(raised);
                } else if std::mem::replace(&mut interrupted, true) {
                    return Err(raised);
                } else {
                    self.shared.stop("interrupt");
                }
                calls.version = version;
            }
            match (end.as_deref(), failed.take()) {
                (Some(_), Some(raised)) => return Err(raised),
                (Some(Err(failure)), None) => return Err(failure.raised(py)),
                (Some(Ok(end)), None) => return finished(py, end).map(|dict| Some(dict.unbind())),
                (None, raised) => failed = raised,
            }
            // A search that was asked to stop here ends soon.
            let ends = interrupted || failed.is_some();
            if !ends && until.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
        }
    }

    /// Asks the search to stop, if it runs in this process.
    fn cancel(&self) {
        if self.runs_here() {
            self.shared.stop("cancelled");
        }
    }

    /// Pauses the search, or lets it continue.
    fn hold(&self, paused: bool) {
        if paused { self.shared.pause.pause() } else { self.shared.pause.resume() }
    }

    /// Whether the search is paused.
    #[getter]
    fn paused(&self) -> bool {
        self.shared.pause.is_paused() && !self.done()
    }

    /// Whether the search has ended.
    #[getter]
    fn done(&self) -> bool {
        self.state().is_some_and(|state| state.end.is_some())
    }

    /// Shows the garbage collector the exception that ended the search: its traceback has the frames of those who waited,
    /// which refer to the search. No thread waits for the interpreter while it has the lock of the state.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let state = self.state();
        match state.as_ref().and_then(|state| state.end.as_deref()) {
            Some(Err(Failure::Raised(raised))) => visit.call(raised),
            _ => Ok(()),
        }
    }

    /// Gives up that exception, since nothing refers to the search any more.
    fn __clear__(&self) {
        let deleted = Arc::new(Err(Failure::Failed("the search was deleted".into())));
        // Code that runs as the exception is deleted may ask for the state, so its lock is free by then.
        drop(self.state().and_then(|mut state| state.end.replace(deleted)));
    }

    /// What is known so far.
    fn latest(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let latest = self.state().map(|state| match state.end.as_deref() {
            Some(Ok(end)) => End(end).into(),
            _ => state.news.clone(),
        });
        news(py, &latest.unwrap_or_default()).map(Bound::unbind)
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Passes warnings on to Python.
pub fn warn(py: Python<'_>, warnings: Vec<String>) -> PyResult<()> {
    let category = py.get_type::<PyRuntimeWarning>();
    warnings.into_iter().try_for_each(|line| {
        // An option of the command is an argument here.
        let line = CString::new(line.trim_start_matches("--")).unwrap_or_default();
        PyErr::warn(py, &category, &line, 1)
    })
}

/// A finished search as the last news about it.
struct End<'a>(&'a Finished);

impl From<End<'_>> for News {
    fn from(End(end): End<'_>) -> Self {
        let report = &end.report;
        News {
            seconds: report.outcome.seconds,
            nodes: report.outcome.counts.bounded,
            best: report.objective,
            bound: report.lower_bound,
            solution: report.solution.clone(),
        }
    }
}

/// The functions to call, and what they have seen.
struct Calls<'py> {
    on_improvement: Option<Bound<'py, PyAny>>,
    on_progress: Option<Bound<'py, PyAny>>,
    version: u64,
    solution: Option<Vec<i64>>,
}

impl Calls<'_> {
    fn call(
        &mut self,
        py: Python<'_>,
        latest: News,
        version: u64,
        end: Option<&Result<Finished, Failure>>,
    ) -> PyResult<()> {
        let last = end.and_then(|end| end.as_ref().ok()).map(|end| News::from(End(end)));
        let is_new = version > self.version;
        self.version = version;
        let Some(latest) = last.or(is_new.then_some(latest)) else { return Ok(()) };
        if latest.solution.is_some() && latest.solution != self.solution {
            self.solution.clone_from(&latest.solution);
            if let Some(call) = &self.on_improvement {
                call.call1((news(py, &latest)?,))?;
            }
        }
        if let Some(call) = &self.on_progress {
            call.call1((news(py, &latest)?,))?;
        }
        Ok(())
    }
}
