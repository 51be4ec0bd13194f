//! Searches by several sites, each of which is a thread of the test with its own workers.

mod hostile;
mod leaving;
#[allow(dead_code)]
mod network;
#[path = "../../../runtime/tests/shared.rs"]
mod shared;

use network::clusters;
use oorandom::Rand64;
use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::steal::{PRESETS, Policy};
use pleach_gpu::{DeviceSet, spec::Spec};
use pleach_problems::flowshop::{Flowshop, named::named};
use pleach_problems::queens::{Queens, first::FirstQueens};
use pleach_problems::simd::Level;
use pleach_runtime::{
    Outcome, ProgressSnapshot, RunError, Settings, Stop, WorkerPool, by_layers, run,
};
use shared::{Scratch, counted, problem};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Runs a search on several sites, each with its own settings. Returns the outcome of each.
fn each(problem: &dyn Problem, settings: &[Settings]) -> Vec<Result<Outcome, RunError>> {
    watched(problem, settings, &|_| ())
}

/// The same, with a watcher of the root's progress.
fn watched(
    problem: &dyn Problem,
    settings: &[Settings],
    see: &(dyn Fn(&ProgressSnapshot) + Sync),
) -> Vec<Result<Outcome, RunError>> {
    let clusters = clusters(settings.len() as u32);
    let site = |at: usize| {
        let (cluster, pool) = (&clusters[at], WorkerPool::default());
        let settings =
            Settings { processes: Some(Arc::clone(cluster) as _), ..settings[at].clone() };
        if at > 0 {
            cluster.next_order(|| true).unwrap();
        }
        let watch = &mut |snapshot: &ProgressSnapshot| {
            if at == 0 {
                see(snapshot);
            }
            ControlFlow::Continue(())
        };
        let after_layers = by_layers(problem, &settings, watch)?;
        let outcome = pool.run(problem, after_layers.as_ref().unwrap_or(&settings), watch);
        if outcome.is_ok() {
            cluster.end();
        }
        outcome
    };
    thread::scope(|scope| {
        let sites: Vec<_> = (0..settings.len()).map(|at| scope.spawn(move || site(at))).collect();
        sites.into_iter().map(|site| site.join().unwrap()).collect()
    })
}

/// The root's outcome of a search on this many sites.
fn together(problem: &dyn Problem, sites: usize, settings: &Settings) -> Outcome {
    each(problem, &vec![settings.clone(); sites]).remove(0).unwrap()
}

fn settings(threads: u32) -> Settings {
    Settings { threads, ..Settings::default() }
}

#[test]
fn all_sites_together_count_exactly() {
    let queens = Queens::new(12, Level::best()).unwrap();
    for sites in 1..6 {
        for threads in [1, 3] {
            let outcome = together(&queens, sites, &settings(threads));
            assert_eq!((outcome.counts.total, outcome.stop), (14_200, None), "{sites} x {threads}");
            assert_eq!(outcome.sites.len(), sites);
            assert_eq!(outcome.workers.len(), sites * threads as usize);
            let counted: u64 = outcome.workers.iter().map(|worker| worker.counts.branched).sum();
            assert_eq!(counted, outcome.counts.branched, "{sites} x {threads}");
        }
    }
}

#[test]
fn every_problem_and_preset_counts_the_same_on_sites() {
    for which in 0..7 {
        let (wanted, (problem, best)) = (counted(which), problem(which, Level::best()));
        for (nth, preset) in PRESETS.iter().enumerate() {
            let more = match preset.0 {
                "weighted" => ":weights=1/2/3",
                "overlay" if which % 2 == 0 => ":bridges=random,end=requests",
                _ => "",
            };
            let policy = Policy::parse(&format!("{}{more}", preset.0)).unwrap();
            let settings = Settings { policy, best, seed: nth as u64, ..settings(2) };
            let outcome = together(&*problem, 3, &settings);
            assert_eq!(
                (outcome.counts, outcome.stop),
                (wanted.clone(), None),
                "{which} {}",
                preset.0
            );
        }
    }
}

/// Between processes, leases decide when the search is over, and a warning says so.
#[test]
fn leases_end_a_search_whatever_the_policy_says() {
    let queens = Queens::new(10, Level::best()).unwrap();
    for (end, lines) in [("", 0), (":end=requests", 1), (":end=waves", 1), (":end=counter", 1)] {
        let policy = Policy::parse(&format!("overlay{end}")).unwrap();
        let warnings = Mutex::new(Vec::new());
        let see = |snapshot: &ProgressSnapshot| {
            warnings.lock().unwrap().extend(snapshot.warning.clone());
        };
        let outcomes = watched(&queens, &vec![Settings { policy, ..settings(2) }; 3], &see);
        let outcome = outcomes[0].as_ref().unwrap();
        assert_eq!((outcome.counts.total, outcome.stop), (724, None), "{end}");
        let warnings = warnings.into_inner().unwrap();
        assert_eq!(warnings.len(), lines, "{end}: {warnings:?}");
        assert!(warnings.iter().all(|line| line.contains("leases decide")), "{warnings:?}");
    }
}

