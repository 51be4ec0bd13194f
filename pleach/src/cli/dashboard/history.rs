//! [`History`]: samples of a run, coarse for the whole run and fine for its end.

use pleach_loops::looping::LoopSnapshot;
use pleach_runtime::{ProgressSnapshot, SiteSnapshot, SitesSnapshot};
use std::collections::VecDeque;

/// A sample of a search or of a loop.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Since the start.
    pub seconds: f64,
    /// Nodes explored, or units of a loop done.
    pub amount: u64,
    /// Units of the loop; `None` in a search.
    pub whole: Option<u64>,
    /// What was counted.
    pub counted: u128,
    /// The incumbent's value.
    pub best: Option<i64>,
    /// What no solution can beat.
    pub bound: Option<i64>,
    /// The fraction that is done; an estimate in a search.
    pub done: Option<f64>,
    /// The workers of this process, or the takers of a loop.
    pub rows: Vec<Row>,
    /// All sites together.
    pub all_sites: Option<SitesSnapshot>,
    /// Each of them.
    pub sites: Vec<SiteSnapshot>,
}

/// A worker of this process, or a taker of a loop.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub name: String,
    /// Nodes explored, or units of a loop done.
    pub amount: u64,
    pub busy_s: f64,
    pub held: Held,
}

/// The work that a worker has.
#[derive(Clone, Debug)]
pub enum Held {
    /// This amount of work of a tree.
    Size(f64),
    /// These units of a loop.
    Range(u64, u64),
}

impl Default for Held {
    fn default() -> Self {
        Held::Size(0.0)
    }
}

impl From<&ProgressSnapshot> for Sample {
    fn from(snapshot: &ProgressSnapshot) -> Self {
        let rows = snapshot.workers.iter().map(|worker| Row {
            name: worker.name.to_string(),
            amount: worker.nodes,
            busy_s: worker.busy_s,
            held: Held::Size(worker.held),
        });
        Self {
            seconds: snapshot.seconds,
            amount: snapshot.counts.bounded.max(snapshot.counts.branched),
            whole: None,
            counted: snapshot.counts.total,
            best: snapshot.best,
            bound: snapshot.bound,
            done: snapshot.done,
            rows: rows.collect(),
            all_sites: snapshot.sites,
            sites: snapshot.each_site.clone(),
        }
    }
}

impl From<&LoopSnapshot> for Sample {
    fn from(snapshot: &LoopSnapshot) -> Self {
        let rows = snapshot.takers.iter().map(|taker| Row {
            name: taker.name.clone(),
            amount: taker.units,
            busy_s: taker.busy_s,
            held: Held::Range(taker.held.start, taker.held.end),
        });
        Self {
            seconds: snapshot.seconds,
            amount: snapshot.done,
            whole: Some(snapshot.units),
            done: Some(snapshot.done as f64 / snapshot.units.max(1) as f64),
            rows: rows.collect(),
            ..Self::default()
        }
    }
}

/// What charts show of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub seconds: f64,
    pub amount: u64,
    pub best: Option<i64>,
    pub bound: Option<i64>,
}

/// The samples of a run.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The latest samples, for rates.
    recent: VecDeque<Sample>,
    /// Points spread evenly over the whole run.
    points: Vec<Point>,
    /// The least time between two of the points.
    step_s: f64,
}

/// Rates cover this many seconds.
const WINDOW_S: f64 = 3.0;
/// The least time between two recent samples.
const CLOSE_S: f64 = 0.04;
/// The maximum number of points, an even number; terminals have fewer columns.
const POINTS: usize = 2048;

impl History {
    /// Adds a sample.
    pub fn add(&mut self, sample: Sample) {
        let before = self.recent.back();
        // The nodes of a lost site are deducted, so the count may fall during a search.
        let is_another =
            |before: &Sample| sample.seconds < before.seconds || sample.whole != before.whole;
        if before.is_some_and(is_another) {
            *self = Self::default();
        }
        self.note(&sample);
        // The latest sample is always the last point, however close it is to the one before.
        let last = self.recent.iter().rev().nth(1).map(|it| it.seconds);
        if last.is_some_and(|last| sample.seconds - last < CLOSE_S) {
            self.recent.pop_back();
        }
        let from = sample.seconds - WINDOW_S;
        self.recent.push_back(sample);
        while self.recent.get(1).is_some_and(|second| second.seconds <= from) {
            self.recent.pop_front();
        }
    }

    fn note(&mut self, sample: &Sample) {
        let Sample { seconds, amount, best, bound, .. } = *sample;
        let len = self.points.len();
        if len > 1 && seconds - self.points[len - 2].seconds < self.step_s {
            self.points.pop();
        }
        self.points.push(Point { seconds, amount, best, bound });
        if self.points.len() > POINTS {
            // The last one stays.
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            let all_s =
                self.points.last().map_or(0.0, |last| last.seconds - self.points[0].seconds);
            self.step_s = all_s / (POINTS / 2) as f64;
        }
    }

