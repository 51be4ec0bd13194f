//! Tests of the quadratic assignment: bounds against brute force, optima, and the laws of explorers.

use super::bound::{Bounds, FREE};
use super::instance::{Instance, MOST_TOTAL, solution_of};
use super::local::{improve, reach};
use super::named::{named, names, optimum};
use super::read::read;
use super::symmetry::Symmetries;
use super::tree::Qap;
use oorandom::Rand64;
use pleach_core::search::depth_first::TreeExplorer;
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::laws::{explorer_law, hostile_law, run_to_end};
use pleach_core::search::tree::Tree;
use pleach_core::search::work::Pool;
use std::cell::Cell;

fn whole(tree: &Qap, best: i64) -> Progress {
    let mut explorer = TreeExplorer::new(tree);
    explorer.put_pool(Pool::whole(tree.root()));
    run_to_end(&mut explorer, best)
}

/// Flows and distances of one of four kinds: any, symmetric, of points on a circle, or with negative ones.
fn random(rng: &mut Rand64, locations: usize) -> Instance {
    let facilities = rng.rand_range(1..locations as u64 + 1) as usize;
    let kind = rng.rand_range(0..4);
    // Larger numbers need wider sums.
    let unit = [1, 1, 10_000][rng.rand_range(0..3) as usize];
    let mut matrix = |n: usize| {
        let mut all = vec![0; n * n];
        for i in 0..n {
            for j in 0..n {
                let value = unit * rng.rand_range(0..12) as i64;
                all[i * n + j] = match kind {
                    0 => value,
                    1 if i > j => 2 * value,
                    1 => 0,
                    2 if i > 0 => all[(j + n - i) % n],
                    2 => value / 4,
                    _ => value - 4 * unit,
                };
            }
        }
        if kind == 1 {
            for i in 0..n {
                for j in 0..i {
                    all[j * n + i] = all[i * n + j];
                }
            }
        }
        all
    };
    let (flows, distances) = (matrix(facilities), matrix(locations));
    Instance::new((facilities, &flows), (locations, &distances)).unwrap()
}

/// All ways to complete an assignment.
fn completions(instance: &Instance, placed: &[u16]) -> Vec<Vec<u16>> {
    let Some(i) = placed.iter().position(|&place| place == FREE) else {
        return vec![placed.to_vec()];
    };
    let free = (0..instance.locations() as u16).filter(|place| !placed.contains(place));
    free.flat_map(|place| {
        let mut child = placed.to_vec();
        child[i] = place;
        completions(instance, &child)
    })
    .collect()
}

#[test]
fn no_bound_exceeds_brute_force() {
    let mut rng = Rand64::new(1);
    for round in 0..3000 {
        let n = 1 + round % 6;
        let instance = random(&mut rng, n);
        let mut placed = vec![FREE; instance.facilities()];
        if placed.len() > 1 && rng.rand_range(0..2) == 1 {
            placed[0] = rng.rand_range(0..n as u64) as u16;
        }
        let costs: Vec<(i64, Vec<u16>)> = completions(&instance, &placed)
            .into_iter()
            .map(|places| (instance.cost(&places), places))
            .collect();
        let least = costs.iter().map(|(cost, _)| *cost).min().unwrap();
        let bounds = Bounds::new(instance.clone());
        for best in [i64::MAX, least + 5, least + 1] {
            let Some(seen) = bounds.see(&placed, best) else {
                panic!("{instance:?} from {placed:?}: nothing below {best}, but {least}");
            };
            assert!(seen.bound <= least, "{instance:?} from {placed:?}: {} > {least}", seen.bound);
            let m = seen.locations.len();
            for (at, more) in seen.more.iter().enumerate() {
                let (i, p) = (seen.facilities[at / m], seen.locations[at % m] as u16);
                let with = costs.iter().filter(|(_, places)| places.get(i) == Some(&p));
                let least = with.map(|(cost, _)| *cost).min();
                assert!(least.is_none_or(|least| seen.bound + more <= least), "{instance:?}");
            }
        }
        let tree = Qap::new(instance);
        if !placed.iter().all(|&place| place == FREE) {
            continue;
        }
        let found = whole(&tree, i64::MAX).found.unwrap();
        assert_eq!(found.score, least);
        assert_eq!(tree.check(&found.solution), Some(Ok(least)));
        assert!(whole(&tree, least).found.is_none());
    }
}

