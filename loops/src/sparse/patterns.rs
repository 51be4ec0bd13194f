//! [`Patterns`]: where the entries of a matrix are, in forms that are faster to work with than columns one by one.

use super::matrix::Csr;
use crate::real::Real;
use std::ops::Range;

/// Columns that follow one another in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first column.
    pub column: u32,
    /// How many there are.
    pub length: u32,
}

/// Too long, or too far.
const FAR: u8 = u8::MAX;

/// Runs of fewer entries on average are not worth the trouble: measured with meshes and lattices.
const SHORT: f64 = 5.0;

/// Rows whose runs are worked on together at most.
pub const MOST: usize = 9;

/// A matrix whose columns ascend, and where its entries are.
///
/// The runs of a row cover its entries: a pattern is made of its matrix, which cannot change meanwhile.
#[derive(Debug)]
pub struct Patterned<'a, T> {
    matrix: &'a Csr<T>,
    patterns: Patterns,
}

impl<'a, T: Real> Patterned<'a, T> {
    /// A matrix with its patterns, if its runs are long enough to be of use.
    #[must_use]
    pub fn worthwhile(matrix: &'a Csr<T>) -> Option<Self> {
        let (mut entries, mut runs) = (0, 0);
        for row in (0..matrix.height()).step_by(1 + matrix.height() / 1000) {
            let (columns, _) = matrix.of_row(row);
            entries += columns.len();
            runs += columns.len() - columns.windows(2).filter(|two| two[1] == two[0] + 1).count();
        }
        let long = entries as f64 >= SHORT * f64::from(runs as u32).max(1.0);
        long.then(|| Self { matrix, patterns: Patterns::of(matrix) })
    }

    /// The matrix.
    #[must_use]
    #[inline]
    pub fn matrix(&self) -> &'a Csr<T> {
        self.matrix
    }

    /// Its patterns.
    #[must_use]
    #[inline]
    pub fn patterns(&self) -> &Patterns {
        &self.patterns
    }
}

/// Where the entries of a matrix are.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    /// For each row, where its runs begin, and where the last one's end.
    run_starts: Vec<usize>,
    runs: Vec<Run>,
    /// The longest run of each row, and how far the runs of the next row are from its own at most; [`FAR`] if there
    /// are more of them, or fewer, or that is further.
    longest: Vec<u8>,
    reach: Vec<u8>,
}

impl Patterns {
    /// The patterns of a matrix whose columns ascend.
    fn of<T: Real>(matrix: &Csr<T>) -> Self {
        let height = matrix.starts.len().saturating_sub(1);
        let columns = |row: usize| &matrix.columns[matrix.starts[row]..matrix.starts[row + 1]];
        let mut patterns = Self { run_starts: vec![0], ..Self::default() };
        for row in 0..height {
            let twin = row > 0 && columns(row) == columns(row - 1);
            if twin {
                patterns.runs.extend_from_within(patterns.run_range(row - 1));
            } else {
                patterns.add(columns(row));
            }
            patterns.run_starts.push(patterns.runs.len());
        }
        let small = |number: u32| number.min(FAR.into()) as u8;
        let longest = |row| patterns.runs(row).iter().map(|run| run.length).max().unwrap_or(0);
        let reach = |row: usize| {
            if row + 1 == height || patterns.runs(row).len() != patterns.runs(row + 1).len() {
                return FAR;
            }
            let both = patterns.runs(row).iter().zip(patterns.runs(row + 1));
            small(both.map(|(one, next)| one.column.abs_diff(next.column)).max().unwrap_or(0))
        };
        let longest = (0..height).map(|row| small(longest(row))).collect();
        let reach = (0..height).map(reach).collect();
        Self { longest, reach, ..patterns }
    }

    fn add(&mut self, columns: &[u32]) {
        let runs = self.runs.len();
        for &column in columns {
            match self.runs[runs..].last_mut() {
                Some(last) if last.column + last.length == column => last.length += 1,
                _ => self.runs.push(Run { column, length: 1 }),
            }
        }
    }

    fn run_range(&self, row: usize) -> Range<usize> {
        self.run_starts[row]..self.run_starts[row + 1]
    }

    /// The columns of a row as runs.
    #[must_use]
    #[inline]
    pub fn runs(&self, row: usize) -> &[Run] {
        &self.runs[self.run_range(row)]
    }

    /// The runs of some rows, which are as many in each.
    ///
    /// # Panics
    /// If they are not, or there are more than [`MOST`] rows.
    #[must_use]
    #[inline]
    pub fn runs_of(&self, row: usize, count: usize) -> [&[Run]; MOST] {
        let mut all: [&[Run]; MOST] = [&[]; MOST];
        for (k, runs) in all[..count].iter_mut().enumerate() {
            *runs = self.runs(row + k);
        }
        assert!(all[..count].iter().all(|runs| runs.len() == all[0].len()));
        all
    }

    /// How many of these columns, from the first on, follow one another and stand for rows whose runs lie together: the
    /// first runs of all of them within `window` columns, and so the second ones, and so on. At least one, at most
    /// [`MOST`]; none if even the first row has a longer run.
    #[must_use]
    pub fn together(&self, columns: &[u32], window: usize) -> usize {
        let Some(&first) = columns.first() else { return 0 };
        let (mut longest, mut reach, mut count) = (self.longest[first as usize], 0usize, 1);
        if usize::from(longest) > window {
            return 0;
        }
        while count < MOST && columns.get(count) == Some(&(first + count as u32)) {
            let row = first as usize + count;
            let far = reach + usize::from(self.reach[row - 1]);
            let long = longest.max(self.longest[row]);
            if far + usize::from(long) > window {
                break;
            }
            (reach, longest, count) = (far, long, count + 1);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_known_by_their_runs() {
        let columns: [&[u32]; 5] = [&[0, 1, 63, 64], &[0, 1, 63, 64], &[], &[], &[200]];
        let entries = |(row, columns): (usize, &&[u32])| -> Vec<(u32, u32, f64)> {
            columns.iter().map(|&column| (row as u32, column, 1.0)).collect()
        };
        let entries: Vec<_> = columns.iter().enumerate().flat_map(entries).collect();
        let patterns = Patterns::of(&Csr::of(5, 300, &entries));
        let runs = [Run { column: 0, length: 2 }, Run { column: 63, length: 2 }];
        assert_eq!(patterns.runs(0), runs);
        assert_eq!(patterns.together(&[0, 1, 2], 8), 2);
        assert_eq!(patterns.together(&[0, 2], 8), 1);
        assert_eq!(patterns.together(&[0], 1), 0);
    }
}
