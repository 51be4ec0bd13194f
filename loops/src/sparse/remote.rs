//! Both products in several processes: how rows of the results travel.

use super::csrmm::{Csrmm, Products};
use super::spmm::{Adding, Counting, Sparse};
use crate::bytes::{put_numbers, put_words, take_numbers, take_words};
use crate::looping::{RemoteLoop, ResultPlacement};
use pleach_core::search::work::{Malformed, Pack, Reader};

impl<T: Products> RemoteLoop for Csrmm<'_, T> {
    fn pack(&self, unit: usize, out: &mut Vec<u8>) {
        put_numbers(&self.result.part(unit), out);
    }

    fn unpack(&self, unit: usize, from: &mut Reader<'_>) -> Result<(), Malformed> {
        take_numbers(from, &mut self.result.part(unit))
    }
}

impl<T: Sparse> RemoteLoop for Counting<'_, T> {
    /// All processes need to know where the product's rows begin.
    fn result_placement(&self) -> ResultPlacement {
        ResultPlacement::All
    }

    fn pack(&self, unit: usize, out: &mut Vec<u8>) {
        put_words(self.lengths.part(unit).iter().map(|&length| length as u32), out);
    }

    fn unpack(&self, unit: usize, from: &mut Reader<'_>) -> Result<(), Malformed> {
        let mut lengths = self.lengths.part(unit);
        let words = take_words(from, lengths.len())?;
        for (row, (to, length)) in lengths.iter_mut().zip(words).enumerate() {
            let possible = self.factors.possible_lengths(unit * self.factors.each + row);
            let length = Some(length as usize).filter(|length| possible.contains(length));
            *to = length.ok_or(Malformed::Range)?;
        }
        Ok(())
    }
}

impl<T: Sparse> RemoteLoop for Adding<'_, T> {
    /// Begins with a flag for rows that are not as long as counted, because only the process that ran them can tell.
    fn pack(&self, unit: usize, out: &mut Vec<u8>) {
        self.is_wrong().pack(out);
        put_words(self.columns.part(unit).iter().copied(), out);
        put_numbers(&self.values.part(unit), out);
    }

    fn unpack(&self, unit: usize, from: &mut Reader<'_>) -> Result<(), Malformed> {
        self.note(!bool::unpack(from)?);
        let rows = self.factors.rows(&(unit..unit + 1));
        let count = self.starts[rows.end] - self.starts[rows.start];
        let mut columns = self.columns.part(unit);
        for (to, column) in columns.iter_mut().zip(take_words(from, count)?) {
            let fits = (column as usize) < self.factors.b.width;
            *to = Some(column).filter(|_| fits).ok_or(Malformed::Range)?;
        }
        take_numbers(from, &mut self.values.part(unit))
    }
}