/// The cheapest way over a grid, right or down.
struct Grid {
    costs: Vec<Vec<i64>>,
}

impl Grid {
    fn new(n: usize) -> Self {
        let mut rng = Rand64::new(5);
        let mut row = |_| (0..n).map(|_| rng.rand_range(1..100) as i64).collect();
        Self { costs: (0..n).map(&mut row).collect() }
    }

    fn least(&self) -> i64 {
        let mut best = vec![i64::MAX; self.costs.len()];
        for row in &self.costs {
            let mut left = if best[0] == i64::MAX { 0 } else { i64::MAX };
            for (best, cost) in best.iter_mut().zip(row) {
                left = left.min(*best) + cost;
                *best = left;
            }
        }
        best.pop().unwrap()
    }
}

impl Tree for Grid {
    type Node = (u8, u8, i64);
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Self::Node {
        (0, 0, self.costs[0][0])
    }

    fn expand(&self, &(x, y, cost): &Self::Node, _: Option<i64>, out: &mut Children<'_, Self>) {
        let n = self.costs.len() as u8;
        if (x, y) == (n - 1, n - 1) {
            return out.solution(cost, || vec![cost]);
        }
        for (x, y) in [(x + 1, y), (x, y + 1)].into_iter().filter(|&(x, y)| x.max(y) < n) {
            let cost = cost + self.costs[usize::from(y)][usize::from(x)];
            out.child_within(cost, (x, y, cost));
        }
    }

    fn key(&self, &(x, y, _): &Self::Node) -> Option<u128> {
        Some(u128::from(x) << 8 | u128::from(y))
    }

    fn dominates(&self, one: &Self::Node, other: &Self::Node) -> bool {
        one.2 <= other.2
    }
}

/// The root alone searches by layers, from where they stopped; in depth, this would not end.
#[test]
fn layers_of_several_sites_count_those_of_one() {
    let grid = Plain(Grid::new(100));
    let least = grid.0.least();
    let by_layers = Settings { layers: Some(true), ..settings(2) };
    let alone = together(&grid, 1, &by_layers);
    let outcome = together(&grid, 3, &by_layers);
    assert_eq!((outcome.counts, outcome.stop), (alone.counts.clone(), None));
    assert_eq!(outcome.solution.map(|found| found.score), Some(least));
    assert_eq!(outcome.sites.len(), 3);
    let scratch = Scratch::new("layers");
    let (mut resume, mut stops) = (None, 0);
    let bounded = loop {
        let save = Some(scratch.save(Duration::from_secs(100)));
        let node_limit = Some(alone.counts.bounded / 3);
        let settings = Settings { node_limit, save, resume, ..by_layers.clone() };
        let outcome = together(&grid, 1 + stops % 3, &settings);
        if outcome.stop.is_none() {
            assert_eq!(outcome.solution.map(|found| found.score), Some(least));
            break outcome.counts.bounded;
        }
        (resume, stops) = (Some(scratch.read()), stops + 1);
        assert!(stops < 20, "no progress");
    };
    assert!(stops > 1 && bounded < 2 * alone.counts.bounded, "{bounded} after {stops} stops");
}

/// Searches stopped repeatedly by a node limit, and resumed by another number of sites.
#[test]
fn sites_stop_at_a_limit_and_others_resume() {
    for which in 0..7 {
        let wanted = counted(which);
        let rng = &mut Rand64::new(u128::from(which));
        let scratch = Scratch::new(&format!("sites-{which}"));
        let mut resume = None;
        for stops in 0.. {
            let (problem, best) = problem(which, Level::best());
            let settings = Settings {
                node_limit: Some(1 + rng.rand_range(0..wanted.bounded)),
                save: Some(scratch.save(Duration::from_secs(100))),
                resume,
                best,
                ..settings(1 + rng.rand_range(0..3) as u32)
            };
            let outcome = match rng.rand_range(0..4) as usize {
                0 => run(&*problem, &settings, &mut |_| ControlFlow::Continue(())).unwrap(),
                sites => together(&*problem, sites + 1, &settings),
            };
            if outcome.stop.is_none() {
                assert_eq!(outcome.counts, wanted, "{which} after {stops} stops");
                break;
            }
            assert_eq!(outcome.stop, Some(Stop::Nodes));
            let saved = scratch.read();
            assert_eq!(saved.counted().unwrap(), outcome.counts);
            resume = Some(saved);
        }
    }
}

