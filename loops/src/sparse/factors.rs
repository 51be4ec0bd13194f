//! [`Factors`]: two sparse matrices to be multiplied; [`Local`]: what each thread keeps for that.

use super::hashed::{Hashed, NONE};
use super::matrix::{Checked, CsrView};
use super::rows::TOGETHER;
use super::sums::Sums;
use super::windows::{self, Place, Windows};
use crate::real::Real;
use crate::simd::fetch::fetch;
use pleach_core::search::level::Level;
use std::ops::{Range, RangeInclusive};
use std::sync::OnceLock;

/// The maximum number of rows of a unit.
const ROWS: usize = 16 * TOGETHER;
/// The maximum number of bytes that the results of a unit of several rows take: they travel in one
/// message.
const MOST_BYTES: usize = 1 << 28;

/// A thread's own memory.
#[derive(Debug)]
pub struct Local<'a, T> {
    pub(super) sums: Sums<T>,
    /// Adds up rows with scattered columns in any order, unless they are long.
    pub(super) hashed: Option<Hashed<T>>,
    /// The second matrix cut into windows, if that pays.
    pub(super) windows: Option<Windows<'a, T>>,
    /// What the columns of the current row stand for, and those of an earlier row with the columns of its product.
    pub(super) places: Vec<Place>,
    pub(super) known: Vec<Place>,
    pub(super) pattern: Vec<(u32, u64)>,
}

/// Two matrices to be multiplied, and their properties.
#[derive(Debug)]
pub struct Factors<'a, T> {
    pub(super) a: CsrView<'a, T>,
    pub(super) b: Checked<CsrView<'a, T>>,
    /// Whether windows of the second matrix pay.
    pub(super) windowed: bool,
    /// Whether columns may come in any order.
    pub(super) unsorted: bool,
    /// Rows of a unit: fewer if those of the product could be long.
    pub(super) each: usize,
    /// The cost of all units before each, and the total.
    pub(super) cost_before: Vec<f64>,
    pub(super) level: Level,
    /// Products of two numbers.
    pub(super) products: f64,
    /// Whether devices can multiply them; computed once if needed.
    pub(super) fit_devices: OnceLock<bool>,
}

impl<'a, T: Real> Factors<'a, T> {
    /// Two matrices with ascending columns.
    ///
    /// # Errors
    /// If their sizes do not match.
    pub fn new(
        a: Checked<CsrView<'a, T>>,
        b: Checked<CsrView<'a, T>>,
        level: Level,
    ) -> Result<Self, String> {
        if a.width != b.height() {
            let (width, height) = (a.width, b.height());
            return Err(format!("{width} columns times {height} rows: expected equal numbers"));
        }
        let (mut cost_before, mut cost, mut products) = (vec![0.0], 0.0, 0.0);
        let each = rows_of_unit(&a, &b);
        for first in (0..a.height()).step_by(each) {
            let end = (first + each).min(a.height());
            let entries = &a.columns[a.starts[first]..a.starts[end]];
            let these: usize = entries.iter().map(|&column| b.row(column as usize).len()).sum();
            products += these as f64;
            cost += these as f64 + 4.0 * entries.len() as f64 + 16.0;
            cost_before.push(cost);
        }
        let (windowed, fit_devices) = (windows::pay(*b), OnceLock::new());
        let unsorted = false;
        Ok(Self { a: *a, b, windowed, unsorted, each, cost_before, level, products, fit_devices })
    }

    /// The same, but the columns of a product's row may come in any order, which is faster if they are scattered.
    #[must_use]
    pub fn in_any_order(self) -> Self {
        Self { unsorted: true, ..self }
    }

    /// Floating-point operations of the product.
    #[must_use]
    pub fn operations(&self) -> f64 {
        2.0 * self.products
    }

