//! A line chart over a scenario's lists, as SVG.

use super::scenario::{Axis, Paper, Scenario};
use super::table::{digits, labels, mean_and_spread, metric, values};
use crate::draw::axis::{Scale, corner, levels};
use crate::draw::svg::{Anchor, Svg, escaped};
use pleach_core::sim::figures::Figures;

/// The whole picture, and the part that shows data.
const SIZE: (f64, f64) = (860.0, 520.0);
const LEFT: f64 = 78.0;
const TOP: f64 = 56.0;
const RIGHT: f64 = 230.0;
const BOTTOM: f64 = 64.0;
/// Colours that remain distinct without telling red from green.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999"];

/// One line: a name, its points with the spread of each, and published points.
struct Line {
    name: String,
    points: Vec<(f64, f64, f64)>,
    paper: Vec<(f64, f64)>,
}

/// Draws the figure that the scenario names over its first list, a line for each value of the second.
pub fn draw(scenario: &Scenario, runs: &[Vec<Figures>]) -> String {
    let places = places(scenario.axes.first());
    let lines = lines(scenario, runs, &places);
    let all = || lines.iter().flat_map(|line| &line.points);
    let paper = || lines.iter().flat_map(|line| &line.paper);
    let xs: Vec<f64> = places.iter().map(|place| place.1).collect();
    let (low_x, high_x) = ends(&xs);
    let logarithmic =
        low_x > 0.0 && high_x / low_x >= 8.0 && numbers(scenario.axes.first()).is_some();
    let ys: Vec<f64> = all().flat_map(|point| [point.1 - point.2, point.1 + point.2]).collect();
    let ys: Vec<f64> = ys.into_iter().chain(paper().map(|point| point.1)).collect();
    let (low_y, high_y) = ends(&ys);
    let part = matches!(scenario.chart.as_str(), "efficiency" | "idle") && high_y <= 1.02;
    let (low_y, high_y) = match (part, low_y.min(0.0)) {
        // Shares that are all large are shown enlarged.
        (true, _) if low_y > 0.5 => (((low_y * 20.0).floor() / 20.0).min(0.95), 1.004),
        (true, _) => (0.0, 1.02),
        (false, low) => (low, high_y + 0.04 * (high_y - low)),
    };
    let (right, bottom) = (SIZE.0 - RIGHT, SIZE.1 - BOTTOM);
    let margin = if logarithmic { 1.0 } else { 0.03 * (high_x - low_x).max(1e-9) };
    let x = Scale {
        low: if logarithmic { low_x * 0.93 } else { low_x - margin },
        high: if logarithmic { high_x * 1.07 } else { high_x + margin },
        logarithmic,
        from: LEFT,
        to: right,
    };
    let y = Scale::linear((low_y, high_y), (bottom, TOP));
    let mut svg = frame(scenario);
    axes(&mut svg, scenario, &places, &x, &y);
    // Names have no order: nothing lies between them.
    let between = numbers(scenario.axes.first()).is_some();
    for ((line, colour), dash) in lines.iter().zip(COLOURS.iter().cycle()).zip(dashes()) {
        let dash = if between { dash } else { "0 1" };
        plot(&mut svg, line, colour, dash, &x, &y);
    }
    legend(&mut svg, &lines, scenario);
    svg.finish()
}

/// Every other line is dashed, so that one that lies on another does not hide it.
fn dashes() -> impl Iterator<Item = &'static str> {
    ["none", "7 5"].into_iter().cycle()
}

fn numbers(axis: Option<&Axis>) -> Option<Vec<f64>> {
    axis.and_then(|axis| axis.values.iter().map(|value| value.parse().ok()).collect())
}

/// The values of the first list, and where each stands: by its number, or one after the other.
fn places(axis: Option<&Axis>) -> Vec<(String, f64)> {
    let Some(all) = axis else { return vec![(String::new(), 0.0)] };
    let at = numbers(axis);
    let place = |i: usize| at.as_ref().map_or(i as f64, |numbers| numbers[i]);
    all.values.iter().enumerate().map(|(i, value)| (value.clone(), place(i))).collect()
}

fn ends(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(f64::MAX, f64::min), finite().fold(f64::MIN, f64::max));
    if low > high {
        (0.0, 1.0)
    } else if low == high {
        (low - 0.5 * low.abs().min(1.0), high + 0.5 * high.abs().max(1.0))
    } else {
        (low, high)
    }
}

fn lines(scenario: &Scenario, runs: &[Vec<Figures>], places: &[(String, f64)]) -> Vec<Line> {
    let Some(metric) = metric(&scenario.chart) else { return Vec::new() };
    let mut lines: Vec<Line> = Vec::new();
    for ((label, spec), runs) in labels(scenario).into_iter().zip(&scenario.cells).zip(runs) {
        let name = label.get(1).cloned().unwrap_or_default();
        let at = place(places, label.first().map_or("", String::as_str)).unwrap_or(0.0);
        let (mean, spread) = mean_and_spread(&values(metric, spec, runs));
        let known = lines.iter().position(|line| line.name == name);
        let known = known.unwrap_or_else(|| {
            lines.push(Line { name, points: Vec::new(), paper: Vec::new() });
            lines.len() - 1
        });
        lines[known].points.push((at, mean, spread));
    }
    let of_chart = |paper: &&Paper| paper.drawn && paper.what == scenario.chart;
    for paper in scenario.paper.iter().filter(of_chart) {
        let Some(at) = place(places, &paper.x) else { continue };
        let known = lines.iter().position(|line| line.name == paper.series);
        let known = known.unwrap_or_else(|| {
            let name = paper.series.clone();
            lines.push(Line { name, points: Vec::new(), paper: Vec::new() });
            lines.len() - 1
        });
        lines[known].paper.push((at, paper.value));
    }
    if scenario.chart == "speed_up" {
        // First, so that the others lie above it.
        lines.insert(0, ideal(scenario, places));
    }
    lines
}

