//! [`lead`]: the command line with which a standby takes the root's place.

use super::console::Console;
use super::files::ABOUT_SOLUTION;
use super::flags::{FLAGS, FlagValues, Lasts};
use super::follow::{OWN, SHAPING};
use super::line::{Line, parse_again};
use super::order_text::name_of;
use super::resume;
use crate::failure::{Failure, usage};
use crate::standby::Succession;
use pleach_core::wire::checkpoint::Checkpoint;
use pleach_runtime::save::replace;
use serde_json::Value;
use std::path::Path;

/// The command line with which this process takes the root's place. What the file says about its search is changed
/// accordingly: the root's workers and its files, apart from the copy, no longer apply.
pub fn lead(
    console: &Console<'_>,
    own: &FlagValues,
    key_path: &str,
    next: &Succession,
) -> Result<Line, Failure> {
    let file = next.file.display().to_string();
    let Ok(mut about) = serde_json::from_str::<Value>(&next.checkpoint.about) else {
        return usage(format!("{file}: it was not saved by this command"));
    };
    if let Some(flags) = about.get_mut("flags").and_then(Value::as_array_mut) {
        let kept = flags.iter().filter_map(|flag| kept(flag.as_str()?, &file));
        *flags = kept.map(Value::from).collect();
    }
    let checkpoint = Checkpoint { about: about.to_string(), ..next.checkpoint.clone() };
    let fails = |why: std::io::Error| Failure::Machine(format!("cannot take over: {file}: {why}"));
    replace(&next.file, &checkpoint.to_bytes(), &[checkpoint.run]).map_err(fails)?;
    let own = own.lasting(&[Lasts::Kept, Lasts::OneRun]).into_iter();
    let own = own.filter(|flag| OWN.contains(&name_of(flag)));
    let limits = [
        next.time_left.map(|left| format!("--time-limit={}ms", left.as_millis().max(1))),
        next.nodes_left.map(|left| format!("--node-limit={left}")),
    ];
    let rest = [
        format!("--listen={}", next.listens),
        format!("--key={key_path}"),
        format!("--places={}", next.places),
        // It may run under a launcher, which has nothing to do with the search.
        "--mpi=off".into(),
    ];
    let flags = own.chain(limits.into_iter().flatten()).chain(rest).collect();
    let now = parse_again(&["resume".into(), file.clone()], flags)?;
    resume::read_copy(&file, &now.given, (&console.program, console.own))
}

/// A flag of the root's command line as it is for its successor, if it is kept.
fn kept(flag: &str, copy: &str) -> Option<String> {
    let name = name_of(flag);
    if ABOUT_SOLUTION.contains(&name) {
        // It is written next to the copy: the root's folders may not exist here.
        let end = Path::new(flag).extension().map_or("txt".into(), |end| end.to_string_lossy());
        return Some(format!("--{name}={copy}.{name}.{end}"));
    }
    let frozen = |name: &str| {
        let mut all = FLAGS.iter().map(|flag| flag.about());
        all.find(|about| about.name == name).is_some_and(|about| about.lasts == Lasts::Frozen)
    };
    (frozen(name) || SHAPING.contains(&name) || name == "every").then(|| flag.to_string())
}
