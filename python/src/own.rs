//! Trees that are Python classes: their nodes are Python objects, and the interpreter expands them.

use crate::failure::Failure;
use crate::report::Finished;
use crate::run::{Limits, Search};
use pleach::{
    Children as Found, Explorer, Goal, Malformed, Pack, Plain, Problem, Progress, Reader, Tree,
    TreeExplorer, Work,
};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes};
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The minimum and the maximum time for which the interpreter is held between two checks of what the engine wants.
const STRETCH: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(2));
/// The maximum number of nodes in a stretch, and between two readings of the clock: slow nodes may follow cheap ones.
const NODES: (u64, u64) = (1 << 16, 16);

/// The maximum number of leaves of a node.
const MOST_LEAVES: u64 = 1 << 40;

/// The maximum number of counters of a tree.
const COUNTERS: usize = 4096;

/// The goal behind a number, which a type can carry.
pub const fn goal(number: u8) -> Goal {
    match number {
        0 => Goal::Minimise,
        1 => Goal::Maximise,
        2 => Goal::Count,
        _ => Goal::Find,
    }
}

/// Leaves the engine with an exception, which the run hands to its caller.
fn raise(raised: PyErr) -> ! {
    resume_unwind(Box::new(raised))
}

/// A node.
struct Node(Py<PyAny>);

impl Clone for Node {
    fn clone(&self) -> Self {
        Python::attach(|py| Node(self.0.clone_ref(py)))
    }
}

/// Nodes are pickled when they move between threads.
impl Pack for Node {
    const LEAST: usize = 1;

    fn pack(&self, out: &mut Vec<u8>) {
        let bytes = Python::attach(|py| -> PyResult<Vec<u8>> {
            py.import("pickle")?.call_method1("dumps", (&self.0, 5))?.extract()
        });
        bytes.unwrap_or_else(|why| raise(why)).pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let bytes = Vec::<u8>::unpack(from)?;
        let node = Python::attach(|py| -> PyResult<Py<PyAny>> {
            let bytes = PyBytes::new(py, &bytes);
            Ok(py.import("pickle")?.call_method1("loads", (bytes,))?.unbind())
        });
        Ok(Node(node.unwrap_or_else(|why| raise(why))))
    }
}

/// A whole number of 64 bits.
#[inline]
fn number(value: &Bound<'_, PyAny>, what: &str) -> PyResult<i64> {
    let wrong = |why: &str| format!("{what}: {}, expected {why}", shown(value));
    if value.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err(wrong("a whole number")));
    }
    value.extract::<i64>().map_err(|why| {
        if why.is_instance_of::<PyOverflowError>(value.py()) {
            PyValueError::new_err(wrong("a number of 64 bits"))
        } else {
            PyTypeError::new_err(wrong("a whole number"))
        }
    })
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "a value".into(), |repr| repr.to_string())
}

/// A number of nodes, 0 or more.
fn amount(value: &Bound<'_, PyAny>, what: &str) -> PyResult<u64> {
    let least_is_0 =
        |_| PyValueError::new_err(format!("{what}: {}, expected 0 or more", shown(value)));
    u64::try_from(number(value, what)?).map_err(least_is_0)
}

/// Collects what ``expand`` finds at a node.
#[pyclass(module = "pleach._pleach")]
#[derive(Default)]
pub struct Children {
    nodes: Vec<(Option<i64>, Py<PyAny>)>,
    leaves: u64,
    count: u64,
    tallies: Vec<(usize, u64)>,
    solutions: Vec<(i64, Vec<i64>)>,
    /// The worst value of 64 bits, if the best solution is wanted, and the value to beat.
    worst: Option<i64>,
    best: Option<i64>,
}

#[pymethods]
impl Children {
    /// Adds a child that must be explored.
    fn child(&mut self, node: Py<PyAny>) {
        self.nodes.push((None, node));
    }

    /// Adds a child below which no solution is better than ``bound``.
    fn child_within(&mut self, bound: &Bound<'_, PyAny>, node: Py<PyAny>) -> PyResult<()> {
        self.nodes.push((Some(number(bound, "bound")?), node));
        Ok(())
    }

    /// Adds children that need no exploring; they are counted as nodes.
    fn leaves(&mut self, n: &Bound<'_, PyAny>) -> PyResult<()> {
        let sum = self.leaves + amount(n, "leaves")?;
        if sum > MOST_LEAVES {
            let why = format!("leaves: {sum} in a node, expected at most 2**40");
            return Err(PyValueError::new_err(why));
        }
        self.leaves = sum;
        Ok(())
    }