/// The points that may be spared while these are used.
fn spared(symmetries: &Symmetries, n: usize, used: &[usize]) -> Vec<usize> {
    let spare = symmetries.spare((0..n).map(|point| used.contains(&point)).collect());
    (0..n).filter(|&point| spare[point]).collect()
}

#[test]
fn points_that_symmetries_exchange_are_spared() {
    let on_grid = |width: usize| {
        move |p: usize, q: usize| {
            (p % width).abs_diff(q % width) as i64 + (p / width).abs_diff(q / width) as i64
        }
    };
    let wide = Symmetries::new(12, on_grid(4));
    assert_eq!(spared(&wide, 12, &[]), [2, 3, 6, 7, 8, 9, 10, 11]);
    // From the middle row, only the halves are the same.
    assert_eq!(spared(&wide, 12, &[5]), [8, 9, 10, 11]);
    assert_eq!(spared(&wide, 12, &[0]), []);
    let square = Symmetries::new(16, on_grid(4));
    assert_eq!((0..16).filter(|p| !spared(&square, 16, &[]).contains(p)).count(), 3);
    assert_eq!(spared(&square, 16, &[0]), [4, 8, 9, 12, 13, 14]);
    // The corners of a cube of four dimensions have 384 symmetries, more than are kept.
    let cube = Symmetries::new(16, |p, q| i64::from((p ^ q).count_ones()));
    assert_eq!(spared(&cube, 16, &[]).len(), 15);
    assert_eq!(spared(&cube, 16, &[0]), [2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14]);
    // Values that are all the same have too many symmetries to list; random ones have none.
    assert_eq!(spared(&Symmetries::new(256, |_, _| 1), 256, &[]).len(), 255);
    let mut rng = Rand64::new(3);
    let values: Vec<i64> = (0..900).map(|_| rng.rand_range(0..50) as i64).collect();
    assert_eq!(spared(&Symmetries::new(30, |p, q| values[30 * p + q]), 30, &[]), []);
}

#[test]
fn costs_are_multiples_of_the_step_and_heuristics_are_right() {
    let mut rng = Rand64::new(2);
    for round in 0..500 {
        let instance = random(&mut rng, 1 + round % 9);
        let left = Cell::new(20);
        let places = improve(&instance, None, round as u64, &|| left.replace(left.get() - 1) > 0);
        let cost = instance.cost(&places);
        assert_eq!(cost % instance.step(), 0, "{instance:?}");
        assert_eq!(instance.places(&solution_of(&places)), Ok(places));
    }
    assert_eq!(named("nug12").unwrap().unwrap().step(), 2);
}

/// The first local search ends after a number of exchanges. A single facility has none, so it never ended.
#[test]
fn a_single_facility_needs_no_local_search() {
    let instance = Instance::new((1, &[7]), (1, &[2])).unwrap();
    let asked = Cell::new(0);
    let places = improve(&instance, None, 1, &|| asked.replace(asked.get() + 1) < 1000);
    assert_eq!(places, [0]);
    assert!(asked.get() < 1000, "it did not end by itself");
    let found = whole(&Qap::new(instance), i64::MAX).found.unwrap();
    assert_eq!((found.score, found.solution), (14, vec![1]));
}

#[test]
fn named_instances_are_proven() {
    for name in names() {
        let instance = named(name).unwrap().unwrap();
        let optimum = optimum(name).unwrap();
        let start = improve(&instance, None, 1, &|| true);
        assert!(instance.cost(&start) >= optimum, "{name}");
        if instance.locations() > 12 {
            continue;
        }
        let tree = Qap::new(instance);
        let found = whole(&tree, optimum + 1).found.unwrap();
        assert_eq!(found.score, optimum, "{name}");
    }
}

