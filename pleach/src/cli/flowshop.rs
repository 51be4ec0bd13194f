//! `solve flowshop` and `check flowshop`: from names, files and flags to a search and back.

use super::numbers::numbers;
use super::options::{Best, Options};
use super::progress::catch_interrupts;
use super::resume::{Going, over, show};
use super::{Failure, Files, SHORTEST, create, print, search, usage, write};
use crate::draw::gantt;
use crate::report::{Report, Status};
use pleach_core::checkpoint::Checkpoint;
use pleach_core::problem::Problem;
use pleach_core::tree::Solution;
use pleach_core::work::Nodes;
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::branching::Branching;
use pleach_problems::flowshop::heuristic::neh;
use pleach_problems::flowshop::instance::{Instance, plan};
use pleach_problems::flowshop::named::{best_known, named};
use pleach_problems::flowshop::read::read;
use pleach_run::{Outcome, Settings};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long heuristics look for a schedule of the published value.
const REACH: Duration = Duration::from_secs(1);

/// A search about to begin, or to go on.
struct Begin {
    settings: Settings,
    /// The search for all optimal schedules, where that has begun.
    second: Option<Arc<Checkpoint>>,
    /// What is to be saved beside the search.
    state: Value,
    /// What preparing took before this run.
    setup_s: f64,
}

