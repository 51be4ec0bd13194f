//! `solve flowshop` and `check flowshop`: from names, files and flags to a search and back.

use super::options::{Best, Options};
use super::progress::catch_interrupts;
use super::{Failure, Files, create, gantt, print, search, usage, write};
use crate::report::{Report, Status};
use pleach_core::tree::Solution;
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::branching::Branching;
use pleach_problems::flowshop::heuristic::neh;
use pleach_problems::flowshop::instance::{Instance, plan};
use pleach_problems::flowshop::named::{best_known, named};
use pleach_problems::flowshop::read::read;
use pleach_run::Settings;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The time limit of a search for which no time is left.
const SHORTEST: Duration = Duration::from_millis(1);
/// How long heuristics look for a schedule of the published value.
const REACH: Duration = Duration::from_secs(1);

/// Solves an instance.
pub fn solve(word: &str, options: &Options) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    catch_interrupts();
    let mut flowshop = Flowshop::new(instance(word, options)?, options.simd);
    let files = Files::open(options)?;
    let picture = options.gantt.as_deref().map(|path| create("gantt", path)).transpose()?;
    let mut record = choose(&mut flowshop, options)?;
    let settings = start(&mut flowshop, word, options)?;
    record["best"] = json!(options.best.unwrap_or(Best::Search).to_string());
    record["reference"] = json!((flowshop.reference < i64::MAX).then_some(flowshop.reference));
    let prepared = started.elapsed();
    let limit = settings.time_limit.map(|limit| limit.saturating_sub(prepared));
    let settings = Settings { time_limit: limit.map(|left| left.max(SHORTEST)), ..settings };
    let to_beat = settings.best;
    let mut report = search(flowshop.clone(), settings.clone(), options)?;
    report.outcome.seconds += prepared.as_secs_f64();
    report.outcome.setup_seconds += prepared.as_secs_f64();
    if options.all {
        count_optima(&flowshop, settings, &mut report, to_beat, options)?;
    }
    let code = files.deliver(&report, "flowshop", word, options, &record)?;
    if let (Some(file), Some(plan)) = (picture, &report.solution) {
        let order = flowshop.instance().order(plan).map_err(Failure::Inside)?;
        write(file, &gantt::draw(word, flowshop.instance(), &order))?;
    }
    Ok(code)
}

/// Checks a schedule that a file holds.
pub fn check(word: &str, path: &str, options: &Options) -> Result<ExitCode, Failure> {
    let searching = ["best", "start", "bound", "branching", "all", "gantt", "solution", "trace"];
    options.refuse(&searching, "check searches for nothing").map_err(Failure::Usage)?;
    let instance = instance(word, options)?;
    let order = schedule(&instance, path)?;
    let makespan = instance.makespan(&order);
    if options.json {
        print(&json!({ "instance": word, "valid": true, "objective": makespan }).to_string())?;
    } else {
        print(&format!("flowshop {word}: a schedule of makespan {makespan}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The instance of a name, or else of a file.
fn instance(word: &str, options: &Options) -> Result<Instance, Failure> {
    if let Some(instance) = named(word) {
        return Ok(instance);
    }
    let text = std::fs::read_to_string(word).or_else(|why| {
        usage(format!(
            "{word}: {why}; expected a file, or a name from ta001 to ta120 or VFR10_5_1 to VFR60_20_10"
        ))
    })?;
    read(&text, options.jobs_first).map_err(|why| Failure::Usage(format!("{word}{why}")))
}

/// The schedule that a file holds.
fn schedule(instance: &Instance, path: &str) -> Result<Vec<u16>, Failure> {
    let text = std::fs::read_to_string(path).or_else(|why| usage(format!("{path}: {why}")))?;
    let mut plan = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        for word in words.split_whitespace() {
            let number = word.parse::<i64>().or_else(|_| {
                usage(format!("{path}, line {line}: '{word}', expected the number of a job"))
            })?;
            plan.push(number);
        }
    }
    instance.order(&plan).or_else(|why| usage(format!("{path}: {why}")))
}

/// Takes up the bound and the branching that the flags name; returns the flags in force.
fn choose(flowshop: &mut Flowshop, options: &Options) -> Result<Value, Failure> {
    let bound = Bound::parse(options.bound.as_deref().unwrap_or("auto"));
    flowshop.bound = bound.map_err(|why| Failure::Usage(format!("--bound {why}")))?;
    if let Some(word) = options.branching.as_deref().filter(|&word| word != "auto") {
        let rule = Branching::parse(word);
        flowshop.branching = rule.map_err(|why| Failure::Usage(format!("--branching {why}")))?;
    }
    let mut record = options.record.clone();
    record["bound"] = json!(flowshop.bound.to_string());
    record["branching"] = json!(flowshop.branching.to_string());
    Ok(record)
}

/// The value and the solution to start from, as the flags name them.
fn start(flowshop: &mut Flowshop, word: &str, options: &Options) -> Result<Settings, Failure> {
    let mut settings = options.settings.clone();
    let instance = flowshop.instance();
    let path = options.start.as_ref().map(|path| path.to_string_lossy());
    let mut order = path.map(|path| schedule(instance, &path)).transpose()?;
    match options.best.unwrap_or(Best::Search) {
        Best::None => {}
        Best::Value(value) => settings.best = Some(value),
        Best::Neh => order = Some(better(instance, order, neh(instance).0)),
        Best::Search => {
            order = Some(flowshop.start(order.as_deref(), settings.seed));
            settings.improve = true;
        }
        Best::Optimum => {
            let Some((value, true)) = best_known(word) else {
                return usage(format!("--best optimum: none is known for {word}"));
            };
            settings.best = Some(value);
            let found = {
                let most = settings.time_limit.unwrap_or(REACH).min(REACH);
                let until = Instant::now() + most;
                flowshop.reach(value, || Instant::now() < until, settings.seed)
            };
            order = found.or(order);
        }
    }
    settings.start = order
        .as_ref()
        .map(|order| Solution { score: instance.makespan(order).into(), plan: plan(order) });
    let values = [settings.best, settings.start.as_ref().map(|start| start.score)];
    flowshop.reference = values.into_iter().flatten().min().unwrap_or(i64::MAX);
    flowshop.start = order;
    Ok(settings)
}

/// The better of two schedules.
fn better(instance: &Instance, one: Option<Vec<u16>>, other: Vec<u16>) -> Vec<u16> {
    one.filter(|one| instance.makespan(one) < instance.makespan(&other)).unwrap_or(other)
}

/// Searches again, for all schedules as good as the best.
fn count_optima(
    flowshop: &Flowshop,
    settings: Settings,
    report: &mut Report,
    to_beat: Option<i64>,
    options: &Options,
) -> Result<(), Failure> {
    let value = match report.status {
        Status::Optimal => report.objective,
        Status::NoBetter => to_beat,
        _ => None,
    };
    let Some(value) = value else { return Ok(()) };
    let spent = Duration::from_secs_f64(report.outcome.seconds - report.outcome.setup_seconds);
    let mut all = flowshop.clone();
    all.all = true;
    all.reference = value + 1;
    let left = settings.time_limit.map(|limit| limit.saturating_sub(spent).max(SHORTEST));
    let nodes = report.outcome.counts.bounded;
    let settings = Settings {
        best: Some(value + 1),
        start: None,
        improve: false,
        time_limit: left,
        node_limit: settings.node_limit.map(|limit| limit.saturating_sub(nodes).max(1)),
        ..settings
    };
    let counted = search(all, settings, options)?;
    let attained = report.status == Status::Optimal || counted.count > 0;
    report.add_optima(counted, attained);
    Ok(())
}
