//! Reads files of QAPLIB: a size, then two matrices of that size.

use super::instance::{Instance, MOST_LOCATIONS};

/// Reads an instance: the number of facilities, the flows between them, and the distances between as many locations.
/// The distances may have a size of their own in front of them, if there are more locations. Error texts continue after
/// the name of the file.
///
/// # Errors
/// Names the line, the value, and what was expected.
pub fn read(text: &str) -> Result<Instance, String> {
    let lines = (1..).zip(text.lines());
    let mut numbers = Vec::new();
    for (at, line) in lines {
        for word in line.split([' ', '\t', ',', '\r']).filter(|word| !word.is_empty()) {
            let number: Result<i64, _> = word.parse();
            numbers.push(
                number.map_err(|_| format!(", line {at}: '{word}', expected a whole number"))?,
            );
        }
    }
    let size = |at: usize| -> Result<usize, String> {
        let number =
            numbers.get(at).copied().ok_or(": an empty file, expected a number of facilities")?;
        let size = usize::try_from(number).ok().filter(|n| (1..=MOST_LOCATIONS).contains(n));
        size.ok_or_else(|| format!(": size {number}, expected from 1 to {MOST_LOCATIONS}"))
    };
    let facilities = size(0)?;
    let (flows, rest) = (facilities * facilities, numbers.len() - 1);
    // With two sizes, the numbers are one more than a square.
    let (locations, from) = match rest.checked_sub(flows) {
        Some(left) if left == flows => (facilities, 1 + flows),
        Some(left) if left > 0 && size(1 + flows).is_ok_and(|n| n * n == left - 1) => {
            (size(1 + flows)?, 2 + flows)
        }
        _ => {
            return Err(format!(
                ": {rest} numbers after the size {facilities}, expected two matrices, {}",
                2 * flows
            ));
        }
    };
    let made = Instance::new((facilities, &numbers[1..=flows]), (locations, &numbers[from..]));
    made.map_err(|why| format!(": {why}"))
}
