//! The results of a part, as a table and as a chart.

use super::data::Data;
use super::measures::{BY_PEER, active_of, extreme};
use super::part::{ChartShape, On};
use super::rows::Row;
use crate::draw::chart::{Chart, Series};
use crate::report::columns::{digits, with_spread};
use crate::report::counted;

/// A part's quantities: a head, and a row for each point.
pub fn table(data: &Data<'_>) -> Vec<Vec<String>> {
    let part = data.part;
    if part.shows == BY_PEER {
        return by_peer(data);
    }
    let quantities: Vec<&String> = std::iter::once(&part.shows).chain(&part.also).collect();
    let named = [&data.grid.series_name, &data.grid.x_name];
    let many = [data.grid.series.len() > 1, data.grid.xs.len() > 1];
    let of_lists = |values: [&str; 2]| {
        let values = values.into_iter().zip(many).filter(|(_, many)| *many);
        values.map(|(value, _)| value.to_string()).collect::<Vec<String>>()
    };
    let mut head = of_lists(named.map(String::as_str));
    for quantity in &quantities {
        let relative =
            if part.against.is_some() && **quantity == part.shows { ", relative" } else { "" };
        head.push(format!("{}{relative}", quantity.replace('_', " ")));
        if has_published(data, quantity) {
            head.push("published".into());
        }
    }
    let mut rows = vec![head];
    for (series, x) in data.points() {
        let mut row = of_lists([series, x]);
        for quantity in &quantities {
            let several = data.rows_at((series, x)) > 1 && extreme(quantity).1.is_none();
            let shown = data.shown(quantity, (series, x));
            let shown = shown.map(|(mean, spread)| with_spread(mean, several.then_some(spread)));
            row.push(shown.unwrap_or("–".into()));
            if has_published(data, quantity) {
                let published = data.published(quantity, (series, x));
                row.push(
                    published.map_or("–".into(), |(value, spread)| with_spread(value, spread)),
                );
            }
        }
        rows.push(row);
    }
    rows
}

fn has_published(data: &Data<'_>, quantity: &str) -> bool {
    data.part.paper.iter().any(|row| row.what == quantity)
}

/// A part's chart.
pub fn chart(data: &Data<'_>) -> String {
    let (part, grid) = (data.part, &data.grid);
    let shows = &part.shows;
    let runs = data.rows.len();
    let how = if part.on == On::Simulator { "simulated" } else { part.on.word() };
    let series: Vec<Series> = grid.series.iter().map(|name| series(data, name)).collect();
    let vary = series.iter().flat_map(|series| &series.points).any(|point| point.2 > 0.0);
    let chart = Chart {
        title: part.title.clone(),
        below: format!(
            "{how}, {}{}",
            counted(runs, "run"),
            if vary { "; whiskers show the standard deviation" } else { "" }
        ),
        x_name: grid.x_name.clone(),
        y_name: part.unit.clone().unwrap_or_else(|| {
            let relative = if part.against.is_some() { ", relative" } else { "" };
            format!("{}{relative}", shows.replace('_', " "))
        }),
        series_name: grid.series_name.clone(),
        places: grid.xs.clone(),
        series,
        ideal: ideal(data),
        parts: matches!(shows.as_str(), "efficiency" | "idle") && part.against.is_none(),
        bars: part.shape == ChartShape::Bars,
        log: part.log,
        steps: false,
    };
    chart.draw()
}

/// How many explorers of each device had work over time, in the last run at each point, if runs have recorded it. The
/// first one may have compiled the device's kernels.
pub fn over_time(data: &Data<'_>) -> Option<String> {
    let later = |one: &Row, other: &Row| {
        (&other.series, &other.x) == (&one.series, &one.x) && other.seed > one.seed
    };
    let last = data.rows.iter().filter(|one| !data.rows.iter().any(|other| later(one, other)));
    let curves = last.flat_map(|row| {
        let curves = active_of(row);
        let several = curves.len() > 1;
        let names = [&row.series, &row.x].map(|value| data.part.name_of(value));
        curves.into_iter().map(move |(device, curve)| {
            let device = if several { device } else { "" };
            let names = names.into_iter().chain([device]).filter(|name| !name.is_empty());
            (names.collect::<Vec<_>>().join(", "), curve)
        })
    });
    let curves: Vec<(String, Vec<(f64, f64)>)> = curves.collect();
    let mut times: Vec<f64> = curves.iter().flat_map(|(_, curve)| curve).map(|at| at.0).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let series = curves.iter().map(|(name, curve)| {
        let place = |seconds: f64| times.partition_point(|time| *time < seconds);
        let points = curve.iter().map(|&(seconds, part)| (place(seconds), part, 0.0));
        Series { name: name.clone(), points: points.collect(), ..Series::default() }
    });
    let chart = Chart {
        title: "Explorers that have work, over time".into(),
        below: data.part.title.clone(),
        x_name: "seconds".into(),
        y_name: "fraction of the explorers".into(),
        series_name: "device".into(),
        places: times.iter().map(f64::to_string).collect(),
        series: series.collect(),
        parts: true,
        steps: true,
        ..Chart::default()
    };
    (!times.is_empty()).then(|| chart.draw())
}

