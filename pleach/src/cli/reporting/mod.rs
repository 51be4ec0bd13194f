//! `pleach report`: one page about finished runs, made from what they printed with `--json`.

mod inputs;
mod page;
mod schedule;
mod sections;
mod simulated;
mod speedups;
mod traced;

use super::conduct::last_words;
use super::console::{Console, DONE};
use super::files::{Output, keep_apart};
use super::flags::{Use, Verb};
use super::line::Line;
use crate::failure::{Failure, usage};
use crate::provenance::stamped;
use crate::registry::Entry;
use crate::report::counted;
use crate::results::{RunData, read};
use inputs::Input;
use page::{AnyResult, Shown};
use serde_json::json;

/// Where the page goes by default.
const PAGE: &str = "report.html";

/// The flags that it shares with other commands.
pub const FLAGS: [Use; 1] =
    [Use::with("out", "HTML file to write or replace; - is standard output", PAGE)];

/// Writes the page for the files that the words name.
pub fn run(registry: &[Entry], console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let given = &line.given;
    given.check_alone(Verb::Report, &FLAGS)?;
    let words = &line.words[1..];
    if words.is_empty() {
        return usage("report: expected FILE…, each with the output of a run with --json");
    }
    let mut once: Vec<&String> = Vec::new();
    for word in words {
        if !once.iter().any(|known| is_same(known, word)) {
            once.push(word);
        } else if !given.on("quiet") {
            console.note(&format!("{word} is named more than once and shown once"));
        }
    }
    let files = || once.iter().filter(|word| **word != "-").map(|word| (*word).clone());
    keep_apart(given, &files().collect::<Vec<_>>())?;
    let phase = last_words(console, "report", given);
    let mut all = Vec::new();
    for word in &once {
        for input in inputs::read(word)? {
            // Traces lie next to runs, so a file name pattern matches them as well.
            if traced::is_one(&input.value) {
                if !given.on("quiet") {
                    console.note(&format!("{} is a trace: it is shown with its run", input.place));
                }
                continue;
            }
            all.push(shown(registry, input).map_err(Failure::Usage)?);
        }
    }
    if all.is_empty() {
        return usage("report: found only traces, expected the output of a run with --json");
    }
    let traces = all.iter().filter_map(|shown| shown.traced.as_ref().ok());
    let traces = traces.map(|traced| traced.path.display().to_string());
    keep_apart(given, &files().chain(traces).collect::<Vec<_>>())?;
    let path = given.word("out").unwrap_or(PAGE);
    let text = page::page(&all);
    if path == "-" {
        drop(phase);
        return console.print(&text).map(|()| DONE);
    }
    Output::at("out", path.into())?.write_bytes(text.as_bytes())?;
    drop(phase);
    let said = if given.on("json") {
        stamped(json!({ "page": path, "runs": all.len() }))
    } else {
        format!("{path}: {}", counted(all.len(), "run"))
    };
    console.print(&said).map(|()| DONE)
}

/// Whether two words name the same file.
fn is_same(one: &str, other: &str) -> bool {
    let place = |word: &str| std::fs::canonicalize(word).ok();
    one == other
        || one != "-" && other != "-" && place(one).is_some_and(|it| Some(it) == place(other))
}

/// What an object holds, with its trace and its picture if they can be found.
fn shown(registry: &[Entry], input: Input) -> Result<Shown, String> {
    let Input { place, folder, value } = input;
    if simulated::is_one(&value) {
        let result = AnyResult::Simulated(read(&place, value)?);
        return Ok(Shown { place, result, traced: Err(String::new()), picture: None });
    }
    let run: Box<RunData> = Box::new(read(&place, value)?);
    let traced = traced::find(&run, &folder);
    let picture = schedule::picture(registry, &run);
    Ok(Shown { place, result: AnyResult::Run(run), traced, picture })
}
