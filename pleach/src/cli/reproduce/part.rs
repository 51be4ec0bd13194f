//! [`Part`]: one experiment of a figure, and the chart that it makes.

use super::measures;
use crate::cli::keys::{Keys, value_in_short};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// Something to run and to draw.
#[derive(Debug)]
pub struct Part {
    pub name: String,
    pub title: String,
    pub on: On,
    pub minutes: f64,
    /// What differs from the paper's experiment.
    pub instead: Vec<String>,
    pub bars: bool,
    pub shows: String,
    pub also: Vec<String>,
    pub unit: Option<String>,
    /// The list on the horizontal axis, by its key.
    pub x: Option<String>,
    /// The reference point, to whose value all others are relative.
    pub against: Option<Spot>,
    names: BTreeMap<String, String>,
    pub work: Work,
    pub paper: Vec<Published>,
}

/// What a part runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Simulator,
    Threads,
    Emulated,
    Gpu,
    Processes,
}

impl On {
    const ALL: [(&'static str, On); 5] = [
        ("simulator", On::Simulator),
        ("threads", On::Threads),
        ("emulated", On::Emulated),
        ("gpu", On::Gpu),
        ("processes", On::Processes),
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, on)| *on == self).map_or("", |(word, _)| word)
    }
}

/// What a part runs.
#[derive(Debug)]
pub enum Work {
    /// A scenario for the simulator.
    Scenario(Table),
    /// Commands.
    Runs(Runs),
}

/// Commands, one for each combination of two lists.
#[derive(Debug)]
pub struct Runs {
    pub command: String,
    pub x: Vec<String>,
    pub series: Vec<String>,
    pub x_name: String,
    pub series_name: String,
    pub repeat: u64,
    /// How many processes search together, with `{x}` and `{series}` as in the command.
    pub processes: Option<String>,
    pub trace: bool,
}

/// A point of a chart, all points of a series, or all points at one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    pub series: Option<String>,
    pub x: Option<String>,
}

/// A published value.
#[derive(Debug)]
pub struct Published {
    pub x: String,
    pub series: String,
    pub value: f64,
    pub spread: Option<f64>,
    /// The figure that it is a value of.
    pub what: String,
}

impl Part {
    /// Reads a part; `None` if the quick version skips it.
    ///
    /// # Errors
    /// One line: file, key, value, and what was expected.
    pub fn read(keys: &Keys<'_>, quick: bool) -> Result<Option<Self>, String> {
        let name = keys.word("name", None)?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return keys.wrong("name", "letters, digits and dashes");
        }
        let on = keys.word("on", None)?;
        let Some(&(_, on)) = On::ALL.iter().find(|(word, _)| *word == on) else {
            return keys.wrong("on", "simulator, threads, emulated, gpu or processes");
        };
        let replaced = keys.raw_table("quick")?.filter(|_| quick);
        if replaced.is_some_and(|all| all.get("skip") == Some(&Value::Boolean(true))) {
            return Ok(None);
        }
        let work = match on {
            On::Simulator => Work::Scenario(with(keys, "scenario", replaced)?),
            _ => {
                let runs = with(keys, "runs", replaced)?;
                Work::Runs(Runs::read(&keys.of("runs", &runs), on)?)
            }
        };
        let shows = keys.word("shows", None)?;
        let known = |name: &str| match on {
            On::Simulator => measures::is_simulated(name),
            _ => measures::is_measured(name),
        };
        let names = || match on {
            On::Simulator => measures::simulated_names(),
            _ => measures::measured_names(),
        };
        let also = keys.words("also")?.unwrap_or_default();
        if !known(&shows) {
            return keys.wrong("shows", &format!("one of {}", names()));
        }
        if !also.iter().all(|name| known(name)) {
            return keys.wrong("also", &format!("some of {}", names()));
        }
        let bars = match keys.word("shape", Some("lines"))?.as_str() {
            "lines" => false,
            "bars" => true,
            _ => return keys.wrong("shape", "lines or bars"),
        };
        let paper = keys.tables("paper")?;
        let paper = paper.iter().map(|row| Published::read(row, &shows));
        let part = Self {
            name,
            title: keys.word("title", None)?,
            on,
            minutes: keys.number("minutes", Some(0.0), 0.0..=1e6)?,
            instead: keys.words("instead")?.unwrap_or_default(),
            bars,
            also,
            unit: keys.word_if_any("unit")?,
            x: keys.word_if_any("x")?,
            against: keys.table("against")?.as_ref().map(Spot::read).transpose()?,
            names: names_of(keys)?,
            work,
            paper: paper.collect::<Result<_, _>>()?,
            shows,
        };
        keys.finish()?;
        Ok(Some(part))
    }

    /// The name to show for a value of a list.
    pub fn name_of<'p>(&'p self, value: &'p str) -> &'p str {
        self.names.get(value).map_or(value, String::as_str)
    }
}

