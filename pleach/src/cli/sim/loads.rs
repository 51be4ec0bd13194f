//! From what a scenario says to the problems and loads that are simulated.

use super::spec::{Search, Spec, Work};
use crate::cli::options::Options;
use crate::cli::rows::rows_of;
use crate::cli::{Failure, flowshop, usage};
use pleach_core::problem::{Plain, Problem};
use pleach_core::sim::cluster::Cluster;
use pleach_core::sim::figures::Figures;
use pleach_core::sim::load;
use pleach_core::sim::recorded::Recorded;
use pleach_core::sim::spans::Spans;
use pleach_core::tree::{Goal, Tree};
use pleach_core::work::Nodes;
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::branching::Branching;
use pleach_problems::flowshop::heuristic::neh;
use pleach_problems::flowshop::named::best_known;
use pleach_problems::knapsack::{Knapsack, MOST, MOST_ITEMS};
use pleach_problems::queens::Queens;
use pleach_problems::uts::{
    Uts,
    parameters::{NAMED, Parameters},
};

/// What is worked on, before anything of it was done.
pub enum Posed {
    Spans(Spans),
    /// A problem with the score that its solutions must beat, the cost of a node, how many nodes one
    /// explorer may search alone, and whether the nodes depend on who explores what.
    Problem {
        problem: Box<dyn Problem>,
        start: i64,
        node_ns: u64,
        alone: u64,
        varies: bool,
    },
}

/// Makes the units or the problem of a work.
pub fn pose(work: &Work, options: &Options) -> Result<Posed, Failure> {
    let search = match work {
        Work::Search(search) => search,
        Work::Interval { units, total_ns, halvings, uneven, seed } => {
            return Ok(Posed::Spans(Spans::new(*units, *total_ns, *halvings, *uneven, *seed)));
        }
    };
    let Search { problem, instance, .. } = search;
    if search.nodes == Nodes::Interval && !matches!(problem.as_str(), "flowshop" | "queens") {
        return usage(format!("load.nodes = 'interval': expected pool for {problem}"));
    }
    let bad = |why: String| Failure::Usage(format!("{problem} {instance}: {why}"));
    let posed = match problem.as_str() {
        "flowshop" => return pose_flowshop(search, options),
        "uts" => {
            let tree = Parameters::parse(instance).map_err(bad)?;
            let known = NAMED.iter().any(|(_, named, _)| *named == tree);
            if let Some(why) = tree.endless().filter(|_| !known) {
                return usage(format!("uts {instance}: {why}"));
            }
            posed(search, Uts::new(tree, options.simd), record)
        }
        "queens" => {
            let size = instance.parse().map_err(|_| bad("expected a board size".into()))?;
            let mut queens = Queens::new(size, options.simd).map_err(bad)?;
            queens.nodes = search.nodes;
            posed(search, queens, record)
        }
        _ => {
            let rows = rows_of::<2>(instance, MOST, MOST_ITEMS).map_err(Failure::Usage)?;
            let knapsack = Knapsack::new(rows[0][1], &rows[1..]).map_err(Failure::Usage)?;
            posed(search, Plain(knapsack), |plain, best| record(&plain.0, best))
        }
    };
    posed.map_err(Failure::Usage)
}

/// The most nodes of a tree that is recorded: some gigabytes.
const MOST_RECORDED: u32 = 100_000_000;

/// A tree's record as a problem.
fn record<T: Tree + 'static>(tree: &T, best: i64) -> Option<Box<dyn Problem>> {
    Recorded::of(tree, best, MOST_RECORDED).map(|all| Box::new(Plain(all)) as Box<dyn Problem>)
}

/// The problem or its record, as the scenario wants it.
fn with<P: Problem + 'static>(
    search: &Search,
    problem: P,
    start: i64,
    record: impl FnOnce(&P, i64) -> Option<Box<dyn Problem>>,
) -> Result<Posed, String> {
    let Search { node_ns, alone, .. } = *search;
    let problem: Box<dyn Problem> = if search.recorded {
        record(&problem, start).ok_or_else(|| {
            format!("load.recorded: expected a tree of at most {MOST_RECORDED} inner nodes")
        })?
    } else {
        Box::new(problem)
    };
    Ok(Posed::Problem { problem, start, node_ns, alone, varies: search.varies() })
}

