//! [`Table`]: the cells of a text, separated by commas, semicolons, tabs or bars.

use csv::{ByteRecord, Reader, ReaderBuilder, StringRecord};
use std::io::Read;

/// The maximum number of bytes of a table.
const MOST_BYTES: usize = 1 << 26;
/// In how many bytes the separator is searched for.
const SEARCHED: usize = 1 << 20;
/// The maximum number of rows, and the maximum number of cells of a row.
pub const MOST: usize = 10_001;

/// The separators, the likeliest first: where the comma marks decimals, spreadsheets separate by semicolons.
const SEPARATORS: [u8; 4] = [b'\t', b';', b'|', b','];

/// The rows of a table.
pub struct Table {
    /// What separates the cells.
    pub separator: u8,
    /// The comments above the rows that have as many cells as the first row: one of them may be the header.
    pub comments: Vec<Row>,
    /// The rows that are not empty.
    pub rows: Vec<Row>,
}

/// A row of a table.
pub struct Row {
    /// The line where it begins, counted from 1.
    pub line: u64,
    /// The cells up to the last one that is not empty.
    cells: StringRecord,
}

impl Row {
    /// The cells, without blanks around them.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(str::trim)
    }

    /// A cell; empty if the row has no more cells.
    pub fn cell(&self, at: usize) -> &str {
        self.cells.get(at).unwrap_or_default().trim()
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }
}

impl Table {
    /// Reads a table. A line that names the separator, lines that begin with `#`, empty lines and lines without content
    /// are skipped. Errors continue after the name of the file.
    pub fn read(text: &str, separator: u8) -> Result<Self, String> {
        if text.len() > MOST_BYTES {
            return Err(format!(": {} bytes, expected at most {MOST_BYTES}", text.len()));
        }
        // What is left of the first line is empty.
        let text = named_separator(text).map_or(text, |(_, rest)| rest);
        // A row takes many times the memory of its text, so its length is checked first.
        for (line, text) in (1..).zip(text.lines()) {
            let cells = cells_of(text, separator);
            if cells > MOST {
                return Err(format!(", line {line}: {cells} cells, expected at most {MOST}"));
            }
        }
        let first = first_records(text, separator).into_iter().next().unwrap_or_default();
        let usual = first.len();
        let filled = first.iter().rposition(|cell| !cell.trim_ascii().is_empty());
        let filled = filled.map_or(0, |at| at + 1);
        // Behind the text, an empty cell follows in a line of its own, unless a quote is open.
        let closed = text.as_bytes().chain(&b"\n\""[..]);
        let mut lines = Lines { text, at: 0, line: 1 };
        let (mut rows, mut open, mut comments) = (Vec::new(), None, Vec::new());
        for cells in reader(closed, separator).into_records() {
            let mut cells = cells.map_err(|why| format!(": {why}"))?;
            let start = cells.position().map_or(0, |at| at.byte() as usize);
            let line = lines.line_of(start, |line, comment| {
                if rows.is_empty() {
                    let (separator, blank) = (char::from(separator), char::is_whitespace);
                    let text = comment.trim_end_matches(|c| c == separator || blank(c));
                    let row = Row { line, cells: text.split(separator).collect() };
                    if filled > 1 && row.len() == filled && comments.len() < MOST_COMMENTS {
                        comments.push(row);
                    }
                }
                check_comment(line, comment, separator, usual)
            })?;
            let before_last = cells.iter().take(cells.len().saturating_sub(1));
            let breaks: usize = before_last.map(|cell| cell.matches('\n').count()).sum();
            open = cells.iter().ne([""]).then_some(line + breaks as u64);
            let filled = (1..).zip(&cells).filter(|(_, cell)| !cell.trim().is_empty());
            let filled = filled.last().map_or(0, |(n, _)| n);
            cells.truncate(filled);
            if cells.is_empty() {
                continue;
            }
            if cells.len() > MOST {
                let n = cells.len();
                return Err(format!(", line {line}: {n} cells, expected at most {MOST}"));
            }
            if rows.len() == MOST {
                return Err(format!(", line {line}: expected at most {MOST} rows"));
            }
            rows.push(Row { line, cells });
        }
        match open {
            Some(line) => Err(format!(
                ", line {line}: a quote opens here and is not closed, expected a second one"
            )),
            None => Ok(Self { separator, comments, rows }),
        }
    }
}

