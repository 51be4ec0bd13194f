//! [`Part`]: one experiment of a figure, and the chart that it makes.

use super::measures;
use crate::results::{checked, in_short};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toml::Table;

/// Something to run and to draw: a scenario for the simulator, or commands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub name: String,
    pub title: String,
    pub on: On,
    #[serde(default)]
    pub minutes: f64,
    /// What differs from the paper's experiment.
    #[serde(default)]
    pub instead: Vec<String>,
    #[serde(default)]
    pub shape: ChartShape,
    pub shows: String,
    #[serde(default)]
    pub also: Vec<String>,
    pub unit: Option<String>,
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// The list on the horizontal axis, by its key.
    pub x: Option<String>,
    /// The reference point, to whose value all others are relative.
    pub against: Option<Spot>,
    #[serde(default)]
    names: BTreeMap<String, String>,
    pub scenario: Option<Table>,
    pub runs: Option<Runs>,
    #[serde(default)]
    pub paper: Vec<Published>,
    /// What the quick version replaces: its texts, and the work by paths of keys. It may skip the part.
    #[serde(default)]
    quick: Map<String, Value>,
}

/// What a part runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum On {
    Simulator,
    Threads,
    Emulated,
    Gpu,
    Processes,
}

/// The form of a chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChartShape {
    #[default]
    Lines,
    Bars,
}

impl On {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            On::Simulator => "simulator",
            On::Threads => "threads",
            On::Emulated => "emulated",
            On::Gpu => "gpu",
            On::Processes => "processes",
        }
    }
}

/// Commands, one for each combination of two lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    pub command: String,
    #[serde(default = "unnamed", deserialize_with = "words")]
    pub x: Vec<String>,
    #[serde(default = "unnamed", deserialize_with = "words")]
    pub series: Vec<String>,
    #[serde(default)]
    pub x_name: String,
    #[serde(default)]
    pub series_name: String,
    #[serde(default = "once")]
    pub repeat: u64,
    /// How many processes search together, with `{x}` and `{series}` as in the command.
    pub processes: Option<String>,
    #[serde(default)]
    pub trace: bool,
}

/// A point of a chart, all points of a series, or all points at one place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spot {
    pub series: Option<String>,
    pub x: Option<String>,
}

/// A point of a part: its series and its place.
pub type PartPoint<'p> = (&'p str, &'p str);

impl Spot {
    /// The point that it means, seen from another point of the part.
    pub fn at<'p>(&'p self, (series, x): PartPoint<'p>) -> PartPoint<'p> {
        (self.series.as_deref().unwrap_or(series), self.x.as_deref().unwrap_or(x))
    }
}

/// A published value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    #[serde(default)]
    pub x: String,
    #[serde(default)]
    pub series: String,
    pub value: f64,
    pub spread: Option<f64>,
    /// The quantity that it is a value of; by default the one that the part shows.
    #[serde(default)]
    pub what: String,
}

impl Runs {
    /// Whether a command of the runs names this.
    pub fn names(&self, word: &str) -> bool {
        self.series.iter().chain(&self.x).chain([&self.command]).any(|part| part.contains(word))
    }
}

fn unnamed() -> Vec<String> {
    vec![String::new()]
}

fn once() -> u64 {
    1
}

/// Reads a list of words, or of numbers as words.
fn words<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let word = |value: &Value| match value {
        Value::String(word) => Some(word.clone()),
        Value::Number(_) => Some(in_short(value)),
        _ => None,
    };
    checked(from, "a list of words or numbers", |list| {
        list.as_array().filter(|list| !list.is_empty())?.iter().map(word).collect()
    })
}

impl Part {
    /// Whether the quick version skips it.
    pub fn is_skipped(&self) -> bool {
        self.quick.get("skip") == Some(&Value::Bool(true))
    }

