//! [`ChildOrder`]: in which order the children of a node are explored.

use pleach_core::search::named::named;

/// The order of a node's children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChildOrder {
    /// The least bound first, then the lowest job.
    #[default]
    Bound,
    /// The lowest job first; only for intervals. If the branching is fixed, the number of a leaf is then that of its
    /// schedule as a factoradic (Mezmaz, Melab and Talbi 2007), whatever the bounds.
    Job,
}

named!(ChildOrder { Bound = "bound", Job = "job" } "bound or job");
