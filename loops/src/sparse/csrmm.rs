//! [`Csrmm`]: a sparse matrix times a dense one.

use super::matrix::{Checked, CsrView, Dense, DenseView};
use super::rows::{Caching, LARGE, Rows, Sorted, TOGETHER};
use super::words::{MOST_WORDS, append};
use crate::looping::{Cells, Loop, LoopOnDevice, RemoteLoop};
use crate::real::Real;
#[cfg(target_arch = "x86_64")]
use crate::simd::csrmm as simd;
use pleach_core::search::device::Layout;
use pleach_core::search::level::Level;
use std::ops::Range;

/// Numbers for which there is vector code.
pub trait Products: Real {
    /// Writes rows of the product with a dense matrix, given as its numbers and its width.
    #[doc(hidden)]
    fn rows(
        level: Level,
        rows: &Rows<'_, Self>,
        dense: (&[Self], usize),
        how: Caching,
        out: &mut [Self],
    );
}

macro_rules! products {
    ($number:ty, $wide:ident, $half:ident) => {
        impl Products for $number {
            fn rows(
                level: Level,
                rows: &Rows<'_, Self>,
                dense: (&[Self], usize),
                how: Caching,
                out: &mut [Self],
            ) {
                match level {
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => simd::$wide(rows, dense, how, out),
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => simd::$half(rows, dense, how, out),
                    _ => plain(rows, dense, out),
                }
            }
        }
    };
}

products!(f32, wide_f32, half_f32);
products!(f64, wide_f64, half_f64);

/// The same without vector code.
fn plain<T: Real>(rows: &Rows<'_, T>, (dense, width): (&[T], usize), out: &mut [T]) {
    out.fill(T::default());
    for (r, out) in out.chunks_mut(width.max(1)).enumerate() {
        let common = rows.common.iter().zip(rows.values[r]);
        let (columns, values) = rows.beside[r];
        for (&column, &value) in common.chain(columns.iter().zip(values)) {
            let row = &dense[column as usize * width..][..width];
            out.iter_mut().zip(row).for_each(|(sum, &x)| *sum += value * x);
        }
    }
}

/// The maximum number of rows of a unit.
const ROWS: usize = 32 * TOGETHER;
/// If this many triples of a unit have too little in common, the rest are not tried.
const TRIES: usize = 4;
/// If columns jump, rows of the dense matrix are fetched this many entries ahead.
const AHEAD: usize = 16;
/// Columns jump if they are on average this many bytes apart.
const JUMP: usize = 1 << 18;

/// A sparse matrix times a dense one. Its units are blocks of rows.
pub struct Csrmm<'a, T> {
    sparse: CsrView<'a, T>,
    dense: DenseView<'a, T>,
    pub(super) result: Cells<'a, T>,
    /// Rows of a unit: fewer if they are wide, because the results of a unit travel in one message.
    each: usize,
    level: Level,
    how: Caching,
}

impl<'a, T: Products> Csrmm<'a, T> {
    /// The product of two matrices, written into a third.
    ///
    /// # Errors
    /// If their sizes do not match.
    pub fn new(
        sparse: Checked<CsrView<'a, T>>,
        dense: DenseView<'a, T>,
        result: &'a mut Dense<T>,
        level: Level,
    ) -> Result<Self, String> {
        if sparse.width != dense.height() {
            let (width, height) = (sparse.width, dense.height());
            return Err(format!("{width} columns times {height} rows: expected equal numbers"));
        }
        assert_eq!((result.height(), result.width), (sparse.height(), dense.width()));
        let width = dense.width();
        let how = Caching {
            ahead: if jump(*sparse) * width * size_of::<T>() > JUMP { AHEAD } else { 0 },
            streams: size_of_val(result.numbers()) > LARGE,
        };
        let rows = sparse.height();
        let fit = MOST_WORDS / width.saturating_mul(T::WORDS).max(1);
        let each = (fit / TOGETHER * TOGETHER).clamp(TOGETHER, ROWS);
        let lengths = (0..rows).step_by(each).map(|row| each.min(rows - row) * width);
        let result = Cells::cut(result.numbers_mut(), lengths);
        Ok(Self { sparse: *sparse, dense, result, each, level, how })
    }

