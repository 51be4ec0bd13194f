//! [`Simulated`]: runs on simulated clusters, as read from the output of `pleach sim --json`.

use super::fields::{Fields, MOST};
use crate::draw::chart::{Chart, Series};
use crate::draw::page;
use crate::draw::svg::escaped;
use crate::report::columns::with_spread;
use std::fmt::Write;

/// The figures of a table, if rows have them.
const SHOWN: [&str; 7] =
    ["time_s", "speed_up", "efficiency", "idle", "requests", "messages", "bytes"];
/// The figure of the chart.
const DRAWN: &str = "speed_up";
/// The largest figure; nothing larger was ever simulated.
const LARGE: f64 = 1e30;

/// A simulation.
pub struct Simulated {
    pub title: String,
    pub scenario: String,
    pub seconds: f64,
    seeds: usize,
    rows: Vec<Row>,
}

struct Row {
    /// The values that distinguish it from other rows, with their names.
    cell: Vec<(String, String)>,
    peers: u128,
    /// Mean and spread by figure.
    figures: Vec<(&'static str, f64, f64)>,
}

impl Simulated {
    /// Whether an object is that of a simulation.
    pub fn is_one(of: &Fields<'_>) -> bool {
        of.has("scenario") && of.has("rows")
    }

    /// Reads a simulation.
    ///
    /// # Errors
    /// One line: file, key, value, and what was expected.
    pub fn read(of: &Fields<'_>) -> Result<Self, String> {
        of.word("pleach", "what 'pleach sim' prints with --json")?;
        Ok(Self {
            title: of.text("title")?.unwrap_or_default().into(),
            scenario: of.word("scenario", "the scenario's name")?.into(),
            seconds: of.number("seconds", MOST)?.unwrap_or(0.0),
            seeds: of.integers("seeds")?.map_or(0, |seeds| seeds.len()),
            rows: of.objects("rows")?.iter().map(row).collect::<Result<_, _>>()?,
        })
    }

    /// Its part of the page, under a heading.
    pub fn html(&self, number: usize, place: &str) -> String {
        let title = if self.title.is_empty() { &self.scenario } else { &self.title };
        let [title, place, scenario] = [title, place, &self.scenario].map(escaped);
        let many = if self.seeds == 1 { "" } else { "s" };
        let mut html = format!(
            "<h2 id=\"run-{number}\">{number}: {title}</h2>\n<p class=\"quiet said\">Simulated from {scenario} \
             with {} seed{many}; {place}.</p>\n",
            self.seeds
        );
        if let Some(chart) = self.chart() {
            let _ = writeln!(html, "{chart}");
        }
        html + &page::table(&self.table())
    }

    fn table(&self) -> Vec<Vec<String>> {
        let Some(first) = self.rows.first() else { return vec![vec!["no rows".into()]] };
        let has = |name: &&str| self.rows.iter().any(|row| row.figure(name).is_some());
        let figures: Vec<&str> = SHOWN.into_iter().filter(has).collect();
        let mut head: Vec<String> = first.cell.iter().map(|(name, _)| name.clone()).collect();
        if !head.iter().any(|name| name == "peers") {
            head.push("peers".into());
        }
        let own = head.len();
        head.extend(figures.iter().map(|name| name.replace('_', " ")));
        let mut table = vec![head];
        for row in &self.rows {
            let mut cells: Vec<String> = row.cell.iter().map(|(_, value)| value.clone()).collect();
            cells.resize(own, row.peers.to_string());
            cells.extend(figures.iter().map(|name| {
                let figure = row.figure(name);
                figure.map_or("–".into(), |(mean, spread)| with_spread(mean, Some(spread)))
            }));
            table.push(cells);
        }
        table
    }

    /// The speed-up over the first list of values, a line for each value of the second.
    fn chart(&self) -> Option<String> {
        let value = |row: &Row, at: usize| row.cell.get(at).map(|(_, value)| value.clone());
        let mut places: Vec<String> = Vec::new();
        let mut series: Vec<Series> = Vec::new();
        for row in &self.rows {
            let (Some(x), Some((mean, spread))) = (value(row, 0), row.figure(DRAWN)) else {
                continue;
            };
            let known = places.iter().position(|place| *place == x);
            let place = known.unwrap_or_else(|| {
                places.push(x);
                places.len() - 1
            });
            let name = value(row, 1).unwrap_or_default();
            if !series.iter().any(|series| series.name == name) {
                series.push(Series { name: name.clone(), ..Series::default() });
            }
            let series = series.iter_mut().find(|series| series.name == name)?;
            series.points.push((place, mean, spread));
        }
        let name = |at: usize| self.rows.first()?.cell.get(at).map(|(name, _)| name.clone());
        let chart = Chart {
            title: "Speed-up".into(),
            below: "simulated, mean and standard deviation over all seeds".into(),
            x_name: name(0).unwrap_or_default(),
            y_name: "speed-up".into(),
            series_name: name(1).unwrap_or_default(),
            places,
            series,
            parts: false,
            bars: false,
        };
        (chart.places.len() > 1).then(|| chart.draw())
    }
}

impl Row {
    fn figure(&self, name: &str) -> Option<(f64, f64)> {
        let found = self.figures.iter().find(|(known, ..)| *known == name)?;
        Some((found.1, found.2))
    }
}

fn row(of: &Fields<'_>) -> Result<Row, String> {
    let mut cell = Vec::new();
    if let Some(values) = of.object("cell")? {
        for name in values.all().keys() {
            cell.push((name.clone(), values.text(name)?.unwrap_or_default().to_string()));
        }
    }
    let mut figures = Vec::new();
    if let Some(all) = of.object("figures")? {
        for name in SHOWN.into_iter().filter(|name| all.has(name)) {
            let Some(figure) = all.object(name)? else { continue };
            // A figure that no run has is null.
            let Some(mean) = figure.between("mean", (-LARGE, LARGE))? else { continue };
            figures.push((name, mean, figure.number("spread", LARGE)?.unwrap_or(0.0)));
        }
    }
    let peers = of.whole("peers")?.map_or_else(|| of.wrong("peers", "a number of peers"), Ok)?;
    Ok(Row { cell, peers, figures })
}
