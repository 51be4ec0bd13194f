//! Reads XML files: arrays as text, as base64 or appended, optionally compressed with zlib.

use super::base64;
use super::grid::Grid;
use super::tags::Tag;
use crate::vtk::numbers::Kind;
use flate2::read::ZlibDecoder;
use std::io::Read;

/// The maximum number of bytes that zlib can pack into one byte, rounded up.
const MOST_PACKED: usize = 1040;

/// What applies to the whole file.
#[derive(Default)]
struct Form<'a> {
    big_end_first: bool,
    /// Bytes per number in the header of an array.
    word: usize,
    packed: bool,
    appended: Option<Source<'a>>,
}

/// Where the bytes are.
#[derive(Clone, Copy)]
enum Source<'a> {
    Plain(&'a [u8]),
    Letters(&'a [u8]),
}

/// An array in the file.
struct Array<'a> {
    /// The tag around it: Points, Cells, PointData or CellData.
    inside: &'a str,
    name: &'a str,
    tag: Tag<'a>,
    text: &'a [u8],
}

/// Reads a file with one piece of an unstructured grid.
///
/// # Errors
/// If it is not a valid one.
pub fn read(bytes: &[u8], array: Option<&str>) -> Result<Grid, String> {
    let mut form = Form { word: 4, ..Form::default() };
    let mut arrays = Vec::new();
    let (mut inside, mut pieces, mut from) = ("", Vec::new(), 0);
    while let Some(tag) = Tag::next(bytes, from)? {
        from = tag.end;
        match tag.name {
            "VTKFile" => form.open(&tag)?,
            "Piece" => pieces.push(tag),
            "Points" | "Cells" | "PointData" | "CellData" if !tag.empty => inside = tag.name,
            "DataArray" => {
                let text = bytes[from..].split(|&byte| byte == b'<').next().unwrap_or_default();
                let text = if tag.empty { &[] } else { text.trim_ascii() };
                arrays.push(Array { inside, name: tag.get("Name").unwrap_or(inside), tag, text });
            }
            "AppendedData" => {
                let start = bytes[from..]
                    .iter()
                    .position(|&byte| byte == b'_')
                    .map(|at| &bytes[from + at + 1..]);
                let start =
                    start.ok_or_else(|| format!("byte {from}: appended data without '_'"))?;
                let letters = tag.get("encoding") == Some("base64");
                form.appended =
                    Some(if letters { Source::Letters(start) } else { Source::Plain(start) });
                break;
            }
            _ => {}
        }
    }
    let [piece] = pieces[..] else {
        return Err(format!("{} pieces, expected one", pieces.len()));
    };
    let number = |name: &str| -> Result<usize, String> {
        let words = piece.get(name).unwrap_or("nothing");
        words.parse().map_err(|_| format!("{name}: '{}', expected a count", short(words)))
    };
    let (points, cells) = (number("NumberOfPoints")?, number("NumberOfCells")?);
    let find = |inside: &str, name: &str| -> Result<&Array, String> {
        let mut fits = arrays
            .iter()
            .filter(|it| it.inside == inside && (inside == "Points" || it.name == name));
        fits.next().ok_or_else(|| format!("no array '{name}' in {inside}"))
    };
    let ends = form.numbers(find("Cells", "offsets")?, Some(cells))?;
    let corners = ends.last().copied().unwrap_or(0.0);
    let corners = (0.0..1e15).contains(&corners).then_some(corners as usize);
    Ok(Grid {
        coordinates: form.numbers(find("Points", "points")?, points.checked_mul(3))?,
        corners: form.numbers(find("Cells", "connectivity")?, corners)?,
        ends,
        kinds: form.numbers(find("Cells", "types")?, Some(cells))?,
        values: form.numbers(wanted(&arrays, array)?, Some(points))?,
    })
}

/// The point array with this name, or the first; it must have one component.
fn wanted<'a>(arrays: &'a [Array<'a>], name: Option<&str>) -> Result<&'a Array<'a>, String> {
    let of_points = || arrays.iter().filter(|array| array.inside == "PointData");
    let single = |array: &&Array| {
        matches!(array.tag.get("NumberOfComponents").map(str::trim), None | Some("1" | "0" | ""))
    };
    let found = of_points().filter(single).find(|array| name.is_none_or(|name| name == array.name));
    found.ok_or_else(|| {
        let mut names: Vec<&str> = of_points().take(20).map(|array| array.name).collect();
        if names.is_empty() {
            names.push("none");
        }
        let name = name.map_or_else(String::new, |name| format!(" '{name}'"));
        format!("no point array{name} with one component; there are: {}", short(&names.join(", ")))
    })
}

/// Words of a file, shortened for a message.
fn short(words: &str) -> String {
    words.chars().filter(|c| !c.is_control()).take(100).collect()
}

impl<'a> Form<'a> {
    /// Parses the first tag.
    fn open(&mut self, tag: &Tag) -> Result<(), String> {
        let wrong = |name: &str, expected: &str| {
            let found = short(tag.get(name).unwrap_or_default());
            Err(format!("{name}: '{found}', expected {expected}"))
        };
        if tag.get("type") != Some("UnstructuredGrid") {
            return wrong("type", "UnstructuredGrid");
        }
        match tag.get("byte_order") {
            None | Some("LittleEndian") => {}
            Some("BigEndian") => self.big_end_first = true,
            Some(_) => return wrong("byte_order", "LittleEndian or BigEndian"),
        }
        match tag.get("header_type") {
            None | Some("UInt32") => {}
            Some("UInt64") => self.word = 8,
            Some(_) => return wrong("header_type", "UInt32 or UInt64"),
        }
        match tag.get("compressor") {
            None | Some("") => {}
            Some("vtkZLibDataCompressor") => self.packed = true,
            Some(_) => return wrong("compressor", "vtkZLibDataCompressor"),
        }
        Ok(())
    }

