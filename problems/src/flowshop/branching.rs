//! [`Branching`]: whether a node's children get their job at the front or at the back.

use std::fmt;

/// The rule; the book's page on flowshop says the same in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branching {
    /// Always at the front.
    Forward,
    /// Always at the back.
    Backward,
    /// At the front and at the back in turn, by depth.
    Alternate,
    /// Where the sum of the bounds is larger.
    MaxSum,
    /// Where fewer children are kept against the reference; then as [`Branching::MaxSum`].
    MinBranch,
    /// Where fewer children have the least bound of all; then as [`Branching::MaxSum`].
    MinMin,
}

/// What the children at the front and those at the back look like, beside each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Children whose bound is below the reference.
    pub kept: [u32; 2],
    /// Children that have the least bound of all.
    pub least: [u32; 2],
    /// The sum of the bounds at the front less that at the back.
    pub lead: i64,
}

impl Branching {
    /// All rules.
    pub const ALL: [Branching; 6] = [
        Branching::Forward,
        Branching::Backward,
        Branching::Alternate,
        Branching::MaxSum,
        Branching::MinBranch,
        Branching::MinMin,
    ];

    /// The end that is known beforehand, if it is: whether it is the back.
    #[inline]
    #[must_use]
    pub fn fixed(self, depth: usize) -> Option<bool> {
        match self {
            Branching::Forward => Some(false),
            Branching::Backward => Some(true),
            Branching::Alternate => Some(depth % 2 == 1),
            _ => None,
        }
    }

    /// Whether to branch at the back, where that depends on the children. Ties go to the front.
    #[inline]
    #[must_use]
    pub fn choose(self, ends: &Ends) -> bool {
        let [front, back] = match self {
            Branching::MinBranch => ends.kept,
            Branching::MinMin => ends.least,
            _ => [0, 0],
        };
        back < front || back == front && ends.lead < 0
    }

    /// Children bounded when a node with so many jobs left is branched.
    #[inline]
    #[must_use]
    pub fn bounded(self, jobs_left: usize) -> u64 {
        let ends = if self.fixed(0).is_some() { 1 } else { 2 };
        ends * jobs_left as u64
    }

    /// Reads a rule's name.
    ///
    /// # Errors
    /// If there is no such rule.
    pub fn parse(word: &str) -> Result<Self, String> {
        let rule = Self::ALL.into_iter().find(|rule| rule.to_string() == word);
        rule.ok_or_else(|| {
            let names: Vec<String> = Self::ALL.iter().map(ToString::to_string).collect();
            format!("'{word}': expected auto, {}", names.join(", "))
        })
    }
}

impl fmt::Display for Branching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Branching::Forward => "forward",
            Branching::Backward => "backward",
            Branching::Alternate => "alternate",
            Branching::MaxSum => "max-sum",
            Branching::MinBranch => "min-branch",
            Branching::MinMin => "min-min",
        })
    }
}
