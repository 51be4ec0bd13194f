//! From the words on the command line to a problem that runs.

use super::options::Options;
use super::rows::rows_of;
use super::{Failure, atsp, conclude, flowshop, usage};
use clap::ArgMatches;
use pleach_core::problem::Plain;
use pleach_problems::flowshop::named::named;
use pleach_problems::knapsack::{Knapsack, MOST, MOST_ITEMS};
use pleach_problems::queens::{Queens, first::FirstQueens};
use pleach_problems::uts::{
    Uts,
    parameters::{NAMED, Parameters},
};
use std::process::ExitCode;

/// Runs `count` or `solve` on the problem and instance that the words name.
pub fn run(verb: &str, matches: &ArgMatches, options: &Options) -> Result<ExitCode, Failure> {
    let word = |name| matches.get_one::<String>(name).map_or("", String::as_str);
    let (problem, instance) = (word("problem"), word("instance"));
    if !["flowshop", "atsp"].contains(&problem) {
        options.without_flowshop(problem).map_err(Failure::Usage)?;
    }
    if !matches!((verb, problem), (_, "flowshop" | "atsp") | ("count", "queens")) {
        options.refuse(&["nodes"], "expected pool here").map_err(Failure::Usage)?;
    }
    match (verb, problem) {
        ("count", "queens") => {
            let mut queens = Queens::new(size(instance)?, options.simd).map_err(Failure::Usage)?;
            queens.nodes = options.nodes;
            conclude(queens, problem, instance, options)
        }
        ("count", "uts") => {
            let tree = tree(instance, options)?;
            conclude(Uts::new(tree, options.simd), problem, instance, options)
        }
        ("solve", "atsp") => atsp::solve(instance, options),
        ("check", "atsp") => atsp::check(instance, word("file"), options),
        ("solve", "flowshop") => flowshop::solve(instance, options),
        ("check", "flowshop") => flowshop::check(instance, word("file"), options),
        ("solve", "queens") => {
            let first = FirstQueens::new(size(instance)?).map_err(Failure::Usage)?;
            conclude(Plain(first), problem, instance, options)
        }
        ("solve", "knapsack") => {
            let rows = rows_of::<2>(instance, MOST, MOST_ITEMS).map_err(Failure::Usage)?;
            let knapsack = Knapsack::new(rows[0][1], &rows[1..]).map_err(Failure::Usage)?;
            conclude(Plain(knapsack), problem, instance, options)
        }
        ("count", _) => usage(format!("count {problem}: expected queens or uts")),
        ("check", _) => usage(format!("check {problem}: expected flowshop or atsp")),
        _ => usage(format!("{verb} {problem}: expected flowshop, atsp, queens or knapsack")),
    }
}

/// The words of a command that are files which its problem reads.
pub fn inputs(words: &[String]) -> Vec<String> {
    let [_, problem, instance] = words else { return Vec::new() };
    let read = match &problem[..] {
        "knapsack" => true,
        "flowshop" => named(instance).is_none(),
        "atsp" => !pleach_problems::atsp::named::is_name(instance),
        _ => false,
    };
    read.then(|| instance.clone()).into_iter().collect()
}

fn size(word: &str) -> Result<u32, Failure> {
    word.parse().or_else(|_| usage(format!("queens {word}: expected a board size")))
}

/// A tree that is known to end, or that may run for ever within limits.
fn tree(words: &str, options: &Options) -> Result<Parameters, Failure> {
    let tree = Parameters::parse(words).map_err(|why| Failure::Usage(format!("uts: {why}")))?;
    let limited = options.settings.time_limit.is_some() || options.settings.node_limit.is_some();
    let known = NAMED.iter().any(|(_, named, _)| *named == tree);
    match tree.endless() {
        Some(why) if !limited && !known => {
            usage(format!("uts {words}: {why}; expected q·m below 1, --time-limit or --node-limit"))
        }
        _ => Ok(tree),
    }
}
