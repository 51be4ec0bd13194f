//! [`Scenario`]: what a file or a command line asks to simulate, with its lists as a sweep.

use super::spec::Spec;
use crate::cli::keys::{Keys, value_in_short};
use crate::registry::Entry;
use crate::results::Paper;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// A key with a list of values.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its values, as words.
    pub values: Vec<String>,
}

/// Everything to simulate.
#[derive(Debug)]
pub struct Scenario {
    pub title: String,
    pub seeds: Vec<u64>,
    /// The lists, at most two.
    pub axes: Vec<Axis>,
    /// One run for each combination of their values; the last list varies fastest.
    pub cells: Vec<Spec>,
    pub paper: Vec<Paper>,
    /// The figure that a chart shows.
    pub chart: String,
}

/// A step into a table.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Place(usize),
}

/// Lists that are not a sweep.
const LISTS: [&str; 1] = ["seeds"];
/// The maximum number of combinations.
const MOST_CELLS: usize = 10_000;

impl Scenario {
    /// Reads a table.
    ///
    /// # Errors
    /// One line: file, key, value, and what was expected.
    pub fn read(registry: &[Entry], file: &str, table: &Table) -> Result<Self, String> {
        let mut lists = Vec::new();
        find_lists(table, &mut Vec::new(), &mut lists);
        // Numbers come first, for the horizontal axis of a chart.
        lists.sort_by_key(|path| !of_numbers(table, path));
        if lists.len() > 2 {
            let names: Vec<String> = lists.iter().map(|path| dotted(path)).collect();
            let names = names.join(", ");
            return Err(format!("{file}: lists for {names}: expected at most two of them"));
        }
        let (mut axes, mut tables) = (Vec::new(), vec![table.clone()]);
        for path in &lists {
            let values = at(table, path).and_then(Value::as_array).cloned().unwrap_or_default();
            if values.is_empty() || values.len() * tables.len() > MOST_CELLS {
                let name = dotted(path);
                return Err(format!(
                    "{file}: {name} = a list: expected 1 to {MOST_CELLS} combinations"
                ));
            }
            let with = |table: &Table, value: &Value| {
                let mut table = table.clone();
                put(&mut table, path, value.clone());
                table
            };
            tables = tables
                .iter()
                .flat_map(|table| values.iter().map(|value| with(table, value)))
                .collect();
            let words = values.iter().map(|value| match value {
                Value::String(word) => word.clone(),
                _ => value_in_short(value),
            });
            axes.push(Axis { name: name(table, path), values: words.collect() });
        }
        let cells = tables.iter().map(|table| Spec::read(registry, &Keys::new(file, table)));
        let cells = cells.collect::<Result<Vec<Spec>, String>>()?;
        let keys = Keys::new(file, &tables[0]);
        let scenario = Self {
            title: keys.word("title", Some(file))?,
            seeds: seeds(&keys)?,
            axes,
            cells,
            paper: paper(&keys)?,
            chart: keys.word("chart", Some("efficiency"))?,
        };
        let Some(chart) = super::metrics::metric(&scenario.chart) else {
            return keys.wrong("chart", &super::metrics::names());
        };
        if !scenario.cells.iter().all(|spec| chart.is_measured(spec)) {
            return keys.wrong("chart", "a quantity that simulations of sites measure");
        }
        // Each cell has read the keys of a single run; this marks them as known.
        Spec::read(registry, &keys)?;
        keys.finish()?;
        Ok(scenario)
    }
}

fn seeds(keys: &Keys<'_>) -> Result<Vec<u64>, String> {
    if !keys.has("seeds") {
        return Ok(vec![0, 1, 2, 3, 4]);
    }
    let seeds = keys.list("seeds", 0..=i64::MAX)?;
    let once: BTreeSet<_> = seeds.iter().collect();
    if once.len() < seeds.len() {
        return keys.wrong("seeds", "each seed once");
    }
    Ok(seeds.into_iter().map(|seed| seed as u64).collect())
}

fn paper(keys: &Keys<'_>) -> Result<Vec<Paper>, String> {
    let read = |row: Keys<'_>| {
        let paper = Paper {
            x: row.word("x", Some(""))?,
            series: row.word("series", Some(""))?,
            value: row.number("value", None, -1e300..=1e300)?,
            spread: row.if_any("spread", |key| row.number(key, None, 0.0..=1e300))?,
            drawn: row.flag("drawn", true)?,
            what: row.word("what", None)?,
        };
        row.finish()?;
        Ok(paper)
    };
    keys.tables("paper")?.into_iter().map(read).collect()
}

/// Finds the lists of values, outside lists of tables.
fn find_lists(table: &Table, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    for (key, value) in table {
        if path.is_empty() && LISTS.contains(&key.as_str()) {
            continue;
        }
        path.push(Step::Key(key.clone()));
        match value {
            Value::Table(inside) => find_lists(inside, path, found),
            Value::Array(list) if list.iter().any(Value::is_table) => {
                for (place, inside) in list.iter().enumerate() {
                    path.push(Step::Place(place));
                    if let Value::Table(inside) = inside {
                        find_lists(inside, path, found);
                    }
                    path.pop();
                }
            }
            Value::Array(_) => found.push(path.clone()),
            _ => {}
        }
        path.pop();
    }
}

/// Whether a list has only numbers.
fn of_numbers(table: &Table, path: &[Step]) -> bool {
    let list = at(table, path).and_then(Value::as_array);
    list.is_some_and(|list| list.iter().all(|value| value.is_integer() || value.is_float()))
}

fn at<'t>(table: &'t Table, path: &[Step]) -> Option<&'t Value> {
    let Some((Step::Key(first), rest)) = path.split_first() else { return None };
    rest.iter().try_fold(table.get(first)?, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Place(place) => value.get(place),
    })
}

fn put(table: &mut Table, path: &[Step], new: Value) {
    let Some((Step::Key(first), rest)) = path.split_first() else { return };
    let slot = rest.iter().try_fold(table.get_mut(first), |value, step| {
        let value = value?;
        Some(match step {
            Step::Key(key) => value.get_mut(key),
            Step::Place(place) => value.get_mut(place),
        })
    });
    if let Some(Some(slot)) = slot {
        *slot = new;
    }
}

fn dotted(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.clone_from(key),
            Step::Key(key) => text += &format!(".{key}"),
            Step::Place(place) => text += &format!("[{place}]"),
        }
    }
    text
}

/// The name of a list: that of the class of peers it belongs to, or its key.
fn name(table: &Table, path: &[Step]) -> String {
    let kind = path.split_last().and_then(|(_, parent)| at(table, parent));
    let kind = kind.and_then(|kind| kind.get("name")).and_then(Value::as_str);
    match (kind, path.last()) {
        (Some(kind), Some(Step::Key(key))) if key == "count" => kind.to_string(),
        (Some(kind), Some(Step::Key(key))) => format!("{kind} {key}"),
        (_, Some(Step::Key(key))) => key.clone(),
        _ => dotted(path),
    }
}
