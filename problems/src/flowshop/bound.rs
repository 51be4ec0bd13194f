//! [`Bound`]: how a node's children are bounded, and by which [`MachinePairs`]; and LB1, the one-machine bound, in
//! plain code.

use super::tables::{Partial, Tables, Word};
use pleach_core::search::named::named;

/// The lower bound (Lageweg, Lenstra and Rinnooy Kan 1978); the book gives the formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// LB1: on each machine the head, the work of the jobs left, and the least tail of any job.
    One,
    /// LB1 with the least tail of any job left.
    OneTight,
    /// LB2: the maximum of `one` and, for every pair of machines, the best order of the jobs left
    /// on these two, with time lags for the machines in between.
    Two,
    /// The same for pairs of neighbouring machines only (Nabeshima 1967).
    TwoAdjacent,
    /// The same for pairs with the last machine only (Lageweg, Lenstra and Rinnooy Kan 1978).
    TwoLast,
    /// `one`, then `two` on the surviving children where that has paid off so far.
    Auto,
}

named!(Bound {
    One = "one",
    OneTight = "one-tight",
    Two = "two",
    TwoAdjacent = "two-adjacent",
    TwoLast = "two-last",
    Auto = "auto",
} "auto, one, one-tight, two, two-adjacent or two-last");

impl Bound {
    /// Whether all children get LB2.
    #[must_use]
    pub fn is_two(self) -> bool {
        matches!(self, Bound::Two | Bound::TwoAdjacent | Bound::TwoLast)
    }

    /// The pairs of machines that it uses.
    pub(super) fn pairs(self) -> Option<MachinePairs> {
        match self {
            Bound::One | Bound::OneTight => None,
            Bound::Two | Bound::Auto => Some(MachinePairs::All),
            Bound::TwoAdjacent => Some(MachinePairs::Adjacent),
            Bound::TwoLast => Some(MachinePairs::WithLast),
        }
    }
}

/// Which pairs of machines a bound uses.
#[derive(Clone, Copy, Debug)]
pub enum MachinePairs {
    /// All of them.
    All,
    /// Neighbouring machines.
    Adjacent,
    /// Each machine with the last one.
    WithLast,
}

impl MachinePairs {
    /// The pairs of this many machines, in order.
    pub(super) fn of(self, machines: usize) -> impl Iterator<Item = (usize, usize)> {
        let all =
            (0..machines).flat_map(move |first| (first + 1..machines).map(move |k| (first, k)));
        all.filter(move |&(first, second)| match self {
            MachinePairs::All => true,
            MachinePairs::Adjacent => second == first + 1,
            MachinePairs::WithLast => second == machines - 1,
        })
    }
}

/// LB1 of a child: with the job placed at the front, and at the back.
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

/// The least tail on each machine over these jobs.
pub fn least_tails<W: Word>(tables: &Tables<W>, jobs: &[u16], least: &mut [W]) {
    least.fill(W::narrow(W::MOST));
    for &job in jobs {
        for (least, &tail) in least.iter_mut().zip(tables.tail(job)) {
            *least = tail.min(*least);
        }
    }
}
