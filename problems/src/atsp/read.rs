//! Reads TSPLIB files whose costs are given as a matrix.

use super::instance::{Instance, MOST_CITIES, MOST_COST};

/// What may stand between a key and its value.
const SEPARATORS: [char; 3] = [':', ' ', '\t'];

/// Which part of a matrix a file lists, row by row; the rest mirrors it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Full,
    Upper { diagonal: bool },
    Lower { diagonal: bool },
}

/// The layouts by name. The columns of one half are the rows of the other.
const LAYOUTS: [(&str, Layout); 9] = [
    ("FULL_MATRIX", Layout::Full),
    ("UPPER_ROW", Layout::Upper { diagonal: false }),
    ("LOWER_ROW", Layout::Lower { diagonal: false }),
    ("UPPER_DIAG_ROW", Layout::Upper { diagonal: true }),
    ("LOWER_DIAG_ROW", Layout::Lower { diagonal: true }),
    ("LOWER_COL", Layout::Upper { diagonal: false }),
    ("UPPER_COL", Layout::Lower { diagonal: false }),
    ("LOWER_DIAG_COL", Layout::Upper { diagonal: true }),
    ("UPPER_DIAG_COL", Layout::Lower { diagonal: true }),
];

impl Layout {
    /// The columns listed for a row.
    fn columns(self, row: usize, cities: usize) -> std::ops::Range<usize> {
        match self {
            Layout::Full => 0..cities,
            Layout::Upper { diagonal } => row + usize::from(!diagonal)..cities,
            Layout::Lower { diagonal } => 0..row + usize::from(diagonal),
        }
    }
}

/// The header before the matrix.
#[derive(Default)]
struct Header {
    cities: Option<usize>,
    layout: Option<Layout>,
}

