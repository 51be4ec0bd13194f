//! Devices, exemplified by the emulated one: laws, counts, and failures.

use crate::shared::Scratch;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::laws::{
    explore_whole, full_explorer, hostile_law, late_explorer_law, run_to_end,
};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Nodes;
use pleach_core::steal::Policy;
use pleach_gpu::DeviceSet;
use pleach_gpu::executor::Rounds;
use pleach_gpu::explorer::DeviceExplorer;
use pleach_gpu::request::DeviceRequest;
use pleach_gpu::spec::Spec;
use pleach_problems::atsp::{Atsp, bound::Bound};
use pleach_problems::flowshop::{Flowshop, child_order::ChildOrder, named::named};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use pleach_runtime::{Outcome, RunError, Settings, Stop, run};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

fn queens(n: u32) -> Queens {
    Queens::new(n, Level::best()).unwrap()
}

/// Ten jobs, starting at the optimum.
fn flowshop() -> (Flowshop, i64) {
    let mut flowshop = Flowshop::new(named("VFR10_5_5").unwrap(), Level::best());
    let best = explore_whole(&flowshop, i64::MAX).found.unwrap().score;
    flowshop.reference = best;
    (flowshop, best)
}

/// The same with intervals that are numbered by job.
fn by_job() -> (Flowshop, i64) {
    let (mut flowshop, best) = flowshop();
    (flowshop.nodes, flowshop.order) = (Nodes::Interval, ChildOrder::Job);
    (flowshop, best)
}

/// Eight cities, starting at the optimum, by the cost of paths.
fn atsp(nodes: Nodes) -> (Atsp, i64) {
    let instance = pleach_problems::atsp::named::named("crane:8:1").unwrap().unwrap();
    let how = (nodes, Level::best());
    let atsp = Atsp::new(instance, Bound::Partial, how, (None, 1), &|| true).unwrap();
    let best = atsp.instance().length(atsp.start());
    (atsp, best)
}

/// The same with work as intervals.
pub fn with_intervals(n: u32) -> Queens {
    let mut queens = queens(n);
    queens.nodes = Nodes::Interval;
    queens
}

pub fn problems_for_good() -> [(&'static dyn Problem, i64); 6] {
    let ((flowshop, best), (paths, length)) = (flowshop(), atsp(Nodes::Pool));
    let queens: &Queens = Box::leak(Box::new(queens(8)));
    let mut schedules = flowshop.clone();
    schedules.nodes = Nodes::Interval;
    let schedules: &Flowshop = Box::leak(Box::new(schedules));
    let flowshop: &Flowshop = Box::leak(Box::new(flowshop));
    let paths: &Atsp = Box::leak(Box::new(paths));
    let tours: &Atsp = Box::leak(Box::new(atsp(Nodes::Interval).0));
    let intervals: &Queens = Box::leak(Box::new(with_intervals(8)));
    [
        (queens, i64::MAX),
        (flowshop, best),
        (paths, length),
        (intervals, i64::MAX),
        (tours, length),
        (schedules, best),
    ]
}

pub fn spec(words: &str) -> Spec {
    Spec::parse(words).unwrap()
}

pub fn on_device<'p>(problem: &'p dyn Problem, words: &str) -> DeviceExplorer<'p> {
    let request = DeviceRequest::new(problem, &spec(words), &Arc::default());
    request.unwrap().open().unwrap().explores(problem).unwrap()
}

pub fn whole(problem: &dyn Problem, best: i64) -> Counts {
    explore_whole(problem, best).counts
}

