//! Reads the text files that users name: instances, solutions, scenarios.

use std::fs::File;
use std::io::{self, Read};

/// The most bytes of a text: a device may have no end.
const MOST_BYTES: u64 = 1 << 28;

/// The text of a file. A byte-order mark at its start, which some editors write, is skipped.
pub(crate) fn text_of(path: &str) -> io::Result<String> {
    text(File::open(path)?)
}

/// The text of standard input.
pub(crate) fn text_of_stdin() -> io::Result<String> {
    text(io::stdin())
}

fn text(from: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("longer than {MOST_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| io::Error::other("not a text file (UTF-8)"))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
}