/// The number of cells of a line without quotes.
fn cells_of(line: &str, separator: u8) -> usize {
    line.bytes().filter(|&byte| byte == separator).count() + 1
}

/// The maximum number of comments above a table among which a header is looked for.
const MOST_COMMENTS: usize = 100;

/// Refuses a comment that looks like a header, or like a row with the usual number of cells.
fn check_comment(line: u64, comment: &str, separator: u8, usual: usize) -> Result<(), String> {
    let after = comment.strip_prefix('#').unwrap_or_default();
    let what = if after.trim_start_matches(' ').as_bytes().first() == Some(&separator) {
        "could be a comment or a header; expected 'job' instead of '#'"
    } else if usual > 1 && cells_of(comment, separator) == usual && !after.starts_with(' ') {
        "could be a comment or a job; expected a blank after '#', or the name in quotes"
    } else {
        return Ok(());
    };
    Err(format!(", line {line}: {what}"))
}

/// Counts the lines of a text.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of the record that begins at a place or, after empty lines and comments, after it. The comments are
    /// checked.
    fn line_of(
        &mut self,
        start: usize,
        mut check: impl FnMut(u64, &str) -> Result<(), String>,
    ) -> Result<u64, String> {
        while let Some(rest) = self.text.get(self.at..) {
            let line = rest.split_inclusive('\n').next().unwrap_or_default();
            let (between, comment) = (self.at >= start, line.starts_with('#'));
            let skipped = comment || line.trim_end_matches(['\r', '\n']).is_empty();
            if line.is_empty() || between && !skipped {
                break;
            }
            if between && comment {
                check(self.line, line)?;
            }
            self.at += line.len();
            self.line += 1;
        }
        Ok(self.line)
    }
}

/// What separates the cells of a text, which is a table if its name ends as one, or if its first line names a separator
/// or its first two records have one.
pub fn separator(name: &str, text: &str) -> Option<u8> {
    if let Some((separator, _)) = named_separator(text) {
        return Some(separator);
    }
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if ending == "xlsx" {
        return Some(b',');
    }
    let has = |separator: u8, from: usize| {
        let records = first_records(text, separator);
        records.len() > from && records[from..].iter().all(|record| record.len() > 1)
    };
    let found = SEPARATORS.into_iter().find(|&separator| has(separator, 0));
    if ["csv", "tsv"].contains(&&*ending) {
        // The first line may be a title above the table.
        let below = || SEPARATORS.into_iter().find(|&separator| has(separator, 1));
        return found.or_else(below).or(Some(b','));
    }
    // Matrices of numbers may be separated by tabs, too.
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let is_content = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let first = text.lines().find(is_content).unwrap_or_default();
    found.filter(|&found| found != b'\t' || !first.split_whitespace().all(is_number))
}

/// The separator that the first line names, as in `sep=;`, which Excel understands, and what follows this line.
fn named_separator(text: &str) -> Option<(u8, &str)> {
    let (line, rest) = text.split_at(text.find(['\r', '\n'])?);
    match line.trim_matches('"').as_bytes() {
        [word @ .., separator] if word.eq_ignore_ascii_case(b"sep=") => {
            SEPARATORS.contains(separator).then_some((*separator, rest))
        }
        _ => None,
    }
}

/// The first two records of a text with this separator that are neither empty nor comments.
fn first_records(text: &str, separator: u8) -> Vec<ByteRecord> {
    let start = &text.as_bytes()[..text.len().min(SEARCHED)];
    let is_content = |record: &ByteRecord| record.iter().any(|cell| !cell.trim_ascii().is_empty());
    let records = reader(start, separator).into_byte_records().map_while(Result::ok);
    records.filter(is_content).take(2).collect()
}

