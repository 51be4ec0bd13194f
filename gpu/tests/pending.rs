//! Devices that open while the search already runs: nothing is lost or done twice, whenever they come.

use crate::gpu::{spec, whole};
use pleach_core::search::laws::explore_whole;
use pleach_core::search::problem::Problem;
use pleach_gpu::DeviceSet;
use pleach_gpu::pending::PendingDevice;
use pleach_gpu::pending_executor::PendingExecutor;
use pleach_gpu::pool::DevicePool;
use pleach_gpu::request::DeviceRequest;
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::{Flowshop, named::named};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_runtime::executor::{Budget, Executor};
use pleach_runtime::{Settings, WorkerPool, WorkerReport};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

/// The report and warnings of a worker whose device comes after this many stretches of few nodes.
fn comes_after(
    stretches: u32,
    words: &str,
    problem: &dyn Problem,
    best: i64,
) -> (WorkerReport, String) {
    let said = Arc::new(Mutex::new(String::new()));
    let warn = {
        let said = Arc::clone(&said);
        Box::new(move |line: String| said.lock().unwrap().push_str(&line))
    };
    let request = DeviceRequest::new(problem, &spec(words), &Arc::default()).unwrap();
    let opening = PendingDevice::start(request).unwrap();
    let mut worker = PendingExecutor::new("emulated0".into(), opening, problem, warn, 1.0);
    worker.explorer().add_work(&problem.root().bytes).unwrap();
    let mut report = WorkerReport::default();
    let mut explore = |worker: &mut PendingExecutor<'_>, fuel| {
        let budget = Budget { time_ns: 1000, fuel, best: &|| best, interrupted: &|| false };
        report.counts.add(&worker.explore(&budget).progress.counts);
        worker.fill_report(&mut report);
        report.opened_s.is_some()
    };
    for _ in 0..stretches {
        explore(&mut worker, 50);
    }
    while said.lock().unwrap().is_empty() && !explore(&mut worker, 0) {
        sleep(Duration::from_millis(1));
    }
    while worker.explorer().size() > 0.0 {
        explore(&mut worker, 1 << 18);
    }
    report.counts.add(&worker.flush().counts);
    let said = said.lock().unwrap().clone();
    (report, said)
}

#[test]
fn counts_are_exact_whenever_a_device_comes() {
    let queens = Queens::new(9, Level::best()).unwrap();
    let mut flowshop = Flowshop::new(named("VFR10_5_3").unwrap(), Level::best());
    flowshop.bound = Bound::One;
    let best = explore_whole(&flowshop, i64::MAX).found.unwrap().score;
    flowshop.reference = best;
    for (problem, best, mode, words) in [
        (&queens as &dyn Problem, i64::MAX, "explore", "emulated:explorers=3"),
        // On a busy machine, a device that may choose its mode could start a trial.
        (&flowshop, best, "explore", "emulated:mode=explore"),
        (&flowshop, best, "evaluate", "emulated:mode=evaluate:pool=3"),
    ] {
        let wanted = whole(problem, best);
        for stretches in [0, 1, 2, 7, 30, 10_000] {
            let (report, said) = comes_after(stretches, &format!("{words}:late=2"), problem, best);
            assert_eq!(report.counts, wanted, "{words} after {stretches}");
            assert_eq!((&*report.mode, &*said), (mode, ""));
            assert!(report.opened_s.unwrap() >= 0.002);
            let (report, said) =
                comes_after(stretches, &format!("{words}:late=1:fail=0"), problem, best);
            assert_eq!(report.counts, wanted, "{words} not after {stretches}");
            let line = "emulated0 not used: failed as requested; its thread searches on the CPU";
            assert_eq!((&*report.mode, &*said, report.opened_s), (mode, line, None));
            // The device comes, and soon fails.
            let (report, said) =
                comes_after(stretches, &format!("{words}:late=1:fail=2"), problem, best);
            assert_eq!(report.counts, wanted, "{words} lost after {stretches}");
            assert!(
                said.is_empty() || said.contains("emulated0 failed: failed as requested"),
                "{said}"
            );
        }
    }
}

fn settings(threads: u32, device: &str) -> Settings {
    from_pool(&Arc::default(), threads, device)
}

fn from_pool(pool: &Arc<DevicePool>, threads: u32, device: &str) -> Settings {
    Settings {
        threads,
        devices: DeviceSet::from_pool(vec![spec(device)], pool),
        ..Settings::default()
    }
}

#[test]
fn a_run_counts_exactly_while_its_device_comes() {
    let queens = Queens::new(11, Level::best()).unwrap();
    let wanted = whole(&queens, i64::MAX);
    let mut shared = 0;
    for late in [1, 2, 3, 5, 8, 13, 21] {
        for fail in ["", ":fail=0", ":fail=1", ":fail=4"] {
            let settings = Settings {
                pace: Some(2_000_000),
                trace: true,
                ..settings(1, &format!("emulated:late={late}{fail}"))
            };
            let run =
                WorkerPool::default().run(&queens, &settings, &mut |_| ControlFlow::Continue(()));
            let outcome = run.unwrap();
            assert_eq!(outcome.counts, wanted, "{late} ms{fail}");
            assert_eq!(outcome.workers[1].mode, "explore");
            let both = outcome.workers.iter().all(|worker| worker.counts.branched > 0);
            shared += u32::from(both && outcome.workers[1].opened_s.is_some());
        }
    }
    assert!(shared > 0, "no device came while there was something left");
}

#[test]
fn no_search_waits_at_its_end_for_a_device() {
    let (tiny, large) =
        (Queens::new(6, Level::best()).unwrap(), Queens::new(18, Level::best()).unwrap());
    let pool = WorkerPool::default();
    let hour = settings(1, "emulated:late=3600000");
    let outcome = pool.run(&tiny, &hour, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((outcome.counts, outcome.stop), (whole(&tiny, i64::MAX), None));
    assert_eq!(outcome.workers[1].opened_s, None);
    let stopped = pool.run(&large, &hour, &mut |_| ControlFlow::Break(())).unwrap();
    assert!(stopped.stop.is_some() && stopped.open > 0.0);
}

#[test]
fn a_device_that_comes_too_late_serves_the_next_run() {
    let queens = Queens::new(6, Level::best()).unwrap();
    let wanted = whole(&queens, i64::MAX);
    let (pool, devices) = (WorkerPool::default(), Arc::default());
    let go = |threads| {
        let settings = from_pool(&devices, threads, "emulated:late=100");
        pool.run(&queens, &settings, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    // The second run only waits for the device of the first one, and stops waiting at its end.
    for _ in 0..3 {
        assert_eq!(go(1).counts, wanted);
    }
    // A run without threads waits for its device: here for the one that is already being opened.
    for threads in [0, 1, 1] {
        let outcome = go(threads);
        assert_eq!((outcome.counts, devices.opened()), (wanted.clone(), 1));
        assert!(outcome.workers.last().unwrap().opened_s.is_some(), "it was open at once");
    }
}
