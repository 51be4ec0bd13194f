//! Sparse × sparse, row by row, in two loops: [`Counting`] determines the length of each row of the product, [`Adding`]
//! fills them.

pub use super::factors::{Factors, Local};
use super::matrix::{Checked, Csr, CsrView};
use super::rows::LARGE;
use super::sums::Sums;
use crate::looping::{Cells, Loop, LoopOnDevice, RemoteLoop};
use crate::real::Real;
use crate::simd::pages::in_large_pages;
#[cfg(target_arch = "x86_64")]
use crate::simd::spmm as simd;
use pleach_core::search::level::Level;
use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Numbers for which there is vector code.
pub trait Sparse: Real {
    /// Adds rows of the first matrix that have the same columns, times the second.
    #[doc(hidden)]
    fn add_rows(
        level: Level,
        a: (&CsrView<'_, Self>, usize, usize),
        b: &CsrView<'_, Self>,
        local: &mut Local<'_, Self>,
    );

    /// Extracts the columns and sums of the first rows, with non-temporal stores if requested. Returns whether there is
    /// room for exactly these.
    #[doc(hidden)]
    fn take_rows(
        level: Level,
        sums: &mut Sums<Self>,
        rows: usize,
        out: (&mut [u32], &mut [Self]),
        streams: bool,
    ) -> bool;
}

macro_rules! sparse {
    ($number:ty, $add:ident, $take:ident) => {
        impl Sparse for $number {
            fn add_rows(
                level: Level,
                a: (&CsrView<'_, Self>, usize, usize),
                b: &CsrView<'_, Self>,
                local: &mut Local<'_, Self>,
            ) {
                match (level, &local.windows) {
                    #[cfg(target_arch = "x86_64")]
                    (Level::Avx512, Some(b)) => simd::$add(a, (b, &local.places), &mut local.sums),
                    _ => add(a, b, &mut local.sums),
                }
            }

            fn take_rows(
                level: Level,
                sums: &mut Sums<Self>,
                rows: usize,
                (columns, values): (&mut [u32], &mut [Self]),
                streams: bool,
            ) -> bool {
                match level {
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => simd::$take(sums, rows, (columns, values), streams),
                    _ => sums.take(rows, columns, values),
                }
            }
        }
    };
}

sparse!(f32, add_f32, take_f32);
sparse!(f64, add_f64, take_f64);

/// Does the same as the vector code, one number at a time.
fn add<T: Real>(
    (a, row, rows): (&CsrView<'_, T>, usize, usize),
    b: &CsrView<'_, T>,
    sums: &mut Sums<T>,
) {
    for r in 0..rows {
        let (columns, values) = a.of_row(row + r);
        for (&column, &value) in columns.iter().zip(values) {
            let (columns, values) = b.of_row(column as usize);
            for (&column, &x) in columns.iter().zip(values) {
                sums.of[r][column as usize] += value * x;
            }
        }
    }
}

/// The first pass: the length of each row of the product.
pub struct Counting<'a, T> {
    pub(super) factors: &'a Factors<'a, T>,
    pub(super) lengths: Cells<'a, usize>,
}

impl<'a, T: Sparse> Counting<'a, T> {
    /// The lengths to fill in, one for each row.
    pub fn new(factors: &'a Factors<'a, T>, lengths: &'a mut [usize]) -> Self {
        let (rows, each) = (lengths.len(), factors.each);
        let parts = (0..rows).step_by(each).map(|row| each.min(rows - row));
        Self { factors, lengths: Cells::cut(lengths, parts) }
    }
}

impl<'a, T: Sparse> Loop for Counting<'a, T> {
    type Local = Local<'a, T>;

    fn units(&self) -> usize {
        self.factors.units()
    }

    fn cost_before(&self, unit: usize) -> f64 {
        self.factors.cost_before[unit]
    }

    fn local(&self) -> Local<'a, T> {
        self.factors.local()
    }

    fn run(&self, units: Range<usize>, local: &mut Local<'a, T>) {
        for unit in units {
            self.factors.fetch(unit, false);
            let mut lengths = self.lengths.part(unit);
            let first = unit * self.factors.each;
            for (row, rows) in self.factors.groups(unit) {
                let Factors { a, b, .. } = self.factors;
                if let Some(hashed) = &mut local.hashed
                    && let Some(length) = hashed.count(a, row, b)
                {
                    lengths[row - first..][..rows].fill(length);
                    continue;
                }
                self.factors.mark(row, local);
                let length = local.sums.count();
                lengths[row - first..][..rows].fill(length);
            }
        }
    }

    fn on_device(&self) -> Option<&dyn LoopOnDevice> {
        self.factors.fit_devices().then_some(self)
    }

    fn remote(&self) -> Option<&dyn RemoteLoop> {
        Some(self)
    }
}

/// Makes room for the rows of a product.
///
/// # Errors
/// If the product has too many entries for memory.
pub fn room<T: Sparse>(
    lengths: &[usize],
    width: usize,
    product: &mut Csr<T>,
) -> Result<(), String> {
    product.width = width;
    product.starts.clear();
    product.starts.push(0);
    let mut entries = 0usize;
    for length in lengths {
        entries += length;
        product.starts.push(entries);
    }
    let full = |_| format!("the product has {entries} entries: too many for memory");
    stretch(&mut product.columns, entries).map_err(full)?;
    stretch(&mut product.values, entries).map_err(full)
}

/// Resizes a list. Its content then does not matter, so memory that the system hands out as zeros is left untouched
/// until it is written.
fn stretch<N: Copy + Default>(list: &mut Vec<N>, length: usize) -> Result<(), TryReserveError> {
    if length > list.capacity() {
        *list = Vec::new();
        list.try_reserve_exact(length)?;
        *list = Vec::new();
        *list = vec![N::default(); length];
        in_large_pages(list);
    } else {
        list.resize(length, N::default());
    }
    Ok(())
}

/// The second pass: the columns and the values of each row of the product. If devices or other processes take part,
/// [`Adding::is_wrong`] says afterwards whether a row did not fit.
pub struct Adding<'a, T> {
    pub(super) factors: &'a Factors<'a, T>,
    pub(super) starts: &'a [usize],
    pub(super) columns: Cells<'a, u32>,
    pub(super) values: Cells<'a, T>,
    /// Whether the product is too large for the caches anyway.
    streams: bool,
    /// Whether a row is not as long as counted.
    wrong: AtomicBool,
}

