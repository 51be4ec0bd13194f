//! The campaign for flowshops with other objectives and with side conditions: the best schedule, with proof.

pub use super::Options;
use super::started::{Ready, StartedSearch};
use super::{Best, Error, Inspection, Search, Watch, atsp, flowshop};
use crate::report::{Report, Status};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Counts, Solution};
use pleach_core::search::work::Nodes;
use pleach_core::wire::checkpoint::Checkpoint as Content;
use pleach_problems::flowshop::instance::solution_of;
use pleach_problems::flowshop::no_wait;
pub use pleach_problems::flowshop::shop::Shop;
use pleach_problems::flowshop::variant::{LayersLimits, LayersProgress, VariantTree};
pub use pleach_problems::flowshop::variant::{Objective, Passing, Variant};
use pleach_problems::simd::Level;
use pleach_runtime::control::Control;
use pleach_runtime::save::Saver;
use pleach_runtime::start::{new_fingerprint, random_id};
use pleach_runtime::{
    Cancel, ProgressSnapshot, RunError, SaveTimes, Settings, Stop, usable_memory,
};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The maximum number of bytes for the prefixes of a search by layers, unless a limit is given or
/// less is free.
const MEMORY: usize = 2 << 30;
/// The time between two progress reports of a search by layers.
const WATCH_EVERY: Duration = Duration::from_millis(100);

/// The result of a search.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// How it ended.
    pub status: Status,
    /// The best schedule found: jobs in order, numbered from 0.
    pub schedule: Option<Vec<u16>>,
    /// Its value.
    pub value: Option<i64>,
    /// The proven lower bound on all values.
    pub bound: Option<i64>,
    /// Nodes of the search; partial schedules in layers count, too.
    pub nodes: Counts,
    /// Everything else.
    pub report: Report,
}

/// Solves a variant.
///
/// ```
/// use pleach::flowshop::{Instance, Shop};
/// use pleach::shop::{Objective, Options, Passing, Variant, solve};
///
/// // Three jobs on two machines, job by job, and when they should be finished.
/// let mut shop = Shop::new(Instance::new(2, vec![3, 6, 5, 2, 1, 2])?);
/// shop.due = Some(vec![10, 12, 4]);
/// let late = Variant::new(shop, Objective::Tardiness, Passing::Wait)?;
/// let answer = solve(&late, Options::default())?;
/// assert_eq!((answer.value, answer.bound), (Some(0), Some(0)));
/// assert_eq!(answer.schedule, Some(vec![2, 0, 1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If options contradict each other, the machine fails, or the checkpoint does not match.
pub fn solve(variant: &Variant, mut options: Options<'_>) -> Result<Answer, Error> {
    if variant.is_plain() {
        let Options { best, start, search } = options;
        let options = flowshop::Options { best, start, search, ..flowshop::Options::default() };
        return answer(variant, flowshop::solve(&variant.shop().instance, options)?.report);
    }
    if let Some(start) = &options.start {
        variant.shop().instance.order(&solution_of(start)).map_err(RunError::Start)?;
    }
    let began = Instant::now();
    if let Some(instance) = tour(variant) {
        let neh = by_neh(variant, options.start.clone(), options.search.simd);
        let shop = atsp::ShopStart { began, neh: &neh };
        let mut report = atsp::solve_from(&instance, of_tour(options)?, Some(&shop))?.report;
        let solutions = [
            report.solution.as_mut(),
            report.outcome.solution.as_mut().map(|best| &mut best.solution),
        ];
        for solution in solutions.into_iter().flatten() {
            *solution = jobs_of(solution);
        }
        return answer(variant, report);
    }
    let (mut begun, tree, mut ready) = prepare(variant, &mut options, false)?;
    if !begun.follows() {
        begun.before.0 = counts_of(&ready.state);
    }
    let mut report = begun.run(&tree, &mut ready)?;
    report.outcome.counts.add_saturating(&begun.before.0);
    answer(variant, report)
}

