//! The campaign for Unbalanced Tree Search: counts the nodes of a tree.

use super::started::follows;
use super::{Error, Search, plain};
use crate::report::{Report, Status};
use pleach_core::search::tree::Counts;
pub use pleach_problems::uts::Uts;
pub use pleach_problems::uts::parameters::{NAMED, Parameters};

/// The result of a count.
#[derive(Clone, Debug)]
pub struct Counted {
    /// How it ended: counted or stopped.
    pub status: Status,
    /// The number of nodes found so far: all of them unless the search was stopped.
    pub nodes: u128,
    /// The depth so far, and nodes by kind.
    pub counts: Counts,
    /// Everything else.
    pub report: Report,
}

/// Counts the nodes of a tree. A tree that may be infinite needs a limit.
///
/// ```
/// let tree = pleach::uts::Parameters::parse("type=binomial,b0=20,q=0.19,m=5")?;
/// let counted = pleach::uts::count(&tree, pleach::Search::default())?;
/// assert_eq!(counted.nodes, u128::from(counted.counts.bounded) + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the tree may be infinite and there is no limit, the machine fails, or the checkpoint does not
/// match.
pub fn count(tree: &Parameters, mut search: Search<'_>) -> Result<Counted, Error> {
    may_end(tree, &search).map_err(Error::Input)?;
    let report = plain::run(&Uts::new(tree.clone(), search.simd), None, &mut search)?;
    let (status, nodes, counts) = (report.status, report.count, report.outcome.counts.clone());
    Ok(Counted { status, nodes, counts, report })
}

/// Refuses a tree that may be infinite if there is no limit.
pub(crate) fn may_end(tree: &Parameters, search: &Search<'_>) -> Result<(), String> {
    let settings = &search.settings;
    // Where another process leads, the limits are its own.
    let limited = follows(settings)
        || settings.time_limit.is_some()
        || settings.node_limit.is_some()
        || settings.memory.is_some();
    match endless(tree) {
        Some(why) if !limited => Err(format!("{why}, or a limit of time, nodes or memory")),
        _ => Ok(()),
    }
}

/// Why a tree may be infinite, unless it is known to be finite.
pub(crate) fn endless(tree: &Parameters) -> Option<String> {
    let known = NAMED.iter().any(|(_, named, _)| named == tree);
    tree.endless().filter(|_| !known)
}
