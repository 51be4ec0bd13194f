//! A scenario's sweep as a chart: its figure over the first list, a line for each value of the second.

use super::metrics::{metric, values};
use super::scenario::{Axis, Scenario};
use super::table::labels;
use crate::draw::chart::{Chart, Series};
use crate::report::columns::mean_and_spread;
use crate::results::Paper;
use pleach_lab::figures::Figures;

/// Draws the figure that the scenario names.
pub fn draw(scenario: &Scenario, runs: &[Vec<Figures>]) -> String {
    let places = scenario.axes.first().map_or(vec![String::new()], |axis| axis.values.clone());
    let seeds = scenario.seeds.len();
    let name = |axis: Option<&Axis>| axis.map_or(String::new(), |axis| axis.name.clone());
    let chart = Chart {
        title: scenario.title.clone(),
        below: format!("simulated, mean and standard deviation over {seeds} seeds"),
        x_name: name(scenario.axes.first()),
        y_name: scenario.chart.replace('_', " "),
        series_name: name(scenario.axes.get(1)),
        series: series(scenario, runs, &places),
        places,
        parts: matches!(scenario.chart.as_str(), "efficiency" | "idle"),
        ..Chart::default()
    };
    chart.draw()
}

fn series(scenario: &Scenario, runs: &[Vec<Figures>], places: &[String]) -> Vec<Series> {
    let Some(metric) = metric(&scenario.chart) else { return Vec::new() };
    let mut all: Vec<Series> = Vec::new();
    for ((label, spec), runs) in labels(scenario).into_iter().zip(&scenario.cells).zip(runs) {
        let (mean, spread) = mean_and_spread(&values(metric, spec, runs));
        let name = label.get(1).map_or("", String::as_str);
        let place = place(places, label.first().map_or("", String::as_str)).unwrap_or(0);
        Series::of(&mut all, name).points.push((place, mean, spread));
    }
    let of_chart = |paper: &&Paper| paper.drawn && paper.what == scenario.chart;
    for paper in scenario.paper.iter().filter(of_chart) {
        if let Some(place) = place(places, &paper.x) {
            Series::of(&mut all, &paper.series).published.push((place, paper.value));
        }
    }
    if scenario.chart == "speed_up" {
        // First, so that the others lie above it.
        all.insert(0, ideal(scenario, places));
    }
    all
}

/// The sum of the powers of all peers: an upper bound on the speed-up.
fn ideal(scenario: &Scenario, places: &[String]) -> Series {
    let mut ideal = Series { name: "sum of powers".into(), ..Series::default() };
    for (label, spec) in labels(scenario).into_iter().zip(&scenario.cells) {
        let place = place(places, label.first().map_or("", String::as_str)).unwrap_or(0);
        let power = spec.cluster.machine.power() / spec.unit_speed;
        if ideal.points.last().is_none_or(|last| last.0 != place) {
            ideal.points.push((place, power, 0.0));
        }
    }
    ideal
}

fn place(places: &[String], value: &str) -> Option<usize> {
    places.iter().position(|place| place == value)
}
