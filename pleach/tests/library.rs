//! The library alone does what the commands do, with the same results.

use crate::cluster::proxy::Proxy;
use crate::outside::{example, folder, fresh, json};
use pleach::flowshop::{self, Bound, Branching};
use pleach::{Best, Cancel, Checkpoint, Error, Pause, RunError, Search, Settings, Solver, Status};
use pleach::{Children, Goal, Tree, atsp, knapsack, qap, queens, shop, uts};
use pleach::{Processes, SharedReport, Stop};
use std::cell::Cell;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn threads(threads: u32) -> Search<'static> {
    let settings = Settings { threads, ..Settings::default() };
    Search { settings, ..Search::default() }
}

fn limited(nodes: u64, path: &PathBuf) -> Search<'static> {
    let mut search = threads(2);
    search.settings.node_limit = Some(nodes);
    search.checkpoint = Some(Checkpoint::new(path));
    search
}

#[test]
fn flowshops_are_solved_as_by_the_command() {
    let instance = flowshop::named("ta030").unwrap();
    let options = flowshop::Options {
        best: Best::Reach(2178),
        bound: Some(Bound::One),
        branching: Some(Branching::MinBranch),
        search: threads(2),
        ..flowshop::Options::default()
    };
    let answer = flowshop::solve(&instance, options).unwrap();
    let command = json("solve flowshop ta030 --best optimum --bound one --branching min-branch");
    assert_eq!(command["nodes"]["branched"], answer.nodes.branched);
    assert_eq!(command["lower_bound"], answer.bound.unwrap());
    let instance = flowshop::named("VFR10_5_1").unwrap();
    let options = flowshop::Options { all: true, ..flowshop::Options::default() };
    let answer = flowshop::solve(&instance, options).unwrap();
    let command = json("solve flowshop VFR10_5_1 --all");
    assert_eq!(answer.status, Status::Optimal);
    assert_eq!((command["objective"].as_i64(), answer.gap), (answer.makespan, Some(0.0)));
    assert_eq!(command["count"].as_u64().map(u128::from), answer.optima);
    let order = answer.schedule.unwrap();
    assert_eq!(Some(i64::from(instance.makespan(&order))), answer.makespan);
}

#[test]
fn tours_are_found_as_by_the_command() {
    let instance = atsp::named("ftv33").unwrap().unwrap();
    let answer = atsp::solve(&instance, atsp::Options::default()).unwrap();
    let command = json("solve atsp ftv33");
    assert_eq!(command["objective"].as_i64(), answer.length);
    assert_eq!(command["settings"]["bound"], answer.chosen.to_string());
    assert_eq!(Some(instance.length(&answer.tour.unwrap())), answer.length);
    let options = atsp::Options { best: Best::Neh, ..atsp::Options::default() };
    assert!(matches!(atsp::solve(&instance, options), Err(Error::Input(_))));
}

/// The heuristics used to panic at a job, city or location that does not exist.
#[test]
fn starts_that_are_no_solutions_are_refused() {
    let start = || Some(vec![0, 1, 9]);
    let instance = flowshop::Instance::new(2, vec![3, 6, 5, 2, 1, 2]).unwrap();
    let options = flowshop::Options { start: start(), ..flowshop::Options::default() };
    let jobs = flowshop::solve(&instance, options).unwrap_err();
    let shop = flowshop::Shop::new(instance);
    let variant = shop::Variant::new(shop, shop::Objective::FlowTime, shop::Passing::Wait).unwrap();
    let options = shop::Options { start: start(), ..shop::Options::default() };
    let variants = shop::solve(&variant, options).unwrap_err();
    let cities = atsp::Instance::new(3, vec![0, 1, 9, 9, 0, 1, 1, 9, 0]).unwrap();
    let options = atsp::Options { start: start(), ..atsp::Options::default() };
    let tours = atsp::solve(&cities, options).unwrap_err();
    let matrix = [0, 5, 1, 5, 0, 0, 1, 0, 0];
    let places = qap::Instance::new((3, &matrix), (3, &matrix)).unwrap();
    let options = qap::Options { start: start(), ..qap::Options::default() };
    let places = qap::solve(&places, options).unwrap_err();
    for why in [jobs, variants, tours, places] {
        assert!(matches!(why, Error::Run(RunError::Start(_))), "{why}");
        assert!(why.to_string().contains(" 10, expected 1 to 3"), "{why}");
    }
}