impl Runs {
    fn read(keys: &Keys<'_>, on: On) -> Result<Self, String> {
        let runs = Self {
            command: keys.word("command", None)?,
            x: keys.words("x")?.unwrap_or(vec![String::new()]),
            series: keys.words("series")?.unwrap_or(vec![String::new()]),
            x_name: keys.word("x_name", Some(""))?,
            series_name: keys.word("series_name", Some(""))?,
            repeat: keys.whole("repeat", Some(1), 1..=1000)? as u64,
            processes: keys.word_if_any("processes")?,
            trace: keys.flag("trace", false)?,
        };
        if runs.processes.is_some() != (on == On::Processes) {
            return keys
                .wrong("processes", "a number or {x} with on = 'processes', and only there");
        }
        keys.finish()?;
        Ok(runs)
    }
}

impl Spot {
    /// Reads a table that names a series, a place or both.
    pub fn read(keys: &Keys<'_>) -> Result<Self, String> {
        let spot = Self { series: keys.word_if_any("series")?, x: keys.word_if_any("x")? };
        keys.finish()?;
        Ok(spot)
    }
}

impl Published {
    fn read(keys: &Keys<'_>, shows: &str) -> Result<Self, String> {
        let spread = keys.has("spread").then(|| keys.number("spread", None, 0.0..=1e300));
        let row = Self {
            x: keys.word("x", Some(""))?,
            series: keys.word("series", Some(""))?,
            value: keys.number("value", None, -1e300..=1e300)?,
            spread: spread.transpose()?,
            what: keys.word("what", Some(shows))?,
        };
        keys.finish()?;
        Ok(row)
    }
}

fn names_of(keys: &Keys<'_>) -> Result<BTreeMap<String, String>, String> {
    let none = Table::new();
    let table = keys.raw_table("names")?.unwrap_or(&none);
    let name = |(value, name): (&String, &Value)| match name {
        Value::String(name) => Ok((value.clone(), name.clone())),
        _ => keys.wrong("names", "names between quotes"),
    };
    table.iter().map(name).collect()
}

/// A table of a part, with the replacements of the quick version.
fn with(keys: &Keys<'_>, name: &'static str, replaced: Option<&Table>) -> Result<Table, String> {
    let Some(table) = keys.raw_table(name)? else {
        return keys.wrong(name, &format!("a table [part.{name}]"));
    };
    let mut table = table.clone();
    for (path, value) in replaced.into_iter().flatten() {
        if put(&mut table, path, value.clone()).is_none() {
            let value = value_in_short(value);
            return Err(format!(
                "part.quick.\"{path}\" = {value}: expected the path of a key in {name}"
            ));
        }
    }
    Ok(table)
}

/// Sets the value at a dotted path, in which a number is an index into a list of tables.
fn put(table: &mut Table, path: &str, value: Value) -> Option<()> {
    let (parents, key) = path.rsplit_once('.').map_or((None, path), |(all, key)| (Some(all), key));
    let mut at = table;
    let mut steps = parents.into_iter().flat_map(|all| all.split('.'));
    while let Some(step) = steps.next() {
        let inside = at.entry(step).or_insert_with(|| Value::Table(Table::new()));
        at = match inside {
            Value::Table(inside) => inside,
            Value::Array(list) => {
                list.get_mut(steps.next()?.parse::<usize>().ok()?)?.as_table_mut()?
            }
            _ => return None,
        };
    }
    at.insert(key.to_string(), value);
    Some(())
}
