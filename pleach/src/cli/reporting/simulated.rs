//! Runs on simulated clusters as a part of the page.

use crate::draw::chart::{Chart, Series};
use crate::draw::page;
use crate::draw::svg::escaped;
use crate::report::columns::with_spread;
use crate::report::counted;
use crate::results::{CellData, FigureData, SimulationData};
use serde_json::Value;

/// The figures of a table, if rows have them.
const SHOWN: [&str; 7] =
    ["time_s", "speed_up", "efficiency", "idle", "requests", "messages", "bytes"];
/// The figure of the chart.
const DRAWN: &str = "speed_up";

/// Whether a value is the result of a simulation.
pub fn is_one(value: &Value) -> bool {
    ["scenario", "rows"].iter().all(|key| value.get(key).is_some_and(|value| !value.is_null()))
}

/// Its part of the page, under a heading.
pub fn html_of(all: &SimulationData, number: usize, place: &str) -> String {
    let title = if all.title.is_empty() { &all.scenario } else { &all.title };
    let [title, place, scenario] = [title, place, &all.scenario].map(escaped);
    let mut html = format!(
        "<h2 id=\"run-{number}\">{number}: {title}</h2>\n<p class=\"quiet said\">Simulated from {scenario} \
         with {}; {place}.</p>\n",
        counted(all.seeds.len(), "seed")
    );
    if let Some(drawn) = chart(all) {
        html += &page::chart(&drawn);
    }
    html + &page::table(&table_of(all))
}

fn table_of(all: &SimulationData) -> Vec<Vec<String>> {
    let Some(first) = all.rows.first() else { return vec![vec!["no rows".into()]] };
    let has = |name: &&str| all.rows.iter().any(|row| figure(row, name).is_some());
    let figures: Vec<&str> = SHOWN.into_iter().filter(has).collect();
    let mut head: Vec<String> = first.cell.keys().cloned().collect();
    if !head.iter().any(|name| name == "peers") {
        head.push("peers".into());
    }
    let own = head.len();
    head.extend(figures.iter().map(|name| name.replace('_', " ")));
    let mut table = vec![head];
    for row in &all.rows {
        let mut cells: Vec<String> = row.cell.values().cloned().collect();
        cells.resize(own, row.peers.to_string());
        cells.extend(figures.iter().map(|name| {
            let figure = figure(row, name);
            figure.map_or("–".into(), |(mean, spread)| with_spread(mean, Some(spread)))
        }));
        table.push(cells);
    }
    table
}

/// The speed-up over the first list of values, a line for each value of the second.
fn chart(all: &SimulationData) -> Option<String> {
    let value = |row: &CellData, at: usize| row.cell.get_index(at).map(|(_, value)| value.clone());
    let mut places: Vec<String> = Vec::new();
    let mut series: Vec<Series> = Vec::new();
    for row in &all.rows {
        let (Some(x), Some((mean, spread))) = (value(row, 0), figure(row, DRAWN)) else {
            continue;
        };
        let known = places.iter().position(|place| *place == x);
        let place = known.unwrap_or_else(|| {
            places.push(x);
            places.len() - 1
        });
        let name = value(row, 1).unwrap_or_default();
        Series::of(&mut series, &name).points.push((place, mean, spread));
    }
    let name = |at: usize| all.rows.first()?.cell.get_index(at).map(|(name, _)| name.clone());
    let chart = Chart {
        title: "Speed-up".into(),
        below: "simulated, mean and standard deviation over all seeds".into(),
        x_name: name(0).unwrap_or_default(),
        y_name: "speed-up".into(),
        series_name: name(1).unwrap_or_default(),
        places,
        series,
        ..Chart::default()
    };
    (chart.places.len() > 1).then(|| chart.draw())
}
/// The mean and the spread of a figure, if a run has it.
fn figure(row: &CellData, name: &str) -> Option<(f64, f64)> {
    let FigureData { mean, spread, .. } = row.figures.get(name)?;
    Some((mean.as_ref()?.0, spread.unwrap_or_default().0))
}
