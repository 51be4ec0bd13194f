//! The problems of the library: instances by name or from text, and searches of them.

use crate::report::Finished;
use crate::run::{Limits, Search};
use pleach::{
    Best, clique as cliques, flowshop as flowshops, knapsack as knapsacks, queens as boards, shop,
    uts as trees,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

fn wrong(why: String) -> PyErr {
    PyValueError::new_err(why)
}

/// The number of cores that this process may use.
#[pyfunction]
pub fn cores() -> u32 {
    pleach::cores()
}

fn start_of(best: Option<i64>) -> Best {
    best.map_or(Best::Search, Best::Value)
}

/// A flowshop as a file describes it: machines, times by job, due dates, setup times.
type ReadShop = (usize, Vec<u32>, Option<Vec<u32>>, Option<Vec<u32>>);

/// The flowshop with this name, or in this text; `None` if there is no such name.
#[pyfunction]
#[pyo3(signature = (name, text=None))]
pub fn flowshop_instance(name: &str, text: Option<&str>) -> PyResult<Option<ReadShop>> {
    use pleach::flowshop::{Shop, named, read_shop};
    let shop = match text {
        Some(text) => {
            Some(read_shop(text, false).map_err(|why| wrong(format!("times: {name}{why}")))?)
        }
        None => named(name).map(Shop::new),
    };
    Ok(shop.map(|shop| {
        let instance = &shop.instance;
        let times = (0..instance.jobs()).flat_map(|job| instance.job(job)).copied().collect();
        (instance.machines(), times, shop.due, shop.setups)
    }))
}

/// A flowshop with its objective and side conditions.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ShopArguments {
    machines: usize,
    times: Vec<u32>,
    due: Option<Vec<u32>>,
    weights: Option<Vec<u32>>,
    releases: Option<Vec<u32>>,
    setups: Option<Vec<u32>>,
    decimals: u32,
    weight_decimals: u32,
    objective: String,
    no_wait: bool,
    no_buffers: bool,
    best: Option<i64>,
    start: Option<Vec<u16>>,
    bound: Option<String>,
    branching: Option<String>,
    count_optimal: bool,
}

/// Searches for the best schedule.
#[pyfunction]
pub fn flowshop(given: ShopArguments, limits: Limits) -> PyResult<Search> {
    let instance = pleach::flowshop::Instance::new(given.machines, given.times);
    let mut shop = shop::Shop::new(instance.map_err(|why| wrong(format!("times: {why}")))?);
    (shop.due, shop.weights, shop.releases) = (given.due, given.weights, given.releases);
    (shop.setups, shop.decimals) = (given.setups, given.decimals);
    shop.weight_decimals = given.weight_decimals;
    let objective = shop::Objective::parse(&given.objective);
    let objective = objective.map_err(|why| wrong(format!("objective {why}")))?;
    let passing = match (given.no_wait, given.no_buffers) {
        (true, true) => {
            let why =
                "no_buffers: True, expected False with no_wait: jobs that never wait never block";
            return Err(wrong(why.into()));
        }
        (true, false) => shop::Passing::NoWait,
        (false, true) => shop::Passing::Blocking,
        (false, false) => shop::Passing::Wait,
    };
    let variant = shop::Variant::new(shop, objective, passing);
    let variant = variant.map_err(|why| wrong(format!("times: {why}")))?;
    let (best, start, all) = (start_of(given.best), given.start, given.count_optimal);
    let bound = chosen("bound", given.bound, flowshops::Bound::parse)?;
    let branching = chosen("branching", given.branching, flowshops::Branching::parse)?;
    if variant.is_plain() {
        return Search::start(limits, move |search| {
            let order = flowshops::ChildOrder::default();
            let options = flowshops::Options { best, start, bound, branching, order, all, search };
            let answer = flowshops::solve(&variant.shop().instance, options)?;
            let ends = answer.schedule.as_deref().map(|order| variant.ends(order));
            Ok(Finished { ends, ..answer.report.into() })
        });
    }
    let choices =
        [("bound", bound.is_some()), ("branching", branching.is_some()), ("count_optimal", all)];
    if let Some((name, _)) = choices.into_iter().find(|(_, given)| *given) {
        let why = "expected only for the makespan without side conditions";
        return Err(wrong(format!("{name}: {why}")));
    }
    Search::start(limits, move |search| {
        let answer = shop::solve(&variant, shop::Options { best, start, search })?;
        let ends = answer.schedule.as_deref().map(|order| variant.ends(order));
        Ok(Finished { ends, ..answer.report.into() })
    })
}

/// A choice by its name.
fn chosen<T>(
    argument: &str,
    name: Option<String>,
    parse: fn(&str) -> Result<T, String>,
) -> PyResult<Option<T>> {
    let found = name.map(|name| parse(&name)).transpose();
    found.map_err(|why| wrong(format!("{argument}: {why}")))
}

/// The cities and costs of an instance with this name, or in this text; `None` if there is no such name.
#[pyfunction]
#[pyo3(signature = (name, text=None))]
pub fn atsp_instance(name: &str, text: Option<&str>) -> PyResult<Option<(usize, Vec<i64>)>> {
    let read = match text {
        Some(text) => Some(pleach::atsp::read(text).map_err(|why| format!("{name}{why}"))),
        None => pleach::atsp::named(name).map(|read| read.map_err(|why| format!("{name}: {why}"))),
    };
    let instance = read.transpose().map_err(|why| wrong(format!("costs: {why}")))?;
    Ok(instance.map(|instance| (instance.cities(), instance.costs().to_vec())))
}

