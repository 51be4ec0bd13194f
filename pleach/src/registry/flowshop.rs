//! The entry of the permutation flowshop.

use super::entry::{
    Act, Check, Checked, Done, Ended, Entry, Mode, Probe, Request, Simulation, SolutionFile, Start,
    Task, best, choice, is_here, published,
};
use super::instances::{KnownResult, NamedInstance};
use super::shop;
use super::simulated_load::{Load, SimulatedLoad, record};
use crate::campaign::flowshop::{self as campaign, Bound, Branching, ChildOrder, Options};
use crate::campaign::shop::{self as variants, Objective, Variant};
use crate::campaign::{Best, Search};
use crate::cli::flags::{self, FlagValues, Use, Verb, listed};
use crate::draw::gantt;
use crate::failure::{Failure, usage};
use pleach_core::search::work::Nodes;
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::heuristic::neh;
use pleach_problems::flowshop::named;
use pleach_problems::simd::Level;
use serde_json::json;

const BOUNDS: &str = "lower bound of a node: auto, one (LB1), one-tight, two (LB2, pairs of machines), two-adjacent \
                      (pairs of neighbours), two-last (pairs with the last machine)";
const BRANCHINGS: &str = "end of the schedule to extend: auto, forward, backward, alternate, max-sum, min-branch, min-min";
const CHILD_ORDERS: &str = "order in which the children of a node are explored: bound (least first), or, with --nodes \
                            interval, job (lowest number first)";
const BEST_WORDS: [&str; 4] = ["none", "neh", "search", "optimum"];
const BESTS: &str = "value that a schedule must beat: none, neh (NEH heuristic), search (iterated greedy \
                     and beam search, which continue alongside the search), optimum (as published), or a \
                     number";

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    name: "flowshop",
    about: "permutation flowshop: the best schedule by makespan or another objective",
    instance: "a name (ta001 to ta120, VFR10_5_1 to VFR800_60_10), a file (also CSV), or - for standard input",
    instances,
    is_file: |word| word != "-" && (campaign::named(word).is_none() || is_here(word)),
    maximises: false,
    tasks: &[
        Task {
            verb: Verb::Solve,
            flags: &[
                Use::with("best", BESTS, "search").among(|| listed(&BEST_WORDS)),
                Use::plain("start"),
                Use::with("bound", BOUNDS, "auto; one with --best V").among(|| listed(&Bound::ALL)),
                Use::with("branching", BRANCHINGS, "auto").among(|| listed(&Branching::ALL)),
                Use::with("child-order", CHILD_ORDERS, "bound").among(|| listed(&ChildOrder::ALL)),
                Use::with("all", "also count all optimal schedules, in a second search", ""),
                Use::plain("objective"),
                Use::plain("no-wait"),
                Use::plain("blocking"),
                Use::plain("due"),
                Use::plain("weights"),
                Use::plain("releases"),
                Use::plain("setups"),
                Use::plain("jobs-first"),
                Use::plain("nodes"),
                Use::plain("certificate"),
                Use::plain("solution"),
                Use::plain("gantt"),
                Use::plain("schedule"),
            ],
            examples: &[
                "solve flowshop ta021",
                "solve flowshop my.txt --time-limit 60s --gantt out.svg",
                "solve flowshop ta022 --checkpoint run.pleach",
                "solve flowshop ta002 --objective flow-time",
            ],
            act: Act::Search(solve),
        },
        Task {
            verb: Verb::Check,
            flags: &[
                Use::plain("objective"),
                Use::plain("no-wait"),
                Use::plain("blocking"),
                Use::plain("due"),
                Use::plain("weights"),
                Use::plain("releases"),
                Use::plain("setups"),
                Use::plain("jobs-first"),
                Use::plain("gantt"),
                Use::plain("beside"),
                Use::plain("schedule"),
            ],
            examples: &[],
            act: Act::Check(check),
        },
    ],
    draws: Some(picture),
    simulation: Some(Simulation {
        flags: &[
            Use::with(
                "best",
                "value that a schedule must beat: none, neh, optimum, or a number",
                "none",
            ),
            Use::with("bound", BOUNDS, "auto").among(|| listed(&Bound::ALL)),
            Use::with("branching", BRANCHINGS, "auto").among(|| listed(&Branching::ALL)),
            Use::plain("jobs-first"),
        ],
        intervals: true,
        make_load,
    }),
    rates: &[],
    probes: &[
        Probe::new("VFR10_5_6 from its optimum", |level| probe(FOUND, 0, Bound::One, level)),
        // The other bound, in explore and evaluate mode.
        Probe::new("VFR10_10_2 --bound two", |level| probe("VFR10_10_2", 0, Bound::Two, level)),
        Probe::new("VFR10_5_6 as intervals", |level| {
            probe_intervals(FOUND, Bound::One, ChildOrder::Bound, level)
        }),
        Probe::new("VFR10_5_6 as intervals by job", |level| {
            probe_intervals(FOUND, Bound::One, ChildOrder::Job, level)
        }),
        // Bounded in parallel.
        Probe::new("VFR10_10_2 --bound two as intervals", |level| {
            probe_intervals("VFR10_10_2", Bound::Two, ChildOrder::Bound, level)
        }),
        Probe::new("VFR10_5_6 --bound two as intervals by job", |level| {
            probe_intervals(FOUND, Bound::Two, ChildOrder::Job, level)
        }),
        // Finds a schedule.
        Probe::new(FOUND, |level| probe(FOUND, 1, Bound::One, level)).varying(),
        Probe::new("ta014", |level| probe("ta014", 0, Bound::One, level)).large(),
        Probe::new("ta030", |level| probe("ta030", 0, Bound::One, level)).large(),
    ],
};

