//! Writes numbers as words into the tables of a device.

use crate::real::Real;

/// The maximum number of words for the results of a range on a device, unless a single unit takes more.
pub const MOST_WORDS: usize = 1 << 22;

/// How many numbers to write between checks whether they are still wanted.
const PART: usize = 1 << 18;

/// Appends numbers; those of 64 bits start at an even word. Returns where they start, or `None` if they are no longer
/// wanted.
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
