//! [`Csr`]: a sparse matrix by rows, and [`CsrView`], one that is borrowed; [`Dense`] and [`DenseView`]: the same for dense ones.

use crate::real::Real;
use crate::simd::pages::in_large_pages;
use std::ops::{Deref, Range};

/// A sparse matrix by rows. The columns of each row ascend without duplicates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Csr<T> {
    /// Columns.
    pub width: usize,
    /// Where each row's entries begin, and where the last row's end.
    pub starts: Vec<usize>,
    /// The column of each entry.
    pub columns: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<T>,
}

impl<T: Real> Csr<T> {
    /// A matrix of these entries (row, column, value), in any order. Entries at the same place are added.
    ///
    /// # Panics
    /// If an entry is outside the matrix.
    #[must_use]
    pub fn of(height: usize, width: usize, entries: &[(u32, u32, T)]) -> Self {
        let mut starts = vec![0; height + 1];
        entries.iter().for_each(|entry| starts[entry.0 as usize + 1] += 1);
        (0..height).for_each(|row| starts[row + 1] += starts[row]);
        let mut next = starts.clone();
        let (mut columns, mut values) = (vec![0; entries.len()], vec![T::default(); entries.len()]);
        for &(row, column, value) in entries {
            assert!((column as usize) < width, "column {column} of {width}");
            let at = &mut next[row as usize];
            (columns[*at], values[*at]) = (column, value);
            *at += 1;
        }
        let mut matrix = Self { width, starts, columns, values };
        matrix.sort();
        matrix
    }

    /// The same matrix, checked.
    ///
    /// # Errors
    /// As [`CsrView::check`].
    pub fn checked(self) -> Result<Checked<Self>, String> {
        self.view().check()?;
        Ok(Checked(self))
    }

    /// The same matrix, borrowed.
    #[must_use]
    pub fn view(&self) -> CsrView<'_, T> {
        let Self { width, starts, columns, values } = self;
        CsrView { width: *width, starts, columns, values }
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.view().height()
    }

    /// Entries that are stored.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The columns and the values of a row.
    #[must_use]
    pub fn of_row(&self, row: usize) -> (&[u32], &[T]) {
        self.view().of_row(row)
    }

    /// Sorts the entries of each row by column, and adds those at the same place.
    pub fn sort(&mut self) {
        let mut kept = 0;
        let mut entries: Vec<(u32, T)> = Vec::new();
        for row in 0..self.height() {
            let at = self.view().row(row);
            entries.clear();
            entries.extend(at.clone().map(|i| (self.columns[i], self.values[i])));
            // A stable sort, so that entries at the same place are added in the order given.
            entries.sort_by_key(|entry| entry.0);
            self.starts[row] = kept;
            for &(column, value) in &entries {
                if kept > self.starts[row] && self.columns[kept - 1] == column {
                    self.values[kept - 1] += value;
                } else {
                    (self.columns[kept], self.values[kept]) = (column, value);
                    kept += 1;
                }
            }
        }
        if let Some(end) = self.starts.last_mut() {
            *end = kept;
        }
        self.columns.truncate(kept);
        self.values.truncate(kept);
    }

    /// The same matrix in another precision.
    #[must_use]
    pub fn cast<U: Real>(&self) -> Csr<U> {
        Csr {
            width: self.width,
            starts: self.starts.clone(),
            columns: self.columns.clone(),
            values: self.values.iter().map(|&value| U::of(value.into())).collect(),
        }
    }

    /// The sum of all values.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.values.iter().map(|&value| value.into()).sum()
    }
}

/// A sparse matrix by rows that others own.
#[derive(Clone, Copy, Debug)]
pub struct CsrView<'a, T> {
    /// Columns.
    pub width: usize,
    /// Where each row's entries begin, and where the last row's end.
    pub starts: &'a [usize],
    /// The column of each entry.
    pub columns: &'a [u32],
    /// The value of each entry.
    pub values: &'a [T],
}

