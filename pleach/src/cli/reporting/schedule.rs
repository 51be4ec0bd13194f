//! [`picture`]: the solution of a run as a picture, if its problem has one and its instance can be found.

use crate::cli::line::parse;
use crate::registry::{Entry, Request, entry};
use crate::results::{JsonInteger, RunData};
use std::path::Path;

/// The picture of a run's solution, or a sentence that says why there is none; `None` if its problem has no pictures.
pub fn picture(registry: &[Entry], run: &RunData) -> Option<Result<String, String>> {
    let draws = entry(registry, &run.problem)?.draws?;
    let plan = run.solution.as_ref().filter(|_| run.of_loop.is_none())?;
    let plan: Vec<i64> = plan.iter().map(|number| number.0).collect();
    Some(draw(draws, run, &plan).map_err(|why| format!("The schedule cannot be drawn: {why}.")))
}

fn draw(draws: crate::registry::Draw, run: &RunData, plan: &[i64]) -> Result<String, String> {
    let path = Path::new(&run.instance);
    if run.instance == "-" {
        return Err("its instance came from standard input".into());
    }
    // A pipe or a device can be read only once, and the run has done that.
    if path.exists() && !path.is_file() {
        return Err(format!("{} is not a file", run.instance));
    }
    let mut flags = vec!["--quiet".to_string()];
    for flag in ["jobs-first", "no-wait", "blocking"] {
        if run.settings.get(&flag.replace('-', "_")).is_some_and(|it| it == true) {
            flags.push(format!("--{flag}"));
        }
    }
    for flag in ["objective", "due", "weights", "releases", "setups"] {
        if let Some(word) = run.settings.get(flag).and_then(|it| it.as_str()) {
            flags.extend([format!("--{flag}"), word.into()]);
        }
    }
    let line = parse(flags.into_iter().map(Into::into)).map_err(|why| why.to_string())?;
    let request = Request::new(&run.instance, &line.given);
    let (picture, value) = draws(&request, plan).map_err(|why| why.to_string())?;
    match run.objective {
        Some(JsonInteger(objective)) if objective != value => Err(format!(
            "on the instance found here its value is {value}, not {objective}, so this is another instance"
        )),
        _ => Ok(picture),
    }
}
