//! Numbers as words in the tables of a device.

use crate::real::Real;

/// Words of the results of a range on a device at most, if a unit alone does not take more.
pub const MOST_WORDS: usize = 1 << 22;

/// Numbers that are written before it is seen whether they are still wanted.
const PART: usize = 1 << 18;

/// Appends numbers, those of 64 bits from an even word on. Where they begin; nothing if they are not wanted any more.
pub fn append<T: Real>(
    numbers: &[T],
    tables: &mut Vec<u32>,
    wanted: &dyn Fn() -> bool,
) -> Option<usize> {
    tables.extend((tables.len() % 2 == 1).then_some(0));
    let begin = tables.len();
    for part in numbers.chunks(PART) {
        if !wanted() {
            return None;
        }
        let at = tables.len();
        tables.resize(at + part.len() * T::WORDS, 0);
        let words = tables[at..].chunks_exact_mut(T::WORDS);
        words.zip(part).for_each(|(words, number)| number.write(words));
    }
    Some(begin)
}
