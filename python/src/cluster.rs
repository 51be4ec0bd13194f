//! [`Cluster`]: the processes that search together.

use crate::run::{Failure, POLL};
use pleach::{Processes, RunError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a process that leaves waits for the first one to notice.
const FAREWELL: Duration = Duration::from_secs(2);

/// The processes that search together: the first one, which listens, and those that join it.
#[pyclass(frozen, module = "pleach._pleach")]
pub struct Cluster {
    processes: Mutex<Option<Arc<Processes>>>,
    address: Option<String>,
}

/// Runs a function on a thread of its own, and waits for it with an ear for signals.
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
        Self { processes: Mutex::new(Some(Arc::new(processes))), address }
    }

    /// The processes, unless this one has left them.
    pub fn processes(&self) -> PyResult<Arc<Processes>> {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes
            .clone()
            .ok_or_else(|| PyValueError::new_err("cluster: closed, expected an open one"))
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

    /// Joins the process that listens at an address.
    #[staticmethod]
    fn join(py: Python<'_>, address: String, key: PathBuf) -> PyResult<Self> {
        let processes = interruptible(py, move || Processes::join(address, key))?;
        processes.map(Self::of).map_err(|why| failed(py, why))
    }

    /// The address at which others join, if this process listens.
    #[getter]
    fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    /// Waits for the next search, and returns what the first process says about it; `None` once nothing follows.
    fn next(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let processes = self.processes()?;
        loop {
            let begun = Instant::now();
            let next = py.detach(|| processes.next_search(|| begun.elapsed() < POLL));
            let next = next.map_err(|why| failed(py, why))?;
            if next.is_some() || processes.is_over() {
                return Ok(next);
            }
            py.check_signals()?;
        }
    }

    /// Waits until this number of other processes have joined, for at most `timeout` seconds; returns whether they have.
    #[pyo3(signature = (others, timeout=None))]
    fn wait_for(&self, py: Python<'_>, others: usize, timeout: Option<f64>) -> PyResult<bool> {
        let processes = self.processes()?;
        let timeout = timeout.map(|t| Duration::try_from_secs_f64(t).unwrap_or(Duration::MAX));
        let since = Instant::now();
        loop {
            let begun = Instant::now();
            let there = py.detach(|| processes.wait_for(others, || begun.elapsed() < POLL));
            let there = there.map_err(|why| failed(py, why))?;
            if there || timeout.is_some_and(|timeout| since.elapsed() >= timeout) {
                return Ok(there);
            }
            py.check_signals()?;
        }
    }

    /// Leaves the others in the middle of a search, or ends their wait for further searches.
    #[pyo3(signature = (leaves=false))]
    fn close(&self, py: Python<'_>, leaves: bool) {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(move || {
            let begun = Instant::now();
            if let Some(processes) = processes.as_ref().filter(|_| leaves) {
                // Until the first process has noticed, messages on their way to it must not be lost.
                let _ = processes.next_search(|| begun.elapsed() < FAREWELL);
            }
            drop(processes);
        });
    }
}
