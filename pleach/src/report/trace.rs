//! A search over time as data: its workers, its best value and its bound.

use super::Report;
use super::moment::Moment;
use crate::results::{JsonInteger, JsonNumber, MomentData, TraceData, TracedWorker, VERSION};
use pleach_runtime::WorkerReport;
use pleach_runtime::activity::{Activity, Column};

/// The trace as data.
pub fn data(report: &Report) -> TraceData {
    let workers = report.outcome.workers.iter();
    let workers = workers.filter_map(|worker| Some(traced(worker, worker.activity.as_ref()?)));
    let moment = |moment: Moment| MomentData {
        seconds: JsonNumber(moment.seconds),
        best: moment.best.map(JsonInteger),
        bound: moment.bound.map(JsonInteger),
    };
    TraceData {
        pleach: VERSION.into(),
        seconds: JsonNumber(report.outcome.seconds),
        workers: workers.collect(),
        convergence: moments(report).into_iter().map(moment).collect(),
    }
}

/// A worker over time.
fn traced(worker: &WorkerReport, activity: &Activity) -> TracedWorker {
    let step = activity.step_ns as f64;
    let busy = activity.column(Column::Busy);
    let active = activity.column(Column::Active).iter().zip(busy);
    let active = active.map(|(&active, &busy)| active as f64 / busy.max(1) as f64);
    let phase = |at: usize| {
        let is_device = !worker.mode.is_empty();
        is_device.then(|| phases(activity).map(|parts| JsonNumber(parts[at])).collect())
    };
    let [explore, exchange, copy, wait] = std::array::from_fn(phase);
    let improve = activity.column(Column::Improve);
    let improve = if improve.iter().all(|&ns| ns == 0) { &[] } else { improve };
    let fraction = |&ns: &u64| JsonNumber(ns as f64 / step);
    TracedWorker {
        name: worker.name.clone(),
        step_s: JsonNumber(step * 1e-9),
        busy: busy.iter().map(fraction).collect(),
        improve: improve.iter().map(fraction).collect(),
        nodes: activity.column(Column::Nodes).iter().copied().map(JsonInteger).collect(),
        active: active.map(JsonNumber).collect(),
        explore,
        exchange,
        copy,
        wait,
    }
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
