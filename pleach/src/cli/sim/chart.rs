//! A line chart over a scenario's lists, as SVG.

use super::super::scale::Scale;
use super::scenario::{Axis, Paper, Scenario};
use super::table::{digits, labels, mean_and_spread, metric, values};
use pleach_core::sim::figures::Figures;
use std::fmt::Write;

/// The whole picture, and the part that shows data.
const SIZE: (f64, f64) = (860.0, 520.0);
const LEFT: f64 = 78.0;
const TOP: f64 = 56.0;
const RIGHT: f64 = 230.0;
const BOTTOM: f64 = 64.0;
/// Colours that also differ for those who see red and green alike.
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
        // Parts that are all large are looked at from near.
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
    let y = Scale { low: low_y, high: high_y, logarithmic: false, from: bottom, to: TOP };
    let mut svg = frame(scenario);
    axes(&mut svg, scenario, &places, &x, &y);
    // Names have no order: nothing lies between them.
    let between = numbers(scenario.axes.first()).is_some();
    for ((line, colour), dash) in lines.iter().zip(COLOURS.iter().cycle()).zip(dashes()) {
        let dash = if between { dash } else { "0 1" };
        plot(&mut svg, line, colour, dash, &x, &y);
    }
    legend(&mut svg, &lines, scenario);
    svg += "</svg>";
    svg
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

/// The most that the peers together could do.
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

fn frame(scenario: &Scenario) -> String {
    let (width, height) = SIZE;
    let seeds = scenario.seeds.len();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{}</text>\n\
         <text x=\"{LEFT}\" y=\"42\" fill=\"#555\">simulated, mean and standard deviation over \
         {seeds} seeds</text>\n",
        escaped(&scenario.title),
    )
}

fn axes(svg: &mut String, scenario: &Scenario, places: &[(String, f64)], x: &Scale, y: &Scale) {
    for mark in y.marks() {
        let at = y.at(mark);
        let _ = writeln!(
            svg,
            "<line x1=\"{}\" y1=\"{at:.1}\" x2=\"{}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            x.from,
            x.to,
            x.from - 8.0,
            at + 4.0,
            mark_text(mark)
        );
    }
    let mut last = f64::MIN;
    for (value, place) in places {
        let at = x.at(*place);
        let room = 7.0 * value.len() as f64 + 6.0;
        let _ = write!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"{}\" x2=\"{at:.1}\" y2=\"{}\" stroke=\"#333\"/>",
            y.from,
            y.from + 5.0
        );
        // Values that would run into each other are left out.
        if at - last >= room {
            last = at;
            let _ = write!(
                svg,
                "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                y.from + 20.0,
                escaped(value)
            );
        }
        svg.push('\n');
    }
    let name = scenario.axes.first().map_or("", |axis| axis.name.as_str());
    let how = if x.logarithmic { " (logarithmic)" } else { "" };
    let (middle_x, middle_y) = (0.5 * (x.from + x.to), 0.5 * (y.from + y.to));
    let _ = writeln!(
        svg,
        "<path d=\"M{0},{1} V{2} H{3}\" fill=\"none\" stroke=\"#333\"/>\
         <text x=\"{middle_x}\" y=\"{4}\" text-anchor=\"middle\" font-size=\"13\">{5}{how}</text>\
         <text transform=\"translate(20 {middle_y}) rotate(-90)\" text-anchor=\"middle\" \
         font-size=\"13\">{6}</text>",
        x.from,
        y.to,
        y.from,
        x.to,
        y.from + 44.0,
        escaped(name),
        escaped(&scenario.chart.replace('_', " "))
    );
}

/// A mark's number as short as it can be said.
fn mark_text(mark: f64) -> String {
    if mark.abs() >= 1e6 { digits(mark) } else { ((mark * 1e6).round() / 1e6).to_string() }
}

fn plot(svg: &mut String, line: &Line, colour: &str, dash: &str, x: &Scale, y: &Scale) {
    let path: Vec<String> = line
        .points
        .iter()
        .map(|&(at, mean, _)| format!("{:.1},{:.1}", x.at(at), y.at(mean)))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
         stroke-dasharray=\"{dash}\"/>",
        path.join(" ")
    );
    for &(at, mean, spread) in &line.points {
        let (at, above, below) = (x.at(at), y.at(mean + spread), y.at(mean - spread));
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1},{above:.1} V{below:.1}\" stroke=\"{colour}\"/>\
             <circle cx=\"{at:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"><title>{} {}</title>\
             </circle>",
            y.at(mean),
            escaped(&line.name),
            digits(mean)
        );
    }
    for &(at, value) in &line.paper {
        let (at, value) = (x.at(at), y.at(value));
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1},{:.1} l5,5 l-5,5 l-5,-5 z\" fill=\"white\" stroke=\"{colour}\" \
             stroke-width=\"1.6\"/>",
            value - 5.0
        );
    }
}

fn legend(svg: &mut String, lines: &[Line], scenario: &Scenario) {
    let left = SIZE.0 - RIGHT + 18.0;
    let mut top = TOP + 8.0;
    if let Some(axis) = scenario.axes.get(1) {
        let _ = writeln!(
            svg,
            "<text x=\"{left}\" y=\"{top}\" fill=\"#555\">{}</text>",
            escaped(&axis.name)
        );
        top += 20.0;
    }
    let named = lines.iter().zip(COLOURS.iter().cycle()).zip(dashes());
    for ((line, colour), dash) in named.filter(|((line, _), _)| !line.name.is_empty()) {
        let _ = writeln!(
            svg,
            "<path d=\"M{left},{:.1} h22\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-dasharray=\"{dash}\"/>\
             <circle cx=\"{}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"{top}\">{}</text>",
            top - 4.0,
            left + 11.0,
            top - 4.0,
            left + 30.0,
            escaped(&line.name)
        );
        top += 20.0;
    }
    if lines.iter().any(|line| !line.paper.is_empty()) {
        let _ = writeln!(
            svg,
            "<path d=\"M{},{:.1} l5,5 l-5,5 l-5,-5 z\" fill=\"white\" stroke=\"#333\" \
             stroke-width=\"1.6\"/><text x=\"{}\" y=\"{top}\">published</text>",
            left + 11.0,
            top - 9.0,
            left + 30.0
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
