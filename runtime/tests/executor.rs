//! Conformance of executors: every kind passes the same checks.

use pleach_core::search::laws::explore_whole;
use pleach_core::search::problem::Problem;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use pleach_runtime::executor::threads::ThreadExecutor;
use pleach_runtime::executor::{Budget, Executor};
use std::cell::Cell;

fn tree() -> Uts {
    let words = "type=binomial,b0=100,q=0.199,m=5,seed=3";
    Uts::new(Parameters::parse(words).unwrap(), Level::best())
}

fn budget<'a>(fuel: u64, interrupted: &'a dyn Fn() -> bool) -> Budget<'a> {
    Budget { time_ns: 100_000, fuel, best: &|| i64::MAX, interrupted }
}

/// The whole tree is explored within the fuel, however short the stretches are.
fn stretches_add_up(mut executor: impl Executor, tree: &Uts) {
    let wanted = explore_whole(tree, i64::MAX).counts;
    executor.explorer().add_work(&tree.root().bytes).unwrap();
    let mut counts = pleach_core::search::tree::Counts::default();
    let mut stretches = 0;
    while executor.explorer().size() > 0.0 {
        let stretch = executor.explore(&budget(500, &|| false));
        assert!(stretch.progress.used <= 500 + 128, "{} of 500 nodes", stretch.progress.used);
        counts.add(&stretch.progress.counts);
        stretches += 1;
    }
    assert_eq!(counts, wanted);
    assert!(stretches > 3);
}

/// An interruption ends a stretch at the next check.
fn interruptions_are_noticed(mut executor: impl Executor, tree: &Uts) {
    executor.explorer().add_work(&tree.root().bytes).unwrap();
    let looks = Cell::new(0);
    let second = || {
        looks.set(looks.get() + 1);
        looks.get() >= 2
    };
    // Its time is never over before that.
    executor.explore(&Budget { time_ns: u64::MAX, ..budget(u64::MAX, &second) });
    assert_eq!(looks.get(), 2, "continued after an interruption");
}

#[test]
fn thread_executor_conforms() {
    let tree = tree();
    for slow in [1.0, 3.0] {
        stretches_add_up(ThreadExecutor::new(tree.explorer(), slow), &tree);
    }
    interruptions_are_noticed(ThreadExecutor::new(tree.explorer(), 1.0), &tree);
}

#[test]
fn a_slowed_worker_is_as_slow_as_requested() {
    let tree = Uts::new(Parameters::parse("T1").unwrap(), Level::best());
    let time = |slow| {
        let mut executor = ThreadExecutor::new(tree.explorer(), slow);
        executor.explorer().add_work(&tree.root().bytes).unwrap();
        let mut busy_ns = 0;
        let mut nodes = 0;
        while nodes < 300_000 {
            let stretch = executor.explore(&budget(u64::MAX, &|| false));
            busy_ns += stretch.busy_ns;
            nodes += stretch.progress.used;
        }
        busy_ns as f64 / nodes as f64
    };
    // Other load on the machine may spoil some tries, but hardly all twenty.
    let ratios: Vec<f64> = (0..20).map(|_| time(5.0) / time(1.0)).collect();
    assert!(ratios.iter().any(|&ratio| ratio > 2.5), "a slow-down of five gave {ratios:?}");
}
