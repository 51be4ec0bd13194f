//! Reads instances: plain matrices, Taillard's files, those of Vallada, Ruiz and Framinan, and PyJobShop's.

use super::instance::{Instance, LONGEST_PATH, MOST_JOBS};
use super::shop::Shop;

/// The longest time of an operation.
pub const MOST_TIME: u32 = 1_000_000_000;

/// A nonempty line as words, with its number.
type Line<'t> = (usize, Vec<&'t str>);

/// Reads an instance. Error texts continue after the name of the file.
///
/// The layouts are those of [`read_shop`]; due dates are left out.
///
/// # Errors
/// Names the line, the value, and what was expected; or says that the file has setup times.
pub fn read(text: &str, jobs_first: bool) -> Result<Instance, String> {
    let shop = read_shop(text, jobs_first)?;
    match shop.setups {
        Some(_) => Err(": setup times, which an instance does not have".into()),
        None => Ok(shop.instance),
    }
}

/// Reads a shop. Error texts continue after the name of the file. What follows `#` in a line is a comment.
///
/// The first line holds the numbers of jobs and machines; in Taillard's files more numbers follow,
/// and a line of text precedes it. Then comes a line per machine with a time per job, or the other
/// way round with `jobs_first`, or a line per job with pairs of machine and time.
///
/// In PyJobShop's files the first two lines hold the numbers of jobs and machines, one each. Then comes a line per job
/// with a time per machine. A line of due dates may precede these lines; or a matrix of setup times per machine may
/// follow them, with a line per preceding job and a time per following job.
///
/// # Errors
/// Names the line, the value, and what was expected.
pub fn read_shop(text: &str, jobs_first: bool) -> Result<Shop, String> {
    let lines = (1..).zip(text.lines());
    let lines: Vec<Line<'_>> = lines
        .map(|(at, line)| (at, line.split('#').next().unwrap_or_default()))
        .map(|(at, line)| (at, line.split_whitespace().collect::<Vec<_>>()))
        .filter(|(_, words)| !words.is_empty())
        .collect();
    let mut rest = &lines[..];
    let taillard = skip_words(&mut rest);
    let Some(((head_at, head), mut rest)) = rest.split_first() else {
        let Some((at, words)) = lines.first() else {
            return Err(": empty, expected the numbers of jobs and machines".into());
        };
        return Err(format!(
            ", line {at}: '{}', expected the numbers of jobs and machines",
            words[0]
        ));
    };
    if let ([jobs], [(machines_at, machines), rest @ ..]) = (&head[..], rest)
        && let [machines] = machines[..]
        && [*jobs, machines].iter().all(|word| word.parse::<f64>().is_ok())
    {
        let jobs = number(*head_at, jobs, 1, MOST_JOBS as u32)? as usize;
        let machines = number(*machines_at, machines, 1, MOST_TIME)? as usize;
        return rows_by_job(rest, jobs, machines);
    }
    if let Some(word) = head.iter().take(2).find(|word| word.parse::<f64>().is_err()) {
        return Err(format!(", line {head_at}: '{word}', expected two numbers: jobs and machines"));
    }
    if head.len() < 2 || head.len() > 2 && !taillard {
        let n = counted(head.len(), "number");
        return Err(format!(", line {head_at}: {n}, expected two: jobs and machines"));
    }
    let jobs = number(*head_at, head[0], 1, MOST_JOBS as u32)? as usize;
    let machines = number(*head_at, head[1], 1, MOST_TIME)? as usize;
    let text = rest.first().filter(|_| !taillard).map(|(at, words)| (*at, words[0]));
    if skip_words(&mut rest)
        && let Some((at, word)) = text
    {
        return Err(format!(", line {at}: '{word}', expected {}", counted(jobs, "time")));
    }
    // A plain line of times may look like pairs by chance, but hardly when there are as many lines as jobs.
    let pairs = !jobs_first
        && (rest.len() == jobs || rest.len() != machines)
        && rest.first().is_some_and(|(_, row)| are_pairs(row, machines));
    let by_job = jobs_first || pairs;
    let (rows, columns) = if by_job { (jobs, machines) } else { (machines, jobs) };
    let (row_is, column_is) = if by_job { ("job", "machine") } else { ("machine", "job") };
    let (lines, times) = (counted(rows, "line"), counted(columns, "time"));
    let expected = format!("expected {lines}, one per {row_is}, of {times}");
    let mut matrix = Vec::new();
    for (at, words) in rest.iter().take(rows) {
        let words = if pairs { times_of(*at, words, machines)? } else { words.clone() };
        if words.len() != columns {
            let hint = if !by_job && words.len() == machines {
                " (--jobs-first reads a line per job)"
            } else {
                ""
            };
            return Err(format!(
                ", line {at}: {}, expected {columns}, one per {column_is}{hint}",
                counted(words.len(), "number")
            ));
        }
        for word in words {
            matrix.push(number(*at, word, 0, MOST_TIME)?);
        }
    }
    match rest.get(rows) {
        _ if matrix.len() < rows * columns => {
            return Err(format!(": {} of times, {expected}", counted(rest.len(), "line")));
        }
        Some((at, words)) => {
            let hint = if taillard { "; a file holds one instance" } else { "" };
            return Err(format!(", line {at}: '{}' after the end, {expected}{hint}", words[0]));
        }
        None => {}
    }
    if !by_job {
        let turned = (0..jobs).flat_map(|j| (0..machines).map(move |k| k * jobs + j));
        matrix = turned.map(|at| matrix[at]).collect();
    }
    Instance::new(machines, matrix).map(Shop::new).map_err(|why| format!(": {why}"))
}

