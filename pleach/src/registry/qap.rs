//! The entry of the quadratic assignment problem.

use super::entry::{
    Act, Checked, Done, Ended, Entry, Mode, Request, Start, Task, best, is_here, published,
};
use super::instances::{NamedInstance, solved};
use super::text::numbers;
use crate::campaign::Search;
use crate::campaign::qap::{self as campaign, Instance, Options};
use crate::cli::flags::{Use, Verb, listed};
use crate::failure::{Failure, usage};
use crate::report::Labels;
use pleach_problems::qap::named::{is_name, names};
use serde_json::json;

const BESTS: &str = "value that an assignment must beat: none, search (local search), optimum (as published), or a \
                     whole number";

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    name: "qap",
    about: "quadratic assignment: the cheapest assignment of facilities, with flows between them, to locations",
    instance: "a QAPLIB name (nug12), a file, or - for standard input",
    instances,
    is_file: |word| word != "-" && (!is_name(word) || is_here(word)),
    tasks: &[
        Task {
            verb: Verb::Solve,
            flags: &[
                Use::with("best", BESTS, "search").among(|| listed(&["none", "search", "optimum"])),
                Use::plain("start"),
                Use::plain("best-first"),
                Use::plain("solution"),
                Use::plain("certificate"),
            ],
            examples: &["solve qap nug12"],
            act: Act::Search(solve),
        },
        Task { verb: Verb::Check, flags: &[], examples: &[], act: Act::Check(check) },
    ],
    ..Entry::PLAIN
};

fn instances() -> Vec<NamedInstance> {
    let size = |it: &Instance| format!("{} facilities", it.facilities());
    solved(names(), campaign::named, campaign::optimum, size)
}

fn solve(request: &Request<'_>) -> Result<Start<'static>, Failure> {
    let Request { given, resumed, .. } = *request;
    let instance = instance(request)?;
    let best = best(request, |word| published(word, campaign::optimum(word)))?;
    best.without_neh().map_err(Failure::Usage)?;
    let path = given.word("start").filter(|_| !resumed);
    let start = path.map(|path| places(&instance, path)).transpose()?;
    let word = given.word("best").unwrap_or("search").to_string();
    let name = request.name().to_string();
    Ok(Start::new(move |search: Search<'_>, mode| {
        let options = Options { best, start, search };
        let wrong = |why: crate::Error| Failure::of(why).about(&name);
        if mode == Mode::Inspect {
            let seen = campaign::inspect(&instance, options).map_err(wrong)?;
            return Ok(Ended::Inspection(Box::new(seen)));
        }
        let report = campaign::solve(&instance, options).map_err(wrong)?.report;
        let settings = vec![("best", json!(word))];
        Ok(Ended::Done(Box::new(Done { report, settings, files: Vec::new() })))
    }))
}

fn check(request: &Request<'_>, path: &str) -> Result<Checked, Failure> {
    let instance = instance(request)?;
    let value = instance.cost(&places(&instance, path)?);
    let labels = Labels::default();
    Ok(Checked { phrase: "an assignment of cost", value, labels, files: Vec::new() })
}

/// The instance with this name, or else from this file.
fn instance(request: &Request<'_>) -> Result<Instance, Failure> {
    request.read("a file, or a name such as nug12", campaign::named, campaign::read)
}

/// The assignment that a file holds.
fn places(instance: &Instance, path: &str) -> Result<Vec<u16>, Failure> {
    instance.places(&numbers(path, "location")?).or_else(|why| usage(format!("{path}: {why}")))
}
