//! What a device does for a search: what was asked for, or what a trial shows to be faster.

use super::DeviceError;
use super::either::{Either, Trial};
use super::executor::Rounds;
use super::pool::DevicePool;
use super::request::{DeviceRequest, OpenDevice};
use super::spec::{Mode, Spec};
use pleach_core::search::problem::Problem;
use std::sync::Arc;

/// A device ready for its work. The problem is the one that the request is for.
///
/// # Errors
/// If it has no kernel for the problem.
pub fn begin(
    opened: OpenDevice,
    problem: &dyn Problem,
) -> Result<Box<dyn Rounds + '_>, DeviceError> {
    Ok(match opened.mode() {
        Some(Mode::Evaluate) => Box::new(opened.bounds(problem)?),
        Some(Mode::Explore) => Box::new(opened.explores(problem)?),
        None => {
            let DeviceRequest { spec, pool, .. } = opened.request();
            let (spec, pool) = (*spec, Arc::clone(pool));
            let explores = opened.explores(problem)?;
            Box::new(Either::new(problem, explores, &spec, &pool, Trial::default()))
        }
    })
}

/// Has a device do what was asked for, or what it does best.
///
/// # Errors
/// If there is no kernel, or the device cannot be used.
pub fn prepare<'p>(
    problem: &'p dyn Problem,
    spec: &Spec,
    pool: &Arc<DevicePool>,
) -> Result<Box<dyn Rounds + 'p>, DeviceError> {
    begin(DeviceRequest::new(problem, spec, pool)?.open()?, problem)
}