#[test]
fn counts_are_those_of_the_command() {
    let counted = queens::count(11, threads(2)).unwrap();
    let command = json("count queens 11");
    assert_eq!(command["count"].as_u64().map(u128::from), Some(counted.ways));
    assert_eq!(command["nodes"]["bounded"], counted.nodes.bounded);
    let whole = queens::count_whole(11, threads(2)).unwrap();
    assert_eq!((whole.ways, whole.nodes), (counted.ways, counted.nodes));
    let found = queens::first(8, threads(1)).unwrap();
    assert_eq!(found.status, Status::Found);
    let columns: Vec<i64> =
        serde_json::from_value(json("solve queens 8")["solution"].clone()).unwrap();
    assert_eq!(found.columns.map(|columns| columns.len()), Some(columns.len()));
    let tree = uts::Parameters::parse("T3").unwrap();
    assert_eq!(uts::count(&tree, threads(2)).unwrap().nodes, 4_112_897);
    let endless = uts::Parameters::parse("type=binomial,q=0.5,m=2").unwrap();
    assert!(matches!(uts::count(&endless, threads(1)), Err(Error::Input(_))));
}

#[test]
fn knapsacks_are_filled_as_by_the_command() {
    let file = folder("library").join("items.txt");
    fs::write(&file, "4 10\n6 4\n5 3\n8 6\n3 2\n").unwrap();
    let items = [[6, 4], [5, 3], [8, 6], [3, 2]];
    let problem = knapsack::Knapsack::new(10, &items).unwrap();
    let answer = knapsack::solve(&problem, None, threads(1)).unwrap();
    let command = json(&format!("solve knapsack {}", file.display()));
    assert_eq!(command["objective"].as_i64(), answer.value);
    let better = knapsack::solve(&problem, Some(14), threads(1)).unwrap();
    assert_eq!((better.status, better.bound, better.value), (Status::NoBetter, Some(14), None));
}

#[test]
fn a_search_is_watched_and_cancelled() {
    let (mut looks, cancel) = (0, Cancel::default());
    let mut search = threads(2);
    search.settings.cancel = cancel.clone();
    search.progress = Some(Box::new(|_| {
        looks += 1;
        cancel.cancel();
        ControlFlow::Continue(())
    }));
    let counted = queens::count(18, search).unwrap();
    assert_eq!((counted.status, looks > 0), (Status::Stopped, true));
    // A search of hours, which another thread stops.
    let cancel = Cancel::default();
    let other = cancel.clone();
    let stops = std::thread::spawn(move || other.cancel());
    let report = Solver::new(Strings(60)).threads(2).cancel(&cancel).run().unwrap();
    stops.join().unwrap();
    assert_eq!(report.status, Status::Stopped);
    // A search cancelled before it begins stops at its first check.
    let instance = flowshop::named("ta056").unwrap();
    let search = threads(1);
    search.settings.cancel.cancel();
    let options = flowshop::Options { search, ..flowshop::Options::default() };
    assert_eq!(flowshop::solve(&instance, options).unwrap().status, Status::Stopped);
}

/// A callback that breaks while a shop is searched by layers ends the search, not only the layers.
#[test]
fn a_break_in_layers_ends_the_search() {
    let shop = shop::Shop::new(flowshop::named("ta011").unwrap());
    let variant = shop::Variant::new(shop, shop::Objective::FlowTime, shop::Passing::Wait).unwrap();
    let mut search = threads(2);
    search.progress = Some(Box::new(|snapshot| match snapshot.counts.bounded {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    }));
    let options = shop::Options { search, ..shop::Options::default() };
    let answer = shop::solve(&variant, options).unwrap();
    assert_eq!(answer.status, Status::Stopped);
    assert_eq!(answer.report.stopped_by(), Some("cancelled"));
}