/// What a series of a chart shows.
fn series(data: &Data<'_>, name: &str) -> Series {
    let mut series = Series { name: name.into(), ..Series::default() };
    for (place, x) in data.grid.xs.iter().enumerate() {
        if let Some((mean, spread)) = data.shown(&data.part.shows, (name, x.as_str())) {
            series.points.push((place, mean, spread));
        }
        if let Some((value, _)) = data.published(&data.part.shows, (name, x.as_str())) {
            series.published.push((place, value));
        }
    }
    series
}

/// The speed-ups if no worker that searches ever waited, by place and relative to the part's reference point: those of
/// any series, divided by their share of linear speed-up.
fn ideal(data: &Data<'_>) -> Vec<(usize, f64)> {
    // If each series is relative to a value of its own, there is no common line.
    let own = data.part.against.as_ref().is_some_and(|against| against.series.is_none());
    if data.part.shows != "speed_up" || own {
        return Vec::new();
    }
    let at = |(place, x): (usize, &String)| {
        let of = |name: &String| {
            let value = |quantity: &str| data.value(quantity, (name.as_str(), x.as_str()), None);
            let (speed_up, linear) = (value("speed_up")?, value("linear")?);
            (linear > 0.0).then(|| speed_up / linear)
        };
        Some((place, data.grid.series.iter().find_map(of)?))
    };
    data.grid.xs.iter().enumerate().filter_map(at).collect()
}

/// The messages of each series' peers, in summary, since there are too many peers for a row each.
fn by_peer(data: &Data<'_>) -> Vec<Vec<String>> {
    let head = [&data.grid.series_name, "busiest peer", "median", "least"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for series in &data.grid.series {
        let value = |x: &String| data.value(BY_PEER, (series.as_str(), x.as_str()), None);
        let all = data.grid.xs.iter().filter_map(value);
        let mut all: Vec<f64> = all.collect();
        all.sort_by(f64::total_cmp);
        let at = |place: usize| all.get(place).map_or("–".into(), |&value| digits(value));
        let last = all.len().saturating_sub(1);
        rows.push(vec![series.clone(), at(last), at(last / 2), at(0)]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::data::Grid;
    use super::super::figure::Figure;
    use super::*;

    const FILE: &str = r#"
        title = "t"
        place = "p"
        says = "s"
        [[part]]
        name = "one"
        title = "One"
        on = "simulator"
        shows = "speed_up"
        AGAINST
        [part.scenario]
        peers = [1, 4]
    "#;

    /// The ideal values where one and four peers reach a half and a quarter of linear speed-up.
    fn ideal_against(against: &str) -> Vec<(usize, f64)> {
        let figure = Figure::read("X-fig1", &FILE.replace("AGAINST", against), false).unwrap();
        let row = |x: &str, speed_up: f64, linear: f64| Row {
            part: "one".into(),
            x: x.into(),
            series: "dynamic".into(),
            figures: [("speed_up".to_string(), speed_up), ("linear".to_string(), linear)].into(),
            ..Row::default()
        };
        let rows = [row("1", 0.5, 0.5), row("4", 1.0, 0.25)];
        let grid = Grid {
            xs: vec!["1".into(), "4".into()],
            series: vec!["dynamic".into()],
            of: vec![String::new()],
            runs: 1,
            ..Grid::default()
        };
        ideal(&Data::new(&figure.parts[0], &grid, &rows))
    }

    #[test]
    fn ideal_values_are_relative_to_what_all_others_are_relative_to() {
        assert_eq!(ideal_against(""), [(0, 1.0), (1, 4.0)]);
        let one = "against = { series = 'dynamic', x = '1' }";
        assert_eq!(ideal_against(one), [(0, 2.0), (1, 8.0)]);
        assert_eq!(ideal_against("against = { series = 'dynamic' }"), [(0, 2.0), (1, 4.0)]);
        assert!(ideal_against("against = { x = '1' }").is_empty());
    }
}
