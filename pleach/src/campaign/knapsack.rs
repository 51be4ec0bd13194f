//! The campaign for the 0/1 knapsack: the most valuable items that fit.

use super::{Error, Search, plain};
use crate::report::{Report, Status};
use pleach_core::search::problem::Plain;
use pleach_core::search::tree::Counts;
pub use pleach_problems::knapsack::Knapsack;

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How it ended.
    pub status: Status,
    /// The items to take, numbered from 1 in the order of the input.
    pub items: Option<Vec<i64>>,
    /// Their value.
    pub value: Option<i64>,
    /// The proven upper bound on the value of any choice of items.
    pub bound: Option<i64>,
    /// The distance between value and bound, relative to the value.
    pub gap: Option<f64>,
    /// Nodes of the search.
    pub nodes: Counts,
    /// Everything else.
    pub report: Report,
}

/// Fills a knapsack; with `best`, accepts only items worth more than that in total.
///
/// ```
/// let knapsack = pleach::knapsack::Knapsack::new(10, &[[6, 4], [5, 3], [8, 6]])?;
/// let answer = pleach::knapsack::solve(&knapsack, None, pleach::Search::default())?;
/// assert_eq!((answer.value, answer.items), (Some(14), Some(vec![1, 3])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the machine fails, or the checkpoint does not match.
pub fn solve(
    knapsack: &Knapsack,
    best: Option<i64>,
    mut search: Search<'_>,
) -> Result<Answer, Error> {
    let report = plain::run(&Plain(knapsack.clone()), best, &mut search)?;
    Ok(Answer {
        status: report.status,
        items: report.solution.clone(),
        value: report.objective,
        bound: report.lower_bound,
        gap: report.gap(),
        nodes: report.outcome.counts.clone(),
        report,
    })
}