/// Both used to begin at 0 again.
#[test]
fn nodes_and_seconds_of_a_second_search_continue_those_of_the_first() {
    let instance = flowshop::named("VFR10_10_1").unwrap();
    let (best, bound, mut seen) = (Best::Neh, Some(Bound::One), Vec::new());
    let mut search = threads(1);
    search.settings.progress_every = Duration::ZERO;
    search.progress = Some(Box::new(|snapshot| {
        seen.push((snapshot.counts.bounded, snapshot.seconds));
        ControlFlow::Continue(())
    }));
    let options =
        flowshop::Options { best, bound, all: true, search, ..flowshop::Options::default() };
    let answer = flowshop::solve(&instance, options).unwrap();
    assert!(seen.is_sorted_by(|one, next| one.0 <= next.0 && one.1 <= next.1), "{seen:?}");
    assert!(seen.last().is_some_and(|last| last.0 <= answer.nodes.bounded), "{seen:?}");
}

/// A search that is held makes no node, can be stopped, and counts what it counts otherwise.
#[test]
fn a_search_is_held() {
    let held = || {
        let pause = Pause::default();
        pause.pause();
        pause
    };
    for layers in [false, true] {
        let (mut looks, pause) = (0, held());
        let report = Solver::new(Strings(20))
            .threads(2)
            .layers(layers)
            .pause(&pause)
            .on_progress(|snapshot| {
                looks += 1;
                assert!(looks > 4 || snapshot.counts.bounded == 0, "{snapshot:?}");
                if looks == 4 {
                    pause.resume();
                }
                ControlFlow::Continue(())
            })
            .run()
            .unwrap();
        assert_eq!((report.count, looks >= 4), (1 << 20, true), "{layers}");
    }
    // Held while it is prepared, and stopped.
    let instance = flowshop::named("ta056").unwrap();
    let mut search = threads(1);
    search.settings.pause = held();
    search.settings.time_limit = Some(Duration::from_millis(50));
    let options = flowshop::Options { search, ..flowshop::Options::default() };
    let stopped = flowshop::solve(&instance, options).unwrap();
    assert_eq!((stopped.status, stopped.report.outcome.counts.bounded), (Status::Stopped, 0));
}

/// The command ends without a result if it has to stop before a search begins. A schedule of a shop is always found.
#[test]
fn a_shop_whose_search_is_stopped_in_its_preparation_has_a_schedule() {
    use pleach::shop::{Objective, Passing};
    let instance = flowshop::named("ta031").unwrap();
    for (objective, passing) in
        [(Objective::Makespan, Passing::NoWait), (Objective::FlowTime, Passing::Wait)]
    {
        let begun = Cell::new(false);
        let mut search = threads(1);
        search.settings.cancel = Cancel::cancelled();
        search.begins = Some(Box::new(|| begun.set(true)));
        let shop = shop::Shop::new(instance.clone());
        let variant = shop::Variant::new(shop, objective, passing).unwrap();
        let options = shop::Options { search, ..shop::Options::default() };
        let stopped = shop::solve(&variant, options).unwrap();
        assert_eq!((stopped.status, begun.get()), (Status::Stopped, true), "{objective}");
        assert_eq!(stopped.schedule.map(|order| variant.value(&order)), stopped.value);
        assert!(stopped.value > stopped.bound && stopped.bound > Some(0), "{objective}");
    }
}

/// The checkpoint has all there is to lose until the search is resumed.
#[test]
fn a_resumed_search_begins_after_its_preparation() {
    let path = fresh("library", "tour.pleach");
    let instance = atsp::named("ftv64").unwrap().unwrap();
    let options = |search| atsp::Options { best: Best::Search, search, ..atsp::Options::default() };
    let stopped = atsp::solve(&instance, options(limited(100, &path))).unwrap();
    assert_eq!(stopped.status, Status::Stopped);
    let (resumed, begun) = (Cell::new(false), Cell::new(None));
    let mut search = limited(100, &path);
    search.resumed = Some(Box::new(|| resumed.set(true)));
    search.begins = Some(Box::new(|| begun.set(Some(resumed.get()))));
    atsp::solve(&instance, options(search)).unwrap();
    assert_eq!(begun.get(), Some(true));
}

