//! Tests threads and devices that outlive a run.

use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_gpu::DeviceSet;
use pleach_gpu::pool::DevicePool;
use pleach_gpu::spec::Spec;
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use pleach_runtime::{Outcome, Settings, WorkerPool};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

fn settings(threads: u32) -> Settings {
    Settings { threads, ..Settings::default() }
}

fn with_device(pool: &Arc<DevicePool>, threads: u32, device: &str) -> Settings {
    let devices = DeviceSet::from_pool(vec![Spec::parse(device).unwrap()], pool);
    Settings { devices, ..settings(threads) }
}

fn go(pool: &WorkerPool, problem: &dyn Problem, settings: &Settings) -> Outcome {
    pool.run(problem, settings, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn a_second_run_starts_no_thread_and_opens_no_device() {
    let (pool, devices) = (WorkerPool::default(), &Arc::<DevicePool>::default());
    let queens = Queens::new(8, Level::best()).unwrap();
    let tree = Parameters::parse("type=binomial,b0=40,q=0.19,m=5,seed=3").unwrap();
    let uts = Uts::new(tree, Level::best());
    let problems: [&dyn Problem; 2] = [&queens, &uts];
    let alone = problems.map(|problem| go(&pool, problem, &settings(1)).counts);
    for round in 0..3 {
        // The device is prepared for one problem after another.
        for (problem, alone) in problems.iter().zip(&alone) {
            let outcome = go(&pool, *problem, &with_device(devices, 2, "emulated"));
            assert_eq!(outcome.counts, *alone, "round {round}");
            let alone_on_it = go(&pool, *problem, &with_device(devices, 0, "emulated"));
            assert_eq!(alone_on_it.counts, *alone, "round {round}");
            assert_eq!((pool.threads_started(), devices.opened()), (3, 1));
        }
    }
}

#[test]
fn a_device_that_failed_is_opened_again() {
    let (pool, devices) = (WorkerPool::default(), &Arc::<DevicePool>::default());
    let queens = Queens::new(8, Level::best()).unwrap();
    let wanted = go(&pool, &queens, &settings(1)).counts;
    for opened in 1..4 {
        let outcome = go(&pool, &queens, &with_device(devices, 1, "emulated:fail=3"));
        assert_eq!((outcome.counts, devices.opened()), (wanted.clone(), opened));
    }
}

/// A tree whose code panics at some node.
struct Broken;

impl Tree for Broken {
    type Node = u32;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &depth: &u32, _best: Option<i64>, out: &mut Children<'_, Self>) {
        assert!(depth < 12, "too deep");
        out.child(depth + 1);
        out.child(depth + 1);
    }
}

#[test]
fn a_panic_ends_its_run_and_no_other() {
    let pool = WorkerPool::default();
    let queens = Queens::new(9, Level::best()).unwrap();
    let wanted = go(&pool, &queens, &settings(3)).counts;
    for _ in 0..20 {
        let broken = Plain(Broken);
        let panic = catch_unwind(AssertUnwindSafe(|| go(&pool, &broken, &settings(3))));
        assert!(panic.is_err());
        assert_eq!(go(&pool, &queens, &settings(3)).counts, wanted);
    }
    assert_eq!(pool.threads_started(), 3);
}

#[test]
fn a_run_within_a_run_has_its_own_threads() {
    let pool = WorkerPool::default();
    let queens = Queens::new(8, Level::best()).unwrap();
    let wanted = go(&pool, &queens, &settings(2)).counts;
    let big = Queens::new(13, Level::best()).unwrap();
    let mut inner = None;
    let progress_every = std::time::Duration::from_millis(1);
    let settings_of_both = Settings { progress_every, ..settings(2) };
    let outer = pool.run(&big, &settings_of_both, &mut |_| {
        inner.get_or_insert_with(|| go(&pool, &queens, &settings(2)).counts);
        ControlFlow::Continue(())
    });
    assert!(outer.unwrap().stop.is_none());
    assert!(inner.is_none_or(|inner| inner == wanted));
    assert!(pool.threads_started() <= 4);
}
