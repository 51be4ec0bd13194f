//! Both products in several processes: how rows of the results travel.

use super::csrmm::{Csrmm, Products};
use super::factors::ROWS;
use super::spmm::{Adding, Counting, Sparse};
use crate::bytes::{put_numbers, put_words, take_numbers, take_words};
use crate::looping::{RemoteLoop, ResultPlacement};
use pleach_core::search::work::{Malformed, Reader};
use std::ops::Range;

impl<T: Products> RemoteLoop for Csrmm<'_, T> {
    fn result_placement(&self) -> ResultPlacement {
        ResultPlacement::First
    }

    fn pack(&self, units: Range<usize>, out: &mut Vec<u8>) {
        units.for_each(|unit| put_numbers(&self.result.part(unit), out));
    }

    fn unpack(&self, mut units: Range<usize>, results: &[u8]) -> Result<(), Malformed> {
        let mut from = Reader::new(results);
        units.try_for_each(|unit| take_numbers(&mut from, &mut self.result.part(unit)))?;
        from.finish()
    }
}

impl<T: Sparse> RemoteLoop for Counting<'_, T> {
    /// All processes need to know where the product's rows begin.
    fn result_placement(&self) -> ResultPlacement {
        ResultPlacement::All
    }

    fn pack(&self, units: Range<usize>, out: &mut Vec<u8>) {
        for unit in units {
            put_words(self.lengths.part(unit).iter().map(|&length| length as u32), out);
        }
    }

    fn unpack(&self, units: Range<usize>, results: &[u8]) -> Result<(), Malformed> {
        let mut from = Reader::new(results);
        for unit in units {
            let mut lengths = self.lengths.part(unit);
            let count = lengths.len();
            let words = take_words(&mut from, count)?;
            for (row, (to, length)) in lengths.iter_mut().zip(words).enumerate() {
                let most = self.factors.longest(unit * ROWS + row);
                *to = Some(length as usize).filter(|&it| it <= most).ok_or(Malformed::Range)?;
            }
        }
        from.finish()
    }
}

impl<T: Sparse> RemoteLoop for Adding<'_, T> {
    fn result_placement(&self) -> ResultPlacement {
        ResultPlacement::First
    }

    fn pack(&self, units: Range<usize>, out: &mut Vec<u8>) {
        for unit in units {
            put_words(self.columns.part(unit).iter().copied(), out);
            put_numbers(&self.values.part(unit), out);
        }
    }

    fn unpack(&self, units: Range<usize>, results: &[u8]) -> Result<(), Malformed> {
        let (mut from, width) = (Reader::new(results), self.factors.b.width);
        for unit in units {
            let rows = unit * ROWS..((unit + 1) * ROWS).min(self.starts.len() - 1);
            let count = self.starts[rows.end] - self.starts[rows.start];
            let mut columns = self.columns.part(unit);
            for (to, column) in columns.iter_mut().zip(take_words(&mut from, count)?) {
                *to = Some(column).filter(|&it| (it as usize) < width).ok_or(Malformed::Range)?;
            }
            take_numbers(&mut from, &mut self.values.part(unit))?;
        }
        from.finish()
    }
}
