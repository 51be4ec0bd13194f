//! [`with_powers`]: measures how fast each worker searches alone, for shares that are fixed beforehand.

use crate::devices::measure_rate;
use crate::error::RunError;
use crate::settings::Settings;
use crate::workers::PlannedWorker;
use pleach_core::search::problem::Problem;

/// Nodes that a thread explores between two readings of the clock.
const FUEL: u64 = 1 << 12;
/// The weight of the fastest worker.
const MOST: f64 = 1e6;

/// The settings with the power of each worker, measured if the policy asks for it.
///
/// # Errors
/// If a worker cannot read the problem's root, or finds that a bound is wrong.
pub(crate) fn with_powers(
    problem: &dyn Problem,
    settings: &Settings,
    workers: &mut [PlannedWorker<'_>],
    best: i64,
) -> Result<Settings, RunError> {
    let mut settings = settings.clone();
    if !settings.policy.profile {
        return Ok(settings);
    }
    let root = problem.root();
    let mut rates = Vec::new();
    // Threads differ only in how they are slowed down.
    let mut thread = None;
    for worker in workers {
        let full = match (worker.device(), thread) {
            (Some(device), _) => device.measure_rate(&root, best)?,
            (None, Some(rate)) => rate,
            (None, None) => {
                let mut explorer = problem.explorer();
                explorer.add_work(&root.bytes)?;
                *thread
                    .insert(measure_rate(best, |best| (explorer.run(FUEL, best), explorer.size()))?)
            }
        };
        let paced = settings.pace.map_or(f64::INFINITY, |pace| pace as f64);
        rates.push((full / settings.slow_down(&worker.name)).min(paced));
    }
    let most = rates.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let weights = rates.iter().map(|rate| (rate / most * MOST).max(1.0) as u32);
    settings.policy.weights = weights.collect();
    Ok(settings)
}
