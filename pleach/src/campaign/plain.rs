//! Campaigns of problems that need no preparation: one search, with or without a value to beat.

use super::started::{Ready, StartedSearch};
use super::{Error, Inspection, Search};
use crate::report::Report;
use crate::solver::check_values;
use pleach_core::search::problem::Problem;
use pleach_runtime::Settings;
use serde_json::{Value, json};

impl Search<'_> {
    /// Searches a problem of your own, or resumes its checkpoint. If `best` is given, solutions must beat it.
    ///
    /// # Errors
    /// If the machine fails, a solution fails its check, the checkpoint file holds another search, or there is a value to
    /// beat although no best solution is wanted.
    pub fn run(mut self, problem: &dyn Problem, best: Option<i64>) -> Result<Report, Error> {
        run(problem, best, &mut self)
    }
}

/// Searches for solutions that beat `best`, or counts.
pub(crate) fn run(
    problem: &dyn Problem,
    best: Option<i64>,
    search: &mut Search<'_>,
) -> Result<Report, Error> {
    let mut begun = StartedSearch::new(search, asked(best), false)?;
    let resume = begun.resumed().cloned();
    let settings = Settings { best, resume, improve: true, ..begun.settings().clone() };
    check_values(problem.goal(), &settings)?;
    begun.run(problem, &mut Ready { settings, state: json!({}) })
}

/// Reads the checkpoint of such a search.
pub(crate) fn inspect(
    problem: &dyn Problem,
    best: Option<i64>,
    search: &mut Search<'_>,
) -> Result<Inspection, Error> {
    StartedSearch::new(search, asked(best), true)?.inspect(problem)
}

fn asked(best: Option<i64>) -> Value {
    json!({ "best": best })
}
