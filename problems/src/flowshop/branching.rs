//! [`Branching`]: whether a node's children place their job at the front or at the back.

use std::fmt;

/// The branching rule; the dynamic ones are from Gmys, Mezmaz, Melab and Tuyttens (2020).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branching {
    /// Always at the front.
    Forward,
    /// Always at the back.
    Backward,
    /// At the front and at the back in turn, by depth.
    Alternate,
    /// At the end with the larger sum of bounds.
    MaxSum,
    /// At the end with fewer children below the reference; ties as [`Branching::MaxSum`].
    MinBranch,
    /// At the end with fewer children that have the least bound; ties as [`Branching::MaxSum`].
    MinMin,
}

/// Statistics of the children at the front and at the back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Children whose bound is below the reference.
    pub kept: [u32; 2],
    /// Children whose bound equals the least bound at either end.
    pub least: [u32; 2],
    /// The sum of the bounds at the front minus the sum at the back.
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

    /// The end, if the rule fixes it: true for the back.
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

    /// Whether to branch at the back, given the children's bounds. Ties go to the front.
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

    /// Children bounded when a node with this many jobs left is branched.
    #[inline]
    #[must_use]
    pub fn bounded(self, jobs_left: usize) -> u64 {
        let ends = if self.fixed(0).is_some() { 1 } else { 2 };
        ends * jobs_left as u64
    }

    /// Parses a rule's name.
    ///
    /// # Errors
    /// If the name is unknown.
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
