//! Work: what can be split by a share and sent in a few bytes.

pub mod interval;
pub mod intervals;
pub mod pack;
pub mod pool;

pub use interval::Interval;
pub use intervals::Intervals;
pub use pack::{Malformed, Pack, Reader};
pub use pool::{Entry, Pool};
pub(crate) use pool::{bound_at, distance};

/// A piece of work in its canonical encoding, on its way from one unit to another.
///
/// `size` and `share` only steer decisions and displays; `bytes` alone are the work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// Open nodes in the piece; of intervals, leaves.
    pub size: f64,
    /// Least score over the open nodes; `i64::MAX` when there are none.
    pub least_bound: i64,
    /// Canonical bytes, readable by every explorer of the same problem.
    pub bytes: Vec<u8>,
}

/// How many of `n` things a share gives away: at least one of two or more, never all.
#[must_use]
pub fn portion(share: f64, n: usize) -> usize {
    if n < 2 {
        return 0;
    }
    // A share outside [0, 1] or not a number is brought to the nearest sensible count.
    let wanted = (share * n as f64).round();
    (wanted as usize).clamp(1, n - 1)
}

/// How many of each of several kinds a share gives away, [`portion`] in all: of each its share rounded
/// down, the remainder one by one from the first on. `None` if nothing is given.
#[must_use]
pub fn portions(sizes: &[usize], share: f64) -> Option<Vec<usize>> {
    let mut left = portion(share, sizes.iter().sum());
    if left == 0 {
        return None;
    }
    let mut given: Vec<usize> = Vec::with_capacity(sizes.len());
    for &n in sizes {
        let here = ((share * n as f64) as usize).min(n).min(left);
        left -= here;
        given.push(here);
    }
    while left > 0 {
        for (here, &n) in given.iter_mut().zip(sizes) {
            let more = usize::from(left > 0 && *here < n);
            left -= more;
            *here += more;
        }
    }
    Some(given)
}

/// How work is written down and sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nodes {
    /// Open nodes: any tree has them.
    #[default]
    Pool,
    /// Intervals of leaves: a few bytes whatever is open, for trees of permutations.
    Interval,
}

impl Nodes {
    /// Both kinds.
    pub const ALL: [Nodes; 2] = [Nodes::Pool, Nodes::Interval];

    /// Reads a kind's name.
    ///
    /// # Errors
    /// If there is no such kind.
    pub fn parse(word: &str) -> Result<Self, String> {
        let kind = Self::ALL.into_iter().find(|kind| kind.to_string() == word);
        kind.ok_or_else(|| format!("'{word}': expected pool or interval"))
    }
}

impl std::fmt::Display for Nodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Nodes::Pool => "pool",
            Nodes::Interval => "interval",
        })
    }
}

#[cfg(test)]
mod interval_tests;
#[cfg(test)]
mod tests;
