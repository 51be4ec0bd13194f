//! `master-worker:late` in a unit: this folder has everything that only this policy needs.

pub(crate) mod scratch;

use self::scratch::ScratchExplorer;
use crate::error::RunError;
use crate::settings::Settings;
use crate::unit_io::UnitIo;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Goal;
use pleach_core::search::work::Work;
use pleach_core::steal::late::LateEffects;
use std::sync::Arc;

/// Checks whether the settings allow late giving, under which some nodes are explored twice.
///
/// # Errors
/// If that would make counts wrong, or is impossible.
pub(crate) fn check(problem: &dyn Problem, settings: &Settings) -> Result<(), RunError> {
    let why = if problem.goal() == Goal::Count {
        "may explore nodes twice, so it cannot count; choose another --balance"
    } else if !problem.explorer().trims() {
        "needs work held as intervals; add --nodes interval where the problem has it"
    } else if settings.save.is_some() || settings.resume.is_some() {
        "cannot be saved or resumed; choose another --balance"
    } else {
        return Ok(());
    };
    Err(RunError::Late(why))
}

/// The error of a unit that has no explorer for copies.
const NO_COPIES: RunError = RunError::Late("has no explorer for its copies");

impl LateEffects<Arc<Work>, RunError> for UnitIo<'_> {
    fn copy(&mut self) -> Result<Arc<Work>, RunError> {
        Ok(Arc::new(self.executor.explorer().copy()))
    }

    fn split_copy(
        &mut self,
        copy: &Arc<Work>,
        share: f64,
    ) -> Result<(Arc<Work>, Option<Arc<Work>>), RunError> {
        let ScratchExplorer(explorer) = self.scratch.as_mut().ok_or(NO_COPIES)?;
        explorer.add_work(&copy.bytes)?;
        let given = explorer.split(share).map(Arc::new);
        Ok((Arc::new(explorer.drain()), given))
    }

    fn intersect(&mut self, copy: &Arc<Work>, left: &Arc<Work>) -> Result<Arc<Work>, RunError> {
        let scratch = self.scratch.as_mut().ok_or(NO_COPIES)?;
        let done = scratch.without(copy, left)?;
        Ok(Arc::new(scratch.without(copy, &done)?))
    }

    fn trim(&mut self, away: &Arc<Work>) -> Result<(), RunError> {
        let scratch = self.scratch.as_mut().ok_or(NO_COPIES)?;
        let explorer = self.executor.explorer();
        let left = explorer.copy();
        explorer.trim(&away.bytes)?;
        let control = self.run_state.control();
        let stopped = || control.stopped().is_some();
        let twice = scratch.counted(away, &left, control.best(), &stopped)?;
        self.balance.redundant += twice.bounded;
        Ok(())
    }
}
