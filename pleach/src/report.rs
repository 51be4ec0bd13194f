//! [`Report`]: what a search has found and proven, as values, as JSON and as words.

use crate::cli::trace::Moment;
use pleach_core::tree::Goal;
use pleach_run::{Outcome, Stop};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The best solution, proven.
    Optimal,
    /// No solution is better than the value the search started from, proven.
    NoBetter,
    /// All counted.
    Counted,
    /// A solution, as asked for.
    Found,
    /// There is no solution, proven.
    Infeasible,
    /// Stopped early.
    Stopped,
}

impl Status {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Status::Optimal => "optimal",
            Status::NoBetter => "no-better",
            Status::Counted => "counted",
            Status::Found => "found",
            Status::Infeasible => "infeasible",
            Status::Stopped => "stopped",
        }
    }
}

/// What a search has found and proven.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// The value of the best solution found.
    pub objective: Option<i64>,
    /// What no solution can beat, as far as is proven.
    pub lower_bound: Option<i64>,
    /// The best solution found.
    pub solution: Option<Vec<i64>>,
    /// What was counted.
    pub count: u128,
    /// How many optimal solutions there are, if that was asked and is known.
    pub optima: Option<u128>,
    /// Everything else: nodes, times, units.
    pub outcome: Outcome,
    /// When the best value and the bound changed, where a trace was asked for.
    pub(crate) moments: Vec<Moment>,
}

impl Report {
    /// What an outcome means, given the value that the search was to beat.
    pub(crate) fn new(outcome: Outcome, to_beat: Option<i64>) -> Self {
        let goal = outcome.goal;
        let stopped = outcome.stop.is_some_and(|why| why != Stop::Found);
        let status = match goal {
            _ if outcome.solution.is_some() && goal == Goal::Find => Status::Found,
            _ if stopped => Status::Stopped,
            Goal::Count => Status::Counted,
            // A solution to start from may be worse than the value to beat: that proves nothing of it.
            _ if outcome
                .solution
                .as_ref()
                .is_some_and(|best| best.score == outcome.lower_bound) =>
            {
                Status::Optimal
            }
            _ if to_beat.is_some() => Status::NoBetter,
            _ => Status::Infeasible,
        };
        let optimises = matches!(goal, Goal::Minimise | Goal::Maximise);
        let bounded = optimises && ![i64::MIN, i64::MAX].contains(&outcome.lower_bound);
        let best = outcome.solution.clone().filter(|_| status != Status::NoBetter);
        Self {
            status,
            objective: best.as_ref().filter(|_| optimises).map(|best| goal.value(best.score)),
            lower_bound: bounded.then(|| goal.value(outcome.lower_bound)),
            solution: best.map(|best| best.plan),
            count: outcome.counts.total,
            optima: None,
            outcome,
            moments: Vec::new(),
        }
    }