    /// Adds ``n`` to what the search counts.
    fn count(&mut self, n: &Bound<'_, PyAny>) -> PyResult<()> {
        let sum = self.count.checked_add(amount(n, "count")?);
        self.count =
            sum.ok_or_else(|| PyValueError::new_err("count: more than 64 bits in a node"))?;
        Ok(())
    }

    /// Adds ``n`` to one of the tree's own counters.
    fn tally(&mut self, counter: &Bound<'_, PyAny>, n: &Bound<'_, PyAny>) -> PyResult<()> {
        let number = amount(counter, "counter")? as usize;
        if number >= COUNTERS {
            let most = COUNTERS - 1;
            let why = format!("counter: {}, expected at most {most}", shown(counter));
            return Err(PyValueError::new_err(why));
        }
        self.tallies.push((number, amount(n, "tally")?));
        Ok(())
    }

    /// Reports a finished solution, a sequence of whole numbers.
    fn solution(&mut self, value: &Bound<'_, PyAny>, solution: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = number(value, "value")?;
        if self.worst == Some(value) {
            let why = format!("value: {value}, expected one that is better than none");
            return Err(PyValueError::new_err(why));
        }
        let better = |best| match self.worst {
            None => true,
            Some(i64::MIN) => value > best,
            Some(_) => value < best,
        };
        if self.best.is_none_or(better) {
            let items = solution.try_iter()?.map(|item| number(&item?, "solution"));
            self.solutions.push((value, items.collect::<PyResult<_>>()?));
        }
        Ok(())
    }
}

/// The functions with which a tree is searched by layers.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Layers {
    key: Py<PyAny>,
    dominates: Py<PyAny>,
    guide: Option<Py<PyAny>>,
}

impl Layers {
    fn try_key(&self, py: Python<'_>, node: &Node) -> PyResult<Option<u128>> {
        let key = self.key.call1(py, (&node.0,))?;
        let key = key.bind(py);
        if key.is_none() {
            return Ok(None);
        }
        let wrong = |_| {
            let why = format!(
                "key: {}, expected None or a whole number from 0 to 2**128 - 1",
                shown(key)
            );
            PyValueError::new_err(why)
        };
        if key.is_instance_of::<PyBool>() {
            return Err(wrong(()));
        }
        key.extract().map(Some).map_err(|_| wrong(()))
    }
}

/// A tree whose nodes Python expands.
struct PythonTree<const GOAL: u8> {
    root: Py<PyAny>,
    expand: Py<PyAny>,
    check: Option<Py<PyAny>>,
    layers: Option<Layers>,
    /// What tells it from other trees; `None` if a sample of its nodes is used.
    fingerprint: Option<u64>,
    /// Collectors to use again.
    collectors: Mutex<Vec<Py<Children>>>,
}

impl<const GOAL: u8> PythonTree<GOAL> {
    fn collectors(&self) -> std::sync::MutexGuard<'_, Vec<Py<Children>>> {
        self.collectors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_expand(
        &self,
        py: Python<'_>,
        node: &Node,
        best: Option<i64>,
        out: &mut Found<'_, Self>,
    ) -> PyResult<()> {
        let worst = [Some(i64::MAX), Some(i64::MIN), None, None][usize::from(GOAL)];
        let used = self.collectors().pop();
        let collector = match used {
            Some(collector) => collector,
            None => Py::new(py, Children { worst, ..Children::default() })?,
        };
        collector.try_borrow_mut(py)?.best = best;
        let returned = self.expand.call1(py, (&node.0, best, &collector))?;
        // A list of children, or a generator that nobody runs, would pass for a node without any.
        if !returned.is_none(py) {
            let kind = returned.bind(py).get_type().name()?;
            let why = format!(
                "expand returned a value of type {kind}, expected None: add children to out"
            );
            return Err(PyTypeError::new_err(why));
        }
        {
            let mut found = collector.try_borrow_mut(py)?;
            for (bound, node) in found.nodes.drain(..) {
                match bound {
                    Some(bound) => out.child_within(bound, Node(node)),
                    None => out.child(Node(node)),
                }
            }
            out.leaves(std::mem::take(&mut found.leaves));
            out.count(std::mem::take(&mut found.count));
            found.tallies.drain(..).for_each(|(counter, n)| out.tally(counter, n));
            for (value, solution) in found.solutions.drain(..) {
                out.solution(value, || solution);
            }
        }
        self.collectors().push(collector);
        Ok(())
    }
}

impl<const GOAL: u8> Tree for PythonTree<GOAL> {
    type Node = Node;
    const GOAL: Goal = goal(GOAL);

    fn root(&self) -> Node {
        Python::attach(|py| Node(self.root.clone_ref(py)))
    }

