//! [`text_of`]: the first sheet of an Excel workbook as a table of text.

use std::io;

/// Whether a file with this name is a workbook.
pub fn is_workbook(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".xlsx")
}

/// The sheet; its lines are the rows, whose cells are in quotes and separated by commas.
#[cfg(not(feature = "xlsx"))]
pub fn text_of(_: &str) -> io::Result<String> {
    let why = "built without xlsx: save the sheet as CSV, or build pleach with --features xlsx";
    Err(io::Error::other(why))
}

/// The sheet; its lines are the rows, whose cells are in quotes and separated by commas.
#[cfg(feature = "xlsx")]
pub fn text_of(path: &str) -> io::Result<String> {
    let bytes = crate::input::bytes_of_workbook(path)?;
    sheet::text(bytes).map_err(io::Error::other)
}

#[cfg(feature = "xlsx")]
mod sheet {
    use calamine::{DataRef, Reader, Xlsx};
    use std::collections::BTreeMap;
    use std::io::{Cursor, Read, copy, sink};
    use zip::ZipArchive;

    /// The maximum number of bytes of the text.
    const MOST_BYTES: usize = 1 << 26;
    /// The maximum number of bytes of all files in a workbook, unpacked.
    const MOST_UNPACKED: u64 = 1 << 28;

    /// The first sheet of a workbook. A dense table would let two cells allocate a whole sheet.
    pub fn text(bytes: Vec<u8>) -> Result<String, String> {
        let wrong = |why: calamine::XlsxError| {
            let why = why.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            format!("not a workbook that can be read: {why}")
        };
        check_size(&bytes, MOST_UNPACKED)?;
        let mut book = Xlsx::new(Cursor::new(bytes)).map_err(wrong)?;
        let first = book.sheet_names().first().cloned().ok_or("a workbook without sheets")?;
        let mut reader = book.worksheet_cells_reader(&first).map_err(wrong)?;
        let (mut rows, mut size) = (BTreeMap::<(u32, u32), String>::new(), 0);
        while let Some(cell) = reader.next_cell().map_err(wrong)? {
            let text = written(cell.get_value());
            if !text.is_empty() {
                // The least that a cell takes here.
                size += text.len() + 16;
                rows.insert(cell.get_position(), text);
            }
            if size > MOST_BYTES {
                return Err(format!("a sheet of more than {MOST_BYTES} bytes"));
            }
        }
        lines(&rows)
    }

    /// The rows as lines of text. A row whose only cell is a comment is left empty, since quotes make its `#` a name.
    fn lines(cells: &BTreeMap<(u32, u32), String>) -> Result<String, String> {
        let (mut text, mut row, mut column) = (String::new(), 0, 0);
        for (&at, cell) in cells {
            let is_alone = || cells.range((at.0, 1)..=(at.0, u32::MAX)).next().is_none();
            let is_comment = cell == "#" || cell.starts_with("# ");
            if at.1 == 0 && is_comment && is_alone() {
                continue;
            }
            // Rows and columns are limited by the format, but not by a crafted file.
            let gap = u64::from(at.0 - row) + u64::from(at.1);
            if text.len() as u64 + gap + cell.len() as u64 > MOST_BYTES as u64 {
                return Err(format!("a sheet of more than {MOST_BYTES} bytes"));
            }
            for _ in row..at.0 {
                text.push('\n');
                column = 0;
            }
            for _ in column..at.1 {
                text.push(',');
            }
            (row, column) = at;
            text += &format!("\"{}\"", cell.replace('"', "\"\""));
        }
        Ok(text)
    }

    /// Refuses a workbook whose unpacked files are too large for memory. The sizes that it states may be false, so its
    /// files are unpacked to nowhere; other faults are left to its reader.
    fn check_size(bytes: &[u8], most: u64) -> Result<(), String> {
        let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return Ok(()) };
        let mut left = most;
        for at in 0..archive.len() {
            let Ok(file) = archive.by_index(at) else { continue };
            let size = copy(&mut file.take(left + 1), &mut sink()).unwrap_or(0);
            let rest = left.checked_sub(size);
            left = rest.ok_or_else(|| format!("a workbook of more than {most} bytes, unpacked"))?;
        }
        Ok(())
    }

    /// A cell as text in one line.
    fn written(cell: &DataRef<'_>) -> String {
        match cell {
            DataRef::Empty => String::new(),
            DataRef::Int(number) => number.to_string(),
            DataRef::Float(number) => digits(*number),
            DataRef::String(text) => one_line(text),
            DataRef::SharedString(text) => one_line(text),
            DataRef::Bool(value) => value.to_string(),
            // Not a comment, as `#N/A` would be.
            DataRef::Error(why) => format!("error {why}"),
            _ => "a date or time".into(),
        }
    }

    fn one_line(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A number with the 15 digits that Excel shows: 0.1 + 0.2 is 0.3.
    fn digits(number: f64) -> String {
        let rounded = format!("{number:.14e}").parse().unwrap_or(number);
        rounded.to_string()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use calamine::CellErrorType;

        /// A header, an empty row, a number as text, formulas, and a second sheet.
        const BOOK: &[u8] = include_bytes!("workbook.xlsx");

        #[test]
        fn the_first_sheet_is_read_row_by_row() {
            let expected = "\"Job\",\"Saw, \"\"new\"\"\",\"Oven\",\"Due\"\n\"A\",\"3.5\",\"2\",\"9\"\n\n\
                            \"B 1\",\"0.3\",\"1\",\"12\"";
            assert_eq!(text(BOOK.to_vec()).unwrap(), expected);
        }

        #[test]
        fn comments_are_left_out() {
            let cells = [
                ((0, 0), "# Week 12"),
                ((1, 0), "#"),
                ((1, 1), "Saw"),
                ((2, 1), "# 2"),
                ((3, 0), "#3"),
            ];
            let cells = cells.into_iter().map(|(at, text)| (at, text.to_string())).collect();
            assert_eq!(lines(&cells).unwrap(), "\n\"#\",\"Saw\"\n,\"# 2\"\n\"#3\"");
            assert!(written(&DataRef::Error(CellErrorType::NA)).starts_with("error "));
        }

        #[test]
        fn workbooks_that_are_too_large_unpacked_are_refused() {
            // The sizes of its files add up to this.
            let size = 2592;
            assert_eq!(check_size(BOOK, size), Ok(()));
            let why = format!("a workbook of more than {} bytes, unpacked", size - 1);
            assert_eq!(check_size(BOOK, size - 1), Err(why));
        }

        #[test]
        fn broken_workbooks_are_refused() {
            for n in (0..BOOK.len()).step_by(97) {
                let why = text(BOOK[..n].to_vec()).unwrap_err();
                assert!(!why.contains('\n') && why.starts_with("not a workbook"), "{n}: {why}");
            }
        }

        #[test]
        fn numbers_have_fifteen_digits() {
            for (number, said) in [(0.1 + 0.2, "0.3"), (3.0, "3"), (1e-7, "0.0000001")] {
                assert_eq!(digits(number), said);
            }
        }
    }
}
