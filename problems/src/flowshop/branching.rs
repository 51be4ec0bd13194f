//! [`Branching`]: whether a node's children place their job at the front or at the back.

use pleach_core::search::named::named;

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

named!(Branching {
    Forward = "forward",
    Backward = "backward",
    Alternate = "alternate",
    MaxSum = "max-sum",
    MinBranch = "min-branch",
    MinMin = "min-min",
} "auto, forward, backward, alternate, max-sum, min-branch, min-min");

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
}
