//! Sparse × sparse on a device: both passes, row by row.

use super::spmm::{Adding, Counting, Factors, Sparse};
use super::words::{MOST_WORDS, append};
use crate::looping::LoopOnDevice;
use pleach_core::search::device::Layout;
use std::ops::Range;

/// The maximum number of columns that kernels take: a window of columns ends below 2³².
const MOST_COLUMNS: usize = 1 << 31;

impl<T: Sparse> Factors<'_, T> {
    /// Whether a device can multiply them: all positions must fit words.
    pub(super) fn fit_devices(&self) -> bool {
        *self.fit_devices.get_or_init(|| {
            let words = |rows: usize, entries: usize| rows + 2 + entries * (1 + T::WORDS);
            let (a, b) = (self.a, self.b);
            // The rows of the product count too.
            let all = words(2 * a.height(), a.entries()) + words(b.height(), b.entries());
            u32::try_from(all).is_ok() && b.width <= MOST_COLUMNS
        })
    }

    /// The rows of both matrices as tables, and where they have the columns of the first and the second matrix.
    fn tables(&self) -> (Vec<u32>, [usize; 3]) {
        let mut tables = Vec::new();
        let mut place = |starts: &[usize], columns: &[u32]| {
            let begin = tables.len();
            tables.extend(starts.iter().map(|&start| start as u32));
            tables.extend(columns);
            [begin, begin + starts.len()]
        };
        let [_, a_columns] = place(self.a.starts, self.a.columns);
        let same = self.a.is_same_memory(&self.b);
        let [b_starts, b_columns] =
            if same { [0, a_columns] } else { place(self.b.starts, self.b.columns) };
        (tables, [a_columns, b_starts, b_columns])
    }

    fn order(&self, units: &Range<usize>, words: &mut Vec<u32>) {
        let rows = self.rows(units);
        words.extend([rows.start as u32, rows.len() as u32]);
    }
}

impl<T: Sparse> LoopOnDevice for Counting<'_, T> {
    fn layout(&self, wanted: &dyn Fn() -> bool) -> Option<Layout> {
        let (tables, places) = self.factors.tables();
        wanted().then(|| Layout {
            kernel: "loop_spmm_count",
            parallel: None,
            values: places.map(|place| place as u32).to_vec(),
            words: 2,
            width: MOST_WORDS,
            tables,
            ..Layout::default()
        })
    }

    fn words(&self, units: &Range<usize>) -> usize {
        self.factors.rows(units).len()
    }

    fn order(&self, units: &Range<usize>, words: &mut Vec<u32>) {
        self.factors.order(units, words);
    }

    fn store(&self, units: Range<usize>, results: &[u32]) {
        let mut results = results.iter().map(|&length| length as usize);
        for unit in units {
            let mut lengths = self.lengths.part(unit);
            lengths.iter_mut().zip(&mut results).for_each(|(to, length)| *to = length);
        }
    }
}

impl<T: Sparse> Adding<'_, T> {
    /// The number of entries of the product in the rows of these units.
    fn entries(&self, units: &Range<usize>) -> usize {
        let rows = self.factors.rows(units);
        self.starts[rows.end] - self.starts[rows.start]
    }

    /// The maximum number of words for the results of a unit.
    pub(super) fn largest(&self) -> usize {
        let units = 0..self.factors.units();
        units.map(|unit| self.words(&(unit..unit + 1))).max().unwrap_or(0)
    }
}

impl<T: Sparse> LoopOnDevice for Adding<'_, T> {
    fn layout(&self, wanted: &dyn Fn() -> bool) -> Option<Layout> {
        let (mut tables, places) = self.factors.tables();
        let starts = tables.len();
        // Only differences matter, and these fit words.
        tables.extend(self.starts.iter().map(|&start| start as u32));
        let Factors { a, b, .. } = self.factors;
        let a_values = append(a.values, &mut tables, wanted)?;
        let b_values =
            if a.is_same_memory(b) { a_values } else { append(b.values, &mut tables, wanted)? };
        let mut values = places.to_vec();
        values.extend([starts, a_values, b_values, T::WORDS - 1]);
        Some(Layout {
            kernel: "loop_spmm_add",
            parallel: None,
            values: values.into_iter().map(|value| value as u32).collect(),
            words: 2,
            width: MOST_WORDS.max(self.largest()),
            tables,
            ..Layout::default()
        })
    }

    fn words(&self, units: &Range<usize>) -> usize {
        self.factors.rows(units).len() + self.entries(units) * (1 + T::WORDS)
    }

    fn order(&self, units: &Range<usize>, words: &mut Vec<u32>) {
        self.factors.order(units, words);
    }

    fn store(&self, units: Range<usize>, results: &[u32]) {
        let (rows, entries) = (self.factors.rows(&units), self.entries(&units));
        let (lengths, results) = results.split_at(rows.len());
        if !rows.map(|row| self.length(row) as u32).eq(lengths.iter().copied()) {
            return self.note(false);
        }
        let (columns, values) = results[..entries * (1 + T::WORDS)].split_at(entries);
        let (mut from, mut numbers) = (columns.iter(), values.chunks_exact(T::WORDS).map(T::read));
        for unit in units {
            let (mut columns, mut values) = (self.columns.part(unit), self.values.part(unit));
            columns.iter_mut().zip(&mut from).for_each(|(to, &column)| *to = column);
            values.iter_mut().zip(&mut numbers).for_each(|(to, number)| *to = number);
        }
    }
}
