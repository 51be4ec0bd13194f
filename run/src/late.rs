//! What `master-worker:late` needs of a unit: copies of work are split, compared and trimmed in an
//! explorer of their own.

use crate::body::Body;
use crate::error::RunError;
use crate::executor::Executor;
use crate::settings::Settings;
use crate::transport::Transport;
use pleach_core::balance::late::Verbs;
use pleach_core::explorer::Explorer;
use pleach_core::problem::Problem;
use pleach_core::tree::{Counts, Goal};
use pleach_core::work::{Malformed, Work};
use std::sync::Arc;

/// Nodes to explore between two looks at whether to stop.
const FUEL: u64 = 1 << 14;

/// Checks whether some nodes may be explored twice.
///
/// # Errors
/// If that would make counts wrong, or cannot be done.
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

/// An explorer that holds nothing between two calls.
pub(crate) struct Aside<'a>(pub Box<dyn Explorer + 'a>);

impl Aside<'_> {
    fn without(&mut self, work: &Work, other: &Work) -> Result<Work, Malformed> {
        self.0.put(&work.bytes)?;
        let trimmed = self.0.trim(&other.bytes);
        let rest = self.0.drain();
        trimmed.map(|()| rest)
    }

    /// What is counted in the part of `away` that is not in `left`, explored from this score on.
    fn counted(
        &mut self,
        away: &Work,
        left: &Work,
        best: i64,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Counts, Malformed> {
        let gone = self.without(away, left)?;
        self.0.put(&gone.bytes)?;
        let mut counts = Counts::default();
        while self.0.size() > 0.0 && !stopped() {
            counts.add(&self.0.run(FUEL, best).counts);
        }
        self.0.drain();
        Ok(counts)
    }
}

/// There are copies only where there is an explorer for them.
const NO_COPIES: RunError = RunError::Late("has no explorer for its copies");

impl<E: Executor, T: Transport> Verbs for Body<'_, E, T> {
    fn copy(&mut self) -> Result<Arc<Work>, RunError> {
        Ok(Arc::new(self.executor.explorer().copy()))
    }

    fn split_copy(
        &mut self,
        copy: &Arc<Work>,
        share: f64,
    ) -> Result<(Arc<Work>, Option<Arc<Work>>), RunError> {
        let Aside(explorer) = self.aside.as_mut().ok_or(NO_COPIES)?;
        explorer.put(&copy.bytes)?;
        let given = explorer.split(share).map(Arc::new);
        Ok((Arc::new(explorer.drain()), given))
    }

    fn intersect(&mut self, copy: &Arc<Work>, left: &Arc<Work>) -> Result<Arc<Work>, RunError> {
        let aside = self.aside.as_mut().ok_or(NO_COPIES)?;
        let done = aside.without(copy, left)?;
        Ok(Arc::new(aside.without(copy, &done)?))
    }

    fn trim(&mut self, away: &Arc<Work>) -> Result<(), RunError> {
        let aside = self.aside.as_mut().ok_or(NO_COPIES)?;
        let explorer = self.executor.explorer();
        let left = explorer.copy();
        explorer.trim(&away.bytes)?;
        let control = self.commons.control();
        let stopped = || control.stopped().is_some();
        let twice = aside.counted(away, &left, control.best(), &stopped)?;
        self.balance.redundant += twice.bounded;
        Ok(())
    }
}