    /// The gap between the best solution and the bound, as a part of the solution's value.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        Some(gap(self.objective?, self.lower_bound?))
    }

    /// Takes up what a second search, which counted the optimal solutions, has found; nothing is
    /// counted if the value is not known to be `attained`.
    pub(crate) fn add_optima(&mut self, counted: Report, attained: bool) {
        match counted.status {
            Status::Counted => self.optima = attained.then_some(counted.count),
            _ => self.status = counted.status,
        }
        let (all, more) = (&mut self.outcome, counted.outcome);
        all.counts.add(&more.counts);
        all.seconds += more.seconds;
        all.setup_seconds += more.setup_seconds;
        all.stop = more.stop;
        all.balance.add(more.balance);
        for (unit, more) in all.units.iter_mut().zip(more.units) {
            unit.counts.add(&more.counts);
            unit.busy_s += more.busy_s;
            unit.idle_s += more.idle_s;
            unit.steals += more.steals;
        }
    }

    /// The report as one JSON object, always with the same keys.
    #[must_use]
    pub fn json(&self, problem: &str, instance: &str, preset: &str, settings: &Value) -> Value {
        let Outcome { counts, units, balance, .. } = &self.outcome;
        let units: Vec<Value> = units
            .iter()
            .map(|unit| {
                json!({
                    "name": unit.name,
                    "branched": whole(unit.counts.branched.into()),
                    "busy_s": round(unit.busy_s),
                    "improve_s": round(unit.improve_s),
                    "idle_s": round(unit.idle_s),
                    "steals": unit.steals,
                    "power": whole(unit.power.into()),
                })
            })
            .collect();
        let counted = self.outcome.goal == Goal::Count;
        let mut all = Map::new();
        for (key, value) in [
            ("pleach", json!(env!("CARGO_PKG_VERSION"))),
            ("problem", json!(problem)),
            ("instance", json!(instance)),
            ("status", json!(self.status.word())),
            ("objective", self.objective.map_or(Value::Null, signed)),
            ("lower_bound", self.lower_bound.map_or(Value::Null, signed)),
            (
                "solution",
                self.solution
                    .as_ref()
                    .map_or(Value::Null, |plan| plan.iter().copied().map(signed).collect()),
            ),
            (
                "count",
                if counted { whole(self.count) } else { self.optima.map_or(Value::Null, whole) },
            ),
            ("gap", self.gap().map_or(Value::Null, |gap| json!((gap * 1e6).round() / 1e6))),
            (
                "nodes",
                json!({
                    "branched": whole(counts.branched.into()),
                    "bounded": whole(counts.bounded.into()),
                    "depth": counts.depth,
                }),
            ),
            ("seconds", round(self.outcome.seconds)),
            ("setup_seconds", round(self.outcome.setup_seconds)),
            ("units", units.into()),
            (
                "balance",
                json!({
                    "preset": preset,
                    "requests": whole(balance.requests.into()),
                    "served": whole(balance.served.into()),
                    "refused": whole(balance.refused.into()),
                    "moved_bytes": whole(balance.moved_bytes.into()),
                    "redundant": whole(balance.redundant.into()),
                    "ending_us": balance.ending_ns as f64 / 1e3,
                    "messages": whole(balance.messages.into()),
                    "steal_us": balance.median_steal_ns().map(|ns| ns as f64 / 1e3),
                }),
            ),
            ("settings", settings.clone()),
            ("seed", settings.get("seed").cloned().unwrap_or(Value::Null)),
        ] {
            all.insert(key.into(), value);
        }
        all.into()
    }

    /// The report as words for a person.
    #[must_use]
    pub fn words(&self, problem: &str, instance: &str) -> String {
        let mut out = format!("{problem} {instance}:");
        match (self.status, self.objective) {
            (Status::Counted, _) => {
                let _ = write!(out, " {}", grouped(self.count));
            }
            (Status::Stopped, _) if self.outcome.goal == Goal::Count => {
                let _ = write!(out, " {} so far", grouped(self.count));
            }
            (_, Some(value)) => {
                let _ = write!(out, " {value}");
            }
            (Status::NoBetter, None) => {
                let _ = write!(out, " nothing beats {}", self.lower_bound.unwrap_or_default());
            }
            (_, None) => {}
        }
        let _ = write!(out, " ({})", self.status.word());
        if let (Status::Stopped, Some(bound)) = (self.status, self.lower_bound) {
            let _ = write!(out, ", bound {bound}");
            if let Some(gap) = self.gap() {
                let _ = write!(out, ", gap {:.2} %", 100.0 * gap);
            }
        }
        if let Some(optima) = self.optima {
            let _ = write!(out, ", {} optimal solutions", grouped(optima));
        }
        if let Some(why) = self.outcome.stop.filter(|_| self.status == Status::Stopped) {
            let _ = write!(out, ", stopped by {}", reason(why));
        }
        if let Some(plan) = &self.solution {
            let numbers: Vec<String> = plan.iter().map(ToString::to_string).collect();
            let _ = write!(out, "\n{}", numbers.join(" "));
        }
        let Outcome { counts, seconds, units, balance, .. } = &self.outcome;
        let rate = counts.bounded as f64 / seconds.max(1e-9);
        let only_threads = units.iter().all(|unit| unit.name.starts_with("cpu"));
        let kind = if only_threads { "thread" } else { "unit" };
        let many = if units.len() == 1 { "" } else { "s" };
        let _ = write!(
            out,
            "\n{} nodes in {seconds:.3} s on {} {kind}{many}, {} a second",
            grouped(counts.bounded.into()),
            units.len(),
            short(rate),
        );
        if balance.redundant > 0 {
            let _ = write!(out, ", {} of them twice", grouped(balance.redundant.into()));
        }
        out
    }
}

fn reason(why: Stop) -> &'static str {
    match why {
        Stop::Time => "the time limit",
        Stop::Nodes => "the node limit",
        Stop::Asked => "request",
        Stop::Memory => "lack of memory: the tree may have no end",
        Stop::Found | Stop::Failed => "a unit",
    }
}

/// The distance between a value and a bound, as a part of the value.
pub(crate) fn gap(value: i64, bound: i64) -> f64 {
    (value as f64 - bound as f64).abs() / (value as f64).abs().max(1.0)
}

/// The largest whole number that every reader of JSON keeps exactly.
const EXACT: u128 = 1 << 53;

/// A whole number, as a string where a number would not be read exactly everywhere.
pub(crate) fn whole(value: u128) -> Value {
    u64::try_from(value)
        .ok()
        .filter(|&small| u128::from(small) <= EXACT)
        .map_or_else(|| Value::String(value.to_string()), Value::from)
}

pub(crate) fn signed(value: i64) -> Value {
    if u128::from(value.unsigned_abs()) <= EXACT { value.into() } else { value.to_string().into() }
}

fn round(seconds: f64) -> Value {
    json!((seconds * 1e6).round() / 1e6)
}

/// A whole number with a comma every three digits.
pub(crate) fn grouped(value: u128) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rate in three digits and a word.
pub(crate) fn short(rate: f64) -> String {
    let (value, word) = match rate {
        _ if rate >= 1e9 => (rate / 1e9, " billion"),
        _ if rate >= 1e6 => (rate / 1e6, " million"),
        _ if rate >= 1e3 => (rate / 1e3, " thousand"),
        _ => (rate, ""),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}{word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_become_strings() {
        assert_eq!(whole(EXACT), json!(9_007_199_254_740_992u64));
        assert_eq!(whole(EXACT + 1), json!("9007199254740993"));
        assert_eq!(signed(-5), json!(-5));
        assert_eq!(signed(i64::MIN), json!("-9223372036854775808"));
    }

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(short(4_512_345_678.0), "4.51 billion");
        assert_eq!(short(12_345.0), "12.3 thousand");
    }
}
