//! [`LoopData`]: what only loops report.

use super::number::{Amount, JsonInteger, JsonNumber, Seconds};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What only loops report.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoopData {
    #[serde(default)]
    pub name: String,
    pub units: Option<JsonInteger<u64>>,
    #[serde(default)]
    pub parts: Vec<PartData>,
    #[serde(default)]
    pub seconds: Seconds,
    #[serde(rename = "static")]
    pub split: Option<SplitData>,
    pub checksum: Option<f64>,
    /// Operations a second, and what they are called.
    pub rate: Option<Amount>,
    pub rate_of: Option<String>,
    /// What only this loop reports.
    #[serde(flatten, skip_deserializing)]
    pub more: Map<String, Value>,
}

/// The part of a thread or a device in a loop.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PartData {
    pub name: String,
    #[serde(default)]
    pub share: JsonNumber<0, 1, 6>,
    pub units: Option<JsonInteger<u64>>,
    pub ranges: Option<JsonInteger<u64>>,
    #[serde(default)]
    pub busy_s: Seconds,
    #[serde(default)]
    pub idle_s: Seconds,
}

/// The best static split of a loop.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct SplitData {
    /// The share of all threads if there are devices, otherwise that of the first thread.
    pub share: JsonNumber<0, 1, 4>,
    pub seconds: Seconds,
}
