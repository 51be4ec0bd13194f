//! The report as one JSON object, and numbers that JSON represents exactly.

use super::Report;
use pleach_core::search::tree::Goal;
use pleach_runtime::activity::Phases;
use pleach_runtime::{Outcome, SiteEnd, SiteReport, UnitReport};
use serde_json::{Map, Value, json};

/// How a device spent its time.
fn phases(unit: &UnitReport) -> Value {
    let Phases { exchange_ns, copy_ns, wait_ns } = unit.phases;
    let [exchange, copy, wait] = [exchange_ns, copy_ns, wait_ns].map(|ns| ns as f64 * 1e-9);
    json!({
        "explore_s": round((unit.busy_s - exchange - copy - wait).max(0.0)),
        "exchange_s": round(exchange),
        "copy_s": round(copy),
        "wait_s": round(wait + unit.idle_s),
    })
}

impl Report {
    /// The report as one JSON object, always with the same keys.
    #[must_use]
    pub fn json(&self, problem: &str, instance: &str, preset: &str, settings: &Value) -> Value {
        let Outcome { counts, units, balance, .. } = &self.outcome;
        let units: Vec<Value> = units
            .iter()
            .map(|unit| {
                let mut about = json!({
                    "name": unit.name,
                    "branched": whole(unit.counts.branched.into()),
                    "busy_s": round(unit.busy_s),
                    "improve_s": round(unit.improve_s),
                    "idle_s": round(unit.idle_s),
                    "steals": unit.steals,
                    "power": whole(unit.power.into()),
                });
                for (key, text) in [
                    ("mode", &unit.mode),
                    ("kernel", &unit.kernel),
                    ("kernel_log", &unit.kernel_log),
                ] {
                    if !text.is_empty() {
                        about[key] = json!(text);
                    }
                }
                if let Some(opened_s) = unit.opened_s {
                    about["opened_s"] = round(opened_s);
                }
                if let Some((explored, bounded)) = unit.trial {
                    about["trial"] = json!({
                        "explore": whole(explored.into()),
                        "evaluate": whole(bounded.into()),
                    });
                }
                if !unit.mode.is_empty() {
                    about["phases"] = phases(unit);
                }
                about
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
            (
                "efficiency",
                self.outcome
                    .efficiency()
                    .map_or(Value::Null, |part| json!((part * 1e4).round() / 1e4)),
            ),
            ("units", units.into()),
            ("sites", sites(&self.outcome)),
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
                    "weights": (!balance.weights.is_empty()).then_some(&balance.weights),
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
}

/// What each process did, if several searched together.
fn sites(outcome: &Outcome) -> Value {
    let end = |end| match end {
        SiteEnd::Left => "left",
        SiteEnd::Lost => "lost",
    };
    let site = |site: &SiteReport| {
        json!({
            "name": site.name,
            "host": site.host,
            "units": site.units,
            "joined_s": round(site.joined_s),
            "left_s": site.left_s.map(round),
            "end": site.end.map(end),
            "commits": whole(site.commits.into()),
            "redone": whole(site.redone.into()),
        })
    };
    if outcome.sites.is_empty() {
        return Value::Null;
    }
    outcome.sites.iter().map(site).collect()
}

/// The largest whole number that every JSON reader represents exactly.
const EXACT: u128 = 1 << 53;

/// A whole number, as a string if some reader would round it.
pub(crate) fn whole(value: u128) -> Value {
    u64::try_from(value)
        .ok()
        .filter(|&small| u128::from(small) <= EXACT)
        .map_or_else(|| Value::String(value.to_string()), Value::from)
}

pub(crate) fn signed(value: i64) -> Value {
    if u128::from(value.unsigned_abs()) <= EXACT { value.into() } else { value.to_string().into() }
}

pub(crate) fn round(seconds: f64) -> Value {
    json!((seconds * 1e6).round() / 1e6)
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
}