    /// Floating-point operations of the whole product.
    #[must_use]
    pub fn operations(&self) -> f64 {
        2.0 * self.sparse.entries() as f64 * self.dense.width() as f64
    }

    /// The rows of these units.
    fn rows(&self, units: &Range<usize>) -> Range<usize> {
        let row = |unit: usize| (unit * self.each).min(self.sparse.height());
        row(units.start)..row(units.end)
    }

    fn block(&self, unit: usize, sorted: &mut Sorted<T>) {
        let (rows, width) = (self.rows(&(unit..unit + 1)), self.dense.width());
        let dense = (self.dense.numbers(), width);
        let mut out = self.result.part(unit);
        let (mut row, mut failed) = (rows.start, 0);
        while row < rows.end {
            let tried = row + TOGETHER <= rows.end && failed < TRIES;
            let three = tried.then(|| Rows::three(self.sparse, row, sorted)).flatten();
            failed += usize::from(tried && three.is_none());
            let group = three.unwrap_or_else(|| Rows::one(self.sparse, row));
            let out = &mut out[(row - rows.start) * width..][..group.count * width];
            T::rows(self.level, &group, dense, self.how, out);
            row += group.count;
        }
        #[cfg(target_arch = "x86_64")]
        if self.how.streams {
            simd::settle();
        }
    }
}

/// The mean distance between successive columns of a row, over some rows.
fn jump<T: Real>(matrix: CsrView<'_, T>) -> usize {
    let (mut sum, mut count) = (0, 1);
    for row in (0..matrix.height()).step_by(1 + matrix.height() / 1000) {
        let (columns, _) = matrix.of_row(row);
        sum += columns.windows(2).map(|two| two[1].abs_diff(two[0]) as usize).sum::<usize>();
        count += columns.len();
    }
    sum / count
}

impl<T: Products> Loop for Csrmm<'_, T> {
    type Local = Sorted<T>;

    fn units(&self) -> usize {
        self.sparse.height().div_ceil(self.each)
    }

    fn cost_before(&self, unit: usize) -> f64 {
        let row = (unit * self.each).min(self.sparse.height());
        (self.sparse.starts[row] + 2 * row) as f64
    }

    fn local(&self) -> Sorted<T> {
        Sorted::default()
    }

    fn run(&self, units: Range<usize>, sorted: &mut Sorted<T>) {
        units.for_each(|unit| self.block(unit, sorted));
    }

    fn on_device(&self) -> Option<&dyn LoopOnDevice> {
        let words = self.sparse.entries() + self.sparse.height() + 2;
        let fits = u32::try_from(words).is_ok() && self.dense.width() > 0;
        fits.then_some(self)
    }

    fn remote(&self) -> Option<&dyn RemoteLoop> {
        Some(self)
    }
}

