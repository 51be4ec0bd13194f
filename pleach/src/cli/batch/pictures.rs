//! The pictures of a batch: a performance profile, and a cactus plot.

use super::plan::Plan;
use super::summary::FinishedRun;
use crate::draw::chart::{Chart, Series};
use crate::report::counted;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Shorter times count as this, since they say little.
const SHORTEST_S: f64 = 1e-3;

/// What the title of a performance profile begins with.
const PROFILE: &str = "Performance profile";
/// What the title of a cactus plot begins with.
const CACTUS: &str = "Runs solved over time";

/// A picture of a batch.
pub struct Picture {
    /// What its file name ends with.
    pub kind: &'static str,
    title: &'static str,
    /// Draws it.
    pub draw: fn(&Plan, &[FinishedRun<'_>]) -> String,
}

/// The pictures of each batch.
pub const PICTURES: [Picture; 2] = [
    Picture { kind: "profile", title: PROFILE, draw: profile },
    Picture { kind: "cactus", title: CACTUS, draw: cactus },
];

impl Picture {
    /// Whether this file would be lost if the picture were written to it: it exists, and is not an earlier picture.
    pub fn would_overwrite(&self, path: &Path) -> io::Result<bool> {
        Ok(path.is_file() && !String::from_utf8_lossy(&std::fs::read(path)?).contains(self.title))
    }
}

/// A point of a curve: a time or a ratio, and how many problems are solved by then.
type Point = (f64, f64);

/// For each setting, the fraction of problems that it solves within a multiple of the time of the fastest setting
/// (Dolan and Moré, 2002). Only problems that all settings have tried count.
fn profile(plan: &Plan, ended: &[FinishedRun<'_>]) -> String {
    let (curves, problems) = ratios(plan, ended);
    draw(
        Chart {
            title: format!("{PROFILE}: {}", plan.command),
            below: format!("{}, by all settings", counted(problems, "problem")),
            x_name: "time as a multiple of that of the fastest setting".into(),
            y_name: "fraction of the problems solved".into(),
            parts: true,
            ..Chart::default()
        },
        plan,
        &curves,
        1.0,
    )
}

/// For each setting, the number of problems that it solves within a time.
fn cactus(plan: &Plan, ended: &[FinishedRun<'_>]) -> String {
    let mut times = vec![Vec::new(); plan.settings.len()];
    for it in ended {
        times[it.run.setting].extend(it.solved_in().map(|time| time.max(SHORTEST_S)));
    }
    let curves: Vec<Vec<Point>> = times.into_iter().map(|times| steps(times, 1.0)).collect();
    draw(
        Chart {
            title: format!("{CACTUS}: {}", plan.command),
            below: format!("{} in all", counted(ended.len(), "run")),
            x_name: "seconds".into(),
            y_name: "runs solved".into(),
            ..Chart::default()
        },
        plan,
        &curves,
        SHORTEST_S,
    )
}

/// The profile of each setting, and the number of problems.
fn ratios(plan: &Plan, ended: &[FinishedRun<'_>]) -> (Vec<Vec<Point>>, usize) {
    let mut problems: BTreeMap<[&str; 2], Vec<(usize, Option<f64>)>> = BTreeMap::new();
    for it in ended {
        let problem = [it.row.get("instance"), it.row.get("seed")];
        let time = it.solved_in().map(|time| time.max(SHORTEST_S));
        problems.entry(problem).or_default().push((it.run.setting, time));
    }
    problems.retain(|_, times| times.len() == plan.settings.len());
    let mut ratios = vec![Vec::new(); plan.settings.len()];
    for times in problems.values() {
        let best = times.iter().filter_map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        for &(setting, time) in times {
            ratios[setting].extend(time.map(|time| time / best));
        }
    }
    let each = 1.0 / problems.len().max(1) as f64;
    (ratios.into_iter().map(|ratios| steps(ratios, each)).collect(), problems.len())
}

/// A curve that rises by `each` at every value.
fn steps(mut values: Vec<f64>, each: f64) -> Vec<Point> {
    values.sort_by(f64::total_cmp);
    let mut curve: Vec<Point> = Vec::new();
    for (solved, value) in (1..).zip(values) {
        let solved = f64::from(solved) * each;
        match curve.last_mut().filter(|last| last.0 == value) {
            Some(last) => last.1 = solved,
            None => curve.push((value, solved)),
        }
    }
    curve
}

/// Draws a curve for each setting, from the least to the greatest value of all.
fn draw(chart: Chart, plan: &Plan, curves: &[Vec<Point>], least: f64) -> String {
    let mut places: Vec<f64> = curves.iter().flatten().map(|point| point.0).collect();
    places.push(least);
    places.sort_by(f64::total_cmp);
    places.dedup();
    if let [only] = places[..] {
        places.push(2.0 * only);
    }
    let last = places.len() - 1;
    let series = plan.settings.iter().zip(curves).map(|((name, _), curve)| {
        let place = |value: f64| places.partition_point(|&place| place < value);
        let mut points: Vec<(usize, f64, f64)> =
            curve.iter().map(|&(value, solved)| (place(value), solved, 0.0)).collect();
        if points.first().is_none_or(|first| first.0 > 0) {
            points.insert(0, (0, 0.0, 0.0));
        }
        let solved = points.last().map_or(0.0, |point| point.1);
        if points.last().is_some_and(|point| point.0 < last) {
            points.push((last, solved, 0.0));
        }
        Series { name: name.clone(), points, ..Series::default() }
    });
    let series = series.collect();
    let places = places.iter().map(f64::to_string).collect();
    let chart = Chart { series_name: "setting".into(), steps: true, series, places, ..chart };
    chart.draw()
}

#[cfg(test)]
mod tests {
    use super::super::plan::{InputFiles, Run};
    use super::super::rows::Row;
    use super::*;

    #[test]
    fn a_profile_says_how_often_a_setting_is_within_a_factor_of_the_fastest() {
        let settings = ["one", "two"].map(|name| (name.to_string(), name.to_string())).to_vec();
        let mut runs = Vec::new();
        // The second setting is twice as slow, then fails, then is alone.
        for (instance, setting, seconds) in
            [("a", 0, "1"), ("a", 1, "2"), ("b", 0, "3"), ("b", 1, ""), ("c", 1, "5")]
        {
            let mut row = Row::empty();
            row.set("instance", instance);
            row.set("status", if seconds.is_empty() { "failed" } else { "optimal" });
            row.set("seconds", seconds);
            let (question, inputs) = (String::new(), InputFiles::default());
            runs.push(Run { args: Vec::new(), setting, question, row, inputs });
        }
        let plan = Plan { command: "solve".into(), maximises: false, settings, runs };
        let ended: Vec<FinishedRun<'_>> =
            plan.runs.iter().map(|run| FinishedRun { run, row: &run.row }).collect();
        let (curves, problems) = ratios(&plan, &ended);
        assert_eq!(problems, 2, "not all have tried c");
        assert_eq!(curves, [vec![(1.0, 1.0)], vec![(2.0, 0.5)]]);
        for svg in [profile(&plan, &ended), cactus(&plan, &ended), cactus(&plan, &[])] {
            assert!(svg.contains(">one<") && svg.contains(">two<"), "{svg}");
            assert!(svg.contains("prefers-color-scheme:dark") && !svg.contains("NaN"), "{svg}");
        }
    }

    #[test]
    fn a_curve_rises_once_for_equal_values() {
        assert_eq!(steps(vec![2.0, 1.0, 2.0], 1.0), [(1.0, 1.0), (2.0, 3.0)]);
    }
}
