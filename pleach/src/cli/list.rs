//! [`search_all`]: several instances in turn, in one process.

use super::conduct::{Job, Reading};
use super::console::{Console, DONE, STOPPED};
use super::files::keep_apart;
use super::flags::{self, FlagValues, REPEAT};
use super::progress::interrupts;
use crate::failure::{Failure, usage};
use crate::registry::{Entry, Request, Start};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Instant;

/// Flags for a single search.
const OF_ONE: [&str; 9] = [
    "checkpoint", "certificate", "trace", "solution", "gantt", "schedule", "start", "show",
    "listen",
];

/// How an instance is read.
type Read = fn(&Request<'_>) -> Result<Start<'static>, Failure>;

/// Flags for a single run.
const OF_ONE_RUN: [&str; 4] = ["checkpoint", "certificate", "trace", "show"];

/// Repeats a search as often as `--repeat` says.
pub fn repeated<'p>(
    given: &FlagValues,
    start: impl Fn() -> Result<Start<'p>, Failure>,
) -> Result<Vec<Start<'p>>, Failure> {
    let times = given.get(&REPEAT)?.unwrap_or(1);
    if times > 1 {
        if let Some(flag) = OF_ONE_RUN.into_iter().find(|flag| given.has(flag)) {
            return usage(format!(
                "--{flag} is for a single run and cannot be combined with --repeat"
            ));
        }
        if given.cluster.is_some() {
            return usage("--repeat cannot be used with several processes");
        }
    }
    (0..times).map(|_| start()).collect()
}

/// Prints each note once, however often an instance is read.
pub fn notes_once(console: &Console<'_>) -> impl Fn(&str) {
    let noted = RefCell::new(BTreeSet::new());
    move |text: &str| {
        if noted.borrow_mut().insert(text.to_string()) {
            console.note(text);
        }
    }
}

/// Searches several instances. All are read before the first one is searched.
pub fn search_all(
    console: &Console<'_>,
    entry: &Entry,
    read: Read,
    words: &[String],
    given: &mut FlagValues,
) -> Result<u8, Failure> {
    if let Some(flag) = OF_ONE.into_iter().find(|flag| given.has(flag)) {
        return usage(format!("--{flag} takes one instance, not {}", words.len()));
    }
    if given.cluster.is_some() {
        return usage(format!(
            "{} instances, expected one: several processes search only one at a time",
            words.len()
        ));
    }
    if matches!(given.get(&flags::BEST), Ok(Some(flags::Start::Value(_) | flags::Start::Decimal))) {
        return usage(
            "--best V takes one instance, since a value for one instance means nothing for another",
        );
    }
    let note = notes_once(console);
    let mut starts = Vec::new();
    for instance in words {
        let request = Request { instance, given, resumed: false, follows: false, note: &note };
        let reading = Reading::of(console, (entry.name, instance), given)?;
        let start = repeated(given, || read(&request))?;
        starts.push((start, reading.over()));
    }
    // An output must not replace an instance that is searched later.
    let files = words.iter().filter(|word| (entry.is_file)(word.as_str()));
    keep_apart(given, &files.cloned().collect::<Vec<_>>())?;
    let begun = Instant::now();
    let (mut ended, mut code) = (0, DONE);
    for (instance, (start, spent)) in words.iter().zip(starts) {
        let inputs = (entry.is_file)(instance).then(|| instance.clone()).into_iter().collect();
        let given = &mut *given;
        let job = Job { console, name: entry.name, instance, words, inputs, given, spent };
        // An instance that fails does not stop the others.
        let came = console.finish(|| job.run_searches(start));
        ended += usize::from(came == DONE);
        // A failure counts for more than bad input, and bad input for more than a stop.
        code = if code == DONE {
            came
        } else if came == DONE {
            code
        } else {
            code.min(came)
        };
        if interrupts().is_cancelled() {
            break;
        }
        if !given.on("json") {
            console.print("")?;
        }
    }
    if !given.on("json") {
        let (all, seconds) = (words.len(), begun.elapsed().as_secs_f64());
        console.print(&format!("{ended} of {all} instances completed in {seconds:.2} s"))?;
    }
    Ok(if code == DONE && ended < words.len() { STOPPED } else { code })
}
