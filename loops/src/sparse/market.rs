//! Reads and writes Matrix Market files: sparse and dense matrices as text, with every qualifier of the format.

use super::matrix::{Csr, Dense};
use crate::real::Real;
use std::fmt::Write;

/// The maximum number of rows and of columns: rows take memory even if they are empty.
const MOST: usize = 1 << 28;
/// Bytes of the shortest possible entry line, `1 1`, including its end.
const SHORTEST: usize = 4;

/// Which unwritten entries follow from the written ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
    Hermitian,
}

/// What an entry's value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Number,
    Whole,
    Complex,
    Pattern,
}

/// What the first line says.
struct Header {
    sparse: bool,
    field: Field,
    symmetry: Symmetry,
}

/// The lines of a text that are neither comments nor empty, with line numbers.
struct Lines<'t> {
    text: &'t str,
    rest: std::iter::Enumerate<std::str::Lines<'t>>,
}

impl<'t> Lines<'t> {
    fn next(&mut self, expected: &str) -> Result<(usize, &'t str), String> {
        let full = self
            .rest
            .find(|(_, line)| !line.trim_start().starts_with('%') && !line.trim().is_empty());
        let ends = || {
            format!("line {}: the file ends; expected {expected}", self.text.lines().count() + 1)
        };
        full.map(|(at, line)| (at + 1, line)).ok_or_else(ends)
    }
}

/// Reads a matrix. Entries at the same place are added, as most programs do.
///
/// # Errors
/// Which line is wrong, what was found and what was expected, in one line.
pub fn read<T: Real>(text: &str) -> Result<Csr<T>, String> {
    let header = header(text.lines().next().unwrap_or_default())?;
    let mut lines = Lines { text, rest: text.lines().enumerate() };
    let sizes = if header.sparse { "ROWS COLUMNS ENTRIES" } else { "ROWS COLUMNS" };
    let (at, line) = lines.next(sizes)?;
    let wrong = |why: String| format!("line {at}: {why}");
    let numbers: Vec<usize> =
        line.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
    let (height, width, count) = match (&numbers[..], header.sparse) {
        (&[height, width, count], true) if line.split_ascii_whitespace().count() == 3 => {
            (height, width, count)
        }
        (&[height, width], false) if line.split_ascii_whitespace().count() == 2 => {
            let all =
                height.checked_mul(width).ok_or_else(|| wrong(format!("'{line}': too large")))?;
            (height, width, all)
        }
        _ => return Err(wrong(format!("'{}': expected {sizes}", line.trim()))),
    };
    if height > MOST || width > MOST {
        return Err(wrong(format!("'{}': expected at most {MOST} rows and columns", line.trim())));
    }
    if header.symmetry != Symmetry::General && height != width {
        return Err(wrong(format!(
            "{height} rows and {width} columns: a symmetric matrix is square"
        )));
    }
    if header.sparse && count > text.len() / SHORTEST + 1 {
        return Err(wrong(format!("{count} entries: the file is too short")));
    }
    let entries = if header.sparse {
        coordinates(&header, &mut lines, (height, width), count)?
    } else {
        array(&header, &mut lines, (height, width), text.len())?
    };
    if let Ok((at, line)) = lines.next("nothing") {
        return Err(format!("line {at}: '{}': expected nothing after the last entry", line.trim()));
    }
    Ok(Csr::of(height, width, &entries))
}

fn header(line: &str) -> Result<Header, String> {
    let line_1 = |why: &str| format!("line 1: {why}");
    let words: Vec<String> = line.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [first, "matrix", form, field, symmetry] = words[..] else {
        return Err(line_1(
            "expected %%MatrixMarket matrix, then a format, a field and a symmetry",
        ));
    };
    if first != "%%matrixmarket" {
        return Err(line_1(&format!("'{first}': expected %%MatrixMarket")));
    }
    let sparse = match form {
        "coordinate" => true,
        "array" => false,
        _ => return Err(line_1(&format!("'{form}': expected coordinate or array"))),
    };
    let field = match field {
        "real" | "double" => Field::Number,
        "integer" => Field::Whole,
        "complex" => Field::Complex,
        "pattern" if sparse => Field::Pattern,
        _ => {
            let pattern = if sparse { ", complex or pattern" } else { " or complex" };
            return Err(line_1(&format!("'{field}': expected real, integer{pattern}")));
        }
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if field != Field::Pattern => Symmetry::Skew,
        "hermitian" if field == Field::Complex => Symmetry::Hermitian,
        _ => {
            let expected = match field {
                Field::Number | Field::Whole => "general, symmetric or skew-symmetric",
                Field::Complex => "general, symmetric, skew-symmetric or hermitian",
                Field::Pattern => "general or symmetric",
            };
            return Err(line_1(&format!("'{symmetry}': expected {expected}")));
        }
    };
    Ok(Header { sparse, field, symmetry })
}