impl<'a, T: Sparse> Adding<'a, T> {
    /// A product with room for its rows.
    pub fn new(factors: &'a Factors<'a, T>, product: &'a mut Csr<T>) -> Self {
        let (starts, rows, each) = (&*product.starts, product.starts.len() - 1, factors.each);
        let streams = size_of_val(&*product.values) > LARGE;
        let lengths = || {
            let ends = move |row: usize| starts[(row + each).min(rows)] - starts[row];
            (0..rows).step_by(each).map(ends)
        };
        let columns = Cells::cut(&mut product.columns, lengths());
        let values = Cells::cut(&mut product.values, lengths());
        Self { factors, starts, columns, values, streams, wrong: AtomicBool::new(false) }
    }

    /// Whether a row is not as long as counted, perhaps by a device or another process: the product is then wrong.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.wrong.load(Ordering::Relaxed)
    }

    /// Notes whether rows are as long as counted.
    pub(super) fn note(&self, fits: bool) {
        if !fits {
            self.wrong.store(true, Ordering::Relaxed);
        }
    }

    /// The length of a row of the product, as counted.
    pub(super) fn length(&self, row: usize) -> usize {
        self.starts[row + 1] - self.starts[row]
    }
}

impl<'a, T: Sparse> Loop for Adding<'a, T> {
    type Local = Local<'a, T>;

    fn units(&self) -> usize {
        self.factors.units()
    }

    fn cost_before(&self, unit: usize) -> f64 {
        self.factors.cost_before[unit]
    }

