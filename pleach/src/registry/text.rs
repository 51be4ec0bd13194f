//! Solutions as text: whole numbers separated by blanks, and comments from `#` to the end of a line.

use crate::failure::{Failure, usage};
use crate::input::text_of;

/// The numbers in a file, each of which names a `thing`.
pub fn numbers(path: &str, thing: &str) -> Result<Vec<i64>, Failure> {
    let text = text_of(path).or_else(|why| usage(format!("{path}: {why}")))?;
    let lines = (1..).zip(text.lines());
    let words = lines.flat_map(|(line, words)| {
        let words = words.split('#').next().unwrap_or_default();
        words.split_whitespace().map(move |word| (line, word))
    });
    let number = |(line, word): (usize, &str)| {
        word.parse().or_else(|_| {
            let hint = hint(word);
            usage(format!("{path}, line {line}: '{word}', expected the number of a {thing}{hint}"))
        })
    };
    words.map(number).collect()
}

/// What follows the error of a word that may be several.
pub fn hint(word: &str) -> &'static str {
    if word.contains([',', ';']) { "; blanks or line ends separate them" } else { "" }
}
