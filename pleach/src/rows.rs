//! Rows of whole numbers in a text.

use crate::report::counted;

/// Reads the rows; an error continues from the file's name.
pub(crate) fn parse<const N: usize>(
    text: &str,
    most: i64,
    most_rows: usize,
) -> Result<Vec<[i64; N]>, String> {
    let mut rows = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        let words: Vec<&str> = words.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if let Some(word) = words.iter().find(|word| word.parse::<i64>().is_err()) {
            return Err(format!(
                ", line {line}: '{word}', expected a whole number from 0 to {most}"
            ));
        }
        let mut row = [0; N];
        if words.len() != N {
            return Err(format!(", line {line}: {}, expected {N}", counted(words.len(), "number")));
        }
        for (slot, word) in row.iter_mut().zip(words) {
            let number = word.parse().ok().filter(|number| (0..=most).contains(number));
            *slot = number.ok_or_else(|| {
                format!(", line {line}: '{word}', expected a whole number from 0 to {most}")
            })?;
        }
        rows.push(row);
    }
    match rows.first().map(|first| first[0]) {
        None => Err(": an empty file, expected rows of numbers".into()),
        Some(said) if said > most_rows as i64 => {
            Err(format!(", line 1: {said} rows, expected at most {most_rows}"))
        }
        Some(said) if said != rows.len() as i64 - 1 => {
            let rows = counted(rows.len() - 1, "row");
            Err(format!(": {rows} after the first, expected {said} as line 1 announces"))
        }
        Some(_) => Ok(rows),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn rows_are_read_and_faults_are_placed() {
        assert_eq!(parse::<2>("2 9\n\n1 2\n3 4\n", 9, 5), Ok(vec![[2, 9], [1, 2], [3, 4]]));
        for (text, said) in [
            ("", "an empty file"),
            ("1 9\n1", "line 2: 1 number, expected 2"),
            ("1 9\n1 -2", "line 2: '-2', expected a whole number from 0 to 9"),
            ("1 9\n1 x", "line 2: 'x'"),
            ("2 9\n1 2", "1 row after the first, expected 2"),
            ("6 9\n", "line 1: 6 rows, expected at most 5"),
        ] {
            let why = parse::<2>(text, 9, 5).unwrap_err();
            assert!(why.contains(said), "{text:?}: {why}");
        }
    }
}
