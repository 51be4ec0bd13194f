//! [`Cluster`]: the processes that search together.

use crate::failure::Failure;
use crate::run::{POLL, warn};
use pleach::{Processes, RunError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longer times overflow some clocks.
const YEAR: Duration = Duration::from_secs(1 << 25);

/// The processes that search together: the first one, which listens, and those that join it.
#[pyclass(frozen, module = "pleach._pleach")]
pub struct Cluster {
    processes: Mutex<Option<Arc<Processes>>>,
    address: Option<String>,
    /// The process that opened it.
    process: u32,
}

/// Runs a function on a thread of its own, and waits for it, or for a signal.
fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    run: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, result) = channel();
    // If nobody waits any more, nobody needs the result.
    let run = move || drop(done.send(run()));
    let thread = std::thread::Builder::new().name("pleach".into()).spawn(run);
    thread.map_err(|why| PyRuntimeError::new_err(format!("cannot start a thread: {why}")))?;
    let result = Mutex::new(result);
    loop {
        let wait = || result.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(POLL);
        match py.detach(wait) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("a thread ended without a result"));
            }
        }
    }
}

fn failed(py: Python<'_>, why: RunError) -> PyErr {
    Failure::from(why).raised(py)
}

impl Cluster {
    fn of(processes: Processes) -> Self {
        let address = processes.address().map(|address| address.to_string());
        let processes = Mutex::new(Some(Arc::new(processes)));
        Self { processes, address, process: std::process::id() }
    }

    /// Whether this process opened it. A forked one has none of its threads, and must not speak in its name.
    fn is_own(&self) -> bool {
        self.process == std::process::id()
    }

    /// The processes for a search, unless this one has left them or another search is under way.
    pub fn for_search(&self) -> PyResult<Arc<Processes>> {
        let processes = self.processes()?;
        // This one, and that of the cluster.
        if Arc::strong_count(&processes) > 2 {
            let why = "cluster: a search is under way, expected one search at a time";
            return Err(PyValueError::new_err(why));
        }
        Ok(processes)
    }

    /// The processes, unless this one has left them.
    fn processes(&self) -> PyResult<Arc<Processes>> {
        if !self.is_own() {
            let why = "cluster: opened before this process was forked, expected one of its own";
            return Err(PyValueError::new_err(why));
        }
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes
            .clone()
            .ok_or_else(|| PyValueError::new_err("cluster: closed, expected an open cluster"))
    }
}

#[pymethods]
impl Cluster {
    /// Opens an address at which others join; the key file is created if missing.
    #[staticmethod]
    fn listen(py: Python<'_>, address: String, key: PathBuf) -> PyResult<Self> {
        let processes = py.detach(|| Processes::listen(address, key));
        processes.map(Self::of).map_err(|why| failed(py, why))
    }

    /// Joins the process that listens on an address, and waits until a search begins there, each for at most `patience`
    /// seconds.
    #[staticmethod]
    fn join(py: Python<'_>, address: String, key: PathBuf, patience: f64) -> PyResult<Self> {
        let patience = Duration::try_from_secs_f64(patience).unwrap_or(Duration::MAX).min(YEAR);
        let joined = interruptible(py, move || Processes::join_for(address, key, patience))?;
        joined.map(Self::of).map_err(|why| failed(py, why))
    }

    /// The address at which others join, if this process listens.
    #[getter]
    fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    /// Waits for the next search, and returns what the first process says about it; `None` when no other follows.
    fn next(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let processes = self.processes()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        // One call, since it may have to reach the first process again.
        let wait = move || processes.next_search(|| !stopped.load(Ordering::Relaxed));
        let next = interruptible(py, wait);
        // After Ctrl-C, nobody waits for that thread.
        stop.store(true, Ordering::Relaxed);
        next?.map_err(|why| failed(py, why))
    }

    /// Waits until this number of other processes have joined, for at most `timeout` seconds; returns whether they
    /// have. Warns of processes that cannot join.
    #[pyo3(signature = (others, timeout=None))]
    fn wait_for(&self, py: Python<'_>, others: usize, timeout: Option<f64>) -> PyResult<bool> {
        let processes = self.processes()?;
        let timeout = timeout.map(|t| Duration::try_from_secs_f64(t).unwrap_or(Duration::MAX));
        let since = Instant::now();
        loop {
            let (begun, mut notes) = (Instant::now(), Vec::new());
            let note = |line| notes.push(line);
            let there = py.detach(|| processes.wait_for(others, note, || begun.elapsed() < POLL));
            warn(py, notes)?;
            let there = there.map_err(|why| failed(py, why))?;
            if there || timeout.is_some_and(|timeout| since.elapsed() >= timeout) {
                return Ok(there);
            }
            py.check_signals()?;
        }
    }

    /// Leaves the others in the middle of a search, or ends their wait for further searches.
    #[pyo3(signature = (leaves=false))]
    fn close(&self, py: Python<'_>, leaves: bool) -> PyResult<()> {
        if !self.is_own() {
            return Ok(());
        }
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(processes) = processes else { return Ok(()) };
        interruptible(py, move || {
            if leaves {
                // It leaves nevertheless.
                let _ = processes.sign_off();
            }
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let processes = self.processes.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if !self.is_own() {
            return std::mem::forget(processes);
        }
        // Others may have to answer first, and this thread has the interpreter.
        Python::attach(|py| py.detach(|| drop(processes)));
    }
}