fn answer(variant: &Variant, mut report: Report) -> Result<Answer, Error> {
    // Neither the tree of the makespan nor that of a tour knows how times were scaled.
    report.decimals = variant.decimals();
    let order = report.solution.as_ref().map(|solution| variant.shop().instance.order(solution));
    Ok(Answer {
        status: report.status,
        schedule: order.transpose().map_err(Error::Input)?,
        value: report.objective,
        bound: report.lower_bound,
        nodes: report.outcome.counts.clone(),
        report,
    })
}

/// Reads the checkpoint of a search.
pub(crate) fn inspect(variant: &Variant, mut options: Options<'_>) -> Result<Inspection, Error> {
    let began = Instant::now();
    if let Some(instance) = tour(variant) {
        let neh = by_neh(variant, options.start.clone(), options.search.simd);
        let shop = atsp::ShopStart { began, neh: &neh };
        return atsp::inspect_from(&instance, of_tour(options)?, Some(&shop));
    }
    let (mut begun, tree, _) = prepare(variant, &mut options, true)?;
    begun.inspect(&tree)
}

/// The variant as a tour, if jobs may not wait and the makespan counts.
fn tour(variant: &Variant) -> Option<atsp::Instance> {
    let fits = variant.objective() == Objective::Makespan
        && variant.passing() == Passing::NoWait
        && !variant.has_releases();
    fits.then(|| no_wait::tour(variant.shop()).ok()).flatten()
}

/// Builds the tour of a schedule by insertion, or that of the given schedule if it is no worse.
fn by_neh(
    variant: &Variant,
    start: Option<Vec<u16>>,
    simd: Level,
) -> impl Fn(&dyn Fn() -> bool) -> Vec<u16> {
    move |keep_going: &dyn Fn() -> bool| {
        let tree = VariantTree::new(variant.clone(), simd);
        no_wait::tour_of(&tree.by_insertion(start.as_deref(), keep_going).0)
    }
}

fn of_tour<'a>(options: Options<'a>) -> Result<atsp::Options<'a>, Error> {
    let Options { best, start, mut search } = options;
    fits(&search)?;
    search.progress = search.progress.map(|mut watch| -> Watch<'a> {
        Box::new(move |snapshot| {
            let mut snapshot = snapshot.clone();
            if let Some(best) = &mut snapshot.solution {
                best.solution = jobs_of(&best.solution);
            }
            watch(&snapshot)
        })
    });
    let start = start.map(|order| no_wait::tour_of(&order));
    Ok(atsp::Options { best, start, search, ..atsp::Options::default() })
}

/// The jobs of a tour, both counted from 1.
fn jobs_of(tour: &[i64]) -> Vec<i64> {
    let tour: Vec<u16> = tour.iter().map(|city| (city - 1) as u16).collect();
    solution_of(&no_wait::order_of(&tour))
}

/// Refuses settings that variants do not have.
fn fits(search: &Search<'_>) -> Result<(), Error> {
    if search.nodes == Nodes::Interval {
        let why = "intervals work only for the makespan without side conditions";
        return Err(Error::Input(why.into()));
    }
    Ok(())
}