    fn expand(&self, node: &Node, best: Option<i64>, out: &mut Found<'_, Self>) {
        // The thread is attached for the whole stretch, so this costs nothing.
        let expanded = Python::attach(|py| self.try_expand(py, node, best, out));
        expanded.unwrap_or_else(|why| raise(why));
    }

    fn key(&self, node: &Node) -> Option<u128> {
        let layers = self.layers.as_ref()?;
        Python::attach(|py| layers.try_key(py, node)).unwrap_or_else(|why| raise(why))
    }

    fn dominates(&self, one: &Node, other: &Node) -> bool {
        let Some(Layers { dominates, .. }) = &self.layers else { return false };
        let said = Python::attach(|py| dominates.call1(py, (&one.0, &other.0))?.is_truthy(py));
        said.unwrap_or_else(|why| raise(why))
    }

    fn guide(&self, node: &Node, bound: i64) -> i64 {
        let Some(Layers { guide: Some(guide), .. }) = &self.layers else {
            return Self::GOAL.score(bound);
        };
        let said =
            Python::attach(|py| number(guide.call1(py, (&node.0, bound))?.bind(py), "guide"));
        said.unwrap_or_else(|why| raise(why))
    }

    fn own_explorer(&self) -> Option<Box<dyn Explorer + '_>> {
        Some(Box::new(Attached { inner: TreeExplorer::new(self), stretch: 1 }))
    }

    fn fingerprint(&self) -> Option<u64> {
        self.fingerprint
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let check = self.check.as_ref()?;
        let value = Python::attach(|py| number(check.call1(py, (solution,))?.bind(py), "check"));
        Some(Ok(value.unwrap_or_else(|why| raise(why))))
    }
}

/// The default explorer, which keeps the interpreter for a stretch of nodes.
struct Attached<'t, const GOAL: u8> {
    inner: TreeExplorer<'t, PythonTree<GOAL>>,
    /// How many nodes make a stretch.
    stretch: u64,
}

impl<const GOAL: u8> Explorer for Attached<'_, GOAL> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        Python::attach(|_| self.inner.add_work(work))
    }

    fn size(&self) -> f64 {
        self.inner.size()
    }

    fn least_bound(&self) -> Option<i64> {
        self.inner.least_bound()
    }

    fn open_share(&self) -> Option<f64> {
        self.inner.open_share()
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let asked = fuel.max(self.stretch);
        let mut all = Progress::default();
        let took = Python::attach(|_| {
            // Other threads may have had the interpreter for long.
            let start = Instant::now();
            while all.used < asked
                && all.found.is_none()
                && all.fault.is_none()
                && self.inner.size() > 0.0
                && start.elapsed() < STRETCH.1
            {
                all.add(self.inner.run(NODES.1.min(asked - all.used), best));
            }
            start.elapsed()
        });
        if all.used >= asked && took < STRETCH.0 {
            self.stretch = (self.stretch * 2).min(NODES.0);
        }
        all
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        Python::attach(|_| self.inner.split(share))
    }

    fn drain(&mut self) -> Work {
        Python::attach(|_| self.inner.drain())
    }

    fn copy(&mut self) -> Work {
        Python::attach(|_| self.inner.copy())
    }
}

impl<const GOAL: u8> Drop for Attached<'_, GOAL> {
    fn drop(&mut self) {
        Python::attach(|_| drop(self.inner.take_pool()));
    }
}

/// Searches a problem with the settings of a search.
pub fn solved<P: Problem>(
    problem: P,
    best: Option<i64>,
    search: pleach::Search<'static>,
) -> Result<Finished, Failure> {
    Ok(search.run(&problem, best)?.into())
}

/// A tree as Python describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Described {
    root: Py<PyAny>,
    expand: Py<PyAny>,
    check: Option<Py<PyAny>>,
    layers: Option<Layers>,
    fingerprint: Option<Vec<u8>>,
    goal: u8,
    best: Option<i64>,
}

/// Searches a tree that is a Python object.
#[pyfunction]
pub fn own(tree: Described, limits: Limits) -> PyResult<Search> {
    let Described { root, expand, check, layers, fingerprint, goal, best } = tree;
    let fingerprint = fingerprint.map(|what| pleach::fingerprint("python", &(goal, what)));
    // It matters only in files and between processes.
    let fingerprint = fingerprint.or((!limits.leaves_process()).then_some(0));
    macro_rules! start {
        ($goal:literal) => {{
            let collectors = Mutex::default();
            let tree = PythonTree::<$goal> { root, expand, check, layers, fingerprint, collectors };
            Search::start(limits, move |search| solved(Plain(tree), best, search))
        }};
    }
    match goal {
        0 => start!(0),
        1 => start!(1),
        2 => start!(2),
        _ => start!(3),
    }
}
