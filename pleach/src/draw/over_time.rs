//! A picture of a search over time: its best value and its bound, or the rate of a count, and the activity of devices.

use super::axis::{Scale, corner, levels, mark_text};
use super::phases;
use super::svg::{Anchor, Svg};
use crate::report::Report;
use crate::report::moment::Moment;
use crate::report::trace::moments;
use pleach_core::search::tree::Goal;
use pleach_runtime::activity::Column;
use std::fmt::Write;

const SIZE: (f64, f64) = (860.0, 420.0);
const LEFT: f64 = 100.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 110.0;
const BOTTOM: f64 = 56.0;

/// Draws a search under a `title`. Values are multiples of 10 to the power of minus `decimals`.
pub fn draw(title: &str, report: &Report, decimals: u32) -> String {
    let outcome = &report.outcome;
    let frame = Frame::new(title, outcome.seconds, phases::height(report));
    let Frame { mut svg, x, bottom } = frame;
    if matches!(outcome.goal, Goal::Minimise | Goal::Maximise) {
        values(&mut svg, (&moments(report), decimals), &x, bottom);
    } else {
        let workers = outcome.workers.iter().filter_map(|worker| worker.activity.as_ref());
        let nodes = workers.map(|all| {
            let nodes = all.column(Column::Nodes).iter().map(|&nodes| nodes as f64);
            (all.step_ns as f64 * 1e-9, nodes.collect())
        });
        let steps = summed(&nodes.collect::<Vec<_>>(), (outcome.setup_seconds, outcome.seconds));
        area(&mut svg, ("nodes a second", &steps), outcome.setup_seconds, &x, bottom);
    }
    corner(&mut svg, (LEFT, TOP), (x.to, bottom));
    phases::draw(&mut svg, report, &x, SIZE.1);
    svg.finish()
}

/// Draws only the best value and the bound, which are multiples of 10 to the power of minus `decimals`.
pub fn draw_values(title: &str, (moments, decimals): (&[Moment], u32), seconds: f64) -> String {
    let Frame { mut svg, x, bottom } = Frame::new(title, seconds, 0.0);
    values(&mut svg, (moments, decimals), &x, bottom);
    corner(&mut svg, (LEFT, TOP), (x.to, bottom));
    svg.finish()
}

/// Draws a step function from a start time: the end of each step, and its value.
pub fn draw_steps(
    title: &str,
    what: (&str, &[(f64, f64)]),
    (from_s, seconds): (f64, f64),
) -> String {
    let Frame { mut svg, x, bottom } = Frame::new(title, seconds, 0.0);
    area(&mut svg, what, from_s, &x, bottom);
    corner(&mut svg, (LEFT, TOP), (x.to, bottom));
    svg.finish()
}

/// A picture with its time axis.
struct Frame {
    svg: Svg,
    x: Scale,
    bottom: f64,
}

impl Frame {
    fn new(title: &str, seconds: f64, below: f64) -> Self {
        let mut svg = Svg::new(SIZE.0, SIZE.1 + below);
        svg.text((LEFT, 24.0), Anchor::Start, "font-size=\"15\"", title);
        let (right, bottom) = (SIZE.0 - RIGHT, SIZE.1 - BOTTOM);
        let x = Scale::linear((0.0, seconds.max(1e-6)), (LEFT, right));
        for mark in x.marks() {
            svg.text((x.at(mark), bottom + 18.0), Anchor::Middle, "", &mark_text(mark));
        }
        let under = (0.5 * (LEFT + right), SIZE.1 - 14.0);
        svg.text(under, Anchor::Middle, "font-size=\"13\"", "seconds");
        Self { svg, x, bottom }
    }
}

