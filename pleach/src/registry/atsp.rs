//! The entry of the asymmetric travelling salesman problem.

use super::entry::{
    Act, Check, Checked, Done, Ended, Entry, Mode, Probe, Request, Simulation, Start, Task, best,
    choice, is_here, published,
};
use super::instances::{NamedInstance, solved};
use super::simulated_load::{Load, SimulatedLoad};
use super::text::numbers;
use crate::campaign::Search;
use crate::campaign::atsp::{self as campaign, Bound, Instance, Options};
use crate::cli::flags::{self, FlagValues, Use, Verb, listed};
use crate::failure::{Failure, usage};
use crate::report::Labels;
use pleach_core::search::work::Nodes;
use pleach_problems::atsp::Atsp;
use pleach_problems::atsp::named::{is_name, names};
use pleach_problems::simd::Level;
use serde_json::json;

const BOUNDS: &str = "lower bound of a node: auto, partial (least arcs), assignment, arborescence \
                      (Held–Karp on 1-arborescences)";
const BESTS: &str = "value that a tour must beat: none, search (local search, which continues alongside the \
                     search), optimum (as published), or a whole number";

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    name: "atsp",
    about: "asymmetric travelling salesman: the shortest tour",
    instance: "a TSPLIB name (ftv33), CLASS:CITIES:SEED, a file, or - for standard input",
    instances,
    is_file: |word| word != "-" && (!is_name(word) || is_here(word)),
    tasks: &[
        Task {
            verb: Verb::Solve,
            flags: &[
                Use::with("best", BESTS, "search").among(|| listed(&["none", "search", "optimum"])),
                Use::plain("start"),
                Use::with("bound", BOUNDS, "auto").among(|| listed(&Bound::ALL)),
                Use::with(
                    "nodes",
                    "how open work is stored: pool (a list of nodes), or interval (ranges of leaves; with \
                     --bound partial)",
                    "pool",
                ),
                Use::plain("solution"),
            ],
            examples: &["solve atsp ftv33"],
            act: Act::Search(solve),
        },
        Task { verb: Verb::Check, flags: &[], examples: &[], act: Act::Check(check) },
    ],
    simulation: Some(Simulation {
        flags: &[
            Use::with(
                "best",
                "value that a tour must beat: none, search, optimum, or a number",
                "none",
            ),
            Use::with("bound", BOUNDS, "auto").among(|| listed(&Bound::ALL)),
        ],
        intervals: true,
        make_load,
    }),
    probes: &[
        Probe::new(PROVEN, |level| probe(PROVEN, 1, 0, (Nodes::Pool, level))),
        // Two cities in each lane, and no path longer than a tenth of a tour.
        Probe::new(WIDE, |level| probe(WIDE, 10, 0, (Nodes::Pool, level))),
        // Finds a tour.
        Probe::new(FOUND, |level| probe(FOUND, 1, 1, (Nodes::Pool, level))).varying(),
        Probe::new("crane:8:1 as intervals", |level| probe(FOUND, 1, 0, (Nodes::Interval, level))),
        Probe::new(LARGE, |level| probe(LARGE, 1, 0, (Nodes::Pool, level))).large(),
    ],
    ..Entry::PLAIN
};

fn instances() -> Vec<NamedInstance> {
    solved(names(), campaign::named, campaign::optimum, |it| format!("{} cities", it.cities()))
}

const PROVEN: &str = "crane:9:1";
const WIDE: &str = "ftv33";
const FOUND: &str = "crane:8:1";
const LARGE: &str = "crane:15:1";

/// An instance, searched with bound `partial` for a tour shorter than the length of the initial one divided by
/// `part`, plus `more`.
fn probe(name: &'static str, part: i64, more: i64, how: (Nodes, Level)) -> Result<Check, String> {
    let instance = campaign::named(name).ok_or("no such instance")??;
    let problem = Atsp::new(instance, Bound::Partial, how, (None, 1), &|| true)?;
    let best = problem.instance().length(problem.start()) / part + more;
    Ok(Check { best: Some(best), problem: Box::new(problem) })
}

fn solve(request: &Request<'_>) -> Result<Start<'static>, Failure> {
    let Request { given, resumed, .. } = *request;
    let instance = instance(request)?;
    let best = best(request, |word| published(word, campaign::optimum(word)))?;
    let path = given.word("start").filter(|_| !resumed);
    let start = path.map(|path| tour(&instance, path)).transpose()?;
    let bound = choice("bound", given.word("bound"), Bound::parse)?;
    let nodes = given.get(&flags::NODES)?.unwrap_or(Nodes::Pool);
    campaign::fits(best, bound.unwrap_or(Bound::Auto), nodes).map_err(Failure::Usage)?;
    let word = given.word("best").unwrap_or("search").to_string();
    let name = request.name().to_string();
    Ok(Start::new(move |search: Search<'_>, mode| {
        let options = Options { best, start, bound, search };
        let wrong = |why: crate::Error| Failure::of(why).about(&name);
        if mode == Mode::Inspect {
            return Ok(Ended::Inspection(Box::new(
                campaign::inspect(&instance, options).map_err(wrong)?,
            )));
        }
        let answer = campaign::solve(&instance, options).map_err(wrong)?;
        let settings = vec![("bound", json!(answer.chosen.to_string())), ("best", json!(word))];
        Ok(Ended::Done(Box::new(Done { report: answer.report, settings, files: Vec::new() })))
    }))
}

fn check(request: &Request<'_>, path: &str) -> Result<Checked, Failure> {
    let instance = instance(request)?;
    let value = instance.length(&tour(&instance, path)?);
    Ok(Checked { phrase: "a tour of length", value, labels: Labels::default(), files: Vec::new() })
}

/// The instance with this name, or else from this file.
fn instance(request: &Request<'_>) -> Result<Instance, Failure> {
    let expected = "a file, a name such as ftv33, or CLASS:CITIES:SEED";
    request.read(expected, campaign::named, campaign::read)
}

/// The tour that a file holds.
fn tour(instance: &Instance, path: &str) -> Result<Vec<u16>, Failure> {
    instance.order(&numbers(path, "city")?).or_else(|why| usage(format!("{path}: {why}")))
}

fn make_load(load: &Load, given: &FlagValues) -> Result<SimulatedLoad, Failure> {
    let simd = given.simd()?;
    let request = Request::new(&load.instance, given);
    let bound = Bound::parse(load.bound.as_deref().unwrap_or("auto"));
    let bound = bound.or_else(|why| usage(format!("load.bound {why}")))?;
    for (key, word) in [("branching", &load.branching), ("child_order", &load.child_order)] {
        if word.is_some() {
            return usage(format!("load.{key} does not apply to atsp"));
        }
    }
    if load.nodes == Nodes::Interval && bound != Bound::Partial {
        return usage("load.nodes = 'interval' works only with load.bound = 'partial'");
    }
    let how = (load.nodes, simd);
    let problem = Atsp::new(instance(&request)?, bound, how, (None, 0), &|| true);
    let problem = problem.or_else(|why| usage(format!("{}: {why}", load.instance)))?;
    let start = match load.best.as_deref() {
        None | Some("none") => i64::MAX,
        Some("search") => problem.instance().length(problem.start()),
        Some("optimum") => published(&load.instance, campaign::optimum(&load.instance))?,
        Some(word) => word.parse().or_else(|_| {
            usage(format!("load.best = '{word}': expected none, search, optimum or a whole number"))
        })?,
    };
    SimulatedLoad::new(load, problem, start, |_, _| None).map_err(Failure::Usage)
}