    fn local(&self) -> Local<'a, T> {
        self.factors.local()
    }

    fn run(&self, units: Range<usize>, local: &mut Local<'a, T>) {
        let Factors { a, b, windowed, level, .. } = self.factors;
        // If columns are scattered, vectors are nearly empty.
        let take = if *windowed { *level } else { Level::Off };
        for unit in units {
            self.factors.fetch(unit, true);
            let (mut columns, mut values) = (self.columns.part(unit), self.values.part(unit));
            let first = self.starts[unit * self.factors.each];
            for (row, rows) in self.factors.groups(unit) {
                let hashed = local.hashed.as_mut();
                let done = hashed.is_some_and(|hashed| {
                    (row..row + rows).all(|row| {
                        let place = self.starts[row] - first..self.starts[row + 1] - first;
                        let added = hashed.add(a, row, b).is_some();
                        if added {
                            let (columns, values) =
                                (&mut columns[place.clone()], &mut values[place]);
                            self.note(hashed.take(columns, values));
                        }
                        added
                    })
                });
                if done {
                    continue;
                }
                self.factors.mark(row, local);
                T::add_rows(*level, (a, row, rows), b, local);
                let place = self.starts[row] - first..self.starts[row + rows] - first;
                let out = (&mut columns[place.clone()], &mut values[place]);
                let fits = T::take_rows(take, &mut local.sums, rows, out, self.streams);
                let alike = |other: usize| self.length(other) == self.length(row);
                self.note(fits && (row + 1..row + rows).all(alike));
            }
        }
        #[cfg(target_arch = "x86_64")]
        if self.streams {
            crate::simd::csrmm::settle();
        }
    }

    fn on_device(&self) -> Option<&dyn LoopOnDevice> {
        let fits = self.factors.fit_devices() && u32::try_from(self.largest()).is_ok();
        fits.then_some(self)
    }

    fn remote(&self) -> Option<&dyn RemoteLoop> {
        Some(self)
    }
}

/// The whole product on the calling thread, written into a matrix whose memory is reused.
///
/// # Errors
/// If the sizes do not match, or memory does not suffice.
pub fn multiply<T: Sparse>(
    a: Checked<CsrView<'_, T>>,
    b: Checked<CsrView<'_, T>>,
    level: Level,
    product: &mut Csr<T>,
) -> Result<(), String> {
    all(&Factors::new(a, b, level)?, product)
}

