//! [`Failure`]: why a search has no result, and as which exception Python sees that.

use pleach::{Error, RunError};
use pyo3::exceptions::{PyBaseException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::any::Any;
use std::io::ErrorKind;

/// Why a file cannot be saved to if another one can.
const WRONG_FILE: [ErrorKind; 6] = [
    ErrorKind::AlreadyExists,
    ErrorKind::InvalidInput,
    ErrorKind::IsADirectory,
    ErrorKind::NotADirectory,
    ErrorKind::NotFound,
    ErrorKind::PermissionDenied,
];

pyo3::create_exception!(
    pleach._pleach,
    SearchLost,
    PyRuntimeError,
    "The process that leads has given up the search, or begun another one."
);

pyo3::create_exception!(
    pleach._pleach,
    WrongTree,
    PyValueError,
    "A bound or a solution of the tree is wrong."
);

/// Why a search has no result.
pub enum Failure {
    /// An argument is wrong.
    Value(String),
    /// A bound or a solution of the tree is wrong.
    WrongTree(String),
    /// The machine or the program failed.
    Failed(String),
    /// The first process has given up the search, ended it, or begun another one.
    Lost(String),
    /// Python code raised this exception.
    Raised(Py<PyBaseException>),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Failure::Value(why)
    }
}

impl From<Error> for Failure {
    fn from(why: Error) -> Self {
        match why {
            Error::Run(why) => why.into(),
            Error::Input(why) => Failure::Value(why),
            Error::Resume { .. } => Failure::Value(format!("checkpoint: {why}")),
            why => Failure::Failed(why.to_string()),
        }
    }
}

impl From<RunError> for Failure {
    fn from(why: RunError) -> Self {
        match why {
            RunError::Bound(wrong) => Failure::WrongTree(format!(
                "the bound of the tree is wrong: below a node with the bound {} there is a solution of value {}",
                wrong.bound, wrong.value
            )),
            RunError::Solution(_) => Failure::WrongTree(why.to_string()),
            RunError::Replaced | RunError::MissedEnd | RunError::Site { site: 0, .. } => {
                Failure::Lost(why.to_string())
            }
            RunError::Threads(_) | RunError::BestFirst | RunError::NoValues => {
                Failure::Value(why.to_string())
            }
            RunError::Resume(why) => Failure::Value(format!("checkpoint: {why}")),
            RunError::Save { why: ref cause, .. } if WRONG_FILE.contains(&cause.kind()) => {
                Failure::Value(format!("checkpoint: {why}"))
            }
            why => Failure::Failed(why.to_string()),
        }
    }
}

impl Failure {
    /// What a panic carries: an exception of Python code, or a message.
    pub fn of_panic(panic: Box<dyn Any + Send>) -> Self {
        let panic = match panic.downcast::<PyErr>() {
            Ok(raised) => return Failure::Raised(Python::attach(|py| raised.into_value(py))),
            Err(panic) => panic,
        };
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        Failure::Failed(format!("the search failed: {}", message.unwrap_or("no reason given")))
    }

    pub fn raised(&self, py: Python<'_>) -> PyErr {
        match self {
            Failure::Value(why) => PyValueError::new_err(why.clone()),
            Failure::WrongTree(why) => WrongTree::new_err(why.clone()),
            Failure::Failed(why) => PyRuntimeError::new_err(why.clone()),
            Failure::Lost(why) => SearchLost::new_err(why.clone()),
            Failure::Raised(raised) => PyErr::from_value(raised.bind(py).clone().into_any()),
        }
    }
}