type Entries<T> = Vec<(u32, u32, T)>;

/// Adds an entry, and the one that follows from it by symmetry.
fn add<T: Real>(header: &Header, (row, column): (u32, u32), value: f64, entries: &mut Entries<T>) {
    entries.push((row, column, T::of(value)));
    if header.symmetry != Symmetry::General && row != column {
        let sign = if header.symmetry == Symmetry::Skew { -1.0 } else { 1.0 };
        entries.push((column, row, T::of(sign * value)));
    }
}

fn coordinates<T: Real>(
    header: &Header,
    lines: &mut Lines<'_>,
    (height, width): (usize, usize),
    count: usize,
) -> Result<Entries<T>, String> {
    let twice = if header.symmetry == Symmetry::General { 1 } else { 2 };
    let mut entries = Vec::with_capacity(count * twice);
    let mut below = None;
    for done in 0..count {
        let (at, line) = lines.next(&format!("{} more entries", count - done))?;
        let mut words = line.split_ascii_whitespace();
        let place = |word: Option<&str>, what: &str, most: usize| {
            let said = word.unwrap_or("nothing");
            let number = said.parse().ok().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| format!("line {at}: '{said}': expected a {what} from 1 to {most}"))
        };
        let row = place(words.next(), "row", height)?;
        let column = place(words.next(), "column", width)?;
        let value = value(header.field, &mut words).map_err(|why| format!("line {at}: {why}"))?;
        if header.symmetry == Symmetry::Skew && row == column && value != 0.0 {
            return Err(format!("line {at}: a skew-symmetric matrix has zeros on its diagonal"));
        }
        let side = (row != column && twice == 2).then_some(row > column);
        if side.is_some() && below.replace(side).is_some_and(|before| before != side) {
            return Err(format!(
                "line {at}: an entry on the other side of the diagonal; a {} matrix lists one side",
                match header.symmetry {
                    Symmetry::Skew => "skew-symmetric",
                    Symmetry::Hermitian => "Hermitian",
                    Symmetry::General | Symmetry::Symmetric => "symmetric",
                }
            ));
        }
        add(header, (row as u32 - 1, column as u32 - 1), value, &mut entries);
    }
    Ok(entries)
}

/// Numbers column by column; for a symmetric matrix those from the diagonal down.
fn array<T: Real>(
    header: &Header,
    lines: &mut Lines<'_>,
    (height, width): (usize, usize),
    bytes: usize,
) -> Result<Entries<T>, String> {
    let mut entries = Vec::with_capacity(height.saturating_mul(width).min(bytes));
    for column in 0..width {
        let first = match header.symmetry {
            Symmetry::General => 0,
            Symmetry::Skew => column + 1,
            Symmetry::Symmetric | Symmetry::Hermitian => column,
        };
        for row in first..height {
            let (at, line) =
                lines.next(&format!("the number of row {}, column {}", row + 1, column + 1))?;
            let value = value(header.field, &mut line.split_ascii_whitespace());
            let value = value.map_err(|why| format!("line {at}: {why}"))?;
            add(header, (row as u32, column as u32), value, &mut entries);
        }
    }
    Ok(entries)
}

/// The value at the end of a line.
fn value<'w>(field: Field, words: &mut impl Iterator<Item = &'w str>) -> Result<f64, String> {
    let mut number = || {
        let word = words.next().unwrap_or("nothing");
        let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("'{word}': expected a number"))
    };
    let value = match field {
        Field::Pattern => 1.0,
        Field::Number => number()?,
        Field::Whole => {
            let number = number()?;
            if number.fract() != 0.0 {
                return Err(format!("'{number}': expected a whole number, as line 1 says"));
            }
            number
        }
        Field::Complex => {
            let (real, imaginary) = (number()?, number()?);
            if imaginary != 0.0 {
                return Err(format!(
                    "'{imaginary}': only complex numbers without an imaginary part can be used"
                ));
            }
            real
        }
    };
    match words.next() {
        None => Ok(value),
        Some(word) => Err(format!("'{word}': expected the end of the line")),
    }
}

/// A matrix as a file: coordinate, real, general, with enough digits to read back exactly the same numbers.
#[must_use]
pub fn write<T: Real>(matrix: &Csr<T>) -> String {
    let mut text = String::with_capacity(32 * matrix.entries() + 128);
    let sizes = (matrix.height(), matrix.width, matrix.entries());
    let _ = writeln!(
        text,
        "%%MatrixMarket matrix coordinate real general\n{} {} {}",
        sizes.0, sizes.1, sizes.2
    );
    for row in 0..matrix.height() {
        let (columns, values) = matrix.of_row(row);
        for (column, value) in columns.iter().zip(values) {
            let _ = writeln!(text, "{} {} {value:e}", row + 1, column + 1);
        }
    }
    text
}

