//! [`Sums`]: adds up rows of a sparse product, and extracts them in order.

use super::rows::TOGETHER;
use crate::real::Real;

/// Columns per word of bits.
pub const WORD: usize = 64;
/// Extra sums beyond the last column, so that two vectors may start at any column.
const SLACK: usize = 32;

/// Sums by column, for up to three rows with the same columns.
///
/// Between rows all sums and all bits are zero.
#[derive(Debug)]
pub struct Sums<T> {
    /// The columns that rows have.
    bits: Vec<u64>,
    /// The words of `bits` that are not zero.
    upper: Vec<u64>,
    /// The words of `upper` that are not zero.
    top: Vec<u64>,
    /// The range of words of `top` that may be nonzero.
    touched: (usize, usize),
    /// The columns of the current rows: indices of words, ascending, and their bits.
    pub pattern: Vec<(u32, u64)>,
    /// A sum for each column, and some more.
    pub of: [Vec<T>; TOGETHER],
    /// The columns of the current rows, ready to be written.
    pub columns: Vec<u32>,
    /// The values of each of these rows, ready to be written.
    pub values: [Vec<T>; TOGETHER],
}

impl<T: Real> Sums<T> {
    /// Zeros for this many columns.
    #[must_use]
    pub fn new(width: usize) -> Self {
        let words = width.div_ceil(WORD);
        let zeros = || vec![T::default(); words * WORD + SLACK];
        Self {
            bits: vec![0; words],
            upper: vec![0; words.div_ceil(WORD)],
            top: vec![0; words.div_ceil(WORD * WORD)],
            touched: (usize::MAX, 0),
            pattern: Vec::new(),
            of: std::array::from_fn(|_| zeros()),
            columns: Vec::new(),
            values: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Adds a column to those of the current rows.
    #[inline]
    pub fn mark(&mut self, column: u32) {
        self.mark_word(column as usize / WORD, 1 << (column as usize % WORD));
    }

    /// Adds those of the 64 columns from this one on whose bits are set.
    #[inline]
    pub fn mark_some(&mut self, first: u32, bits: u64) {
        let (word, off) = (first as usize / WORD, first as usize % WORD);
        let (low, high) = (bits << off, if off == 0 { 0 } else { bits >> (WORD - off) });
        if low != 0 {
            self.mark_word(word, low);
        }
        if high != 0 {
            self.mark_word(word + 1, high);
        }
    }

    #[inline]
    fn mark_word(&mut self, word: usize, bits: u64) {
        let before = self.bits[word];
        self.bits[word] = before | bits;
        if before == 0 {
            let (above, top) = (word / WORD, word / WORD / WORD);
            self.upper[above] |= 1 << (word % WORD);
            self.top[top] |= 1 << (above % WORD);
            self.touched.0 = self.touched.0.min(top);
            self.touched.1 = self.touched.1.max(top + 1);
        }
    }

    /// Moves the columns of the current rows into the pattern.
    pub fn gather(&mut self) {
        self.pattern.clear();
        for top in self.touched.0..self.touched.1 {
            for above in ones(std::mem::take(&mut self.top[top])) {
                let above = top * WORD + above;
                for word in ones(std::mem::take(&mut self.upper[above])) {
                    let word = above * WORD + word;
                    self.pattern.push((word as u32, std::mem::take(&mut self.bits[word])));
                }
            }
        }
        self.touched = (usize::MAX, 0);
    }

    /// Copies the columns of another pattern, moved to the right.
    pub fn shift(&mut self, pattern: &[(u32, u64)], by: i32) {
        self.pattern.clear();
        let (words, off) = (by.div_euclid(WORD as i32), by.rem_euclid(WORD as i32) as u32);
        let mut carried = (0, 0);
        for &(word, bits) in pattern {
            let word = word.wrapping_add_signed(words);
            if carried.1 != 0 && carried.0 != word {
                self.pattern.push(carried);
                carried.1 = 0;
            }
            let low = bits << off | carried.1;
            if low != 0 {
                self.pattern.push((word, low));
            }
            carried =
                (word.wrapping_add(1), if off == 0 { 0 } else { bits >> (WORD as u32 - off) });
        }
        self.pattern.extend((carried.1 != 0).then_some(carried));
    }

    /// The number of columns of the current rows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.pattern.iter().map(|(_, bits)| bits.count_ones() as usize).sum()
    }

    /// Extracts the columns and sums of the first rows, as the pattern says. Returns whether there is room for exactly
    /// these; if not, some are lost.
    pub fn take(&mut self, rows: usize, columns: &mut [u32], values: &mut [T]) -> bool {
        let each = columns.len() / rows;
        let mut at = 0;
        for &(word, bits) in &self.pattern {
            for column in ones(bits) {
                let column = word as usize * WORD + column;
                for row in 0..rows {
                    let sum = std::mem::take(&mut self.of[row][column]);
                    if at < each {
                        (columns[row * each + at], values[row * each + at]) = (column as u32, sum);
                    }
                }
                at += 1;
            }
        }
        at * rows == columns.len()
    }
}

/// The positions of the ones in a word.
#[inline]
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let one = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (one < WORD).then_some(one)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_out_in_order() {
        let mut sums = Sums::<f64>::new(1_000_000);
        sums.mark(6403);
        sums.mark(999_999);
        sums.mark_some(192, 0b101);
        sums.mark_some(190, 0b1000);
        sums.mark_some(192, 0b101);
        sums.mark_some(4479, 0b10);
        sums.gather();
        assert_eq!(sums.count(), 6);
        assert_eq!(sums.pattern, [(3, 0b111), (70, 1), (100, 8), (15_624, 1 << 63)]);
        (sums.of[0][6403], sums.of[1][192]) = (7.0, 8.0);
        let (mut columns, mut values) = ([0; 12], [0.0; 12]);
        assert!(sums.take(2, &mut columns, &mut values));
        let once = [192, 193, 194, 4480, 6403, 999_999];
        assert_eq!(columns, *[once, once].as_flattened());
        assert_eq!(values, [0.0, 0.0, 0.0, 0.0, 7.0, 0.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        sums.gather();
        assert_eq!(sums.count(), 0, "everything is clean again");
        for room in [0, 1, 2, 4, 5] {
            sums.mark(7);
            sums.mark(8);
            sums.gather();
            (sums.of[0][7], sums.of[1][8]) = (1.0, 2.0);
            assert_eq!(sums.take(2, &mut columns[..room], &mut values[..room]), room == 4);
            assert!(sums.of.iter().flatten().all(|&sum| sum == 0.0), "{room}");
        }
        sums.shift(&[(1, 1 << 63 | 1), (2, 3), (9, 1 << 62)], 65);
        assert_eq!(sums.pattern, [(2, 2), (3, 7), (10, 1 << 63)]);
        let moved = [(0, 1 << 63), (1, 3 << 62), (2, 1), (9, 1 << 61)];
        sums.shift(&[(1, 1 << 63 | 1), (2, 3), (9, 1 << 62)], -1);
        assert_eq!(sums.pattern, moved);
    }
}
