//! The quantities of a run, by name: from a simulation, or from the result of a command.

use super::rows::Row;
use crate::cli::sim::{METRICS, Spec, metric};
use crate::results::{
    BalanceData, JsonInteger, PhasesData, RunData, Seconds, SplitData, TraceData, TracedWorker,
    is_thread,
};
use pleach_lab::figures::Figures;

/// The least or greatest value of a quantity over the runs at a point.
type Extreme = fn(f64, f64) -> f64;

/// The quantity that a name is about, and which of its values, if not their mean: `least seconds`.
pub fn extreme(name: &str) -> (&str, Option<Extreme>) {
    let of = |word: &str, pick: Extreme| Some((name.strip_prefix(word)?, Some(pick)));
    of("least ", f64::min).or_else(|| of("greatest ", f64::max)).unwrap_or((name, None))
}

/// The messages that each peer sent; as a single number, those of the busiest peer.
pub const BY_PEER: &str = "messages_by_peer";

/// Whether a simulation has a quantity of this name.
pub fn is_simulated(name: &str) -> bool {
    name == BY_PEER || metric(name).is_some()
}

/// The quantities of simulations.
pub fn simulated_names() -> String {
    let names = METRICS.iter().map(|metric| metric.name).chain([BY_PEER]);
    names.collect::<Vec<_>>().join(", ")
}

/// Records the quantities of a simulation.
pub fn note_simulated(row: &mut Row, figures: &Figures, spec: &Spec) {
    let all = METRICS.iter().filter(|metric| metric.is_measured(spec));
    let all = all.map(|metric| (metric.name, (metric.of)(figures, spec)));
    let all = all.filter(|(_, value)| value.is_finite());
    row.figures = all.map(|(name, value)| (name.to_string(), value)).collect();
    let by_peer: Vec<f64> = figures.messages_by_peer.iter().map(|&n| n as f64).collect();
    row.figures.insert(BY_PEER.into(), by_peer.iter().copied().fold(0.0, f64::max));
    row.lists.insert(BY_PEER.into(), by_peer);
}

