//! [`RunData`]: the result of a search or a loop.

use super::loops::LoopData;
use super::number::{Amount, JsonInteger, JsonNumber, LARGEST, LONGEST, Seconds, checked};
use crate::decimal::{MOST_OF_PRODUCT, written};
use crate::provenance::Provenance;
use pleach_runtime::SiteEnd;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

/// The result of a search or a loop.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunData {
    /// The version of the program.
    #[serde(deserialize_with = "of_a_result")]
    pub pleach: String,
    #[serde(deserialize_with = "of_a_result")]
    pub problem: String,
    #[serde(deserialize_with = "of_a_result")]
    pub instance: String,
    #[serde(deserialize_with = "status")]
    pub status: String,
    /// What stopped it, if it was stopped.
    pub stopped_by: Option<String>,
    pub objective: Option<JsonInteger<i64>>,
    pub lower_bound: Option<JsonInteger<i64>>,
    pub solution: Option<Vec<JsonInteger<i64>>>,
    /// The names of what the solution lists, if the instance has names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    pub count: Option<JsonInteger<u128>>,
    /// The counters of the user's own tree, if it has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tally: Vec<JsonInteger<u128>>,
    pub gap: Option<JsonNumber<0, LARGEST, 6>>,
    pub nodes: Option<NodesData>,
    pub seconds: Seconds,
    /// The part of the time before the first node.
    pub setup_seconds: Option<Seconds>,
    pub efficiency: Option<JsonNumber<0, LONGEST, 4>>,
    #[serde(rename = "units")]
    pub workers: Vec<WorkerData>,
    /// The processes, if several took part.
    pub sites: Option<Vec<SiteData>>,
    pub balance: Option<BalanceData>,
    /// The machine, the build and the time of the result.
    pub host: Option<String>,
    pub processor: Option<String>,
    pub commit: Option<String>,
    pub date: Option<String>,
    #[serde(default)]
    pub settings: Map<String, Value>,
    pub seed: Option<Value>,
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub of_loop: Option<LoopData>,
    pub repeats: Option<RepeatsData>,
}

/// The nodes of a search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NodesData {
    pub branched: Option<JsonInteger<u64>>,
    pub bounded: Option<JsonInteger<u64>>,
    pub depth: Option<JsonInteger<u64>>,
}

/// A thread or a device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WorkerData {
    pub name: String,
    pub branched: Option<JsonInteger<u64>>,
    #[serde(default)]
    pub busy_s: Seconds,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub improve_s: Option<Seconds>,
    #[serde(default)]
    pub idle_s: Seconds,
    pub steals: Option<JsonInteger<u64>>,
    /// Nodes a second while it explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<JsonInteger<u64>>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mode: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel_log: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_s: Option<Seconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<PhasesData>,
}

/// The nodes a second of a device when exploring and when bounding.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TrialData {
    pub explore: Option<JsonInteger<u64>>,
    pub evaluate: Option<JsonInteger<u64>>,
}

/// How a device spent its time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PhasesData {
    pub explore_s: Seconds,
    pub exchange_s: Seconds,
    pub copy_s: Seconds,
    pub wait_s: Seconds,
}

/// A process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SiteData {
    pub name: String,
    /// The number of processes that this entry sums up, if it does.
    pub merged: Option<JsonInteger<u64>>,
    #[serde(default)]
    pub host: String,
    /// Its workers, as indices into those of the run.
    #[serde(default, rename = "units")]
    pub workers: Vec<usize>,
    #[serde(default)]
    pub joined_s: Seconds,
    pub left_s: Option<Seconds>,
    pub end: Option<String>,
    pub commits: Option<JsonInteger<u64>>,
    pub redone: Option<JsonInteger<u64>>,
}

/// The cost of keeping the workers busy.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BalanceData {
    #[serde(default)]
    pub preset: String,
    pub requests: Option<JsonInteger<u64>>,
    pub served: Option<JsonInteger<u64>>,
    pub refused: Option<JsonInteger<u64>>,
    pub moved_bytes: Option<JsonInteger<u64>>,
    pub ending_us: Option<Amount>,
    pub messages: Option<JsonInteger<u64>>,
    pub weights: Option<Vec<u32>>,
    pub steal_us: Option<Amount>,
}

/// The times and the rates of several runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RepeatsData {
    pub runs: JsonInteger<u64>,
    pub seconds: SpreadData,
    pub rate: Option<SpreadData>,
}

/// The mean of several numbers, their standard deviation, and their range.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct SpreadData {
    pub mean: Amount,
    pub deviation: Amount,
    pub least: Amount,
    pub most: Amount,
}

/// The ways in which a run may end.
const STATUSES: [&str; 7] =
    ["optimal", "no-better", "counted", "found", "infeasible", "stopped", "done"];

/// Reads a text that every result has.
pub fn of_a_result<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    match Value::deserialize(from)? {
        Value::String(text) => Ok(text),
        Value::Null => Err(D::Error::custom(
            "what 'pleach solve', 'count', 'loop' or 'sim' prints with --json",
        )),
        _ => Err(D::Error::custom("a string")),
    }
}

