//! [`Bound`]: how tours are bounded from below.

use std::fmt;

/// Which bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The assignment where it is near enough, else the arborescence.
    Auto,
    /// What the path so far costs: the search of the papers.
    Partial,
    /// A successor for each city, at the least cost.
    Assignment,
    /// An arborescence with prices for leaving cities, and an assignment of what is left.
    Arborescence,
}

impl Bound {
    /// All of them.
    pub const ALL: [Bound; 4] =
        [Bound::Auto, Bound::Partial, Bound::Assignment, Bound::Arborescence];

    /// Reads a bound's name.
    ///
    /// # Errors
    /// If there is no such bound.
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