/// Reads the rest of one of PyJobShop's files.
fn rows_by_job(rest: &[Line<'_>], jobs: usize, machines: usize) -> Result<Shop, String> {
    let setup_lines = machines as u64 * jobs as u64;
    if rest.len() == 2 && (jobs, machines) == (1, 1) {
        return Err(": one job on one machine: a line is either due dates or setup times".into());
    }
    let (has_due, has_setups) = match rest.len().checked_sub(jobs) {
        Some(0) => (false, false),
        Some(1) => (true, false),
        Some(more) if more as u64 == setup_lines => (false, true),
        _ => {
            return Err(format!(
                ": {} after the numbers of jobs and machines, expected {jobs} with the times of a job, \
                 one more with due dates before them, or {setup_lines} more with setup times after them",
                counted(rest.len(), "line")
            ));
        }
    };
    let (due, rest) = rest.split_at(usize::from(has_due));
    let (times, setups) = rest.split_at(jobs);
    let instance = Instance::new(machines, numbers(times, machines, "machine", MOST_TIME)?);
    let mut shop = Shop::new(instance.map_err(|why| format!(": {why}"))?);
    shop.due = has_due.then(|| numbers(due, jobs, "job", LONGEST_PATH as u32)).transpose()?;
    shop.setups = has_setups.then(|| numbers(setups, jobs, "job", MOST_TIME)).transpose()?;
    Ok(shop)
}

/// The numbers of several lines, as many in each as there are of `each`.
fn numbers(lines: &[Line<'_>], columns: usize, each: &str, most: u32) -> Result<Vec<u32>, String> {
    let mut all = Vec::new();
    for (at, words) in lines {
        if words.len() != columns {
            let n = counted(words.len(), "number");
            return Err(format!(", line {at}: {n}, expected {columns}, one per {each}"));
        }
        for word in words {
            all.push(number(*at, word, 0, most)?);
        }
    }
    Ok(all)
}

/// A number of things: `1 line`, `2 lines`.
fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Skips lines that begin with a letter. Returns whether there were any.
fn skip_words(lines: &mut &[Line<'_>]) -> bool {
    let is_words = |(_, words): &Line<'_>| words[0].starts_with(|c: char| c.is_alphabetic());
    let n = lines.iter().take_while(|line| is_words(line)).count();
    *lines = &lines[n..];
    n > 0
}

/// Whether a line pairs each machine, counted from 0, with a time.
fn are_pairs(words: &[&str], machines: usize) -> bool {
    let numbered = |(k, word): (usize, &&str)| word.parse() == Ok(k);
    words.len() == 2 * machines
        && words.iter().step_by(2).enumerate().all(numbered)
        // With one machine and two jobs, a line of two times may look like a pair.
        && machines > 1
}

/// The times in a line of pairs.
fn times_of<'t>(at: usize, words: &[&'t str], machines: usize) -> Result<Vec<&'t str>, String> {
    if are_pairs(words, machines) {
        return Ok(words.iter().skip(1).step_by(2).copied().collect());
    }
    let mut numbered = words.iter().step_by(2).enumerate();
    let found = match numbered.find(|(k, word)| word.parse() != Ok(*k)) {
        Some((_, word)) => format!("'{word}'"),
        None => counted(words.len(), "number"),
    };
    Err(format!(", line {at}: {found}, expected {machines} pairs of a machine, from 0, and a time"))
}

