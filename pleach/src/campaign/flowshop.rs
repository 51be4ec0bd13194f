//! The campaign for the permutation flowshop: a schedule of minimum makespan, with proof.

use super::saved::{finished, over};
use super::started::{Ready, SHORTEST, StartedSearch};
use super::{Best, Certify, Error, Inspection, Search};
use crate::report::{Report, Status};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Counts, Solution};
use pleach_core::search::work::Nodes;
use pleach_core::wire::checkpoint::Checkpoint as Content;
use pleach_problems::flowshop::Flowshop;
pub use pleach_problems::flowshop::bound::Bound;
pub use pleach_problems::flowshop::branching::Branching;
pub use pleach_problems::flowshop::child_order::ChildOrder;
use pleach_problems::flowshop::heuristic::neh;
pub use pleach_problems::flowshop::instance::Instance;
use pleach_problems::flowshop::instance::solution_of;
pub use pleach_problems::flowshop::named::{best_known, named};
pub use pleach_problems::flowshop::read::{read, read_shop};
pub use pleach_problems::flowshop::shop::Shop;
use pleach_runtime::{RunError, Settings};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How to solve an instance.
#[derive(Default)]
pub struct Options<'a> {
    /// The value that the search starts from.
    pub best: Best,
    /// A schedule to start from: jobs in order, numbered from 0.
    pub start: Option<Vec<u16>>,
    /// The bound of children; chosen automatically if not given.
    pub bound: Option<Bound>,
    /// The end of the schedule to extend; chosen automatically if not given.
    pub branching: Option<Branching>,
    /// The order in which the children of a node are explored; by job only with intervals.
    pub order: ChildOrder,
    /// Whether to count all optimal schedules, in a second search.
    pub all: bool,
    /// Workers, limits, checkpoint, progress.
    pub search: Search<'a>,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How it ended.
    pub status: Status,
    /// The best schedule found: jobs in order, numbered from 0.
    pub schedule: Option<Vec<u16>>,
    /// Its makespan.
    pub makespan: Option<i64>,
    /// The proven lower bound on all makespans.
    pub bound: Option<i64>,
    /// The distance between makespan and bound, relative to the makespan.
    pub gap: Option<f64>,
    /// The number of optimal schedules, if it was requested and is known.
    pub optima: Option<u128>,
    /// Nodes of the search.
    pub nodes: Counts,
    /// The bound and the branching that were used.
    pub chosen: (Bound, Branching),
    /// The reference makespan of the branching, if there was one.
    pub reference: Option<i64>,
    /// Everything else.
    pub report: Report,
}

/// Solves an instance.
///
/// ```
/// use pleach::flowshop::{Instance, Options, solve};
///
/// // Three jobs on two machines, job by job.
/// let instance = Instance::new(2, vec![3, 6, 5, 2, 1, 2])?;
/// let answer = solve(&instance, Options::default())?;
/// assert_eq!(answer.makespan, Some(12));
/// assert_eq!(answer.schedule.map(|order| instance.makespan(&order)), Some(12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If options contradict each other, the machine fails, or the checkpoint does not match.
pub fn solve(instance: &Instance, mut options: Options<'_>) -> Result<Answer, Error> {
    let all = options.all;
    let Prepared { mut begun, flowshop, mut ready, second } =
        prepare(instance, &mut options, false)?;
    let follows = begun.follows();
    let mut report = match &second {
        // The leader counts all optimal schedules by now.
        Some(_) if follows => {
            begun.use_no_devices();
            let optimum = ready.state["first"]["best"].as_i64();
            begun.run(&counting(&flowshop, optimum), &mut ready)?
        }
        Some(_) => {
            // Nothing is left of the first search: other processes take part in the second one only.
            let settings = &mut ready.settings;
            let shared = (settings.processes.take(), std::mem::take(&mut settings.policy));
            let report = begun.run(&flowshop, &mut ready)?;
            (ready.settings.processes, ready.settings.policy) = shared;
            report
        }
        None => begun.run(&flowshop, &mut ready)?,
    };
    if all && !follows {
        ready.state["first"] = finished_before(&report, &ready.state);
        count_optima(&mut begun, &flowshop, ready, second, &mut report)?;
    }
    let solution = report.solution.as_ref();
    let order = solution.map(|solution| instance.order(solution)).transpose();
    Ok(Answer {
        status: report.status,
        schedule: order.map_err(Error::Input)?,
        makespan: report.objective,
        bound: report.lower_bound,
        gap: report.gap(),
        optima: report.optima,
        nodes: report.outcome.counts.clone(),
        chosen: (flowshop.bound, flowshop.branching),
        reference: (flowshop.reference < i64::MAX).then_some(flowshop.reference),
        report,
    })
}