#[test]
fn a_search_for_one_solution_ends_with_it_on_all_sites() {
    let problem = Plain(FirstQueens::new(24).unwrap());
    for seed in 0..5 {
        let outcome = together(&problem, 3, &Settings { seed, ..settings(2) });
        assert_eq!(outcome.stop, Some(Stop::Found));
        assert!(outcome.solution.is_some());
    }
}

#[test]
fn the_optimum_is_found_and_proven_with_a_schedule() {
    let flowshop = Flowshop::new(named("ta001").unwrap(), Level::best());
    for sites in [2, 4] {
        let outcome = together(&flowshop, sites, &settings(2));
        let best = outcome.solution.unwrap();
        assert_eq!((best.score, outcome.lower_bound, outcome.stop), (1278, 1278, None));
        assert_eq!(Problem::check(&flowshop, &best.solution), Some(Ok(1278)));
    }
}

#[test]
fn a_time_limit_gathers_what_was_done() {
    let queens = Queens::new(19, Level::best()).unwrap();
    let scratch = Scratch::new("sites-time");
    let limited = Settings {
        time_limit: Some(Duration::from_secs(1)),
        save: Some(scratch.save(Duration::from_millis(20))),
        ..settings(2)
    };
    let outcome = together(&queens, 3, &limited);
    assert_eq!(outcome.stop, Some(Stop::Time));
    assert!(outcome.open > 0.0 && outcome.counts.bounded > 0);
    let counted: u64 = outcome.workers.iter().map(|worker| worker.counts.bounded).sum();
    assert_eq!(counted, outcome.counts.bounded);
    assert_eq!(scratch.read().counted().unwrap(), outcome.counts);
}

#[test]
fn the_root_estimates_how_much_all_have_done() {
    let queens = Queens::new(12, Level::Off).unwrap();
    let progress_every = Duration::from_millis(5);
    let slow = Settings { progress_every, pace: Some(100_000), ..settings(1) };
    let (shares, sites) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let see = |snapshot: &ProgressSnapshot| {
        shares.lock().unwrap().extend(snapshot.done);
        sites.lock().unwrap().clone_from(&snapshot.each_site);
    };
    let outcomes = watched(&queens, &[slow.clone(), slow], &see);
    assert_eq!(outcomes[0].as_ref().unwrap().counts.total, 14_200);
    let shares = shares.into_inner().unwrap();
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    assert!(shares.iter().any(|share| (0.1..0.9).contains(share)), "{shares:?}");
    let sites = sites.into_inner().unwrap();
    assert!(sites.iter().map(|site| &*site.name).eq(["site0", "site1"]), "{sites:?}");
    assert!(sites.iter().all(|site| site.nodes > 0 && site.end.is_none()), "{sites:?}");
}

/// The workers of one site are devices, those of the other are threads.
#[test]
fn devices_of_a_site_take_part() {
    let queens = Queens::new(12, Level::best()).unwrap();
    let device = Settings {
        threads: 1,
        devices: DeviceSet::shared(vec![Spec::parse("emulated:explorers=64").unwrap()]),
        ..Settings::default()
    };
    let outcomes = each(&queens, &[settings(1), device]);
    let outcome = outcomes[0].as_ref().unwrap();
    assert_eq!(outcome.counts.total, 14_200);
    let names: Vec<&str> = outcome.workers.iter().map(|worker| &*worker.name).collect();
    assert_eq!(names, ["site0/cpu0", "site1/cpu0", "site1/emulated0"]);
}

/// A tree whose bound is wrong at one deep node.
struct Wrong;

impl Tree for Wrong {
    type Node = u32;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> u32 {
        1
    }

    fn expand(&self, &node: &u32, _: Option<i64>, out: &mut Children<'_, Self>) {
        if node >= 1 << 18 {
            let value = if node == (1 << 18) + 77_777 { 1 } else { 50 };
            return out.solution(value, || vec![value]);
        }
        for child in [2 * node, 2 * node + 1] {
            out.child_within(10, child);
        }
    }
}

#[test]
fn a_failure_on_one_site_ends_the_search_with_its_reason() {
    let problem = Plain(Wrong);
    for sites in [2, 4] {
        let outcomes = each(&problem, &vec![settings(1); sites]);
        let Err(why) = &outcomes[0] else { panic!("the root did not notice") };
        assert!(why.to_string().contains("bound"), "{why}");
    }
}