impl<T: Products> LoopOnDevice for Csrmm<'_, T> {
    fn layout(&self, wanted: &dyn Fn() -> bool) -> Option<Layout> {
        let (sparse, width) = (self.sparse, self.dense.width());
        let mut tables: Vec<u32> = sparse.starts.iter().map(|&start| start as u32).collect();
        let numbers = [sparse.values, self.dense.numbers()];
        let words = numbers.iter().map(|numbers| numbers.len() * T::WORDS + 1).sum::<usize>();
        tables.reserve_exact(sparse.entries() + words);
        tables.extend(sparse.columns);
        for numbers in numbers {
            append(numbers, &mut tables, wanted)?;
        }
        let values = [T::WORDS - 1, width, sparse.height(), sparse.entries()];
        Some(Layout {
            kernel: "loop_csrmm",
            parallel: None,
            values: values.map(|value| value as u32).to_vec(),
            words: 2,
            width: MOST_WORDS.max(self.each * width * T::WORDS),
            tables,
            ..Layout::default()
        })
    }

    fn words(&self, units: &Range<usize>) -> usize {
        self.rows(units).len() * self.dense.width() * T::WORDS
    }

    fn order(&self, units: &Range<usize>, words: &mut Vec<u32>) {
        let rows = self.rows(units);
        words.extend([rows.start as u32, rows.len() as u32]);
    }

    fn store(&self, units: Range<usize>, results: &[u32]) {
        let mut numbers = results.chunks_exact(T::WORDS).map(T::read);
        for unit in units {
            self.result
                .part(unit)
                .iter_mut()
                .zip(&mut numbers)
                .for_each(|(to, number)| *to = number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::generate::named;
    use crate::sparse::matrix::Csr;

    /// The product by definition.
    fn expected<T: Real>(sparse: &Csr<T>, dense: &Dense<T>) -> Vec<T> {
        let mut out = Vec::new();
        for row in 0..sparse.height() {
            let (columns, values) = sparse.of_row(row);
            for at in 0..dense.width {
                let terms = columns.iter().zip(values);
                let sum: f64 =
                    terms.map(|(&c, &v)| v.into() * dense.row(c as usize)[at].into()).sum();
                out.push(T::of(sum));
            }
        }
        out
    }

    /// Whole numbers, so that sums do not depend on the order of adding.
    fn check<T: Products>(matrix: &Csr<f64>, widths: impl Iterator<Item = usize>) {
        let mut matrix = matrix.cast::<T>();
        matrix.values.iter_mut().for_each(|value| *value = T::of(((*value).into() * 9.0).round()));
        let matrix = matrix.checked().unwrap();
        for width in widths {
            let number =
                |row: usize, column: usize| T::of(((row * 7 + column * 3) % 11) as f64 - 5.0);
            let dense = Dense::by(matrix.width, width, number).unwrap();
            let expected = expected(&matrix, &dense);
            for level in Level::ALL.into_iter().filter(|level| level.works()) {
                for how in [Caching::default(), Caching { ahead: 2, streams: true }] {
                    let mut out = Dense::by(matrix.height(), width, |_, _| T::of(99.0)).unwrap();
                    let mut product =
                        Csrmm::new(matrix.checked_view(), dense.view(), &mut out, level).unwrap();
                    product.how = how;
                    let units = product.units();
                    let local = &mut product.local();
                    product.run(units / 2..units, local);
                    product.run(0..units / 2, local);
                    assert!(
                        out.numbers() == expected,
                        "{width} columns, {level}, {how:?}, {}",
                        T::NAME
                    );
                }
            }
        }
    }

    #[test]
    fn products_are_right_whatever_the_width_and_the_level() {
        for word in ["fem:700", "fem2:301", "web:500x4", "random:200x9", "grid:130", "dense:17"] {
            let matrix = named(word, 5).unwrap().unwrap();
            check::<f32>(&matrix, [0, 1, 15, 16, 17, 64, 100, 130].into_iter());
            check::<f64>(&matrix, [1, 7, 8, 33, 64, 67].into_iter());
        }
        let wide = named("fem:90", 2).unwrap().unwrap();
        check::<f32>(&wide, 1..150);
        check::<f64>(&wide, 1..80);
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let sparse = Csr::<f32>::of(2, 3, &[]).checked().unwrap();
        let dense = Dense::zeros(2, 4).unwrap();
        let why = Csrmm::new(
            sparse.checked_view(),
            dense.view(),
            &mut Dense::zeros(2, 4).unwrap(),
            Level::Off,
        )
        .err();
        assert_eq!(why.unwrap(), "3 columns times 2 rows: expected equal numbers");
        let bad = Csr { width: 2, starts: vec![0, 1], columns: vec![2], values: vec![1.0f32] };
        assert!(bad.checked().is_err());
        assert!(Dense::<f64>::zeros(1 << 40, 1 << 20).is_err());
    }
}