impl<'a, T> CsrView<'a, T> {
    /// Checks that rows are consecutive, and that the columns of each ascend and are in range, because the fields are
    /// public.
    ///
    /// # Errors
    /// If they are not.
    pub fn check(&self) -> Result<(), String> {
        let ends = self.starts.first() == Some(&0) && self.starts.is_sorted();
        let entries = self.columns.len();
        let whole = self.starts.last() == Some(&entries) && self.values.len() == entries;
        let most = self.columns.iter().fold(0, |most, &column| most.max(column));
        let inside = entries == 0 || (most as usize) < self.width;
        if !(ends && whole && inside) {
            return Err("the parts of a sparse matrix do not match".into());
        }
        if !self.ascends() {
            return Err("the columns of a sparse matrix are out of order".into());
        }
        Ok(())
    }

    /// Whether the columns of each row ascend: where columns do not ascend, a row must begin. Comparing all columns at
    /// once is much faster than going row by row.
    fn ascends(&self) -> bool {
        let all = self.columns.iter().zip(self.columns.iter().skip(1));
        let all: u64 = all.map(|(one, next)| u64::from(one >= next)).sum();
        let rows = self.starts.windows(2).filter(|row| 0 < row[0] && row[0] < row[1]);
        let falls = rows.filter(|row| self.columns[row[0] - 1] >= self.columns[row[0]]);
        all == falls.count() as u64
    }

    /// The same matrix, checked.
    ///
    /// # Errors
    /// As [`CsrView::check`].
    pub fn checked(self) -> Result<Checked<Self>, String> {
        self.check()?;
        Ok(Checked(self))
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Entries that are stored.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Whether this is the other matrix, in the same memory.
    #[must_use]
    pub fn is_same_memory(&self, other: &Self) -> bool {
        self.width == other.width
            && std::ptr::eq(self.starts, other.starts)
            && std::ptr::eq(self.columns, other.columns)
            && std::ptr::eq(self.values, other.values)
    }

    /// Where the entries of a row are.
    #[must_use]
    pub fn row(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// The columns and the values of a row.
    #[must_use]
    pub fn of_row(&self, row: usize) -> (&'a [u32], &'a [T]) {
        let at = self.row(row);
        (&self.columns[at.clone()], &self.values[at])
    }
}

/// A sparse matrix that was checked, and that nothing may change. A check takes up to a tenth of the time of a product.
#[derive(Clone, Copy, Debug)]
pub struct Checked<M>(M);

impl<T: Real> Checked<Csr<T>> {
    /// The same matrix in another precision.
    #[must_use]
    pub fn cast<U: Real>(&self) -> Checked<Csr<U>> {
        Checked(self.0.cast())
    }

    /// The same matrix, borrowed.
    #[must_use]
    pub fn checked_view(&self) -> Checked<CsrView<'_, T>> {
        Checked(self.0.view())
    }
}

impl<M> Deref for Checked<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0
    }
}

/// A dense matrix by rows, whose first row begins at a cache line.
#[derive(Debug)]
pub struct Dense<T> {
    /// Columns.
    pub width: usize,
    height: usize,
    numbers: Vec<T>,
    /// Where the first row begins.
    begin: usize,
}

/// Bytes of a cache line.
const LINE: usize = 64;

impl<T: Real> Dense<T> {
    /// A matrix of zeros.
    ///
    /// # Errors
    /// If memory does not suffice.
    pub fn zeros(height: usize, width: usize) -> Result<Self, String> {
        let more = LINE / size_of::<T>();
        let size = height.checked_mul(width).and_then(|size| size.checked_add(more));
        // Only to try the size: the system hands out zeroed memory faster than we could write it.
        let fits = |&size: &usize| Vec::<T>::new().try_reserve_exact(size).is_ok();
        let too_large = || format!("{height} × {width} numbers: too many for memory");
        let mut numbers = vec![T::default(); size.filter(fits).ok_or_else(too_large)?];
        in_large_pages(&mut numbers);
        let begin = numbers.as_ptr().align_offset(LINE);
        Ok(Self { width, height, numbers, begin })
    }

