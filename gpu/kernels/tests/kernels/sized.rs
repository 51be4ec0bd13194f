//! Kernels with the sizes of an instance compiled in, as GPUs run them.

use crate::device::{Use, explore_sized};
use crate::{USUAL, atsp, on_cpu, uses};
use oorandom::Rand64;
use pleach_core::search::explorer::Progress;
use pleach_core::search::problem::Problem;
use pleach_core::search::work::Nodes;
use pleach_problems::flowshop::{Flowshop, bound::Bound, instance::Instance};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;

/// The kernel for these sizes explores the same tree as the CPU, from its optimum, however the
/// device is used.
fn agrees(problem: &dyn Problem, kernel: &'static str, best: i64) {
    let Progress { counts: wanted, found, .. } = on_cpu(problem, best);
    assert_eq!(found, None, "what is found changes the tree");
    assert!(wanted.bounded > 30, "{kernel}: {wanted:?}");
    let ways: Vec<Use> = uses().step_by(5).chain([USUAL]).collect();
    for how in ways {
        assert_eq!(explore_sized(problem, kernel, how, best).counts, wanted, "{kernel} {how:?}");
    }
}

#[test]
fn boards_are_counted() {
    let mut queens = Queens::new(10, Level::best()).unwrap();
    agrees(&queens, "queens 10 2", i64::MAX);
    queens.whole = true;
    agrees(&queens, "queens 10 1", i64::MAX);
}

#[test]
fn schedules_are_bounded() {
    let mut rng = Rand64::new(12);
    for (kernel, jobs, machines, bound) in [
        ("flowshop 9 5 4 0 0", 9, 5, Bound::One),
        ("flowshop 9 6 4 15 0", 9, 6, Bound::Two),
        // Two jobs a lane.
        ("flowshop 34 10 4 0 0", 34, 10, Bound::One),
    ] {
        for _ in 0..3 {
            let times = (0..jobs * machines).map(|_| rng.rand_range(1..60) as u32).collect();
            let instance = Instance::new(machines, times).unwrap();
            let mut flowshop = Flowshop::new(instance, Level::best());
            flowshop.bound = bound;
            let best = if jobs < 20 {
                on_cpu(&flowshop, i64::MAX).found.unwrap().score
            } else {
                // A value below the optimum leaves a smaller tree, but not an empty one.
                flowshop.root_bound() + 3
            };
            flowshop.reference = best;
            agrees(&flowshop, kernel, best);
        }
    }
}

#[test]
fn paths_are_bounded() {
    let mut rng = Rand64::new(13);
    for case in 0..3 {
        let atsp = atsp::random(&mut rng, 9, case, Nodes::Pool);
        let best = on_cpu(&atsp, i64::MAX).found.unwrap().score;
        agrees(&atsp, "atsp 9", best);
    }
}