fn number(at: usize, word: &str, least: u32, most: u32) -> Result<u32, String> {
    let number = word.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        format!(", line {at}: '{word}', expected a whole number from {least} to {most}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_layouts_of_one_instance_are_read_alike() {
        let plain = read("3 2\n1 2 3\n4 5 6\n", false).unwrap();
        assert_eq!(plain.job(1), [2, 5]);
        assert_eq!(read("3 2\n\n1 4\n2 5\n3 6\n", true).unwrap(), plain);
        assert_eq!(read("3 2\n 0 1 1 4\n 0 2 1 5\n 0 3 1 6\n", false).unwrap(), plain);
        let taillard = "number of jobs, number of machines, initial seed, bounds :\n\
                        3 2 873654221 1278 1232\nprocessing times :\n1 2 3\n4 5 6\n";
        assert_eq!(read(taillard, false).unwrap(), plain);
        assert_eq!(read("4 2\n0 5 1 7\n1 2 3 4", false).unwrap().job(3), [7, 4]);
        assert_eq!(read("# 3\n3 2 # jobs, machines\n#\n1 2 3#\n4 5 6\n#7", false).unwrap(), plain);
        assert_eq!(read("1 1\n0", false).unwrap().longest_path(), 0);
        assert_eq!(read("2 1\n0 7", false).unwrap().job(1), [7]);
    }

    #[test]
    fn due_dates_and_setup_times_of_pyjobshop_are_read() {
        let plain = read("3 2\n1 2 3\n4 5 6\n", false).unwrap();
        assert_eq!(read("3\n2\n1\t4\t\n2 5\n3 6", false).unwrap(), plain);
        let tardiness = read_shop("3\n2\n7 9 30\n1 4\n2 5\n3 6\n", false).unwrap();
        assert_eq!((&tardiness.instance, tardiness.due), (&plain, Some(vec![7, 9, 30])));
        let text = "3\n2\n1 4\n2 5\n3 6\n 0 1 2\n3 0 4\n5 6 0\n0 7 8\n9 0 1\n2 3 0\n";
        let setups = read_shop(text, false).unwrap();
        assert_eq!(setups.instance, plain);
        let expected = vec![0, 1, 2, 3, 0, 4, 5, 6, 0, 0, 7, 8, 9, 0, 1, 2, 3, 0];
        assert_eq!((setups.setups, setups.due), (Some(expected), None));
        assert!(read(text, false).unwrap_err().contains("setup times"));
        let either = read_shop("1\n1\n5\n0\n", false).unwrap_err();
        assert!(either.contains("due dates or setup times"), "{either}");
    }

    #[test]
    fn faults_are_placed() {
        for (text, said) in [
            ("3\n2\n1 2 3\n", ": 1 line after the numbers of jobs and machines, expected 3"),
            ("2\n2\n1 2 3\n1 2\n", ", line 3: 3 numbers, expected 2, one per machine"),
            ("2\n2\n1 2 3\n1 2\n1 2\n", ", line 3: 3 numbers, expected 2, one per job"),
            ("1\n2\n1 2\n3\n-4\n", ", line 5: '-4', expected a whole number from 0"),
            ("10000\n1000000000\n1 2\n", ": 1 line after"),
            ("", ": empty, expected the numbers of jobs and machines"),
            ("a b c\n", ", line 1: 'a', expected the numbers of jobs and machines"),
            ("# jobs\n3 x\n", ", line 2: 'x', expected two numbers: jobs and machines"),
            ("# 3 2\n", ": empty, expected the numbers of jobs and machines"),
            ("1,2,3\n4,5,6\n", ", line 1: '1,2,3', expected two numbers: jobs and machines"),
            ("0 0\n", ", line 1: '0', expected a whole number from 1 to 10000"),
            ("3\n1 2 3\n", ", line 1: 1 number, expected two"),
            ("3 2\n1 2 3\n4\n", ", line 3: 1 number, expected 3"),
            ("3 2 9\n", ", line 1: 3 numbers, expected two"),
            ("3 2\n1 2 3\n4 5\n", ", line 3: 2 numbers, expected 3, one per job (--jobs-first"),
            ("3 2\n1 2 3\n4 x 6\n", ", line 3: 'x', expected a whole number from 0 to"),
            ("3 2\n1 2 3\n4 -5 6\n", ", line 3: '-5'"),
            ("3 2\n1 2 3\n4 5.5 6\n", ", line 3: '5.5'"),
            ("3 2\n1 2 3\n", ": 1 line of times, expected 2 lines, one per machine, of 3 times"),
            ("3 2\n1 2 3\n4 5 6\n7\n", ", line 4: '7' after the end"),
            ("3 2\n1 2 3\n4 5 6 7\n", ", line 3: 4 numbers, expected 3"),
            ("3 2\n1 2 3\nx 5 6\n", ", line 3: 'x'"),
            ("3 2\nx 2 3\n1 5 6\n", ", line 2: 'x', expected 3 times"),
            ("99999 2\n", ", line 1: '99999'"),
            ("2 2\n0 1 1 2\n0 1\n", ", line 3: 2 numbers, expected 2 pairs of a machine"),
            ("2 2\n0 1 1 2\n0 1 2 2\n", ", line 3: '2', expected 2 pairs of a machine, from 0"),
            ("3 1\n1000000000 1000000000 1000000000\n", ": times that may add up to 4000000000"),
            ("2 4000000000\n", ", line 1: '4000000000'"),
        ] {
            let why = read(text, false).unwrap_err();
            assert!(why.starts_with(said), "{text:?}: {why}");
        }
    }
}