    /// A matrix with these numbers.
    ///
    /// # Errors
    /// If memory does not suffice.
    pub fn by(
        height: usize,
        width: usize,
        number: impl Fn(usize, usize) -> T,
    ) -> Result<Self, String> {
        let mut dense = Self::zeros(height, width)?;
        for row in 0..height {
            let at = dense.begin + row * width;
            let numbers = dense.numbers[at..at + width].iter_mut().enumerate();
            numbers.for_each(|(column, it)| *it = number(row, column));
        }
        Ok(dense)
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// All numbers, row by row.
    #[must_use]
    pub fn numbers(&self) -> &[T] {
        &self.numbers[self.begin..self.begin + self.height * self.width]
    }

    /// All numbers, row by row.
    #[must_use]
    pub fn numbers_mut(&mut self) -> &mut [T] {
        &mut self.numbers[self.begin..self.begin + self.height * self.width]
    }

    /// The same matrix, borrowed.
    #[must_use]
    pub fn view(&self) -> DenseView<'_, T> {
        DenseView { width: self.width, height: self.height, numbers: self.numbers() }
    }

    /// The memory of the numbers, and where the first row begins in it.
    #[must_use]
    pub fn into_memory(self) -> (Vec<T>, usize) {
        (self.numbers, self.begin)
    }

    /// A row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[T] {
        &self.numbers()[row * self.width..][..self.width]
    }

    /// The sum of all numbers.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.numbers().iter().map(|&number| number.into()).sum()
    }
}

/// A dense matrix by rows that others own.
#[derive(Clone, Copy, Debug)]
pub struct DenseView<'a, T> {
    width: usize,
    height: usize,
    numbers: &'a [T],
}

impl<'a, T> DenseView<'a, T> {
    /// A matrix with these numbers, row by row.
    ///
    /// # Errors
    /// If there are more or fewer numbers than it has.
    pub fn new(height: usize, width: usize, numbers: &'a [T]) -> Result<Self, String> {
        if height.checked_mul(width) == Some(numbers.len()) {
            Ok(Self { width, height, numbers })
        } else {
            Err(format!("{height} × {width}: expected as many numbers, not {}", numbers.len()))
        }
    }

    /// Columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// All numbers, row by row.
    #[must_use]
    pub fn numbers(&self) -> &'a [T] {
        self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_out_of_order_are_refused() {
        let of = |columns: &[u32]| Csr {
            width: 9,
            starts: vec![0, 0, 2, 2, 5],
            columns: columns.to_vec(),
            values: vec![1.0; 5],
        };
        assert!(
            of(&[3, 4, 1, 2, 8]).view().check().is_ok()
                && of(&[3, 8, 8, 9 - 1, 8]).view().check().is_err()
        );
        for bad in [[4, 3, 1, 2, 8], [3, 3, 1, 2, 8], [3, 4, 2, 1, 8], [3, 4, 1, 2, 2]] {
            assert!(of(&bad).view().check().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn entries_of_one_place_are_added_and_columns_ascend() {
        let entries = [(1, 2, 1.0), (0, 1, 2.0), (1, 0, 3.0), (1, 2, 4.0)];
        let matrix: Csr<f64> = Csr::of(3, 3, &entries);
        assert_eq!(matrix.starts, [0, 1, 3, 3]);
        assert_eq!(matrix.of_row(1), (&[0, 2][..], &[3.0, 5.0][..]));
        assert_eq!((matrix.height(), matrix.entries(), matrix.sum()), (3, 3, 10.0));
        assert_eq!(matrix.cast::<f32>().values, [2.0, 3.0, 5.0]);
    }

    #[test]
    fn the_first_row_of_a_dense_matrix_begins_at_a_cache_line() {
        let dense = Dense::<f32>::by(3, 5, |row, column| (row * 10 + column) as f32).unwrap();
        assert_eq!(dense.numbers().as_ptr().align_offset(LINE), 0);
        assert_eq!(dense.row(2), [20.0, 21.0, 22.0, 23.0, 24.0]);
        assert_eq!(Dense::<f64>::zeros(0, 7).unwrap().sum(), 0.0);
    }
}