fn instances() -> Vec<NamedInstance> {
    let instance = |(name, best, bound): (&str, i64, i64)| {
        let size = named::size(name).map(|(jobs, machines)| format!("{jobs} × {machines}"));
        let known = KnownResult::Best(best, bound);
        NamedInstance { name: name.into(), size: size.unwrap_or_default(), known }
    };
    named::best_values().map(instance).collect()
}

const FOUND: &str = "VFR10_5_6";

/// An instance, searched for a schedule that beats its optimum plus `more`.
fn searched(name: &'static str, more: i64, bound: Bound, level: Level) -> Result<Flowshop, String> {
    let known = campaign::named(name).zip(campaign::best_known(name));
    let (instance, (optimum, _)) = known.ok_or("no such instance")?;
    let mut problem = Flowshop::new(instance, level);
    (problem.reference, problem.bound) = (optimum + more, bound);
    Ok(problem)
}

fn probe(name: &'static str, more: i64, bound: Bound, level: Level) -> Result<Check, String> {
    let problem = searched(name, more, bound, level)?;
    Ok(Check { best: Some(problem.reference), problem: Box::new(problem) })
}

fn probe_intervals(
    name: &'static str,
    bound: Bound,
    order: ChildOrder,
    level: Level,
) -> Result<Check, String> {
    let mut problem = searched(name, 0, bound, level)?;
    (problem.nodes, problem.order) = (Nodes::Interval, order);
    Ok(Check { best: Some(problem.reference), problem: Box::new(problem) })
}

