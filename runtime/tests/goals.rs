//! Runs whose goal decides what a solution means: it prunes nothing that is counted, and any one ends a search for one.

use crate::engine::{go, settings};
use pleach_core::search::problem::Plain;
use pleach_core::search::tree::{Children, Goal, Improver, Solution, Tree};
use pleach_runtime::Settings;

/// Words of three bits, counted, with bounds and a heuristic, which mean nothing here.
struct Counted;

impl Tree for Counted {
    type Node = u32;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &length: &u32, best: Option<i64>, out: &mut Children<'_, Self>) {
        assert_eq!(best, None, "there is nothing to beat");
        if length == 3 {
            return out.count(1);
        }
        (0..2).for_each(|_| out.child_within(1, length + 1));
    }

    fn improver(&self, _seed: u64) -> Option<Box<dyn Improver + '_>> {
        Some(Box::new(Guess))
    }
}

struct Guess;

impl Improver for Guess {
    fn improve(&mut self) -> Option<Solution> {
        Some(Goal::Count.solution(0, Vec::new()))
    }
}

/// Its solution used to prune what was counted, and to pass for an optimum.
#[test]
fn a_search_that_counts_uses_no_heuristic() {
    let outcome = go(&Plain(Counted), &Settings { improve: true, ..settings(1) });
    assert_eq!((outcome.counts.total, outcome.stop, outcome.solution), (8, None, None));
}