/// Reads the checkpoint of a search.
pub(crate) fn inspect(instance: &Instance, mut options: Options<'_>) -> Result<Inspection, Error> {
    let Prepared { mut begun, flowshop, ready, second } = prepare(instance, &mut options, true)?;
    if second.is_some() {
        begun.use_no_devices();
    }
    match second {
        None => begun.inspect(&flowshop),
        Some(_) => begun.inspect(&counting(&flowshop, ready.state["first"]["best"].as_i64())),
    }
}

/// A campaign whose first search is ready.
struct Prepared<'s, 'a> {
    begun: StartedSearch<'s, 'a>,
    flowshop: Flowshop,
    ready: Ready,
    /// The search for all optimal schedules, if the checkpoint holds that one.
    second: Option<Arc<Content>>,
}

fn prepare<'s, 'a>(
    instance: &Instance,
    options: &'s mut Options<'a>,
    looking: bool,
) -> Result<Prepared<'s, 'a>, Error> {
    let Options { best, start, bound, branching, order, all, search } = options;
    let certifies = search.certify != Certify::No;
    let one = "a certificate is about one optimal schedule, not all";
    if *all && certifies {
        return Err(Error::Input(one.into()));
    }
    if let Some(start) = start.as_deref() {
        instance.order(&solution_of(start)).map_err(RunError::Start)?;
    }
    let rule = branching.unwrap_or(Branching::MinBranch);
    let mut asked = json!({
        "best": best.to_string(),
        "start": start.as_deref().map(solution_of),
        "bound": bound.map(|bound| bound.to_string()),
        "branching": rule.to_string(),
        "all": *all,
        "nodes": search.nodes.to_string(),
    });
    if *order == ChildOrder::Job && search.nodes != Nodes::Interval {
        return Err(Error::Input("child order job needs nodes interval".into()));
    }
    // Checkpoints with the default order omit it, so that older files still match.
    if *order != ChildOrder::Bound {
        asked["child_order"] = json!(order.to_string());
    }
    let (simd, nodes) = (search.simd, search.nodes);
    let mut begun = StartedSearch::new(search, asked, looking)?;
    let mut flowshop = Flowshop::new(instance.clone(), simd);
    (flowshop.nodes, flowshop.branching, flowshop.order) = (nodes, rule, *order);
    let saved = begun.saved.state["bound"].as_str().and_then(|word| Bound::parse(word).ok());
    let bound = bound.or(saved).or(certifies.then_some(Bound::One));
    // What `auto` computes depends on what it has learned.
    if certifies && bound == Some(Bound::Auto) {
        let why = "bound auto depends on time, so a certificate needs another bound";
        return Err(Error::Input(why.into()));
    }
    flowshop.bound = choose(&flowshop, bound, *best, begun.settings());
    let (ready, second) = match begun.resumed() {
        Some(content) => restore(&mut flowshop, content, &begun, *best)?,
        None => (begin(&mut flowshop, &mut begun, *best, start.take())?, None),
    };
    if certifies && second.is_some() {
        return Err(Error::Input(one.into()));
    }
    Ok(Prepared { begun, flowshop, ready, second })
}

/// The bound to compute.
fn choose(flowshop: &Flowshop, named: Option<Bound>, best: Best, settings: &Settings) -> Bound {
    // From a given value, the tree should be the same on every executor, which takes a named bound.
    // On none of eighteen instances was `auto` faster there by more than milliseconds.
    let given = matches!(best, Best::Reach(_) | Best::Value(_));
    let bound = named.unwrap_or(if given { Bound::One } else { Bound::Auto });
    // The ranks of children must not depend on what `auto` has learned.
    let ranked = flowshop.nodes == Nodes::Interval;
    let devices = || {
        let mut bounded = flowshop.clone();
        bounded.bound = Bound::One;
        named.is_none() && settings.devices.is_some() && bounded.on_device().is_ok()
    };
    if bound == Bound::Auto && (ranked || devices()) { Bound::One } else { bound }
}