fn status<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let known = |word: &&str| STATUSES.contains(word);
    checked(from, &format!("one of {}", STATUSES.join(", ")), |value| {
        value.as_str().filter(known).map(String::from)
    })
}

/// The word for how a process ended.
pub fn how_ended(end: SiteEnd) -> String {
    match end {
        SiteEnd::Left => "left".into(),
        SiteEnd::Lost => "lost".into(),
    }
}

impl RunData {
    /// The same result, which was found by this program, here and now.
    pub fn stamped(self) -> Self {
        let Provenance { host, processor, commit, date } = Provenance::now();
        Self {
            host: Some(host),
            processor: Some(processor),
            commit: Some(commit),
            date: Some(date),
            ..self
        }
    }

    /// As JSON. A loop has neither gap nor efficiency, and its seed and settings come last.
    pub fn json(&self) -> Value {
        let mut all = json!(self);
        if let (Some(_), Some(keys)) = (&self.of_loop, all.as_object_mut()) {
            keys.retain(|key, _| key != "gap" && key != "efficiency");
            for key in ["seed", "settings"] {
                let value = keys.shift_remove(key);
                keys.insert(key.into(), value.unwrap_or_default());
            }
        }
        all
    }

    /// A setting whose value is a text.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.settings.get(key)?.as_str()
    }

    /// The number of decimals of values, as the settings say.
    pub fn decimals(&self) -> u32 {
        let decimals = self.settings.get("decimals").and_then(Value::as_u64);
        let decimals = decimals.and_then(|n| u32::try_from(n).ok());
        decimals.filter(|&n| n <= MOST_OF_PRODUCT).unwrap_or(0)
    }

    /// A value with its decimals.
    pub fn value(&self, value: JsonInteger<i64>) -> String {
        written(value.0, self.decimals())
    }

    /// The preset that balanced the work; empty for loops.
    pub fn preset(&self) -> &str {
        self.balance.as_ref().map_or("", |balance| &balance.preset)
    }

    /// The processes, if several took part.
    pub fn sites(&self) -> &[SiteData] {
        self.sites.as_deref().unwrap_or_default()
    }

    /// The seconds before the first node.
    pub fn setup_s(&self) -> f64 {
        self.setup_seconds.unwrap_or_default().0
    }

    /// The time of the run, or the mean time of several.
    pub fn time_s(&self) -> f64 {
        self.repeats.as_ref().map_or(self.seconds.0, |repeats| repeats.seconds.mean.0)
    }

    /// Nodes explored.
    pub fn explored(&self) -> Option<JsonInteger<u64>> {
        let nodes = self.nodes.as_ref()?;
        nodes.bounded.max(nodes.branched)
    }

    /// The rate, with its unit: nodes or operations a second.
    pub fn rate(&self) -> Option<(f64, &str)> {
        if let Some(of_loop) = &self.of_loop {
            return Some((of_loop.rate?.0, of_loop.rate_of.as_deref().unwrap_or("operations")));
        }
        let nodes = self.explored()?.0 as f64;
        (nodes > 0.0 && self.seconds.0 > 0.0).then(|| (nodes / self.seconds.0, "nodes"))
    }

    /// Whether it was stopped before it was done.
    pub fn is_stopped(&self) -> bool {
        self.status == "stopped"
    }
}

/// Whether a worker of this name is a thread.
pub fn is_thread(worker: &str) -> bool {
    worker.rsplit('/').next().is_some_and(|name| name.starts_with("cpu"))
}

#[cfg(test)]
mod tests {
    use super::super::{PartData, read};
    use super::*;

    #[test]
    fn what_was_written_is_read_again() {
        let worker = WorkerData {
            name: "cpu0".into(),
            branched: Some(JsonInteger(1 << 60)),
            phases: Some(PhasesData::default()),
            ..WorkerData::default()
        };
        let part = PartData { name: "cpu0".into(), share: JsonNumber(0.5), ..PartData::default() };
        let of_loop = LoopData { parts: vec![part], ..LoopData::default() };
        for (of_loop, last) in [(None, "repeats"), (Some(of_loop), "settings")] {
            let run = RunData {
                status: "done".into(),
                seconds: JsonNumber(0.1),
                workers: vec![worker.clone()],
                sites: Some(vec![SiteData::default()]),
                balance: Some(BalanceData::default()),
                nodes: Some(NodesData::default()),
                settings: Map::from_iter([("seed".into(), json!(3))]),
                seed: Some(json!(3)),
                of_loop,
                ..RunData::default()
            };
            let json = run.json();
            assert_eq!(json.as_object().unwrap().keys().next_back().unwrap(), last);
            // All sites have the same keys.
            assert_eq!(json["sites"][0].get("merged"), Some(&Value::Null));
            let again: RunData = read("a.json", json.clone()).unwrap();
            assert_eq!(again.json().to_string(), json.to_string());
        }
    }

    #[test]
    fn values_have_the_decimals_of_the_settings() {
        for (decimals, said) in [(json!(2), "7.25"), (json!(0), "725"), (json!(1e9), "725")] {
            let settings = Map::from_iter([("decimals".into(), decimals)]);
            let run = RunData { settings, ..RunData::default() };
            assert_eq!(run.value(JsonInteger(725)), said);
        }
    }
}