fn prepare<'s, 'a>(
    variant: &Variant,
    options: &'s mut Options<'a>,
    looking: bool,
) -> Result<(StartedSearch<'s, 'a>, VariantTree, Ready), Error> {
    let Options { best, start, search } = options;
    fits(search)?;
    let asked = json!({
        "best": best.to_string(),
        "start": start.as_deref().map(solution_of),
        "objective": variant.objective().to_string(),
    });
    let simd = search.simd;
    let mut begun = StartedSearch::new(search, asked, looking)?;
    let mut tree = VariantTree::new(variant.clone(), simd);
    let ready = match begun.resumed().cloned() {
        Some(content) => {
            if !begun.looking && !tree.has_fingerprint(content.fingerprint) {
                return Err(begun.saved.foreign(&content));
            }
            let solution = content.solution.as_ref();
            let known =
                solution.and_then(|best| variant.shop().instance.order(&best.solution).ok());
            let state = begun.saved.state.clone();
            tree.take_over(state["least"].as_i64().unwrap_or(i64::MIN), None);
            if content.subs.is_empty()
                && let Some(least) = content.pieces.iter().map(|piece| piece.least_bound).min()
            {
                // The open work may prove more than layers did.
                tree.take_over(least.min(content.best), None);
            }
            let is_open = !content.pieces.is_empty() || !content.subs.is_empty();
            if !begun.looking && is_open && state["layers"]["stopped"] == true {
                // Even layers from the beginning are faster than what would follow them.
                let mut before = counts_of(&state);
                before.add_saturating(&content.counts);
                begun.announce_resumed();
                let spent_s = state["setup_s"].as_f64().unwrap_or(0.0)
                    + Duration::from_nanos(content.elapsed_ns).as_secs_f64();
                begun.saved.state["setup_s"] = json!(spent_s);
                begun.before = (before.clone(), spent_s);
                let ready = begin(&mut tree, &mut begun, *best, known, before);
                return Ok((begun, tree, ready));
            }
            tree.start = known;
            let settings = Settings {
                best: state["to_beat"].as_i64(),
                improve: *best == Best::Search,
                resume: Some(content),
                ..begun.settings().clone()
            };
            Ready { settings, state }
        }
        None => begin(&mut tree, &mut begun, *best, start.take(), Counts::default()),
    };
    Ok((begun, tree, ready))
}

/// A new search, or one that stopped within its layers: its value to beat, its first schedule, and what layers leave of
/// the tree. Earlier layers had the counts `before`.
fn begin(
    tree: &mut VariantTree,
    begun: &mut StartedSearch<'_, '_>,
    best: Best,
    given: Option<Vec<u16>>,
    before: Counts,
) -> Ready {
    let mut settings = begun.settings().clone();
    let valued = |tree: &VariantTree, order: Vec<u16>| {
        let value = tree.variant().value(&order);
        (order, value)
    };
    let mut start = given.map(|order| valued(tree, order));
    if start.is_some() || matches!(best, Best::Neh | Best::Search) {
        begun.begins();
    }
    match best {
        Best::Value(value) | Best::Reach(value) => settings.best = Some(value),
        Best::None => {}
        Best::Neh | Best::Search => {
            let from = start.take();
            let from = from.as_ref().map(|(order, _)| &order[..]);
            start = Some(if best == Best::Search {
                tree.start(from, settings.seed, &|| begun.has_time())
            } else {
                tree.by_insertion(from, &|| begun.has_time())
            });
            settings.improve = best == Best::Search;
        }
    }
    if start.is_some() {
        begun.keep_preparation();
    }
    let (mut counts, mut stopped) = (before, tree.layers().is_some());
    if begun.has_time() {
        let (layers, stop) = by_layers(tree, begun, &settings, start, &counts);
        if stop == Some(Stop::Asked) {
            settings.cancel = Cancel::cancelled();
        }
        stopped = stop.is_some();
        settings.node_limit =
            settings.node_limit.map(|limit| limit.saturating_sub(layers.counts.bounded).max(1));
        counts.add_saturating(&layers.counts);
        start = layers.best;
    }
    settings.start = solution(start.as_ref());
    tree.start = start.map(|(order, _)| order);
    let state = state_of(settings.best, tree.least_score(), &counts, stopped);
    Ready { settings, state }
}

/// What is saved with a search: its value to beat, its bound, and what its layers have done.
fn state_of(to_beat: Option<i64>, least: i64, counts: &Counts, stopped: bool) -> Value {
    json!({
        "to_beat": to_beat,
        "least": least,
        "layers": { "branched": counts.branched, "bounded": counts.bounded, "stopped": stopped },
    })
}

/// A schedule with its value, as a solution.
fn solution(best: Option<&(Vec<u16>, i64)>) -> Option<Solution> {
    best.map(|(order, value)| Solution { score: *value, solution: solution_of(order) })
}

