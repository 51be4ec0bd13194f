//! [`Contents`]: the contents of a saved search, without running it.

use pleach_core::search::explorer::joined;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Counts, Goal};
use pleach_core::search::work::{Malformed, Nodes};
use pleach_core::wire::checkpoint::Checkpoint;
use serde_json::Value;

/// The contents of a saved search.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    /// The goal of the search.
    pub goal: Goal,
    /// The estimated fraction of the tree that is done.
    pub done: Option<f64>,
    /// The number of open nodes or intervals, and which of the two.
    pub open: f64,
    pub held: Nodes,
    /// Pieces of work in the file.
    pub pieces: usize,
    /// The value of the best solution, and the bound that no solution can beat.
    pub best: Option<i64>,
    pub bound: Option<i64>,
    /// The count so far.
    pub counts: Counts,
    /// The time of the search so far.
    pub seconds: f64,
}

impl Contents {
    /// Reads a checkpoint of a problem.
    pub fn new(
        problem: &dyn Problem,
        checkpoint: &Checkpoint,
        state: &Value,
        held: Nodes,
    ) -> Result<Self, Malformed> {
        let checkpoint = checkpoint.clone().flattened()?;
        let mut explorer = problem.explorer();
        let all = joined(&mut *explorer, &checkpoint.pieces)?;
        explorer.add_work(&all.bytes)?;
        let goal = problem.goal();
        let optimises = matches!(goal, Goal::Minimise | Goal::Maximise);
        let open = explorer.open_nodes();
        // Nodes from a device do not record which part of the tree they are.
        let share = explorer.open_share().filter(|&share| share > 0.0 || open == 0.0);
        // The preparation may have taken long.
        let least = state["least"].as_i64().unwrap_or(i64::MIN).max(problem.least_score());
        let bound = explorer.least_bound().unwrap_or(i64::MAX).max(least).min(checkpoint.best);
        let is_known = (bound > i64::MIN || checkpoint.best == i64::MIN) && bound < i64::MAX;
        let known = optimises && is_known;
        let best = checkpoint.solution.as_ref().filter(|_| optimises);
        let mut counts = checkpoint.counts;
        // What is saved with a search that came after layers, or after another search.
        for before in ["layers", "first"] {
            let number = |name: &str| state[before][name].as_u64().unwrap_or(0);
            let (branched, bounded) = (number("branched"), number("bounded"));
            counts.add_saturating(&Counts { branched, bounded, ..Counts::default() });
        }
        let first_s = state["first"]["elapsed_ns"].as_f64().unwrap_or(0.0) * 1e-9;
        let setup_s = state["setup_s"].as_f64().unwrap_or(0.0);
        Ok(Self {
            goal,
            done: share.map(|share| (1.0 - share).clamp(0.0, 1.0)),
            open,
            held,
            pieces: checkpoint.pieces.len(),
            best: best.map(|best| goal.value(best.score)),
            bound: known.then(|| goal.value(bound)),
            counts,
            seconds: checkpoint.elapsed_ns as f64 * 1e-9 + first_s + setup_s,
        })
    }
}
