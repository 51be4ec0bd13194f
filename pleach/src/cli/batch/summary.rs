//! [`Summary`]: what a batch has found: a line for each setting, and results that contradict each other.

use super::plan::{Plan, Run};
use super::rows::{FAILED, Row, Rows};
use crate::report::columns::{aligned, digits};
use crate::results::JsonNumber;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Times are shifted by this before their geometric mean is taken, so that the shortest do not dominate.
const SHIFT_S: f64 = 1.0;
/// The statuses of runs that were not stopped and did not fail.
const SOLVED: [&str; 5] = ["optimal", "no-better", "counted", "found", "infeasible"];

/// The runs of a batch that have a row.
pub struct FinishedRun<'b> {
    pub run: &'b Run,
    pub row: &'b Row,
}

/// What a batch has found.
pub struct Summary {
    pub settings: Vec<OfSetting>,
    /// Results that contradict each other, a line each.
    pub contradictions: Vec<String>,
    /// Runs without a row.
    pub missing: usize,
}

/// What a setting has achieved.
pub struct OfSetting {
    pub name: String,
    pub runs: usize,
    pub solved: usize,
    pub failed: usize,
    /// The median and the shifted geometric mean of the times in seconds.
    pub median: Option<f64>,
    pub mean: Option<f64>,
    /// The mean gap of the runs that were stopped, as a fraction.
    pub gap: Option<f64>,
}

/// The runs of a plan that have a row.
pub fn ended<'b>(plan: &'b Plan, rows: &'b Rows) -> Vec<FinishedRun<'b>> {
    let find = |run: &'b Run| Some(FinishedRun { run, row: rows.find(&run.row)? });
    plan.runs.iter().filter_map(find).collect()
}

impl FinishedRun<'_> {
    /// Its time, if it was solved.
    pub fn solved_in(&self) -> Option<f64> {
        let solved = SOLVED.contains(&self.row.get("status"));
        self.row.number("seconds").filter(|_| solved)
    }

    /// Whether it failed.
    fn failed(&self) -> bool {
        self.row.get("status") == FAILED
    }

    /// The interval in which it says that the best value lies.
    fn range(&self, maximises: bool) -> Option<(f64, f64)> {
        if !["optimal", "no-better", "stopped"].contains(&self.row.get("status")) {
            return None;
        }
        let worst = if maximises { f64::NEG_INFINITY } else { f64::INFINITY };
        let [value, bound] = ["objective", "lower_bound"].map(|column| self.row.number(column));
        let (value, bound) = (value.unwrap_or(worst), bound.unwrap_or(-worst));
        Some((value.min(bound), value.max(bound)))
    }

    /// What it has proven, in words.
    fn proven(&self) -> Option<String> {
        Some(match self.row.get("status") {
            "optimal" => format!("optimal {}", self.row.get("objective")),
            "counted" => format!("count {}", self.row.get("count")),
            "infeasible" => "infeasible".into(),
            _ => return None,
        })
    }

    /// Whether its result contradicts another one of the same problem.
    fn contradicts(&self, other: &Self, maximises: bool) -> bool {
        if let (Some(one), Some(two)) = (self.proven(), other.proven())
            && one != two
        {
            return true;
        }
        let apart = |a: (f64, f64), b: (f64, f64)| a.1 < b.0 || b.1 < a.0;
        let exists =
            |it: &Self| !it.row.get("objective").is_empty() || it.row.get("status") == "found";
        self.range(maximises).zip(other.range(maximises)).is_some_and(|(one, two)| apart(one, two))
            || (self.row.get("status") == "infeasible" && exists(other))
            || (other.row.get("status") == "infeasible" && exists(self))
    }

    fn said(&self) -> String {
        let (row, status) = (self.row, self.row.get("status"));
        let (value, bound) = (row.get("objective"), row.get("lower_bound"));
        let said = self.proven().unwrap_or_else(|| match status {
            "no-better" => format!("nothing better than {bound}"),
            _ if bound.is_empty() => format!("{status} at {value}"),
            _ if value.is_empty() => format!("{status} with the bound {bound}"),
            _ => format!("{status} at {value} with the bound {bound}"),
        });
        format!("{said} with {} (seed {})", row.get("setting"), row.get("seed"))
    }
}