#[test]
fn a_campaign_resumes_its_own_checkpoint_and_no_other() {
    let path = fresh("library", "campaign.pleach");
    let instance = flowshop::named("ta030").unwrap();
    let options = |search| flowshop::Options {
        best: Best::Reach(2178),
        search,
        ..flowshop::Options::default()
    };
    let stopped = flowshop::solve(&instance, options(limited(1_000_000, &path))).unwrap();
    assert_eq!(stopped.status, Status::Stopped);
    let before = fs::read(&path).unwrap();
    // Another value to beat, another instance, another problem.
    let other = flowshop::Options { best: Best::Neh, ..options(limited(1000, &path)) };
    let other_instance = flowshop::named("ta029").unwrap();
    for refused in [
        flowshop::solve(&instance, other).map(|_| ()),
        flowshop::solve(&other_instance, options(limited(1000, &path))).map(|_| ()),
        queens::count(9, limited(1000, &path)).map(|_| ()),
    ] {
        let why = refused.unwrap_err();
        assert!(matches!(why, Error::Run(RunError::Save { .. })), "{why}");
        assert!(why.to_string().contains("holds another search"), "{why}");
        assert_eq!(fs::read(&path).unwrap(), before, "the file is as it was");
    }
    let search = Search { checkpoint: Some(Checkpoint::new(&path)), ..threads(2) };
    let whole = flowshop::solve(&instance, options(search)).unwrap();
    assert_eq!(whole.nodes.branched, 2_415_779);
}

/// Strings of zeros and ones.
pub struct Strings(pub u32);

impl Tree for Strings {
    type Node = (u32, u32);
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        (self.0, 0)
    }

    fn expand(&self, &(n, length): &Self::Node, _: Option<i64>, out: &mut Children<'_, Self>) {
        if length == n {
            return out.count(1);
        }
        out.child((n, length + 1));
        out.child((n, length + 1));
    }
}

/// Strings of 16 zeros and ones, whose search does something before each node.
pub struct Watched<'a>(pub &'a (dyn Fn() + Sync));

impl Tree for Watched<'_> {
    type Node = u32;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &depth: &u32, _: Option<i64>, out: &mut Children<'_, Self>) {
        // The tree is sampled by another thread before the search, and nobody joins until that is done.
        if std::thread::current().name().is_some_and(|name| name.starts_with("pleach")) {
            (self.0)();
        }
        if depth == 16 {
            return out.count(1);
        }
        out.child(depth + 1);
        out.child(depth + 1);
    }
}

#[test]
fn processes_join_a_search_of_the_library() {
    let key = fresh("library", "join.key");
    let first = Processes::listen("127.0.0.1:0", &key).unwrap();
    let address = first.address().unwrap().to_string();
    let joined = AtomicBool::new(false);
    let wait = || {
        while !joined.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let search = |processes: &Processes| {
        Solver::new(Watched(&wait)).threads(1).run_across(processes).unwrap()
    };
    std::thread::scope(|scope| {
        let whole = scope.spawn(move || {
            let report = search(&first);
            // It waits for the others only once its result is ready.
            drop(first);
            report
        });
        let second = Processes::join(&*address, &key).unwrap();
        joined.store(true, Ordering::Relaxed);
        let part = search(&second);
        drop(second);
        let SharedReport::Whole(report) = whole.join().unwrap() else { panic!("no result") };
        assert_eq!((report.status, report.count), (Status::Counted, 1 << 16));
        match part {
            SharedReport::Part(part) => assert!(part.counts.total <= 1 << 16),
            SharedReport::Over => {}
            other => panic!("{other:?}"),
        }
    });
    let nowhere = Processes::join("127.0.0.1:1", folder("library").join("no.key")).unwrap_err();
    assert!(nowhere.to_string().contains("no.key"), "{nowhere}");
}

/// Tells a test when its fingerprint is computed: a joiner then knows of the search, and has not begun.
struct Begins<'a>(&'a AtomicBool, &'a (dyn Fn() + Sync));

impl Tree for Begins<'_> {
    type Node = u32;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, depth: &u32, _: Option<i64>, out: &mut Children<'_, Self>) {
        while !self.0.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        out.count(u64::from(*depth + 1));
    }

    fn fingerprint(&self) -> Option<u64> {
        (self.1)();
        Some(1)
    }
}

