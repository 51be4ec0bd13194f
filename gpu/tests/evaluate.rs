//! Devices that bound what the host branches: laws, counts, failures, resumed runs.

use crate::gpu::spec;
use crate::shared::Scratch;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::laws::{explore_whole, explorer_law};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Tree;
use pleach_gpu::DeviceSet;
use pleach_gpu::evaluate::Evaluator;
use pleach_gpu::executor::Rounds;
use pleach_gpu::request::DeviceRequest;
use pleach_gpu::spec::{Mode, Spec};
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::{Flowshop, named::named};
use pleach_problems::simd::Level;
use pleach_runtime::{Outcome, Settings, Stop, load, run};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// A tree of some hundred nodes, from the optimum.
fn flowshop(bound: Bound) -> (Flowshop, i64) {
    let mut flowshop = Flowshop::new(named("VFR10_5_5").unwrap(), Level::best());
    flowshop.bound = bound;
    let best = explore_whole(&flowshop, i64::MAX).found.unwrap().score;
    flowshop.reference = best;
    (flowshop, best)
}

fn evaluator<'p>(problem: &'p dyn Problem, words: &str) -> Evaluator<'p> {
    let spec = Spec { mode: Some(Mode::Evaluate), ..spec(words) };
    let request = DeviceRequest::new(problem, &spec, &Arc::default());
    request.unwrap().open().unwrap().bounds(problem).unwrap()
}

fn go(problem: &dyn Problem, settings: &Settings) -> Outcome {
    run(problem, settings, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn settings(threads: u32, words: &[&str]) -> Settings {
    let devices = DeviceSet::shared(words.iter().map(|words| spec(words)).collect());
    Settings { threads, devices, ..Settings::default() }
}

/// Work moves between searches with few and many batches under way, and a CPU explorer.
#[test]
fn the_laws_hold_with_batches_under_way() {
    for bound in [Bound::One, Bound::Two] {
        let (flowshop, best) = flowshop(bound);
        let whole = explore_whole(&flowshop, best);
        for seed in 0..8 {
            let make = |i: usize| -> Box<dyn Explorer + '_> {
                let words = ["", "emulated:rmax=1:pool=3", "emulated:rmax=4:pool=1"];
                match words.get(i) {
                    Some(&"") => flowshop.explorer(),
                    Some(words) => Box::new(evaluator(&flowshop, words)),
                    None => Box::new(evaluator(&flowshop, "emulated:mode=evaluate")),
                }
            };
            explorer_law(&make, &Problem::root(&flowshop), best, &whole, seed);
        }
    }
}

/// Batches stay under way from one step to the next, and count as open.
#[test]
fn nodes_under_way_are_open() {
    let (flowshop, best) = flowshop(Bound::Two);
    let wanted = go(&flowshop, &Settings { best: Some(best), ..settings(1, &[]) }).counts;
    let mut search = evaluator(&flowshop, "emulated:rmax=4:pool=2");
    search.add_work(&Problem::root(&flowshop).bytes).unwrap();
    let mut counts = search.step(1, best).counts;
    let mut under_way = 0;
    while search.size() > 0.0 {
        under_way = under_way.max(search.active().0);
        let copy = search.copy();
        assert_eq!(copy.size, search.size());
        counts.add(&search.step(1, best).counts);
    }
    assert_eq!((counts, search.active().0), (wanted, 0));
    assert!(under_way >= 3, "{under_way}");
}

#[test]
fn a_device_that_fails_loses_nothing() {
    let (flowshop, best) = flowshop(Bound::Two);
    let from_best = |settings| Settings { best: Some(best), ..settings };
    let wanted = go(&flowshop, &from_best(settings(1, &[]))).counts;
    for fail in 1..25 {
        for threads in [0, 1] {
            let words = format!("emulated:rmax=3:pool=2:fail={fail}");
            let mut warned = false;
            let outcome =
                run(&flowshop, &from_best(settings(threads, &[&words])), &mut |snapshot| {
                    warned |= snapshot.warning.is_some();
                    ControlFlow::Continue(())
                });
            assert_eq!(outcome.unwrap().counts, wanted, "{threads} threads, launch {fail}");
            assert!(warned || threads > 0, "launch {fail}");
        }
    }
}

#[test]
fn optima_are_found_with_their_schedules() {
    let (flowshop, best) = flowshop(Bound::Two);
    for (threads, devices) in
        [(0, &["emulated:mode=evaluate"][..]), (2, &["emulated:rmax=2", "emulated:pool=9"])]
    {
        let outcome = go(&flowshop, &settings(threads, devices));
        let found = outcome.solution.unwrap();
        assert_eq!((found.score, outcome.lower_bound), (best, best));
        assert_eq!(Tree::check(&flowshop, &found.solution), Some(Ok(best)));
    }
}

/// Saved with batches under way; resumed with another number of batches, or without a device.
#[test]
fn stopped_runs_end_with_the_same_counts() {
    let (flowshop, best) = flowshop(Bound::Two);
    let wanted = go(&flowshop, &Settings { best: Some(best), ..settings(1, &[]) }).counts;
    let scratch = Scratch::new("evaluate");
    for limit in [1, 50, 300] {
        let first = Settings {
            best: Some(best),
            node_limit: Some(limit),
            save: Some(scratch.save(Duration::from_millis(1))),
            ..settings(1, &["emulated:rmax=3:pool=2"])
        };
        let stopped = go(&flowshop, &first);
        assert_eq!(stopped.stop, Some(Stop::Nodes));
        for devices in [&["emulated:pool=5"][..], &[]] {
            let threads = u32::from(devices.is_empty());
            let resume = Some(load(&scratch.save(Duration::MAX).path).unwrap());
            let outcome = go(&flowshop, &Settings { resume, ..settings(threads, devices) });
            assert_eq!(outcome.counts, wanted, "after {limit} nodes");
        }
    }
}