/// A problem that has neither bounds nor branchings to choose from.
fn posed<P: Problem + 'static>(
    search: &Search,
    problem: P,
    record: impl FnOnce(&P, i64) -> Option<Box<dyn Problem>>,
) -> Result<Posed, String> {
    let Search { problem: name, bound, branching, best, .. } = search;
    if bound.is_some() || branching.is_some() {
        return Err(format!("load.bound or load.branching: {name} has no such choice"));
    }
    let goal = problem.goal();
    let start = match best.as_deref() {
        None | Some("none") => i64::MAX,
        Some(_) if goal == Goal::Count => {
            return Err(format!("load.best: {name} has no value to beat"));
        }
        Some(word) => goal.score(word.parse().map_err(|_| {
            format!("load.best = '{word}': expected none or a whole number for {name}")
        })?),
    };
    with(search, problem, start, record)
}

fn pose_flowshop(search: &Search, options: &Options) -> Result<Posed, Failure> {
    let mut problem = Flowshop::new(flowshop::instance(&search.instance, options)?, options.simd);
    let bound = Bound::parse(search.bound.as_deref().unwrap_or("auto"));
    problem.bound = bound.map_err(|why| Failure::Usage(format!("load.bound {why}")))?;
    if let Some(word) = search.branching.as_deref().filter(|&word| word != "auto") {
        let rule = Branching::parse(word);
        problem.branching = rule.map_err(|why| Failure::Usage(format!("load.branching {why}")))?;
    }
    let start = match search.best.as_deref() {
        None | Some("none") => i64::MAX,
        Some("neh") => {
            let order = neh(problem.instance()).0;
            i64::from(problem.instance().makespan(&order))
        }
        Some("optimum") => match best_known(&search.instance) {
            Some((value, true)) => value,
            _ => return usage(format!("load.best: no optimum is known for {}", search.instance)),
        },
        Some(word) => word.parse().or_else(|_| {
            usage(format!("load.best = '{word}': expected none, neh, optimum or a whole number"))
        })?,
    };
    problem.reference = start;
    problem.nodes = search.nodes;
    with(search, problem, start, record).map_err(Failure::Usage)
}

/// What is worked on, ready to be simulated.
pub enum Load<'p> {
    Spans(Spans),
    Search(load::Search<'p>),
}

impl<'p> Load<'p> {
    /// Makes a load; a search is done once by one explorer alone, unless that takes too long.
    pub fn new(posed: &'p Posed) -> Self {
        match posed {
            Posed::Spans(spans) => Load::Spans(spans.clone()),
            Posed::Problem { problem, start, node_ns, alone, varies } => {
                let mut load = load::Search::new(&**problem, *node_ns, *start);
                if *varies {
                    load = load.varying();
                }
                load.measure(*alone);
                Load::Search(load)
            }
        }
    }

    /// Simulates a run.
    pub fn run(&self, spec: &Spec, seed: u64) -> Result<Figures, String> {
        let cluster = Cluster { seed, ..spec.cluster.clone() };
        match self {
            Load::Spans(spans) => cluster.run(spans),
            Load::Search(search) => cluster.run(search),
        }
    }

    /// The time that one peer of speed 1 takes, where it is known, in nanoseconds.
    pub fn total_ns(&self) -> Option<u64> {
        match self {
            Load::Spans(spans) => load::Load::total_ns(spans),
            Load::Search(search) => load::Load::total_ns(search),
        }
    }
}

impl Posed {
    /// Whether some nodes may be explored twice, and if not, why.
    pub fn may_be_late(&self) -> Result<(), &'static str> {
        match self {
            Posed::Problem { problem, .. } if problem.goal() == Goal::Count => {
                Err("another preset for what counts: with this one some nodes are explored twice")
            }
            Posed::Problem { problem, .. } if !problem.explorer().trims() => {
                Err("another preset, or load.nodes = 'interval': open nodes cannot be trimmed")
            }
            _ => Ok(()),
        }
    }

    /// What the dearest piece that cannot be divided takes at speed 1, in nanoseconds.
    pub fn dearest_ns(&self) -> u64 {
        match self {
            Posed::Spans(spans) => spans.dearest_ns(),
            Posed::Problem { node_ns, .. } => *node_ns,
        }
    }
}