/// The whole product of two factors on the calling thread.
///
/// # Errors
/// If memory does not suffice.
pub fn all<T: Sparse>(factors: &Factors<'_, T>, product: &mut Csr<T>) -> Result<(), String> {
    let mut lengths = vec![0; factors.a.height()];
    let counting = Counting::new(factors, &mut lengths);
    counting.run(0..factors.units(), &mut counting.local());
    drop(counting);
    room(&lengths, factors.b.width, product)?;
    let adding = Adding::new(factors, product);
    adding.run(0..factors.units(), &mut adding.local());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::generate::named;
    use std::collections::BTreeMap;

    /// The product by definition.
    fn expected<T: Real>(a: &Csr<T>, b: &Csr<T>) -> Csr<T> {
        let mut product = Csr { width: b.width, starts: vec![0], ..Csr::default() };
        for row in 0..a.height() {
            let mut sums = BTreeMap::<u32, f64>::new();
            let (columns, values) = a.of_row(row);
            for (&k, &x) in columns.iter().zip(values) {
                let (columns, values) = b.of_row(k as usize);
                for (&column, &y) in columns.iter().zip(values) {
                    *sums.entry(column).or_default() += x.into() * y.into();
                }
            }
            product.columns.extend(sums.keys());
            product.values.extend(sums.values().map(|&sum| T::of(sum)));
            product.starts.push(product.columns.len());
        }
        product
    }

    /// Products in any order equal the sorted ones; includes rows that are too long for a table.
    #[test]
    fn columns_in_any_order_are_the_same_columns() {
        for word in ["web:3000x5", "random:700x9", "random:9000x200", "grid:400", "fem:300"] {
            let matrix = named(word, 4).unwrap().unwrap().checked().unwrap();
            let (mut sorted, mut any) = (Csr::<f64>::default(), Csr::default());
            multiply(matrix.checked_view(), matrix.checked_view(), Level::Off, &mut sorted)
                .unwrap();
            let factors = Factors::new(matrix.checked_view(), matrix.checked_view(), Level::Off)
                .unwrap()
                .in_any_order();
            all(&factors, &mut any).unwrap();
            // Windows keep columns in order, and so do rows that are too long for a table.
            let kept = ["fem:300", "random:9000x200"].contains(&word);
            assert_eq!(any.columns == sorted.columns, kept, "{word}");
            any.sort();
            // Each sum is added up in the same order.
            assert!(any == sorted, "{word}");
        }
    }

    /// Whole numbers, so that sums do not depend on the order of adding.
    fn whole<T: Real>(matrix: &Csr<f64>) -> Csr<T> {
        let mut matrix = matrix.cast::<T>();
        matrix.values.iter_mut().for_each(|value| *value = T::of(((*value).into() * 9.0).round()));
        matrix
    }

    fn check<T: Sparse>(a: &Csr<f64>, b: &Csr<f64>, what: &str) {
        let (a, b) = (whole::<T>(a), whole::<T>(b));
        let expected = expected(&a, &b);
        let (a, b) = (a.checked().unwrap(), b.checked().unwrap());
        let mut product = Csr::default();
        for level in Level::ALL.into_iter().filter(|level| level.works()) {
            // Twice, so that memory is reused.
            for streams in [false, true] {
                multiply(a.checked_view(), b.checked_view(), level, &mut product).unwrap();
                assert!(product == expected, "{what}, {level}, {}", T::NAME);
                product.values.fill(T::of(7.0));
                let factors = Factors::new(a.checked_view(), b.checked_view(), level).unwrap();
                let adding = Adding { streams, ..Adding::new(&factors, &mut product) };
                adding.run(0..factors.units(), &mut adding.local());
                drop(adding);
                assert!(product == expected, "{what}, {level}, {}, {streams}", T::NAME);
            }
        }
    }

    #[test]
    fn products_are_right_on_every_family_and_level() {
        let words = [
            "fem:700", "fem2:301", "fem1:125", "web:700x4", "random:300x9", "grid:130", "dense:67",
            "lattice4d:3x4x3x4",
        ];
        for word in words {
            let matrix = named(word, 5).unwrap().unwrap();
            check::<f32>(&matrix, &matrix, word);
            check::<f64>(&matrix, &matrix, word);
        }
    }

    #[test]
    fn the_factors_may_have_any_sizes_that_fit() {
        let tall = Csr::of(200, 7, &[(0, 0, 1.0), (0, 6, 2.0), (199, 3, -1.0)]);
        let wide = Csr::of(7, 5000, &[(0, 4999, 3.0), (6, 4999, 4.0), (6, 0, 1.0), (3, 70, 2.0)]);
        check::<f64>(&tall, &wide, "tall and wide");
        check::<f32>(&Csr::of(0, 7, &[]), &wide, "no rows");
        check::<f64>(&tall, &Csr::of(7, 0, &[]), "no columns");
        let [wide, tall] = [wide, tall].map(|matrix| matrix.checked().unwrap());
        assert!(Factors::new(wide.checked_view(), tall.checked_view(), Level::Off).is_err());
    }

    #[test]
    fn the_literature_agrees_on_the_number_of_entries() {
        let matrix = named("fem:257x9x9", 1).unwrap().unwrap().checked().unwrap();
        let factors =
            Factors::new(matrix.checked_view(), matrix.checked_view(), Level::best()).unwrap();
        let mut lengths = vec![0; matrix.height()];
        let counting = Counting::new(&factors, &mut lengths);
        counting.run(0..factors.units(), &mut counting.local());
        drop(counting);
        assert_eq!(lengths.iter().sum::<usize>(), 17_508_231);
    }
}
