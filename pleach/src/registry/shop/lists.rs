//! [`add`]: the due dates, weights, release dates and setup times that a shop's flags name.

use super::columns::has_thousands;
use crate::campaign::flowshop::Shop;
use crate::decimal::{Decimal, written};
use crate::failure::{Failure, usage};
use crate::registry::Request;
use crate::report::counted;

/// The longest time that a list may hold.
const MOST: u32 = i32::MAX as u32;

/// A number of a list.
#[derive(Clone, Copy)]
struct Listed<'t> {
    line: usize,
    word: &'t str,
    number: Decimal,
}

/// Adds to a shop what is in the files of `--due`, `--weights`, `--releases` and `--setups`.
pub fn add(request: &Request<'_>, shop: &mut Shop) -> Result<(), Failure> {
    let (jobs, machines) = (shop.instance.jobs(), shop.instance.machines());
    let by_job = format!("{}, one for each job", counted(jobs, "number"));
    let by_pair = format!(
        "{}: for each of {}, {} of {jobs}",
        counted(machines * jobs * jobs, "number"),
        counted(machines, "machine"),
        counted(jobs, "line")
    );
    let lists = [
        ("due", jobs, &by_job, &mut shop.due),
        ("weights", jobs, &by_job, &mut shop.weights),
        ("releases", jobs, &by_job, &mut shop.releases),
        ("setups", machines * jobs * jobs, &by_pair, &mut shop.setups),
    ];
    for (flag, count, expected, list) in lists {
        let Some(path) = request.given.word(flag) else { continue };
        if path == "-" {
            return usage(format!("--{flag} -: only the instance is read from standard input"));
        }
        if list.is_some() {
            return usage(format!("--{flag} {path}: {} already has {flag}", request.name()));
        }
        let weights = flag == "weights";
        let text = request.file(path).map_err(|why| match why {
            Failure::Usage(line) => Failure::Usage(format!("--{flag} {line}")),
            other => other,
        })?;
        let numbers = read(&text).and_then(|(numbers, decimals)| {
            let scale = if weights { decimals } else { shop.decimals };
            if numbers.len() != count {
                let found = counted(numbers.len(), "number");
                return Err(format!(": {found}, expected {expected}"));
            }
            let scaled = numbers.iter().map(|&Listed { line, word, number }| {
                let wrong =
                    |expected: String| format!(", line {line}: '{word}', expected {expected}");
                let scaled = number.scaled(scale).ok_or_else(|| {
                    let decimals = counted(scale, "decimal");
                    wrong(format!("at most {decimals}, as the times have"))
                })?;
                let fits = u32::try_from(scaled).ok().filter(|&scaled| scaled <= MOST);
                fits.ok_or_else(|| wrong(format!("at most {}", written(MOST.into(), scale))))
            });
            Ok((scaled.collect::<Result<Vec<u32>, String>>()?, decimals))
        });
        let (numbers, decimals) = numbers.or_else(|why| usage(format!("--{flag} {path}{why}")))?;
        if weights {
            shop.weight_decimals = decimals;
        }
        *list = Some(numbers);
    }
    Ok(())
}

/// The numbers of a text, separated by blanks, commas or semicolons, and the maximum number of decimals of any. As in a
/// table, a comma marks decimals if there are semicolons, and then not every point may be a possible separator of
/// thousands.
fn read(text: &str) -> Result<(Vec<Listed<'_>>, u32), String> {
    let lines = move || text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let separator = if lines().any(|line| line.contains(';')) { ';' } else { ',' };
    let mark = if separator == ';' && lines().any(|line| line.contains(',')) { ',' } else { '.' };
    let mut numbers = Vec::new();
    for (line, text) in (1..).zip(lines()) {
        let words = text.split(|c: char| c.is_whitespace() || c == separator);
        for word in words.filter(|word| !word.is_empty()) {
            let number = Decimal::parse(word, mark).ok_or_else(|| {
                let comma = if mark == ',' { " after a comma" } else { "" };
                format!(", line {line}: '{word}', expected a number of at least 0, with at most 10 digits and 9 decimals{comma}")
            })?;
            numbers.push(Listed { line, word, number });
        }
    }
    let mut with_points = numbers.iter().filter(|it| it.word.contains('.'));
    if separator == ';'
        && let Some(Listed { line, word, .. }) = with_points.next()
        && has_thousands(word)
        && with_points.all(|it| has_thousands(it.word))
    {
        return Err(format!(
            ", line {line}: '{word}' could be a decimal number or thousands; expected no point in thousands, \
             or commas instead of semicolons"
        ));
    }
    let decimals = numbers.iter().map(|it| it.number.decimals).max().unwrap_or(0);
    Ok((numbers, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_separated_by_blanks_commas_or_semicolons() {
        for text in
            ["# due; 9\n1, 2.5,3 # 7\n\n4\t0.25\n", "1;2,5\n3 4;0,25\n", "1; 2.500;3;4.0;0.25"]
        {
            let (numbers, decimals) = read(text).unwrap();
            let scaled: Vec<_> = numbers.iter().map(|it| it.number.scaled(2).unwrap()).collect();
            assert_eq!((scaled, decimals), (vec![100, 250, 300, 400, 25], 2), "{text}");
        }
        for (text, said) in [
            ("1\n-2\n", ", line 2: '-2', expected"),
            ("1 x", ", line 1: 'x'"),
            ("1.5;2,5", ", line 1: '1.5', expected a number of at least 0, with at most 10 digits"),
            // Such a file used to be read as 900, 1 and 1.2.
            (
                "900;1.000\n1.200\n",
                ", line 1: '1.000' could be a decimal number or thousands; expected",
            ),
        ] {
            assert!(read(text).is_err_and(|why| why.starts_with(said)), "{text}");
        }
    }
}
