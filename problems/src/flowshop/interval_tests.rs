//! Tests intervals of flowshops: every cut of every small tree, and the laws, on every code path.

use super::Flowshop;
use super::bound::Bound;
use super::branching::Branching;
use super::child_order::ChildOrder;
use super::instance::{Instance, solution_of};
use super::named::{best_known, named};
use crate::simd::Level;
use oorandom::Rand64;
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::laws::{
    explore_whole, explorer_law, full_explorer, hostile_law, run_to_end,
};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::interval::point;
use pleach_core::search::work::{Interval, Intervals, Nodes};

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.works())
}

/// All bounds except `auto`, with all branching rules and orders of children.
fn rules() -> impl Iterator<Item = (Branching, Bound, ChildOrder)> {
    let bounds = [Bound::One, Bound::OneTight, Bound::Two, Bound::TwoAdjacent];
    let rules = Branching::ALL.into_iter().flat_map(move |rule| bounds.map(|bound| (rule, bound)));
    rules.flat_map(|(rule, bound)| ChildOrder::ALL.map(|order| (rule, bound, order)))
}

/// The counts of several intervals, explored one after the other by the same explorer.
fn count(explorer: &mut dyn Explorer, n: usize, best: i64, (begin, end): (u128, u128)) -> Counts {
    let interval = Interval { begin: point(n, begin), end: point(n, end), bound: i64::MIN };
    explorer.add_work(&Intervals::one(n, interval).to_work().bytes).unwrap();
    let progress = run_to_end(explorer, best);
    assert_eq!(progress.found, None);
    progress.counts
}

fn sum(counts: &[Counts]) -> Counts {
    let mut sum = Counts::default();
    counts.iter().for_each(|counts| sum.add(counts));
    sum
}

/// Tries every cut of a tree, and optionally every pair of cuts.
fn check_cuts(flowshop: &Flowshop, best: i64, pairs: bool) {
    let n = flowshop.instance().jobs();
    let mut pool = flowshop.clone();
    pool.nodes = Nodes::Pool;
    let wanted = explore_whole(&pool, best).counts;
    let explorer = &mut *flowshop.explorer();
    let leaves: u128 = (1..=n as u128).product();
    let mut of = |begin, end| count(explorer, n, best, (begin, end));
    let what = || {
        let Flowshop { bound, branching, order, level, reference, .. } = flowshop;
        let instance = flowshop.instance();
        format!("{bound} {branching} {order} {level} {reference} {best} {instance:?}")
    };
    assert_eq!(of(0, leaves), wanted, "{}", what());
    let front: Vec<Counts> = (1..leaves).map(|cut| of(0, cut)).collect();
    let back: Vec<Counts> = (1..leaves).map(|cut| of(cut, leaves)).collect();
    for (cut, (front, back)) in (1..).zip(front.iter().zip(&back)) {
        assert_eq!(sum(&[front.clone(), back.clone()]), wanted, "cut at {cut}: {}", what());
    }
    if pairs {
        for (from, front) in (1..).zip(&front) {
            for (to, back) in (1..leaves).zip(&back).skip(from as usize) {
                let all = [front.clone(), of(from, to), back.clone()];
                assert_eq!(sum(&all), wanted, "cuts at {from} and {to}: {}", what());
            }
        }
    }
}

#[test]
fn every_cut_of_every_small_tree_loses_nothing() {
    let mut rng = Rand64::new(21);
    let mut below = |n: u64| rng.rand_range(0..n);
    for n in 1..=6 {
        for case in 0..[0, 2, 4, 6, 6, 4, 1][n as usize] {
            let machines = 1 + below(4);
            // Few distinct times make many ties.
            let spread = [3, 2, 10][case as usize % 3];
            let times = (0..n * machines).map(|_| below(spread) as u32).collect();
            let instance = Instance::new(machines as usize, times).unwrap();
            let optimum = explore_whole(&Flowshop::new(instance.clone(), Level::Off), i64::MAX);
            let optimum = optimum.found.unwrap().score;
            for (branching, bound, order) in rules() {
                // From pruning everything to pruning nothing.
                for best in [0, optimum, optimum + 1, optimum + 2, i64::MAX] {
                    for level in levels() {
                        // Larger trees are rarer.
                        if below([1, 1, 1, 1, 2, 4, 12][n as usize]) > 0 {
                            continue;
                        }
                        let mut flowshop = Flowshop::new(instance.clone(), level);
                        (flowshop.bound, flowshop.branching) = (bound, branching);
                        flowshop.order = order;
                        (flowshop.nodes, flowshop.all) = (Nodes::Interval, true);
                        flowshop.reference = optimum + below(3) as i64;
                        let pairs = n <= 4 || n == 5 && below(16) == 0;
                        check_cuts(&flowshop, best, pairs);
                    }
                }
            }
        }
    }
}

