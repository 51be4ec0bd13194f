//! What a watcher sees of the units during a run: bounds and the number of open nodes.

use crate::engine::{go, settings, uts};
use pleach_core::problem::Plain;
use pleach_core::tree::{Children, Goal, Tree};
use pleach_problems::simd::Level;
use pleach_run::{Settings, run};
use std::ops::ControlFlow;
use std::time::Duration;

/// A tree without choices: each node takes a moment and has one child, with a bound one higher.
struct Line {
    nodes: u32,
}

impl Tree for Line {
    type Node = u32;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &node: &u32, _best: i64, out: &mut Children<'_, Self>) {
        std::thread::sleep(Duration::from_micros(200));
        if node == self.nodes {
            return out.solution(node.into(), || vec![node.into()]);
        }
        out.child_within(i64::from(node) + 1, node + 1);
    }
}

/// Units asleep for lack of work used to ignore looks, so the bound shown never moved.
#[test]
fn the_bound_rises_while_other_units_sleep() {
    let mut shown = Vec::new();
    let settings = Settings { look_every: Duration::from_millis(5), ..settings(4) };
    let outcome = run(&Plain(Line { nodes: 1000 }), &settings, &mut |sight| {
        shown.extend(sight.bound);
        ControlFlow::Continue(())
    });
    assert_eq!(outcome.unwrap().solution.unwrap().score, 1000);
    assert!(shown.is_sorted());
    assert!(shown.iter().any(|&bound| (200..1000).contains(&bound)), "{shown:?}");
}

/// The limit on open nodes used to be divided among the units, so many units on one wide tree
/// stopped for lack of memory although there was enough.
#[test]
fn a_wide_tree_is_within_the_limit_however_many_units_there_are() {
    let wide = uts("type=binomial,b0=1000000,q=0.4,m=2", Level::Off);
    let outcome = go(&wide, &settings(128));
    assert_eq!((outcome.stop, outcome.counts.bounded + 1), (None, 4_977_753));
}
