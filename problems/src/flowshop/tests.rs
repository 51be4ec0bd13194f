//! Tests flowshops against published trees and brute force, on every code path.

use super::bound::Bound;
use super::branching::Branching;
use super::instance::{Instance, solution_of};
use super::named::{best_known, named};
use super::{Flowshop, Node};
use crate::simd::Level;
use oorandom::Rand64;
use pleach_core::search::depth_first::TreeExplorer;
use pleach_core::search::explorer::Progress;
use pleach_core::search::laws::{
    explore_whole, explorer_law, full_explorer, hostile_law, open_work_after, pack_law, run_to_end,
};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Tree;
use pleach_core::search::work::{Pool, Reader, Work};

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.works())
}

fn from_optimum(name: &str, branching: Branching, level: Level) -> Flowshop {
    let mut flowshop = Flowshop::new(named(name).unwrap(), level);
    flowshop.branching = branching;
    flowshop.reference = best_known(name).unwrap().0;
    flowshop
}

fn root(flowshop: &Flowshop) -> Work {
    Problem::root(flowshop)
}

/// The same search by the default explorer on the plain tree.
fn search_plainly(flowshop: &Flowshop, best: i64) -> Progress {
    let mut explorer = TreeExplorer::new(flowshop);
    explorer.put_pool(Pool::whole(Tree::root(flowshop)));
    run_to_end(&mut explorer, best)
}

/// All bounds with all branching rules.
fn rules() -> impl Iterator<Item = (Branching, Bound)> {
    Branching::ALL.into_iter().flat_map(|rule| Bound::ALL.into_iter().map(move |b| (rule, b)))
}

fn below(rng: &mut Rand64, n: u64) -> u64 {
    rng.rand_range(0..n)
}

/// Few jobs and machines, with times in very different ranges, including zeros and equal ones.
fn random(rng: &mut Rand64, jobs: u64, machines: u64) -> Instance {
    let spread = [2, 10, 100, 5000, 10_000_000][below(rng, 5) as usize];
    let times = (0..jobs * machines).map(|_| below(rng, spread) as u32).collect();
    Instance::new(machines as usize, times).unwrap()
}

fn shuffled(rng: &mut Rand64, jobs: usize) -> Vec<u16> {
    let mut order: Vec<u16> = (0..jobs as u16).collect();
    for i in (1..jobs).rev() {
        order.swap(i, below(rng, i as u64 + 1) as usize);
    }
    order
}

/// The least makespan of all completions of a node, by brute force, and how many completions attain it.
fn brute_force(instance: &Instance, node: &Node) -> (u32, u64) {
    fn go(instance: &Instance, node: &mut Node, best: &mut (u32, u64)) {
        let left = node.left(instance.jobs());
        if let [last] = left[..] {
            let makespan = instance.makespan(&node.schedule(last));
            match makespan.cmp(&best.0) {
                std::cmp::Ordering::Less => *best = (makespan, 1),
                std::cmp::Ordering::Equal => best.1 += 1,
                std::cmp::Ordering::Greater => {}
            }
            return;
        }
        for job in left {
            node.place(job, false);
            go(instance, node, best);
            node.take_back(false);
        }
    }
    let mut best = (u32::MAX, 0);
    go(instance, &mut node.clone(), &mut best);
    best
}

#[test]
fn min_branch_trees_are_those_published() {
    let flowshop = from_optimum("ta030", Branching::MinBranch, Level::best());
    let whole = explore_whole(&flowshop, 2178);
    assert_eq!(whole.found, None);
    assert_eq!((whole.counts.branched, whole.counts.bounded), (2_415_779, 45_246_962));
}

