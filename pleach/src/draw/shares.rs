//! The share of each worker in a run: bars of its time, and of its share of the work.

use super::lanes::cut;
use super::svg::{Anchor, Svg, escaped};
use crate::report::columns::digits;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 130.0;
const TOP: f64 = 52.0;
const BAR: f64 = 16.0;
const GAP: f64 = 5.0;
/// The widths of the bars of time and of shares, with room for a number after each.
const TIME: f64 = 330.0;
const SHARE: f64 = 230.0;
const BETWEEN: f64 = 80.0;
/// The maximum number of characters of a name.
const NAME: usize = 18;

/// The part of a worker.
pub struct WorkerShare<'a> {
    pub name: &'a str,
    pub busy_s: f64,
    pub idle_s: f64,
    /// Its share of the work, if known.
    pub share: Option<f64>,
}

/// Draws a pair of bars for each worker; `what` is shared.
pub fn draw(workers: &[WorkerShare<'_>], what: &str) -> String {
    let mut svg = Svg::new(WIDTH, TOP + workers.len() as f64 * (BAR + GAP) + 12.0);
    let right = LEFT + TIME + BETWEEN;
    let most_s = workers.iter().map(|worker| worker.busy_s + worker.idle_s).fold(1e-12, f64::max);
    let most = workers.iter().filter_map(|worker| worker.share).fold(1e-12, f64::max);
    svg.text((LEFT, 22.0), Anchor::Start, "font-size=\"14\"", "seconds busy, and idle");
    svg.text((right, 22.0), Anchor::Start, "font-size=\"14\"", what);
    let legend = [(LEFT, "#0072b2", "busy"), (LEFT + 70.0, "#d9d9d9", "idle")];
    for (left, colour, name) in legend {
        rect(&mut svg, (left, 30.0), (10.0, 10.0), colour, name);
        svg.text((left + 14.0, 39.0), Anchor::Start, "fill=\"#555\"", name);
    }
    for (at, worker) in workers.iter().enumerate() {
        let top = TOP + at as f64 * (BAR + GAP);
        let line = top + BAR - 3.5;
        svg.text((LEFT - 8.0, line), Anchor::End, "", &cut(worker.name, NAME));
        let [busy, idle] = [worker.busy_s, worker.idle_s].map(|seconds| TIME * seconds / most_s);
        rect(&mut svg, (LEFT, top), (busy, BAR), "#0072b2", worker.name);
        rect(&mut svg, (LEFT + busy, top), (idle, BAR), "#d9d9d9", worker.name);
        svg.text((LEFT + TIME + 6.0, line), Anchor::Start, "fill=\"#555\"", &digits(worker.busy_s));
        if let Some(share) = worker.share {
            let long = SHARE * share / most;
            rect(&mut svg, (right, top), (long, BAR), "#e69f00", worker.name);
            let said = format!("{:.1} %", 100.0 * share);
            svg.text((right + long + 6.0, line), Anchor::Start, "fill=\"#555\"", &said);
        }
    }
    svg.finish()
}

fn rect(svg: &mut Svg, (x, y): (f64, f64), (wide, high): (f64, f64), colour: &str, name: &str) {
    svg.raw(format_args!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{high}\" fill=\"{colour}\">\
         <title>{}</title></rect>",
        escaped(name)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_that_did_nothing_have_bars_of_no_length() {
        let worker = |share| WorkerShare { name: "a<b", busy_s: 0.0, idle_s: 0.0, share };
        let svg = draw(&[worker(Some(0.0)), worker(None)], "nodes");
        assert!(svg.contains("a&lt;b") && !svg.contains("NaN") && svg.contains("0.0 %"), "{svg}");
    }
}
