//! [`prepare`]: has a device do what was asked for, or what it can.

use super::DeviceError;
use super::evaluate::Evaluator;
use super::executor::Rounds;
use super::explorer::DeviceExplorer;
use super::shelf::Shelf;
use super::spec::{Mode, Spec};
use pleach_core::problem::Problem;
use std::sync::Arc;

/// Has a device explore, or bound what the host branches. Where nothing was asked for, it explores if there is a kernel
/// for that.
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
        let explorer = DeviceExplorer::new(shelf.take(spec)?, problem, on, spec)?;
        Ok(Box::new(explorer) as Box<dyn Rounds + 'p>)
    };
    let evaluates = || {
        let no_bounds =
            |what| DeviceError::Failed(format!("it has no kernel that bounds with {what}"));
        let host = problem.evaluation().map_err(no_bounds)?;
        let evaluator = Evaluator::new(shelf.take(spec)?, problem, host, spec)?;
        Ok(Box::new(evaluator) as Box<dyn Rounds + 'p>)
    };
    match spec.mode {
        Some(Mode::Evaluate) => evaluates(),
        None if problem.on_device().is_err() && problem.evaluation().is_ok() => evaluates(),
        Some(Mode::Explore) | None => explores(),
    }
}
