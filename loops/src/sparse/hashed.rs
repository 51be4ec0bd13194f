//! [`Hashed`]: adds up a row of a product in a small hash table, for scattered columns in any order.

use super::matrix::CsrView;
use crate::real::Real;

/// The maximum number of products of a row for which the table stays in the core's nearest caches.
const MOST: usize = 1 << 15;
/// Marks an empty place: a matrix must not be wider than this.
pub(super) const NONE: u32 = u32::MAX;
/// An odd number whose multiples are well spread.
const SPREAD: u32 = 0x9e37_79b1;

/// A table from columns to sums, empty between rows.
#[derive(Debug)]
pub(super) struct Hashed<T> {
    columns: Vec<u32>,
    sums: Vec<T>,
    /// The places in use, in the order in which their columns were inserted.
    used: Vec<u32>,
}

impl<T: Real> Hashed<T> {
    /// An empty table.
    pub fn new() -> Self {
        Self { columns: Vec::new(), sums: Vec::new(), used: Vec::new() }
    }

    /// The number of columns in a row of `a` times `b`; `None` if it is too long for the table.
    pub fn count(&mut self, a: &CsrView<'_, T>, row: usize, b: &CsrView<'_, T>) -> Option<usize> {
        let bits = self.make_room(a, row, b)?;
        for &column in a.of_row(row).0 {
            b.of_row(column as usize).0.iter().for_each(|&column| {
                self.place(column, bits);
            });
        }
        let length = self.used.len();
        self.clear();
        Some(length)
    }

    /// Adds up a row of `a` times `b`, unless it is too long for the table.
    pub fn add(&mut self, a: &CsrView<'_, T>, row: usize, b: &CsrView<'_, T>) -> Option<()> {
        let bits = self.make_room(a, row, b)?;
        let (columns, factors) = a.of_row(row);
        for (&column, &factor) in columns.iter().zip(factors) {
            let (columns, values) = b.of_row(column as usize);
            for (&column, &value) in columns.iter().zip(values) {
                let (place, is_new) = self.place(column, bits);
                let sum = &mut self.sums[place];
                *sum = if is_new { factor * value } else { *sum + factor * value };
            }
        }
        Some(())
    }

    /// Enlarges the table so that it stays at most half full. Returns its size as a power of two.
    fn make_room(&mut self, a: &CsrView<'_, T>, row: usize, b: &CsrView<'_, T>) -> Option<u32> {
        let lengths = a.of_row(row).0.iter().map(|&column| b.row(column as usize).len());
        let products: usize = lengths.sum();
        if products > MOST {
            return None;
        }
        let bits = (2 * products).next_power_of_two().trailing_zeros().max(4);
        if self.columns.len() < 1 << bits {
            self.columns.resize(1 << bits, NONE);
            self.sums.resize(1 << bits, T::default());
        }
        Some(bits)
    }

    /// The place of a column in a table of this size, and whether it was just inserted.
    #[inline(always)]
    fn place(&mut self, column: u32, bits: u32) -> (usize, bool) {
        let table = &mut self.columns[..1 << bits];
        let mut place = (column.wrapping_mul(SPREAD) >> (32 - bits)) as usize;
        while table[place] != column {
            if table[place] == NONE {
                table[place] = column;
                self.used.push(place as u32);
                return (place, true);
            }
            place = (place + 1) & (table.len() - 1);
        }
        (place, false)
    }

    /// Extracts all columns and sums. Returns whether there is room for exactly these; if not, they are lost.
    pub fn take(&mut self, columns: &mut [u32], values: &mut [T]) -> bool {
        if self.used.len() != columns.len() {
            self.clear();
            return false;
        }
        for (at, to) in self.used.drain(..).zip(columns.iter_mut().zip(values)) {
            let at = at as usize;
            (*to.0, *to.1) = (std::mem::replace(&mut self.columns[at], NONE), self.sums[at]);
        }
        true
    }

    /// Removes all columns and sums.
    fn clear(&mut self) {
        self.used.drain(..).for_each(|at| self.columns[at as usize] = NONE);
    }
}
