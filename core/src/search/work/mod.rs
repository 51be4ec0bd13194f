//! Work: anything that can be split by a share and sent in a few bytes.

pub mod interval;
pub mod intervals;
pub mod pack;
pub(crate) mod pool;

use super::named::named;
pub use interval::Interval;
pub use intervals::Intervals;
pub use pack::{Malformed, Pack, Reader};
pub use pleach_derive::Pack;
pub use pool::{Entry, Pool};
pub(crate) use pool::{bound_at, distance, pack_entries};

/// A piece of work in its canonical encoding, on its way from one worker to another.
///
/// Only `bytes` are the work; the other fields steer decisions and displays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// Open nodes, or leaves if the work is intervals.
    pub size: f64,
    /// Least score that an open node can still reach; `i64::MAX` if there is none.
    pub least_bound: i64,
    /// Canonical bytes, readable by every explorer of the same problem.
    pub bytes: Vec<u8>,
}

/// How many of `n` things a share amounts to: at least one of two or more, never all.
#[must_use]
pub fn portion(share: f64, n: usize) -> usize {
    if n < 2 {
        return 0;
    }
    // The clamp also handles shares outside [0, 1]; NaN counts as 0.
    let wanted = (share * n as f64).round();
    (wanted as usize).clamp(1, n - 1)
}

/// How many things a share takes from each of several groups, [`portion`] in all: each group's
/// share rounded down, the remainder one by one from the first group on. `None` if nothing is
/// given.
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

/// How work is represented when it is exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nodes {
    /// Open nodes, for any tree.
    #[default]
    Pool,
    /// Intervals of leaves, for trees of permutations: a few bytes however many nodes are open.
    Interval,
}

named!(Nodes { Pool = "pool", Interval = "interval" } "pool or interval");

#[cfg(test)]
mod interval_tests;
#[cfg(test)]
mod tests;
