//! Explores the top of a tree in a gateway, which gives away what is below.

use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Counts, Goal, Solution};
use pleach_core::search::work::Work;
use pleach_core::wire::checkpoint::Checkpoint;
use pleach_runtime::error::RunError;
use pleach_runtime::settings::Settings;
use std::time::Instant;

/// Nodes explored between two checks of limits.
const SLICE: u64 = 1 << 14;

/// The result of exploring the top of some work.
pub(super) struct TopResult {
    /// What is left, at or below the depth unless it was interrupted.
    pub work: Work,
    pub counts: Counts,
    /// The best solution found, if it beats the incumbent.
    pub found: Option<Solution>,
}

/// Explores the open nodes above a depth, at most `fuel` of them, for as long as `goes_on` says so.
///
/// # Errors
/// If the work is not open nodes, or a bound of the problem is wrong.
pub(super) fn explore_top(
    problem: &dyn Problem,
    work: &Work,
    (depth, mut best): (u32, i64),
    fuel: u64,
    goes_on: &dyn Fn() -> bool,
) -> Result<TopResult, RunError> {
    let top = problem.top().ok_or(RunError::Cutoff)?;
    let mut result = TopResult { work: work.clone(), counts: Counts::default(), found: None };
    let (mut left, mut done) = (fuel, false);
    while !done && left > 0 && goes_on() {
        let seeded = top.seed(&result.work.bytes, depth, best, left.min(SLICE))?;
        left = left.saturating_sub(seeded.progress.used);
        result.counts.add(&seeded.progress.counts);
        if let Some(fault) = seeded.progress.fault {
            return Err(fault.into());
        }
        if let Some(found) = seeded.progress.found {
            best = best.min(found.score);
            result.found = Some(found);
        }
        (result.work, done) = (seeded.work, seeded.done);
    }
    Ok(result)
}

/// At the root: explores the top of all work before the search begins.
///
/// # Errors
/// Like [`explore_top`].
pub(super) fn explore_cutoff(
    problem: &dyn Problem,
    settings: &Settings,
    (before, best): (&mut Checkpoint, i64),
    (depth, start): (u32, Instant),
) -> Result<Counts, RunError> {
    let mut counted = Counts::default();
    let mut best = best;
    for piece in &mut before.pieces {
        let goes_on = || {
            !settings.cancel.is_cancelled()
                && settings.time_limit.is_none_or(|limit| start.elapsed() < limit)
        };
        let fuel =
            settings.node_limit.map_or(u64::MAX, |limit| limit.saturating_sub(counted.bounded));
        let TopResult { work, counts, found } =
            explore_top(problem, piece, (depth, best), fuel, &goes_on)?;
        *piece = work;
        counted.add(&counts);
        if let Some(found) = found {
            best = best.min(found.score);
            before.solution = Some(found);
        }
    }
    let is_found = problem.goal() == Goal::Find && before.solution.is_some();
    before.pieces.retain(|piece| piece.size > 0.0 && !is_found);
    before.counts.add(&counted);
    Ok(counted)
}