/// Reads records whose cells may be in quotes and have line breaks there.
fn reader<R: Read>(text: R, separator: u8) -> Reader<R> {
    let mut reader = ReaderBuilder::new();
    reader.has_headers(false).flexible(true).comment(Some(b'#')).delimiter(separator);
    reader.from_reader(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_found() {
        for (name, text, found) in [
            ("-", "a,b\n1,2\n", Some(b',')),
            ("-", "# a;b\n\n1;2,5\n3;4\n", Some(b';')),
            ("-", "job\tM1\nA\t1\n", Some(b'\t')),
            ("-", "a|b\n1|2", Some(b'|')),
            ("-", "\"a;b\",c\n1,2\n", Some(b',')),
            ("-", "1,2\n", Some(b',')),
            ("-", "2\t2\n1\t2\n3\t4\n", None),
            ("a.TSV", "2\t2\n1\t2\n3\t4\n", Some(b'\t')),
            ("a.csv", "M1\n3\n", Some(b',')),
            ("-", "3 2\n1 2 3\n4 5 6\n", None),
            ("-", "number of jobs, number of machines :\n3 2 1\n", None),
            ("-", "", None),
            ("-", "#\n", None),
            ("-", "Job,Saw,\"Due\ndate\"\nA,1,2\n", Some(b',')),
            ("a.csv", "Job;\"Saw\n[min]\";\"Due; date\"\nA;1,5;2\nB;3;4\n", Some(b';')),
            ("a.csv", "Job\t\"Saw\n[min]\"\nA\t1\n", Some(b'\t')),
            ("a.csv", "Job;3\" saw;Oven\nA;1;2\n", Some(b';')),
            ("a.csv", "Week 12\nJob;Saw\nA;1\n", Some(b';')),
            ("-", "sep=;\r\nM1\r\n3\r\n", Some(b';')),
            ("a.csv", "\"SEP=|\"\n1,2\n", Some(b'|')),
            ("a.xlsx", "\"Saw\",\"a;b\"\n\"A\",\"1;2\"\n", Some(b',')),
        ] {
            assert_eq!(separator(name, text), found, "{text:?}");
        }
    }

    #[test]
    fn empty_lines_comments_and_empty_cells_at_the_end_are_skipped() {
        let table =
            Table::read("# a\r\n\r\na ,\"b;\"\"c\",,\r\n,,\r\n  \r\n1,,2\r\n", b',').unwrap();
        let rows: Vec<(u64, Vec<&str>)> =
            table.rows.iter().map(|row| (row.line, row.cells().collect())).collect();
        assert_eq!(rows, [(3, vec!["a", "b;\"c"]), (6, vec!["1", "", "2"])]);
    }

    #[test]
    fn names_that_begin_like_comments_are_refused() {
        let read = |text: &str| Table::read(text, b';').map(|table| table.rows.len());
        let why = ", line 3: could be a comment or a job; expected a blank after '#', or the name in quotes";
        assert_eq!(read("# a;b\njob;M1\n#12;3\n13;1\n"), Err(why.into()));
        let tabs = Table::read("#\tM1\tM2\n1\t3\t4\n", b'\t').err().unwrap();
        assert!(tabs.starts_with(", line 1: could be a comment or a header;"), "{tabs}");
        assert_eq!(read("#a;b;c\njob;M1\n# 12;3\n\"#13\";1\n#\n#14\n"), Ok(2));
    }

    #[test]
    fn quotes_may_hold_line_breaks_and_must_be_closed() {
        let rows = |text: &str| -> Result<Vec<u64>, String> {
            Table::read(text, b';').map(|table| table.rows.iter().map(|row| row.line).collect())
        };
        assert_eq!(rows("sep=;\n\"Saw\n#1\";\"Oven\n\"\n1;2\n"), Ok(vec![2, 5]));
        assert_eq!(rows("\"a\n#;\"\n\n# it's 3\" wide\n3\" saw;1"), Ok(vec![1, 5]));
        for (text, line) in [
            ("\"a", 1),
            ("a;b\n\nc;\"d\ne\n", 3),
            ("a;\"b\n1\";\"c\nd;2", 2),
            ("a\n1;\"", 2),
            ("a\n1;\"\n\n", 2),
        ] {
            let why = format!(", line {line}: a quote opens here and is not closed, expected a");
            assert!(rows(text).is_err_and(|found| found.starts_with(&why)), "{text:?}");
        }
    }

    #[test]
    fn tables_have_limits() {
        let wide = ",".repeat(MOST) + "1";
        let why = Table::read(&wide, b',').err().unwrap();
        assert_eq!(why, ", line 1: 10002 cells, expected at most 10001");
        let why = Table::read(&"1\n".repeat(MOST + 1), b',').err().unwrap();
        assert_eq!(why, ", line 10002: expected at most 10001 rows");
        let why = Table::read(&" ".repeat(MOST_BYTES + 1), b',').err().unwrap();
        assert!(why.starts_with(": 67108865 bytes"), "{why}");
    }
}