fn go(problem: &dyn Problem, settings: &Settings) -> Outcome {
    run(problem, settings, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn devices(threads: u32, words: &[&str]) -> Settings {
    let devices = DeviceSet::shared(words.iter().map(|words| spec(words)).collect());
    Settings { threads, devices, ..Settings::default() }
}

#[test]
fn counts_are_the_same_whatever_the_choices() {
    let (flowshop, best) = flowshop();
    let mut schedules = flowshop.clone();
    schedules.nodes = Nodes::Interval;
    let tree = Parameters::parse("type=binomial,b0=40,q=0.19,m=5,seed=3").unwrap();
    let uts = Uts::new(tree, Level::best());
    let ((paths, length), (tours, _)) = (atsp(Nodes::Pool), atsp(Nodes::Interval));
    let mut pairs = schedules.clone();
    pairs.bound = pleach_problems::flowshop::bound::Bound::Two;
    let (jobs, _) = by_job();
    let mut pairs_by_job = jobs.clone();
    pairs_by_job.bound = pairs.bound;
    let problems: [(&dyn Problem, i64); 12] = [
        (&pairs, best),
        (&pairs_by_job, best),
        (&jobs, best),
        (&with_intervals(1), i64::MAX),
        (&with_intervals(8), i64::MAX),
        (&queens(7), i64::MAX),
        (&queens(8), i64::MAX),
        (&flowshop, best),
        (&uts, i64::MAX),
        (&paths, length),
        (&tours, length),
        (&schedules, best),
    ];
    for (problem, best) in problems {
        let wanted = whole(problem, best);
        for explorers in [1, 3, 8, 33] {
            for inside in
                ["windows", "ring", "search", "search/3", "large/900", "adapt", "hypercube", "none"]
            {
                let two = ["windows", "hypercube"].contains(&inside);
                let all =
                    ["", ":put=one:take=one", ":trigger=0", ":budget=1", ":budget=40:trigger=1"];
                // The other rules move nodes more slowly.
                for more in &all[..if two { 5 } else { 1 + usize::from(explorers == 3) }] {
                    let words = format!("emulated:explorers={explorers}:inside={inside}{more}");
                    let mut explorer = on_device(problem, &words);
                    explorer.add_work(&problem.root().bytes).unwrap();
                    assert_eq!(run_to_end(&mut explorer, best).counts, wanted, "{words}");
                }
            }
        }
    }
}

/// Thin trees, in which explorers constantly run out of nodes: with the same budget, a launch gets much further if they
/// give nodes to one another.
#[test]
fn thin_trees_take_fewer_rounds() {
    let mut said = Vec::new();
    for (words, explorers, fewer) in [
        ("type=binomial,b0=200,q=0.1245,m=8,seed=42", 32, 4),
        ("type=binomial,b0=200,q=0.1245,m=8,seed=42", 8, 2),
        ("type=binomial,b0=400,q=0.124,m=8,seed=7", 32, 4),
    ] {
        let uts = Uts::new(Parameters::parse(words).unwrap(), Level::best());
        let wanted = whole(&uts, i64::MAX);
        let rounds = |giving: &str| {
            let words = format!(
                "emulated:explorers={explorers}:budget=1000:trigger={}{giving}",
                explorers / 2
            );
            let mut explorer = on_device(&uts, &words);
            explorer.add_work(&uts.root().bytes).unwrap();
            let (mut rounds, mut counts) = (0, Counts::default());
            while explorer.size() > 0.0 {
                counts.add(&explorer.step(u64::MAX, i64::MAX).counts);
                rounds += 1;
            }
            counts.add(&explorer.flush().counts);
            assert_eq!(counts, wanted, "{words}");
            rounds
        };
        let all = [":giving=never", ":giving=always", ""].map(rounds);
        said.push((words, explorers, wanted.total, all));
        let [never, always, tuned] = all;
        assert!(fewer * always <= never && 2 * tuned <= never, "{said:?}");
    }
    println!("rounds: {said:?}");
}

/// A thread bounds the children of a node one by one, or a warp bounds all of them; if the bound takes long, always a
/// warp.
#[test]
fn bounding_is_as_requested() {
    let (mut schedules, best) = flowshop();
    schedules.nodes = Nodes::Interval;
    let wanted = whole(&schedules, best);
    for how in ["alone", "parallel"] {
        for explorers in [1, 5, 40] {
            let words = format!("emulated:explorers={explorers}:bounding={how}");
            for problem in [&schedules, &by_job().0] {
                let mut explorer = on_device(problem, &words);
                explorer.add_work(&problem.root().bytes).unwrap();
                assert_eq!(run_to_end(&mut explorer, best).counts, wanted, "{words}");
            }
        }
    }
    let refused = |problem: &dyn Problem, how: &str| {
        let spec = spec(&format!("emulated:bounding={how}"));
        DeviceRequest::new(problem, &spec, &Arc::default()).err().unwrap().to_string()
    };
    assert!(refused(&with_intervals(8), "parallel").contains("for this problem"));
    assert!(refused(&queens(8), "alone").contains("held as intervals"));
    schedules.bound = pleach_problems::flowshop::bound::Bound::Two;
    assert!(refused(&schedules, "alone").contains("for this bound"));
}

/// The host explores the top of arriving work, and the device the rest; its explorers share nothing.
#[test]
fn the_top_of_the_tree_is_explored_once() {
    for (problem, best) in problems_for_good() {
        // Intervals are not explored from the top.
        if problem.top().is_none() {
            continue;
        }
        let wanted = whole(problem, best);
        for depth in [1, 2, 4, 9, 30] {
            let words = format!("emulated:explorers=5:inside=none:second_cutoff={depth}");
            let mut explorer = on_device(problem, &words);
            explorer.add_work(&problem.root().bytes).unwrap();
            assert_eq!(run_to_end(&mut explorer, best).counts, wanted, "{words}");
            // A thread gives each node of its pool to one device, or a second one divides it between both.
            for (threads, more) in [(1, ""), (2, ",second_cutoff=3")] {
                let policy = format!("dynamic:share=chunk/1,cutoff=2,coordinator=yes{more}");
                let policy = Policy::parse(&policy).unwrap();
                let devices = devices(threads, &[&words, &words]);
                let outcome = go(problem, &Settings { best: Some(best), policy, ..devices });
                assert_eq!(outcome.counts, wanted, "{words}{more}");
            }
        }
    }
}

/// While the number of explorers is tuned, some that hold nodes take no part.
#[test]
fn no_node_is_lost_when_fewer_explorers_take_part() {
    let (flowshop, best) = flowshop();
    let problems: [(&dyn Problem, i64); 2] = [(&queens(8), i64::MAX), (&flowshop, best)];
    for (problem, best) in problems {
        let wanted = whole(problem, best);
        for budget in [2, 5, 9, 20] {
            for inside in ["windows", "hypercube"] {
                let words = format!("emulated:budget={budget}:inside={inside}");
                let mut explorer = on_device(problem, &words);
                explorer.add_work(&problem.root().bytes).unwrap();
                let mut counts = Counts::default();
                for _ in 0..100_000 {
                    counts.add(&explorer.step(u64::MAX, best).counts);
                    if explorer.size() == 0.0 {
                        break;
                    }
                }
                assert_eq!((counts, explorer.size()), (wanted.clone(), 0.0), "{words}");
            }
        }
    }
}

#[test]
fn the_laws_hold_on_a_device() {
    for (problem, best) in problems_for_good() {
        let whole = explore_whole(problem, best);
        for seed in 0..20 {
            let make = |i: usize| -> Box<dyn Explorer> {
                match i {
                    // A CPU explorer alongside the devices, so that work moves both ways.
                    0 => problem.explorer(),
                    1 if seed % 2 == 0 && problem.top().is_some() => {
                        Box::new(on_device(problem, "emulated:explorers=5:giving=always"))
                    }
                    1 => Box::new(on_device(problem, "emulated:explorers=3:budget=9")),
                    // Work arrives at one explorer.
                    _ if seed % 2 == 0 || problem.top().is_some() => {
                        Box::new(on_device(problem, "emulated:explorers=4:put=one"))
                    }
                    // Or from each, if it is intervals.
                    _ => Box::new(on_device(problem, "emulated:explorers=3:take=each")),
                }
            };
            late_explorer_law(&make, &problem.root(), best, &whole, (seed, 4));
        }
        let mut explorer = full_explorer(problem);
        explorer.run(50, best);
        let good = explorer.drain();
        let make = || -> Box<dyn Explorer> { Box::new(on_device(problem, "emulated:explorers=2")) };
        hostile_law(&make, &good.bytes, 300, 1);
    }
}

#[test]
fn each_explorer_gives_a_part_of_its_interval() {
    let queens = with_intervals(9);
    let wanted = whole(&queens, i64::MAX);
    let [mut one, mut other] = [6, 8].map(|explorers| {
        on_device(&queens, &format!("emulated:explorers={explorers}:budget=20:take=each"))
    });
    one.add_work(&queens.root().bytes).unwrap();
    let mut counts = Counts::default();
    while one.active().0 < 6 {
        counts.add(&one.step(u64::MAX, i64::MAX).counts);
    }
    for share in [0.5, 0.25, 0.01] {
        let before = one.size();
        let given = one.split(share).unwrap();
        let off = (given.size - share * before).abs();
        assert!(off <= 6.0 + 0.01 * before, "{} of {before} for {share}", given.size);
        assert!(given.size >= 6.0, "of each: {}", given.size);
        assert_eq!(one.size() + given.size, before);
        other.add_work(&given.bytes).unwrap();
        counts.add(&one.step(u64::MAX, i64::MAX).counts);
    }
    counts.add(&run_to_end(&mut other, i64::MAX).counts);
    counts.add(&run_to_end(&mut one, i64::MAX).counts);
    assert_eq!(counts, wanted);
    // Two devices give to one another; one of them fails.
    for fail in [1, 2, 5, 11, 30] {
        let failing = format!("emulated:take=each:fail={fail}");
        let settings = devices(0, &["emulated:take=each:budget=9", &failing]);
        assert_eq!(go(&queens, &settings).counts, wanted, "launch {fail}");
    }
}

#[test]
fn a_device_that_fails_loses_no_work() {
    for queens in [queens(9), with_intervals(9)] {
        let wanted = whole(&queens, i64::MAX);
        for fail in 1.. {
            let words = format!("emulated:explorers=5:budget=7:fail={fail}");
            let mut explorer = on_device(&queens, &words);
            explorer.add_work(&queens.root().bytes).unwrap();
            assert_eq!(run_to_end(&mut explorer, i64::MAX).counts, wanted, "launch {fail}");
            let Some(why) = explorer.take_failure() else {
                assert!(fail > 20, "only {fail} launches");
                break;
            };
            assert_eq!(why.to_string(), "failed as requested", "launch {fail}");
            assert!(explorer.take_failure().is_none(), "reported once");
        }
    }
}

#[test]
fn an_explorer_without_work_gives_nothing() {
    let queens = with_intervals(9);
    let wanted = whole(&queens, i64::MAX);
    let words = "emulated:explorers=8:budget=20:put=one:take=one";
    let (mut one, mut other) = (on_device(&queens, words), queens.explorer());
    one.add_work(&queens.root().bytes).unwrap();
    let mut counts = Counts::default();
    while one.active().0 < 4 {
        counts.add(&one.step(u64::MAX, i64::MAX).counts);
    }
    let (mut refused, mut given) = (0, 0);
    for _ in 0..64 {
        match one.split(0.5) {
            None => refused += 1,
            Some(work) => {
                other.add_work(&work.bytes).unwrap();
                given += 1;
            }
        }
    }
    assert!(refused > 0 && given > 0, "{refused} refused, {given} given");
    assert!(one.size() > 0.0, "the last explorer keeps its work");
    counts.add(&run_to_end(&mut one, i64::MAX).counts);
    counts.add(&run_to_end(&mut *other, i64::MAX).counts);
    assert_eq!(counts, wanted);
}

#[test]
fn the_laws_hold_where_one_explorer_gives() {
    for (problem, best) in problems_for_good() {
        let whole = explore_whole(problem, best);
        for seed in 0..10 {
            let make = |i: usize| -> Box<dyn Explorer> {
                if i == 0 {
                    return problem.explorer();
                }
                Box::new(on_device(problem, "emulated:explorers=4:budget=9:put=one:take=one"))
            };
            late_explorer_law(&make, &problem.root(), best, &whole, (seed, u32::MAX));
        }
    }
}

/// Devices fail one after another while work moves between them.
#[test]
fn the_laws_hold_while_devices_fail() {
    for (problem, best) in problems_for_good() {
        let whole = explore_whole(problem, best);
        for seed in 0..40 {
            let make = |i: usize| -> Box<dyn Explorer> {
                let fail = 1 + seed / 2 + 9 * i as u64;
                let words = format!("emulated:explorers=3:budget=9:fail={fail}");
                Box::new(on_device(problem, &words))
            };
            late_explorer_law(&make, &problem.root(), best, &whole, (seed, 4));
        }
    }
}

#[test]
fn devices_and_threads_share_a_run() {
    let (queens, intervals, (flowshop, best)) = (queens(11), with_intervals(11), flowshop());
    let wanted = whole(&queens, i64::MAX);
    for (threads, words) in [
        (0, &["emulated"][..]),
        (2, &["emulated:explorers=5"]),
        (1, &["emulated:explorers=3:inside=adapt", "emulated:explorers=2"]),
        (1, &["emulated:fail=9"]),
    ] {
        let outcome = go(&queens, &devices(threads, words));
        assert_eq!(outcome.counts, wanted, "{threads} {words:?}");
        let as_intervals = go(&intervals, &devices(threads, words)).counts;
        assert_eq!(as_intervals, wanted, "{threads} {words:?}");
        let workers = outcome.workers.len();
        assert_eq!(workers, threads as usize + words.len());
        assert_eq!(outcome.workers[workers - 1].name, format!("emulated{}", words.len() - 1));
        let settings = Settings { best: Some(best), ..devices(threads, words) };
        for flowshop in [&flowshop, &by_job().0] {
            assert_eq!(
                go(flowshop, &settings).counts,
                whole(flowshop, best),
                "{threads} {words:?}"
            );
        }
    }
    let mut from_scratch = flowshop.clone();
    from_scratch.reference = i64::MAX;
    let outcome = go(&from_scratch, &devices(1, &["emulated"]));
    assert_eq!(outcome.solution.unwrap().score, best);
}

#[test]
fn unusable_devices_are_reported_and_skipped() {
    let queens = queens(8);
    let mut said = Vec::new();
    let settings = Settings { progress_every: Duration::from_millis(1), ..devices(1, &["gpu7"]) };
    let outcome = run(&queens, &settings, &mut |snapshot| {
        said.extend(snapshot.warning.clone());
        ControlFlow::Continue(())
    });
    assert_eq!(outcome.unwrap().workers.len(), 1);
    assert!(said.len() == 1 && said[0].starts_with("gpu7 not used: "), "{said:?}");
    let alone = run(&queens, &devices(0, &["gpu7"]), &mut |_| ControlFlow::Continue(()));
    assert!(matches!(alone, Err(RunError::NoWorker(why)) if why.starts_with("gpu7 not used")));
    // A tree that no worker explores is not proven, whether or not a device was asked for.
    let unasked = Spec { asked: false, ..spec("emulated") };
    let settings =
        Settings { threads: 0, devices: DeviceSet::shared(vec![unasked]), ..Settings::default() };
    let nobody =
        run(&Queens::new(32, Level::Off).unwrap(), &settings, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(nobody, Err(RunError::NoWorker(_))));
}

#[test]
fn a_run_with_a_device_is_stopped_and_resumed() {
    stopped_and_resumed(&queens(11), None, "nodes");
    stopped_and_resumed(&with_intervals(11), None, "intervals");
    let (flowshop, best) = by_job();
    stopped_and_resumed(&flowshop, Some(best), "jobs");
}

fn stopped_and_resumed(problem: &dyn Problem, best: Option<i64>, name: &str) {
    let wanted = whole(problem, best.unwrap_or(i64::MAX));
    let scratch = Scratch::new(&format!("gpu-{name}"));
    let mut limit = (wanted.bounded / 80).max(1);
    let mut settings = Settings { best, ..devices(1, &["emulated:explorers=4:budget=20"]) };
    settings.save = Some(scratch.save(Duration::from_millis(1)));
    for stops in 0.. {
        settings.node_limit = Some(limit);
        let outcome = go(problem, &settings);
        if outcome.stop.is_none() {
            assert!(stops > 1, "stopped {stops} times");
            assert_eq!(outcome.counts, wanted);
            break;
        }
        assert_eq!(outcome.stop, Some(Stop::Nodes));
        settings.resume = Some(scratch.read());
        limit *= 2;
    }
}