/// The sum of the powers of all peers: an upper bound on the speed-up.
fn ideal(scenario: &Scenario, places: &[(String, f64)]) -> Line {
    let mut points: Vec<(f64, f64, f64)> = Vec::new();
    for (label, spec) in labels(scenario).into_iter().zip(&scenario.cells) {
        let at = place(places, label.first().map_or("", String::as_str)).unwrap_or(0.0);
        let power = spec.cluster.machine.power() / spec.unit_speed;
        if points.last().is_none_or(|last| last.0 != at) {
            points.push((at, power, 0.0));
        }
    }
    Line { name: "sum of powers".into(), points, paper: Vec::new() }
}

fn place(places: &[(String, f64)], value: &str) -> Option<f64> {
    places.iter().find(|place| place.0 == value).map(|place| place.1)
}

fn frame(scenario: &Scenario) -> Svg {
    let mut svg = Svg::new(SIZE.0, SIZE.1);
    svg.text((LEFT, 24.0), Anchor::Start, "font-size=\"15\"", &scenario.title);
    let seeds = scenario.seeds.len();
    let below = format!("simulated, mean and standard deviation over {seeds} seeds");
    svg.text((LEFT, 42.0), Anchor::Start, "fill=\"#555\"", &below);
    svg
}

fn axes(svg: &mut Svg, scenario: &Scenario, places: &[(String, f64)], x: &Scale, y: &Scale) {
    levels(svg, y, &y.marks(), (x.from, x.to));
    let mut last = f64::MIN;
    for (value, place) in places {
        let at = x.at(*place);
        let room = 7.0 * value.len() as f64 + 6.0;
        svg.line((at, y.from), (at, y.from + 5.0), "#333");
        // Values that would run into each other are left out.
        if at - last >= room {
            last = at;
            svg.text((at, y.from + 20.0), Anchor::Middle, "", value);
        }
    }
    corner(svg, (x.from, y.to), (x.to, y.from));
    let name = scenario.axes.first().map_or("", |axis| axis.name.as_str());
    let how = if x.logarithmic { " (logarithmic)" } else { "" };
    let (middle_x, middle_y) = (0.5 * (x.from + x.to), 0.5 * (y.from + y.to));
    let size = "font-size=\"13\"";
    svg.text((middle_x, y.from + 44.0), Anchor::Middle, size, &format!("{name}{how}"));
    let turned = format!("transform=\"translate(20 {middle_y}) rotate(-90)\" {size}");
    svg.text((0.0, 0.0), Anchor::Middle, &turned, &scenario.chart.replace('_', " "));
}

fn plot(svg: &mut Svg, line: &Line, colour: &str, dash: &str, x: &Scale, y: &Scale) {
    let path: Vec<String> = line
        .points
        .iter()
        .map(|&(at, mean, _)| format!("{:.1},{:.1}", x.at(at), y.at(mean)))
        .collect();
    svg.raw(format_args!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
         stroke-dasharray=\"{dash}\"/>",
        path.join(" ")
    ));
    for &(at, mean, spread) in &line.points {
        let (at, above, below) = (x.at(at), y.at(mean + spread), y.at(mean - spread));
        svg.raw(format_args!(
            "<path d=\"M{at:.1},{above:.1} V{below:.1}\" stroke=\"{colour}\"/>\
             <circle cx=\"{at:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"><title>{} {}</title>\
             </circle>",
            y.at(mean),
            escaped(&line.name),
            digits(mean)
        ));
    }
    for &(at, value) in &line.paper {
        let (at, value) = (x.at(at), y.at(value));
        svg.raw(format_args!(
            "<path d=\"M{at:.1},{:.1} l5,5 l-5,5 l-5,-5 z\" fill=\"white\" stroke=\"{colour}\" \
             stroke-width=\"1.6\"/>",
            value - 5.0
        ));
    }
}

fn legend(svg: &mut Svg, lines: &[Line], scenario: &Scenario) {
    let left = SIZE.0 - RIGHT + 18.0;
    let mut top = TOP + 8.0;
    if let Some(axis) = scenario.axes.get(1) {
        svg.raw(format_args!(
            "<text x=\"{left}\" y=\"{top}\" fill=\"#555\">{}</text>",
            escaped(&axis.name)
        ));
        top += 20.0;
    }
    let named = lines.iter().zip(COLOURS.iter().cycle()).zip(dashes());
    for ((line, colour), dash) in named.filter(|((line, _), _)| !line.name.is_empty()) {
        svg.raw(format_args!(
            "<path d=\"M{left},{:.1} h22\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-dasharray=\"{dash}\"/>\
             <circle cx=\"{}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"{top}\">{}</text>",
            top - 4.0,
            left + 11.0,
            top - 4.0,
            left + 30.0,
            escaped(&line.name)
        ));
        top += 20.0;
    }
    if lines.iter().any(|line| !line.paper.is_empty()) {
        svg.raw(format_args!(
            "<path d=\"M{},{:.1} l5,5 l-5,5 l-5,-5 z\" fill=\"white\" stroke=\"#333\" \
             stroke-width=\"1.6\"/><text x=\"{}\" y=\"{top}\">published</text>",
            left + 11.0,
            top - 9.0,
            left + 30.0
        ));
    }
}
