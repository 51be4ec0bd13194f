//! [`TraceData`]: a search over time.

use super::number::{JsonInteger, JsonNumber, LONGEST, Seconds};
use serde::{Deserialize, Serialize};

/// A fraction of a step, which is written with four decimals.
type Fractions = Vec<JsonNumber<0, LONGEST, 4>>;
/// Fractions that are differences, and may be slightly negative.
type Differences = Vec<JsonNumber<{ -LONGEST }, LONGEST, 4>>;

/// A search over time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TraceData {
    /// The version of the program.
    pub pleach: String,
    pub seconds: JsonNumber<0, LONGEST>,
    #[serde(default, rename = "units")]
    pub workers: Vec<TracedWorker>,
    /// Each change of the best value or the bound.
    #[serde(default)]
    pub convergence: Vec<MomentData>,
}

/// A worker over time: a value for each step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TracedWorker {
    pub name: String,
    pub step_s: JsonNumber<0, LONGEST>,
    /// The fraction for which it was busy.
    #[serde(default)]
    pub busy: Fractions,
    #[serde(default)]
    pub nodes: Vec<JsonInteger<u64>>,
    /// The fraction of a device's explorers that had work.
    #[serde(default)]
    pub active: Fractions,
    /// The fraction that it spent on heuristics; absent if there was none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub improve: Fractions,
    /// The fractions that a device spent in each phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explore: Option<Differences>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Differences>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<Differences>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Differences>,
}

/// The best value and the bound from some time on, which counts from the beginning, including preparation.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct MomentData {
    pub seconds: Seconds,
    pub best: Option<JsonInteger<i64>>,
    pub bound: Option<JsonInteger<i64>>,
}
