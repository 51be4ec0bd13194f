//! [`Data`]: the results of a part's runs, by series and place.

use super::measures::{BY_PEER, extreme};
use super::part::{Part, PartPoint};
use super::rows::Row;
use crate::report::columns::mean_and_spread;

/// The series and the places of a part, in the order in which they are shown.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    pub x_name: String,
    pub series_name: String,
    pub xs: Vec<String>,
    pub series: Vec<String>,
    /// What its rows measure: runs that the figure's file no longer asks for do not count.
    pub of: Vec<String>,
    /// How many runs each point should have.
    pub runs: usize,
}

/// The rows of a part, found by series and place.
pub struct Data<'a> {
    pub part: &'a Part,
    pub grid: Grid,
    pub rows: Vec<&'a Row>,
    /// How many of its runs have no row.
    pub lacking: usize,
    /// Whether places are peers; the list for the horizontal axis then distinguishes the series.
    by_peer: bool,
}

impl<'a> Data<'a> {
    /// The rows of a part with these lists.
    pub fn new(part: &'a Part, lists: &Grid, rows: &'a [Row]) -> Self {
        let shown = |values: &[String]| values.iter().map(|it| part.name_of(it).into()).collect();
        let rows: Vec<&Row> =
            rows.iter().filter(|row| row.part == part.name && lists.of.contains(&row.of)).collect();
        let points =
            lists.series.iter().flat_map(|series| lists.xs.iter().map(move |x| (series, x)));
        let made = |(series, x): (&String, &String)| {
            rows.iter().filter(|row| row.series == *series && row.x == *x).count()
        };
        let lacking = points.map(|point| lists.runs.saturating_sub(made(point))).sum();
        let mut grid = Grid {
            x_name: part.name_of(&lists.x_name).into(),
            series_name: part.name_of(&lists.series_name).into(),
            xs: shown(&lists.xs),
            series: shown(&lists.series),
            of: Vec::new(),
            runs: lists.runs,
        };
        let by_peer = part.shows == BY_PEER;
        if by_peer {
            let peers = rows.iter().filter_map(|row| row.lists.get(BY_PEER)).map(Vec::len).max();
            let xs = (0..peers.unwrap_or(0)).map(|peer| peer.to_string()).collect();
            let (series_name, series) = (grid.x_name, grid.xs);
            grid = Grid { x_name: "peer".into(), series_name, xs, series, ..grid };
        }
        Self { part, grid, rows, lacking, by_peer }
    }

    /// Every series at every place.
    pub fn points(&self) -> impl Iterator<Item = PartPoint<'_>> {
        self.grid
            .series
            .iter()
            .flat_map(|series| self.grid.xs.iter().map(move |x| (series.as_str(), x.as_str())))
    }

    /// A quantity as it was measured in each run at a point, or its extreme alone.
    fn measured(&self, quantity: &str, (series, x): PartPoint<'_>) -> Vec<f64> {
        let (quantity, extreme) = extreme(quantity);
        let value = |row: &&Row| match (quantity, row.lists.get(BY_PEER)) {
            (BY_PEER, Some(list)) => list.get(x.parse::<usize>().ok()?).copied(),
            _ => row.figures.get(quantity).copied(),
        };
        let values = self.at((series, x)).filter_map(value);
        match extreme {
            Some(pick) => values.reduce(pick).into_iter().collect(),
            None => values.collect(),
        }
    }

    /// The number of runs that measured a quantity at a point.
    pub fn runs(&self, quantity: &str, point: PartPoint<'_>) -> usize {
        self.measured(quantity, point).len()
    }

    /// The number of runs at a point.
    pub fn rows_at(&self, point: PartPoint<'_>) -> usize {
        self.at(point).count()
    }

    /// Whether all runs at a point were made.
    pub fn is_complete_at(&self, point: PartPoint<'_>) -> bool {
        self.rows_at(point) >= self.grid.runs
    }

    fn at(&self, (series, x): PartPoint<'_>) -> impl Iterator<Item = &&'a Row> {
        let name = |value: &str, wanted: &str| self.part.name_of(value) == wanted;
        self.rows.iter().filter(move |row| match self.by_peer {
            true => name(&row.x, series),
            false => name(&row.series, series) && name(&row.x, x),
        })
    }

    /// Mean and spread of a quantity, relative to the part's reference point.
    pub fn shown(&self, quantity: &str, point: PartPoint<'_>) -> Option<(f64, f64)> {
        let of = |series: &str, x: &str| {
            let values = self.measured(quantity, (series, x));
            (!values.is_empty()).then(|| mean_and_spread(&values))
        };
        let (mean, spread) = of(point.0, point.1)?;
        let unit = self.unit(quantity, point, |series, x| Some(of(series, x)?.0))?;
        Some((mean / unit, spread / unit))
    }

    /// The mean of a quantity, relative to the part's reference point, if the mean at one point were higher by its
    /// standard error.
    pub fn value(
        &self,
        quantity: &str,
        point: PartPoint<'_>,
        moved: Option<PartPoint<'_>>,
    ) -> Option<f64> {
        let mean = |series: &str, x: &str| {
            let values = self.measured(quantity, (series, x));
            let (mean, spread) = mean_and_spread(&values);
            let error = spread / (values.len() as f64).sqrt();
            let mean = if moved == Some((series, x)) { mean + error } else { mean };
            (!values.is_empty()).then_some(mean)
        };
        Some(mean(point.0, point.1)? / self.unit(quantity, point, mean)?)
    }

    /// The published value and spread of a quantity, relative to the published value at the part's reference point.
    pub fn published(&self, quantity: &str, point: PartPoint<'_>) -> Option<(f64, Option<f64>)> {
        let of = |series: &str, x: &str| {
            let mut rows = self.part.paper.iter();
            rows.find(|row| row.what == quantity && row.series == series && row.x == x)
        };
        let row = of(point.0, point.1)?;
        let unit = self.unit(quantity, point, |series, x| Some(of(series, x)?.value))?;
        Some((row.value / unit, row.spread.map(|spread| spread / unit)))
    }

    /// The part's reference point for a quantity at a point, if the quantity is shown relative to one.
    pub fn reference<'p>(&'p self, quantity: &str, point: PartPoint<'p>) -> Option<PartPoint<'p>> {
        let against = self.part.against.as_ref().filter(|_| quantity == self.part.shows)?;
        Some(against.at(point))
    }

    /// What a value of a quantity is divided by.
    fn unit(
        &self,
        quantity: &str,
        point: PartPoint<'_>,
        of: impl Fn(&str, &str) -> Option<f64>,
    ) -> Option<f64> {
        let Some((series, x)) = self.reference(quantity, point) else { return Some(1.0) };
        let unit = of(series, x)?;
        (unit != 0.0).then_some(unit)
    }
}
