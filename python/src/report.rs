//! What a search knows while it runs and when it has ended, as dictionaries for Python.

use pleach::{ProgressSnapshot, Report, Stop};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// What is known about a search while it runs.
#[derive(Clone, Debug, Default)]
pub struct News {
    pub seconds: f64,
    pub nodes: u64,
    pub best: Option<i64>,
    pub bound: Option<i64>,
    pub solution: Option<Vec<i64>>,
}

impl News {
    /// The news in a snapshot.
    pub fn of(snapshot: &ProgressSnapshot) -> Self {
        Self {
            seconds: snapshot.seconds,
            nodes: snapshot.counts.bounded,
            best: snapshot.best,
            bound: snapshot.bound,
            solution: snapshot.solution.as_ref().map(|best| best.solution.clone()),
        }
    }
}

/// A search that has ended.
pub struct Finished {
    pub report: Report,
    /// When each operation of a schedule ends, by place in the order and by machine.
    pub ends: Option<Vec<Vec<u32>>>,
    /// Why the search was asked to stop, if it was.
    pub reason: Option<&'static str>,
    pub history: Vec<News>,
}

impl From<Report> for Finished {
    fn from(report: Report) -> Self {
        Self { report, ends: None, reason: None, history: Vec::new() }
    }
}

/// News as a dictionary.
pub fn news<'py>(py: Python<'py>, news: &News) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("seconds", news.seconds)?;
    dict.set_item("nodes", news.nodes)?;
    dict.set_item("best", news.best)?;
    dict.set_item("bound", news.bound)?;
    dict.set_item("solution", news.solution.as_ref())?;
    Ok(dict)
}

/// The result of a search as a dictionary.
pub fn finished<'py>(py: Python<'py>, end: &Finished) -> PyResult<Bound<'py, PyDict>> {
    let Finished { report, ends, reason, history } = end;
    let outcome = &report.outcome;
    let reason = reason.filter(|_| outcome.stop == Some(Stop::Asked));
    let stopped_by = report.stopped_by().map(|word| reason.unwrap_or(word));
    let dict = PyDict::new(py);
    dict.set_item("status", report.status.word())?;
    dict.set_item("stopped_by", stopped_by)?;
    dict.set_item("value", report.objective)?;
    dict.set_item("bound", report.lower_bound)?;
    dict.set_item("gap", report.gap())?;
    dict.set_item("solution", report.solution.as_ref())?;
    dict.set_item("count", report.count)?;
    dict.set_item("optima", report.optima)?;
    dict.set_item("tally", outcome.counts.tally.as_slice())?;
    dict.set_item("nodes", outcome.counts.bounded)?;
    dict.set_item("branched", outcome.counts.branched)?;
    dict.set_item("depth", outcome.counts.depth)?;
    dict.set_item("seconds", outcome.seconds)?;
    // Without workers, it ended before a thread began.
    dict.set_item("threads", outcome.workers.len().max(1))?;
    dict.set_item("ends", ends.as_ref())?;
    let moments = history.iter().map(|it| (it.seconds, it.nodes, it.best, it.bound));
    dict.set_item("history", PyList::new(py, moments.collect::<Vec<_>>())?)?;
    Ok(dict)
}
