//! [`Keys`]: reads the keys of a TOML table one by one, with errors that name file and key.

use std::cell::RefCell;
use std::ops::RangeInclusive;
use toml::{Table, Value};

/// The maximum number of peers.
pub const MOST_PEERS: i64 = 10_000_000;
/// Units of time, in nanoseconds.
pub const US: f64 = 1e3;
/// A millisecond.
pub const MS: f64 = 1e6;
/// A second.
pub const S: f64 = 1e9;

/// A table that is being read.
pub struct Keys<'t> {
    file: &'t str,
    /// The table's path in the file, with a dot at the end.
    path: String,
    table: &'t Table,
    /// The keys read so far; all others are unknown.
    known: RefCell<Vec<&'static str>>,
}

impl<'t> Keys<'t> {
    /// The top-level table of a file.
    pub fn new(file: &'t str, table: &'t Table) -> Self {
        Self { file, path: String::new(), table, known: RefCell::default() }
    }

    fn get(&self, key: &'static str) -> Option<&'t Value> {
        self.known.borrow_mut().push(key);
        self.table.get(key)
    }

    /// An error about a key.
    pub fn wrong<T>(&self, key: &str, expected: &str) -> Result<T, String> {
        let (file, path) = (self.file, &self.path);
        match self.table.get(key) {
            Some(value) => {
                let value = value_in_short(value);
                Err(format!("{file}: {path}{key} = {value}: expected {expected}"))
            }
            None => Err(format!("{file}: {path}{key} is missing: expected {expected}")),
        }
    }

    /// A number.
    pub fn number(
        &self,
        key: &'static str,
        default: Option<f64>,
        range: RangeInclusive<f64>,
    ) -> Result<f64, String> {
        let number = match self.get(key) {
            None => default,
            Some(Value::Integer(number)) => Some(*number as f64),
            Some(Value::Float(number)) => Some(*number),
            Some(_) => None,
        };
        let (least, most) = (range.start(), range.end());
        match number.filter(|number| range.contains(number)) {
            Some(number) => Ok(number),
            None => self.wrong(key, &format!("a number from {least} to {most}")),
        }
    }

    /// A whole number.
    pub fn whole(
        &self,
        key: &'static str,
        default: Option<i64>,
        range: RangeInclusive<i64>,
    ) -> Result<i64, String> {
        let number = match self.get(key) {
            None => default,
            Some(value) => value.as_integer(),
        };
        let (least, most) = (range.start(), range.end());
        match number.filter(|number| range.contains(number)) {
            Some(number) => Ok(number),
            None => self.wrong(key, &format!("a whole number from {least} to {most}")),
        }
    }

    /// A time in a unit of this many nanoseconds.
    pub fn time_ns(
        &self,
        key: &'static str,
        default: Option<f64>,
        unit_ns: f64,
    ) -> Result<u64, String> {
        Ok((self.number(key, default, 0.0..=1e15 / unit_ns)? * unit_ns).round() as u64)
    }

    /// A string.
    pub fn word(&self, key: &'static str, default: Option<&str>) -> Result<String, String> {
        match (self.get(key), default) {
            (Some(Value::String(word)), _) => Ok(word.clone()),
            // An instance that is a number needs no quotes.
            (Some(Value::Integer(number)), _) => Ok(number.to_string()),
            (None, Some(word)) => Ok(word.to_string()),
            _ => self.wrong(key, "a string"),
        }
    }

    /// An optional string.
    pub fn word_if_any(&self, key: &'static str) -> Result<Option<String>, String> {
        if self.table.contains_key(key) {
            return self.word(key, None).map(Some);
        }
        self.known.borrow_mut().push(key);
        Ok(None)
    }

    /// True or false.
    pub fn flag(&self, key: &'static str, default: bool) -> Result<bool, String> {
        match self.get(key) {
            None => Ok(default),
            Some(Value::Boolean(flag)) => Ok(*flag),
            Some(_) => self.wrong(key, "true or false"),
        }
    }

    /// Whether the table has a key.
    pub fn has(&self, key: &'static str) -> bool {
        self.get(key).is_some()
    }

    /// What is read of a key, if the table has it.
    pub fn if_any<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&'static str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        self.has(key).then(|| read(key)).transpose()
    }

