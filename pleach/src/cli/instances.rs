//! `pleach instances PROBLEM`: the instances that the command knows by name, and what is known of them.

use super::console::{Console, DONE};
use super::flags::Verb;
use super::line::Line;
use crate::failure::{Failure, usage};
use crate::provenance::stamped;
use crate::registry::{Entry, NamedInstance, entry, names};
use crate::report::columns::aligned;
use serde_json::{Value, json};

/// Lists the instances of a problem whose names begin like one of the words, or the problems.
pub fn run(registry: &[Entry], console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    line.given.check_alone(Verb::Instances, &[])?;
    let as_json = line.given.on("json");
    let Some(problem) = line.words.get(1) else {
        let text = if as_json {
            let problem = |entry: &Entry| {
                let named = (entry.instances)().len();
                json!({ "problem": entry.name, "named": named, "instance": entry.instance })
            };
            let problems: Vec<Value> = registry.iter().map(problem).collect();
            stamped(json!({ "problems": problems }))
        } else {
            problems(registry)
        };
        return console.print(&text).map(|()| DONE);
    };
    let Some(entry) = entry(registry, problem) else {
        return usage(format!("instances {problem}: expected {}", names(registry, |_| true)));
    };
    let all = (entry.instances)();
    let begins = |word: &String| {
        let word = word.to_lowercase();
        all.iter().any(|instance| instance.name.to_lowercase().starts_with(&word))
    };
    if let Some(word) = line.words[2..].iter().find(|word| !begins(word)) {
        return usage(format!(
            "instances {problem} {word}: no known {problem} instance has a name that begins with this"
        ));
    }
    let chosen = |instance: &&NamedInstance| {
        let name = instance.name.to_lowercase();
        let words = &line.words[2..];
        words.is_empty() || words.iter().any(|word| name.starts_with(&word.to_lowercase()))
    };
    let chosen: Vec<&NamedInstance> = all.iter().filter(chosen).collect();
    let text = if as_json {
        let instances: Vec<Value> = chosen.iter().map(|instance| instance.json()).collect();
        stamped(json!({ "problem": problem, "instances": instances }))
    } else if chosen.is_empty() {
        format!("{problem} has no named instances; an instance is {}", entry.instance)
    } else {
        let row = |instance: &&NamedInstance| {
            vec![instance.name.clone(), instance.size.clone(), instance.known_text()]
        };
        aligned(&chosen.iter().map(row).collect::<Vec<_>>())
    };
    console.print(&text).map(|()| DONE)
}

/// The problems, with their numbers of named instances, and what else an instance may be.
fn problems(registry: &[Entry]) -> String {
    let row = |entry: &Entry| {
        let named = match (entry.instances)().len() {
            0 => "no named ones".into(),
            n => format!("{n} by name"),
        };
        vec![entry.name.to_string(), named, entry.instance.to_string()]
    };
    aligned(&registry.iter().map(row).collect::<Vec<_>>())
}
