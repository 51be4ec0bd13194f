//! Encodes numbers as little-endian bytes, for results that travel to another process.

use crate::real::Real;
use pleach_core::search::work::{Malformed, Reader};

/// Appends whole words.
pub fn put_words(words: impl IntoIterator<Item = u32>, out: &mut Vec<u8>) {
    words.into_iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// Takes this many whole words.
pub fn take_words<'a>(
    from: &mut Reader<'a>,
    count: usize,
) -> Result<impl Iterator<Item = u32> + 'a, Malformed> {
    let (words, _) = from.take(count.checked_mul(4).ok_or(Malformed::Short)?)?.as_chunks::<4>();
    Ok(words.iter().map(|&word| u32::from_le_bytes(word)))
}

/// Appends numbers.
pub fn put_numbers<T: Real>(numbers: &[T], out: &mut Vec<u8>) {
    out.reserve(size_of_val(numbers));
    let mut words = [0; 2];
    for number in numbers {
        number.write(&mut words[..T::WORDS]);
        put_words(words[..T::WORDS].iter().copied(), out);
    }
}

/// Fills `room` with numbers.
pub fn take_numbers<T: Real>(from: &mut Reader<'_>, room: &mut [T]) -> Result<(), Malformed> {
    let mut words = take_words(from, room.len() * T::WORDS)?;
    for number in room {
        let both =
            [words.next().unwrap_or(0), if T::WORDS > 1 { words.next().unwrap_or(0) } else { 0 }];
        *number = T::read(&both[..T::WORDS]);
    }
    Ok(())
}