#[test]
fn forward_trees_are_those_published() {
    for (name, bound, kept) in [
        ("ta002", Bound::One, 30),
        ("ta007", Bound::One, 271_602),
        ("ta004", Bound::One, 1_163_892),
        ("ta001", Bound::Two, 0),
        ("ta002", Bound::Two, 7),
        ("ta003", Bound::Two, 80_062),
        ("ta004", Bound::Two, 33_283),
        ("ta014", Bound::Two, 144_639),
        ("ta007", Bound::TwoAdjacent, 0),
        ("ta004", Bound::TwoAdjacent, 445_189),
        ("ta003", Bound::TwoLast, 86_509),
        ("ta004", Bound::TwoLast, 33_956),
        ("ta014", Bound::TwoLast, 167_664),
    ] {
        for level in levels() {
            if level == Level::Off && kept > 50_000 {
                continue;
            }
            let mut flowshop = from_optimum(name, Branching::Forward, level);
            flowshop.bound = bound;
            let whole = explore_whole(&flowshop, flowshop.reference);
            assert_eq!(whole.counts.branched, kept + 1, "{name} {bound} {level}");
        }
    }
}

#[test]
fn bounds_of_whole_instances_are_those_published() {
    for (name, one, two) in [("ta001", 1232, 1278), ("ta029", 1840, 1915), ("ta056", 3460, 3495)] {
        let mut flowshop = Flowshop::new(named(name).unwrap(), Level::Off);
        assert_eq!(flowshop.root_bound(), one, "{name}");
        flowshop.bound = Bound::Two;
        assert_eq!(flowshop.root_bound(), two, "{name}");
    }
}

#[test]
fn optima_agree_with_brute_force_whatever_the_rules() {
    let mut rng = Rand64::new(7);
    for case in 0..300 {
        let (jobs, machines) = (1 + below(&mut rng, 7), 1 + below(&mut rng, 5));
        let instance = random(&mut rng, jobs, machines);
        let (optimum, _) = brute_force(&instance, &Node::default());
        for (branching, bound) in rules() {
            for level in levels() {
                let mut flowshop = Flowshop::new(instance.clone(), level);
                flowshop.branching = branching;
                flowshop.bound = bound;
                flowshop.reference = i64::from(optimum) + below(&mut rng, 3) as i64;
                let found = explore_whole(&flowshop, i64::MAX).found.unwrap();
                assert_eq!(found.score, i64::from(optimum), "case {case}: {instance:?}");
                assert_eq!(Tree::check(&flowshop, &found.solution), Some(Ok(found.score)));
                let none = explore_whole(&flowshop, found.score);
                assert_eq!(none.found, None, "case {case}: {instance:?}");
            }
        }
    }
}

#[test]
fn every_path_explores_the_same_tree() {
    let mut rng = Rand64::new(8);
    for case in 0..60 {
        let jobs = 2 + below(&mut rng, 8);
        let most = if case % 10 == 0 { 40 } else { 8 };
        let machines = 1 + below(&mut rng, most);
        let instance = random(&mut rng, jobs, machines);
        let best = explore_whole(&Flowshop::new(instance.clone(), Level::best()), i64::MAX);
        let best = best.found.unwrap().score;
        for (branching, bound) in rules().filter(|&(_, bound)| bound != Bound::Auto) {
            for level in levels() {
                let mut flowshop = Flowshop::new(instance.clone(), level);
                flowshop.branching = branching;
                flowshop.bound = bound;
                flowshop.reference = best;
                let plain = search_plainly(&flowshop, best);
                let fast = explore_whole(&flowshop, best);
                assert_eq!(fast.counts, plain.counts, "case {case}: {bound} {branching} {level}");
            }
        }
    }
}