/// Searches for the shortest tour.
#[pyfunction]
pub fn atsp(
    cities: usize,
    costs: Vec<i64>,
    best: Option<i64>,
    start: Option<Vec<u16>>,
    bound: Option<String>,
    limits: Limits,
) -> PyResult<Search> {
    let instance = pleach::atsp::Instance::new(cities, costs);
    let instance = instance.map_err(|why| wrong(format!("costs: {why}")))?;
    let best = start_of(best);
    let bound = chosen("bound", bound, pleach::atsp::Bound::parse)?;
    Search::start(limits, move |search| {
        let options = pleach::atsp::Options { best, start, bound, search };
        Ok(pleach::atsp::solve(&instance, options)?.report.into())
    })
}

/// Facilities with their flows, and locations with their distances.
type ReadQap = (usize, Vec<i64>, usize, Vec<i64>);

/// The flows and distances of an instance with this name, or in this text; `None` if there is no such name.
#[pyfunction]
#[pyo3(signature = (name, text=None))]
pub fn qap_instance(name: &str, text: Option<&str>) -> PyResult<Option<ReadQap>> {
    let read = match text {
        Some(text) => Some(pleach::qap::read(text).map_err(|why| format!("{name}{why}"))),
        None => pleach::qap::named(name).map(|read| read.map_err(|why| format!("{name}: {why}"))),
    };
    let instance = read.transpose().map_err(|why| wrong(format!("flows: {why}")))?;
    Ok(instance.map(|it| {
        let (n, m) = (it.facilities(), it.locations());
        let flows = (0..n * n).map(|at| it.flow(at / n, at % n)).collect();
        let distances = (0..m * m).map(|at| it.distance(at / m, at % m)).collect();
        (n, flows, m, distances)
    }))
}

/// Searches for the cheapest assignment.
#[pyfunction]
pub fn qap(
    flows: (usize, Vec<i64>),
    distances: (usize, Vec<i64>),
    best: Option<i64>,
    start: Option<Vec<u16>>,
    limits: Limits,
) -> PyResult<Search> {
    let instance = pleach::qap::Instance::new((flows.0, &flows.1), (distances.0, &distances.1));
    let instance = instance.map_err(|why| wrong(format!("flows, distances: {why}")))?;
    let best = start_of(best);
    Search::start(limits, move |search| {
        let options = pleach::qap::Options { best, start, search };
        Ok(pleach::qap::solve(&instance, options)?.report.into())
    })
}

/// Searches for the most valuable items that fit.
#[pyfunction]
pub fn knapsack(
    capacity: i64,
    items: Vec<[i64; 2]>,
    best: Option<i64>,
    limits: Limits,
) -> PyResult<Search> {
    let knapsack = knapsacks::Knapsack::new(capacity, &items);
    let knapsack = knapsack.map_err(|why| wrong(format!("items, capacity: {why}")))?;
    Search::start(limits, move |search| {
        Ok(knapsacks::solve(&knapsack, best, search)?.report.into())
    })
}

/// A graph.
#[pyclass(frozen, module = "pleach._pleach")]
pub struct Graph(cliques::Graph);

#[pymethods]
impl Graph {
    /// A graph of vertices numbered from 1, with these edges.
    #[new]
    fn of(vertices: usize, edges: Vec<(usize, usize)>) -> PyResult<Self> {
        let made = cliques::Graph::new(vertices).and_then(|mut graph| {
            edges.into_iter().try_for_each(|(one, other)| graph.connect(one, other))?;
            Ok(graph)
        });
        made.map(Self).map_err(|why| wrong(format!("graph: {why}")))
    }

    /// The graph with this name, or in this text; `None` if there is no such name.
    #[staticmethod]
    #[pyo3(signature = (name, text=None))]
    fn read(name: &str, text: Option<&str>) -> PyResult<Option<Self>> {
        let read = match text {
            Some(text) => Some(cliques::read(text).map_err(|why| format!("{name}{why}"))),
            None => cliques::named(name).map(|read| read.map_err(|why| format!("{name}: {why}"))),
        };
        Ok(read.transpose().map_err(|why| wrong(format!("graph: {why}")))?.map(Self))
    }

    /// How the graph is pickled: its class, and the arguments that make it.
    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, PyType>, (usize, Vec<(usize, usize)>)) {
        let graph = &slf.get().0;
        let n = graph.vertices();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let edges = pairs.filter(|&(i, j)| graph.adjacent(i, j)).map(|(i, j)| (i + 1, j + 1));
        (slf.get_type(), (n, edges.collect()))
    }

    /// The number of vertices.
    #[getter]
    fn vertices(&self) -> usize {
        self.0.vertices()
    }
}

/// Searches for the largest clique.
#[pyfunction]
pub fn clique(graph: &Graph, best: Option<i64>, limits: Limits) -> PyResult<Search> {
    let graph = graph.0.clone();
    Search::start(limits, move |search| Ok(cliques::solve(&graph, best, search)?.report.into()))
}

/// Counts the ways to place queens, on the whole board or on half of it, or finds one.
#[pyfunction]
pub fn queens(n: u32, count: bool, whole: bool, limits: Limits) -> PyResult<Search> {
    Search::start(limits, move |search| {
        let report = match (count, whole) {
            (false, _) => boards::first(n, search)?.report,
            (true, false) => boards::count(n, search)?.report,
            (true, true) => boards::count_whole(n, search)?.report,
        };
        Ok(report.into())
    })
}

/// Counts the nodes of a tree.
#[pyfunction]
pub fn uts(tree: &str, limits: Limits) -> PyResult<Search> {
    let tree = trees::Parameters::parse(tree).map_err(|why| wrong(format!("tree: {why}")))?;
    Search::start(limits, move |search| Ok(trees::count(&tree, search)?.report.into()))
}
