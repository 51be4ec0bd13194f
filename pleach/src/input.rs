//! Reads the text files that users name: instances, solutions, scenarios.

use std::io;

/// The text of a file. A byte-order mark at its start, which some editors write, is skipped.
pub(crate) fn text_of(path: &str) -> io::Result<String> {
    std::fs::read_to_string(path).map(without_mark)
}

/// The text of standard input.
pub(crate) fn text_of_stdin() -> io::Result<String> {
    io::read_to_string(io::stdin()).map(without_mark)
}

fn without_mark(text: String) -> String {
    text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text)
}
