//! A job's folder: the files that came with its submission, and what its root leaves in it.

use crate::api::Update;
use crate::credentials::new_token;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where files lie until their job is stored: next to the folders of jobs, whose names are numbers.
const INCOMING: &str = "jobs/incoming";

/// Where a root writes its result, in the job's folder.
pub const RESULT: &str = "result.json";
/// Where it saves the search.
pub const CHECKPOINT: &str = "search.pleach";
/// Its key.
pub const KEY: &str = "search.key";
/// Its notes and errors.
pub const LOG: &str = "log.txt";

/// The exit code that stands for a root that was not started.
pub const NOT_STARTED: i32 = -1;

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
            let mut file = File::create(place.join(name))?;
            file.write_all(bytes)?;
            file.sync_all()?;
        }
        sync_folder(&place)?;
        Ok(written)
    }

    /// Makes moves to the folders of jobs durable, even if the machine fails.
    pub fn sync_moves(data: &Path) -> io::Result<()> {
        sync_folder(&data.join("jobs"))
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
        // What cannot be removed takes up room, but does no other harm.
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

/// Makes the entries of a folder durable, even if the machine fails.
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// How a root ended.
pub struct RootEnd {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed, if all of it can be read.
    pub result: Result<Vec<u8>, String>,
    /// What stopped the search, if its result says that it was stopped; empty if the result does not say what did.
    pub stopped_by: Option<String>,
    /// Whether its result has a solution.
    pub solved: bool,
    /// The last state of its search, if it is one.
    pub last: Option<Update>,
    /// The last line of its log.
    pub said: String,
}

impl RootEnd {
    /// The end of a root that was not started.
    pub fn not_started(why: &str) -> Self {
        let said = format!("cannot start: {why}");
        let result = Err("it was not started".into());
        let code = Some(NOT_STARTED);
        Self { code, result, stopped_by: None, solved: false, last: None, said }
    }

    /// Whether its job is done: its search was not stopped, or was stopped by a limit that its user set.
    pub fn is_done(&self, memory_is_limited: bool) -> bool {
        match (self.code, self.stopped_by.as_deref()) {
            (Some(0), None) | (Some(0 | 3), Some("time-limit" | "node-limit")) => true,
            (Some(0 | 3), Some("memory")) => memory_is_limited,
            _ => false,
        }
    }
}

/// The parts of a search's printed result that matter here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Printed {
    status: String,
    stopped_by: Option<String>,
    solution: Option<IgnoredAny>,
    #[serde(deserialize_with = "whole")]
    objective: Option<i64>,
    #[serde(deserialize_with = "whole")]
    lower_bound: Option<i64>,
    seconds: f64,
    nodes: PrintedNodes,
    settings: PrintedSettings,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PrintedNodes {
    #[serde(deserialize_with = "whole")]
    bounded: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PrintedSettings {
    decimals: u32,
}

/// A whole number; JSON has large ones as strings.
fn whole<'de, D: Deserializer<'de>>(value: D) -> Result<Option<i64>, D::Error> {
    Ok(match Value::deserialize(value)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    })
}

impl Printed {
    /// The last state of the search.
    fn update(&self) -> Update {
        Update {
            seconds: self.seconds,
            nodes: self.nodes.bounded.map_or(0, i64::cast_unsigned),
            best: self.objective,
            bound: self.lower_bound,
            decimals: self.settings.decimals,
            ..Update::default()
        }
    }
}

/// How a root ended, by what it left in its folder.
pub fn end_of(folder: &Path, code: Option<i32>, said: &str) -> RootEnd {
    let result = read_result(&folder.join(RESULT));
    let bytes = result.as_deref().unwrap_or_default();
    let printed = serde_json::from_slice::<Printed>(bytes).unwrap_or_default();
    let (stopped, solved) = (printed.status == "stopped", printed.solution.is_some());
    let last = (!printed.status.is_empty()).then(|| printed.update());
    let stopped_by = stopped.then(|| printed.stopped_by.unwrap_or_default());
    let said = said.strip_prefix("pleach: ").unwrap_or(said);
    let said = said.chars().filter(|c| !c.is_control()).take(400).collect();
    RootEnd { code, result, stopped_by, solved, last, said }
}

/// Whether each of these files was written after the result.
pub fn has_all(folder: &Path, outputs: &[PathBuf]) -> bool {
    // Roots print the result first: an older file is of an earlier root, or came with the submission.
    let written = |file: &Path| -> io::Result<SystemTime> {
        folder.join(file).metadata().and_then(|file| file.modified())
    };
    written(RESULT.as_ref())
        .is_ok_and(|printed| outputs.iter().all(|file| written(file).is_ok_and(|at| at >= printed)))
}

/// The numbers of the jobs that have a folder.
pub fn numbers(data: &Path) -> Vec<u64> {
    let folders = std::fs::read_dir(data.join("jobs")).into_iter().flatten();
    folders.filter_map(|folder| folder.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Removes what only the service and roots need from the folder of a job that is over. Removes nothing, and returns
/// false, while the root of an earlier service may still be saving.
pub fn remove_internal(folder: &Path, failed: bool) -> bool {
    // Network file systems lock only files that are open for writing.
    if let Ok(output) = File::options().append(true).open(folder.join(RESULT))
        && matches!(output.try_lock(), Err(TryLockError::WouldBlock))
    {
        return false;
    }
    // A failed job may be resumed by hand.
    let saved = [CHECKPOINT.to_string(), format!("{CHECKPOINT}.old")];
    let files = std::fs::read_dir(folder).into_iter().flatten();
    for name in files.filter_map(|file| file.ok()?.file_name().into_string().ok()) {
        // A killed process leaves other files whose names begin in the same way.
        let is_own = [RESULT, CHECKPOINT, KEY].iter().any(|own| name.starts_with(own));
        if is_own && !(failed && saved.contains(&name)) {
            // What cannot be removed does no harm.
            let _ = std::fs::remove_file(folder.join(name));
        }
    }
    let _ = std::fs::remove_dir(folder);
    true
}

/// Reads a result that was printed to its end.
fn read_result(path: &Path) -> Result<Vec<u8>, String> {
    let fails = |why: io::Error| format!("cannot read its result: {why}");
    if std::fs::metadata(path).map_err(fails)?.len() > MOST {
        return Err(format!("its result takes more than {} MiB", MOST >> 20));
    }
    let bytes = std::fs::read(path).map_err(fails)?;
    let complete = bytes.ends_with(b"\n") && serde_json::from_slice::<IgnoredAny>(&bytes).is_ok();
    if complete { Ok(bytes) } else { Err("its result is incomplete".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_root_has_ended_as_its_result_says() {
        let folder = std::env::temp_dir().join(format!("pleach-ended-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let end = |code, text: &str| {
            std::fs::write(folder.join(RESULT), text).unwrap();
            end_of(&folder, code, "pleach: said\n")
        };
        let stopped = |why: &str| format!("{{\"status\":\"stopped\",\"stopped_by\":{why}}}\n");
        for (code, text, done) in [
            (Some(0), "{\"status\":\"optimal\",\"stopped_by\":null}\n".to_string(), [true; 2]),
            (Some(3), stopped("\"time-limit\""), [true; 2]),
            (Some(3), stopped("\"node-limit\""), [true; 2]),
            (Some(3), stopped("\"memory\""), [false, true]),
            (Some(3), stopped("\"cancelled\""), [false; 2]),
            (Some(3), stopped("null"), [false; 2]),
            (None, stopped("\"time-limit\""), [false; 2]),
        ] {
            let end = end(code, &text);
            assert_eq!([false, true].map(|limited| end.is_done(limited)), done, "{text}");
            assert!(end.result.is_ok() && end.said == "said", "{text}");
        }
        assert!(!end(Some(0), "{\"solution\":null}\n").solved);
        assert!(end(Some(0), "{\"solution\":[1,\"9007199254740993\"]}\n").solved);
        let large = "{\"status\":\"stopped\",\"objective\":\"9007199254740993\",\"lower_bound\":-5,\
                     \"nodes\":{\"bounded\":7},\"settings\":{\"decimals\":2}}\n";
        let last = end(Some(3), large).last.unwrap();
        assert_eq!((last.best, last.bound), (Some(9_007_199_254_740_993), Some(-5)));
        assert_eq!((last.nodes, last.decimals), (7, 2));
        // A value that is not a whole number hides nothing else.
        let odd = end(Some(3), "{\"status\":\"stopped\",\"objective\":1e300}\n");
        assert!(odd.stopped_by.is_some() && odd.last.unwrap().best.is_none());
        assert_eq!(end(Some(0), "{\"status\":").result.unwrap_err(), "its result is incomplete");
        std::fs::remove_dir_all(&folder).unwrap();
        let said = end_of(&folder, Some(0), "").result.unwrap_err();
        assert!(said.starts_with("cannot read its result"), "{said}");
    }

    #[test]
    fn internal_files_are_removed_under_all_their_names() {
        let folder = std::env::temp_dir().join(format!("pleach-internal-{}", std::process::id()));
        let saved = ["search.pleach", "search.pleach.old"];
        let users = ["log.txt", "plan.svg"];
        let all = [&saved[..], &users].concat();
        for (failed, mut stays) in [(true, all), (false, users.to_vec())] {
            std::fs::create_dir_all(&folder).unwrap();
            // A key has the last of these names while it is being written.
            let others = ["result.json", "search.pleach.part", "search.pleach.lock", "search.key"];
            let others = others.iter().chain(&["search.key.0123456789abcdef"]);
            for name in others.chain(&saved).chain(&users) {
                File::create(folder.join(name)).unwrap();
            }
            let output = File::open(folder.join(RESULT)).unwrap();
            output.lock().unwrap();
            assert!(!remove_internal(&folder, failed), "its root still saves");
            drop(output);
            assert!(remove_internal(&folder, failed));
            let files = std::fs::read_dir(&folder).unwrap();
            let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
            let mut files: Vec<String> = files.collect();
            files.sort();
            stays.sort_unstable();
            assert_eq!(files, stays);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn files_that_are_older_than_the_result_do_not_belong_to_it() {
        let folder = std::env::temp_dir().join(format!("pleach-outputs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, seconds: u64| {
            let file = File::create(folder.join(name)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        };
        write(RESULT, 20);
        write("plan.svg", 20);
        write("best.txt", 10);
        for (names, all) in
            [("", true), ("plan.svg", true), ("plan.svg best.txt", false), ("missing", false)]
        {
            let outputs: Vec<PathBuf> = names.split_whitespace().map(PathBuf::from).collect();
            assert_eq!(has_all(&folder, &outputs), all, "{names}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
