//! The campaign for the maximum clique: the largest set of vertices that are all adjacent to each other.

use super::{Error, Search, plain};
use crate::report::{Report, Status};
use pleach_core::search::tree::Counts;
use pleach_problems::clique;
pub use pleach_problems::clique::graph::Graph;
pub use pleach_problems::clique::named::{named, optimum};
pub use pleach_problems::clique::read::read;

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How it ended.
    pub status: Status,
    /// The vertices of the largest clique found, numbered from 1.
    pub vertices: Option<Vec<i64>>,
    /// Their number.
    pub size: Option<i64>,
    /// The proven upper bound on the size of any clique.
    pub bound: Option<i64>,
    /// The distance between size and bound, relative to the size.
    pub gap: Option<f64>,
    /// Nodes of the search.
    pub nodes: Counts,
    /// Everything else.
    pub report: Report,
}

/// Finds a maximum clique; with `best`, accepts only cliques with more vertices than that.
///
/// ```
/// let mut graph = pleach::clique::Graph::new(4)?;
/// for (one, other) in [(1, 2), (2, 3), (1, 3), (3, 4)] {
///     graph.connect(one, other)?;
/// }
/// let answer = pleach::clique::solve(&graph, None, pleach::Search::default())?;
/// assert_eq!((answer.size, answer.vertices), (Some(3), Some(vec![1, 2, 3])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the machine fails, or the checkpoint does not match.
pub fn solve(graph: &Graph, best: Option<i64>, mut search: Search<'_>) -> Result<Answer, Error> {
    let report = plain::run(&*clique::search(graph.clone()), best, &mut search)?;
    Ok(Answer {
        status: report.status,
        vertices: report.solution.clone(),
        size: report.objective,
        bound: report.lower_bound,
        gap: report.gap(),
        nodes: report.outcome.counts.clone(),
        report,
    })
}