/// The best value and the bound.
fn values(svg: &mut Svg, (moments, decimals): (&[Moment], u32), x: &Scale, bottom: f64) {
    let known = moments.iter().flat_map(|moment| [moment.best, moment.bound]).flatten();
    let (low, high) =
        known.fold((i64::MAX, i64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = if low > high { (0, 1) } else { (low, high) };
    // If all values are equal, their line is in the middle of the picture.
    let margin = (0.05 * (high as f64 - low as f64)).max(if low == high { 2.0 } else { 0.5 });
    // Very large numbers, whose neighbours are far apart, need more.
    let margin = margin.max(1e-9 * (high as f64).abs().max((low as f64).abs()));
    let ends = (low as f64 - margin, high as f64 + margin);
    let y = Scale { decimals, ..Scale::linear(ends, (bottom, TOP)) };
    levels(svg, &y, &y.whole_marks(), (LEFT, x.to));
    let best = moments.iter().map(|moment| (moment.seconds, moment.best));
    let bound = moments.iter().map(|moment| (moment.seconds, moment.bound));
    // Both may end at the same point, so one name is above it and the other below.
    steps(svg, ("best", "#d55e00", -6.0), best, (x, &y));
    steps(svg, ("bound", "#0072b2", 14.0), bound, (x, &y));
}

/// A step line, level between changes, with its name at the end.
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

/// The maximum number of steps of a picture.
const STEPS: f64 = 240.0;
/// The number of steps over which a rate is averaged, as a part of all steps. Many explorers count nodes in bursts, which
/// say nothing about their speed.
const AVERAGED: f64 = 1.0 / 30.0;

/// The combined rate of all workers, step by step: the end of each step, and the amount done a second, averaged over the
/// steps around it. Each worker has its own step length, and its steps begin after the set-up.
pub fn summed(workers: &[(f64, Vec<f64>)], during: (f64, f64)) -> Vec<(f64, f64)> {
    averaged(&combined(workers, during, STEPS))
}

/// The rate in each of at most this many steps.
fn combined(
    workers: &[(f64, Vec<f64>)],
    (setup_s, end_s): (f64, f64),
    most: f64,
) -> Vec<(f64, f64)> {
    let longest = workers.iter().map(|(step_s, _)| *step_s).fold(0.0, f64::max);
    let all_s = end_s - setup_s;
    if longest <= 0.0 || all_s <= 0.0 {
        return Vec::new();
    }
    let step_s = longest.max(all_s / most);
    let mut sums = vec![0.0; (all_s / step_s).ceil().clamp(1.0, most) as usize];
    for (own_s, all) in workers {
        for (i, value) in all.iter().enumerate() {
            let [from, to] = [i, i + 1].map(|i| (i as f64 * own_s).min(all_s) / step_s);
            spread(&mut sums, (from, to), *value);
        }
    }
    let width = |i: usize| (all_s - i as f64 * step_s).min(step_s).max(1e-9);
    let until = |i: usize| ((i + 1) as f64 * step_s + setup_s).min(end_s);
    sums.iter().enumerate().map(|(i, sum)| (until(i), sum / width(i))).collect()
}

/// Averages of the values around each step, the nearest ones weighing most.
fn averaged(steps: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let reach = (AVERAGED * steps.len() as f64).ceil() as usize;
    let average = |at: usize| {
        let around = at.saturating_sub(reach)..(at + reach + 1).min(steps.len());
        let (sum, weights) = around.fold((0.0, 0.0), |(sum, weights), other| {
            let weight = (reach + 1 - at.abs_diff(other)) as f64;
            (sum + weight * steps[other].1, weights + weight)
        });
        (steps[at].0, sum / weights)
    };
    (0..steps.len()).map(average).collect()
}

/// Adds a value evenly to the steps between two points.
fn spread(sums: &mut [f64], (from, to): (f64, f64), value: f64) {
    let last = sums.len() - 1;
    let (first, end) = ((from as usize).min(last), (to.ceil() as usize).min(last + 1));
    if to <= from || end <= first + 1 {
        sums[first] += value;
        return;
    }
    for (step, sum) in sums.iter_mut().enumerate().take(end).skip(first) {
        let upper = if step == last { to } else { to.min((step + 1) as f64) };
        *sum += value * (upper - from.max(step as f64)) / (to - from);
    }
}

/// Steps as a filled curve, with its name at the end.
fn area(svg: &mut Svg, (name, steps): (&str, &[(f64, f64)]), from_s: f64, x: &Scale, bottom: f64) {
    let most = steps.iter().map(|step| step.1).fold(1.0, f64::max);
    let y = Scale::linear((0.0, 1.05 * most), (bottom, TOP));
    levels(svg, &y, &y.marks(), (LEFT, x.to));
    let mut path = format!("M{:.1},{:.1}", x.at(from_s.min(x.high)), y.at(0.0));
    for &(until, value) in steps {
        let _ = write!(path, " V{:.1} H{:.1}", y.at(value), x.at(until));
    }
    svg.raw(format_args!(
        "<path d=\"{path} V{bottom}\" fill=\"#cfe4f2\" stroke=\"#0072b2\" stroke-width=\"1.5\"/>"
    ));
    let place = (x.to + 8.0, TOP + 14.0);
    svg.text(place, Anchor::Start, "fill=\"#0072b2\"", name);
    svg.text((place.0, place.1 + 15.0), Anchor::Start, "fill=\"#555\"", "(averages)");
}

#[cfg(test)]
mod tests {
    use super::{Moment, STEPS, averaged, combined, draw_values, summed};

    /// Values used to be drawn as whole numbers, ten times as large.
    #[test]
    fn values_have_their_decimals() {
        let moment = |seconds, best| Moment { seconds, best: Some(best), bound: Some(120) };
        let moments = [moment(0.0, 140), moment(1.0, 125)];
        let svg = draw_values("", (&moments, 1), 2.0);
        for said in [">12.0</text>", ">12.5</text>", ">14.0</text>"] {
            assert!(svg.contains(said), "{said}: {svg}");
        }
        let svg = draw_values("", (&moments, 0), 2.0);
        assert!(svg.contains(">125</text>") && !svg.contains(">12.5</text>"), "{svg}");
    }

    /// Workers whose steps differ in length do as much a second at all times, and so does their sum.
    #[test]
    fn an_even_rate_stays_even() {
        for (steps, end_s, most) in
            [([0.010, 0.016], 1.0, 2048.0), ([0.010, 0.010], 1.0, 66.0), ([0.3, 0.2], 1.0, 3.0)]
        {
            let worker = |step_s: f64| {
                let starts =
                    (0..).map(|i| f64::from(i) * step_s).take_while(|at| *at < end_s - 1e-9);
                (step_s, starts.map(|at| 50.0 * step_s.min(end_s - at)).collect::<Vec<f64>>())
            };
            let sums = combined(&steps.map(worker), (0.5, 0.5 + end_s), most);
            assert!(sums.len() as f64 <= most && sums.len() > 2);
            for (until, rate) in sums {
                assert!((rate - 100.0).abs() < 1e-6, "{steps:?}: {rate} until {until}");
            }
            for (_, rate) in averaged(&combined(&steps.map(worker), (0.5, 0.5 + end_s), most)) {
                assert!((rate - 100.0).abs() < 1e-6, "{steps:?}: {rate}");
            }
        }
    }

    /// A worker that counts its nodes six at a time works no less evenly for it.
    #[test]
    fn bursts_are_no_combs() {
        let bursts = (0..900).map(|i| if i % 6 == 0 { 12.0 } else { 0.0 }).collect();
        let sums = summed(&[(0.002, bursts)], (0.0, 1.8));
        assert!(sums.len() <= STEPS as usize);
        for (until, rate) in sums {
            assert!((800.0..1200.0).contains(&rate), "{rate} until {until}");
        }
    }
}