impl Summary {
    /// Of the runs that have a row.
    pub fn of(plan: &Plan, ended: &[FinishedRun<'_>]) -> Self {
        let settings = plan.settings.iter().enumerate().map(|(at, (name, _))| {
            let own: Vec<&FinishedRun<'_>> =
                ended.iter().filter(|it| it.run.setting == at).collect();
            of_setting(name, &own)
        });
        Self {
            settings: settings.collect(),
            contradictions: contradictions(ended, plan.maximises),
            missing: plan.runs.len() - ended.len(),
        }
    }

    /// As a table.
    pub fn text(&self) -> String {
        let head = ["setting", "runs", "solved", "failed", "median s", "mean s", "gap %"];
        let mut table = vec![head.map(String::from).to_vec()];
        let number = |it: Option<f64>| it.map_or("–".into(), digits);
        for it in &self.settings {
            let counts = [it.runs, it.solved, it.failed].map(|it| it.to_string());
            let numbers = [it.median, it.mean, it.gap.map(|gap| 100.0 * gap)].map(number);
            let cells = std::iter::once(it.name.clone()).chain(counts).chain(numbers);
            table.push(cells.collect());
        }
        aligned(&table)
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let rounded = |it: Option<f64>| it.map(JsonNumber::<0, { 10_i128.pow(15) }, 6>);
        let settings = self.settings.iter().map(|it| {
            json!({
                "name": it.name, "runs": it.runs, "solved": it.solved, "failed": it.failed,
                "median_s": rounded(it.median), "mean_s": rounded(it.mean), "gap": rounded(it.gap),
            })
        });
        json!({
            "settings": settings.collect::<Vec<_>>(),
            "contradictions": self.contradictions,
            "missing": self.missing,
        })
    }

    /// Whether a run failed.
    pub fn has_failed(&self) -> bool {
        self.settings.iter().any(|setting| setting.failed > 0)
    }
}

fn of_setting(name: &str, runs: &[&FinishedRun<'_>]) -> OfSetting {
    let failed = runs.iter().filter(|it| it.failed()).count();
    // A run that failed counts as one that took all the time that it had.
    let time =
        |it: &&FinishedRun<'_>| it.row.number(if it.failed() { "time_limit" } else { "seconds" });
    let times: Vec<f64> = runs.iter().filter_map(time).collect();
    let stopped = runs.iter().filter(|it| it.row.get("status") == "stopped");
    let gaps: Vec<f64> = stopped.filter_map(|it| it.row.number("gap")).collect();
    OfSetting {
        name: name.into(),
        runs: runs.len(),
        solved: runs.iter().filter(|it| it.solved_in().is_some()).count(),
        failed,
        median: median(&times),
        mean: shifted_mean(&times),
        gap: (!gaps.is_empty()).then(|| gaps.iter().sum::<f64>() / gaps.len() as f64),
    }
}

fn median(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    Some(0.5 * (sorted[low] + sorted[high]))
}

/// The shifted geometric mean.
fn shifted_mean(times: &[f64]) -> Option<f64> {
    let logarithms = times.iter().map(|time| (time + SHIFT_S).ln());
    let mean = logarithms.sum::<f64>() / times.len() as f64;
    (!times.is_empty()).then(|| (mean.exp() - SHIFT_S).max(0.0))
}

/// A line for each problem whose results contradict each other.
fn contradictions(ended: &[FinishedRun<'_>], maximises: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut problems: BTreeMap<[&str; 3], Vec<&FinishedRun<'_>>> = BTreeMap::new();
    for it in ended {
        let problem = [it.row.get("instance"), it.row.get("input"), &it.run.question];
        problems.entry(problem).or_default().push(it);
    }
    for (problem, runs) in problems {
        let pairs = runs
            .iter()
            .enumerate()
            .flat_map(|(i, one)| runs[..i].iter().map(move |two| (two, one)));
        let wrong =
            |(one, two): &(&&FinishedRun<'_>, &&FinishedRun<'_>)| one.contradicts(two, maximises);
        if let Some((one, two)) = pairs.into_iter().find(wrong) {
            lines.push(format!("{}: {}, but {}", problem[0], one.said(), two.said()));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::plan::InputFiles;
    use super::*;

    fn run(setting: usize, name: &str, result: &[(&str, &str)]) -> (Run, Row) {
        let mut row = Row::empty();
        row.set("instance", "a");
        row.set("setting", name);
        row.set("seed", 0);
        result.iter().for_each(|(column, value)| row.set(column, value));
        let (question, inputs) = (String::new(), InputFiles::default());
        let run = Run { args: Vec::new(), setting, question, row: row.clone(), inputs };
        (run, row)
    }

    fn contradict(one: &[(&str, &str)], two: &[(&str, &str)]) -> Vec<String> {
        contradict_where(false, one, two)
    }

    fn contradict_where(
        maximises: bool,
        one: &[(&str, &str)],
        two: &[(&str, &str)],
    ) -> Vec<String> {
        let all = [run(0, "one", one), run(1, "two", two)];
        let ended: Vec<FinishedRun<'_>> =
            all.iter().map(|(run, row)| FinishedRun { run, row }).collect();
        contradictions(&ended, maximises)
    }

    #[test]
    fn results_that_cannot_both_be_true_are_reported() {
        let optimal = |v| [("status", "optimal"), ("objective", v), ("lower_bound", v)];
        let stopped = |v, bound| [("status", "stopped"), ("objective", v), ("lower_bound", bound)];
        assert_eq!(contradict(&optimal("7"), &optimal("7")), [""; 0]);
        let said = contradict(&optimal("7"), &optimal("8"));
        assert_eq!(said, ["a: optimal 7 with one (seed 0), but optimal 8 with two (seed 0)"]);
        // A minimum between 6 and 8, and a maximum between 8 and 6.
        assert_eq!(contradict(&optimal("7"), &stopped("8", "6")), [""; 0]);
        assert_eq!(contradict(&optimal("7"), &stopped("6", "8")), [""; 0]);
        assert_eq!(contradict(&optimal("7"), &stopped("6", "5")).len(), 1);
        assert_eq!(contradict(&optimal("7"), &stopped("10", "8")).len(), 1);
        assert_eq!(contradict(&[("status", "infeasible")], &optimal("7")).len(), 1);
        assert_eq!(contradict(&[("status", "infeasible")], &stopped("7", "6")).len(), 1);
        let found = [("status", "found")];
        assert_eq!(contradict(&[("status", "infeasible")], &found).len(), 1);
        assert_eq!(contradict(&found, &found), [""; 0]);
        let counted = |count| [("status", "counted"), ("count", count)];
        assert_eq!(contradict(&counted("92"), &counted("92")), [""; 0]);
        assert_eq!(contradict(&counted("92"), &counted("93")).len(), 1);
        assert_eq!(contradict(&counted("92"), &[("status", "stopped"), ("count", "5")]).len(), 0);
    }

    #[test]
    fn nothing_better_than_a_value_contradicts_a_better_one() {
        let optimal = |v| [("status", "optimal"), ("objective", v), ("lower_bound", v)];
        let no_better = |v| [("status", "no-better"), ("lower_bound", v)];
        for (maximises, better, worse) in [(false, "6", "8"), (true, "8", "6")] {
            let lines = |value| contradict_where(maximises, &no_better("7"), &optimal(value));
            assert_eq!(lines(worse), [""; 0]);
            assert_eq!(lines("7"), [""; 0]);
            let line = format!(
                "a: nothing better than 7 with one (seed 0), but optimal {better} with two (seed 0)"
            );
            assert_eq!(lines(better), [line]);
            let stopped = [("status", "stopped"), ("objective", better), ("lower_bound", "")];
            let line = format!(
                "a: nothing better than 7 with one (seed 0), but stopped at {better} with two (seed 0)"
            );
            assert_eq!(contradict_where(maximises, &no_better("7"), &stopped), [line]);
            let bound = [("status", "stopped"), ("objective", ""), ("lower_bound", better)];
            assert_eq!(contradict_where(maximises, &no_better("7"), &bound), [""; 0]);
            assert_eq!(contradict_where(maximises, &no_better("7"), &no_better(better)), [""; 0]);
        }
    }

    #[test]
    fn a_line_has_the_times_and_the_gap_of_its_runs() {
        let all = [
            run(0, "one", &[("status", "optimal"), ("seconds", "1")]),
            run(0, "one", &[("status", "stopped"), ("seconds", "3"), ("gap", "0.5")]),
            run(0, "one", &[("status", "failed"), ("time_limit", "7")]),
        ];
        let ended: Vec<FinishedRun<'_>> =
            all.iter().map(|(run, row)| FinishedRun { run, row }).collect();
        let own: Vec<&FinishedRun<'_>> = ended.iter().collect();
        let it = of_setting("one", &own);
        assert_eq!((it.runs, it.solved, it.failed), (3, 1, 1));
        assert_eq!((it.median, it.gap), (Some(3.0), Some(0.5)));
        assert!((it.mean.unwrap() - 3.0).abs() < 1e-9, "the cube root of 2 · 4 · 8, less 1");
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!((median(&[]), shifted_mean(&[])), (None, None));
    }
}