    /// Checks what its keys say together, and sets what depends on others.
    ///
    /// # Errors
    /// One line: key, value, and what was expected.
    pub fn settle(&mut self) -> Result<(), String> {
        let Self { name, on, shows, .. } = self;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(format!("name = '{name}': expected letters, digits and dashes"));
        }
        let simulated = *on == On::Simulator;
        let work = if simulated { "scenario" } else { "runs" };
        if (self.scenario.is_some(), self.runs.is_some()) != (simulated, !simulated) {
            return Err(format!("on = '{}': expected a table [part.{work}] alone", on.word()));
        }
        let processes = self.runs.as_ref().and_then(|runs| runs.processes.as_ref());
        if processes.is_some() != (*on == On::Processes) {
            let expected = "a number or {x} with on = 'processes', and only there";
            return Err(format!("runs.processes: expected {expected}"));
        }
        let (known, names) = if simulated {
            (measures::is_simulated as fn(&str) -> bool, measures::simulated_names())
        } else {
            (measures::is_measured as _, measures::measured_names())
        };
        let unknown = |name: &&String| !known(measures::extreme(name).0);
        if let Some(other) = std::iter::once(&*shows).chain(&self.also).find(unknown) {
            return Err(format!("shows or also = '{other}': expected some of {names}"));
        }
        for row in self.paper.iter_mut().filter(|row| row.what.is_empty()) {
            row.what.clone_from(shows);
        }
        Ok(())
    }

    /// The name to show for a value of a list.
    pub fn name_of<'p>(&'p self, value: &'p str) -> &'p str {
        self.names.get(value).map_or(value, String::as_str)
    }
}

/// Completes each part of a figure: by the work of the part that it is `like`, and by what all parts have in common.
pub fn complete_parts(figure: &mut Table) {
    let common = match figure.remove("common") {
        Some(toml::Value::Table(common)) => common,
        Some(other) => {
            // Reading the figure refuses it.
            figure.insert("common".into(), other);
            Table::new()
        }
        None => Table::new(),
    };
    let parts = figure.get_mut("part").and_then(toml::Value::as_array_mut).into_iter().flatten();
    let mut complete: Vec<Table> = Vec::new();
    for part in parts.filter_map(toml::Value::as_table_mut) {
        let is_like =
            |other: &&Table| part.get("like").is_some_and(|name| other.get("name") == Some(name));
        if let Some(other) = complete.iter().find(is_like) {
            let work = other.iter().filter(|(key, _)| ["scenario", "runs"].contains(&key.as_str()));
            let work = work.map(|(key, value)| (key.clone(), value.clone())).collect();
            add_missing(part, &work);
            part.remove("like");
        }
        let on = part.get("on").or(common.get("on")).and_then(toml::Value::as_str);
        let other_work = if on == Some("simulator") { "runs" } else { "scenario" };
        let mut common = common.clone();
        common.remove(other_work);
        add_missing(part, &common);
        complete.push(part.clone());
    }
}

/// Adds the keys that a table does not have, also to the tables in it.
fn add_missing(table: &mut Table, common: &Table) {
    for (key, value) in common {
        match (table.get_mut(key), value) {
            (Some(toml::Value::Table(own)), toml::Value::Table(common)) => add_missing(own, common),
            (Some(_), _) => {}
            (None, _) => {
                table.insert(key.clone(), value.clone());
            }
        }
    }
}

/// The keys of a part itself that the quick version may replace.
const QUICK_TEXTS: [&str; 2] = ["title", "instead"];

/// Puts the values of the quick version into the table of a part.
///
/// # Errors
/// If a path leads nowhere.
pub fn apply_quick(part: &mut toml::Value) -> Result<(), String> {
    let Some(replaced) = part.get("quick").and_then(toml::Value::as_table).cloned() else {
        return Ok(());
    };
    let work = ["scenario", "runs"].into_iter().find(|name| part.get(*name).is_some());
    for (path, value) in replaced.into_iter().filter(|(path, _)| path != "skip") {
        let is_text = QUICK_TEXTS.iter().any(|text| path.split('.').next() == Some(*text));
        let at = match work {
            _ if is_text => Some(&mut *part),
            Some(work) => part.get_mut(work),
            None => None,
        };
        let put = at.and_then(|at| put(at, &path, value));
        put.ok_or_else(|| format!("part.quick.\"{path}\": expected the path of a key"))?;
    }
    Ok(())
}

/// Sets the value at a dotted path, in which a number is an index into a list.
fn put(at: &mut toml::Value, path: &str, value: toml::Value) -> Option<()> {
    let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
    let inside = match at {
        toml::Value::Table(table) => {
            table.entry(step).or_insert_with(|| toml::Value::Table(Table::new()))
        }
        toml::Value::Array(list) => list.get_mut(step.parse::<usize>().ok()?)?,
        _ => return None,
    };
    match rest {
        Some(rest) => put(inside, rest, value),
        None => {
            *inside = value;
            Some(())
        }
    }
}
