//! Gathers the results of a run's workers, and checks the solution.

use crate::control::Stop;
use crate::driver::WorkerResult;
use crate::outcome::{Balance, Outcome};
use crate::run_state::RunState;
use crate::transport::Mailboxes;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Counts, Goal};
use pleach_core::search::work::Work;
use std::sync::Arc;

/// The outcome of a run, and the open work if it must be saved.
pub fn gather(
    problem: &dyn Problem,
    run_state: &RunState<'_>,
    mailboxes: &Mailboxes,
    mut left: Vec<WorkerResult>,
) -> (Outcome, Vec<Work>) {
    let (mut pieces, mut open, mut least_bound) = (Vec::new(), 0.0, i64::MAX);
    for worker in &mut left {
        let stopped = run_state.control().stopped().is_some();
        debug_assert!(worker.kept == 0 || stopped, "a piece was left over");
        open += worker.open;
        least_bound = least_bound.min(worker.least_bound.unwrap_or(i64::MAX));
        pieces.extend(worker.work.take().filter(|work| !work.bytes.is_empty()));
    }
    let queue = mailboxes.leftovers().into_iter();
    // Work that travels with any other message is a copy.
    for work in queue.filter(|queued| queued.message.brings_work()).filter_map(|queued| queued.work)
    {
        open += work.size;
        least_bound = least_bound.min(work.least_bound);
        pieces.push(Arc::unwrap_or_clone(work));
    }
    let mut outcome = Outcome { open, ..sum_workers(problem, run_state, left) };
    complete_outcome(run_state, &mut outcome, least_bound);
    (outcome, pieces)
}

/// The outcome of this process's workers, without open work and bounds.
pub fn sum_workers(
    problem: &dyn Problem,
    run_state: &RunState<'_>,
    left: Vec<WorkerResult>,
) -> Outcome {
    let control = run_state.control();
    let (mut counts, mut balance) = (Counts::default(), Balance::default());
    let (mut explored_ns, mut ended_ns) = (0, 0);
    let setup_ns = left.first().map_or(0, |worker| worker.started_ns);
    let mut workers = Vec::new();
    for worker in left {
        (explored_ns, ended_ns) =
            (worker.explored_ns.max(explored_ns), worker.ended_ns.max(ended_ns));
        counts.add(&worker.report.counts);
        balance.add(worker.balance);
        workers.push(worker.report);
    }
    balance.ending_ns = ended_ns.saturating_sub(explored_ns);
    Outcome {
        goal: problem.goal(),
        counts,
        solution: control.solution(),
        stop: control.stopped(),
        lower_bound: i64::MIN,
        open: 0.0,
        seconds: 0.0,
        earlier_seconds: run_state.before.elapsed_ns as f64 * 1e-9,
        setup_seconds: setup_ns as f64 * 1e-9,
        workers,
        balance,
        sites: Vec::new(),
    }
}

/// Completes the outcome, given the least bound of all open nodes: what is proven, and whether the stop matters.
pub fn complete_outcome(run_state: &RunState<'_>, outcome: &mut Outcome, least_bound: i64) {
    let best = run_state.control().best();
    // No solution is better than both the incumbent and the least open bound. With no node open, the incumbent is
    // optimal. A bound known without searching counts too, but no bound exceeds the incumbent.
    outcome.lower_bound = best.min(least_bound).max(run_state.least_score().min(best));
    // Ignore a stop request that arrived after the search was complete.
    let done = outcome.open == 0.0 || outcome.lower_bound == best && best < i64::MAX;
    outcome.stop = outcome.stop.filter(|&why| !done || why == Stop::Found);
    if outcome.goal == Goal::Find && outcome.solution.is_some() {
        // The last node may have brought it after a limit was reached.
        outcome.stop = outcome.stop.map(|_| Stop::Found);
    }
}
