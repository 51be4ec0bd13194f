//! The activity of devices over time: a strip for each, with the fraction of its explorers that had work.

use super::axis::Scale;
use super::svg::{Anchor, Svg};
use crate::report::Report;
use crate::report::trace::{PHASES, phases};
use pleach_runtime::activity::{Activity, Column};
use std::fmt::Write;

/// The heights of a strip, of the space above it, and of the margin below the last one.
const STRIP: f64 = 64.0;
const ABOVE: f64 = 30.0;
const BELOW: f64 = 14.0;
/// The maximum number of strips; more would not fit on a page.
const MOST: usize = 8;
/// The colours of the phases, and of the line of active explorers.
const COLOURS: [&str; 4] = ["#9ecae1", "#fdae6b", "#c994c7", "#eee"];
const ACTIVE: &str = "#222222";

/// The devices that were traced.
fn devices(report: &Report) -> impl Iterator<Item = (&str, &Activity)> {
    let workers = report.outcome.workers.iter().filter(|worker| !worker.mode.is_empty());
    workers.filter_map(|worker| Some((&*worker.name, worker.activity.as_ref()?))).take(MOST)
}

/// The height of all strips of a search.
pub fn height(report: &Report) -> f64 {
    let strips = devices(report).count() as f64;
    strips * (STRIP + ABOVE) + if strips > 0.0 { BELOW } else { 0.0 }
}

/// Draws a strip for each device, from `top` downwards.
pub fn draw(svg: &mut Svg, report: &Report, x: &Scale, top: f64) {
    for (at, (name, activity)) in devices(report).enumerate() {
        let top = top + at as f64 * (STRIP + ABOVE) + ABOVE;
        svg.text((x.from, top - 6.0), Anchor::Start, "", name);
        strip(svg, report, activity, x, top);
        if at == 0 {
            legend(svg, x, top - 6.0);
        }
    }
}

fn legend(svg: &mut Svg, x: &Scale, line: f64) {
    let names = PHASES.iter().zip(COLOURS).chain([(&"active explorers", ACTIVE)]);
    let mut right = x.from + 110.0;
    for (name, colour) in names {
        svg.raw(format_args!(
            "<rect x=\"{right:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" fill=\"{colour}\" stroke=\"#999\"/>",
            line - 9.0
        ));
        svg.text((right + 14.0, line), Anchor::Start, "", name);
        right += 34.0 + 7.0 * name.len() as f64;
    }
}

fn strip(svg: &mut Svg, report: &Report, activity: &Activity, x: &Scale, top: f64) {
    let (setup_s, end_s) = (report.outcome.setup_seconds, report.outcome.seconds);
    let y = Scale::linear((0.0, 1.0), (top + STRIP, top));
    let when = |step: usize| {
        x.at((step as f64 * activity.step_ns as f64 * 1e-9 + setup_s).clamp(0.0, end_s))
    };
    // Phases are stacked: the last one is at the bottom, and each one is drawn over those after it.
    let steps: Vec<[f64; 4]> = phases(activity).collect();
    for (phase, colour) in COLOURS.iter().enumerate().rev() {
        let mut path = format!("M{:.1},{:.1}", when(0), y.at(0.0));
        for (at, parts) in steps.iter().enumerate() {
            let upto: f64 = parts[..=phase].iter().sum();
            let _ = write!(path, " V{:.1} H{:.1}", y.at(upto.min(1.0)), when(at + 1));
        }
        svg.raw(format_args!("<path d=\"{path} V{:.1} Z\" fill=\"{colour}\"/>", y.at(0.0)));
    }
    let mut path = String::new();
    let busy = activity.column(Column::Busy).iter().zip(activity.column(Column::Active));
    for (at, (&busy, &active)) in busy.enumerate() {
        let part = y.at((active as f64 / busy.max(1) as f64).min(1.0));
        let first = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{first}{:.1},{part:.1} H{:.1} ", when(at), when(at + 1));
    }
    if !path.is_empty() {
        svg.raw(format_args!("<path d=\"{path}\" fill=\"none\" stroke=\"{ACTIVE}\"/>"));
    }
    svg.raw(format_args!(
        "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{STRIP}\" fill=\"none\" stroke=\"#999\"/>",
        x.from,
        x.to - x.from
    ));
}
