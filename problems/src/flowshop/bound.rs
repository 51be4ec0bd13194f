//! [`Bound`]: how a node's children are bounded; and the one-machine bounds in plain code.

use super::tables::{Partial, Tables, Word};
use std::fmt;

/// The bound; the book's page on flowshop gives the formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// On each machine: the front, all jobs between, and what follows at least after any job.
    One,
    /// The same, but what follows at least after any job that is still between.
    OneTight,
    /// The greater of `one` and, for every pair of machines, the best order of the jobs between on
    /// these two, with lags for the machines between.
    Two,
    /// `one`, and `two` on its survivors where that has paid so far.
    Auto,
}

impl Bound {
    /// All bounds.
    pub const ALL: [Bound; 4] = [Bound::One, Bound::OneTight, Bound::Two, Bound::Auto];

    /// Reads a bound's name.
    ///
    /// # Errors
    /// If there is no such bound.
    pub fn parse(word: &str) -> Result<Self, String> {
        let bound = Self::ALL.into_iter().find(|bound| bound.to_string() == word);
        bound.ok_or_else(|| format!("'{word}': expected auto, one, one-tight or two"))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bound::One => "one",
            Bound::OneTight => "one-tight",
            Bound::Two => "two",
            Bound::Auto => "auto",
        })
    }
}

/// The one-machine bounds of a child: with the job placed at the front, and at the back.
#[inline]
pub fn one<W: Word>(partial: &Partial<W>, times: &[W]) -> [W; 2] {
    let mut ends = [W::narrow(0); 2];
    let mut bounds = ends;
    let machines = partial.ends.chunks_exact(2).zip(partial.rest.chunks_exact(2));
    for ((before, rest), times) in machines.zip(times.chunks_exact(2)) {
        for side in 0..2 {
            let begin = ends[side].max(before[side]);
            bounds[side] = bounds[side].max(begin.plus(rest[side]));
            ends[side] = begin.plus(times[side]);
        }
    }
    bounds
}

/// The least that follows on each machine after any of these jobs.
pub fn least_tails<W: Word>(tables: &Tables<W>, jobs: &[u16], least: &mut [W]) {
    least.fill(W::narrow(W::MOST));
    for &job in jobs {
        for (least, &tail) in least.iter_mut().zip(tables.tail(job)) {
            *least = tail.min(*least);
        }
    }
}
