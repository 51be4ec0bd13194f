//! [`prepare`]: has a device do what was asked for, or what it does best.

use super::DeviceError;
use super::either::{Either, Trial};
use super::evaluate::Evaluator;
use super::executor::Rounds;
use super::explorer::DeviceExplorer;
use super::shelf::Shelf;
use super::spec::{Mode, Spec};
use pleach_core::problem::Problem;
use std::sync::Arc;

/// Has a device explore, or bound what the host branches. Where nothing was asked for, it does what there is a kernel
/// for; where there are both, it explores until a trial shows which is faster.
///
/// # Errors
/// If there is no kernel, or the device cannot be used.
pub fn prepare<'p>(
    problem: &'p dyn Problem,
    spec: &Spec,
    shelf: &Arc<Shelf>,
) -> Result<Box<dyn Rounds + 'p>, DeviceError> {
    let no_kernel = |what| DeviceError::Failed(format!("it has no kernel for {what}"));
    let explores = || {
        let on = problem.on_device().map_err(no_kernel)?;
        DeviceExplorer::new(shelf.take(spec)?, problem, on, spec)
    };
    let evaluates = || {
        let no_bounds =
            |what| DeviceError::Failed(format!("it has no kernel that bounds with {what}"));
        let host = problem.evaluation().map_err(no_bounds)?;
        Evaluator::new(shelf.take(spec)?, problem, host, spec)
    };
    let known = match (problem.on_device(), problem.evaluation()) {
        (Ok(on), Ok(_)) => shelf.chosen(spec.kind, &on.layout()),
        (Err(_), Ok(_)) => Some(Mode::Evaluate),
        _ => Some(Mode::Explore),
    };
    Ok(match spec.mode.or(known) {
        Some(Mode::Evaluate) => Box::new(evaluates()?),
        Some(Mode::Explore) => Box::new(explores()?),
        None => Box::new(Either::new(problem, explores()?, spec, shelf, Trial::default())),
    })
}