/// Solves an instance.
pub fn solve(word: &str, options: &Options) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    catch_interrupts();
    if options.all && options.settings.policy.is_late() {
        return usage("--all: expected another --balance than master-worker:late for what counts");
    }
    let mut flowshop = Flowshop::new(instance(word, options)?, options.simd);
    let mut record = choose(&mut flowshop, options)?;
    if let Some(going) = options.going.as_ref().filter(|_| options.show) {
        let begin = go_on(&mut flowshop, going, options)?;
        let second = || counting(&flowshop, begin.state["first"]["best"].as_i64());
        let problem = if begin.second.is_some() { second() } else { flowshop };
        return show(&problem, "flowshop", word, going, options);
    }
    let files = Files::open(options)?;
    let picture = options.gantt.as_deref().map(|path| create("gantt", path)).transpose()?;
    let mut begin = match &options.going {
        Some(going) => go_on(&mut flowshop, going, options)?,
        None => start(&mut flowshop, word, options)?,
    };
    record["best"] = json!(options.best.unwrap_or(Best::Search).to_string());
    record["reference"] = json!((flowshop.reference < i64::MAX).then_some(flowshop.reference));
    let prepared = started.elapsed();
    let setup_s = begin.setup_s + prepared.as_secs_f64();
    begin.state["setup_s"] = json!(setup_s);
    begin.state["bound"] = json!(flowshop.bound.to_string());
    let limit = begin.settings.time_limit.map(|limit| limit.saturating_sub(prepared));
    begin.settings.time_limit = limit.map(|left| left.max(SHORTEST));
    if begin.second.is_none() {
        begin.settings.save = options.save(&begin.state);
    }
    let mut report = search(flowshop.clone(), begin.settings.clone(), options)?;
    begin.state["first"] = finished(&report);
    report.outcome.seconds += setup_s;
    report.outcome.setup_seconds += setup_s;
    if options.all {
        count_optima(&flowshop, begin, &mut report, options)?;
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
    let searching = [
        "best",
        "start",
        "bound",
        "branching",
        "all",
        "gantt",
        "solution",
        "trace",
        "nodes",
        "checkpoint",
    ];
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
pub fn instance(word: &str, options: &Options) -> Result<Instance, Failure> {
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
    instance.order(&numbers(path, "job")?).or_else(|why| usage(format!("{path}: {why}")))
}

/// Takes up the bound and the branching that the flags name; returns the flags in force.
fn choose(flowshop: &mut Flowshop, options: &Options) -> Result<Value, Failure> {
    flowshop.nodes = options.nodes;
    // A search from a given value is one tree, whoever explores it, with a named bound; on none of
    // eighteen instances was `auto` proven faster by more than some milliseconds there.
    let given = matches!(options.best, Some(Best::Optimum | Best::Value(_)));
    let saved = options.going.as_ref().and_then(|going| going.state["bound"].as_str());
    let named = options.bound.as_deref().or(saved);
    let bound = Bound::parse(named.unwrap_or(if given { "one" } else { "auto" }));
    flowshop.bound = bound.map_err(|why| Failure::Usage(format!("--bound {why}")))?;
    // What `auto` bounds depends on what it has seen: the ranks of children must not.
    let ranked = flowshop.nodes == Nodes::Interval;
    if flowshop.bound == Bound::Auto
        && (ranked || named.is_none() && may_use_devices(flowshop, options))
    {
        flowshop.bound = Bound::One;
    }
    if let Some(word) = options.branching.as_deref().filter(|&word| word != "auto") {
        let rule = Branching::parse(word);
        flowshop.branching = rule.map_err(|why| Failure::Usage(format!("--branching {why}")))?;
    }
    let mut record = options.record.clone();
    record["bound"] = json!(flowshop.bound.to_string());
    record["branching"] = json!(flowshop.branching.to_string());
    Ok(record)
}

/// Whether there are devices, and the search would be one for them with their bound.
fn may_use_devices(flowshop: &Flowshop, options: &Options) -> bool {
    let mut bounded = flowshop.clone();
    bounded.bound = Bound::One;
    !options.settings.devices.is_empty() && bounded.on_device().is_ok()
}

/// The value and the solution to start from, as the flags name them.
fn start(flowshop: &mut Flowshop, word: &str, options: &Options) -> Result<Begin, Failure> {
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
    let state = json!({ "to_beat": settings.best, "reference": flowshop.reference });
    Ok(Begin { settings, second: None, state, setup_s: 0.0 })
}

/// The better of two schedules.
fn better(instance: &Instance, one: Option<Vec<u16>>, other: Vec<u16>) -> Vec<u16> {
    one.filter(|one| instance.makespan(one) < instance.makespan(&other)).unwrap_or(other)
}

/// The settings of a search that was saved, and what it began with.
fn go_on(flowshop: &mut Flowshop, going: &Going, options: &Options) -> Result<Begin, Failure> {
    let state = going.state.clone();
    let mut settings = options.settings.clone();
    settings.best = state["to_beat"].as_i64();
    settings.improve = options.best.unwrap_or(Best::Search) == Best::Search;
    flowshop.reference = state["reference"].as_i64().unwrap_or(i64::MAX);
    let solution = going.checkpoint.solution.as_ref();
    flowshop.start = solution.and_then(|best| flowshop.instance().order(&best.plan).ok());
    let (mut second, mut saved) = (None, going.checkpoint.clone());
    if !state["first"].is_null() {
        let Some(first) = over(&state["first"], flowshop.fingerprint()) else {
            return usage(format!("{}: its first search cannot be read", going.file));
        };
        second = Some(std::mem::replace(&mut saved, Arc::new(first)));
    }
    settings.resume = Some(saved);
    let setup_s = state["setup_s"].as_f64().unwrap_or(0.0);
    Ok(Begin { settings, second, state, setup_s })
}

/// A search that is over, to be saved beside the one that follows it.
fn finished(report: &Report) -> Value {
    let Outcome { counts, solution, lower_bound, seconds, .. } = &report.outcome;
    json!({
        "elapsed_ns": (seconds * 1e9) as u64,
        "branched": counts.branched,
        "bounded": counts.bounded,
        "depth": counts.depth,
        "best": lower_bound,
        "score": solution.as_ref().map(|solution| solution.score),
        "solution": solution.as_ref().map(|solution| &solution.plan),
    })
}

/// The search for all schedules of a value.
fn counting(flowshop: &Flowshop, value: Option<i64>) -> Flowshop {
    let mut all = flowshop.clone();
    all.all = true;
    all.reference = value.unwrap_or(i64::MAX - 1) + 1;
    all
}

/// Searches again, for all schedules as good as the best.
fn count_optima(
    flowshop: &Flowshop,
    begin: Begin,
    report: &mut Report,
    options: &Options,
) -> Result<(), Failure> {
    let Begin { settings, second, state, .. } = begin;
    let value = match report.status {
        Status::Optimal => report.objective,
        Status::NoBetter => settings.best,
        _ => None,
    };
    let Some(value) = value else { return Ok(()) };
    let all = counting(flowshop, Some(value));
    let first = &report.outcome;
    let spent_s = first.seconds - first.setup_seconds - first.earlier_seconds;
    let spent = Duration::from_secs_f64(spent_s.max(0.0));
    let earlier = settings.resume.as_ref().map_or(0, |before| before.counts.bounded);
    let nodes = first.counts.bounded - earlier;
    let settings = Settings {
        best: Some(value + 1),
        start: None,
        improve: false,
        time_limit: settings.time_limit.map(|limit| limit.saturating_sub(spent).max(SHORTEST)),
        node_limit: settings.node_limit.map(|limit| limit.saturating_sub(nodes).max(1)),
        save: options.save(&state),
        resume: second,
        // No device counts schedules.
        devices: Vec::new(),
        threads: settings.threads.max(1),
        ..settings
    };
    let counted = search(all, settings, options)?;
    let attained = report.status == Status::Optimal || counted.count > 0;
    report.add_optima(counted, attained);
    Ok(())
}