/// A dense matrix as a file: array, real, general.
#[must_use]
pub fn write_dense<T: Real>(matrix: &Dense<T>) -> String {
    let mut text = String::with_capacity(16 * matrix.numbers().len() + 128);
    let sizes = (matrix.height(), matrix.width);
    let _ = writeln!(text, "%%MatrixMarket matrix array real general\n{} {}", sizes.0, sizes.1);
    for column in 0..matrix.width {
        for row in 0..matrix.height() {
            let _ = writeln!(text, "{:e}", matrix.row(row)[column]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(text: &str) -> Vec<Vec<f64>> {
        let matrix: Csr<f64> = read(text).unwrap();
        let mut rows = vec![vec![0.0; matrix.width]; matrix.height()];
        for (row, numbers) in rows.iter_mut().enumerate() {
            let (columns, values) = matrix.of_row(row);
            columns
                .iter()
                .zip(values)
                .for_each(|(&column, &value)| numbers[column as usize] = value);
        }
        rows
    }

    #[test]
    fn every_qualifier_is_read() {
        let entries = "% a comment\n\n2 2 2\n1 1 5\n2 1 3e0\n";
        let of =
            |qualifiers: &str| dense(&format!("%%MatrixMarket matrix {qualifiers}\n{entries}"));
        assert_eq!(of("coordinate real general"), [[5.0, 0.0], [3.0, 0.0]]);
        assert_eq!(of("COORDINATE Integer Symmetric"), [[5.0, 3.0], [3.0, 0.0]]);
        let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n";
        assert_eq!(dense(skew), [[0.0, -3.0], [3.0, 0.0]]);
        let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n2 3 1\n2 1\n";
        assert!(read::<f64>(pattern).unwrap_err().contains("square"));
        let both = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n1 2 5\n2 1 5\n";
        assert!(read::<f64>(both).unwrap_err().starts_with("line 5: an entry on the other side"));
        let upper = both.replace("2 2 3", "2 2 2").replace("2 1 5\n", "");
        assert_eq!(dense(&upper), [[1.0, 5.0], [5.0, 0.0]]);
        assert_eq!(dense(&pattern.replace("2 3", "2 2")), [[0.0, 1.0], [1.0, 0.0]]);
        let hermitian = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 3 0\n";
        assert_eq!(dense(hermitian), [[0.0, 3.0], [3.0, 0.0]]);
        assert!(
            read::<f64>(&hermitian.replace("3 0", "3 1")).unwrap_err().starts_with("line 3: '1'")
        );
        assert_eq!(
            dense("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"),
            [[1.0, 3.0], [2.0, 4.0]]
        );
        assert_eq!(
            dense("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n4\n"),
            [[1.0, 2.0], [2.0, 4.0]]
        );
        assert_eq!(
            dense("%%MatrixMarket matrix array real skew-symmetric\n2 2\n7\n"),
            [[0.0, -7.0], [7.0, 0.0]]
        );
    }

    #[test]
    fn bad_input_names_its_line() {
        let begin = "%%MatrixMarket matrix coordinate real general\n";
        for (text, says) in [
            ("", "line 1: expected %%MatrixMarket"),
            ("%%MatrixMarket matrix coordinate real lopsided\n", "'lopsided': expected general"),
            ("%%MatrixMarket matrix array pattern general\n", "'pattern': expected real"),
            (begin, "line 2: the file ends; expected ROWS COLUMNS ENTRIES"),
            (&format!("{begin}2 2\n"), "line 2: '2 2': expected ROWS COLUMNS ENTRIES"),
            (&format!("{begin}2 x 1\n"), "line 2: '2 x 1'"),
            (&format!("{begin}2 2 999999999999\n"), "too short"),
            (&format!("{begin}2 2 1\n3 1 1\n"), "line 3: '3': expected a row from 1 to 2"),
            (&format!("{begin}2 2 1\n1 0 1\n"), "line 3: '0': expected a column from 1 to 2"),
            (&format!("{begin}2 2 1\n1 1 inf\n"), "line 3: 'inf': expected a number"),
            (&format!("{begin}2 2 1\n1 1 1 1\n"), "line 3: '1': expected the end of the line"),
            (&format!("{begin}2 2 2\n1 1 1\n"), "line 4: the file ends; expected 1 more entries"),
            (&format!("{begin}2 2 1\n1 1 1\n2 2 2\n"), "line 4: '2 2 2': expected nothing"),
            ("%%MatrixMarket matrix array real general\n99999999999 99999999999\n", "too large"),
        ] {
            let said = read::<f64>(text).unwrap_err();
            assert!(said.contains(says), "{text}: {said}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let matrix = Csr::of(3, 4, &[(0, 3, 1.0 / 3.0), (2, 0, -1e-300), (2, 1, 7.0)]);
        assert_eq!(read::<f64>(&write(&matrix)).unwrap(), matrix);
        let single = matrix.cast::<f32>();
        assert_eq!(read::<f32>(&write(&single)).unwrap(), single);
    }
}
