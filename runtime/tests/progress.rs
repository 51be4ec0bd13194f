//! A run's reports of bounds, wrong bounds and memory.

use crate::engine::{go, settings, uts};
use pleach_core::search::problem::Plain;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_problems::simd::Level;
use pleach_runtime::{RunError, Settings, run};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A tree without choices: each node takes a moment and has one child, with a bound one higher, until the line is to
/// end.
struct Line {
    ends: AtomicBool,
}

/// The length of a line that nobody ends: half a minute.
const LONGEST: u32 = 150_000;

impl Tree for Line {
    type Node = u32;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &node: &u32, _best: Option<i64>, out: &mut Children<'_, Self>) {
        std::thread::sleep(Duration::from_micros(200));
        if node == LONGEST || self.ends.load(Ordering::Relaxed) {
            return out.solution(node.into(), || vec![node.into()]);
        }
        out.child_within(i64::from(node) + 1, node + 1);
    }
}

/// Workers asleep for lack of work used to ignore progress requests, so the bound shown never moved.
#[test]
fn the_bound_rises_while_other_workers_sleep() {
    let mut shown = Vec::new();
    let settings = Settings { progress_every: Duration::from_millis(5), ..settings(4) };
    let line = Plain(Line { ends: AtomicBool::new(false) });
    let outcome = run(&line, &settings, &mut |snapshot| {
        shown.extend(snapshot.bound);
        line.0.ends.store(shown.last().is_some_and(|&bound| bound >= 200), Ordering::Relaxed);
        ControlFlow::Continue(())
    });
    let length = outcome.unwrap().solution.unwrap().score;
    assert!(length < i64::from(LONGEST), "no bound was shown that had risen: {shown:?}");
    assert!(shown.is_sorted() && shown.iter().all(|&bound| bound <= length), "{shown:?}");
}

/// The limit on open nodes used to be divided among the workers: with many of them, a wide tree stopped for lack of memory
/// although there was enough.
#[test]
fn a_wide_tree_is_within_the_limit_however_many_workers_there_are() {
    let wide = uts("type=binomial,b0=1000000,q=0.4,m=2", Level::Off);
    let outcome = go(&wide, &settings(128));
    assert_eq!((outcome.stop, outcome.counts.bounded + 1), (None, 4_977_753));
}

/// A tree whose bound is wrong: below a node with the bound 5 there is a solution of value 99.
struct Boastful;

impl Tree for Boastful {
    type Node = u32;
    const GOAL: Goal = Goal::Maximise;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &node: &u32, best: Option<i64>, out: &mut Children<'_, Self>) {
        match node {
            0 => {
                assert_eq!(best, None, "there is nothing to beat yet");
                out.child_within(5, 1);
                out.child_within(7, 2);
            }
            1 => out.solution(99, || vec![1]),
            // It prunes nothing, whichever thread is first.
            _ => out.solution(4, || vec![2]),
        }
    }
}

/// Such a solution used to be reported as optimal, although the bound may have cost a better one.
#[test]
fn a_wrong_bound_is_an_error_that_names_it() {
    for threads in 1..4 {
        let outcome = run(&Plain(Boastful), &settings(threads), &mut |_| ControlFlow::Continue(()));
        let why = outcome.unwrap_err();
        assert!(matches!(why, RunError::Bound(_)), "{why}");
        assert_eq!(
            why.to_string(),
            "the bound of Boastful is wrong: below a node with the bound 5 there is a solution of \
             value 99"
        );
    }
}

/// The value to beat used to be the end of the range where there was none, so that arithmetic on it
/// wrapped and a search found nothing.
#[test]
fn a_tree_knows_whether_there_is_a_value_to_beat() {
    struct Steps;
    impl Tree for Steps {
        type Node = u32;
        const GOAL: Goal = Goal::Minimise;

        fn root(&self) -> u32 {
            0
        }

        fn expand(&self, &at: &u32, best: Option<i64>, out: &mut Children<'_, Self>) {
            // Only solutions that are better by at least one.
            let most = best.map_or(i64::MAX, |best| best - 1);
            if i64::from(at) <= most {
                match at {
                    20 => out.solution(at.into(), || vec![at.into()]),
                    _ => out.child(at + 1),
                }
            }
        }
    }
    let outcome = go(&Plain(Steps), &settings(2));
    assert_eq!(outcome.solution.unwrap().score, 20);
}
