//! [`LentRanges`]: the ranges of a loop that another process has, and which of their results have come back.

use std::collections::VecDeque;
use std::ops::Range;

/// The ranges that another process has.
#[derive(Clone, Debug, Default)]
pub(super) struct LentRanges {
    /// In the order in which they were handed out.
    open: VecDeque<LentRange>,
}

/// A range handed out to the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LentRange {
    pub number: u32,
    pub rows: Range<u32>,
    /// Results of all rows before this one are here.
    rows_here: u32,
}

/// How returned results fit the ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReturnedRange {
    /// They are no longer needed.
    Late,
    /// They are not those of the next rows.
    Wrong,
    /// They are the expected ones.
    Good,
}

impl LentRanges {
    /// The number of ranges.
    pub fn count(&self) -> usize {
        self.open.len()
    }

    /// Adds a range.
    pub fn insert(&mut self, number: u32, rows: Range<u32>) {
        self.open.push_back(LentRange { number, rows_here: rows.start, rows });
    }

    /// How results of these rows, returned under this number, fit the ranges.
    pub fn expects(&self, number: u32, rows: &Range<u32>) -> ReturnedRange {
        let Some(lent_range) = self.open.iter().find(|lent_range| lent_range.number == number)
        else {
            return ReturnedRange::Late;
        };
        if rows.start != lent_range.rows_here || rows.end > lent_range.rows.end || rows.is_empty() {
            return ReturnedRange::Wrong;
        }
        ReturnedRange::Good
    }

    /// Records expected results. Returns whether they are the last of their range.
    pub fn add_results(&mut self, number: u32, rows: &Range<u32>) -> bool {
        let Some(at) = self.open.iter().position(|lent_range| lent_range.number == number) else {
            return false;
        };
        let lent_range = &mut self.open[at];
        lent_range.rows_here = rows.end;
        let last = lent_range.rows_here == lent_range.rows.end;
        if last {
            self.open.remove(at);
        }
        last
    }

    /// Takes back all rows without results.
    pub fn take_back(&mut self) -> Vec<Range<u32>> {
        let rows = |lent_range: LentRange| lent_range.rows_here..lent_range.rows.end;
        self.open.drain(..).map(rows).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn come(lent: &mut LentRanges, number: u32, rows: Range<u32>) -> ReturnedRange {
        let means = lent.expects(number, &rows);
        if means == ReturnedRange::Good {
            lent.add_results(number, &rows);
        }
        means
    }

    #[test]
    fn what_has_not_come_is_taken_back() {
        let mut lent = LentRanges::default();
        lent.insert(1, 0..10);
        lent.insert(2, 20..30);
        assert_eq!(come(&mut lent, 1, 0..4), ReturnedRange::Good);
        assert_eq!(come(&mut lent, 2, 20..30), ReturnedRange::Good);
        assert_eq!(come(&mut lent, 2, 20..30), ReturnedRange::Late);
        assert_eq!(lent.count(), 1);
        assert!(lent.take_back().iter().eq([&(4..10)]));
        assert_eq!(come(&mut lent, 1, 4..10), ReturnedRange::Late);
        assert!(lent.take_back().is_empty());
    }

    #[test]
    fn results_come_in_their_order() {
        let mut lent = LentRanges::default();
        lent.insert(1, 5..10);
        for rows in [4..10, 6..10, 5..11, 5..5] {
            assert_eq!(lent.expects(1, &rows), ReturnedRange::Wrong, "{rows:?}");
        }
        assert!(!lent.add_results(1, &(5..7)));
        assert!(lent.add_results(1, &(7..10)));
    }

    #[test]
    fn results_that_cannot_be_read_are_still_missing() {
        let mut lent = LentRanges::default();
        lent.insert(1, 0..3);
        assert_eq!(lent.expects(1, &(0..3)), ReturnedRange::Good);
        assert!(lent.take_back().iter().eq([&(0..3)]));
    }
}
