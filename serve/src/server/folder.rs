//! A job's folder: the files that came with its submission, and what its root leaves in it.

use crate::api::Update;
use crate::credentials::new_token;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

/// Where files lie until their job is stored: beside the folders of jobs, which are numbers.
const INCOMING: &str = "jobs/incoming";

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

/// The files of a submission, until their job is stored; then they move to its folder as a whole.
pub struct IncomingFiles(Option<PathBuf>);

impl IncomingFiles {
    /// Writes files into a folder of their own in the service's folder, if there are any.
    pub fn write(data: &Path, files: &[(String, Vec<u8>)]) -> io::Result<Self> {
        if files.is_empty() {
            return Ok(Self(None));
        }
        let name = new_token().map_err(io::Error::other)?;
        let place = data.join(INCOMING).join(name);
        std::fs::create_dir_all(&place)?;
        let written = Self(Some(place.clone()));
        for (name, bytes) in files {
            std::fs::write(place.join(name), bytes)?;
        }
        Ok(written)
    }

    /// Moves them to the folder of a job, which must not exist.
    pub fn move_to(mut self, folder: &Path) -> io::Result<()> {
        let Some(place) = &self.0 else { return Ok(()) };
        folder.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::rename(place, folder)?;
        self.0 = None;
        Ok(())
    }

    /// Removes what an earlier service left.
    pub fn clear(data: &Path) {
        // What cannot be removed takes room, and does no other harm.
        let _ = std::fs::remove_dir_all(data.join(INCOMING));
    }
}

impl Drop for IncomingFiles {
    fn drop(&mut self) {
        if let Some(place) = &self.0 {
            let _ = std::fs::remove_dir_all(place);
        }
    }
}

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
