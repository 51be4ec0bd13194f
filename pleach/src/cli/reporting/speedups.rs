//! [`Group`]: runs of the same work on different numbers of workers, and their speed-ups.

use crate::cli::flags::{Applies, FLAGS, Group as Heading, Lasts};
use crate::draw::chart::{Chart, Series};
use crate::results::{RunData, in_short};
use std::collections::BTreeSet;

/// Runs of the same work.
pub struct Group<'r> {
    /// The work that they share.
    pub title: String,
    /// The run that the others are compared with: the fastest one with the fewest workers.
    pub base: Point<'r>,
    /// All complete runs, by number of workers.
    pub points: Vec<Point<'r>>,
    /// The numbers of stopped runs, which have no time to compare.
    pub stopped: Vec<usize>,
}

/// A run with its number on the page.
#[derive(Clone, Copy)]
pub struct Point<'r> {
    pub number: usize,
    pub run: &'r RunData,
}

impl Point<'_> {
    fn workers(&self) -> usize {
        self.run.workers.len()
    }
}

/// The groups of comparable runs: at least two that differ in their workers or in how these shared work.
pub fn groups<'r>(runs: &[Point<'r>]) -> Vec<Group<'r>> {
    let mut keys: Vec<String> = Vec::new();
    for key in runs.iter().map(|point| work(point.run)) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let of = |key: &String| {
        let all = || runs.iter().filter(|point| work(point.run) == *key);
        let stopped = all().filter(|point| point.run.is_stopped()).map(|point| point.number);
        let mut points: Vec<Point<'r>> = all()
            .filter(|point| !point.run.is_stopped() && point.run.time_s() > 0.0)
            .copied()
            .collect();
        let order = |one: &Point<'_>, other: &Point<'_>| {
            let times = one.run.time_s().total_cmp(&other.run.time_s());
            one.workers().cmp(&other.workers()).then(times)
        };
        points.sort_by(order);
        let base = *points.first()?;
        let ways: BTreeSet<(usize, String)> =
            points.iter().map(|point| (point.workers(), how(point.run))).collect();
        let title = format!("{} {}", base.run.problem, base.run.instance);
        let stopped: Vec<usize> = stopped.collect();
        let comparable = ways.len() > 1 || !stopped.is_empty();
        comparable.then_some(Group { title, base, points, stopped })
    };
    keys.iter().filter_map(of).collect()
}

/// The work of a run, whatever its workers: problem, instance, and the flags that define the work.
fn work(run: &RunData) -> String {
    let kind = match () {
        () if run.of_loop.is_some() => "loop",
        () if run.objective.is_none() && run.lower_bound.is_none() && run.count.is_some() => {
            "count"
        }
        () => "solve",
    };
    let mut key = format!("{kind}\0{}\0{}", run.problem, run.instance);
    for about in FLAGS.iter().map(|flag| flag.about()) {
        let named = matches!(about.applies, Applies::Named) && about.group == Heading::Search;
        let name = about.name.replace('-', "_");
        if about.lasts == Lasts::Frozen || named {
            key += &format!("\0{}", run.settings.get(&name).map_or(String::new(), in_short));
        }
    }
    key
}

/// Who did the work, except for the number of workers: the preset, the kinds of workers, whether several processes.
pub fn how(run: &RunData) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for worker in &run.workers {
        let own = worker.name.rsplit('/').next().unwrap_or_default();
        let kind = own.trim_end_matches(|c: char| c.is_ascii_digit());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let mut words: Vec<String> = Vec::new();
    words.extend(Some(run.preset().to_string()).filter(|preset| !preset.is_empty()));
    words.push(kinds.join(" + "));
    words.extend((!run.sites().is_empty()).then(|| "processes".to_string()));
    let slow = run.settings.get("slow").and_then(|slow| slow.as_array());
    words.extend(slow.filter(|slow| !slow.is_empty()).map(|_| "slowed".to_string()));
    words.extend(run.settings.get("pace").filter(|pace| !pace.is_null()).map(|_| "paced".into()));
    words.join(", ")
}

impl Group<'_> {
    /// The speed-up of a run over the one that it is compared with.
    pub fn speed_up(&self, point: &Point<'_>) -> f64 {
        self.base.run.time_s() / point.run.time_s()
    }

    /// The ideal speed-up: the ratio of worker counts, as if all workers were alike.
    pub fn ideal(&self, point: &Point<'_>) -> f64 {
        point.workers() as f64 / self.base.workers().max(1) as f64
    }

    /// A chart of speed-up over the number of workers: a line for each way to use them, and the ideal.
    pub fn chart(&self) -> Option<String> {
        let mut workers: Vec<usize> = self.points.iter().map(Point::workers).collect();
        workers.dedup();
        if workers.len() < 2 {
            return None;
        }
        let place = |point: &Point<'_>| workers.iter().position(|&n| n == point.workers());
        let line = |at: usize| at as f64 / self.base.workers().max(1) as f64;
        let ideal = workers.iter().enumerate().map(|(place, &n)| (place, line(n), 0.0)).collect();
        let mut series = vec![Series { name: "ideal".into(), points: ideal, ..Series::default() }];
        // Among runs with equal numbers of workers, the first is the fastest.
        for point in &self.points {
            let (name, Some(place)) = (how(point.run), place(point)) else { continue };
            let series = Series::of(&mut series, &name);
            if series.points.iter().all(|(known, ..)| *known != place) {
                series.points.push((place, self.speed_up(point), 0.0));
            }
        }
        let chart = Chart {
            title: format!("Speed-up: {}", crate::draw::lanes::cut(&self.title, 60)),
            below: format!("times as fast as run {}", self.base.number),
            x_name: "workers".into(),
            y_name: "speed-up".into(),
            series_name: "balance, workers".into(),
            places: workers.iter().map(usize::to_string).collect(),
            series,
            ..Chart::default()
        };
        Some(chart.draw())
    }
}
