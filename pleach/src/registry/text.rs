//! Solutions as text: whole numbers separated by blanks.

use crate::failure::{Failure, usage};
use crate::input::text_of;

/// The numbers in a file, each of which names a `thing`.
pub fn numbers(path: &str, thing: &str) -> Result<Vec<i64>, Failure> {
    let text = text_of(path).or_else(|why| usage(format!("{path}: {why}")))?;
    let lines = (1..).zip(text.lines());
    let words =
        lines.flat_map(|(line, words)| words.split_whitespace().map(move |word| (line, word)));
    let number = |(line, word): (usize, &str)| {
        word.parse().or_else(|_| {
            usage(format!("{path}, line {line}: '{word}', expected the number of a {thing}"))
        })
    };
    words.map(number).collect()
}
