//! [`Claim`]: what counts as reproduced; [`Verdict`]: whether a figure is.

use super::data::Data;
use super::part::{Part, Spot};
use crate::report::columns::digits;
use serde::Deserialize;
use std::fmt;

/// A comparison of two numbers, at one point or at several.
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
    /// The figure that it compares; by default the one that the part shows.
    #[serde(default)]
    of: String,
    left: Spot,
    right: Right,
    is: Is,
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

fn once() -> f64 {
    1.0
}

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The number of points at which it holds, and of all points.
    pub holds: usize,
    pub points: usize,
    /// The number of its points that were not measured.
    pub missing: usize,
    /// The numbers at one point: the only one, or the one that is closest to failing.
    pub shown: String,
}

/// Whether a figure is reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Reproduced,
    /// All claims that could be judged hold, but some could not be judged.
    SoFar,
    Partly,
    DoesNot,
    NotRun,
}

impl Verdict {
    /// The verdict on a figure, given the outcomes of its claims.
    pub fn of(outcomes: &[Option<Outcome>]) -> Self {
        let known = || outcomes.iter().flatten();
        match known().count() {
            0 => Verdict::NotRun,
            _ if known().all(Outcome::holds_everywhere) => {
                let whole = |outcome: &Option<Outcome>| {
                    outcome.as_ref().is_some_and(|outcome| outcome.missing == 0)
                };
                if outcomes.iter().all(whole) { Verdict::Reproduced } else { Verdict::SoFar }
            }
            _ if known().all(|outcome| outcome.holds == 0) => Verdict::DoesNot,
            _ => Verdict::Partly,
        }
    }
}

impl Outcome {
    /// Whether the claim holds at every point.
    pub fn holds_everywhere(&self) -> bool {
        self.holds == self.points
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Reproduced => "reproduced",
            Verdict::SoFar => "reproduced so far",
            Verdict::Partly => "partly reproduced",
            Verdict::DoesNot => "not reproduced",
            Verdict::NotRun => "not run",
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { holds, points, missing, shown } = self;
        match (*holds, *points) {
            (all, points) if all == points && points == 1 => write!(f, "holds: {shown}")?,
            (all, points) if all == points => {
                write!(f, "holds at all {points} points; closest: {shown}")?;
            }
            (0, 1) => write!(f, "does not hold: {shown}")?,
            (0, points) => write!(f, "holds at none of {points} points; farthest: {shown}")?,
            (some, points) => {
                write!(f, "holds at {some} of {points} points; farthest: {shown}")?;
            }
        }
        if *missing > 0 { write!(f, " ({missing} more not run)") } else { Ok(()) }
    }
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
            let expected = "a figure that the part has in shows or also";
            return Err(format!("of = '{}': expected {expected}", self.of));
        }
        if self.within.is_some() != (self.is == Is::Near) {
            return Err("within: expected a number with is = 'near', and only there".into());
        }
        Ok(Some(self))
    }

    /// Its outcome, if its points were measured.
    pub fn judge(&self, data: &Data<'_>) -> Option<Outcome> {
        let (mut holds, mut points, mut missing) = (0, 0, 0);
        // The distance of a point from the limit, relative to the right side; the worst point is shown.
        let mut worst: Option<(f64, String)> = None;
        for (series, x) in data.points() {
            let fits = |wanted: &Option<String>, value: &str| {
                wanted.as_ref().is_none_or(|wanted| wanted == value)
            };
            if !fits(&self.left.series, series) || !fits(&self.left.x, x) {
                continue;
            }
            missing += usize::from(data.rows_at(series, x) == 0);
            let Some(left) = data.value(&self.of, series, x) else { continue };
            let Some((right, there)) = self.right(data, series, x) else { continue };
            let limit = self.times * right;
            let size = limit.abs().max(1e-300);
            let beyond = match self.is {
                Is::Less => (left - limit) / size,
                Is::More => (limit - left) / size,
                Is::Near => (left - limit).abs() / size - self.within.unwrap_or(0.0),
            };
            let held = if self.is == Is::Near { beyond <= 0.0 } else { beyond < 0.0 };
            holds += usize::from(held);
            points += 1;
            if worst.as_ref().is_none_or(|(least, _)| beyond > *least) {
                let here = [series, x].into_iter().filter(|word| !word.is_empty());
                let here = here.collect::<Vec<_>>().join(" at ");
                let times = match self.times {
                    1.0 => String::new(),
                    times => format!("{} × ", digits(times)),
                };
                let text = format!("{here} {}, {times}{there} {}", digits(left), digits(right));
                worst = Some((beyond, text));
            }
        }
        worst.map(|(_, shown)| Outcome { holds, points, missing, shown })
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

    /// The right side for a point of the left side, and its name.
    fn right(&self, data: &Data<'_>, series: &str, x: &str) -> Option<(f64, String)> {
        match &self.right {
            Right::Number(number) => Some((*number, "limit".into())),
            Right::Published(PaperWord::Paper) => {
                Some((data.published(&self.of, series, x)?.0, "published".into()))
            }
            Right::Spot(spot) => {
                let there = spot.series.as_deref().unwrap_or(series);
                let place = spot.x.as_deref().unwrap_or(x);
                if (there, place) == (series, x) {
                    return None;
                }
                let named = [(there, series), (place, x)].into_iter();
                let named = named.filter(|(other, own)| other != own).map(|(other, _)| other);
                let named = named.collect::<Vec<_>>().join(" at ");
                Some((data.value(&self.of, there, place)?, named))
            }
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

    /// The outcome of a claim where one thread takes 2 s and 4 s, and two threads take 1 s and 5 s.
    fn judged(claim: &str) -> Option<Outcome> {
        let text = format!("{FILE}\n[[claim]]\nsays = 'c'\n{claim}");
        let figure = Figure::read("X-fig1", &text, false).unwrap();
        let row = |series: &str, x: &str, seconds: f64| Row {
            part: "one".into(),
            x: x.into(),
            series: series.into(),
            of: format!("count queens {x} {series}"),
            figures: [("seconds".to_string(), seconds)].into(),
            ..Row::default()
        };
        let rows = [
            row("--threads 1", "8", 2.0),
            row("--threads 1", "9", 4.0),
            row("--threads 2", "8", 1.0),
            row("--threads 2", "9", 5.0),
        ];
        let runs = figure.parts[0].runs.as_ref().unwrap();
        figure.claims[0].judge(&Data::new(&figure.parts[0], &commands::grid(runs), &rows))
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
    fn a_verdict_needs_every_claim() {
        let held =
            |holds, points| Some(Outcome { holds, points, missing: 0, shown: String::new() });
        assert_eq!(Verdict::of(&[held(2, 2), held(1, 1)]), Verdict::Reproduced);
        assert_eq!(Verdict::of(&[held(2, 2), None, held(1, 1)]), Verdict::SoFar);
        assert_eq!(Verdict::of(&[held(2, 2), held(0, 1)]), Verdict::Partly);
        assert_eq!(Verdict::of(&[held(1, 2)]), Verdict::Partly);
        assert_eq!(Verdict::of(&[held(0, 2)]), Verdict::DoesNot);
        assert_eq!(Verdict::of(&[None]), Verdict::NotRun);
        let unfinished = held(2, 2).map(|outcome| Outcome { missing: 1, ..outcome });
        assert_eq!(Verdict::of(&[unfinished]), Verdict::SoFar);
    }
}
