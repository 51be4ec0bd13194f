//! [`SimulationData`]: the result of runs on simulated clusters.

use super::number::{Amount, JsonInteger, JsonNumber, LARGEST, LONGEST};
use super::run::of_a_result;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The result of a simulation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SimulationData {
    /// The version of the program.
    #[serde(deserialize_with = "of_a_result")]
    pub pleach: String,
    pub scenario: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub seeds: Vec<u64>,
    #[serde(default)]
    pub rows: Vec<CellData>,
    #[serde(default)]
    pub paper: Vec<Paper>,
    #[serde(default)]
    pub seconds: JsonNumber<0, LONGEST>,
    #[serde(default)]
    pub setup_seconds: JsonNumber<0, LONGEST>,
    #[serde(default)]
    pub events_per_second: Amount,
}

/// Runs that differ in their seeds alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellData {
    /// The values that distinguish it from others, by name.
    #[serde(default)]
    pub cell: IndexMap<String, String>,
    pub peers: JsonInteger<u64>,
    pub power: Option<f64>,
    #[serde(default)]
    pub figures: IndexMap<String, FigureData>,
    /// The depths of the tree of peers, in the first run.
    pub depths: Option<Vec<DepthData>>,
}

/// A figure of several runs; what no run has is null.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FigureData {
    pub mean: Option<JsonNumber<{ -LARGEST }, LARGEST>>,
    pub spread: Option<Amount>,
    #[serde(default)]
    pub values: Vec<Option<f64>>,
}

/// A depth of the tree of peers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DepthData {
    pub peers: u64,
    pub requests: u64,
    pub messages: u64,
    pub bytes: u64,
}

/// A published value to print beside the simulated one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Paper {
    /// The value of the first list at which it was measured.
    #[serde(default)]
    pub x: String,
    /// The value of the second list.
    #[serde(default)]
    pub series: String,
    /// The published value.
    pub value: f64,
    /// Its published standard deviation.
    pub spread: Option<f64>,
    /// Whether the chart shows it.
    #[serde(skip)]
    pub drawn: bool,
    /// The figure's name.
    #[serde(default)]
    pub what: String,
}