#[test]
fn the_laws_hold() {
    let mut rng = Rand64::new(5);
    let flows: Vec<i64> = (0..81).map(|_| rng.rand_range(0..10) as i64).collect();
    let distances: Vec<i64> = (0..81).map(|_| rng.rand_range(0..10) as i64).collect();
    let instance = Instance::new((9, &flows), (9, &distances)).unwrap();
    let tree: &'static Qap = Box::leak(Box::new(Qap::new(instance)));
    let root = Pool::whole(tree.root()).to_work();
    let best = whole(tree, i64::MAX).found.unwrap().score;
    let proof = whole(tree, best);
    for seed in 0..10 {
        explorer_law(&|_| Box::new(TreeExplorer::new(tree)), &root, best, &proof, seed);
    }
    let mut explorer = TreeExplorer::new(tree);
    explorer.add_work(&root.bytes).unwrap();
    explorer.run(3, best);
    let good = explorer.drain();
    hostile_law(&|| Box::new(TreeExplorer::new(tree)), &good.bytes, 500, 3);
}

/// The search used to exchange the location with itself until its time was over.
#[test]
fn a_single_assignment_is_not_searched() {
    let instance = Instance::new((1, &[2]), (1, &[3])).unwrap();
    assert_eq!(reach(&instance, None, 1, 6, &|| true), Some(vec![0]));
    assert_eq!(reach(&instance, None, 1, 5, &|| panic!("it searches")), None);
}

/// Sums of such numbers wrapped, whatever they were multiplied by.
#[test]
fn numbers_that_are_too_large_are_refused_beside_zeros() {
    let zeros: &[i64] = &[0; 4];
    for large in [[0, i64::MIN, -1, 0], [0, 0, 0, MOST_TOTAL + 1]] {
        for (flows, distances) in [(&large[..], zeros), (zeros, &large[..])] {
            let why = Instance::new((2, flows), (2, distances)).unwrap_err();
            assert!(why.starts_with("the sum of all flows, or the greatest distance"), "{why}");
        }
    }
}

#[test]
fn files_are_read_and_faults_are_placed() {
    let two = read("2\n\n0 1\n2 0\n\n0 3\n4 0\n").unwrap();
    assert_eq!((two.facilities(), two.flow(1, 0), two.distance(0, 1)), (2, 2, 3));
    assert_eq!(two.cost(&[1, 0]), 4 + 6);
    let wide = read("1\n7\n2\n1,3\n4,2\n").unwrap();
    assert_eq!((wide.facilities(), wide.locations(), wide.cost(&[1])), (1, 2, 14));
    for (text, said) in [
        ("", ": an empty file"),
        ("2\n0 x\n", ", line 2: 'x', expected a whole number"),
        ("0\n", ": size 0, expected from 1 to 256"),
        ("999\n", ": size 999"),
        ("2\n0 1 2 0\n0 3 4\n", ": 7 numbers after the size 2, expected two matrices, 8"),
        ("2\n0 1 2 0\n0 3 4 0 5\n", ": 9 numbers after the size 2"),
        ("1\n9223372036854775807\n2\n", ": the sum of all flows times"),
        ("1\n9223372036854775808\n2\n", ", line 2: '9223372036854775808'"),
    ] {
        let why = read(text).unwrap_err();
        assert!(why.starts_with(said), "{text:?}: {why}");
    }
    assert!(Instance::new((1, &[MOST_TOTAL]), (1, &[1])).is_ok());
    assert!(Instance::new((2, &[0; 4]), (1, &[0])).is_err());
    for (solution, said) in [
        (&[1][..], "locations for 1 facilities, expected 2"),
        (&[1, 1], "location 1 appears twice"),
        (&[1, 3], "location 3"),
    ] {
        assert!(two.places(solution).unwrap_err().contains(said), "{solution:?}");
    }
}
