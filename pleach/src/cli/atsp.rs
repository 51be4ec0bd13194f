//! `solve atsp` and `check atsp`: from names, files and flags to a search and back.

use super::numbers::numbers;
use super::options::{Best, Options};
use super::progress::{catch_interrupts, interrupted};
use super::resume::show;
use super::{Failure, Files, SHORTEST, print, search, usage};
use pleach_core::problem::Problem;
use pleach_core::work::Nodes;
use pleach_problems::atsp::bound::Bound;
use pleach_problems::atsp::instance::Instance;
use pleach_problems::atsp::named::{named, optimum};
use pleach_problems::atsp::read::read;
use pleach_problems::atsp::{Atsp, solution};
use pleach_run::Settings;
use serde_json::json;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long heuristics look for a tour of the published length.
const REACH: Duration = Duration::from_secs(1);

/// Solves an instance.
pub fn solve(word: &str, options: &Options) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    catch_interrupts();
    refuse(options)?;
    let instance = instance(word)?;
    let best = options.best.unwrap_or(Best::Search);
    let to_beat = match best {
        Best::Value(value) => Some(value),
        Best::Optimum => Some(published(word)?),
        Best::None | Best::Search => None,
        Best::Neh => return usage("--best neh: expected none, optimum, search or a number here"),
    };
    let going = options.going.as_ref();
    // What a search began with is in its checkpoint.
    let path = options.start.as_ref().filter(|_| going.is_none());
    let given = path.map(|path| tour(&instance, &path.to_string_lossy())).transpose()?;
    let saved = going.and_then(|going| going.state["bound"].as_str());
    let bound = Bound::parse(saved.or(options.bound.as_deref()).unwrap_or("auto"));
    let bound = bound.map_err(|why| Failure::Usage(format!("--bound {why}")))?;
    if options.nodes == Nodes::Interval && bound != Bound::Partial {
        return usage("--nodes interval: expected with --bound partial");
    }
    let files = if options.show { None } else { Some(Files::open(options)?) };
    let (seed, how) = (options.settings.seed, (options.nodes, options.simd));
    let until = options.settings.time_limit.map(|limit| started + limit);
    let go_on =
        || !options.show && !interrupted() && until.is_none_or(|until| Instant::now() < until);
    let atsp = Atsp::new(instance, bound, how, (given.as_deref(), seed), &go_on);
    let atsp = atsp.map_err(|why| Failure::Usage(format!("{word}: {why}")))?;
    let files = match (files, going) {
        (None, Some(going)) => return show(&atsp, "atsp", word, going, options),
        (files, _) => files.map_or_else(|| Files::open(options), Ok)?,
    };
    let mut record = options.record.clone();
    record["bound"] = json!(atsp.bound().to_string());
    record["best"] = json!(best.to_string());
    let start = match best {
        _ if going.is_some() => None,
        Best::Search => Some(atsp.start().to_vec()),
        Best::Optimum => {
            let most = options.settings.time_limit.unwrap_or(REACH).min(REACH);
            let until = Instant::now() + most;
            let found = atsp.reach(to_beat.unwrap_or(0), || Instant::now() < until, seed);
            found.or(given)
        }
        _ => given,
    };
    let prepared = started.elapsed();
    let limit = options.settings.time_limit.map(|limit| limit.saturating_sub(prepared));
    let earlier_s = going.map_or(0.0, |going| going.state["setup_s"].as_f64().unwrap_or(0.0));
    let setup_s = earlier_s + prepared.as_secs_f64();
    let state =
        json!({ "setup_s": setup_s, "bound": record["bound"], "least": atsp.least_score() });
    let settings = Settings {
        best: to_beat,
        start: start.map(|order| solution(atsp.instance(), &order)),
        improve: best == Best::Search,
        time_limit: limit.map(|left| left.max(SHORTEST)),
        save: options.save(&state),
        resume: going.map(|going| going.checkpoint.clone()),
        ..options.settings.clone()
    };
    let mut report = search(atsp, settings, options)?;
    report.outcome.seconds += setup_s;
    report.outcome.setup_seconds += setup_s;
    files.deliver(&report, "atsp", word, options, &record)
}

/// Checks a tour that a file holds.
pub fn check(word: &str, path: &str, options: &Options) -> Result<ExitCode, Failure> {
    refuse(options)?;
    let searching = ["best", "start", "bound", "solution", "trace", "nodes", "checkpoint"];
    options.refuse(&searching, "check searches for nothing").map_err(Failure::Usage)?;
    let instance = instance(word)?;
    let length = instance.length(&tour(&instance, path)?);
    if options.json {
        print(&json!({ "instance": word, "valid": true, "objective": length }).to_string())?;
    } else {
        print(&format!("atsp {word}: a tour of length {length}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses what only other problems have.
fn refuse(options: &Options) -> Result<(), Failure> {
    let others = ["branching", "all", "jobs-first", "gantt"];
    options.refuse(&others, "atsp has no such choice").map_err(Failure::Usage)
}

fn published(word: &str) -> Result<i64, Failure> {
    optimum(word).map_or_else(|| usage(format!("--best optimum: none is known for {word}")), Ok)
}

/// The instance of a name, or else of a file.
fn instance(word: &str) -> Result<Instance, Failure> {
    if let Some(instance) = named(word) {
        return instance.or_else(|why| usage(format!("{word}: {why}")));
    }
    let text = std::fs::read_to_string(word).or_else(|why| {
        usage(format!("{word}: {why}; expected a file, a name such as ftv33, or CLASS:CITIES:SEED"))
    })?;
    read(&text).or_else(|why| usage(format!("{word}{why}")))
}

/// The tour that a file holds.
fn tour(instance: &Instance, path: &str) -> Result<Vec<u16>, Failure> {
    instance.order(&numbers(path, "city")?).or_else(|why| usage(format!("{path}: {why}")))
}
