//! Sparse × sparse, row by row, in two loops: [`Counting`] says how long each row of the product is, [`Adding`] fills
//! them.

use super::matrix::{Checked, Csr};
use super::rows::{LARGE, TOGETHER};
use super::sums::Sums;
use super::windows::{self, Place, Windows};
use crate::real::Real;
use crate::simd::fetch::fetch;
use crate::simd::pages::in_large_pages;
#[cfg(target_arch = "x86_64")]
use crate::simd::spmm as simd;
use pleach_core::level::Level;
use pleach_core::looping::{Cells, Loop, LoopOnDevice};
use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::OnceLock;

/// Numbers for which there is vector code.
pub trait Sparse: Real {
    /// Adds rows of the first matrix, which have the same columns, times the second.
    #[doc(hidden)]
    fn add_rows(
        level: Level,
        a: (&Csr<Self>, usize, usize),
        b: &Csr<Self>,
        hand: &mut Hand<'_, Self>,
    );

    /// Takes out the columns and the sums of the first rows, past the caches if wanted.
    #[doc(hidden)]
    fn take_rows(
        level: Level,
        sums: &mut Sums<Self>,
        rows: usize,
        out: (&mut [u32], &mut [Self]),
        streams: bool,
    );
}

macro_rules! sparse {
    ($number:ty, $add:ident, $take:ident) => {
        impl Sparse for $number {
            fn add_rows(
                level: Level,
                a: (&Csr<Self>, usize, usize),
                b: &Csr<Self>,
                hand: &mut Hand<'_, Self>,
            ) {
                match (level, &hand.windows) {
                    #[cfg(target_arch = "x86_64")]
                    (Level::Avx512, Some(b)) => simd::$add(a, (b, &hand.places), &mut hand.sums),
                    _ => add(a, b, &mut hand.sums),
                }
            }

            fn take_rows(
                level: Level,
                sums: &mut Sums<Self>,
                rows: usize,
                (columns, values): (&mut [u32], &mut [Self]),
                streams: bool,
            ) {
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

/// The same as the vector code, one number at a time.
fn add<T: Real>((a, row, rows): (&Csr<T>, usize, usize), b: &Csr<T>, sums: &mut Sums<T>) {
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

/// Rows of a unit.
pub(super) const ROWS: usize = 16 * TOGETHER;

/// What a thread needs of its own.
#[derive(Debug)]
pub struct Hand<'a, T> {
    pub(super) sums: Sums<T>,
    /// The second matrix cut into windows, if they pay.
    windows: Option<Windows<'a, T>>,
    /// What the columns of the row at hand stand for, and those of an earlier row, with the columns of its product.
    places: Vec<Place>,
    known: Vec<Place>,
    pattern: Vec<(u32, u64)>,
}

/// Two matrices to be multiplied, and what is known of them.
#[derive(Debug)]
pub struct Factors<'a, T> {
    pub(super) a: &'a Csr<T>,
    pub(super) b: &'a Checked<T>,
    /// Whether windows of the second matrix pay.
    windowed: bool,
    /// The cost of all units before each, and of all.
    cost_before: Vec<f64>,
    level: Level,
    /// Products of two numbers.
    products: f64,
    /// Whether devices can multiply them; found out once if asked.
    pub(super) fit_devices: OnceLock<bool>,
}

impl<'a, T: Sparse> Factors<'a, T> {
    /// Two matrices whose columns ascend.
    ///
    /// # Errors
    /// If their sizes do not fit.
    pub fn new(a: &'a Checked<T>, b: &'a Checked<T>, level: Level) -> Result<Self, String> {
        if a.width != b.height() {
            let (width, height) = (a.width, b.height());
            return Err(format!("{width} columns times {height} rows: expected as many of each"));
        }
        let (mut cost_before, mut cost, mut products) = (vec![0.0], 0.0, 0.0);
        for first in (0..a.height()).step_by(ROWS) {
            let end = (first + ROWS).min(a.height());
            let entries = &a.columns[a.starts[first]..a.starts[end]];
            let these: usize = entries.iter().map(|&column| b.row(column as usize).len()).sum();
            products += these as f64;
            cost += these as f64 + 4.0 * entries.len() as f64 + 16.0;
            cost_before.push(cost);
        }
        let (windowed, fit_devices) = (windows::pay(b), OnceLock::new());
        Ok(Self { a, b, windowed, cost_before, level, products, fit_devices })
    }

    /// Floating-point operations of the product.
    #[must_use]
    pub fn operations(&self) -> f64 {
        2.0 * self.products
    }

    fn units(&self) -> usize {
        self.cost_before.len() - 1
    }

    /// Asks for the rows of the second matrix that a unit needs, where they are scattered over memory: first where they
    /// are, then what they begin with.
    fn fetch(&self, unit: usize, with_values: bool) {
        if self.windowed {
            return;
        }
        let (first, end) = (unit * ROWS, ((unit + 1) * ROWS).min(self.a.height()));
        let columns = &self.a.columns[self.a.starts[first]..self.a.starts[end]];
        columns.iter().for_each(|&column| fetch(&self.b.starts, column as usize));
        for &column in columns {
            let begin = self.b.starts[column as usize];
            fetch(&self.b.columns, begin);
            if with_values {
                fetch(&self.b.values, begin);
            }
        }
    }

    /// The rows of a unit in groups: the first of each, and how many they are, 1 or [`TOGETHER`].
    fn groups(&self, unit: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut row = unit * ROWS;
        let end = (row + ROWS).min(self.a.height());
        std::iter::from_fn(move || {
            let columns = |row: usize| self.a.of_row(row).0;
            let three = row + TOGETHER <= end
                && (row + 1..row + TOGETHER).all(|other| columns(other) == columns(row));
            let group = (row, if three { TOGETHER } else { 1 });
            row += group.1;
            (group.0 < end).then_some(group)
        })
    }

    fn hand(&self) -> Hand<'a, T> {
        let lanes = (64 / size_of::<T>()) as u32;
        let windows = self.windowed.then(|| Windows::new(self.b, lanes));
        let (places, known, pattern) = (Vec::new(), Vec::new(), Vec::new());
        Hand { sums: Sums::new(self.b.width), windows, places, known, pattern }
    }

    /// Finds the columns that a row of the product has.
    fn mark(&self, row: usize, hand: &mut Hand<'_, T>) {
        let (columns, _) = self.a.of_row(row);
        let Hand { sums, windows, places, known, pattern } = hand;
        let Some(windows) = windows else {
            let columns = columns.iter().flat_map(|&column| self.b.of_row(column as usize).0);
            columns.for_each(|&column| sums.mark(column));
            return sums.gather();
        };
        windows.list(columns, places);
        // In a mesh most rows are like the one before, one node further to the right.
        if let Some(apart) = windows::apart(known, places) {
            return sums.shift(pattern, apart);
        }
        for &place in &*places {
            let group = windows.group(place);
            for window in group.windows {
                sums.mark_some(group.first(window), window.bits.into());
            }
        }
        sums.gather();
        known.clone_from(places);
        pattern.clone_from(&sums.pattern);
    }
}

/// The first pass: how long each row of the product is.
pub struct Counting<'a, T> {
    pub(super) factors: &'a Factors<'a, T>,
    pub(super) lengths: Cells<'a, usize>,
}

impl<'a, T: Sparse> Counting<'a, T> {
    /// Into these lengths, one for each row.
    pub fn new(factors: &'a Factors<'a, T>, lengths: &'a mut [usize]) -> Self {
        let rows = lengths.len();
        let parts = (0..rows).step_by(ROWS).map(|row| ROWS.min(rows - row));
        Self { factors, lengths: Cells::cut(lengths, parts) }
    }
}

impl<'a, T: Sparse> Loop for Counting<'a, T> {
    type Hand = Hand<'a, T>;

    fn units(&self) -> usize {
        self.factors.units()
    }

    fn cost_before(&self, unit: usize) -> f64 {
        self.factors.cost_before[unit]
    }

    fn hand(&self) -> Hand<'a, T> {
        self.factors.hand()
    }

    fn run(&self, units: Range<usize>, hand: &mut Hand<'a, T>) {
        for unit in units {
            self.factors.fetch(unit, false);
            let mut lengths = self.lengths.part(unit);
            for (row, rows) in self.factors.groups(unit) {
                self.factors.mark(row, hand);
                let length = hand.sums.count();
                lengths[row - unit * ROWS..][..rows].fill(length);
            }
        }
    }

    fn on_device(&self) -> Option<&dyn LoopOnDevice> {
        self.factors.fit_devices().then_some(self)
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

/// Makes a list so long. What is in it then does not matter, so memory that the system hands out as zeros is left to those
/// who write to it.
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

/// The second pass: the columns and the values of each row of the product.
pub struct Adding<'a, T> {
    pub(super) factors: &'a Factors<'a, T>,
    pub(super) starts: &'a [usize],
    pub(super) columns: Cells<'a, u32>,
    pub(super) values: Cells<'a, T>,
    /// Whether the product is too large for the caches anyway.
    streams: bool,
}

impl<'a, T: Sparse> Adding<'a, T> {
    /// Into a product with room for its rows.
    pub fn new(factors: &'a Factors<'a, T>, product: &'a mut Csr<T>) -> Self {
        let (starts, rows) = (&*product.starts, product.starts.len() - 1);
        let streams = size_of_val(&*product.values) > LARGE;
        let lengths = || {
            let ends = move |row: usize| starts[(row + ROWS).min(rows)] - starts[row];
            (0..rows).step_by(ROWS).map(ends)
        };
        let columns = Cells::cut(&mut product.columns, lengths());
        let values = Cells::cut(&mut product.values, lengths());
        Self { factors, starts, columns, values, streams }
    }
}

impl<'a, T: Sparse> Loop for Adding<'a, T> {
    type Hand = Hand<'a, T>;

    fn units(&self) -> usize {
        self.factors.units()
    }

    fn cost_before(&self, unit: usize) -> f64 {
        self.factors.cost_before[unit]
    }

    fn hand(&self) -> Hand<'a, T> {
        self.factors.hand()
    }

    fn run(&self, units: Range<usize>, hand: &mut Hand<'a, T>) {
        let Factors { a, b, windowed, level, .. } = self.factors;
        // Where columns are scattered, vectors are nearly empty.
        let take = if *windowed { *level } else { Level::Off };
        for unit in units {
            self.factors.fetch(unit, true);
            let (mut columns, mut values) = (self.columns.part(unit), self.values.part(unit));
            let first = self.starts[unit * ROWS];
            for (row, rows) in self.factors.groups(unit) {
                self.factors.mark(row, hand);
                T::add_rows(*level, (a, row, rows), b, hand);
                let place = self.starts[row] - first..self.starts[row + rows] - first;
                if !place.is_empty() {
                    let (columns, values) = (&mut columns[place.clone()], &mut values[place]);
                    T::take_rows(take, &mut hand.sums, rows, (columns, values), self.streams);
                }
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
}

/// The whole product on the calling thread, into a matrix whose memory is used again.
///
/// # Errors
/// If the sizes do not fit, or memory does not suffice.
pub fn multiply<T: Sparse>(
    a: &Checked<T>,
    b: &Checked<T>,
    level: Level,
    product: &mut Csr<T>,
) -> Result<(), String> {
    let factors = Factors::new(a, b, level)?;
    let mut lengths = vec![0; a.height()];
    let counting = Counting::new(&factors, &mut lengths);
    counting.run(0..factors.units(), &mut counting.hand());
    drop(counting);
    room(&lengths, b.width, product)?;
    let adding = Adding::new(&factors, product);
    adding.run(0..factors.units(), &mut adding.hand());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::generate::named;
    use std::collections::BTreeMap;

    /// The product by its definition.
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

    /// Whole numbers, so that every order of adding gives the same sum.
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
            // Twice, so that memory is used again.
            for streams in [false, true] {
                multiply(&a, &b, level, &mut product).unwrap();
                assert!(product == expected, "{what}, {level}, {}", T::NAME);
                product.values.fill(T::of(7.0));
                let factors = Factors::new(&a, &b, level).unwrap();
                let adding = Adding { streams, ..Adding::new(&factors, &mut product) };
                adding.run(0..factors.units(), &mut adding.hand());
                drop(adding);
                assert!(product == expected, "{what}, {level}, {}, {streams}", T::NAME);
            }
        }
    }

    #[test]
    fn products_are_right_on_every_family_and_level() {
        let words = [
            "fem:700",
            "fem2:301",
            "fem1:125",
            "web:700x4",
            "random:300x9",
            "grid:130",
            "dense:67",
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
        assert!(Factors::new(&wide, &tall, Level::Off).is_err());
    }

    #[test]
    fn the_literature_agrees_on_the_number_of_entries() {
        let matrix = named("fem:257x9x9", 1).unwrap().unwrap().checked().unwrap();
        let factors = Factors::new(&matrix, &matrix, Level::best()).unwrap();
        let mut lengths = vec![0; matrix.height()];
        let counting = Counting::new(&factors, &mut lengths);
        counting.run(0..factors.units(), &mut counting.hand());
        drop(counting);
        assert_eq!(lengths.iter().sum::<usize>(), 17_508_231);
    }
}
