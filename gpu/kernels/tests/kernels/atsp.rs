//! ATSP by the cost of paths, on the emulated device.

use crate::device::{Use, explore, explore_from};
use crate::{USUAL, on_cpu, on_cpu_from, uses};
use oorandom::Rand64;
use pleach_core::search::laws::full_explorer;
use pleach_core::search::problem::Problem;
use pleach_core::search::work::Nodes;
use pleach_problems::atsp::Atsp;
use pleach_problems::atsp::bound::Bound;
use pleach_problems::atsp::instance::Instance;
use pleach_problems::atsp::named::{named, optimum};
use pleach_problems::simd::Level;

fn paths(instance: Instance, nodes: Nodes) -> Atsp {
    let how = (nodes, Level::best());
    let atsp = Atsp::new(instance, Bound::Partial, how, (None, 1), &|| true).unwrap();
    assert!(atsp.on_device().is_ok());
    atsp
}

fn made(name: &str) -> Atsp {
    paths(named(name).unwrap().unwrap(), Nodes::Pool)
}

/// Costs of some kind: few distinct ones, large, negative, all the same.
pub fn random(rng: &mut Rand64, n: u64, kind: usize, nodes: Nodes) -> Atsp {
    let (lowest, spread) = [(0, 4), (0, 100), (-40, 90), (3_000_000, 1_000_000), (7, 1)][kind % 5];
    let costs = (0..n * n).map(|_| lowest + rng.rand_range(0..spread) as i64).collect();
    paths(Instance::new(n as usize, costs).unwrap(), nodes)
}

#[test]
fn trees_from_the_optimum_are_those_of_the_cpu() {
    let mut rng = Rand64::new(3);
    let ways: Vec<Use> = uses().collect();
    let mut nodes = 0;
    for case in 0..80 {
        let cities = 2 + rng.rand_range(0..8);
        let atsp = random(&mut rng, cities, case, Nodes::Pool);
        let best = on_cpu(&atsp, i64::MAX).found.unwrap().score;
        let wanted = on_cpu(&atsp, best).counts;
        let how = ways[rng.rand_range(0..ways.len() as u64) as usize];
        let explored = explore(&atsp, how, best);
        assert_eq!(explored.counts, wanted, "case {case}, {how:?}");
        assert_eq!(explored.found, None);
        nodes += wanted.branched;
    }
    assert!(nodes > 10_000, "{nodes}");
}

#[test]
fn optima_are_found_with_their_tours() {
    let mut rng = Rand64::new(4);
    for (case, how) in uses().enumerate() {
        let cities = 2 + case as u64 % 8;
        let atsp = random(&mut rng, cities, case, Nodes::Pool);
        let wanted = on_cpu(&atsp, i64::MAX).found.unwrap().score;
        for best in [i64::MAX, wanted + 1] {
            let found = explore(&atsp, how, best).found.unwrap();
            assert_eq!(found.score, wanted, "{how:?}");
            assert_eq!(atsp.check(&found.solution), Some(Ok(wanted)), "{how:?}");
            assert_eq!(found.solution[0], 1);
        }
    }
}

/// The root is branched even if no tour can beat the incumbent.
#[test]
fn the_root_has_no_bound() {
    let atsp = made("crane:9:1");
    for best in [-1, 0, 1] {
        let wanted = on_cpu(&atsp, best).counts;
        assert_eq!((wanted.branched, wanted.bounded), (1, 8));
        assert_eq!(explore(&atsp, USUAL, best).counts, wanted, "{best}");
    }
}

/// Two cities in each lane, searched with an incumbent below the optimum.
#[test]
fn trees_of_many_cities_are_those_of_the_cpu() {
    for (name, part) in [
        ("amat:32:1", 5),
        ("amat:33:2", 5),
        ("amat:64:1", 16),
        ("super:34:3", 10),
        ("tsmat:50:1", 16),
        ("ftv33", 10),
        ("ftv55", 12),
    ] {
        let atsp = made(name);
        let best = atsp.instance().length(atsp.start()) / part;
        let wanted = on_cpu(&atsp, best);
        let nodes = wanted.counts.branched;
        assert!((300..3000).contains(&nodes) && wanted.found.is_none(), "{name}: {nodes}");
        for how in [Use { spare: 5, span: 4, budget: 50, trigger: 2, ..USUAL }, USUAL] {
            assert_eq!(explore(&atsp, how, best).counts, wanted.counts, "{name}, {how:?}");
        }
    }
}

/// Long paths, with so many open children that a search below the root does not fit.
#[test]
fn long_paths_fit_little_memory() {
    const CITIES: usize = 36;
    // From each city to the next is a short way; two long ways are one too many.
    let mut costs = vec![1000; CITIES * CITIES];
    (0..CITIES - 1).for_each(|i| costs[i * CITIES + i + 1] = 1);
    let atsp = paths(Instance::new(CITIES, costs).unwrap(), Nodes::Pool);
    let best = 1000 + CITIES as i64 - 1;
    let wanted = on_cpu(&atsp, best);
    assert!(wanted.counts.branched > 1000 && wanted.found.is_none(), "{wanted:?}");
    for (spare, budget) in [(1, 1), (1, 60), (500, 60)] {
        let how = Use { spare, budget, ..USUAL };
        assert_eq!(explore(&atsp, how, best).counts, wanted.counts, "{how:?}");
    }
}

#[test]
fn known_trees_are_counted() {
    for (name, best) in [("crane:10:1", None), ("br17", Some(7))] {
        let atsp = made(name);
        let best = best.unwrap_or_else(|| on_cpu(&atsp, i64::MAX).found.unwrap().score);
        assert!(optimum(name).is_none_or(|optimum| best <= optimum));
        let wanted = on_cpu(&atsp, best).counts;
        assert!((700..10_000).contains(&wanted.branched), "{name}: {wanted:?}");
        for how in uses() {
            assert_eq!(explore(&atsp, how, best).counts, wanted, "{name} {how:?}");
        }
    }
}

/// Nodes in the middle of the tree that were open when a search was stopped.
#[test]
fn work_from_the_cpu_is_explored() {
    let atsp = made("crane:11:1");
    let best = on_cpu(&atsp, i64::MAX).found.unwrap().score;
    let mut explorer = full_explorer(&atsp);
    explorer.run(3000, best);
    let work = explorer.drain();
    let wanted = on_cpu_from(&atsp, &work, best).counts;
    assert!(work.size > 20.0 && wanted.branched > 1000, "{} {wanted:?}", work.size);
    for seed in 0..4 {
        let how = Use { seed, budget: 300, ..USUAL };
        assert_eq!(explore_from(&atsp, &work, how, best).counts, wanted, "{how:?}");
    }
}
