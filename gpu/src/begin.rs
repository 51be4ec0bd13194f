//! Starts what a device does for a search: what the user asked for, or what a trial shows to be faster.

use super::DeviceError;
use super::either::{Either, Trial};
use super::executor::Rounds;
use super::request::{DeviceRequest, OpenDevice};
use super::spec::Mode;
use pleach_core::search::problem::Problem;
use std::sync::Arc;

/// A device that is ready. `problem` must be the problem of the request.
///
/// # Errors
/// If the device has no kernel for the problem.
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