    /// A list of whole numbers.
    pub fn list(&self, key: &'static str, range: RangeInclusive<i64>) -> Result<Vec<i64>, String> {
        let numbers = self.get(key).and_then(Value::as_array).map(|list| {
            list.iter().map(|value| value.as_integer().filter(|number| range.contains(number)))
        });
        match numbers.and_then(Iterator::collect::<Option<Vec<i64>>>) {
            Some(numbers) if !numbers.is_empty() => Ok(numbers),
            _ => {
                let (least, most) = (range.start(), range.end());
                self.wrong(key, &format!("a list of whole numbers from {least} to {most}"))
            }
        }
    }

    /// A list of strings; numbers need no quotes.
    pub fn words(&self, key: &'static str) -> Result<Vec<String>, String> {
        let word = |value: &Value| match value {
            Value::String(word) => Some(word.clone()),
            Value::Integer(number) => Some(number.to_string()),
            _ => None,
        };
        let words = self.get(key).and_then(Value::as_array);
        match words.and_then(|list| list.iter().map(word).collect::<Option<Vec<_>>>()) {
            Some(words) if !words.is_empty() => Ok(words),
            _ => self.wrong(key, "a list of strings"),
        }
    }

    /// The names and strings of an inner table.
    pub fn named_words(&self, key: &'static str) -> Result<Vec<(String, String)>, String> {
        let Some(inside) = self.table(key)? else { return Ok(Vec::new()) };
        let word = |(name, value): (&String, &Value)| match value {
            Value::String(word) => Ok((name.clone(), word.clone())),
            _ => inside.wrong(name, "a string"),
        };
        inside.table.iter().map(word).collect()
    }

    /// An inner table, if present.
    pub fn table(&self, key: &'static str) -> Result<Option<Keys<'t>>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(self.inside(key.to_string(), table))),
            Some(_) => self.wrong(key, &format!("a table [{key}]")),
        }
    }

    /// A list of inner tables; empty if the key is missing.
    pub fn tables(&self, key: &'static str) -> Result<Vec<Keys<'t>>, String> {
        let list = match self.get(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(_) => return self.wrong(key, &format!("tables [[{key}]]")),
        };
        let inside = |(i, value): (usize, &'t Value)| match value {
            Value::Table(table) => Ok(self.inside(format!("{key}[{i}]"), table)),
            _ => self.wrong(key, &format!("tables [[{key}]]")),
        };
        list.iter().enumerate().map(inside).collect()
    }

    fn inside(&self, name: String, table: &'t Table) -> Self {
        let path = format!("{}{name}.", self.path);
        Self { file: self.file, path, table, known: RefCell::default() }
    }

    /// Refuses keys that no call has read.
    pub fn finish(&self) -> Result<(), String> {
        let known = self.known.borrow();
        match self.table.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let (file, path) = (self.file, &self.path);
                let names = known.join(", ");
                Err(format!("{file}: unknown key {path}{key}: expected one of {names}"))
            }
        }
    }
}

/// Reads a TOML text.
///
/// # Errors
/// One line: file, line, and what is wrong there.
pub fn table_of(file: &str, text: &str) -> Result<Table, String> {
    text.parse().map_err(|why: toml::de::Error| {
        let before = why.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..before].iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("{file}, line {line}: {}", why.message().replace('\n', ", "))
    })
}

/// The items of a list that a message shows.
const SHOWN: usize = 8;

/// A value on one line.
pub fn value_in_short(value: &Value) -> String {
    match value {
        Value::String(word) => format!("'{}'", word.replace('\n', " ")),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::Datetime(_) => "a date".into(),
        Value::Array(all) => {
            let shown: Vec<String> = all.iter().take(SHOWN).map(value_in_short).collect();
            let more = if all.len() > SHOWN { ", …" } else { "" };
            format!("[{}{more}]", shown.join(", "))
        }
        Value::Table(_) => "a table".into(),
    }
}