    /// The possible numbers of entries in a row of the product: at least those of the longest row that it adds up, at
    /// most its products or all columns.
    pub(super) fn possible_lengths(&self, row: usize) -> RangeInclusive<usize> {
        let lengths = self.a.of_row(row).0.iter().map(|&column| self.b.row(column as usize).len());
        let products: usize = lengths.clone().sum();
        lengths.max().unwrap_or(0)..=products.min(self.b.width)
    }

    pub(super) fn units(&self) -> usize {
        self.cost_before.len() - 1
    }

    /// The rows of these units.
    pub(super) fn rows(&self, units: &Range<usize>) -> Range<usize> {
        let row = |unit: usize| (unit * self.each).min(self.a.height());
        row(units.start)..row(units.end)
    }

    /// Prefetches the rows of the second matrix that a unit needs, if they are scattered over memory: first their
    /// positions, then their beginnings.
    pub(super) fn fetch(&self, unit: usize, with_values: bool) {
        if self.windowed {
            return;
        }
        let rows = self.rows(&(unit..unit + 1));
        let columns = &self.a.columns[self.a.starts[rows.start]..self.a.starts[rows.end]];
        columns.iter().for_each(|&column| fetch(self.b.starts, column as usize));
        for &column in columns {
            let begin = self.b.starts[column as usize];
            fetch(self.b.columns, begin);
            if with_values {
                fetch(self.b.values, begin);
            }
        }
    }

    /// The rows of a unit in groups: the first row of each, and their number, 1 or [`TOGETHER`].
    pub(super) fn groups(&self, unit: usize) -> impl Iterator<Item = (usize, usize)> {
        let Range { start: mut row, end } = self.rows(&(unit..unit + 1));
        std::iter::from_fn(move || {
            let columns = |row: usize| self.a.of_row(row).0;
            let three = row + TOGETHER <= end
                && (row + 1..row + TOGETHER).all(|other| columns(other) == columns(row));
            let group = (row, if three { TOGETHER } else { 1 });
            row += group.1;
            (group.0 < end).then_some(group)
        })
    }

    pub(super) fn local(&self) -> Local<'a, T> {
        let lanes = (64 / size_of::<T>()) as u32;
        let windows = self.windowed.then(|| Windows::new(self.b, lanes));
        let (places, known, pattern) = (Vec::new(), Vec::new(), Vec::new());
        let hashes = self.unsorted && !self.windowed && self.b.width <= NONE as usize;
        let hashed = hashes.then(Hashed::new);
        Local { sums: Sums::new(self.b.width), hashed, windows, places, known, pattern }
    }

    /// Finds the columns of a product's row.
    pub(super) fn mark(&self, row: usize, local: &mut Local<'_, T>) {
        let (columns, _) = self.a.of_row(row);
        let Local { sums, windows, places, known, pattern, .. } = local;
        let Some(windows) = windows else {
            let columns = columns.iter().flat_map(|&column| self.b.of_row(column as usize).0);
            columns.for_each(|&column| sums.mark(column));
            return sums.gather();
        };
        windows.list(columns, places);
        // In a mesh most rows equal the previous one, moved one node to the right.
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

/// The rows of a unit: [`ROWS`], or fewer if the product could have more entries in these than a message may.
fn rows_of_unit<T: Real>(a: &CsrView<'_, T>, b: &CsrView<'_, T>) -> usize {
    let most = MOST_BYTES / (size_of::<u32>() + size_of::<T>());
    if ROWS.saturating_mul(b.width) <= most {
        return ROWS;
    }
    let entries = |row: usize| {
        let lengths = a.of_row(row).0.iter().map(|&column| b.row(column as usize).len());
        lengths.sum::<usize>().min(b.width)
    };
    let entries: Vec<usize> = (0..a.height()).map(entries).collect();
    // Fewer rows do not help where one of them is too long.
    let too_long = |unit: &[usize]| {
        unit.iter().sum::<usize>() > most && unit.iter().all(|&entries| entries <= most)
    };
    let mut each = ROWS;
    while each > 1 && entries.chunks(each).any(too_long) {
        each /= 2;
    }
    each
}
