//! Reads the text files that users name: instances, solutions, scenarios.

use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// The most bytes of a text, since a device may be endless.
const MOST_BYTES: u64 = 1 << 28;
/// The same for a workbook, which is compressed.
#[cfg(feature = "xlsx")]
const MOST_WORKBOOK: u64 = 1 << 24;
/// The same for a matrix or a mesh.
const MOST_LARGE: u64 = 1 << 34;

/// The text of a file. A byte-order mark at its start, which some editors write, is skipped.
pub(crate) fn text_of(path: &str) -> io::Result<String> {
    text(File::open(path)?)
}

/// The bytes of a workbook.
#[cfg(feature = "xlsx")]
pub(crate) fn bytes_of_workbook(path: &str) -> io::Result<Vec<u8>> {
    limited(File::open(path)?, MOST_WORKBOOK)
}

/// A file that may be large, and compressed with gzip.
pub(crate) fn bytes_of_large(path: &str) -> io::Result<Vec<u8>> {
    let mut file = BufReader::new(File::open(path)?);
    if file.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        limited(MultiGzDecoder::new(file), MOST_LARGE)
    } else {
        limited(file, MOST_LARGE)
    }
}

/// The text of standard input.
pub(crate) fn text_of_stdin() -> io::Result<String> {
    text(io::stdin())
}

/// Reads to the end, up to this many bytes.
fn limited(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("longer than {most} bytes")));
    }
    Ok(bytes)
}

fn text(from: impl Read) -> io::Result<String> {
    let bytes = limited(from, MOST_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| io::Error::other("not a text file (UTF-8)"))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
}