    /// The numbers of an array with this many of them.
    fn numbers(&self, array: &Array<'a>, count: Option<usize>) -> Result<Vec<f64>, String> {
        let read = || {
            let count = count.ok_or("no usable count of numbers")?;
            let name = array.tag.get("type").unwrap_or_default();
            let kind = Kind::xml(name).ok_or_else(|| {
                format!("type '{}', expected a numeric type such as Float32", short(name))
            })?;
            let source = match array.tag.get("format") {
                None | Some("ascii") => return words(array.text, count),
                Some("binary") => Source::Letters(array.text),
                Some("appended") => {
                    let offset = array.tag.get("offset").and_then(|word| word.trim().parse().ok());
                    let appended = self
                        .appended
                        .ok_or("format 'appended', but the file has no appended data")?;
                    let source = offset.and_then(|offset| appended.from(offset));
                    source.ok_or("an offset beyond the appended data")?
                }
                Some(other) => {
                    return Err(format!(
                        "format '{}', expected ascii, binary or appended",
                        short(other)
                    ));
                }
            };
            let bytes =
                count.checked_mul(kind.size()).ok_or("more numbers than any file can hold")?;
            let found =
                if self.packed { self.unpack(source, bytes)? } else { self.plain(source, bytes)? };
            Ok(kind.read(&found, self.big_end_first))
        };
        read().map_err(|error: String| format!("array '{}': {error}", short(array.name)))
    }

    fn words(&self, bytes: &[u8]) -> Vec<usize> {
        Kind::Unsigned(self.word)
            .read(bytes, self.big_end_first)
            .into_iter()
            .map(|x| x as usize)
            .collect()
    }

    /// Bytes after a header that states their number.
    fn plain(&self, source: Source<'a>, bytes: usize) -> Result<Vec<u8>, String> {
        let (head, _) = source.take(self.word)?;
        let announced = self.words(&head[..self.word])[0];
        if announced != bytes {
            return Err(format!("{announced} bytes, expected {bytes}"));
        }
        let (mut found, _) = source.take(bytes.saturating_add(self.word))?;
        found.truncate(self.word + bytes);
        found.drain(..self.word);
        Ok(found)
    }

    /// Bytes in compressed blocks after a header: the number of blocks, their size, the last block's size, and the
    /// compressed size of each.
    fn unpack(&self, source: Source<'a>, bytes: usize) -> Result<Vec<u8>, String> {
        let (head, _) = source.take(3 * self.word)?;
        let blocks = self.words(&head[..3 * self.word])[0];
        let size = blocks.checked_add(3).and_then(|words| words.checked_mul(self.word));
        let size = size.ok_or("more blocks than any file can hold")?;
        let (head, rest) = source.take(size)?;
        let sizes = &self.words(&head[..size])[3..];
        let all = sizes.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size));
        let (packed, _) = rest.take(all.ok_or("larger blocks than any file can hold")?)?;
        if bytes / MOST_PACKED > packed.len() {
            return Err(format!("{} packed bytes, expected those of {bytes}", packed.len()));
        }
        let mut found = Vec::new();
        let mut rest = &packed[..];
        for (block, &size) in sizes.iter().enumerate() {
            let (own, others) = rest.split_at(size);
            // One byte more than expected shows that there are too many.
            let left = (bytes - found.len()) as u64 + 1;
            let read = ZlibDecoder::new(own).take(left).read_to_end(&mut found);
            read.map_err(|error| format!("block {block}: {error}"))?;
            if found.len() > bytes {
                return Err(format!("more than {bytes} bytes"));
            }
            rest = others;
        }
        if found.len() < bytes {
            Err(format!("{} bytes, expected {bytes}", found.len()))
        } else {
            Ok(found)
        }
    }
}

impl<'a> Source<'a> {
    fn from(self, offset: usize) -> Option<Self> {
        Some(match self {
            Self::Plain(bytes) => Self::Plain(bytes.get(offset..)?),
            Self::Letters(text) => Self::Letters(text.get(offset..)?),
        })
    }

    /// At least this many decoded bytes, and what follows them.
    fn take(self, bytes: usize) -> Result<(Vec<u8>, Self), String> {
        match self {
            Self::Letters(text) => {
                base64::take(text, bytes).map(|(found, rest)| (found, Self::Letters(rest)))
            }
            Self::Plain(all) => match all.split_at_checked(bytes) {
                Some((found, rest)) => Ok((found.to_vec(), Self::Plain(rest))),
                None => Err(format!("{} bytes left, expected {bytes}", all.len())),
            },
        }
    }
}

/// Parses numbers in text.
fn words(text: &[u8], count: usize) -> Result<Vec<f64>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "text that is not UTF-8")?;
    let number =
        |word: &str| word.parse().map_err(|_| format!("'{}', expected a number", short(word)));
    let numbers: Vec<f64> =
        text.split_ascii_whitespace().map(number).collect::<Result<_, String>>()?;
    if numbers.len() != count {
        return Err(format!("{} numbers, expected {count}", numbers.len()));
    }
    Ok(numbers)
}
