//! Lanes over time: how busy each worker was, and when each process was present.

use super::axis::{Scale, mark_text};
use super::svg::{Anchor, Svg, escaped};
use std::fmt::Write;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 130.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 48.0;
/// A lane, and the gap below it.
const LANE: f64 = 16.0;
const GAP: f64 = 5.0;
/// The maximum number of pieces of a lane; more would not be visible.
const PIECES: usize = 360;
/// The number of shades; all paths of one shade form one element.
const SHADES: usize = 8;
/// The maximum number of characters of a name.
const NAME: usize = 18;

/// A lane.
pub struct Lane<'a> {
    pub name: &'a str,
    /// The start of its first step, and the length of each step.
    pub from_s: f64,
    pub step_s: f64,
    /// How busy it was in each step, from 0 to 1.
    pub parts: Vec<f64>,
    /// The same for a second activity, which is drawn in another colour.
    pub others: Vec<f64>,
}

/// Draws lanes, one above the other.
pub fn draw(title: &str, lanes: &[Lane<'_>], seconds: f64) -> String {
    let height = TOP + lanes.len() as f64 * (LANE + GAP) + BOTTOM;
    let mut svg = Svg::new(WIDTH, height);
    svg.text((LEFT, 24.0), Anchor::Start, "font-size=\"15\"", title);
    let x = Scale::linear((0.0, seconds.max(1e-6)), (LEFT, WIDTH - RIGHT));
    let bottom = height - BOTTOM;
    for mark in x.marks() {
        svg.line((x.at(mark), TOP - 4.0), (x.at(mark), bottom), "#ddd");
        svg.text((x.at(mark), bottom + 16.0), Anchor::Middle, "", &mark_text(mark));
    }
    let under = (0.5 * (x.from + x.to), height - 12.0);
    svg.text(under, Anchor::Middle, "font-size=\"13\"", "seconds");
    for (at, lane) in lanes.iter().enumerate() {
        let top = TOP + at as f64 * (LANE + GAP);
        svg.text((LEFT - 8.0, top + LANE - 3.5), Anchor::End, "", &cut(lane.name, NAME));
        svg.raw(format_args!(
            "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{LANE}\" fill=\"#eee\">\
             <title>{}</title></rect>",
            x.from,
            x.to - x.from,
            escaped(lane.name)
        ));
        for (parts, colour) in [(&lane.parts, "#0072b2"), (&lane.others, "#e69f00")] {
            shades(&mut svg, (&pieces(lane, parts, x.high), colour), &x, top);
        }
    }
    svg.finish()
}

/// How busy a lane was with one activity in equal intervals of time.
fn pieces(lane: &Lane<'_>, parts: &[f64], end_s: f64) -> Vec<f64> {
    let width = end_s / PIECES as f64;
    let mut pieces = vec![0.0; PIECES];
    for (i, &part) in parts.iter().enumerate() {
        let from = (lane.from_s + i as f64 * lane.step_s).clamp(0.0, end_s);
        let until = (lane.from_s + (i + 1) as f64 * lane.step_s).clamp(0.0, end_s);
        let first = ((from / width) as usize).min(PIECES - 1);
        let last = ((until / width) as usize).min(PIECES - 1);
        for (piece, sum) in (first..).zip(&mut pieces[first..=last]) {
            let (left, right) = (piece as f64 * width, (piece + 1) as f64 * width);
            *sum += part * (until.min(right) - from.max(left)).max(0.0) / width;
        }
    }
    pieces
}

fn shades(svg: &mut Svg, (pieces, colour): (&[f64], &str), x: &Scale, top: f64) {
    let shade = |part: f64| (part.clamp(0.0, 1.0) * SHADES as f64).round() as usize;
    let width = (x.to - x.from) / pieces.len() as f64;
    for wanted in 1..=SHADES {
        let mut path = String::new();
        let mut at = 0;
        while at < pieces.len() {
            let run = pieces[at..].iter().take_while(|&&part| shade(part) == wanted).count();
            if run > 0 {
                let (left, long) = (x.from + at as f64 * width, run as f64 * width);
                let _ = write!(path, "M{left:.1},{top:.1}h{long:.1}v{LANE}h-{long:.1}z");
            }
            at += run.max(1);
        }
        if !path.is_empty() {
            let part = wanted as f64 / SHADES as f64;
            svg.raw(format_args!(
                "<path d=\"{path}\" fill=\"{colour}\" fill-opacity=\"{part:.3}\"/>"
            ));
        }
    }
}

/// The beginning of a long name.
pub fn cut(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_string();
    }
    name.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_as_dark_as_it_was_busy() {
        let lane = Lane {
            name: "<cpu0>",
            from_s: 1.0,
            step_s: 1.0,
            parts: vec![1.0, 0.5, 0.0],
            others: vec![0.0, 0.0, 1.0],
        };
        let pieces = pieces(&lane, &lane.parts, 4.0);
        // Partial overlaps are added up.
        for (at, part) in [(0, 0.0), (PIECES / 4 + 1, 1.0), (PIECES - 1, 0.0)] {
            assert!((pieces[at] - part).abs() < 1e-9, "{at}: {}", pieces[at]);
        }
        assert!((pieces.iter().sum::<f64>() / PIECES as f64 - 1.5 / 4.0).abs() < 1e-9);
        let svg = draw("t", &[lane], 4.0);
        assert_eq!(
            svg.matches("<path").count(),
            3,
            "two shades, and one of the other colour: {svg}"
        );
        assert!(svg.contains("&lt;cpu0&gt;"));
    }

    #[test]
    fn times_beyond_the_end_do_no_harm() {
        for seconds in [0.0, 1e-9, 1e15] {
            let (parts, others) = (vec![1.0; 9], vec![]);
            let svg = draw(
                "t",
                &[Lane { name: "a", from_s: 1e15, step_s: 1e15, parts, others }],
                seconds,
            );
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{seconds}");
        }
    }
}
