//! [`ChildOrder`]: in which order the children of a node are explored.

use std::fmt;

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

impl ChildOrder {
    /// All orders.
    pub const ALL: [ChildOrder; 2] = [ChildOrder::Bound, ChildOrder::Job];

    /// Parses a name.
    ///
    /// # Errors
    /// If there is no such order.
    pub fn parse(word: &str) -> Result<Self, String> {
        let order = Self::ALL.into_iter().find(|order| order.to_string() == word);
        order.ok_or_else(|| format!("'{word}': expected bound or job"))
    }
}

impl fmt::Display for ChildOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ChildOrder::Bound => "bound",
            ChildOrder::Job => "job",
        })
    }
}