fn solve(request: &Request<'_>) -> Result<Start<'static>, Failure> {
    let Request { given, resumed, .. } = *request;
    let name = request.name().to_string();
    let variant = shop::variant(request)?;
    let branching = choice("branching", given.word("branching"), Branching::parse)?;
    let bound = choice("bound", given.word("bound"), Bound::parse)?;
    let bound = bound.or(given.word("bound").map(|_| Bound::Auto));
    let order = given.word("child-order").map(ChildOrder::parse).transpose();
    let order = order.or_else(|why| usage(format!("--child-order {why}")))?.unwrap_or_default();
    let all = given.on("all");
    if !variant.is_plain() {
        fits_variant(given)?;
    }
    let best = match given.get(&flags::BEST)? {
        Some(flags::Start::Value(_) | flags::Start::Decimal) => {
            let word = given.word("best").unwrap_or_default();
            let value = number(word, &variant);
            Best::Value(value.or_else(|what| usage(format!("--best {word}: expected {what}")))?)
        }
        _ => best(request, |word| optimum(word, &variant))?,
    };
    let path = given.word("start").filter(|_| !resumed);
    let start = path.map(|path| shop::order(variant.shop(), path)).transpose()?;
    let word = given.word("best").unwrap_or("search").to_string();
    let wanted = wanted(given);
    let labels = shop::labels(&variant);
    let search = Box::new(move |search: Search<'_>, mode| {
        let mut settings = vec![
            ("best", json!(word)),
            ("jobs", json!(variant.jobs())),
            ("machines", json!(variant.machines())),
            ("decimals", json!(variant.decimals())),
            ("conditions", shop::conditions(&variant)),
        ];
        let (report, schedule) = if variant.is_plain() {
            let instance = &variant.shop().instance;
            let options = Options { best, start, bound, branching, order, all, search };
            if mode == Mode::Inspect {
                return Ok(Ended::Inspection(Box::new(campaign::inspect(instance, options)?)));
            }
            let answer = campaign::solve(instance, options)?;
            let (bound, branching) = answer.chosen;
            settings.extend([
                ("bound", json!(bound.to_string())),
                ("branching", json!(branching.to_string())),
                ("child_order", json!(order.to_string())),
                ("reference", json!(answer.reference)),
            ]);
            (answer.report, answer.schedule)
        } else {
            let options = variants::Options { best, start, search };
            if mode == Mode::Inspect {
                return Ok(Ended::Inspection(Box::new(variants::inspect(&variant, options)?)));
            }
            let answer = variants::solve(&variant, options)?;
            (answer.report, answer.schedule)
        };
        let files = schedule.map(|order| schedule_files(wanted, &variant, &[(&name, &order)]));
        let files = files.transpose()?.unwrap_or_default();
        Ok(Ended::Done(Box::new(Done { report, settings, files })))
    });
    Ok(Start { labels, search })
}

/// Refuses flags that work only for the makespan without side conditions.
fn fits_variant(given: &FlagValues) -> Result<(), Failure> {
    let only = ["bound", "branching", "child-order", "all", "certificate"]
        .into_iter()
        .find(|flag| given.has(flag));
    let nodes = given.get(&flags::NODES)?;
    let only = only.or((nodes == Some(Nodes::Interval)).then_some("nodes interval"));
    match only {
        Some(flag) => usage(format!(
            "--{flag} works only with the objective makespan and without side conditions"
        )),
        None => Ok(()),
    }
}

fn check(request: &Request<'_>, path: &str) -> Result<Checked, Failure> {
    let (wanted, beside) = (wanted(request.given), request.given.word("beside"));
    if beside.is_some() && !wanted[0] {
        return usage("--beside draws a second schedule, so it needs --gantt FILE");
    }
    let variant = shop::variant(request)?;
    let order = shop::order(variant.shop(), path)?;
    let value = variant.value(&order);
    let below = beside.map(|other| shop::order(variant.shop(), other)).transpose()?;
    let below = beside.zip(below.as_deref());
    let mut plans = vec![(below.map_or(request.name(), |_| path), &order[..])];
    plans.extend(below);
    let files = schedule_files(wanted, &variant, &plans)?;
    let phrase = match variant.objective() {
        Objective::Makespan => "a schedule of makespan",
        Objective::FlowTime => "a schedule of total flow time",
        Objective::Tardiness => "a schedule of total tardiness",
        Objective::Lateness => "a schedule of maximum lateness",
        Objective::TardyJobs => "a schedule with tardy jobs:",
    };
    Ok(Checked { phrase, value, labels: shop::labels(&variant), files })
}

/// Which files about a schedule are wanted: a Gantt chart, and its times.
fn wanted(given: &FlagValues) -> [bool; 2] {
    ["gantt", "schedule"].map(|flag| given.has(flag))
}

