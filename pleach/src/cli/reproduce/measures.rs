//! The figures of a run, by name: from a simulation, or from the JSON that a command prints.

use super::rows::Row;
use crate::cli::sim::{METRICS, Spec, metric};
use pleach_lab::figures::Figures;
use serde_json::Value;

/// The messages that each peer sent; as a single number, those of the busiest peer.
pub const BY_PEER: &str = "messages_by_peer";

/// Whether a simulation has a figure of this name.
pub fn is_simulated(name: &str) -> bool {
    name == BY_PEER || metric(name).is_some()
}

/// The figures of simulations.
pub fn simulated_names() -> String {
    let names = METRICS.iter().map(|metric| metric.name).chain([BY_PEER]);
    names.collect::<Vec<_>>().join(", ")
}

/// Records the figures of a simulation.
pub fn note_simulated(row: &mut Row, figures: &Figures, spec: &Spec) {
    let all = METRICS.iter().map(|metric| (metric.name, (metric.of)(figures, spec)));
    let all = all.filter(|(_, value)| value.is_finite());
    row.figures = all.map(|(name, value)| (name.to_string(), value)).collect();
    let by_peer: Vec<f64> = figures.messages_by_peer.iter().map(|&n| n as f64).collect();
    row.figures.insert(BY_PEER.into(), by_peer.iter().copied().fold(0.0, f64::max));
    row.lists.insert(BY_PEER.into(), by_peer);
}

/// A figure of a command's run: its name, and how to read it.
type Measure = (&'static str, fn(&Value) -> Option<f64>);

/// The figures of commands' runs.
const MEASURES: [Measure; 21] = [
    ("seconds", |run| number(run, "/seconds")),
    ("rate", |run| Some(number(run, "/nodes/branched")? / searching(run)?)),
    ("bounded_rate", |run| Some(number(run, "/nodes/bounded")? / searching(run)?)),
    ("branched", |run| number(run, "/nodes/branched")),
    ("bounded", |run| number(run, "/nodes/bounded")),
    ("count", |run| number(run, "/count")),
    ("efficiency", |run| number(run, "/efficiency")),
    ("idle", idle),
    ("requests", |run| Some(number(run, "/balance/requests")? / units(run).count() as f64)),
    ("messages", |run| Some(number(run, "/balance/messages")? / units(run).count() as f64)),
    ("moved_bytes", |run| Some(number(run, "/balance/moved_bytes")? / units(run).count() as f64)),
    ("device_share", device_share),
    ("explore_share", |run| phase(run, "explore_s")),
    ("exchange_share", |run| phase(run, "exchange_s")),
    ("copy_share", |run| phase(run, "copy_s")),
    ("share", share),
    ("static_share", |run| Some(100.0 * number(run, "/loop/static/share")?)),
    ("static_seconds", |run| number(run, "/loop/static/seconds")),
    ("over_static", |run| {
        Some(100.0 * (number(run, "/seconds")? / number(run, "/loop/static/seconds")? - 1.0))
    }),
    ("split_off", |run| Some((share(run)? - 100.0 * number(run, "/loop/static/share")?).abs())),
    ("loop_rate", |run| number(run, "/loop/rate")),
];

/// Whether a command's run has a figure of this name.
pub fn is_measured(name: &str) -> bool {
    MEASURES.iter().any(|(own, _)| *own == name)
}

/// The figures of commands' runs.
pub fn measured_names() -> String {
    MEASURES.map(|(name, _)| name).join(", ")
}

/// Records the figures of a command's run.
pub fn note_measured(row: &mut Row, run: &Value) {
    let all = MEASURES.iter().filter_map(|(name, of)| Some((name.to_string(), of(run)?)));
    row.figures = all.filter(|(_, value)| value.is_finite()).collect();
}

/// A number at a path; large ones are strings.
fn number(run: &Value, path: &str) -> Option<f64> {
    match run.pointer(path)? {
        Value::String(word) => word.parse().ok(),
        value => value.as_f64(),
    }
}

/// The time that a search took after its setup.
fn searching(run: &Value) -> Option<f64> {
    let seconds = number(run, "/seconds")? - number(run, "/setup_seconds").unwrap_or(0.0);
    (seconds > 0.0).then_some(seconds)
}

fn units(run: &Value) -> impl Iterator<Item = &Value> {
    run.pointer("/units").and_then(Value::as_array).into_iter().flatten()
}

fn is_cpu(unit: &Value) -> bool {
    let name = unit.get("name").and_then(Value::as_str).unwrap_or("");
    name.rsplit('/').next().is_some_and(|name| name.starts_with("cpu"))
}

/// The idle time of units in %: the mean over a search's units, the maximum over a loop's.
fn idle(run: &Value) -> Option<f64> {
    let total = searching(run)?;
    let each: Vec<f64> = units(run).filter_map(|unit| number(unit, "/idle_s")).collect();
    if run.pointer("/loop").is_some() {
        return each.into_iter().reduce(f64::max).map(|most| 100.0 * most / total);
    }
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / (total * each.len() as f64))
}

/// The fraction of the branched nodes that devices took.
fn device_share(run: &Value) -> Option<f64> {
    let of = |devices: bool| {
        let units = units(run).filter(move |unit| is_cpu(unit) != devices);
        units.filter_map(|unit| number(unit, "/branched")).sum::<f64>()
    };
    let (devices, cpus) = (of(true), of(false));
    (devices + cpus > 0.0).then(|| devices / (devices + cpus))
}

/// The fraction of its time that the first device spent in a phase.
fn phase(run: &Value, name: &str) -> Option<f64> {
    let phases = units(run).find_map(|unit| unit.get("phases"))?.as_object()?;
    let total: f64 = phases.values().filter_map(Value::as_f64).sum();
    Some(phases.get(name)?.as_f64()? / total.max(1e-9))
}

/// The part of a loop that is compared with a static split, in %: the first thread's if there are only threads,
/// otherwise that of all threads.
fn share(run: &Value) -> Option<f64> {
    let parts = run.pointer("/loop/parts")?.as_array()?;
    let of = |part: &Value| number(part, "/share");
    let all: f64 = if parts.iter().all(is_cpu) {
        of(parts.first()?)?
    } else {
        parts.iter().filter(|part| is_cpu(part)).filter_map(of).sum()
    };
    Some(100.0 * all)
}
