//! A search over time as a picture: its best value and its bound, or how fast a count went on, and what devices did.

use super::axis::{Scale, corner, levels, mark_text};
use super::phases;
use super::svg::{Anchor, Svg};
use crate::report::Report;
use crate::report::trace::{Moment, moments};
use pleach_core::tree::Goal;
use pleach_run::activity::Column;
use std::fmt::Write;

const SIZE: (f64, f64) = (860.0, 420.0);
const LEFT: f64 = 100.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 110.0;
const BOTTOM: f64 = 56.0;

/// Draws a search; `title` stands above it.
pub fn draw(title: &str, report: &Report) -> String {
    let mut svg = Svg::new(SIZE.0, SIZE.1 + phases::height(report));
    svg.text((LEFT, 24.0), Anchor::Start, "font-size=\"15\"", title);
    let (right, bottom) = (SIZE.0 - RIGHT, SIZE.1 - BOTTOM);
    let x = Scale::linear((0.0, report.outcome.seconds.max(1e-6)), (LEFT, right));
    for mark in x.marks() {
        svg.text((x.at(mark), bottom + 18.0), Anchor::Middle, "", &mark_text(mark));
    }
    let below = (0.5 * (LEFT + right), SIZE.1 - 14.0);
    svg.text(below, Anchor::Middle, "font-size=\"13\"", "seconds");
    if matches!(report.outcome.goal, Goal::Minimise | Goal::Maximise) {
        values(&mut svg, &moments(report), &x, bottom);
    } else {
        rates(&mut svg, report, &x, bottom);
    }
    corner(&mut svg, (LEFT, TOP), (right, bottom));
    phases::draw(&mut svg, report, &x, SIZE.1);
    svg.finish()
}

/// The best value and the bound.
fn values(svg: &mut Svg, moments: &[Moment], x: &Scale, bottom: f64) {
    let known = moments.iter().flat_map(|moment| [moment.best, moment.bound]).flatten();
    let (low, high) =
        known.fold((i64::MAX, i64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = if low > high { (0, 1) } else { (low, high) };
    // A line in the middle of the picture where all values are one.
    let margin = (0.05 * (high as f64 - low as f64)).max(if low == high { 2.0 } else { 0.5 });
    let y = Scale::linear((low as f64 - margin, high as f64 + margin), (bottom, TOP));
    levels(svg, &y, &y.whole_marks(), (LEFT, x.to));
    let best = moments.iter().map(|moment| (moment.seconds, moment.best));
    let bound = moments.iter().map(|moment| (moment.seconds, moment.bound));
    // The end of both may be one point: the name of the one is above, of the other below.
    steps(svg, ("best", "#d55e00", -6.0), best, (x, &y));
    steps(svg, ("bound", "#0072b2", 14.0), bound, (x, &y));
}

/// A line that goes level from change to change, with its name at the end.
fn steps(
    svg: &mut Svg,
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
    svg.raw(format_args!(
        "<path d=\"{path} H{:.1}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
         <circle cx=\"{right:.1}\" cy=\"{down:.1}\" r=\"3\" fill=\"{colour}\"/>",
        x.to
    ));
    let place = (x.to + 8.0, down + below);
    svg.text(place, Anchor::Start, &format!("fill=\"{colour}\""), name);
}

/// The nodes of all units a second, step by step.
fn rates(svg: &mut Svg, report: &Report, x: &Scale, bottom: f64) {
    let setup_s = report.outcome.setup_seconds;
    let units = || report.outcome.units.iter().filter_map(|unit| unit.activity.as_ref());
    let step_s = units().map(|all| all.step_ns as f64 * 1e-9).fold(0.0, f64::max);
    let steps = (report.outcome.seconds / step_s.max(1e-6)).ceil().clamp(1.0, 1e6) as usize;
    let mut nodes = vec![0.0; if step_s > 0.0 { steps } else { 0 }];
    for all in units() {
        for (i, &n) in all.column(Column::Nodes).iter().enumerate() {
            let at = ((i as f64 + 0.5) * all.step_ns as f64 * 1e-9 / step_s) as usize;
            let at = at.min(nodes.len() - 1);
            nodes[at] += n as f64;
        }
    }
    let end = report.outcome.seconds;
    let width = |i: usize| ((end - i as f64 * step_s).min(step_s)).max(1e-9);
    let rates: Vec<f64> = nodes.iter().enumerate().map(|(i, n)| n / width(i)).collect();
    let most = rates.iter().copied().fold(1.0, f64::max);
    let y = Scale::linear((0.0, 1.05 * most), (bottom, TOP));
    levels(svg, &y, &y.marks(), (LEFT, x.to));
    let mut path = format!("M{:.1},{:.1}", x.at(setup_s.min(end)), y.at(0.0));
    for (i, &rate) in rates.iter().enumerate() {
        let to = x.at(((i + 1) as f64 * step_s + setup_s).min(end));
        let _ = write!(path, " V{:.1} H{to:.1}", y.at(rate));
    }
    svg.raw(format_args!(
        "<path d=\"{path} V{bottom}\" fill=\"#cfe4f2\" stroke=\"#0072b2\" stroke-width=\"1.5\"/>"
    ));
    let place = (x.to + 8.0, TOP + 14.0);
    svg.text(place, Anchor::Start, "fill=\"#0072b2\"", "nodes a second");
}
