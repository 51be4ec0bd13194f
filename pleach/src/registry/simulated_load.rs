//! What a problem provides to the simulator: [`Load`], as a scenario describes it, and [`SimulatedLoad`].

use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::tree::{Goal, Tree};
use pleach_core::search::work::Nodes;
use pleach_lab::recorded::Recorded;
use pleach_lab::spans::Spans;

/// The `[load]` of a scenario: a search of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    pub problem: String,
    pub instance: String,
    pub node_ns: u64,
    pub best: Option<String>,
    pub bound: Option<String>,
    pub branching: Option<String>,
    /// The order in which the children of a node are explored, if the problem has a choice.
    pub child_order: Option<String>,
    /// The maximum number of nodes that one explorer may search alone, for comparison.
    pub alone: u64,
    /// The representation of work, if the problem has a choice.
    pub nodes: Nodes,
    /// Whether to search the whole tree where a problem would search one of two halves that mirror
    /// each other.
    pub whole: bool,
    /// Whether to search a record of the tree instead of the tree itself.
    pub recorded: bool,
}

/// The load of a simulation, before the run.
pub enum SimulatedLoad {
    /// Numbered units.
    Spans(Spans),
    /// A problem with the score to beat, the cost of a node, the most nodes that one explorer may
    /// search alone, and whether the number of nodes depends on how work is shared.
    Problem { problem: Box<dyn Problem>, start: i64, node_ns: u64, alone: u64, varies: bool },
}

/// The maximum number of nodes of a recorded tree: a few gigabytes.
const MOST_RECORDED: u32 = 100_000_000;

/// A recording of a tree, as a problem.
pub fn record<T: Tree + 'static>(tree: &T, best: i64) -> Option<Box<dyn Problem>> {
    Recorded::of(tree, best, MOST_RECORDED).map(|all| Box::new(Plain(all)) as Box<dyn Problem>)
}

impl SimulatedLoad {
    /// The problem or its recording, as the load asks, with a score to beat.
    ///
    /// # Errors
    /// If its tree cannot be recorded, or should be searched by intervals although it is recorded.
    pub fn new<P: Problem + 'static>(
        load: &Load,
        problem: P,
        start: i64,
        record: impl FnOnce(&P, i64) -> Option<Box<dyn Problem>>,
    ) -> Result<Self, String> {
        let Load { node_ns, alone, problem: name, .. } = load;
        if load.recorded && load.nodes == Nodes::Interval {
            return Err("load.nodes = 'interval': expected pool with load.recorded = true".into());
        }
        let problem: Box<dyn Problem> = if load.recorded {
            record(&problem, start).ok_or_else(|| {
                format!(
                    "load.recorded = true: the tree of this {name} cannot be recorded; expected \
                     at most {MOST_RECORDED} inner nodes"
                )
            })?
        } else {
            Box::new(problem)
        };
        Ok(SimulatedLoad::Problem {
            problem,
            start,
            node_ns: *node_ns,
            alone: *alone,
            varies: false,
        })
    }

    /// A problem without a choice of bounds, branchings or orders of children.
    ///
    /// # Errors
    /// If the load names one, or a value to beat for a problem that has no values.
    pub fn plain<P: Problem + 'static>(
        load: &Load,
        problem: P,
        record: impl FnOnce(&P, i64) -> Option<Box<dyn Problem>>,
    ) -> Result<Self, String> {
        let Load { problem: name, bound, branching, child_order, best, .. } = load;
        let choices = [("bound", bound), ("branching", branching), ("child_order", child_order)];
        for (key, word) in choices {
            if word.is_some() {
                return Err(format!("load.{key} does not apply to {name}"));
            }
        }
        let goal = problem.goal();
        let start = match best.as_deref() {
            None | Some("none") => i64::MAX,
            Some(_) if !matches!(goal, Goal::Minimise | Goal::Maximise) => {
                return Err(format!("load.best: {name} has no value to beat"));
            }
            Some(word) => goal.score(word.parse().map_err(|_| {
                format!("load.best = '{word}': expected none or a whole number for {name}")
            })?),
        };
        Self::new(load, problem, start, record)
    }

    /// Marks the node count as dependent on how work is shared.
    #[must_use]
    pub fn varying(mut self) -> Self {
        if let SimulatedLoad::Problem { varies, .. } = &mut self {
            *varies = true;
        }
        self
    }

    /// Checks that exploring some nodes twice is allowed.
    ///
    /// # Errors
    /// What was expected instead.
    pub fn may_be_late(&self) -> Result<(), &'static str> {
        match self {
            SimulatedLoad::Problem { problem, .. } if problem.goal() == Goal::Count => {
                Err("another preset for counting, since this one explores some nodes twice")
            }
            SimulatedLoad::Problem { problem, .. } if !problem.explorer().trims() => Err(
                "another preset, or load.nodes = 'interval', since open nodes cannot be trimmed",
            ),
            _ => Ok(()),
        }
    }

    /// Whether it can be explored down to a depth before it is shared.
    pub fn may_be_seeded(&self) -> bool {
        match self {
            SimulatedLoad::Problem { problem, .. } => problem.top().is_some(),
            SimulatedLoad::Spans(_) => false,
        }
    }

    /// The time of the most expensive indivisible piece at speed 1, in nanoseconds.
    pub fn costliest_ns(&self) -> u64 {
        match self {
            SimulatedLoad::Spans(spans) => spans.costliest_ns(),
            SimulatedLoad::Problem { node_ns, .. } => *node_ns,
        }
    }
}