#[test]
fn bounds_never_exceed_what_can_be_reached() {
    let mut rng = Rand64::new(9);
    for case in 0..3000 {
        let (jobs, machines) = (2 + below(&mut rng, 5), 1 + below(&mut rng, 6));
        let instance = random(&mut rng, jobs, machines);
        let order = shuffled(&mut rng, instance.jobs());
        let placed = below(&mut rng, jobs - 1) as usize;
        let front = below(&mut rng, placed as u64 + 1) as usize;
        let node = Node { front: order[..front].to_vec(), back: order[front..placed].to_vec() };
        let mut flowshop = Flowshop::new(instance, Level::Off);
        let left = node.left(flowshop.instance.jobs());
        let mut all = Vec::new();
        for bound in Bound::ALL.into_iter().filter(|&bound| bound != Bound::Auto) {
            flowshop.bound = bound;
            all.push(flowshop.bounds(&flowshop.partial(&node), &left));
        }
        let [one, tight, two, adjacent, last] = &all[..] else { unreachable!() };
        for (i, &job) in left.iter().enumerate() {
            for (side, back) in [false, true].into_iter().enumerate() {
                let mut child = node.clone();
                child.place(job, back);
                let (reached, _) = brute_force(&flowshop.instance, &child);
                let [one, tight, two, adjacent, last] =
                    [one, tight, two, adjacent, last].map(|bounds| bounds[i][side]);
                assert!(one <= tight && one <= two, "case {case}: {one} {tight} {two}");
                for some in [adjacent, last] {
                    assert!(one <= some && some <= two, "case {case}: {one} {some} {two}");
                }
                assert!(tight.max(two) <= reached, "case {case}: {tight} {two}, {reached}");
            }
        }
    }
}

#[test]
fn the_laws_hold_on_every_path() {
    let mut rng = Rand64::new(10);
    let mut shared = 0;
    for case in 0..12 {
        let (jobs, machines) = (10 + below(&mut rng, 3), 5 + below(&mut rng, 4));
        let times = (0..jobs * machines).map(|_| 1 + below(&mut rng, 99) as u32).collect();
        let instance = Instance::new(machines as usize, times).unwrap();
        let best = explore_whole(&Flowshop::new(instance.clone(), Level::best()), i64::MAX);
        let best = best.found.unwrap().score;
        for branching in [Branching::Forward, Branching::MinBranch] {
            let with = |level| {
                let mut flowshop = Flowshop::new(instance.clone(), level);
                flowshop.branching = branching;
                flowshop.reference = best;
                flowshop
            };
            let flowshops: Vec<Flowshop> = levels().map(with).collect();
            let whole = explore_whole(&flowshops[0], best);
            shared += u64::from(whole.counts.branched > 100);
            let make = |i: usize| match i {
                0 => Box::new(TreeExplorer::new(&flowshops[0])) as Box<_>,
                _ => flowshops[i % flowshops.len()].explorer(),
            };
            for seed in 0..10 {
                explorer_law(&make, &root(&flowshops[0]), best, &whole, seed + 100 * case);
            }
        }
    }
    assert!(shared >= 10, "only {shared} trees were large enough to be shared");
}

#[test]
fn all_optimal_schedules_are_counted() {
    let mut rng = Rand64::new(12);
    for case in 0..100 {
        let (jobs, machines) = (1 + below(&mut rng, 7), 1 + below(&mut rng, 4));
        let instance = random(&mut rng, jobs, machines);
        let (optimum, optima) = brute_force(&instance, &Node::default());
        for (branching, bound) in rules() {
            for level in levels() {
                let mut flowshop = Flowshop::new(instance.clone(), level);
                flowshop.branching = branching;
                flowshop.bound = bound;
                flowshop.all = true;
                let best = i64::from(optimum) + 1;
                flowshop.reference = best;
                let counted = explore_whole(&flowshop, best).counts.total;
                assert_eq!(counted, optima.into(), "case {case}: {bound} {branching} {level}");
                let plainly = search_plainly(&flowshop, best).counts.total;
                assert_eq!(plainly, optima.into(), "case {case}: {bound} {branching}, plainly");
            }
        }
    }
}