/// The files about the first of these schedules, which the chart shows all, each with its title.
fn schedule_files(
    [gantt, schedule]: [bool; 2],
    variant: &Variant,
    plans: &[(&str, &[u16])],
) -> Result<Vec<SolutionFile>, Failure> {
    let mut files = Vec::new();
    if gantt {
        files.push(("gantt", gantt::draw(variant, plans)));
    }
    if let Some((_, order)) = plans.first().filter(|_| schedule) {
        let table = shop::schedule(variant, order);
        files.push(("schedule", table.map_err(|why| Failure::Inside(why.to_string()))?));
    }
    Ok(files)
}

/// A schedule as a Gantt chart, and its value.
fn picture(request: &Request<'_>, solution: &[i64]) -> Result<(String, i64), Failure> {
    let variant = shop::variant(request)?;
    let order = variant
        .shop()
        .instance
        .order(solution)
        .or_else(|why| usage(format!("the solution of this run: {why}")))?;
    Ok((gantt::draw(&variant, &[(request.name(), &order)]), variant.value(&order)))
}

/// The published optimum of a name.
fn optimum(word: &str, variant: &Variant) -> Result<i64, Failure> {
    if !variant.is_plain() {
        return usage(format!(
            "--best optimum: no optimum is published for {word} with this objective and these conditions"
        ));
    }
    match campaign::best_known(word) {
        Some((value, true)) => Ok(value),
        Some((value, false)) => usage(format!(
            "--best optimum: the optimum of {word} is not known; the best known makespan is {value}"
        )),
        None => published(word, None),
    }
}

/// A value of a shop as a multiple of its least decimal.
fn number(word: &str, variant: &Variant) -> Result<i64, String> {
    let decimals = variant.decimals();
    let whole = word.parse::<i64>().ok().and_then(|value| value.checked_mul(10i64.pow(decimals)));
    whole.or_else(|| flags::in_units(word, decimals)).ok_or_else(|| match decimals {
        0 => "a whole number".into(),
        _ => format!("a number of at most {decimals} decimals, not too large"),
    })
}

fn make_load(load: &Load, given: &FlagValues) -> Result<SimulatedLoad, Failure> {
    let simd = given.simd()?;
    let request = Request::new(&load.instance, given);
    let variant = shop::variant(&request)?;
    if !variant.is_plain() {
        return usage(format!(
            "{}: only the makespan without side conditions is simulated",
            load.instance
        ));
    }
    let mut problem = Flowshop::new(variant.shop().instance.clone(), simd);
    let bound = Bound::parse(load.bound.as_deref().unwrap_or("auto"));
    problem.bound = bound.map_err(|why| Failure::Usage(format!("load.bound {why}")))?;
    if let Some(word) = load.branching.as_deref().filter(|&word| word != "auto") {
        let rule = Branching::parse(word);
        problem.branching = rule.map_err(|why| Failure::Usage(format!("load.branching {why}")))?;
    }
    if let Some(word) = &load.child_order {
        let order = ChildOrder::parse(word);
        problem.order = order.map_err(|why| Failure::Usage(format!("load.child_order {why}")))?;
    }
    if problem.order == ChildOrder::Job && load.nodes != Nodes::Interval {
        return usage("load.child_order = 'job' works only with load.nodes = 'interval'");
    }
    let start = match load.best.as_deref() {
        None | Some("none") => i64::MAX,
        Some("neh") => neh(problem.instance(), &|| true).1.into(),
        Some("optimum") => optimum(&load.instance, &variant)?,
        Some(word) => number(word, &variant).or_else(|what| {
            usage(format!("load.best = '{word}': expected none, neh, optimum or {what}"))
        })?,
    };
    problem.reference = start;
    problem.nodes = load.nodes;
    // `auto` adapts while it runs, so node counts depend on which worker explores what.
    let varies = problem.bound == Bound::Auto;
    let simulated = SimulatedLoad::new(load, problem, start, record).map_err(Failure::Usage)?;
    Ok(if varies { simulated.varying() } else { simulated })
}
