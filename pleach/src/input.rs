//! Reads the text files that users name: instances, solutions, scenarios.

use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read};

/// The maximum number of bytes of a text, since a device may be endless.
const MOST_BYTES: u64 = 1 << 28;
/// The same for a workbook, which is compressed.
#[cfg(feature = "xlsx")]
const MOST_WORKBOOK: u64 = 1 << 24;
/// The same for a matrix or a mesh.
const MOST_LARGE: u64 = 1 << 34;

/// The text of a file.
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
    decoded(limited(from, MOST_BYTES)?)
}

/// The text that bytes encode: UTF-8, or after its byte-order mark UTF-16, in which Excel saves "Unicode text". The
/// mark, which some editors write before UTF-8 as well, is skipped. Where the only line ends are carriage returns, they
/// become line feeds.
pub(crate) fn decoded(bytes: Vec<u8>) -> io::Result<String> {
    let text = match &bytes[..] {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8(bytes),
    }?;
    let alone = text.contains('\r') && !text.contains('\n');
    Ok(if alone { text.replace('\r', "\n") } else { text })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> io::Result<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text = char::decode_utf16(pairs.iter().map(|&pair| unit(pair))).collect::<Result<_, _>>();
    let wrong = || Error::new(ErrorKind::InvalidData, "broken UTF-16: save the file as UTF-8");
    text.ok().filter(|_| rest.is_empty()).ok_or_else(wrong)
}

/// The text that bytes encode in UTF-8, without a byte-order mark.
pub(crate) fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    let text = String::from_utf8(bytes).map_err(|why| {
        let before = &why.as_bytes()[..why.utf8_error().valid_up_to()];
        let lines_after = |end: u8| before.iter().filter(|&&byte| byte == end).count();
        let (feeds, returns) = (lines_after(b'\n'), lines_after(b'\r'));
        let line = 1 + if feeds == 0 { returns } else { feeds };
        let advice = "save the file as UTF-8 (in Excel as 'CSV UTF-8')";
        Error::new(ErrorKind::InvalidData, format!("line {line} is not text in UTF-8: {advice}"))
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_utf8_or_marked_as_utf16() {
        let wide = |order: fn(u16) -> [u8; 2], text: &str| {
            text.encode_utf16().flat_map(order).collect::<Vec<u8>>()
        };
        let text = "Säge 𝄞\r\n1\n";
        for bytes in [
            text.as_bytes().to_vec(),
            format!("\u{feff}{text}").into_bytes(),
            wide(u16::to_le_bytes, &format!("\u{feff}{text}")),
            wide(u16::to_be_bytes, &format!("\u{feff}{text}")),
        ] {
            assert_eq!(decoded(bytes).unwrap(), text);
        }
        assert_eq!(decoded(b"a\r\r# b\rc\r".to_vec()).unwrap(), "a\n\n# b\nc\n");
        for (bytes, said) in [
            (&b"Job\n\nS\xe4ge;1\n"[..], "line 3 is not text in UTF-8: save the file as UTF-8"),
            (&b"\xff\xfea\0b"[..], "broken UTF-16"),
            (&b"\xfe\xff\xd8\0"[..], "broken UTF-16"),
        ] {
            let why = decoded(bytes.to_vec()).unwrap_err().to_string();
            assert!(why.starts_with(said), "{why}");
        }
    }
}
