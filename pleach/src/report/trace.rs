//! A search over time as data: its units, its best value and its bound.

use super::moment::Moment;
use super::{Report, signed};
use pleach_runtime::UnitReport;
use pleach_runtime::activity::{Activity, Column};
use serde_json::{Value, json};

/// The trace as JSON. For each unit and time step: the fraction spent exploring, the nodes, and the
/// fraction of a device's explorers that had work; for devices also the fractions of time spent
/// exploring, exchanging nodes, copying and waiting. Also each change of the best value or the bound;
/// its time counts from the beginning, including preparation.
pub fn data(report: &Report) -> Value {
    let units = report.outcome.units.iter();
    let units = units.filter_map(|unit| Some((unit, unit.activity.as_ref()?)));
    let units: Vec<Value> = units.map(|(unit, activity)| traced(unit, activity)).collect();
    let number = |value: Option<i64>| value.map_or(Value::Null, signed);
    let moment = |moment: &Moment| {
        json!({
            "seconds": (moment.seconds * 1e6).round() / 1e6,
            "best": number(moment.best),
            "bound": number(moment.bound),
        })
    };
    json!({
        "pleach": env!("CARGO_PKG_VERSION"),
        "seconds": report.outcome.seconds,
        "units": units,
        "convergence": moments(report).iter().map(moment).collect::<Vec<_>>(),
    })
}

/// A unit over time.
fn traced(unit: &UnitReport, activity: &Activity) -> Value {
    let step = activity.step_ns as f64;
    let rounded = |parts: Vec<f64>| -> Vec<f64> {
        parts.into_iter().map(|part| (part * 1e4).round() / 1e4).collect()
    };
    let busy = activity.column(Column::Busy);
    let active = activity.column(Column::Active).iter().zip(busy);
    let mut all = json!({
        "name": unit.name,
        "step_s": step * 1e-9,
        "busy": rounded(busy.iter().map(|&ns| ns as f64 / step).collect()),
        "nodes": activity.column(Column::Nodes),
        "active": rounded(active.map(|(&active, &busy)| active as f64 / busy.max(1) as f64).collect()),
    });
    if !unit.mode.is_empty() {
        for (at, phase) in PHASES.iter().enumerate() {
            all[*phase] = json!(rounded(phases(activity).map(|parts| parts[at]).collect()));
        }
    }
    all
}

/// How a device spends its time.
pub const PHASES: [&str; 4] = ["explore", "exchange", "copy", "wait"];

/// The fraction of each time step that a device spent in each phase.
pub fn phases(activity: &Activity) -> impl Iterator<Item = [f64; 4]> {
    let step = activity.step_ns as f64;
    let part = move |column, at: usize| activity.column(column)[at] as f64 / step;
    (0..activity.column(Column::Busy).len()).map(move |at| {
        let [exchange, copy] = [Column::Exchange, Column::Copy].map(|column| part(column, at));
        let explore = part(Column::Busy, at) - exchange - copy - part(Column::Wait, at);
        [explore, exchange, copy, (1.0 - explore - exchange - copy).max(0.0)]
    })
}

/// The end of a search.
fn end(report: &Report) -> Moment {
    let Report { objective: best, lower_bound: bound, .. } = *report;
    Moment { seconds: report.outcome.seconds, best, bound }
}

/// The moments of a search including its end, timed from the beginning, including preparation.
pub fn moments(report: &Report) -> Vec<Moment> {
    let setup_s = report.outcome.setup_seconds;
    let end = end(report);
    let mut all: Vec<Moment> = report.moments.clone();
    all.iter_mut().for_each(|moment| moment.seconds = (moment.seconds + setup_s).min(end.seconds));
    all.push(end);
    all
}
