//! The command with a toy problem: a problem needs only its entry in the registry.

use super::console::Console;
use super::flags::{FlagValues, Use, Verb, value_to_beat};
use super::run;
use crate::failure::{Failure, usage};
use crate::registry::entry::Task;
use crate::registry::simulated_load::{Load, SimulatedLoad, record};
use crate::registry::{Act, Ended, Entry, Rate, Request, Simulation, Start};
use pleach_core::search::problem::Plain;
use pleach_core::search::tree::{Children, Goal, Tree};
use serde_json::Value;
use std::path::PathBuf;

/// Strings of zeros and ones of length `n`, worth the ones in them: all ones are best.
#[derive(Clone)]
struct Ones {
    n: u32,
}

impl Tree for Ones {
    type Node = (u32, u32);
    const GOAL: Goal = Goal::Maximise;

    fn root(&self) -> Self::Node {
        (0, 0)
    }

    fn expand(&self, &(length, ones): &Self::Node, _: Option<i64>, out: &mut Children<'_, Self>) {
        if length == self.n {
            return out.solution(ones.into(), || vec![ones.into()]);
        }
        for one in [0, 1] {
            out.child((length + 1, ones + one));
        }
    }
}

/// All that the toy takes.
const TOY: Entry = Entry {
    name: "ones",
    about: "strings of zeros and ones: as many ones as there can be",
    instance: "the length",
    maximises: true,
    tasks: &[Task {
        verb: Verb::Solve,
        flags: &[Use::plain("best")],
        examples: &["solve ones 5"],
        act: Act::Search(solve),
    }],
    simulation: Some(Simulation { flags: &[], intervals: false, make_load }),
    rates: &[Rate {
        name: "ones 30",
        problem: |_| Ok(Box::new(Plain(Ones { n: 30 }))),
        on_devices: false,
    }],
    ..Entry::PLAIN
};

fn read(word: &str) -> Result<Ones, Failure> {
    let n = word.parse().ok().filter(|n| (1..=40).contains(n));
    n.map_or_else(
        || usage(format!("ones {word}: expected a length from 1 to 40")),
        |n| Ok(Ones { n }),
    )
}

fn solve(request: &Request<'_>) -> Result<Start<'static>, Failure> {
    let problem = Plain(read(request.instance)?);
    let best = value_to_beat(request.given, 0)?;
    Ok(Start::new(move |search, mode| Ended::plain(&problem, best, search, mode)))
}

fn make_load(load: &Load, _: &FlagValues) -> Result<SimulatedLoad, Failure> {
    let problem = Plain(read(&load.instance)?);
    SimulatedLoad::plain(load, problem, |plain, best| record(&plain.0, best))
        .map_err(Failure::Usage)
}

/// Runs a command line on the toy alone: its exit code, and what it prints.
fn toy(words: &str) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let console = Console::new("pleach", false, &mut out, &mut err);
    let code = run(&[TOY], &console, words.split_whitespace().map(Into::into));
    drop(console);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// A file that does not exist yet.
fn fresh(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("pleach-toy-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn one_entry_makes_a_problem_of_the_whole_command() {
    let (code, out, err) = toy("solve ones 6 --json");
    assert_eq!((code, err.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["problem"], &report["objective"]), (&"ones".into(), &6.into()));
    let (code, out, _) = toy("sim ones 10 --peers 3 --seed 1");
    assert!(code == 0 && out.contains("efficiency"), "{out}");
    let (code, out, _) = toy("devices --json");
    assert!(code == 0 && out.contains("ones 30"), "{out}");
    let (code, _, err) = toy("solve ones many");
    assert_eq!((code, err.as_str()), (2, "pleach: ones many: expected a length from 1 to 40\n"));
    // The problems of the other registry are unknown.
    let (code, _, err) = toy("solve flowshop ta001");
    assert_eq!((code, err.as_str()), (2, "pleach: solve flowshop: expected ones\n"));
    let (code, _, err) = toy("solve ones 5 --bound one");
    assert_eq!((code, err.as_str()), (2, "pleach: --bound does not apply to 'solve ones'\n"));
}

#[test]
fn help_is_made_of_the_entry() {
    let (code, out, _) = toy("--help");
    assert!(
        code == 0 && out.contains("pleach solve ones 5") && !out.contains("flowshop ta"),
        "{out}"
    );
    let (_, out, _) = toy("solve ones --help");
    assert!(out.contains("--best") && out.contains("--time-limit"), "{out}");
    for heading in ["Search:", "Workers and balance:", "Limits and saving:", "Output:"] {
        assert!(out.contains(heading), "{heading}: {out}");
    }
    for foreign in ["--gantt", "--jobs-first", "--peers", "--show", "--branching"] {
        assert!(!out.contains(foreign), "{foreign}: {out}");
    }
}

#[test]
fn a_search_of_the_entry_is_resumed() {
    let path = fresh("run.pleach");
    let file = path.to_str().unwrap();
    let (code, out, _) =
        toy(&format!("solve ones 18 --node-limit 1000 --checkpoint {file} --threads 1"));
    assert_eq!(code, 3, "{out}");
    assert!(out.contains(&format!("to resume: pleach resume {file}")), "{out}");
    let (code, out, _) = toy(&format!("resume {file} --show"));
    assert!(code == 0 && out.contains("estimated share of the tree done"), "{out}");
    let (code, out, _) = toy(&format!("resume {file}"));
    assert!(code == 0 && out.starts_with("ones 18: 18 (optimal)"), "{out}");
    std::fs::remove_file(&path).unwrap();
    let _ = std::fs::remove_file(path.with_extension("pleach.old"));
}
