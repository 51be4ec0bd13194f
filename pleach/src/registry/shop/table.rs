//! [`Table`]: the cells of a text, separated by commas, semicolons, tabs or bars.

use csv::{ReaderBuilder, StringRecord};

/// The most bytes of a table.
const MOST_BYTES: usize = 1 << 26;
/// The most rows, and the most cells of a row.
pub const MOST: usize = 10_001;

/// The separators, the likeliest first: where the comma marks decimals, spreadsheets separate by semicolons.
const SEPARATORS: [u8; 4] = [b'\t', b';', b'|', b','];

/// The rows of a table.
pub struct Table {
    /// What separates the cells.
    pub separator: u8,
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
    /// Reads a table. Lines that begin with `#`, empty lines and lines without content are skipped. Errors continue
    /// after the name of the file.
    pub fn read(text: &str, separator: u8) -> Result<Self, String> {
        if text.len() > MOST_BYTES {
            return Err(format!(": {} bytes, expected at most {MOST_BYTES}", text.len()));
        }
        let cells_of = |line: &str| line.bytes().filter(|&byte| byte == separator).count() + 1;
        let usual = text.lines().find(|line| is_content(line)).map_or(0, cells_of);
        // A row takes many times the memory of its text, so its length is checked first.
        for (line, text) in (1..).zip(text.lines()) {
            let cells = cells_of(text);
            if cells > MOST {
                return Err(format!(", line {line}: {cells} cells, expected at most {MOST}"));
            }
            let Some(after) = text.strip_prefix('#') else { continue };
            if after.trim_start_matches(' ').as_bytes().first() == Some(&separator) {
                return Err(format!(
                    ", line {line}: a comment or a header? expected 'job' instead of '#'"
                ));
            }
            if cells == usual && cells > 1 && !after.starts_with(' ') {
                return Err(format!(
                    ", line {line}: a comment or a job? expected a blank behind '#', or the name in quotes"
                ));
            }
        }
        let mut reader = ReaderBuilder::new();
        reader.has_headers(false).flexible(true).comment(Some(b'#')).delimiter(separator);
        let (mut rows, mut lines) = (Vec::new(), Lines { text, at: 0, line: 1 });
        for cells in reader.from_reader(text.as_bytes()).into_records() {
            let mut cells = cells.map_err(|why| format!(": {why}"))?;
            let line = lines.line_of(cells.position().map_or(0, |at| at.byte() as usize));
            let filled = (1..).zip(&cells).filter(|(_, cell)| !cell.trim().is_empty());
            let filled = filled.last().map_or(0, |(n, _)| n);
            cells.truncate(filled);
            if cells.len() > MOST {
                let n = cells.len();
                return Err(format!(", line {line}: {n} cells, expected at most {MOST}"));
            }
            if rows.len() == MOST {
                return Err(format!(", line {line}: expected at most {MOST} rows"));
            }
            if !cells.is_empty() {
                rows.push(Row { line, cells });
            }
        }
        Ok(Self { separator, rows })
    }
}

/// Counts the lines of a text.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of the row that begins at a place or, after empty lines and comments, behind it.
    fn line_of(&mut self, start: usize) -> u64 {
        while let Some(rest) = self.text.get(self.at..) {
            let line = rest.split_inclusive('\n').next().unwrap_or_default();
            let skipped = line.starts_with('#') || line.trim_end_matches(['\r', '\n']).is_empty();
            if line.is_empty() || self.at >= start && !skipped {
                break;
            }
            self.at += line.len();
            self.line += 1;
        }
        self.line
    }
}

/// What separates the cells of a text, which is a table if its name ends as one or its first two lines show it.
pub fn separator(name: &str, text: &str) -> Option<u8> {
    let lines: Vec<&str> = text.lines().filter(|line| is_content(line)).take(2).collect();
    let in_all = |&separator: &u8| !lines.is_empty() && lines.iter().all(|it| has(it, separator));
    let found = SEPARATORS.into_iter().find(in_all);
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if ["csv", "tsv", "xlsx"].contains(&&*ending) {
        return found.or(Some(b','));
    }
    // Matrices of numbers may be separated by tabs, too.
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    found.filter(|&found| found != b'\t' || !lines[0].split_whitespace().all(is_number))
}

/// Whether a line is neither empty nor a comment.
fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

/// Whether a line has this separator outside quotes.
fn has(line: &str, separator: u8) -> bool {
    line.split('"').step_by(2).any(|part| part.bytes().any(|byte| byte == separator))
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
        let why =
            ", line 3: a comment or a job? expected a blank behind '#', or the name in quotes";
        assert_eq!(read("# a;b\njob;M1\n#12;3\n13;1\n"), Err(why.into()));
        let tabs = Table::read("#\tM1\tM2\n1\t3\t4\n", b'\t').err().unwrap();
        assert!(tabs.starts_with(", line 1: a comment or a header?"), "{tabs}");
        assert_eq!(read("#a;b;c\njob;M1\n# 12;3\n\"#13\";1\n#\n#14\n"), Ok(2));
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