impl Header {
    /// Reads a line `KEY: value`.
    fn take(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "TYPE" if !["ATSP", "TSP"].contains(&value) => {
                return Err(format!("TYPE '{value}', expected ATSP or TSP"));
            }
            "DIMENSION" => {
                let cities = value.parse().ok().filter(|n| (1..=MOST_CITIES).contains(n));
                self.cities = Some(cities.ok_or_else(|| {
                    format!("DIMENSION '{value}', expected a whole number from 1 to {MOST_CITIES}")
                })?);
            }
            "EDGE_WEIGHT_TYPE" if value != "EXPLICIT" => {
                return Err(format!("EDGE_WEIGHT_TYPE '{value}', expected EXPLICIT (a matrix)"));
            }
            "EDGE_WEIGHT_FORMAT" => {
                let layout = LAYOUTS.iter().find(|(name, _)| *name == value);
                self.layout = Some(layout.map(|&(_, layout)| layout).ok_or_else(|| {
                    let names = LAYOUTS.map(|(name, _)| name).join(", ");
                    format!("EDGE_WEIGHT_FORMAT '{value}', expected one of {names}")
                })?);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Reads an instance. Error texts continue after the name of the file.
///
/// # Errors
/// Names the line, the value, and what was expected.
pub fn read(text: &str) -> Result<Instance, String> {
    let mut lines = (1..).zip(text.lines()).map(|(at, line)| (at, line.trim()));
    let mut header = Header::default();
    loop {
        let Some((at, line)) = lines.next() else {
            return Err(": no EDGE_WEIGHT_SECTION, expected a TSPLIB file with a matrix".into());
        };
        // Some files have a blank instead of the colon.
        let (key, value) = line.split_once(SEPARATORS).unwrap_or((line, ""));
        let value = value.trim_start_matches(SEPARATORS).trim_start();
        if key == "EDGE_WEIGHT_SECTION" && value.is_empty() {
            break;
        }
        if !key.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
            return Err(format!(
                ", line {at}: '{line}', expected KEY: value or EDGE_WEIGHT_SECTION"
            ));
        }
        header.take(key, value).map_err(|why| format!(", line {at}: {why}"))?;
    }
    let cities = header.cities.ok_or(": no DIMENSION, expected the number of cities")?;
    let layout = header.layout.unwrap_or(Layout::Full);
    let places = (0..cities).flat_map(|i| layout.columns(i, cities).map(move |j| (i, j)));
    let expected = (0..cities).map(|i| layout.columns(i, cities).len()).sum::<usize>();
    let mut places = places.peekable();
    let mut costs = vec![0; cities * cities];
    let mut read = 0;
    let mut displays = false;
    for (at, line) in lines {
        // EOF may follow the last number on its line.
        let (line, is_last) =
            line.strip_suffix("EOF").map_or((line, false), |before| (before.trim_end(), true));
        // The matrix may be followed by display coordinates, which are ignored.
        displays |= line == "DISPLAY_DATA_SECTION";
        if displays
            && line.starts_with(|c: char| c.is_alphabetic())
            && line != "DISPLAY_DATA_SECTION"
        {
            return Err(format!(", line {at}: '{line}', expected EOF"));
        }
        let costs_here = if displays { "" } else { line };
        for word in costs_here.split_whitespace() {
            let Some((i, j)) = places.next() else {
                return Err(format!(", line {at}: '{word}' after {expected} costs, expected EOF"));
            };
            let cost =
                number(word).filter(|cost| i == j || cost.unsigned_abs() <= MOST_COST as u64);
            let cost = cost.ok_or_else(|| {
                format!(
                    ", line {at}: '{word}', expected a whole number from -{MOST_COST} to {MOST_COST}"
                )
            })?;
            costs[i * cities + j] = cost;
            if layout != Layout::Full {
                costs[j * cities + i] = cost;
            }
            read += 1;
        }
        if is_last {
            break;
        }
    }
    if places.peek().is_some() {
        return Err(format!(": {read} costs, expected {expected} for {cities} cities"));
    }
    Instance::new(cities, costs).map_err(|why| format!(": {why}"))
}

/// An integer, possibly with a fraction of zeros.
fn number(word: &str) -> Option<i64> {
    let whole = word.split_once('.').filter(|(_, zeros)| zeros.bytes().all(|byte| byte == b'0'));
    whole.map_or(word, |(whole, _)| whole).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(format: &str, cities: usize, matrix: &str) -> String {
        format!(
            "NAME: x\nTYPE : ATSP\nCOMMENT: of my own\nDIMENSION: {cities}\nEDGE_WEIGHT_TYPE: EXPLICIT\n\
             EDGE_WEIGHT_FORMAT: {format}\nEDGE_WEIGHT_SECTION\n{matrix}\nEOF\n"
        )
    }

    #[test]
    fn all_layouts_of_one_matrix_are_read_alike() {
        let full = read(&file("FULL_MATRIX", 3, "9999 1 2 1\n9999 3 2 3 9999")).unwrap();
        assert_eq!((full.cost(0, 1), full.cost(2, 1), full.cost(1, 1)), (1, 3, 0));
        for (format, matrix) in [
            ("UPPER_ROW", "1 2\n3"),
            ("LOWER_ROW", "1\n2 3"),
            ("UPPER_DIAG_ROW", "0 1 2 0 3 0"),
            ("LOWER_DIAG_ROW", "0\n1 0\n2 3 0"),
            ("UPPER_COL", "1 2 3"),
            ("LOWER_COL", "1 2 3"),
            ("UPPER_DIAG_COL", "0 1 0 2 3 0"),
            ("LOWER_DIAG_COL", "0 1 2 0 3 0"),
        ] {
            let text = file(format, 3, matrix);
            assert_eq!(read(&text), Ok(full.clone()), "{format}");
            // A format without a colon used to be skipped.
            assert_eq!(read(&text.replace(':', "")), Ok(full.clone()), "{format}");
        }
        let lopsided = read(&file("FULL_MATRIX", 2, "0 -5 7.0 0")).unwrap();
        assert_eq!((lopsided.cost(0, 1), lopsided.cost(1, 0)), (-5, 7));
        assert_eq!(read(&file("FULL_MATRIX", 1, "0")).unwrap().cities(), 1);
    }

    #[test]
    fn eof_may_follow_on_the_last_line() {
        let [apart, together] = ["0 1\n2 0\nEOF\n", "0 1\n2 0 EOF\n7 7\n"].map(|end| {
            read(&format!("TYPE: ATSP\nDIMENSION: 2\nEDGE_WEIGHT_SECTION\n{end}")).unwrap()
        });
        assert_eq!((together.cost(0, 1), together.cost(1, 0)), (1, 2));
        assert_eq!((apart.cost(0, 1), apart.cost(1, 0)), (1, 2));
        let shown = file("FULL_MATRIX", 2, "0 1 2 0\nDISPLAY_DATA_SECTION\n1 5 5 EOF\n2 7");
        assert_eq!(read(&shown).unwrap().cost(1, 0), 2);
        let early = read(&file("FULL_MATRIX", 2, "0 1 EOF\n2 0")).unwrap_err();
        assert_eq!(early, ": 2 costs, expected 4 for 2 cities");
    }

    #[test]
    fn faults_are_placed() {
        let full = |cities, matrix| file("FULL_MATRIX", cities, matrix);
        for (text, said) in [
            (String::new(), ": no EDGE_WEIGHT_SECTION"),
            ("3 2\n1 2\n".into(), ", line 1: '3 2', expected KEY: value"),
            (full(0, ""), ", line 4: DIMENSION '0', expected a whole number from 1 to"),
            (full(2, "0 1 x 0"), ", line 8: 'x', expected a whole number from -1000000000 to"),
            (full(2, "0 1\n1.5 0"), ", line 9: '1.5'"),
            (full(2, "0 1\n1000000001 0"), ", line 9: '1000000001'"),
            (full(2, "0 1\n-9223372036854775808 0"), ", line 9: '-9223372036854775808'"),
            (full(2, "0 1\n1"), ": 3 costs, expected 4 for 2 cities"),
            (full(2, "0 1\n1 0 7"), ", line 9: '7' after 4 costs, expected EOF"),
            (
                file("FULL", 2, ""),
                ", line 6: EDGE_WEIGHT_FORMAT 'FULL', expected one of FULL_MATRIX",
            ),
            (
                full(2, "0 1\n1 0\nDISPLAY_DATA_SECTION\n1 5 5\nFIXED_EDGES_SECTION\n1 2\n"),
                ", line 12: 'FIXED_EDGES_SECTION', expected EOF",
            ),
            ("EDGE_WEIGHT_SECTION\n".into(), ": no DIMENSION"),
            ("TYPE: CVRP\n".into(), ", line 1: TYPE 'CVRP', expected ATSP or TSP"),
            ("TYPE SOP\n".into(), ", line 1: TYPE 'SOP', expected ATSP or TSP"),
            ("TYPE:\n".into(), ", line 1: TYPE '', expected ATSP or TSP"),
            ("EDGE_WEIGHT_TYPE: EUC_2D\n".into(), ", line 1: EDGE_WEIGHT_TYPE 'EUC_2D', expected"),
        ] {
            let why = read(&text).unwrap_err();
            assert!(why.starts_with(said), "{text:?}: {why}");
        }
    }
}
