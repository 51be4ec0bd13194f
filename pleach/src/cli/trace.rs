//! What a search did over time, as data and as a picture: its units, its best value and its bound.

use super::scale::Scale;
use crate::report::{Report, signed};
use pleach_run::Sight;
use serde_json::{Value, json};
use std::fmt::Write;

/// The best value and the bound at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    seconds: f64,
    best: Option<i64>,
    bound: Option<i64>,
}

/// Moments kept at most: an even number.
const MOMENTS: usize = 4096;

impl Moment {
    /// What a look at the run shows.
    pub fn of(sight: &Sight) -> Self {
        Self { seconds: sight.seconds, best: sight.best, bound: sight.bound }
    }

    /// The end of a search.
    fn end(report: &Report) -> Self {
        let Report { objective: best, lower_bound: bound, .. } = *report;
        Self { seconds: report.outcome.seconds, best, bound }
    }
}

/// Keeps a moment at which something has changed; of too many every other one goes.
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

/// All as data: for each unit and step of time the part spent exploring, the nodes, and the part of a
/// device's explorers that had work meanwhile; and each change of the best value or the bound. Times of changes count from the begin, setup included.
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

/// The moments of a search with its end.
fn moments(report: &Report) -> Vec<Moment> {
    let setup_s = report.outcome.setup_seconds;
    let end = Moment::end(report);
    let mut all: Vec<Moment> = report.moments.clone();
    all.iter_mut().for_each(|moment| moment.seconds = (moment.seconds + setup_s).min(end.seconds));
    all.push(end);
    all
}

const SIZE: (f64, f64) = (860.0, 420.0);
const LEFT: f64 = 90.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 110.0;
const BOTTOM: f64 = 56.0;

/// The best value and the bound over time, as SVG.
pub fn picture(title: &str, report: &Report) -> String {
    let moments = moments(report);
    let values = moments.iter().flat_map(|moment| [moment.best, moment.bound]).flatten();
    let (low, high) =
        values.fold((i64::MAX, i64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = if low > high { (0, 1) } else { (low, high) };
    let margin = (0.05 * (high as f64 - low as f64)).max(0.5);
    let (right, bottom) = (SIZE.0 - RIGHT, SIZE.1 - BOTTOM);
    let scale = |low, high, from, to| Scale { low, high, logarithmic: false, from, to };
    let x = scale(0.0, report.outcome.seconds.max(1e-6), LEFT, right);
    let y = scale(low as f64 - margin, high as f64 + margin, bottom, TOP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" \
         height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{2}</text>\n",
        SIZE.0,
        SIZE.1,
        title.replace('&', "&amp;").replace('<', "&lt;"),
    );
    for mark in y.marks() {
        let at = y.at(mark);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{mark}</text>",
            LEFT - 8.0,
            at + 4.0,
        );
    }
    for mark in x.marks() {
        let (at, mark) = (x.at(mark), (mark * 1e6).round() / 1e6);
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{mark}</text>",
            bottom + 18.0
        );
    }
    let _ = writeln!(
        svg,
        "<path d=\"M{LEFT},{TOP} V{bottom} H{right}\" fill=\"none\" stroke=\"#333\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"13\">seconds</text>",
        0.5 * (LEFT + right),
        SIZE.1 - 14.0
    );
    let best = moments.iter().map(|moment| (moment.seconds, moment.best));
    let bound = moments.iter().map(|moment| (moment.seconds, moment.bound));
    // The end of both may be one point: the name of the one is above, of the other below.
    steps(&mut svg, ("best", "#d55e00", -6.0), best, (&x, &y));
    steps(&mut svg, ("bound", "#0072b2", 14.0), bound, (&x, &y));
    svg += "</svg>";
    svg
}

/// A line that goes level from change to change, and its name at the end.
fn steps(
    svg: &mut String,
    (name, colour, below): (&str, &str, f64),
    values: impl Iterator<Item = (f64, Option<i64>)>,
    (x, y): (&Scale, &Scale),
) {
    let mut path = String::new();
    let mut last = None;
    for (seconds, value) in values.filter_map(|(seconds, value)| Some((seconds, value?))) {
        let (right, down) = (x.at(seconds), y.at(value as f64));
        let _ = match last {
            None => write!(path, "M{right:.1},{down:.1}"),
            Some(_) => write!(path, " H{right:.1} V{down:.1}"),
        };
        last = Some((right, down));
    }
    let Some((right, down)) = last else { return };
    let _ = writeln!(
        svg,
        "<path d=\"{path} H{:.1}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
         <circle cx=\"{right:.1}\" cy=\"{down:.1}\" r=\"3\" fill=\"{colour}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>",
        x.to,
        x.to + 8.0,
        down + below,
    );
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
