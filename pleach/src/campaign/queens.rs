//! Campaigns for n queens: count all solutions, or find one.

use super::{Error, Search, plain};
use crate::report::{Report, Status};
use pleach_core::search::problem::Plain;
use pleach_core::search::tree::Counts;
pub use pleach_problems::queens::{Queens, first::FirstQueens};

/// The result of a count.
#[derive(Clone, Debug)]
pub struct Counted {
    /// How it ended: counted or stopped.
    pub status: Status,
    /// The number of ways to place the queens found so far: all of them unless the search was stopped.
    pub ways: u128,
    /// Nodes of the search.
    pub nodes: Counts,
    /// Everything else.
    pub report: Report,
}

/// Counts the ways to place n queens on an n × n board.
///
/// ```
/// let counted = pleach::queens::count(8, pleach::Search::default())?;
/// assert_eq!(counted.ways, 92);
/// # Ok::<(), pleach::Error>(())
/// ```
///
/// # Errors
/// If the board is too large, the machine fails, or the checkpoint does not match.
pub fn count(n: u32, search: Search<'_>) -> Result<Counted, Error> {
    counted(n, false, search)
}

/// Counts the same on the whole board: [`count`] searches one of two halves that mirror each other.
/// The counts are equal, those of nodes included, but the search has twice as much to explore.
///
/// # Errors
/// As [`count`].
pub fn count_whole(n: u32, search: Search<'_>) -> Result<Counted, Error> {
    counted(n, true, search)
}

fn counted(n: u32, whole: bool, mut search: Search<'_>) -> Result<Counted, Error> {
    let report = plain::run(&problem(n, whole, &search)?, None, &mut search)?;
    let (status, ways, nodes) = (report.status, report.count, report.outcome.counts.clone());
    Ok(Counted { status, ways, nodes, report })
}

/// The result of a search for one solution.
#[derive(Clone, Debug)]
pub struct Found {
    /// How it ended: found, infeasible or stopped.
    pub status: Status,
    /// The column of the queen in each row, numbered from 1.
    pub columns: Option<Vec<i64>>,
    /// Nodes of the search.
    pub nodes: Counts,
    /// Everything else.
    pub report: Report,
}

/// Finds one way to place n queens on an n × n board.
///
/// # Errors
/// If the board is too large, the machine fails, or the checkpoint does not match.
pub fn first(n: u32, mut search: Search<'_>) -> Result<Found, Error> {
    let problem = Plain(FirstQueens::new(n).map_err(Error::Input)?);
    let report = plain::run(&problem, None, &mut search)?;
    let (status, columns, nodes) =
        (report.status, report.solution.clone(), report.outcome.counts.clone());
    Ok(Found { status, columns, nodes, report })
}

pub(crate) fn problem(n: u32, whole: bool, search: &Search<'_>) -> Result<Queens, Error> {
    let mut queens = Queens::new(n, search.simd).map_err(Error::Input)?;
    (queens.nodes, queens.whole) = (search.nodes, whole);
    Ok(queens)
}
