//! [`Rows`]: one row of a sparse matrix, or three, and the columns they have in common.

use super::matrix::CsrView;
use crate::real::Real;

/// Rows that are worked on together.
pub const TOGETHER: usize = 3;

/// One row, or three.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, T> {
    /// Their number: 1 or [`TOGETHER`].
    pub count: usize,
    /// The columns that all of them have.
    pub common: &'a [u32],
    /// The columns that follow, as far as known.
    pub next: &'a [u32],
    /// The values of each row there.
    pub values: [&'a [T]; TOGETHER],
    /// The other columns of each row, with their values.
    pub beside: [(&'a [u32], &'a [T]); TOGETHER],
}

/// Results larger than this many bytes bypass the caches.
pub const LARGE: usize = 1 << 22;

/// How results and rows of the dense matrix pass through the caches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caching {
    /// How many entries ahead a row of the dense matrix is fetched; 0 for not at all.
    pub ahead: usize,
    /// Whether results bypass the caches.
    pub streams: bool,
}

/// Buffers for rows whose columns differ.
#[derive(Debug, Default)]
pub struct Sorted<T> {
    common: Vec<u32>,
    values: [Vec<T>; TOGETHER],
    columns: [Vec<u32>; TOGETHER],
    others: [Vec<T>; TOGETHER],
}

/// At least this fraction of the longest of three rows must be common to all; otherwise single rows are faster.
const ENOUGH: f64 = 0.5;

impl<'a, T: Real> Rows<'a, T> {
    /// A single row.
    #[must_use]
    pub fn one(matrix: CsrView<'a, T>, row: usize) -> Self {
        let (common, values) = matrix.of_row(row);
        let none: (&[u32], &[T]) = (&[], &[]);
        // Rows may be shorter than the prefetch distance.
        let next = &matrix.columns[matrix.starts[row]..];
        Self { count: 1, common, next, values: [values, &[], &[]], beside: [none; TOGETHER] }
    }

    /// This row and the next two, if they have enough in common.
    #[must_use]
    pub fn three(matrix: CsrView<'a, T>, row: usize, sorted: &'a mut Sorted<T>) -> Option<Self> {
        let rows = [0, 1, 2].map(|more| matrix.of_row(row + more));
        let none: (&[u32], &[T]) = (&[], &[]);
        if rows[0].0 == rows[1].0 && rows[1].0 == rows[2].0 {
            let values = rows.map(|row| row.1);
            return Some(Self {
                count: TOGETHER,
                common: rows[0].0,
                next: rows[0].0,
                values,
                beside: [none; TOGETHER],
            });
        }
        let longest = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
        let shortest = rows.iter().map(|row| row.0.len()).min().unwrap_or(0);
        let enough = |common: usize| common as f64 >= ENOUGH * longest as f64;
        if !enough(shortest) {
            return None;
        }
        sorted.part(rows);
        let Sorted { common, values, columns, others } = &*sorted;
        enough(common.len()).then(|| Self {
            count: TOGETHER,
            common,
            next: common,
            values: std::array::from_fn(|r| &*values[r]),
            beside: std::array::from_fn(|r| (&*columns[r], &*others[r])),
        })
    }
}

impl<T: Real> Sorted<T> {
    /// Separates what three rows have in common from the rest. Columns ascend.
    fn part(&mut self, rows: [(&[u32], &[T]); TOGETHER]) {
        self.common.clear();
        for r in 0..TOGETHER {
            self.values[r].clear();
            self.columns[r].clear();
            self.others[r].clear();
        }
        let mut at = [0; TOGETHER];
        loop {
            let next = |r: usize| rows[r].0.get(at[r]).copied();
            let next: [Option<u32>; TOGETHER] = std::array::from_fn(next);
            let Some(least) = next.into_iter().flatten().min() else { return };
            let has = next.map(|column| column == Some(least));
            let all = has == [true; TOGETHER];
            if all {
                self.common.push(least);
            }
            for r in (0..TOGETHER).filter(|&r| has[r]) {
                let value = rows[r].1[at[r]];
                at[r] += 1;
                if all {
                    self.values[r].push(value);
                } else {
                    self.columns[r].push(least);
                    self.others[r].push(value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::matrix::Csr;

    #[test]
    fn what_three_rows_share_is_parted_from_the_rest() {
        let rows = [vec![0, 2, 3, 9], vec![0, 3, 4, 9], vec![0, 1, 3, 9]];
        let entries: Vec<(u32, u32, f64)> = (0..3u32)
            .flat_map(|r| rows[r as usize].iter().map(move |&c| (r, c, f64::from(10 * r + c))))
            .collect();
        let matrix = Csr::of(4, 10, &entries);
        let mut sorted = Sorted::default();
        let three = Rows::three(matrix.view(), 0, &mut sorted).unwrap();
        assert_eq!((three.count, three.common), (3, &[0, 3, 9][..]));
        assert_eq!(three.values[1], [10.0, 13.0, 19.0]);
        assert_eq!(three.beside[2], (&[1][..], &[21.0][..]));
        assert!(Rows::three(matrix.view(), 1, &mut sorted).is_none(), "the last row is empty");
        assert_eq!(Rows::one(matrix.view(), 3).common, [0u32; 0]);
    }
}