/// A quantity of a command's run: its name, and how to compute it.
type Measure = (&'static str, fn(&RunData) -> Option<f64>);

/// The quantities of commands' runs.
const MEASURES: [Measure; 23] = [
    ("seconds", |run| Some(run.seconds.0)),
    ("rate", |run| Some(branched(run)? / searching(run)?)),
    ("bounded_rate", |run| Some(bounded(run)? / searching(run)?)),
    ("branched", branched),
    ("bounded", bounded),
    ("count", |run| Some(run.count?.0 as f64)),
    ("optimum", |run| (run.status == "optimal").then_some(run.objective?.0 as f64)),
    ("efficiency", |run| Some(run.efficiency?.0)),
    ("idle", idle),
    ("requests", |run| each_worker(run, |balance| balance.requests)),
    ("messages", |run| each_worker(run, |balance| balance.messages)),
    ("moved_bytes", |run| each_worker(run, |balance| balance.moved_bytes)),
    ("device_share", device_share),
    ("explore_share", |run| phase(run, |phases| phases.explore_s)),
    ("exchange_share", |run| phase(run, |phases| phases.exchange_s)),
    ("copy_share", |run| phase(run, |phases| phases.copy_s)),
    ("share", share),
    ("static_share", |run| Some(100.0 * split(run)?.share.0)),
    ("static_seconds", |run| Some(split(run)?.seconds.0)),
    ("over_static", over_static),
    ("time_off", |run| Some(over_static(run)?.abs())),
    ("split_off", |run| Some((share(run)? - 100.0 * split(run)?.share.0).abs())),
    ("loop_rate", |run| Some(run.of_loop.as_ref()?.rate?.0)),
];

/// Whether a command's run has a quantity of this name.
pub fn is_measured(name: &str) -> bool {
    MEASURES.iter().any(|(own, _)| *own == name)
}

/// The quantities of commands' runs.
pub fn measured_names() -> String {
    MEASURES.map(|(name, _)| name).join(", ")
}

/// The points of a curve over time.
const POINTS: usize = 100;
/// The lists of a row with the parts of a device's explorers that had work, and the quantity with the time they span.
const ACTIVE: &str = "active explorers of ";
const TRACED: &str = "traced_s";

/// Records how many explorers of each device had work over time.
pub fn note_active(row: &mut Row, trace: &TraceData) {
    let devices = || trace.workers.iter().filter(|worker| !is_thread(&worker.name));
    let span = |worker: &TracedWorker| worker.step_s.0 * worker.active.len() as f64;
    let seconds = devices().map(span).fold(0.0, f64::max);
    for worker in devices() {
        let step_s = worker.step_s.0.max(1e-9);
        let point = |at: usize| {
            let [from, to] = [at, at + 1].map(|at| at as f64 / POINTS as f64 * seconds / step_s);
            let steps = from as usize..(to.ceil() as usize).max(from as usize + 1);
            let steps = steps.start.min(worker.active.len())..steps.end.min(worker.active.len());
            let n = steps.len().max(1) as f64;
            worker.active[steps].iter().map(|part| part.0).sum::<f64>() / n
        };
        row.lists.insert(format!("{ACTIVE}{}", worker.name), (0..POINTS).map(point).collect());
    }
    row.figures.insert(TRACED.into(), seconds);
}

/// How many explorers of each device had work over time: seconds and parts, by device.
pub fn active_of(row: &Row) -> Vec<(&str, Vec<(f64, f64)>)> {
    let seconds = row.figures.get(TRACED).copied().unwrap_or(0.0);
    let lists =
        row.lists.iter().filter_map(|(name, list)| Some((name.strip_prefix(ACTIVE)?, list)));
    let at = |at: usize, list: &[f64]| (at as f64 * seconds / list.len() as f64, list[at]);
    lists.map(|(name, list)| (name, (0..list.len()).map(|i| at(i, list)).collect())).collect()
}

/// Records the quantities of a command's run.
pub fn note_measured(row: &mut Row, run: &RunData) {
    let all = MEASURES.iter().filter_map(|(name, of)| Some((name.to_string(), of(run)?)));
    row.figures = all.filter(|(_, value)| value.is_finite()).collect();
}

fn branched(run: &RunData) -> Option<f64> {
    Some(run.nodes.as_ref()?.branched?.0 as f64)
}

fn bounded(run: &RunData) -> Option<f64> {
    Some(run.nodes.as_ref()?.bounded?.0 as f64)
}

/// The time that a search took after its setup.
fn searching(run: &RunData) -> Option<f64> {
    let seconds = run.seconds.0 - run.setup_s();
    (seconds > 0.0).then_some(seconds)
}

/// A cost of balancing, as the mean over all workers.
fn each_worker(run: &RunData, of: fn(&BalanceData) -> Option<JsonInteger<u64>>) -> Option<f64> {
    Some(of(run.balance.as_ref()?)?.0 as f64 / run.workers.len() as f64)
}

/// The idle time of workers in %: the mean over a search's workers, the maximum over a loop's.
fn idle(run: &RunData) -> Option<f64> {
    let total = searching(run)?;
    let each = || run.workers.iter().map(|worker| worker.idle_s.0);
    if run.of_loop.is_some() {
        return each().reduce(f64::max).map(|most| 100.0 * most / total);
    }
    let n = run.workers.len();
    (n > 0).then(|| each().sum::<f64>() / (total * n as f64))
}

/// The fraction of the branched nodes that devices took.
fn device_share(run: &RunData) -> Option<f64> {
    let of = |devices: bool| {
        let workers = run.workers.iter().filter(|worker| is_thread(&worker.name) != devices);
        workers.filter_map(|worker| worker.branched).map(|nodes| nodes.0 as f64).sum::<f64>()
    };
    let (devices, threads) = (of(true), of(false));
    (devices + threads > 0.0).then(|| devices / (devices + threads))
}

/// The fraction of its time that the first device spent in a phase.
fn phase(run: &RunData, of: fn(&PhasesData) -> Seconds) -> Option<f64> {
    let phases = run.workers.iter().find_map(|worker| worker.phases.as_ref())?;
    let PhasesData { explore_s, exchange_s, copy_s, wait_s } = phases;
    let total = explore_s.0 + exchange_s.0 + copy_s.0 + wait_s.0;
    Some(of(phases).0 / total.max(1e-9))
}

/// The best static split of a loop.
fn split(run: &RunData) -> Option<SplitData> {
    run.of_loop.as_ref()?.split
}

/// How much more time a loop took than with the best static split, in %.
fn over_static(run: &RunData) -> Option<f64> {
    Some(100.0 * (run.seconds.0 / split(run)?.seconds.0 - 1.0))
}

/// The part of a loop that is compared with a static split, in %: the first thread's if there are only threads,
/// otherwise that of all threads.
fn share(run: &RunData) -> Option<f64> {
    let parts = &run.of_loop.as_ref()?.parts;
    let threads = parts.iter().filter(|part| is_thread(&part.name));
    let only_threads = threads.clone().count() == parts.len();
    let all: f64 =
        if only_threads { parts.first()?.share.0 } else { threads.map(|part| part.share.0).sum() };
    Some(100.0 * all)
}
