//! `pleach completions SHELL`: the script with which a shell completes command lines, and the words that it offers.

use super::console::{Console, DONE};
use super::flags::{About, COMMANDS, Use, Verb, applying};
use super::line::{Line, arguments};
use crate::failure::{Failure, usage};
use crate::loops;
use crate::registry::{Entry, entry};

/// The shells, each with its script, which calls [`WORDS`] for the words to offer.
const SCRIPTS: [(&str, &str); 3] = [
    ("bash", include_str!("completions/pleach.bash")),
    ("zsh", include_str!("completions/pleach.zsh")),
    ("fish", include_str!("completions/pleach.fish")),
];

/// The word with which the scripts ask for words: `pleach completions words -- …`, of which the last is being typed.
pub const WORDS: &str = "words";

/// What a shell may offer in place of a word.
#[derive(Debug, Default, PartialEq, Eq)]
struct Offer {
    /// Words, each with a description.
    words: Vec<(String, String)>,
    /// Whether names of files fit, too.
    files: bool,
}

/// Prints a script.
pub fn run(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let names = SCRIPTS.map(|(name, _)| name);
    let [_, shell] = &line.words[..] else {
        return usage(format!("completions: expected {}", names.join(", ")));
    };
    match SCRIPTS.iter().find(|(name, _)| name == shell) {
        Some((_, script)) => console.print(script.trim_end()).map(|()| DONE),
        None => usage(format!("completions {shell}: expected {}", names.join(", "))),
    }
}

/// Prints the words that fit in place of the last one, a line each: the word, and after a tab its description. A line with
/// a tab alone means that names of files fit, too.
pub fn offer(registry: &[Entry], console: &Console<'_>, words: &[String]) -> Result<u8, Failure> {
    let Offer { words, files } = fitting(registry, words);
    let line = |(word, about): &(String, String)| format!("{word}\t{about}");
    let mut lines: Vec<String> = words.iter().map(line).collect();
    if files {
        lines.push("\t".into());
    }
    if lines.is_empty() { Ok(DONE) } else { console.print(&lines.join("\n")).map(|()| DONE) }
}

/// What fits in place of the last word.
fn fitting(registry: &[Entry], words: &[String]) -> Offer {
    let (current, before) =
        words.split_last().map_or(("", &words[..0]), |(last, rest)| (&**last, rest));
    let places: Vec<&str> = places(before);
    let verb = places.first().and_then(|word| Verb::of(word));
    let task = || entry(registry, places.get(1)?)?.task(verb?);
    let named: &[Use] = task().map_or(&[], |task| task.flags);
    let flags = verb.map_or(Vec::new(), |verb| applying(verb, named));
    let flag = |word: &str| {
        let name = word.strip_prefix("--")?;
        flags.iter().find(|about| about.name == name)
    };
    if let Some(about) = before.last().and_then(|word| flag(word)).filter(|it| it.value.is_some()) {
        return values(about, current, "");
    }
    if let Some((word, value)) = current.split_once('=')
        && let Some(about) = flag(word)
    {
        return values(about, value, &format!("{word}="));
    }
    if current.starts_with('-') {
        let open = |about: &&About| {
            !before.iter().any(|word| flag(word).is_some_and(|it| it.name == about.name))
        };
        let words =
            flags.iter().filter(open).map(|about| (format!("--{}", about.name), about.help));
        return Offer { words: starting(current, words), files: false };
    }
    in_place(registry, &places, verb, current)
}

/// The words of a line that are neither flags nor their values.
fn places(words: &[String]) -> Vec<&str> {
    let words = arguments(words).filter(|it| it.flag.is_none()).map(|it| it.args[0].as_str());
    words.filter(|word| !word.starts_with('-')).collect()
}

/// The values of a flag that begin like a word. Each is preceded by what the shell takes for one word with it.
fn values(about: &About, word: &str, before: &str) -> Offer {
    let files = about.value.is_some_and(|value| value.contains("FILE") || value.contains("PATH"));
    let words = (about.choices)().into_iter().map(|choice| (choice, ""));
    let words = starting(word, words).into_iter();
    Offer { words: words.map(|(word, about)| (format!("{before}{word}"), about)).collect(), files }
}