fn with_intervals(name: &str, bound: Bound, branching: Branching, level: Level) -> Flowshop {
    let mut flowshop = Flowshop::new(named(name).unwrap(), level);
    (flowshop.bound, flowshop.branching) = (bound, branching);
    flowshop.reference = best_known(name).unwrap().0;
    flowshop.nodes = Nodes::Interval;
    flowshop
}

#[test]
fn intervals_explore_the_trees_published() {
    let flowshop = with_intervals("ta030", Bound::One, Branching::MinBranch, Level::best());
    let whole = explore_whole(&flowshop, 2178);
    assert_eq!(whole.found, None);
    assert_eq!((whole.counts.branched, whole.counts.bounded), (2_415_779, 45_246_962));
    let by_job = Flowshop { order: ChildOrder::Job, ..flowshop };
    assert_eq!(explore_whole(&by_job, 2178), whole);
    let flowshop = with_intervals("ta003", Bound::Two, Branching::Forward, Level::best());
    assert_eq!(explore_whole(&flowshop, flowshop.reference).counts.branched, 80_063);
}

/// What a stop leaves open is the same tree, wherever it comes.
#[test]
fn stops_neither_lose_nor_repeat_work() {
    for level in levels() {
        for rule in [Branching::MinBranch, Branching::Forward] {
            let flowshop = with_intervals("VFR10_10_2", Bound::Two, rule, level);
            let best = flowshop.reference;
            let wanted = explore_whole(&flowshop, best).counts;
            for fuel in [1, 100, 1000] {
                let mut all = Progress::default();
                let mut work = Problem::root(&flowshop).bytes;
                let mut explorer = flowshop.explorer();
                while {
                    explorer.add_work(&work).unwrap();
                    explorer.size() > 0.0
                } {
                    all.add(explorer.run(fuel, best));
                    Problem::set_stop_requested(&flowshop, true);
                    all.add(explorer.run(fuel, best));
                    work = explorer.drain().bytes;
                    Problem::set_stop_requested(&flowshop, false);
                }
                assert_eq!(all.counts, wanted, "{level} {rule} {fuel}");
            }
        }
    }
}

/// By job, the number of a leaf does not depend on times: its digits are the places of the jobs among those left.
#[test]
fn leaves_by_job_are_factoradics() {
    let mut rng = Rand64::new(31);
    for _ in 0..50 {
        let times = (0..6 * 3).map(|_| rng.rand_range(0..9) as u32).collect();
        let mut flowshop = Flowshop::new(Instance::new(3, times).unwrap(), Level::best());
        (flowshop.branching, flowshop.order) = (Branching::Forward, ChildOrder::Job);
        flowshop.nodes = Nodes::Interval;
        let leaf = rng.rand_range(0..720).into();
        let (begin, end) = (point(6, leaf), point(6, leaf + 1));
        let mut left: Vec<u16> = (0..6).collect();
        let digits = begin.iter().copied().chain(std::iter::repeat(0));
        let order: Vec<u16> = digits.take(6).map(|digit| left.remove(digit.into())).collect();
        let interval = Interval { begin, end, bound: i64::MIN };
        let mut explorer = flowshop.explorer();
        explorer.add_work(&Intervals::one(6, interval).to_work().bytes).unwrap();
        let found = run_to_end(&mut *explorer, i64::MAX).found.unwrap();
        assert_eq!(found.solution, solution_of(&order));
    }
}

#[test]
fn optima_are_found_from_nothing() {
    let mut rng = Rand64::new(22);
    for _ in 0..100 {
        let (jobs, machines) = (1 + rng.rand_range(0..7), 1 + rng.rand_range(0..5));
        let times = (0..jobs * machines).map(|_| rng.rand_range(0..20) as u32).collect();
        let instance = Instance::new(machines as usize, times).unwrap();
        for bound in Bound::ALL {
            let mut flowshop = Flowshop::new(instance.clone(), Level::best());
            flowshop.bound = bound;
            let wanted = explore_whole(&flowshop, i64::MAX).found.unwrap().score;
            flowshop.nodes = Nodes::Interval;
            assert_eq!(explore_whole(&flowshop, i64::MAX).found.unwrap().score, wanted);
        }
    }
}

#[test]
fn the_laws_hold_on_every_path() {
    let mut rng = Rand64::new(23);
    for case in 0..12 {
        let (jobs, machines) = (9 + rng.rand_range(0..4), 5 + rng.rand_range(0..4));
        let times = (0..jobs * machines).map(|_| 1 + rng.rand_range(0..99) as u32).collect();
        let instance = Instance::new(machines as usize, times).unwrap();
        let best = explore_whole(&Flowshop::new(instance.clone(), Level::best()), i64::MAX);
        let best = best.found.unwrap().score;
        let rules = [
            (Branching::Forward, Bound::One),
            (Branching::MinBranch, Bound::One),
            (Branching::MinMin, Bound::OneTight),
            (Branching::Alternate, Bound::Two),
            (Branching::MaxSum, Bound::Two),
        ];
        for (branching, bound) in rules {
            let with = |level| {
                let mut flowshop = Flowshop::new(instance.clone(), level);
                flowshop.order = ChildOrder::ALL[case as usize % 2];
                (flowshop.branching, flowshop.bound) = (branching, bound);
                (flowshop.reference, flowshop.nodes) = (best, Nodes::Interval);
                flowshop
            };
            let flowshops: Vec<Flowshop> = levels().map(with).collect();
            let mut pool = flowshops[0].clone();
            pool.nodes = Nodes::Pool;
            let whole = explore_whole(&pool, best);
            let make = |i: usize| flowshops[i % flowshops.len()].explorer();
            for seed in 0..6 {
                let root = Problem::root(&flowshops[0]);
                explorer_law(&make, &root, best, &whole, seed + 100 * case);
            }
        }
    }
}

