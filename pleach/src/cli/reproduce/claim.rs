//! [`Claim`]: what counts as reproduced.

use super::confidence::half_width;
use super::data::Data;
use super::part::{Part, PartPoint, Spot};
use super::verdict::Outcome;
use crate::report::columns::digits;
use serde::Deserialize;

/// A comparison of two numbers, at one point, at several, or over several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub says: String,
    /// The name of its part; by default the first one.
    #[serde(rename = "part")]
    name: Option<String>,
    /// The index of its part among those that are run.
    #[serde(skip)]
    pub part: usize,
    /// Whether it is ours: the paper does not make it.
    #[serde(default)]
    pub own: bool,
    /// The quantity that it compares; by default the one that the part shows.
    #[serde(default)]
    of: String,
    left: Spot,
    right: Right,
    is: Is,
    /// How to average both sides over all points, instead of comparing them at each.
    over: Option<Average>,
    /// The fraction of the right side within which the left side is near it.
    within: Option<f64>,
    #[serde(default = "once")]
    times: f64,
}

/// The right side of the comparison.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a table with series, x or both, a number, or paper")]
enum Right {
    Spot(Spot),
    Number(f64),
    /// The published value of the same point.
    Published(PaperWord),
}

/// The word for a published value.
#[derive(Debug, Deserialize)]
enum PaperWord {
    #[serde(rename = "paper")]
    Paper,
}

/// How the left side compares.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Is {
    Less,
    More,
    Near,
}

/// An average over points.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Average {
    Mean,
    Median,
}

fn once() -> f64 {
    1.0
}

impl Claim {
    /// The claim with what depends on its part, one of these; `None` if that is not run.
    ///
    /// # Errors
    /// One line: key, value, and what was expected.
    pub fn settled(mut self, names: &[String], parts: &[Part]) -> Result<Option<Self>, String> {
        let name = self.name.as_ref().or(names.first()).map_or("", String::as_str);
        if !names.iter().any(|known| known == name) {
            return Err(format!("part = '{name}': expected the name of a part"));
        }
        let Some((at, part)) = parts.iter().enumerate().find(|(_, part)| part.name == name) else {
            return Ok(None);
        };
        self.part = at;
        if self.of.is_empty() {
            self.of.clone_from(&part.shows);
        }
        if self.of != part.shows && !part.also.contains(&self.of) {
            let expected = "a quantity that the part has in shows or also";
            return Err(format!("of = '{}': expected {expected}", self.of));
        }
        if self.within.is_some() != (self.is == Is::Near) {
            return Err("within: expected a number with is = 'near', and only there".into());
        }
        if self.over.is_some() && self.left.series.is_some() && self.left.x.is_some() {
            return Err("over: expected a left side without series or without x".into());
        }
        Ok(Some(self))
    }

    /// Its outcome, if its points were measured.
    pub fn judge(&self, data: &Data<'_>) -> Option<Outcome> {
        let (mut points, mut missing) = (Vec::new(), 0);
        for point in data.points().filter(|&point| self.left.at(point) == point) {
            let sources = self.sources(data, &[point]);
            missing += usize::from(!sources.iter().all(|&source| data.is_complete_at(source)));
            if self.sides(data, point, None).is_some() {
                points.push(point);
            }
        }
        let groups: Vec<&[PartPoint<'_>]> = match self.over {
            Some(_) if points.is_empty() => Vec::new(),
            Some(_) => vec![&points[..]],
            None => points.chunks(1).collect(),
        };
        let compared = groups.into_iter().filter_map(|group| self.compared(data, group));
        let all: Vec<Comparison> = compared.collect();
        let farthest = all.iter().max_by(|one, other| one.worst().total_cmp(&other.worst()));
        let shown = farthest?.shown.clone();
        let count = |kind: fn(&Comparison) -> bool| all.iter().filter(|one| kind(one)).count();
        let (holds, fails) = (count(Comparison::holds), count(Comparison::fails));
        let undecided = all.len() - holds - fails;
        Some(Outcome { holds, undecided, points: all.len(), missing, shown })
    }

    /// Whether the lists of its part have the points that it names.
    #[cfg(test)]
    pub fn speaks_of(&self, grid: &super::data::Grid) -> bool {
        let has = |spot: &Spot| {
            spot.series.as_ref().is_none_or(|series| grid.series.contains(series))
                // The number of peers is known only from runs.
                && (grid.xs.is_empty() || spot.x.as_ref().is_none_or(|x| grid.xs.contains(x)))
        };
        has(&self.left) && if let Right::Spot(right) = &self.right { has(right) } else { true }
    }