/// The words that fit in this place, after others.
fn in_place(registry: &[Entry], places: &[&str], verb: Option<Verb>, current: &str) -> Offer {
    let offer = |words: Vec<(String, String)>, files| Offer { words, files };
    let text = |name: &str, about: &str| (name.to_string(), about.to_string());
    let among = |all: Vec<(String, String)>| {
        all.into_iter().filter(|(word, _)| word.starts_with(current)).collect::<Vec<_>>()
    };
    match (places, verb) {
        ([] | ["help"], _) => {
            let all = COMMANDS.iter().map(|(verb, _, about)| text(verb.word(), about));
            offer(among(all.collect()), false)
        }
        (["completions"], _) => {
            offer(among(SCRIPTS.iter().map(|(name, _)| text(name, "")).collect()), false)
        }
        (
            [_],
            Some(verb @ (Verb::Solve | Verb::Count | Verb::Check | Verb::Sim | Verb::Instances)),
        ) => {
            let can = |entry: &&Entry| match verb {
                Verb::Sim => entry.simulation.is_some(),
                Verb::Instances => true,
                _ => entry.task(verb).is_some(),
            };
            let all = registry.iter().filter(can).map(|entry| text(entry.name, entry.about));
            offer(among(all.collect()), verb == Verb::Sim)
        }
        ([_, problem, ..], Some(verb @ (Verb::Solve | Verb::Count | Verb::Check | Verb::Sim))) => {
            let known = entry(registry, problem).map_or(Vec::new(), |entry| (entry.instances)());
            // `check` reads the solution from a file, and only searches take several instances.
            let all = match (verb, places.len()) {
                (_, 2) | (Verb::Solve | Verb::Count, _) => known,
                _ => Vec::new(),
            };
            let all =
                all.into_iter().map(|instance| (instance.name.clone(), instance.known_text()));
            offer(among(all.collect()), true)
        }
        ([_], Some(Verb::Loop)) => {
            let all = loops::LOOPS.iter().map(|entry| text(entry.name, entry.about));
            offer(among(all.collect()), false)
        }
        ([_, ..], Some(Verb::Reproduce)) => {
            let all = super::reproduce::names().map(|name| text(name, ""));
            offer(among(all.chain([text("all", "every figure")]).collect()), false)
        }
        ([_], Some(Verb::Resume | Verb::Audit | Verb::Batch))
        | ([_, ..], Some(Verb::Report | Verb::Loop)) => offer(Vec::new(), true),
        _ => Offer::default(),
    }
}

/// Those of some words that begin like another, with their descriptions.
fn starting<'w>(word: &str, all: impl Iterator<Item = (String, &'w str)>) -> Vec<(String, String)> {
    let fit = all.filter(|(one, _)| one.starts_with(word));
    fit.map(|(one, about)| (one, about.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ENTRIES;

    fn offered(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(str::to_string).collect();
        let Offer { words, files } = fitting(&ENTRIES, &words);
        let files = files.then(|| "FILE".to_string());
        words.into_iter().map(|(word, _)| word).chain(files).collect()
    }

    #[test]
    fn words_are_offered_where_they_fit() {
        assert_eq!(offered("so"), ["solve"]);
        assert_eq!(offered("help rep"), ["reproduce", "report"]);
        assert_eq!(offered("count q"), ["queens"]);
        assert_eq!(offered("solve flowshop ta02").len(), 10 + 1);
        assert_eq!(offered("solve flowshop ta021 ta12"), ["ta120", "FILE"]);
        assert_eq!(offered("solve --threads 2 flowshop ta12"), ["ta120", "FILE"]);
        assert_eq!(offered("check flowshop ta021 "), ["FILE"]);
        assert_eq!(offered("resume "), ["FILE"]);
        assert_eq!(offered("completions "), ["bash", "zsh", "fish"]);
        assert_eq!(offered("loop l"), ["lattice"]);
        assert_eq!(offered("nonsense "), [""; 0]);
        assert_eq!(offered("instances cl"), ["clique"]);
    }

    #[test]
    fn flags_are_offered_where_they_apply_and_with_their_values() {
        assert_eq!(offered("solve flowshop ta021 --branch"), ["--branching"]);
        assert_eq!(offered("solve queens 8 --branch"), [""; 0]);
        assert_eq!(offered("solve flowshop ta021 --bound one --bou"), [""; 0], "it was given");
        assert_eq!(offered("solve flowshop ta021 --bound o"), ["one", "one-tight"]);
        let two = ["--bound=two", "--bound=two-adjacent", "--bound=two-last"];
        assert_eq!(offered("solve flowshop ta021 --bound=t"), two);
        assert_eq!(offered("solve atsp ftv33 --bound p"), ["partial"]);
        assert_eq!(offered("count queens 8 --simd av"), ["avx2", "avx512"]);
        assert_eq!(offered("solve flowshop ta021 --gantt "), ["FILE"]);
        assert_eq!(offered("solve flowshop ta021 --threads "), [""; 0]);
    }
}
