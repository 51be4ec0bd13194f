//! [`Intervals`]: several intervals as one piece of work, and their encoding.

use super::interval::{
    self, Interval, MOST_PLACES, Point, digit, leaves, minus, part, plus, portion,
};
use super::pool::{bound_at, distance};
use super::{Malformed, Pack, Reader, Work};
use std::iter::once;

/// Disjoint intervals of one tree, in order. Neighbours that touch and have the same bound are
/// merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intervals {
    n: usize,
    parts: Vec<Interval>,
}

impl Intervals {
    /// No intervals yet, of the permutations of `n` things.
    ///
    /// # Panics
    /// If `n` is more than [`MOST_PLACES`].
    #[must_use]
    pub fn none(n: usize) -> Self {
        assert!(n <= MOST_PLACES, "at most {MOST_PLACES} things can be permuted");
        Self { n, parts: Vec::new() }
    }

    /// A single interval.
    #[must_use]
    pub fn one(n: usize, interval: Interval) -> Self {
        Self { parts: vec![interval], ..Self::none(n) }
    }

    /// These intervals, in any order.
    ///
    /// # Errors
    /// If some overlap.
    pub fn of(n: usize, mut parts: Vec<Interval>) -> Result<Self, Malformed> {
        parts.sort_by(Interval::order);
        if parts.windows(2).any(|pair| pair[0].end > pair[1].begin) {
            return Err(Malformed::Range);
        }
        let mut all = Self::none(n);
        parts.into_iter().for_each(|next| all.push(next));
        Ok(all)
    }

    /// The intervals in order.
    #[must_use]
    pub fn parts(&self) -> &[Interval] {
        &self.parts
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds other intervals.
    ///
    /// # Errors
    /// If they overlap with those here, which then stay unchanged.
    pub fn append(&mut self, mut others: Self) -> Result<(), Malformed> {
        let mut all = self.parts.clone();
        all.append(&mut others.parts);
        *self = Self::of(self.n, all)?;
        Ok(())
    }

    /// Adds an interval that lies after all others.
    fn push(&mut self, next: Interval) {
        let last = self.parts.last_mut().filter(|last| last.bound == next.bound);
        if !last.is_some_and(|last| last.merge(&next)) {
            self.parts.push(next);
        }
    }

    /// Removes and returns the first interval.
    pub fn take_first(&mut self) -> Option<Interval> {
        (!self.parts.is_empty()).then(|| self.parts.remove(0))
    }

    /// The number of leaves in all, as digits.
    fn length(&self) -> Point {
        let add = |sum: Point, next: &Interval| plus(self.n, &sum, &next.length(self.n));
        self.parts.iter().fold(Vec::new(), add)
    }

    /// Gives away a share of the leaves from the end: whole intervals, then part of one.
    pub fn split(&mut self, share: f64) -> Option<Self> {
        let n = self.n;
        let mut wanted = portion(n, &self.length(), share)?;
        let mut given = Vec::new();
        while let Some(last) = self.parts.last_mut() {
            let length = last.length(n);
            if wanted < length {
                given.extend(last.split_leaves(n, &wanted));
                break;
            }
            wanted = minus(n, &wanted, &length);
            given.extend(self.parts.pop());
        }
        given.reverse();
        Some(Self { n, parts: given })
    }

    /// The leaves that are here but not in `others`.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let (mut left, mut others) = (Self::none(self.n), &others.parts[..]);
        for Interval { begin, end, bound } in &self.parts {
            // What lies before this interval lies before all later ones, too.
            let before = others.iter().take_while(|other| other.end <= *begin).count();
            others = &others[before..];
            let inside = others.iter().take_while(|other| other.begin < *end);
            let begins = once(begin).chain(inside.clone().map(|other| &other.end));
            let ends = inside.map(|other| &other.begin).chain(once(end));
            for (begin, end) in begins.zip(ends).filter(|(begin, end)| begin < end) {
                left.push(Interval { begin: begin.clone(), end: end.clone(), bound: *bound });
            }
        }
        left
    }

    /// The number of leaves in all, at most `f64::MAX`.
    #[must_use]
    pub fn size(&self) -> f64 {
        leaves(self.n, &self.length())
    }

    /// These leaves as a fraction of the whole tree's.
    #[must_use]
    pub fn part(&self) -> f64 {
        part(self.n, &self.length())
    }

    /// The least bound of any interval.
    #[must_use]
    pub fn least_bound(&self) -> Option<i64> {
        self.parts.iter().map(|interval| interval.bound).min()
    }

    /// Encodes the intervals.
    ///
    /// Each is its bound and three lists of digits: those that both ends share, the rest of
    /// `begin`, the rest of `end`.
    #[must_use]
    pub fn to_work(&self) -> Work {
        let mut bytes = Vec::new();
        for Interval { begin, end, bound } in &self.parts {
            distance(*bound).pack(&mut bytes);
            let common = begin.iter().zip(end).take_while(|(a, b)| a == b).count();
            for digits in [&begin[..common], &begin[common..], &end[common..]] {
                digits.len().pack(&mut bytes);
                digits.iter().for_each(|digit| digit.pack(&mut bytes));
            }
        }
        let least_bound = self.least_bound().unwrap_or(i64::MAX);
        Work { size: self.size(), least_bound, bytes }
    }

    /// Decodes intervals of the permutations of `n` things from untrusted bytes.
    ///
    /// # Errors
    /// If [`Intervals::to_work`] cannot have written the bytes.
    pub fn from_bytes(n: usize, bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new(bytes);
        let mut read = Self::none(n);
        while from.left() > 0 {
            let bound = bound_at(u64::unpack(&mut from)?);
            let common = Vec::<u16>::unpack(&mut from)?;
            let [begin, end] = [Vec::<u16>::unpack(&mut from)?, Vec::<u16>::unpack(&mut from)?];
            // Canonical: the ends share as many digits as they can.
            let apart = digit(&begin, 0) != digit(&end, 0) || begin.is_empty();
            let [begin, end] = [begin, end].map(|rest| [&common[..], &rest].concat());
            let next = Interval { begin, end, bound };
            if !apart || !next.valid(n) || !read.can_follow(&next) {
                return Err(Malformed::Range);
            }
            read.parts.push(next);
        }
        Ok(read)
    }

    /// Whether `next` lies after all others and could not be merged with the last.
    fn can_follow(&self, next: &Interval) -> bool {
        self.parts.last().is_none_or(|last| {
            last.end < next.begin || last.end == next.begin && last.bound != next.bound
        })
    }
}

impl Interval {
    /// Whether both ends are points of the permutations of `n` things, in order.
    #[must_use]
    pub fn valid(&self, n: usize) -> bool {
        let in_range = |point: &Point| {
            let digits = point.iter().enumerate();
            let mut digits = digits.map(|(depth, &digit)| usize::from(digit) + depth < n);
            point.len() <= n && point.last() != Some(&0) && digits.all(|in_range| in_range)
        };
        let ends = in_range(&self.end) || self.end == interval::Interval::whole(n).end;
        self.begin < self.end && in_range(&self.begin) && ends
    }
}
