//! [`Rows`]: the runs of a batch in a CSV file, a line each.

use crate::cli::line_file::LineFile;
use crate::failure::Failure;
use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use std::collections::HashMap;
use std::path::Path;

/// The columns of the file.
const COLUMNS: [&str; 25] = [
    "command", "instance", "setting", "flags", "time_limit", "threads", "seed", "status",
    "objective", "lower_bound", "gap", "count", "seconds", "setup_seconds", "branched", "bounded",
    "devices", "message", "input", "version", "commit", "sources", "processor", "host", "date",
];

/// The columns that say which run it is: two rows that are equal in these are of the same run.
const KEY: [&str; 11] = [
    "command", "instance", "flags", "time_limit", "threads", "seed", "input", "version", "commit",
    "sources", "processor",
];

type Key = [String; KEY.len()];

/// The status of a run that failed, which is repeated next time.
pub const FAILED: &str = "failed";

/// A run: what it is, and once it has ended, its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row([String; COLUMNS.len()]);

impl Row {
    /// A row in which nothing is filled in.
    pub fn empty() -> Self {
        Self(std::array::from_fn(|_| String::new()))
    }

    /// The value in a column.
    pub fn get(&self, column: &str) -> &str {
        at(column).map_or("", |at| &self.0[at])
    }

    /// The number in a column.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.get(column).parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Fills in a column; a value stays on one line.
    pub fn set(&mut self, column: &str, value: impl ToString) {
        if let Some(at) = at(column) {
            let plain = |c: char| if c.is_control() { ' ' } else { c };
            self.0[at] = value.to_string().chars().map(plain).collect();
        }
    }

    /// What is equal in all rows of the same run.
    fn key(&self) -> Key {
        KEY.map(|column| self.get(column).into())
    }

    fn line(&self) -> String {
        line(&self.0.each_ref().map(String::as_str))
    }
}

fn at(column: &str) -> Option<usize> {
    COLUMNS.iter().position(|name| *name == column)
}

/// Values as a line of CSV.
fn line(values: &[&str]) -> String {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    // Writing to memory cannot fail.
    let _ = writer.write_record(values);
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// The file of a batch's rows. No other process can write it meanwhile.
pub struct Rows {
    file: LineFile,
    /// The last row of each run, of all batches that wrote the file.
    last: HashMap<Key, Row>,
}

impl Rows {
    /// Opens a file of rows, which is created if missing. An incomplete last row is dropped.
    ///
    /// # Errors
    /// If it cannot be opened, another process uses it, or it holds something else.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let (mut file, all) = LineFile::open(path, read)?;
        if all.is_none() {
            file.add(&line(&COLUMNS))?;
        }
        let all = all.unwrap_or_default().into_iter();
        Ok(Self { file, last: all.map(|row| (row.key(), row)).collect() })
    }

    /// The row of a run, the last one if there are several.
    pub fn find(&self, run: &Row) -> Option<&Row> {
        self.last.get(&run.key())
    }

    /// The row of a run that need not be repeated.
    pub fn done(&self, run: &Row) -> Option<&Row> {
        self.find(run).filter(|row| row.get("status") != FAILED)
    }

    /// Appends a row.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, row: Row) -> Result<(), Failure> {
        self.file.add(&row.line())?;
        self.last.insert(row.key(), row);
        Ok(())
    }
}

/// The rows in whole lines, or `None` if there is not even the line of the columns; `rest` is an incomplete line. An
/// error continues from the file's name.
fn read(lines: &str, rest: &[u8]) -> Result<Option<Vec<Row>>, String> {
    let columns = line(&COLUMNS);
    let other = || ", line 1: expected the columns that 'batch' writes; choose another file".into();
    if lines.is_empty() {
        // A process that was killed may have written a part of it.
        return if columns.as_bytes().starts_with(rest) { Ok(None) } else { Err(other()) };
    }
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(lines.as_bytes());
    let head = reader.headers().ok().filter(|head| head.iter().eq(COLUMNS));
    if head.is_none() {
        return Err(other());
    }
    let row = |record: csv::Result<StringRecord>| {
        let record = record.map_err(|why| format!(": {why}"))?;
        let line = record.position().map_or(0, csv::Position::line);
        let values: Vec<String> = record.iter().map(String::from).collect();
        let values = values.try_into().map_err(|values: Vec<String>| {
            let (found, expected) = (values.len(), COLUMNS.len());
            format!(", line {line}: {found} values: expected {expected}, as in line 1")
        })?;
        Ok(Row(values))
    };
    let rows = reader.into_records().map(row).collect::<Result<Vec<_>, String>>()?;
    match rows.last() {
        // The date comes last. Without a line break after it, its end may be missing.
        Some(last) if !lines.ends_with('\n') && !last.get("date").ends_with('Z') => {
            Err(": the last row is incomplete".into())
        }
        _ => Ok(Some(rows)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_something_else_wrote_is_left_alone() {
        let columns = line(&COLUMNS);
        assert_eq!(read("", b""), Ok(None));
        assert_eq!(read("", &columns.as_bytes()[..9]), Ok(None));
        assert_eq!(read(&columns, b"solve"), Ok(Some(Vec::new())));
        let row = |date| {
            let mut row = Row::empty();
            row.set("date", date);
            format!("{columns}{}", row.line().trim_end())
        };
        assert!(read(&row("2026-11-23T21:14:05Z"), b"").is_ok());
        assert!(read(&row("2026-11-23T2"), b"").is_err() && read(&row(""), b"").is_err());
        assert!(read("", b"a,b").is_err() && read("a,b\n", b"").is_err());
        let short = read(&format!("{columns}a,b\n"), b"").unwrap_err();
        assert_eq!(short, ", line 2: 2 values: expected 25, as in line 1");
    }

    #[test]
    fn values_stay_on_one_line() {
        let mut row = Row::empty();
        row.set("message", "one\ntwo, \"three\"");
        row.set("instance", "a, b.txt");
        let text = row.line();
        assert_eq!((text.matches('\n').count(), text.ends_with('\n')), (1, true));
        let again = read(&format!("{}{text}", line(&COLUMNS)), b"").unwrap().unwrap();
        assert_eq!(again, [row]);
        assert_eq!(again[0].get("message"), "one two, \"three\"");
    }
}