    /// The last sample.
    pub fn last(&self) -> Option<&Sample> {
        self.recent.back()
    }

    /// The points of the whole run.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The sample that rates are relative to, and the time since then.
    fn window(&self) -> Option<(&Sample, &Sample, f64)> {
        let (first, last) = (self.recent.front()?, self.recent.back()?);
        let seconds = last.seconds - first.seconds;
        (seconds > 0.0).then_some((first, last, seconds))
    }

    /// Nodes, or units of a loop, a second; measured from the start until there are two samples.
    pub fn rate(&self) -> Option<f64> {
        match self.window() {
            Some((first, last, seconds)) => {
                Some(last.amount.saturating_sub(first.amount) as f64 / seconds)
            }
            None => self.last().and_then(|last| mean(last.amount as f64, last.seconds)),
        }
    }

    /// The rate of a worker, and the fraction of its time for which it is busy.
    pub fn speed(&self, at: usize) -> Option<(f64, f64)> {
        let last = self.last()?.rows.get(at)?;
        let (first, _, seconds) = self.window()?;
        let first = first.rows.get(at).filter(|first| first.name == last.name)?;
        let rate = last.amount.saturating_sub(first.amount) as f64 / seconds;
        Some((rate, ((last.busy_s - first.busy_s) / seconds).clamp(0.0, 1.0)))
    }

    /// Nodes a second of a site, which may have joined a moment ago.
    pub fn site_rate(&self, name: &str) -> Option<f64> {
        let nodes =
            |sample: &Sample| sample.sites.iter().find(|it| it.name == name).map(|it| it.nodes);
        let first = self.recent.iter().find_map(|sample| Some((sample.seconds, nodes(sample)?)))?;
        let last = self.recent.back().and_then(|sample| Some((sample.seconds, nodes(sample)?)))?;
        mean(last.1.saturating_sub(first.1) as f64, last.0 - first.0)
    }
}

fn mean(amount: f64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| amount / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seconds: f64, amount: u64) -> Sample {
        let row = Row { name: "cpu0".into(), amount, busy_s: seconds / 2.0, ..Row::default() };
        Sample { seconds, amount, rows: vec![row], ..Sample::default() }
    }

    #[test]
    fn rates_are_those_of_the_last_seconds() {
        let mut history = History::default();
        assert_eq!((history.rate(), history.speed(0)), (None, None));
        history.add(sample(2.0, 100));
        assert_eq!(history.rate(), Some(50.0));
        (1..=100).for_each(|i| history.add(sample(2.0 + f64::from(i) / 10.0, 100)));
        assert_eq!(history.rate(), Some(0.0));
        (1..=100).for_each(|i| history.add(sample(12.0 + f64::from(i) / 10.0, 100 + 7 * i as u64)));
        let (rate, busy) = history.speed(0).unwrap();
        assert!((rate - 70.0).abs() < 1.0 && (busy - 0.5).abs() < 0.01, "{rate} {busy}");
        assert!(history.recent.len() < 40);
    }

    #[test]
    fn however_long_a_run_is_its_points_are_few_and_even() {
        let mut history = History::default();
        (0..100_000).for_each(|i| history.add(sample(f64::from(i) / 10.0, i as u64)));
        let points = history.points();
        assert!(points.len() <= POINTS && points.len() > POINTS / 4, "{}", points.len());
        assert_eq!((points[0].amount, points[points.len() - 1].amount), (0, 99_999));
        let far = points.windows(2).map(|two| two[1].seconds - two[0].seconds).fold(0.0, f64::max);
        assert!(far < 10_000.0 / POINTS as f64 * 4.0, "{far}");
    }

    #[test]
    fn a_site_that_came_a_moment_ago_has_the_rate_since_then() {
        let mut history = History::default();
        for i in 1..=20 {
            let name = "site1".into();
            let site = SiteSnapshot { name, nodes: 500 + 10 * i, ..SiteSnapshot::default() };
            let sites = if i > 15 { vec![site] } else { Vec::new() };
            history.add(Sample { sites, ..sample(i as f64 / 10.0, i) });
            assert_eq!(history.site_rate("site1").is_some(), i > 16);
        }
        assert!((history.site_rate("site1").unwrap() - 100.0).abs() < 1.0);
    }

    #[test]
    fn another_search_begins_anew() {
        let mut history = History::default();
        (0..10).for_each(|i| history.add(sample(f64::from(i), 10 * i as u64)));
        history.add(sample(0.5, 3));
        assert_eq!((history.points().len(), history.recent.len()), (1, 1));
        history.add(Sample { whole: Some(5), ..sample(0.7, 4) });
        assert_eq!(history.points().len(), 1);
    }

    #[test]
    fn numbers_that_make_no_sense_do_no_harm() {
        let mut history = History::default();
        for seconds in [f64::NAN, 0.0, f64::INFINITY, f64::NAN, -1.0, f64::MAX] {
            for amount in [0, u64::MAX, 1] {
                history.add(sample(seconds, amount));
                let _ = (history.rate(), history.speed(0), history.speed(9));
            }
        }
    }
}
