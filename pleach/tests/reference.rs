//! The reference of the book, `docs/reference.md`: it says what the help says.

use crate::house::root;
use crate::outside::pleach;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

fn help(topic: &str) -> String {
    let output = pleach(&format!("{topic} --help"));
    assert_eq!(output.status.code(), Some(0), "{topic}");
    String::from_utf8(output.stdout).unwrap()
}

/// The entries of a section of help: a term, and what it means, whose lines are joined.
fn entries(help: &str, section: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let heading = format!("{section}:");
    for line in help.lines().skip_while(|line| *line != heading).skip(1) {
        if line.trim().is_empty() {
            break;
        }
        let depth = line.len() - line.trim_start().len();
        match line.trim().split_once("  ") {
            Some((term, means)) if depth <= 6 => {
                found.push((term.into(), means.trim().into()));
            }
            _ => {
                let means = &mut found.last_mut().expect("an entry").1;
                *means += &format!(" {}", line.trim());
            }
        }
    }
    found
}

/// All that has a page of help of its own: the commands, each with its problems or loops.
fn topics(overview: &str) -> Vec<Topic> {
    let problems = entries(overview, "Problems");
    let loops = entries(overview, "Loops");
    let mut topics = Vec::new();
    for (command, _) in entries(overview, "Commands") {
        let verb = command.split(' ').next().unwrap().to_string();
        let solves = |means: &str| {
            let verbs = means.rsplit_once('(').unwrap().1;
            verbs.trim_end_matches(')').split(", ").any(|word| word == verb)
        };
        let kinds: Vec<&String> = match &*verb {
            "loop" => loops.iter().map(|(name, _)| name).collect(),
            _ => problems.iter().filter(|entry| solves(&entry.1)).map(|(name, _)| name).collect(),
        };
        topics.extend(kinds.iter().map(|kind| (verb.clone(), (*kind).clone())));
        if kinds.is_empty() {
            topics.push((verb, String::new()));
        }
    }
    topics
}

/// A page of help: a command, and its problem or loop.
type Topic = (String, String);

/// Some topics in few words: a verb stands for all of its topics.
fn few_words(some: &[Topic], all: &[Topic]) -> String {
    if some.len() == all.len() {
        return "all".into();
    }
    let mut words: Vec<String> = Vec::new();
    for (verb, kind) in some {
        let of = |topics: &[Topic]| topics.iter().filter(|topic| topic.0 == *verb).count();
        let word = if of(some) == of(all) { verb.clone() } else { format!("{verb} {kind}") };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(", ")
}

/// A text in which Markdown sees no marks, with flags as code.
fn plain(text: &str) -> String {
    let escaped = |text: &str| {
        ['\\', '|', '<', '>', '*', '_']
            .iter()
            .fold(text.to_string(), |text, mark| text.replace(*mark, &format!("\\{mark}")))
    };
    let word = |word: &str| {
        let Some((before, flag)) = word.split_once("--") else { return escaped(word) };
        let name = flag.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(flag.len());
        let (name, after) = flag.split_at(name);
        format!("{}`--{name}`{}", escaped(before), escaped(after))
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn table(out: &mut String, heads: [&str; 2], rows: &[(String, String)]) {
    let _ = write!(out, "\n| {} | {} |\n|---|---|\n", heads[0], heads[1]);
    for (term, means) in rows {
        let _ = writeln!(out, "| `{}` | {} |", term.replace('|', "\\|"), plain(means));
    }
}

/// The page, from the help.
fn page() -> String {
    let overview = help("");
    let topics = topics(&overview);
    let mut out = String::from(
        "# Commands and flags\n\nThis page is made from the help of the command: `pleach --help`, `pleach solve flowshop --help`, and so \
         on. [Commands and results](use.md) explains how they work together.\n\n## Commands\n",
    );
    table(&mut out, ["command", "what it does"], &entries(&overview, "Commands"));
    out += "\n## Problems\n";
    table(&mut out, ["problem", "what is searched (commands)"], &entries(&overview, "Problems"));
    out += "\n## Loops\n";
    table(&mut out, ["loop", "what it computes"], &entries(&overview, "Loops"));
    for group in [
        "Search", "Workers and balance", "Limits and saving", "Several processes", "Service",
        "Output",
    ] {
        let _ = write!(out, "\n## {group}\n");
        // Flags in the order in which they come up; for each, what it means, and where.
        let mut flags: Vec<String> = Vec::new();
        let mut meanings: BTreeMap<String, Vec<(String, Vec<Topic>)>> = BTreeMap::new();
        for topic in &topics {
            for (flag, means) in entries(&help(&format!("{} {}", topic.0, topic.1)), group) {
                if !flags.contains(&flag) {
                    flags.push(flag.clone());
                }
                let known = meanings.entry(flag).or_default();
                match known.iter_mut().find(|(one, _)| *one == means) {
                    Some((_, topics)) => topics.push(topic.clone()),
                    None => known.push((means, vec![topic.clone()])),
                }
            }
        }
        for flag in flags {
            let _ = write!(out, "\n**`{flag}`**\n\n");
            for (means, some) in &meanings[&flag] {
                let _ = writeln!(out, "- {} (*{}*)", plain(means), few_words(some, &topics));
            }
        }
    }
    out += "\n## Exit codes\n\n";
    let codes = overview.split("Exit codes:").nth(1).unwrap();
    out += &format!("{}\n", codes.split_whitespace().collect::<Vec<_>>().join(" "));
    out
}

/// Where the help has changed, `WRITE=1 cargo test -p pleach --test main reference` writes the page again.
#[test]
fn the_reference_says_what_the_help_says() {
    let file = root().join("docs/reference.md");
    let page = page();
    if std::env::var_os("WRITE").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    let differs = page.lines().zip(written.lines()).find(|(wanted, has)| wanted != has);
    assert_eq!(differs, None, "docs/reference.md (left: by the help; write it with WRITE=1)");
    assert_eq!(page.len(), written.len());
}