#[test]
fn hostile_intervals_are_refused() {
    let flowshop = with_intervals("ta002", Bound::One, Branching::MinBranch, Level::best());
    let flowshop: &'static _ = Box::leak(Box::new(flowshop));
    let mut explorer = full_explorer(flowshop);
    explorer.run(3000, i64::MAX);
    let given = explorer.split(0.3).unwrap();
    assert!(given.bytes.len() <= 64 && given.least_bound > 0, "{given:?}");
    explorer.run(100, i64::MAX);
    let good = explorer.drain();
    hostile_law(&|| flowshop.explorer(), &good.bytes, 2000, 1);
    explorer.add_work(&good.bytes).unwrap();
    assert!(explorer.add_work(&good.bytes).is_err(), "the same work twice");
}

#[test]
fn a_copy_disturbs_nothing() {
    let flowshop = with_intervals("ta030", Bound::One, Branching::MinBranch, Level::best());
    let explorer = &mut *full_explorer(&flowshop);
    let mut counts = Counts::default();
    for _ in 0..50 {
        counts.add(&explorer.run(20_000, 2178).counts);
        let copy = explorer.copy();
        assert_eq!(explorer.copy(), copy);
        let mut other = flowshop.explorer();
        other.add_work(&copy.bytes).unwrap();
        let [here, there] = [&*explorer, &*other].map(|explorer| explorer.least_bound());
        assert_eq!(here, there);
        let ahead = other.run(20_000, 2178).counts;
        assert!(ahead.branched > 0 || other.size() == 0.0);
    }
    counts.add(&run_to_end(explorer, 2178).counts);
    assert_eq!(counts.branched, 2_415_779);
}

#[test]
fn shares_fall_to_nothing_as_the_tree_is_explored() {
    let flowshop = with_intervals("ta030", Bound::One, Branching::MinBranch, Level::best());
    let explorer = &mut *full_explorer(&flowshop);
    let mut before = 1.0;
    assert_eq!(explorer.open_share(), Some(1.0));
    while explorer.size() > 0.0 {
        let open = explorer.open_share().unwrap();
        assert!(open <= before + 1e-5, "{open} after {before}");
        before = open;
        explorer.run(100_000, 2178);
        // After draining and resuming, work has the same share.
        let open = explorer.open_share().unwrap();
        let all = explorer.drain();
        explorer.add_work(&all.bytes).unwrap();
        explorer.run(1, 2178);
        assert!((explorer.open_share().unwrap() - open).abs() < 1e-3);
    }
    assert_eq!(explorer.open_share(), Some(0.0));
}

/// A search that stops anywhere, hands over all its work and is continued by another explorer.
#[test]
fn every_place_to_stop_is_found_again() {
    let mut rng = Rand64::new(24);
    for case in 0..20 {
        let (n, machines) = (4 + rng.rand_range(0..3), 1 + rng.rand_range(0..4));
        let spread = [3, 10, 99][case % 3];
        let times = (0..n * machines).map(|_| rng.rand_range(0..spread) as u32).collect();
        let instance = Instance::new(machines as usize, times).unwrap();
        let optimum = explore_whole(&Flowshop::new(instance.clone(), Level::Off), i64::MAX);
        let best = optimum.found.unwrap().score + rng.rand_range(0..3) as i64;
        for (branching, bound, order) in rules() {
            for level in levels() {
                let mut flowshop = Flowshop::new(instance.clone(), level);
                (flowshop.bound, flowshop.branching) = (bound, branching);
                flowshop.order = order;
                (flowshop.nodes, flowshop.all) = (Nodes::Interval, true);
                let wanted = explore_whole(&flowshop, best).counts;
                let explorer = &mut *full_explorer(&flowshop);
                let mut counts = Counts::default();
                while explorer.size() > 0.0 {
                    counts.add(&explorer.run(1, best).counts);
                    let all = explorer.copy();
                    let mut other = flowshop.explorer();
                    other.add_work(&all.bytes).unwrap();
                    let rest = run_to_end(&mut *other, best).counts;
                    let what = format!("{bound} {branching} {order} {level}, {best}: {instance:?}");
                    assert_eq!(sum(&[counts.clone(), rest]), wanted, "{what}");
                }
            }
        }
    }
}