/// Searches by layers first, if there are few enough jobs. Returns what is known afterwards, and what stopped it, if a
/// limit or a request did. Saves the best schedule and the bound meanwhile, with the counts `before`.
fn by_layers(
    tree: &mut VariantTree,
    begun: &mut StartedSearch<'_, '_>,
    settings: &Settings,
    start: Option<(Vec<u16>, i64)>,
    before: &Counts,
) -> (LayersProgress, Option<Stop>) {
    let to_beat = settings.best.unwrap_or(i64::MAX);
    let least = tree.least_score();
    let Some(layers) = tree.layers() else {
        let counts = Counts::default();
        return (LayersProgress { counts, best: start, least: i64::MIN }, None);
    };
    let problem: &VariantTree = tree;
    let saved = Settings { save: begun.saved.save(true), ..settings.clone() };
    let mut times = SaveTimes::new(&saved);
    let mut saver = saved.save.as_ref().map(|save| {
        let fingerprint = new_fingerprint(problem);
        // The file that is replaced may be of this search, too. Another value to beat makes it another search.
        let same = begun.resumed().filter(|content| to_beat >= content.best);
        let run = same.map_or_else(random_id, |content| content.run);
        let unbegun = Content { fingerprint, run, ..Content::default() };
        Saver::new((save, ""), &unbegun, 1, begun.started)
    });
    let (mut due, mut stop) = (Instant::now(), None);
    let watch = &mut |progress: &LayersProgress| {
        let made = progress.counts.bounded;
        if stop.is_none() && settings.node_limit.is_some_and(|limit| made >= limit) {
            stop = Some(Stop::Nodes);
        }
        if stop.is_none() && Instant::now() >= due {
            due = Instant::now() + WATCH_EVERY;
            let saver = if times.is_due() { saver.as_mut() } else { None };
            let warning = saver.and_then(|saver| {
                let mut state = state_of(settings.best, progress.least.max(least), before, true);
                (state["setup_s"], state["seed"]) = (json!(begun.before.1), json!(begun.seed()));
                saver.set_about(begun.about(&state));
                let control = Control::new(to_beat, solution(progress.best.as_ref()), None, 1);
                saver.note(saver.write(&progress.counts, vec![problem.root()], &control))
            });
            let snapshot = ProgressSnapshot { warning, ..snapshot(progress, least) };
            if begun.watch(&snapshot).is_break() {
                stop = Some(if begun.time_is_over() { Stop::Time } else { Stop::Asked });
            }
        }
        // Layers do not know this bound.
        let best = progress.best.as_ref().map_or(to_beat, |(_, value)| to_beat.min(*value));
        if stop.is_some() || best <= least {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let limits = LayersLimits {
        threads: settings.threads.max(1) as usize,
        memory: settings.memory.map_or_else(usual_memory, |memory| memory as usize),
        seed: settings.seed,
        watch,
    };
    let end = layers.search(start, to_beat, limits);
    begun.keep_preparation();
    tree.take_over(end.progress.least, end.open);
    (end.progress, stop)
}

/// How many bytes prefixes may take without a limit: at most four fifths of what is free.
fn usual_memory() -> usize {
    usable_memory(1).map_or(MEMORY, |most| MEMORY.min(most as usize))
}

/// What is known within the layers, given a bound that was known before.
fn snapshot(progress: &LayersProgress, least: i64) -> ProgressSnapshot {
    let (best, least) = (progress.best.as_ref(), progress.least.max(least));
    ProgressSnapshot {
        counts: progress.counts.clone(),
        best: best.map(|(_, value)| *value),
        solution: solution(best),
        bound: (least > i64::MIN).then_some(least),
        ..ProgressSnapshot::default()
    }
}

/// The counts of a search by layers that came before.
fn counts_of(state: &Value) -> Counts {
    let count = |name: &str| state["layers"][name].as_u64().unwrap_or(0);
    Counts { branched: count("branched"), bounded: count("bounded"), ..Counts::default() }
}