    /// Compares the sides over some points.
    fn compared(&self, data: &Data<'_>, group: &[PartPoint<'_>]) -> Option<Comparison> {
        let (left, right) = self.averages(data, group, None)?;
        let off = self.off((left, right));
        let changes = self.sources(data, group).into_iter().filter_map(|source| {
            let runs = data.runs(&self.of, source);
            let moved = self.averages(data, group, Some(source)).filter(|_| runs > 1)?;
            Some((self.off(moved) - off, runs))
        });
        let error = half_width(&changes.collect::<Vec<_>>());
        let beyond = match self.is {
            Is::Less => off,
            Is::More => -off,
            Is::Near => off.abs() - self.within.unwrap_or(0.0),
        };
        let [left, right] = [left, right].map(digits);
        let times = match self.times {
            1.0 => String::new(),
            times => format!("{} × ", digits(times)),
        };
        let within = if error > 0.0 {
            format!(" (difference {:.1} ± {:.1} %)", 100.0 * off, 100.0 * error)
        } else {
            String::new()
        };
        let (here, there) = self.words(group);
        let shown = format!("{here} {left}, {times}{there} {right}{within}");
        Some(Comparison { beyond, error, near: self.is == Is::Near, shown })
    }

    /// By which fraction of the limit the left side is above it.
    fn off(&self, (left, right): (f64, f64)) -> f64 {
        let limit = self.times * right;
        (left - limit) / limit.abs().max(1e-300)
    }

    /// Both sides over some points, if the mean at one point were higher by its standard error.
    fn averages(
        &self,
        data: &Data<'_>,
        group: &[PartPoint<'_>],
        moved: Option<PartPoint<'_>>,
    ) -> Option<(f64, f64)> {
        let sides = group.iter().map(|&point| self.sides(data, point, moved));
        let sides: Vec<(f64, f64)> = sides.collect::<Option<_>>()?;
        let (left, right): (Vec<f64>, Vec<f64>) = sides.into_iter().unzip();
        // One value is its own average.
        let average = self.over.unwrap_or(Average::Mean);
        Some((average.of(left), average.of(right)))
    }

    /// Both sides at a point, if the mean at one point were higher by its standard error.
    fn sides(
        &self,
        data: &Data<'_>,
        point: PartPoint<'_>,
        moved: Option<PartPoint<'_>>,
    ) -> Option<(f64, f64)> {
        let left = data.value(&self.of, point, moved)?;
        let right = match &self.right {
            Right::Number(number) => *number,
            Right::Published(PaperWord::Paper) => data.published(&self.of, point)?.0,
            Right::Spot(spot) if spot.at(point) == point => return None,
            Right::Spot(spot) => data.value(&self.of, spot.at(point), moved)?,
        };
        Some((left, right))
    }

    /// The points whose runs decide a comparison over some points.
    fn sources<'p>(&'p self, data: &'p Data<'_>, group: &[PartPoint<'p>]) -> Vec<PartPoint<'p>> {
        let mut sources = Vec::new();
        for &point in group {
            let there = if let Right::Spot(spot) = &self.right { spot.at(point) } else { point };
            for side in [point, there] {
                sources.push(side);
                sources.extend(data.reference(&self.of, side));
            }
        }
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// The names of both sides of a comparison over some points.
    fn words(&self, group: &[PartPoint<'_>]) -> (String, String) {
        let join = |words: [Option<&str>; 2]| {
            let words = words.into_iter().flatten().filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(" at ")
        };
        let (series, x) = group[0];
        let here = match self.over {
            None => join([Some(series), Some(x)]),
            Some(average) => {
                let left = join([self.left.series.as_deref(), self.left.x.as_deref()]);
                let comma = if left.is_empty() { "" } else { ", " };
                format!("{left}{comma}{} over {} points", average.word(), group.len())
            }
        };
        let there: String = match &self.right {
            Right::Number(_) => "limit".into(),
            Right::Published(PaperWord::Paper) => "published".into(),
            Right::Spot(spot) => {
                let there = spot.at((series, x));
                join([(there.0, series), (there.1, x)].map(|(it, own)| (it != own).then_some(it)))
            }
        };
        (here, there)
    }
}

/// A comparison of a claim: at a point, or over several.
struct Comparison {
    /// How far it is from holding, as a fraction of the limit; negative if it holds.
    beyond: f64,
    /// How far that may be off, given the spread of the runs.
    error: f64,
    /// Whether it holds on the limit, too.
    near: bool,
    /// The numbers compared.
    shown: String,
}

impl Comparison {
    /// Whether it holds for all values within the spread.
    fn holds(&self) -> bool {
        self.holds_at(self.worst())
    }

    /// Whether it holds for no value within the spread.
    fn fails(&self) -> bool {
        !self.holds_at(self.beyond - self.error)
    }

    fn holds_at(&self, beyond: f64) -> bool {
        if self.near { beyond <= 0.0 } else { beyond < 0.0 }
    }

    /// How far it is from holding at worst.
    fn worst(&self) -> f64 {
        self.beyond + self.error
    }
}

impl Average {
    /// The average of some values, at least one.
    fn of(self, mut values: Vec<f64>) -> f64 {
        let n = values.len();
        match self {
            Self::Mean => values.iter().sum::<f64>() / n as f64,
            Self::Median => {
                values.sort_by(f64::total_cmp);
                0.5 * (values[(n - 1) / 2] + values[n / 2])
            }
        }
    }

    /// The word for it.
    fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::Figure;
    use super::super::rows::Row;
    use super::super::{commands, data::Data};
    use super::*;

    const FILE: &str = r#"
        title = "t"
        place = "p"
        says = "s"
        [[part]]
        name = "one"
        title = "One"
        on = "threads"
        shows = "seconds"
        [part.names]
        "--threads 1" = "alone"
        [part.runs]
        command = "count queens {x} {series}"
        x = [8, 9]
        series = ["--threads 1", "--threads 2"]
        [[part.paper]]
        series = "alone"
        x = "8"
        value = 2
    "#;

    /// A run of 8 or 9 queens.
    fn row(series: &str, x: &str, (seed, seconds): (u64, f64)) -> Row {
        Row {
            part: "one".into(),
            x: x.into(),
            series: series.into(),
            seed,
            of: format!("count queens {x} {series}"),
            figures: [("seconds".to_string(), seconds)].into(),
            ..Row::default()
        }
    }

    /// The outcome of a claim about these rows.
    fn judged_by(file: &str, claim: &str, rows: &[Row]) -> Option<Outcome> {
        let text = format!("{file}\n[[claim]]\nsays = 'c'\n{claim}");
        let figure = Figure::read("X-fig1", &text, false).unwrap();
        let runs = figure.parts[0].runs.as_ref().unwrap();
        figure.claims[0].judge(&Data::new(&figure.parts[0], &commands::grid(runs), rows))
    }

    /// The outcome of a claim where one thread takes 2 s and 4 s, and two threads take 1 s and 5 s.
    fn judged(claim: &str) -> Option<Outcome> {
        let rows = [
            row("--threads 1", "8", (0, 2.0)),
            row("--threads 1", "9", (0, 4.0)),
            row("--threads 2", "8", (0, 1.0)),
            row("--threads 2", "9", (0, 5.0)),
        ];
        judged_by(FILE, claim, &rows)
    }

    /// The outcome of a claim where 8 queens take these times on one and on two threads.
    fn repeated(file: &str, claim: &str, one: &[f64], two: &[f64]) -> Outcome {
        let rows = |series: &str, times: &[f64]| {
            (0..).zip(times).map(|(seed, &time)| row(series, "8", (seed, time))).collect::<Vec<_>>()
        };
        let rows = [rows("--threads 1", one), rows("--threads 2", two)].concat();
        judged_by(file, claim, &rows).unwrap()
    }

    #[test]
    fn claims_hold_at_the_points_they_speak_of() {
        let holds = |claim: &str| judged(claim).map(|outcome| (outcome.holds, outcome.points));
        let two = "left = { series = '--threads 2' }\n";
        let less = format!("{two}is = 'less'\nright = {{ series = 'alone' }}\n");
        assert_eq!(holds(&less), Some((1, 2)));
        assert!(judged(&less).unwrap().shown.contains("at 9 5.000, alone 4.000"));
        assert_eq!(holds(&format!("{less}times = 2")), Some((2, 2)));
        assert_eq!(
            holds("left = { series = 'alone', x = '9' }\nis = 'more'\nright = 3.9"),
            Some((1, 1))
        );
        let growth =
            "left = { x = '9' }\nis = 'near'\nwithin = 0.1\nright = { x = '8' }\ntimes = 2";
        assert_eq!(holds(growth), Some((1, 2)), "twice for one thread, five times for two");
        assert_eq!(
            holds("left = { series = 'alone' }\nis = 'near'\nwithin = 0\nright = 'paper'"),
            Some((1, 1))
        );
        assert_eq!(holds("left = { x = '10' }\nis = 'less'\nright = 1"), None, "not measured");
    }

    #[test]
    fn averages_are_compared_as_one_point() {
        let two = "left = { series = '--threads 2' }\nis = 'less'\n";
        let holds = |claim: &str| judged(claim).map(|outcome| (outcome.holds, outcome.points));
        assert_eq!(holds(&format!("{two}right = 3.1")), Some((1, 2)), "1 and 5 s");
        assert_eq!(holds(&format!("{two}right = 3.1\nover = 'mean'")), Some((1, 1)), "3 s");
        assert_eq!(holds(&format!("{two}right = 3\nover = 'mean'")), Some((0, 1)));
        let all = "left = {}\nis = 'less'\nright = 3.1\n";
        assert_eq!(holds(&format!("{all}over = 'median'")), Some((1, 1)), "1, 2, 4 and 5 s");
        let other = format!("{two}right = {{ series = 'alone' }}\ntimes = 1.1\nover = 'mean'");
        let shown = "--threads 2, mean over 2 points 3.000, 1.100 × alone 3.000";
        assert_eq!(judged(&other).unwrap().shown, shown);
        // A published value stands for the same points alone.
        let paper = "left = { series = 'alone' }\nis = 'near'\nwithin = 0\nright = 'paper'\n";
        assert_eq!(holds(&format!("{paper}over = 'mean'")), Some((1, 1)), "only of 8 queens");
        let nowhere = "left = { x = '10' }\nis = 'less'\nright = 1\nover = 'mean'";
        assert_eq!(holds(nowhere), None, "not measured");
        let point = "left = { series = 'alone', x = '8' }\nis = 'less'\nright = 3\nover = 'mean'";
        let text = format!("{FILE}\n[[claim]]\nsays = 'c'\n{point}");
        let why = Figure::read("X-fig1", &text, false).unwrap_err();
        assert!(why.contains("over: expected a left side"), "{why}");
    }

    #[test]
    fn a_mean_and_a_median_differ() {
        let rows = [
            row("--threads 1", "8", (0, 1.0)),
            row("--threads 1", "9", (0, 2.0)),
            row("--threads 2", "8", (0, 9.0)),
        ];
        let average = |over: &str, right: f64| {
            let claim = format!("left = {{}}\nis = 'near'\nwithin = 1e-9\nright = {right}\n");
            judged_by(FILE, &format!("{claim}over = '{over}'"), &rows).unwrap()
        };
        assert_eq!((average("mean", 4.0).holds, average("median", 2.0).holds), (1, 1));
        assert_eq!((average("mean", 2.0).holds, average("median", 4.0).holds), (0, 0));
        assert_eq!(average("mean", 4.0).missing, 1, "two threads with 9 queens");
    }

    #[test]
    fn a_difference_within_the_spread_is_undecided() {
        let less = "left = { series = '--threads 2' }\nis = 'less'\nright = { series = 'alone' }";
        let counts = |one: &[f64], two: &[f64]| {
            let outcome = repeated(FILE, less, one, two);
            (outcome.holds, outcome.undecided, outcome.points)
        };
        assert_eq!(counts(&[1.9, 2.0, 2.1], &[0.9, 1.0, 1.1]), (1, 0, 1));
        assert_eq!(counts(&[1.9, 2.0, 2.1], &[1.3, 1.9, 2.5]), (0, 1, 1));
        assert_eq!(counts(&[1.9, 2.0, 2.1], &[2.9, 3.0, 3.1]), (0, 0, 1));
        // The same means, each of one run or of equal ones.
        assert_eq!(counts(&[2.0], &[1.9]), (1, 0, 1));
        assert_eq!(counts(&[2.0, 2.0], &[1.9, 1.9]), (1, 0, 1));
        let near = "left = { series = '--threads 2' }\nis = 'near'\nwithin = 0.1\nright = 2";
        let near = |two: &[f64]| repeated(FILE, near, &[1.0], two).undecided;
        assert_eq!((near(&[1.99, 2.0, 2.01]), near(&[1.6, 2.0, 2.4])), (0, 1));
        let shown = repeated(FILE, less, &[2.0, 2.0], &[1.0, 1.0, 1.3]).shown;
        // 1.1 ± 0.1 s with two degrees of freedom, of 2 s.
        assert!(shown.ends_with("alone 2.000 (difference -45.0 ± 21.5 %)"), "{shown}");
    }

    /// A value relative to a mean is as uncertain as that mean.
    #[test]
    fn the_spread_of_a_reference_counts() {
        let file = FILE.replace("[part.names]", "against = { series = 'alone' }\n[part.names]");
        let claim = "left = { series = '--threads 2' }\nis = 'less'\nright = 0.6";
        assert_eq!(repeated(&file, claim, &[2.0], &[1.0]).holds, 1);
        assert_eq!(repeated(&file, claim, &[1.5, 2.5], &[1.0]).undecided, 1);
        // Relative to the same reference, both sides change alike.
        let claim = "left = { series = '--threads 2' }\nis = 'less'\nright = { series = 'alone' }";
        assert_eq!(repeated(&file, claim, &[1.99, 2.01], &[1.0]).holds, 1);
    }
}
