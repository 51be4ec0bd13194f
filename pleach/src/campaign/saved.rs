//! [`Saved`]: the checkpoint file of a campaign: what it holds, and what is written to it.

use super::{Checkpoint, Error};
use pleach_core::search::tree::{Counts, Solution};
use pleach_core::wire::checkpoint::Checkpoint as Content;
use pleach_runtime::{Lock, Outcome, Save, load};
use serde_json::{Value, json};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The checkpoint file of a campaign, locked for as long as the campaign lasts.
#[derive(Default)]
pub(super) struct Saved {
    file: Option<Checkpoint>,
    _lock: Option<Lock>,
    /// The search in the file, to resume.
    pub content: Option<Arc<Content>>,
    /// What the campaign saved with it.
    pub state: Value,
    /// The request that defines the search; another search has a different one.
    asked: Value,
}

impl Saved {
    /// Opens the file for a campaign with this request; read-only if `reading`.
    pub fn open(file: Option<Checkpoint>, asked: Value, reading: bool) -> Result<Self, Error> {
        let Some(file) = file else { return Ok(Self { asked, ..Self::default() }) };
        let save = Save::new(&file.path, file.every);
        let wrong = |why| Error::file(&file.path, why);
        let lock = if reading { None } else { Some(Lock::acquire(&file.path).map_err(wrong)?) };
        if reading { save.may_replace() } else { save.may_begin() }.map_err(wrong)?;
        let from = file.from.as_deref().unwrap_or(&file.path);
        let mut saved = Self { asked, _lock: lock, ..Self::default() };
        if !same(from, &file.path) && holds_something(&file.path) {
            let held = load(&file.path)?;
            return Err(wrong(another(&about(&held))));
        }
        if holds_something(from) {
            let content = load(from)?;
            let about = about(&content);
            saved.state = about["state"].clone();
            let began = &saved.state["asked"];
            if file.from.is_some() && !began.is_null() {
                saved.asked = began.clone();
            } else if !began.is_null() && *began != saved.asked {
                return Err(wrong(another(&about)));
            }
            saved.content = Some(content);
        }
        Ok(Self { file: Some(file), ..saved })
    }

    /// A search that another process leads and has announced, without any of its work.
    pub fn announced(about: &str) -> Self {
        let about: Value = serde_json::from_str(about).unwrap_or_default();
        let state = about["state"].clone();
        let content = Content { best: i64::MAX, ..Content::default() };
        Self {
            asked: state["asked"].clone(),
            state,
            content: Some(Arc::new(content)),
            ..Self::default()
        }
    }

    /// A search with a certificate to audit.
    pub fn certified(content: &Content) -> Self {
        let state = about(content)["state"].clone();
        let content = Some(Arc::new(content.clone()));
        Self { asked: state["asked"].clone(), state, content, ..Self::default() }
    }

    /// The path that the search comes from.
    pub fn path(&self) -> &Path {
        let Some(file) = &self.file else { return Path::new("") };
        file.from.as_deref().unwrap_or(&file.path)
    }

    /// How to save a search; it has `begun` if other work came before it.
    pub fn save(&self, begun: bool) -> Option<Save> {
        let file = self.file.as_ref()?;
        Some(Save { begun, ..Save::new(&file.path, file.every) })
    }

    /// What is saved with a search, or sent to joiners: its origin, and the state to
    /// continue from.
    pub fn about(&self, origin: &str, state: &Value) -> String {
        let about: Option<Value> = serde_json::from_str(origin).ok();
        let mut about = about.filter(Value::is_object).unwrap_or_default();
        about["state"] = state.clone();
        about["state"]["asked"] = self.asked.clone();
        about.to_string()
    }

    /// The error of a file whose search has another fingerprint.
    pub fn foreign(&self, content: &Content) -> Error {
        Error::file(self.path(), another(&about(content)))
    }
}

/// What was saved with a search.
fn about(content: &Content) -> Value {
    serde_json::from_str(&content.about).unwrap_or_default()
}

/// Whether a non-empty file exists.
fn holds_something(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.len() > 0)
}

/// Whether two paths lead to the same file.
fn same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().ok();
    one == other || place(one).is_some_and(|there| Some(there) == place(other))
}

/// The error for a file that holds another search.
fn another(about: &Value) -> io::Error {
    let why = match described(about) {
        Some(search) => format!("holds another search: {search}"),
        None => "holds another search".into(),
    };
    let why = format!("{why}; resume that one, remove the file, or choose another");
    io::Error::new(io::ErrorKind::AlreadyExists, why)
}

/// The command line of a checkpoint, if a command wrote it.
pub(crate) fn described(about: &Value) -> Option<String> {
    let words = |key: &str| -> Option<Vec<&str>> {
        about[key].as_array()?.iter().map(Value::as_str).collect()
    };
    let all = [words("words")?, words("flags")?].concat();
    (!all.is_empty()).then(|| format!("'{}'", all.join(" ")))
}

/// A finished search, to save with the one that follows it.
pub(super) fn finished(outcome: &Outcome) -> Value {
    let Outcome { counts, solution, lower_bound, seconds, .. } = outcome;
    json!({
        "elapsed_ns": (seconds * 1e9) as u64,
        "branched": counts.branched,
        "bounded": counts.bounded,
        "depth": counts.depth,
        "best": lower_bound,
        "score": solution.as_ref().map(|solution| solution.score),
        "solution": solution.as_ref().map(|solution| &solution.solution),
    })
}

/// The search that [`finished`] recorded, with nothing left to do.
pub(super) fn over(state: &Value, fingerprint: u64) -> Option<Content> {
    let number = |key: &str| state[key].as_u64();
    let plan = state["solution"].as_array();
    let plan = plan.map(|plan| plan.iter().map(Value::as_i64).collect::<Option<Vec<i64>>>());
    let solution = match (plan, state["score"].as_i64()) {
        (Some(plan), Some(score)) => Some(Solution { score, solution: plan? }),
        _ => None,
    };
    let (branched, bounded) = (number("branched")?, number("bounded")?);
    Some(Content {
        fingerprint,
        elapsed_ns: number("elapsed_ns")?,
        counts: Counts { branched, bounded, depth: number("depth")? as u32, ..Counts::default() },
        best: state["best"].as_i64()?,
        solution,
        ..Content::default()
    })
}
