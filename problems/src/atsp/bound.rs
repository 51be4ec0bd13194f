//! [`Bound`]: which lower bound on tours to use.

use pleach_core::search::named::named;

/// The lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The assignment bound if its gap is small enough, else the arborescence bound.
    Auto,
    /// The cost of the path so far, as in the papers.
    Partial,
    /// The assignment problem: a successor for each city, at minimum cost.
    Assignment,
    /// The Lagrangian bound of the arborescence, plus an assignment on its reduced costs (additive
    /// bounding, Fischetti and Toth 1992).
    Arborescence,
}

named!(Bound {
    Auto = "auto",
    Partial = "partial",
    Assignment = "assignment",
    Arborescence = "arborescence",
} "auto, partial, assignment or arborescence");