/// A new search: its value to beat and its first schedule.
fn begin(
    flowshop: &mut Flowshop,
    begun: &mut StartedSearch<'_, '_>,
    best: Best,
    start: Option<Vec<u16>>,
) -> Result<Ready, Error> {
    let complete = flowshop.prepare(&|| begun.has_time());
    let instance = flowshop.instance();
    let mut settings = begun.settings().clone();
    let mut order = start;
    match best {
        Best::None => {}
        Best::Value(value) => settings.best = Some(value),
        Best::Neh => order = Some(better(instance, order, neh(instance, &|| begun.has_time()).0)),
        Best::Search => {
            order = Some(flowshop.start(order.as_deref(), settings.seed, &|| begun.has_time()));
            settings.improve = true;
        }
        Best::Reach(value) => {
            settings.best = Some(value);
            order = flowshop.reach(value, &begun.reaching(), settings.seed).or(order);
        }
    }
    settings.start = order.as_ref().map(|order| Solution {
        score: instance.makespan(order).into(),
        solution: solution_of(order),
    });
    // What `auto` computes takes little time; another bound would keep the user waiting.
    if order.is_some() && (complete || flowshop.bound == Bound::Auto) {
        begun.keep_preparation();
    }
    let values = [settings.best, settings.start.as_ref().map(|start| start.score)];
    flowshop.reference = values.into_iter().flatten().min().unwrap_or(i64::MAX);
    flowshop.start = order;
    let state = json!({
        "to_beat": settings.best,
        "reference": flowshop.reference,
        "bound": flowshop.bound.to_string(),
    });
    Ok(Ready { settings, state })
}

/// The better of two schedules.
fn better(instance: &Instance, one: Option<Vec<u16>>, other: Vec<u16>) -> Vec<u16> {
    one.filter(|one| instance.makespan(one) < instance.makespan(&other)).unwrap_or(other)
}

/// A resumed search: with its original settings, from where it was saved.
fn restore(
    flowshop: &mut Flowshop,
    content: &Arc<Content>,
    begun: &StartedSearch<'_, '_>,
    best: Best,
) -> Result<(Ready, Option<Arc<Content>>), Error> {
    let mut state = begun.saved.state.clone();
    flowshop.reference = state["reference"].as_i64().unwrap_or(i64::MAX);
    let solution = content.solution.as_ref();
    flowshop.start = solution.and_then(|best| flowshop.instance().order(&best.solution).ok());
    state["bound"] = json!(flowshop.bound.to_string());
    let (mut second, mut first) = (None, content.clone());
    if !state["first"].is_null() {
        let Some(before) = over(&state["first"], flowshop.fingerprint()) else {
            return Err(Error::resume(begun.saved.path(), "its first search cannot be read"));
        };
        second = Some(std::mem::replace(&mut first, Arc::new(before)));
    }
    let settings = Settings {
        best: state["to_beat"].as_i64(),
        improve: best == Best::Search,
        resume: Some(first),
        ..begun.settings().clone()
    };
    Ok((Ready { settings, state }, second))
}

/// The search for all schedules of a value.
fn counting(flowshop: &Flowshop, value: Option<i64>) -> Flowshop {
    let mut all = flowshop.clone();
    (all.all, all.reference) = (true, value.unwrap_or(i64::MAX - 1) + 1);
    all
}

/// The first search without its preparation, to save alongside the second one.
fn finished_before(report: &Report, state: &Value) -> Value {
    let mut outcome = report.outcome.clone();
    outcome.seconds -= state["setup_s"].as_f64().unwrap_or(0.0);
    finished(&outcome)
}

/// Searches again for all schedules as good as the best.
fn count_optima(
    begun: &mut StartedSearch<'_, '_>,
    flowshop: &Flowshop,
    ready: Ready,
    second: Option<Arc<Content>>,
    report: &mut Report,
) -> Result<(), Error> {
    let Ready { settings, state } = ready;
    let value = match report.status {
        Status::Optimal => report.objective,
        Status::NoBetter => settings.best,
        _ => None,
    };
    let Some(value) = value else { return Ok(()) };
    let first = &report.outcome;
    // The time of preparation has already been deducted from the limit.
    let spent_s = first.seconds - first.setup_seconds - first.earlier_seconds;
    let spent = Duration::from_secs_f64(spent_s.max(0.0));
    let earlier = settings.resume.as_ref().and_then(|before| before.counted().ok());
    let nodes = first.counts.bounded - earlier.map_or(0, |counts| counts.bounded);
    let settings = Settings {
        best: Some(value + 1),
        start: None,
        improve: false,
        time_limit: settings.time_limit.map(|limit| limit.saturating_sub(spent).max(SHORTEST)),
        node_limit: settings.node_limit.map(|limit| limit.saturating_sub(nodes).max(1)),
        save: begun.saved.save(second.is_none()),
        about: begun.about(&state),
        resume: second,
        // Devices cannot count schedules.
        devices: None,
        threads: settings.threads.max(1),
        ..settings
    };
    begun.before = (first.counts.clone(), first.seconds);
    let counted = begun.search(&counting(flowshop, Some(value)), &settings)?;
    let attained = report.status == Status::Optimal || counted.count > 0;
    report.add_optima(counted, attained);
    Ok(())
}
