//! [`Rows`]: the runs of a figure as lines of JSON in a file, so that no run is repeated.

use crate::cli::line_file::LineFile;
use crate::failure::Failure;
use crate::provenance::{COMMIT, processor};
use pleach_gpu::gpus::gpus;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its part, and its point there, as the figure's file names them.
    pub part: String,
    pub x: String,
    pub series: String,
    /// The seed, or the number of the repetition.
    pub seed: u64,
    /// What was run: a command, or the fingerprint of a scenario.
    pub of: String,
    pub figures: BTreeMap<String, f64>,
    pub lists: BTreeMap<String, Vec<f64>>,
}

/// The program and the machine that rows belong to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub commit: String,
    /// The processor with its number of cores, and any GPUs.
    pub processor: String,
}

impl Origin {
    /// The origin of rows written by this program on this machine.
    pub fn here() -> Self {
        let gpus = gpus().unwrap_or_default().into_iter().map(|gpu| gpu.name);
        let all = std::iter::once(processor()).chain(gpus);
        Self { commit: COMMIT.into(), processor: all.collect::<Vec<_>>().join(", ") }
    }
}

/// The file of a figure's rows.
#[derive(Debug)]
pub struct Rows {
    file: LineFile,
    origin: Origin,
    /// The rows of this program on this machine.
    pub all: Vec<Row>,
    /// Those in the files of other figures in the same folder.
    others: Vec<Row>,
}

impl Rows {
    /// Opens a file of rows, and reads those of an origin. No other process may use the file meanwhile.
    ///
    /// # Errors
    /// If it cannot be opened, another process uses it, or it holds something else.
    pub fn open(path: &Path, origin: Origin) -> Result<Self, Failure> {
        let (file, all) = LineFile::open(path, |lines, _| read(lines, &origin))?;
        let others = of_others(path, &origin);
        Ok(Self { file, origin, all, others })
    }

    /// The same run, if another figure has a row for it.
    pub fn elsewhere(&self, row: &Row) -> Option<&Row> {
        self.others.iter().find(|other| other.of == row.of && other.seed == row.seed)
    }

    /// Whether a run has a row already.
    pub fn has(&self, row: &Row) -> bool {
        let key = |row: &Row| {
            [&row.part, &row.x, &row.series, &row.of].map(String::from).join("\n")
                + &row.seed.to_string()
        };
        self.all.iter().any(|other| key(other) == key(row))
    }

    /// Adds a run.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, row: Row) -> Result<(), Failure> {
        self.file.add(&row.line(&self.origin))?;
        self.all.push(row);
        Ok(())
    }
}

/// The rows of a file that belong to an origin; an error continues from the file's name.
fn read(text: &str, origin: &Origin) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        let Some((row, of)) = Row::read(words) else {
            return Err(format!(", line {line}: expected a row that 'reproduce' wrote"));
        };
        if of == *origin {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The rows of an origin in all other files of a folder, of full or of quick versions as the file itself.
fn of_others(path: &Path, origin: &Origin) -> Vec<Row> {
    let ending = |path: &Path| path.to_string_lossy().ends_with(".quick.jsonl");
    let folder = path.parent().and_then(|folder| folder.read_dir().ok());
    let files = folder.into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|other| other != path && ending(other) == ending(path));
    let texts: Vec<_> = files.filter_map(|other| std::fs::read_to_string(other).ok()).collect();
    let rows = texts.iter().flat_map(|text| text.lines()).filter_map(Row::read);
    rows.filter(|(_, of)| of == origin).map(|(row, _)| row).collect()
}

/// The rows of the origin that wrote last, if there are any.
pub fn latest(text: &str) -> Option<(Origin, Vec<Row>)> {
    let rows: Vec<(Row, Origin)> = text.lines().filter_map(Row::read).collect();
    let origin = rows.last()?.1.clone();
    let rows = rows.into_iter().filter(|(_, of)| *of == origin).map(|(row, _)| row);
    let rows = rows.collect();
    Some((origin, rows))
}

/// A line of the file: a row, where it comes from, and when it was written.
#[derive(Serialize, Deserialize)]
struct RowLine {
    #[serde(flatten)]
    row: Row,
    #[serde(flatten)]
    origin: Origin,
    unix_s: u64,
}

impl Row {
    fn line(&self, origin: &Origin) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let line = RowLine { row: self.clone(), origin: origin.clone(), unix_s: now };
        format!("{}\n", json!(line))
    }

    fn read(line: &str) -> Option<(Self, Origin)> {
        let RowLine { row, origin, .. } = serde_json::from_str(line).ok()?;
        Some((row, origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_kept_for_the_same_program_alone() {
        let folder = std::env::temp_dir().join(format!("pleach-rows-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("rows.jsonl");
        let _ = std::fs::remove_file(&path);
        let origin = Origin { commit: "abc".into(), processor: "p".into() };
        let row = |seed| Row {
            part: "one".into(),
            x: "8".into(),
            seed,
            of: "count queens 8".into(),
            figures: [("seconds".to_string(), 0.5)].into(),
            lists: [("all".to_string(), vec![1.0, 2.0])].into(),
            ..Row::default()
        };
        let mut rows = Rows::open(&path, origin.clone()).unwrap();
        rows.add(row(0)).unwrap();
        assert!(rows.has(&row(0)) && !rows.has(&row(1)));
        let busy = Rows::open(&path, origin.clone()).unwrap_err().to_string();
        assert!(busy.contains("another process"), "{busy}");
        drop(rows);
        // An incomplete line is dropped, and the next row begins on its own line.
        let mut text = std::fs::read(&path).unwrap();
        text.extend(b"{\"part\": \"on");
        std::fs::write(&path, text).unwrap();
        let mut rows = Rows::open(&path, origin.clone()).unwrap();
        assert_eq!(rows.all, [row(0)]);
        rows.add(row(1)).unwrap();
        drop(rows);
        assert_eq!(Rows::open(&path, origin.clone()).unwrap().all, [row(0), row(1)]);
        let newer = Origin { commit: "def".into(), ..origin.clone() };
        assert_eq!(Rows::open(&path, newer).unwrap().all, []);
        // Another figure has the run at another point.
        let other = Rows::open(&folder.join("other.jsonl"), origin.clone()).unwrap();
        let at = |seed| Row { x: "9".into(), part: "two".into(), ..row(seed) };
        assert_eq!(other.elsewhere(&at(1)), Some(&row(1)));
        assert_eq!(other.elsewhere(&at(2)), None);
        let quick = Rows::open(&folder.join("other.quick.jsonl"), origin.clone()).unwrap();
        assert_eq!(quick.elsewhere(&at(1)), None);
        let (of, all) = latest(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((of, all.len()), (origin.clone(), 2));
        std::fs::write(&path, "not a row\n").unwrap();
        let why = Rows::open(&path, origin).unwrap_err().to_string();
        assert!(why.contains("line 1"), "{why}");
    }
}
