//! A simulated run on sites as a picture: over time, how many workers were present and how many worked.

use crate::draw::axis::{Scale, corner, levels, mark_text};
use crate::draw::svg::{Anchor, Svg};
use pleach_lab::figures::Figures;
use pleach_lab::sites::{Occupancy, SiteFigures};
use std::fmt::Write;

const SIZE: (f64, f64) = (860.0, 420.0);
const LEFT: f64 = 78.0;
const TOP: f64 = 56.0;
const RIGHT: f64 = 130.0;
const BOTTOM: f64 = 56.0;
const THERE: &str = "#999999";
const WORKING: &str = "#0072b2";

/// Draws a run; `title` stands above it.
pub fn draw(title: &str, figures: &Figures, sites: &SiteFigures) -> String {
    let mut svg = Svg::new(SIZE.0, SIZE.1);
    svg.text((LEFT, 24.0), Anchor::Start, "font-size=\"15\"", title);
    svg.text((LEFT, 42.0), Anchor::Start, "fill=\"#555\"", &below(figures, sites));
    let (right, bottom) = (SIZE.0 - RIGHT, SIZE.1 - BOTTOM);
    let x = Scale::linear((0.0, (figures.declared_ns as f64 * 1e-9).max(1e-6)), (LEFT, right));
    let most = sites.over_time.iter().map(|moment| moment.workers).max().unwrap_or(1);
    let y = Scale::linear((0.0, 1.05 * f64::from(most.max(1))), (bottom, TOP));
    levels(&mut svg, &y, &y.whole_marks(), (LEFT, right));
    for mark in x.marks() {
        svg.text((x.at(mark), bottom + 18.0), Anchor::Middle, "", &mark_text(mark));
    }
    let middle = (0.5 * (LEFT + right), SIZE.1 - 14.0);
    svg.text(middle, Anchor::Middle, "font-size=\"13\"", "seconds");
    let turned = format!(
        "transform=\"translate(20 {}) rotate(-90)\" font-size=\"13\"",
        0.5 * (TOP + bottom)
    );
    svg.text((0.0, 0.0), Anchor::Middle, &turned, "workers");
    line(&mut svg, ("there", THERE, 14.0), &sites.over_time, |moment| moment.workers, (&x, &y));
    line(&mut svg, ("working", WORKING, 32.0), &sites.over_time, |moment| moment.busy, (&x, &y));
    corner(&mut svg, (LEFT, TOP), (right, bottom));
    svg.finish()
}

fn below(figures: &Figures, sites: &SiteFigures) -> String {
    format!(
        "simulated: {} sites died, {} joined, {} left; efficiency {:.3}, {:.2} % done twice",
        sites.died,
        sites.joined,
        sites.left,
        figures.efficiency(),
        100.0 * figures.redone()
    )
}

/// A line from moment to moment, with its name next to the top right corner.
fn line(
    svg: &mut Svg,
    (name, colour, down): (&str, &str, f64),
    moments: &[Occupancy],
    of: fn(&Occupancy) -> u32,
    (x, y): (&Scale, &Scale),
) {
    let mut path = String::new();
    for (i, moment) in moments.iter().enumerate() {
        let (right, down) = (x.at(moment.at_ns as f64 * 1e-9), y.at(f64::from(of(moment))));
        let _ = write!(path, "{}{right:.1},{down:.1}", if i == 0 { "M" } else { " L" });
    }
    svg.raw(format_args!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"/>"
    ));
    let place = (x.to + 10.0, TOP + down);
    svg.text(place, Anchor::Start, &format!("fill=\"{colour}\""), name);
}
