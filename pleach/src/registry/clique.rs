//! The entry of the maximum clique.

use super::entry::{Act, Checked, Ended, Entry, Request, Start, Task, is_here};
use super::instances::{NamedInstance, solved};
use super::text::numbers;
use crate::campaign::clique::{self as campaign, Graph};
use crate::cli::flags::{self, Use, Verb};
use crate::failure::{Failure, usage};
use crate::report::Labels;
use pleach_problems::clique::named::{is_name, names};
use pleach_problems::clique::search;

const BEST: Use =
    Use::with("best", "number that a clique must exceed: none or a whole number", "none");

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    name: "clique",
    about: "maximum clique: the largest set of vertices of a graph that are all adjacent to each other",
    instance: "a DIMACS name (brock200_4), a file, or - for standard input",
    instances,
    is_file: |word| word != "-" && (!is_name(word) || is_here(word)),
    maximises: true,
    tasks: &[
        Task {
            verb: Verb::Solve,
            flags: &[
                BEST,
                Use::plain("best-first"),
                Use::plain("solution"),
                Use::plain("certificate"),
            ],
            examples: &["solve clique brock200_4"],
            act: Act::Search(solve),
        },
        Task { verb: Verb::Check, flags: &[], examples: &[], act: Act::Check(check) },
    ],
    ..Entry::PLAIN
};

fn instances() -> Vec<NamedInstance> {
    let size = |it: &Graph| format!("{} vertices, {} edges", it.vertices(), it.edges());
    solved(names(), campaign::named, campaign::optimum, size)
}

/// The graph with this name, or else from this file.
fn graph(request: &Request<'_>) -> Result<Graph, Failure> {
    request.read("a file, or a name such as brock200_4", campaign::named, campaign::read)
}

fn solve(request: &Request<'_>) -> Result<Start<'static>, Failure> {
    let problem = search(graph(request)?);
    let best = flags::value_to_beat(request.given, 0)?;
    Ok(Start::new(move |search, mode| Ended::plain(&*problem, best, search, mode)))
}

fn check(request: &Request<'_>, path: &str) -> Result<Checked, Failure> {
    let clique = graph(request)?.clique(&numbers(path, "vertex")?);
    let value = clique.or_else(|why| usage(format!("{path}: {why}")))?;
    Ok(Checked { phrase: "a clique of size", value, labels: Labels::default(), files: Vec::new() })
}
