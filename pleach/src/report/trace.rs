//! A search over time as data: its units, its best value and its bound.

use super::{Report, signed};
use pleach_run::Sight;
use serde_json::{Value, json};

/// The best value and the bound at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Since the search began, preparation excluded.
    pub seconds: f64,
    /// The value of the best solution.
    pub best: Option<i64>,
    /// What no solution can beat.
    pub bound: Option<i64>,
}

/// Moments kept at most: an even number.
const MOMENTS: usize = 4096;

impl Moment {
    /// The moment that a look at the run shows.
    pub fn of(sight: &Sight) -> Self {
        Self { seconds: sight.seconds, best: sight.best, bound: sight.bound }
    }

    /// The end of a search.
    fn end(report: &Report) -> Self {
        let Report { objective: best, lower_bound: bound, .. } = *report;
        Self { seconds: report.outcome.seconds, best, bound }
    }
}

/// Keeps a moment at which something has changed; when there are too many, every other one goes.
pub fn note(moments: &mut Vec<Moment>, moment: Moment) {
    let values = |moment: &Moment| (moment.best, moment.bound);
    if moments.last().is_some_and(|last| values(last) == values(&moment)) {
        return;
    }
    if moments.len() == MOMENTS {
        let mut odd = false;
        moments.retain(|_| {
            odd = !odd;
            !odd
        });
    }
    moments.push(moment);
}

/// The trace as JSON. For each unit and step of time: the part spent exploring, the nodes, and the
/// part of a device's explorers that had work. And each change of the best value or the bound; its
/// time counts from the beginning, preparation included.
pub fn data(report: &Report) -> Value {
    let units = report.outcome.units.iter();
    let units = units.filter_map(|unit| Some((&unit.name, unit.activity.as_ref()?)));
    let units: Vec<Value> = units
        .map(|(name, activity)| {
            let step = activity.step_ns as f64;
            let busy = activity.busy_ns.iter().map(|&ns| (ns as f64 / step * 1e4).round() / 1e4);
            let active = activity.active_ns.iter().zip(&activity.busy_ns);
            let active = active.map(|(&active, &busy)| active as f64 / busy.max(1) as f64);
            let active = active.map(|part| (part * 1e4).round() / 1e4);
            json!({
                "name": name,
                "step_s": step * 1e-9,
                "busy": busy.collect::<Vec<f64>>(),
                "nodes": activity.nodes,
                "active": active.collect::<Vec<f64>>(),
            })
        })
        .collect();
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

/// The moments of a search with its end, timed from the beginning, preparation included.
pub fn moments(report: &Report) -> Vec<Moment> {
    let setup_s = report.outcome.setup_seconds;
    let end = Moment::end(report);
    let mut all: Vec<Moment> = report.moments.clone();
    all.iter_mut().for_each(|moment| moment.seconds = (moment.seconds + setup_s).min(end.seconds));
    all.push(end);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_kept_and_not_too_many() {
        let mut moments = Vec::new();
        for i in 0..20_000i64 {
            let moment = Moment { seconds: i as f64, best: Some(9), bound: Some(i / 2) };
            note(&mut moments, moment);
        }
        assert!((MOMENTS / 2..=MOMENTS).contains(&moments.len()));
        assert!(moments.is_sorted_by(|a, b| a.seconds < b.seconds && a.bound < b.bound));
    }
}
