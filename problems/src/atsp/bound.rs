//! [`Bound`]: which lower bound on tours to use.

use std::fmt;

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

impl Bound {
    /// All of them.
    pub const ALL: [Bound; 4] =
        [Bound::Auto, Bound::Partial, Bound::Assignment, Bound::Arborescence];

    /// Parses a bound's name.
    ///
    /// # Errors
    /// If the name is unknown.
    pub fn parse(word: &str) -> Result<Self, String> {
        let bound = Self::ALL.into_iter().find(|bound| bound.to_string() == word);
        bound.ok_or_else(|| format!("'{word}': expected auto, partial, assignment or arborescence"))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bound::Auto => "auto",
            Bound::Partial => "partial",
            Bound::Assignment => "assignment",
            Bound::Arborescence => "arborescence",
        })
    }
}
