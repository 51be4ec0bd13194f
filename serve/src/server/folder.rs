//! A job's folder, and what the job's root leaves in it.

use crate::api::Update;
use serde::Deserialize;
use std::path::Path;

/// Where a root writes its result, in the job's folder.
pub const RESULT: &str = "result.json";
/// Where it saves the search.
pub const CHECKPOINT: &str = "search.pleach";
/// Its key.
pub const KEY: &str = "search.key";
/// What it said.
pub const LOG: &str = "log.txt";

/// The longest result that is kept, in bytes.
const MOST: u64 = 1 << 28;

/// How a root ended.
pub struct RootEnd {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub result: Vec<u8>,
    /// Whether it says that it was stopped.
    pub stopped: bool,
    /// The last state of its search, if it is one.
    pub last: Option<Update>,
    /// The last line that it said.
    pub said: String,
}

/// What matters here of a result that a search printed.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Printed {
    status: String,
    objective: Option<f64>,
    lower_bound: Option<f64>,
    seconds: f64,
    nodes: PrintedNodes,
    settings: PrintedSettings,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PrintedNodes {
    bounded: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PrintedSettings {
    decimals: u32,
}

impl Printed {
    /// The last state of the search.
    fn update(&self) -> Update {
        let decimals = self.settings.decimals;
        // JSON has values as people write them.
        let whole = |value: f64| (value * 10_f64.powi(decimals as i32)).round() as i64;
        Update {
            seconds: self.seconds,
            nodes: self.nodes.bounded,
            best: self.objective.map(whole),
            bound: self.lower_bound.map(whole),
            decimals,
            ..Update::default()
        }
    }
}

/// How a root ended, by what it left in its folder.
pub fn end_of(folder: &Path, code: Option<i32>, said: &str) -> RootEnd {
    let path = folder.join(RESULT);
    let small = std::fs::metadata(&path).is_ok_and(|file| file.len() <= MOST);
    let result = if small { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
    let printed = serde_json::from_slice::<Printed>(&result).ok();
    let stopped = printed.as_ref().is_some_and(|printed| printed.status == "stopped");
    let last = printed.filter(|printed| !printed.status.is_empty()).map(|printed| printed.update());
    let said = said.strip_prefix("pleach: ").unwrap_or(said);
    let said = said.chars().filter(|c| !c.is_control()).take(400).collect();
    RootEnd { code, stopped, result, last, said }
}
