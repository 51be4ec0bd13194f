//! [`Traced`]: a run over time, from the file that `--trace` wrote.

use crate::input::text_of;
use crate::report::moment::Moment;
use crate::results::{self, MomentData, RunData, TraceData, TracedWorker};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// How far the ends of a trace and its run may differ, since both are rounded.
const SAME_S: f64 = 1e-3;

/// A run over time.
pub struct Traced {
    pub path: PathBuf,
    pub workers: Vec<TracedWorker>,
    pub moments: Vec<Moment>,
}

/// Whether a value is itself a trace.
pub fn is_one(value: &Value) -> bool {
    value.get("convergence").is_some() && value.get("problem").is_none()
}

/// The trace of a run, or why there is none, as a sentence that may follow another one.
pub fn find(run: &RunData, folder: &Path) -> Result<Traced, String> {
    if run.of_loop.is_some() {
        return Err("Loops have no trace, so their activity over time is unknown.".into());
    }
    let Some(word) = run.setting("trace") else {
        return Err(
            "The run was not traced. With --trace FILE.json in addition to --json, this page shows \
                    what each worker did over time."
                .into(),
        );
    };
    if word.ends_with(".svg") {
        return Err(format!(
            "The trace is a picture, {word}. If the name does not end in .svg, --trace writes numbers, which \
             this page shows."
        ));
    }
    let named = Path::new(word);
    let beside = named.file_name().map(|name| folder.join(name));
    let places = [Some(folder.join(named)), Some(named.to_path_buf()), beside];
    let mut wrong = None;
    for path in places.into_iter().flatten().filter(|path| path.is_file()) {
        match read(run, &path) {
            Ok(traced) => return Ok(traced),
            Err(why) => wrong = wrong.or(Some(why)),
        }
    }
    Err(match wrong {
        Some(why) => format!("The trace cannot be shown: {why}."),
        None => format!(
            "The trace {word} was not found: it is neither next to the run's file nor in this folder."
        ),
    })
}

fn read(run: &RunData, path: &Path) -> Result<Traced, String> {
    let name = path.display().to_string();
    let text = text_of(&name).map_err(|why| format!("{name}: {why}"))?;
    let value: Value =
        serde_json::from_str(&text).map_err(|why| format!("{name} is not a trace: {why}"))?;
    let TraceData { seconds, workers, convergence, .. } = results::read(&name, value)?;
    let known = |worker: &TracedWorker| run.workers.iter().any(|own| own.name == worker.name);
    if (seconds.0 - run.seconds.0).abs() > SAME_S || !workers.iter().all(known) {
        return Err(format!("{name} belongs to another run"));
    }
    let moment = |moment: MomentData| Moment {
        seconds: moment.seconds.0.min(run.seconds.0),
        best: moment.best.map(|value| value.0),
        bound: moment.bound.map(|value| value.0),
    };
    let moments: Vec<Moment> = convergence.into_iter().map(moment).collect();
    if !moments.is_sorted_by(|one, next| one.seconds <= next.seconds) {
        return Err(format!("{name}: convergence goes back in time"));
    }
    Ok(Traced { path: path.into(), workers, moments })
}
