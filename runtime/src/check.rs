//! Recomputes the value of a solution from the problem alone.

use crate::error::RunError;
use pleach_core::search::problem::Problem;
use pleach_core::search::real::written;
use pleach_core::search::tree::{Goal, Solution};

/// Recomputes the value of a run's best solution, if there is one.
///
/// # Errors
/// If it differs from what the search claims.
pub fn check_solution(problem: &dyn Problem, best: Option<&Solution>) -> Result<(), RunError> {
    best.map_or(Ok(()), |best| check_value(problem, best))
}

/// Recomputes the value of a solution that was found.
///
/// # Errors
/// If it differs from what the search claims.
pub fn check_value(problem: &dyn Problem, best: &Solution) -> Result<(), RunError> {
    let goal = problem.goal();
    let claimed = goal.value(best.score);
    match problem.check(&best.solution) {
        None => Ok(()),
        Some(Ok(value)) if value == claimed || goal == Goal::Find => Ok(()),
        Some(Ok(value)) => {
            let [claimed, value] = [claimed, value].map(|it| written(it, problem.decimals()));
            Err(RunError::Solution(format!(
                "the search claims the value {claimed}, but the problem's check computes {value}"
            )))
        }
        Some(Err(why)) => Err(RunError::Solution(why)),
    }
}
