//! The figures of simulated runs, as a text table and as data.

use super::metrics::{METRICS, Metric, metric, values};
use super::scenario::Scenario;
use super::spec::Spec;
use crate::report::columns::{aligned, digits, mean_and_spread, with_spread};
use crate::results::{CellData, DepthData, FigureData, JsonInteger, JsonNumber};
use pleach_lab::figures::{Depth, Figures};

/// The values of the lists in each cell.
pub fn labels(scenario: &Scenario) -> Vec<Vec<String>> {
    let mut rows = vec![Vec::new()];
    for axis in &scenario.axes {
        let with =
            |row: &Vec<String>, value: &String| [&row[..], std::slice::from_ref(value)].concat();
        rows =
            rows.iter().flat_map(|row| axis.values.iter().map(|value| with(row, value))).collect();
    }
    rows
}

/// All cells as an aligned table.
pub fn text(scenario: &Scenario, runs: &[Vec<Figures>]) -> String {
    let on_sites = scenario.cells.iter().any(|spec| spec.fleet.is_some());
    let header = |metric: &Metric| if on_sites { metric.of_sites } else { metric.header };
    let shown: Vec<&Metric> = METRICS.iter().filter(|metric| !header(metric).is_empty()).collect();
    let names = scenario.axes.iter().map(|axis| axis.name.clone());
    let mut rows: Vec<Vec<String>> =
        vec![names.chain(shown.iter().map(|metric| header(metric).to_string())).collect()];
    for ((label, spec), runs) in labels(scenario).into_iter().zip(&scenario.cells).zip(runs) {
        let cell = |metric: &&Metric| in_short(metric, spec, runs);
        rows.push(label.into_iter().chain(shown.iter().map(cell)).collect());
    }
    aligned(&rows)
}

/// A figure of all runs of a cell, in words.
fn in_short(metric: &Metric, spec: &Spec, runs: &[Figures]) -> String {
    let (mean, spread) = mean_and_spread(&values(metric, spec, runs));
    with_spread(mean, (runs.len() > 1).then_some(spread))
}

/// The messages of each depth of the tree of peers, in the first run.
pub fn depths(figures: &Figures) -> String {
    let head = ["depth", "peers", "requests/peer", "messages/peer", "bytes/peer"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (i, depth) in figures.depths.iter().enumerate() {
        let each = |all: u64| digits(all as f64 / depth.peers.max(1) as f64);
        let (requests, messages, bytes) =
            (each(depth.requests), each(depth.messages), each(depth.bytes));
        rows.push(vec![i.to_string(), depth.peers.to_string(), requests, messages, bytes]);
    }
    aligned(&rows)
}

/// Published values next to the simulated ones.
pub fn paper(scenario: &Scenario, runs: &[Vec<Figures>]) -> String {
    let head = ["published", "at", "series", "value", "here"];
    let mut rows = vec![head.map(String::from).to_vec()];
    let labels = labels(scenario);
    for paper in &scenario.paper {
        let wanted = [&paper.x, &paper.series];
        let fits =
            |label: &Vec<String>| label.iter().zip(wanted).all(|(value, wanted)| value == wanted);
        let cell = labels.iter().position(fits);
        let here = cell
            .zip(metric(&paper.what))
            .filter(|(at, metric)| metric.is_measured(&scenario.cells[*at]))
            .map(|(at, metric)| in_short(metric, &scenario.cells[at], &runs[at]));
        rows.push(vec![
            paper.what.clone(),
            paper.x.clone(),
            paper.series.clone(),
            with_spread(paper.value, paper.spread),
            here.unwrap_or("–".into()),
        ]);
    }
    aligned(&rows)
}

/// All cells as data.
pub fn data(scenario: &Scenario, runs: &[Vec<Figures>]) -> Vec<CellData> {
    let rows = labels(scenario).into_iter().zip(&scenario.cells).zip(runs);
    let rows = rows.map(|((label, spec), runs)| {
        let names = scenario.axes.iter().map(|axis| axis.name.clone());
        let figure = |metric: &Metric| {
            let values = values(metric, spec, runs);
            let (mean, spread) = mean_and_spread(&values);
            let (mean, spread) = (Some(JsonNumber(mean)), Some(JsonNumber(spread)));
            let values = values.into_iter().map(Some).collect();
            (metric.name.to_string(), FigureData { mean, spread, values })
        };
        let depth = |depth: &Depth| DepthData {
            peers: depth.peers,
            requests: depth.requests,
            messages: depth.messages,
            bytes: depth.bytes,
        };
        CellData {
            cell: names.zip(label).collect(),
            peers: JsonInteger(spec.cluster.machine.peers().into()),
            power: Some(spec.cluster.machine.power()),
            figures: METRICS.iter().filter(|it| it.is_measured(spec)).map(figure).collect(),
            depths: runs.first().map(|run| run.depths.iter().map(depth).collect()),
        }
    });
    rows.collect()
}
