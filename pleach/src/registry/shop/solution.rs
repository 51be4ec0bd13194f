//! [`order`]: the schedule in a file, whose jobs have names or numbers; [`labels`]: how schedules are written.

use crate::failure::{Failure, usage};
use crate::input::text_of;
use crate::registry::text::{hint, numbers};
use crate::report::Labels;
use pleach_problems::flowshop::shop::Shop;
use pleach_problems::flowshop::variant::Variant;
use std::collections::HashMap;

/// How values and schedules of a shop are written.
pub fn labels(variant: &Variant) -> Labels {
    Labels { decimals: variant.decimals(), names: variant.shop().jobs.clone() }
}

/// The schedule that a file holds: the names of all jobs, a line each or without blanks, or their numbers. A word that
/// begins with `#` begins a comment, unless it is a name or within one.
pub fn order(shop: &Shop, path: &str) -> Result<Vec<u16>, Failure> {
    if shop.jobs.is_empty() {
        let order = shop.instance.order(&numbers(path, "job")?);
        return order.or_else(|why| usage(format!("{path}: {why}")));
    }
    let text = text_of(path).or_else(|why| usage(format!("{path}: {why}")))?;
    named(shop, &text).or_else(|why| usage(format!("{path}{why}")))
}

/// The same for jobs with names. If all words are names, none is a number.
fn named(shop: &Shop, text: &str) -> Result<Vec<u16>, String> {
    let job_of: HashMap<&str, usize> = shop.jobs.iter().map(String::as_str).zip(0..).collect();
    let longest = shop.jobs.iter().map(|name| name.split(' ').count()).max().unwrap_or(0);
    let mut words = Vec::new();
    let is_name = |word: &str| job_of.contains_key(word);
    for (line, all) in (1..).zip(text.lines()) {
        let all: Vec<&str> = all.split_whitespace().collect();
        let ends = (0..=all.len().min(longest)).rev();
        let ends = ends.filter(|&n| all.get(n).is_none_or(|word| word.starts_with('#')));
        if let Some(whole) = ends.map(|n| all[..n].join(" ")).find(|whole| is_name(whole)) {
            words.push((line, whole));
        } else {
            let named = all.iter().take_while(|word| !word.starts_with('#') || is_name(word));
            words.extend(named.map(|word| (line, word.to_string())));
        }
    }
    let number = |word: &str| {
        let number: Option<usize> = word.parse().ok();
        number.filter(|number| (1..=shop.jobs.len()).contains(number)).map(|number| number - 1)
    };
    let wrong = |(line, word): &(usize, String), expected: &str| {
        Err(format!(", line {line}: '{word}', expected {expected}"))
    };
    let neither = |(_, word): &&(usize, String)| !is_name(word) && number(word).is_none();
    if let Some(word) = words.iter().find(neither) {
        return wrong(word, &format!("the name or number of a job{}", hint(&word.1)));
    }
    let by_name = words.iter().all(|(_, word)| is_name(word));
    let mut jobs = Vec::new();
    for word in &words {
        match if by_name { job_of.get(&*word.1).copied() } else { number(&word.1) } {
            Some(job) => jobs.push(job),
            None => return wrong(word, "a number, as for other jobs, or names for all"),
        }
    }
    let mut seen = vec![false; shop.jobs.len()];
    if let Some(&twice) = jobs.iter().find(|&&job| std::mem::replace(&mut seen[job], true)) {
        return Err(format!(": job '{}' appears twice", shop.jobs[twice]));
    }
    match seen.iter().position(|&seen| !seen) {
        Some(job) => Err(format!(": job '{}' is missing", shop.jobs[job])),
        None => Ok(jobs.into_iter().map(|job| job as u16).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_problems::flowshop::instance::Instance;

    fn shop(names: [&str; 3]) -> Shop {
        let mut shop = Shop::new(Instance::new(1, vec![1, 2, 3]).unwrap());
        shop.jobs = names.map(String::from).to_vec();
        shop
    }

    #[test]
    fn jobs_are_named_or_numbered() {
        let letters = shop(["A", "B 1", "C"]);
        for text in ["C\nB 1\nA\n", "C\n  B   1 \nA", "3 2 1", "3\n2 1\n"] {
            assert_eq!(named(&letters, text), Ok(vec![2, 1, 0]), "{text}");
        }
        for text in ["# best\nC # first\nB 1 #\n#\nA\n", "3 2 # 1\n1"] {
            assert_eq!(named(&letters, text), Ok(vec![2, 1, 0]), "{text}");
        }
        let signs = shop(["#1", "Job #2", "Job"]);
        for text in ["Job #2 # 1\n#1 #2\nJob # #2", "Job #2\n#1 Job # #1"] {
            assert_eq!(named(&signs, text), Ok(vec![1, 0, 2]), "{text}");
        }
        // A long comment is not a name.
        let long = format!("3 2 1{}", " #".repeat(1 << 17));
        assert_eq!(named(&letters, &long), Ok(vec![2, 1, 0]));
        // Names that are numbers are names.
        assert_eq!(named(&shop(["3", "1", "2"]), "1 2 3"), Ok(vec![1, 2, 0]));
        assert_eq!(named(&shop(["7", "8", "9"]), "1 2 3"), Ok(vec![0, 1, 2]));
        for (text, said) in [
            ("C 2 A", ", line 1: 'C', expected a number, as for other jobs"),
            ("C B A", ", line 1: 'B', expected the name or number of a job"),
            ("C,B 1,A", ", line 1: 'C,B', expected the name or number of a job; blanks or line"),
            ("1\nX 2", ", line 2: 'X', expected the name or number of a job"),
            ("1 2 4", ", line 1: '4', expected the name or number"),
            ("1 2 -1", ", line 1: '-1', expected"),
            ("A\nA\nC", ": job 'A' appears twice"),
            ("A\nC", ": job 'B 1' is missing"),
            ("", ": job 'A' is missing"),
        ] {
            let why = named(&letters, text).unwrap_err();
            assert!(why.starts_with(said), "{text:?}: {why}");
        }
    }
}