#[test]
fn wide_words_serve_what_narrow_ones_cannot() {
    let mut rng = Rand64::new(13);
    for _ in 0..20 {
        // Just below and just above what 15 and 16 bits hold.
        for most in [2700, 3000, 5400, 6000] {
            let times = (0..8 * 4).map(|_| most - below(&mut rng, 400) as u32).collect();
            let instance = Instance::new(4, times).unwrap();
            let (optimum, _) = brute_force(&instance, &Node::default());
            for level in levels() {
                let found = explore_whole(&Flowshop::new(instance.clone(), level), i64::MAX).found;
                assert_eq!(found.unwrap().score, i64::from(optimum), "{most} {level}");
            }
        }
    }
}

/// What a stop leaves open is the same tree, however often and wherever stops occur.
#[test]
fn nodes_left_in_a_hurry_are_explored_later() {
    for level in levels() {
        let mut flowshop = from_optimum("VFR10_10_2", Branching::MinBranch, level);
        flowshop.bound = Bound::Two;
        let best = flowshop.reference;
        let wanted = explore_whole(&flowshop, best).counts;
        let flowshop = &flowshop;
        let counts = std::thread::scope(|scope| {
            let explorer = scope.spawn(move || {
                let mut explorer = full_explorer(flowshop);
                let mut all = Progress::default();
                while explorer.size() > 0.0 {
                    all.add(explorer.run(100, best));
                }
                all.counts
            });
            while !explorer.is_finished() {
                Problem::set_stop_requested(flowshop, true);
                std::thread::yield_now();
                Problem::set_stop_requested(flowshop, false);
                std::thread::yield_now();
            }
            explorer.join().unwrap()
        });
        assert_eq!(counts, wanted, "{level}");
    }
}

#[test]
fn hostile_work_is_refused() {
    let flowshop: &'static _ =
        Box::leak(Box::new(from_optimum("ta002", Branching::MinBranch, Level::best())));
    let good = open_work_after(flowshop, 3000);
    hostile_law(&|| flowshop.explorer(), &good.bytes, 2000, 1);
}

#[test]
fn nodes_are_packed_small_and_read_back() {
    let mut rng = Rand64::new(11);
    for _ in 0..200 {
        let order = shuffled(&mut rng, 20);
        let (front, back) = (below(&mut rng, 10) as usize, below(&mut rng, 10) as usize);
        let node = Node { front: order[..front].to_vec(), back: order[20 - back..].to_vec() };
        pack_law(&node, &mut rng);
        let entry = pleach_core::search::work::Entry { bound: 2200, depth: 0, share: 0.5, node };
        assert!(Pool::new(vec![entry]).to_work().bytes.len() <= 32);
    }
    let twice = Node { front: vec![1, 2], back: vec![2] };
    assert!(!twice.valid(5) && !Node { front: vec![5], back: vec![] }.valid(5));
    assert!(Reader::new(&[]).finish().is_ok());
}

#[test]
fn heuristics_are_favoured_where_no_search_finishes() {
    for name in super::named::names() {
        let flowshop = Flowshop::new(named(name).unwrap(), Level::Off);
        let (jobs, machines) = super::named::size(name).unwrap();
        let large = name.starts_with("VFR") && jobs >= 100 && machines >= 40;
        assert_eq!(flowshop.favours_improver(), large, "{name}");
    }
}

#[test]
fn wrong_schedules_are_told() {
    let flowshop = Flowshop::new(named("VFR10_5_1").unwrap(), Level::Off);
    let good = solution_of(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert!(Tree::check(&flowshop, &good).unwrap().is_ok());
    for wrong in [&good[1..], &[1; 10], &[0; 10], &[11; 10], &[]] {
        assert!(Tree::check(&flowshop, wrong).unwrap().is_err(), "{wrong:?}");
    }
}

#[test]
fn names_of_rules_are_read_back() {
    for branching in Branching::ALL {
        assert_eq!(Branching::parse(&branching.to_string()), Ok(branching));
    }
    for bound in Bound::ALL {
        assert_eq!(Bound::parse(&bound.to_string()), Ok(bound));
    }
    assert!(Branching::parse("best").is_err() && Bound::parse("three").is_err());
}
