//! Reads the parameters of a tree: its name, keys and values, or the arguments of the UTS benchmark.

use super::parameters::{DEFAULT, NAMED, Parameters};

/// The arguments of UTS, and the keys that they stand for.
const ARGUMENTS: [(&str, &str); 9] = [
    ("-t", "type"),
    ("-a", "shape"),
    ("-b", "b0"),
    ("-d", "gen_mx"),
    ("-q", "q"),
    ("-m", "m"),
    ("-r", "seed"),
    ("-f", "f"),
    ("-g", "g"),
];
/// The numbers of UTS for kinds of trees, and for shapes.
const KINDS: [&str; 4] = ["binomial", "geometric", "hybrid", "balanced"];
const SHAPES: [&str; 4] = ["linear", "expdec", "cyclic", "fixed"];

impl Parameters {
    /// Parses a tree's name, `key=value` pairs separated by commas, or the arguments of the benchmark.
    ///
    /// # Errors
    /// Names what is wrong, and what was expected.
    pub fn parse(words: &str) -> Result<Self, String> {
        if let Some((_, named, _)) = NAMED.iter().find(|(name, ..)| *name == words) {
            return Ok(named.clone());
        }
        if words.starts_with('-') {
            return arguments(words);
        }
        if !words.contains('=') {
            let names: Vec<_> = NAMED.iter().map(|(name, ..)| *name).collect();
            return Err(format!(
                "unknown tree '{words}': expected {}, key=value,…, or '-t 1 -a 3 -d 10 -b 4 -r 19'",
                names.join(", ")
            ));
        }
        let mut all = DEFAULT;
        let mut given = Vec::new();
        for pair in words.split(',') {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(format!("'{pair}': expected key=value"));
            };
            if given.contains(&key) {
                return Err(format!("{key} is given twice: expected each key once"));
            }
            given.push(key);
            all.set(key, value)?;
        }
        Ok(all)
    }
}

/// Reads the arguments; those that are missing have the defaults of UTS.
fn arguments(words: &str) -> Result<Parameters, String> {
    let mut all = DEFAULT;
    let mut words = words.split_whitespace();
    while let Some(argument) = words.next() {
        let Some((_, key)) = ARGUMENTS.iter().find(|(name, _)| *name == argument) else {
            let known: Vec<&str> = ARGUMENTS.iter().map(|(name, _)| *name).collect();
            return Err(format!("'{argument}': expected one of {}", known.join(", ")));
        };
        let Some(value) = words.next() else {
            return Err(format!("{argument}: expected a value after it"));
        };
        let named = match *key {
            "type" => numbered(argument, value, &KINDS)?,
            "shape" => numbered(argument, value, &SHAPES)?,
            _ => value,
        };
        all.set(key, named).map_err(|why| format!("{argument} {value}: {why}"))?;
    }
    Ok(all)
}

/// The name for a number.
fn numbered(argument: &str, value: &str, names: &[&'static str]) -> Result<&'static str, String> {
    let found = value.parse::<usize>().ok().and_then(|number| names.get(number).copied());
    found.ok_or_else(|| {
        let all: Vec<String> =
            names.iter().enumerate().map(|(i, name)| format!("{i} ({name})")).collect();
        format!("{argument} {value}: expected {}", all.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_trees_are_those_of_the_benchmark() {
        for (name, words) in [
            ("T1", "-t 1 -a 3 -d 10 -b 4 -r 19"),
            ("T5", "-t 1 -a 0 -d 20 -b 4 -r 34"),
            ("T2", "-t 1 -a 2 -d 16 -b 6 -r 502"),
            ("T3", "-t 0 -b 2000 -q 0.124875 -m 8 -r 42"),
            ("T4", "-t 2 -a 0 -d 16 -b 6 -r 1 -q 0.234375 -m 4"),
            ("T1L", "-t 1 -a 3 -d 13 -b 4 -r 29"),
            ("T2L", "-t 1 -a 2 -d 23 -b 7 -r 220"),
            ("T3L", "-t 0 -b 2000 -q 0.200014 -m 5 -r 7"),
            ("T1XL", "-t 1 -a 3 -d 15 -b 4 -r 29"),
            ("T3XXL", "-t 0 -b 2000 -q 0.499995 -m 2 -r 316"),
            ("T2WL", "-t 0 -b 2000 -q 0.4999999995 -m 2 -r 559"),
        ] {
            let (_, tree, _) = NAMED.iter().find(|(known, ..)| *known == name).unwrap();
            assert_eq!(Parameters::parse(words).as_ref(), Ok(tree), "{name}");
        }
        assert_eq!(Parameters::parse("-t 3 -b 2 -d 8 -f 0.25 -g 2").unwrap().g, 2);
    }

    #[test]
    fn bad_arguments_are_explained() {
        for (words, said) in [
            ("-t 7", "-t 7: expected 0 (binomial), 1 (geometric)"),
            ("-a fixed", "-a fixed: expected 0 (linear)"),
            ("-t", "-t: expected a value after it"),
            ("-x 3", "'-x': expected one of -t, -a"),
            ("-b 1e9", "-b 1e9: b0=1e9: expected a number"),
        ] {
            let why = Parameters::parse(words).unwrap_err();
            assert!(why.contains(said), "{words}: {why}");
        }
    }
}