#[test]
fn a_joiner_that_memory_has_halted_leaves_without_its_root_when_cancelled() {
    let key = fresh("library", "lost.key");
    let first = Processes::listen("127.0.0.1:0", &key).unwrap();
    let proxy = Proxy::new(&first.address().unwrap().to_string());
    let joined = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let tree = Begins(joined, &|| {});
        let whole = scope.spawn(move || Solver::new(tree).threads(1).run_across(&first).unwrap());
        let second = Processes::join(&*proxy.address, &key).unwrap();
        let (cancel, mut memory) = (Cancel::default(), Vec::new());
        let lose = || proxy.close();
        let part = Solver::new(Begins(joined, &lose))
            .threads(1)
            .memory(1)
            .cancel(&cancel)
            .on_progress(|_| {
                memory.push(vec![1_u8; 4 << 20]);
                if memory.len() == 15 {
                    cancel.cancel();
                }
                ControlFlow::Continue(())
            })
            .run_across(&second)
            .unwrap();
        let SharedReport::Part(part) = part else { panic!("{part:?}") };
        assert_eq!(part.stop, Some(Stop::Asked));
        joined.store(true, Ordering::Relaxed);
        let SharedReport::Whole(report) = whole.join().unwrap() else { panic!("no result") };
        assert_eq!((report.status, report.count), (Status::Counted, 1));
    });
}

#[test]
fn improvements_come_with_their_solutions() {
    let mut seen: Vec<(i64, Vec<i64>)> = Vec::new();
    let report = Solver::new(Steps)
        .on_solution(|value, plan| seen.push((value, plan.to_vec())))
        .run()
        .unwrap();
    assert_eq!(seen.last().map(|last| last.0), report.objective);
    assert_eq!(seen.last().map(|last| last.1.clone()), report.solution);
    assert!(seen.windows(2).all(|pair| pair[1].0 < pair[0].0), "{seen:?}");
    assert!(seen.iter().all(|(value, plan)| plan == &[*value]), "{seen:?}");
}

/// Solutions of values 20 down to 3, each deeper than the one before.
struct Steps;

impl Tree for Steps {
    type Node = i64;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> i64 {
        20
    }

    fn expand(&self, &value: &i64, _: Option<i64>, out: &mut Children<'_, Self>) {
        out.solution(value, || vec![value]);
        if value > 3 {
            out.child(value - 1);
        }
    }
}

#[test]
fn the_examples_of_the_library_run() {
    let text = |name: &str, words: &[&str]| {
        let output = example(name, words);
        assert!(output.status.success(), "{name}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(text("device", &["emulated"]).ends_with("352 solutions\n"));
    assert!(!example("device", &["toaster"]).status.success());
    let tours = text("improvements", &[]);
    let mut lines: Vec<&str> = tours.lines().collect();
    let best = lines.pop().unwrap().strip_prefix("Optimal, Some(").unwrap();
    let found = lines.last().unwrap().split(':').next().unwrap();
    assert_eq!(best.strip_suffix(')').unwrap(), found);
    let key = fresh("library", "example.key");
    let alone = text("joined", &[key.to_str().unwrap()]);
    assert!(alone.starts_with("join 127.0.0.1:") && alone.ends_with("86293865 ways\n"), "{alone}");
}

/// A number is JSON, too: the search used to panic.
#[test]
fn a_description_may_be_any_text() {
    for about in ["", "twelve queens", "12", "[]"] {
        let mut search = threads(1);
        search.settings.about = about.into();
        assert_eq!(queens::count(6, search).unwrap().ways, 4, "{about}");
    }
}

/// An error has its cause as its source.
#[test]
fn errors_have_sources() {
    use std::error::Error as _;
    let nowhere = folder("library").join("no-such-folder/run.pleach");
    let missing = pleach::Solver::new(Steps).resume(nowhere).err().unwrap();
    let source = missing.source().unwrap().downcast_ref::<std::io::Error>().unwrap();
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
}
