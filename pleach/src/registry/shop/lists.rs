//! [`add`]: the due dates, weights, release dates and setup times that a shop's flags name.

use crate::campaign::flowshop::Shop;
use crate::decimal::Decimal;
use crate::failure::{Failure, usage};
use crate::registry::Request;

/// The longest time that a list may hold.
const MOST: u64 = i32::MAX as u64;

/// Adds to a shop what is in the files of `--due`, `--weights`, `--releases` and `--setups`.
pub fn add(request: &Request<'_>, shop: &mut Shop) -> Result<(), Failure> {
    let (jobs, machines) = (shop.instance.jobs(), shop.instance.machines());
    let by_job = format!("{jobs} numbers, one for each job");
    let by_pair = format!(
        "{} numbers: for each of {machines} machines, {jobs} lines of {jobs}",
        machines * jobs * jobs
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
        let numbers = read(&request.file(path)?).and_then(|(numbers, decimals)| {
            let scale = if weights { decimals } else { shop.decimals };
            if numbers.len() != count {
                return Err(format!(": {} numbers, expected {expected}", numbers.len()));
            }
            let scaled = numbers.iter().map(|number| {
                let scaled = number
                    .scaled(scale)
                    .ok_or_else(|| {
                        let n = number.decimals;
                        format!(": more decimals than the times: {n}, expected at most {scale}")
                    })?;
                u32::try_from(scaled).ok().filter(|_| scaled <= MOST).ok_or_else(|| {
                    format!(
                        ": {scaled} is too large, expected at most {MOST}; the limit applies to the number without its decimal mark"
                    )
                })
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

/// The numbers of a text, separated by blanks, commas or semicolons, and the most decimals of any.
fn read(text: &str) -> Result<(Vec<Decimal>, u32), String> {
    let mut numbers = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        if words.trim_start().starts_with('#') {
            continue;
        }
        let separator = |c: char| c.is_whitespace() || c == ',' || c == ';';
        for word in words.split(separator).filter(|word| !word.is_empty()) {
            let number = Decimal::parse(word, '.');
            numbers.push(number.ok_or_else(|| {
                format!(", line {line}: '{word}', expected a number of at least 0, with at most 10 digits and 9 decimals")
            })?);
        }
    }
    let decimals = numbers.iter().map(|number| number.decimals).max().unwrap_or(0);
    Ok((numbers, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_separated_by_blanks_or_commas() {
        let (numbers, decimals) = read("# due\n1, 2.5;3\n\n4\t0.25\n").unwrap();
        let scaled: Vec<_> = numbers.iter().map(|number| number.scaled(2).unwrap()).collect();
        assert_eq!((scaled, decimals), (vec![100, 250, 300, 400, 25], 2));
        for (text, said) in [("1\n-2\n", ", line 2: '-2', expected"), ("1 x", ", line 1: 'x'")] {
            assert!(read(text).unwrap_err().starts_with(said), "{text}");
        }
    }
}
