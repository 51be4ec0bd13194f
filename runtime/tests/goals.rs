//! Runs whose goal decides what a solution means: it prunes nothing that is counted, and any one ends a search for one.

use crate::engine::{go, settings};
use pleach_core::search::problem::Plain;
use pleach_core::search::tree::{Children, Goal, Improver, Solution, Tree};
use pleach_runtime::{Cancel, Settings, Stop};
use std::sync::atomic::{AtomicBool, Ordering};

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

/// A tree whose root has a solution, which it finds only after the run was asked to stop.
#[derive(Default)]
struct Late {
    cancel: Cancel,
    stops: AtomicBool,
}

impl Tree for Late {
    type Node = u32;
    const GOAL: Goal = Goal::Find;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, _: &u32, _: Option<i64>, out: &mut Children<'_, Self>) {
        self.cancel.cancel();
        while !self.stops.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        out.child(1);
        out.solution(7, || vec![7]);
    }

    fn set_stop_requested(&self, requested: bool) {
        self.stops.store(requested, Ordering::Relaxed);
    }
}

/// Such a search used to count as stopped, although it had what it was for.
#[test]
fn a_solution_found_at_the_last_moment_ends_the_search() {
    let tree = Late::default();
    let settings = Settings { cancel: tree.cancel.clone(), ..settings(1) };
    let outcome = go(&Plain(tree), &settings);
    assert_eq!(outcome.solution.unwrap().solution, [7]);
    assert_eq!(outcome.stop, Some(Stop::Found));
}
