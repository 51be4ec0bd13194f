//! Tests of variants: values, bounds and searches against all schedules of small shops.

use super::super::heuristic::insertion::Insert;
use super::super::instance::Instance;
use super::super::shop::Shop;
use super::beam::Beam;
use super::greedy::Improve;
use super::improve::improve;
use super::places::Places;
use super::set_bounds::SetBounds;
use super::*;
use crate::simd::Level;
use crate::simd::lanes::Number;
use oorandom::Rand32;
use pleach_core::search::tree::{Tree, expansion};
use std::ops::ControlFlow;

const PASSINGS: [Passing; 3] = [Passing::Wait, Passing::NoWait, Passing::Blocking];

/// A random shop of a random variant.
fn random(rng: &mut Rand32, most_jobs: u32) -> Variant {
    loop {
        let (jobs, machines) = (rng.rand_range(1..most_jobs + 1), rng.rand_range(1..5));
        let largest = [2, 10, 99, 1_000_000][rng.rand_range(0..4) as usize];
        let mut numbers =
            |n: u32, end: u32| -> Vec<u32> { (0..n).map(|_| rng.rand_range(0..end)).collect() };
        let mut shop = Shop::new(
            Instance::new(machines as usize, numbers(jobs * machines, largest + 1)).unwrap(),
        );
        let chance = numbers(6, 2);
        shop.due = Some(numbers(jobs, largest * (jobs + machines) / 2 + 1));
        shop.weights = (chance[0] == 0).then(|| numbers(jobs, 5));
        shop.releases = (chance[1] == 0).then(|| numbers(jobs, largest * jobs / 2 + 1));
        let setups = chance[2] == 0 && chance[3] == 0;
        shop.setups = setups.then(|| numbers(machines * jobs * jobs, largest / 2 + 1));
        let objective = Objective::ALL[rng.rand_range(0..5) as usize];
        let passing = PASSINGS[rng.rand_range(0..3) as usize];
        if let Ok(variant) = Variant::new(shop, objective, passing) {
            return variant;
        }
    }
}

/// The start and the end of each operation, found by moving each to the right until nothing is in its way.
fn simulated(variant: &Variant, order: &[u16]) -> Vec<Vec<(i64, i64)>> {
    let machines = variant.machines();
    let mut done: Vec<Vec<(i64, i64)>> = Vec::new();
    for (place, &job) in order.iter().enumerate() {
        let job = usize::from(job);
        // When a machine may start the job.
        let free = |k: usize| {
            let Some(before) = place.checked_sub(1).map(|before| &done[before]) else { return 0 };
            let setup = variant.setup(k, order[place - 1].into(), job);
            let leaves = match variant.passing() {
                Passing::Blocking if k + 1 < machines => before[k + 1].0,
                _ => before[k].1,
            };
            leaves + setup
        };
        let mut row: Vec<(i64, i64)>;
        let mut first = variant.release(job);
        loop {
            row = Vec::new();
            let mut at = first;
            for k in 0..machines {
                at = at.max(free(k));
                row.push((at, at + variant.time(job, k)));
                at += variant.time(job, k);
            }
            let waits = row.windows(2).any(|pair| pair[0].1 != pair[1].0);
            if variant.passing() != Passing::NoWait || !waits {
                break;
            }
            // The least delay that some wait needs.
            first += row
                .windows(2)
                .map(|pair| pair[1].0 - pair[0].1)
                .filter(|&wait| wait > 0)
                .min()
                .unwrap();
            first = first.max(row[0].0);
        }
        done.push(row);
    }
    done
}

fn cost(variant: &Variant, order: &[u16]) -> i64 {
    let ends = simulated(variant, order);
    let each = order.iter().zip(&ends).map(|(&job, row)| {
        let (job, end) = (usize::from(job), row[variant.machines() - 1].1);
        let late = end - variant.due(job);
        match variant.objective() {
            Objective::Makespan => end,
            Objective::FlowTime => variant.weight(job) * (end - variant.release(job)),
            Objective::Tardiness => variant.weight(job) * late.max(0),
            Objective::Lateness => late,
            Objective::TardyJobs => variant.weight(job) * i64::from(late > 0),
        }
    });
    if variant.objective().is_sum() { each.sum() } else { each.max().unwrap() }
}

/// All orders of some jobs.
fn orders(jobs: &[u16]) -> Vec<Vec<u16>> {
    if jobs.is_empty() {
        return vec![Vec::new()];
    }
    let first = |&job: &u16| {
        let rest: Vec<u16> = jobs.iter().copied().filter(|&other| other != job).collect();
        orders(&rest).into_iter().map(move |rest| [&[job], &rest[..]].concat())
    };
    jobs.iter().flat_map(first).collect()
}

fn all(variant: &Variant) -> Vec<Vec<u16>> {
    orders(&(0..variant.jobs() as u16).collect::<Vec<_>>())
}

#[test]
fn values_are_those_of_a_simulation() {
    let mut rng = Rand32::new(1);
    for _ in 0..2000 {
        let variant = random(&mut rng, 5);
        for order in all(&variant).iter().take(20) {
            assert_eq!(variant.value(order), cost(&variant, order), "{variant:?} {order:?}");
            let ends: Vec<Vec<i64>> = simulated(&variant, order)
                .iter()
                .map(|row| row.iter().map(|&(_, end)| end).collect())
                .collect();
            let shown = variant.ends(order);
            let shown: Vec<Vec<i64>> =
                shown.iter().map(|row| row.iter().map(|&end| end.into()).collect()).collect();
            assert_eq!(shown, ends, "{variant:?} {order:?}");
        }
    }
}

/// Searches depth first. Checks on the way that no bound exceeds the best completion.
fn least(tree: &VariantTree, node: &Vec<u16>) -> i64 {
    let expansion = expansion(tree, node, i64::MIN, i64::MAX);
    let mut least = expansion.solution.map_or(i64::MAX, |solution| {
        let order: Vec<u16> = solution.solution.iter().map(|&job| job as u16 - 1).collect();
        assert_eq!(tree.variant().value(&order), solution.score);
        solution.score
    });
    for (bound, child) in expansion.children {
        let value = self::least(tree, &child);
        assert!(bound <= value, "bound {bound} of {child:?}, best {value}: {:?}", tree.variant());
        least = least.min(value);
    }
    least
}

/// On how many shops of each objective with each condition, and without any, bounds are checked.
const EACH: usize = 10_000;

#[test]
fn bounds_never_exceed_the_best_completion() {
    let mut rng = Rand32::new(2);
    let mut checked = [[0; 5]; 5];
    while checked.iter().flatten().any(|&shops| shops < EACH) {
        let most_jobs = if rng.rand_range(0..16) == 0 { 5 } else { 4 };
        let variant = random(&mut rng, most_jobs);
        let conditions = [
            !variant.has_conditions(),
            variant.passing() == Passing::NoWait,
            variant.passing() == Passing::Blocking,
            variant.has_releases(),
            variant.shop().setups.is_some(),
        ];
        let objective = Objective::ALL.iter().position(|&other| other == variant.objective());
        let mut needed = false;
        for (shops, holds) in checked[objective.unwrap()].iter_mut().zip(conditions) {
            needed |= holds && *shops < EACH;
            *shops += usize::from(holds);
        }
        if !needed {
            continue;
        }
        let optimum = all(&variant).iter().map(|order| variant.value(order)).min().unwrap();
        let tree = VariantTree::new(variant, Level::Off);
        assert!(pleach_core::search::problem::Problem::least_score(&tree) <= optimum);
        assert_eq!(least(&tree, &Tree::root(&tree)), optimum);
    }
}

#[test]
fn bounds_of_sets_never_exceed_the_best_completion() {
    let mut rng = Rand32::new(6);
    let mut checked = 0;
    for _ in 0..2000 {
        let variant = random(&mut rng, 6);
        let bounds = SetBounds::<i64>::new(&variant, Level::Off, 2, 1 << 24, &mut || true);
        let sums = variant.objective().is_sum();
        for placed in 1..variant.jobs() {
            // A random prefix, and its best completion.
            let mut jobs: Vec<u16> = (0..variant.jobs() as u16).collect();
            for i in 0..placed {
                jobs.swap(i, rng.rand_range(i as u32..variant.jobs() as u32) as usize);
            }
            let (prefix, left) = jobs.split_at(placed);
            let mut partial = variant.empty();
            prefix.iter().for_each(|&job| variant.append(&mut partial, job.into()));
            let whole = |rest: &Vec<u16>| variant.value(&[prefix, rest].concat());
            let best = orders(left).iter().map(whole).min().unwrap();
            let set = left.iter().fold(0, |set, job| set | 1 << job);
            let last = variant.shop().setups.is_some().then(|| prefix[placed - 1].into());
            let weight: i64 = left.iter().map(|&job| variant.weight(job.into())).sum();
            for (cost, front) in bounds.of(set, last).into_iter().flatten().zip(&partial.fronts) {
                let rest = cost + front.0[0] * if sums { weight } else { 1 };
                let bound = if sums { partial.cost.0[0] + rest } else { rest };
                assert!(bound <= best, "{bound} {best} {prefix:?} {variant:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 1000);
}

#[test]
fn searches_in_turn_find_what_they_say() {
    let mut rng = Rand32::new(7);
    let mut optimal = 0;
    for _ in 0..300 {
        let variant = random(&mut rng, 6);
        let start: Vec<u16> = (0..variant.jobs() as u16).collect();
        let value = variant.value(&start);
        let found = Level::ALL.into_iter().filter(|level| level.works()).map(|level| {
            let mut search = improve(&variant, level, (start.clone(), value), 1);
            let rounds = if variant.jobs() > 1 { 20 } else { 0 };
            let found = (0..rounds).map(|_| search.round(&|| true));
            found.min_by_key(|found| found.1).unwrap_or((start.clone(), value))
        });
        let found: Vec<_> = found.collect();
        for (order, value) in &found {
            assert_eq!(variant.value(order), *value);
            assert_eq!(*value, found[0].1);
        }
        let optimum = all(&variant).iter().map(|order| variant.value(order)).min().unwrap();
        optimal += usize::from(found[0].1 == optimum);
    }
    assert!(optimal > 270, "{optimal}");
}

#[test]
fn searches_in_turn_do_not_depend_on_the_number_of_lanes() {
    let mut rng = Rand32::new(8);
    for objective in Objective::ALL {
        let (jobs, machines) = (30, 3);
        let mut times = |n: u32| -> Vec<u32> { (0..n).map(|_| rng.rand_range(1..100)).collect() };
        let mut shop = Shop::new(Instance::new(machines as usize, times(jobs * machines)).unwrap());
        shop.due = Some(times(jobs).into_iter().map(|due| due * 20).collect());
        shop.releases = Some(times(jobs));
        let variant = Variant::new(shop, objective, Passing::Wait).unwrap();
        let start: Vec<u16> = (0..jobs as u16).collect();
        let value = variant.value(&start);
        let found = Level::ALL.into_iter().filter(|level| level.works()).map(|level| {
            let mut search = improve(&variant, level, (start.clone(), value), 1);
            let found: Vec<_> = (0..60).map(|_| search.round(&|| true)).collect();
            (found, search.work())
        });
        let found: Vec<_> = found.collect();
        assert!(found.iter().all(|other| *other == found[0]), "{objective}");
    }
}

/// Beams grow until they keep all nodes, so in the end none is dropped.
#[test]
fn wide_beams_find_the_optimum() {
    fn check<N: Number>(variant: &Variant, level: Level) {
        let all = all(variant).into_iter().map(|order| (variant.value(&order), order));
        let (optimum, (value, order)) = (all.clone().min().unwrap().0, all.max().unwrap());
        let mut found = (order, value);
        let mut beam = Beam::<N>::new(variant, level, found.clone(), 0);
        // The last of these beams keep 512 nodes of a level, which has at most 120.
        for _ in 0..24 {
            let before = found.1;
            found = beam.round(&|| true);
            assert_eq!(variant.value(&found.0), found.1);
            assert!(found.1 <= before);
        }
        assert_eq!(found.1, optimum, "{variant:?}");
    }
    let mut rng = Rand32::new(9);
    for _ in 0..1000 {
        let variant = random(&mut rng, 5);
        check::<i64>(&variant, Level::Off);
        if variant.is_narrow() {
            check::<i32>(&variant, Level::best());
        }
    }
}

fn by_layers(
    variant: &Variant,
    level: Level,
    threads: usize,
    memory: usize,
    to_beat: i64,
) -> LayersEnd {
    let tree = VariantTree::new(variant.clone(), level);
    let watch = &mut |_: &LayersProgress| ControlFlow::Continue(());
    let limits = LayersLimits { threads, memory, seed: 0, watch };
    tree.layers().unwrap().search(None, to_beat, limits)
}

#[test]
fn layers_find_the_optimum_on_any_number_of_threads_and_any_code_path() {
    let mut rng = Rand32::new(3);
    for round in 0..3000 {
        let variant = random(&mut rng, 7);
        let optimum = all(&variant).iter().map(|order| variant.value(order)).min().unwrap();
        let end = by_layers(&variant, Level::Off, 1, 1 << 30, i64::MAX);
        let (order, value) = end.progress.best.clone().unwrap();
        assert_eq!((variant.value(&order), value), (optimum, optimum), "{variant:?}");
        assert_eq!((end.progress.least, end.open.as_deref()), (optimum, Some(&[][..])));
        let none = by_layers(&variant, Level::Off, 1, 1 << 30, optimum);
        assert!(none.progress.best.is_none());
        assert_eq!((none.progress.least, none.open.as_deref()), (optimum, Some(&[][..])));
        if round % 10 == 0 {
            for level in Level::ALL.into_iter().filter(|level| level.works()) {
                for threads in [1, 3] {
                    let other = by_layers(&variant, level, threads, 1 << 30, i64::MAX);
                    assert_eq!(other.progress.counts, end.progress.counts, "{level} {threads}");
                    assert_eq!(other.progress.best, end.progress.best, "{level} {threads}");
                }
            }
        }
    }
}

/// If memory does not suffice, what is open holds every better schedule.
#[test]
fn what_layers_leave_open_holds_the_optimum() {
    let (mut rng, mut left) = (Rand32::new(4), 0);
    for _ in 0..2000 {
        let variant = random(&mut rng, 7);
        let optimum = all(&variant).iter().map(|order| variant.value(order)).min().unwrap();
        let memory = rng.rand_range(1..2000) as usize;
        let end = by_layers(&variant, Level::Off, 1, memory, i64::MAX);
        assert!(end.progress.least <= optimum);
        let open = end.open.unwrap();
        left += usize::from(!open.is_empty());
        let tree = VariantTree::new(variant.clone(), Level::Off);
        let rest = open.iter().map(|(bound, node)| {
            let value = least(&tree, node);
            assert!(*bound <= value);
            value
        });
        let found = end.progress.best.map_or(i64::MAX, |(_, value)| value);
        assert_eq!(rest.min().unwrap_or(i64::MAX).min(found), optimum);
    }
    assert!(left > 500, "{left}");
}

#[test]
fn beams_find_schedules_whose_values_are_right() {
    let mut rng = Rand32::new(5);
    for _ in 0..200 {
        let variant = random(&mut rng, 30);
        let tree = VariantTree::new(variant.clone(), Level::best());
        let start = tree.start(None, 0, &|| true);
        assert_eq!(variant.value(&start.0), start.1);
        let mut passes = 0;
        let watch = &mut |_: &LayersProgress| {
            passes += 1;
            if passes < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let limits = LayersLimits { threads: 2, memory: 1 << 22, seed: 0, watch };
        let end = tree.layers().unwrap().search(Some(start.clone()), i64::MAX, limits);
        let (order, value) = end.progress.best.unwrap();
        assert_eq!(variant.value(&order), value);
        assert!(value <= start.1 && end.progress.least <= value);
    }
}

/// The value with the job at each place, in every lane width and code path.
#[test]
fn insertion_finds_the_best_place() {
    let mut rng = Rand32::new(6);
    for _ in 0..500 {
        let variant = random(&mut rng, 50);
        let mut order: Vec<u16> = (1..variant.jobs() as u16).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, rng.rand_range(0..i as u32 + 1) as usize);
        }
        let value = |place: usize| {
            let mut order = order.clone();
            order.insert(place, 0);
            variant.value(&order)
        };
        let least = (0..=order.len()).map(value).min().unwrap();
        let first = (0..=order.len()).find(|&place| value(place) == least).unwrap();
        for level in Level::ALL.into_iter().filter(|level| level.works()) {
            let mut inserted = order.clone();
            let mut wide = Places::<i64>::new(&variant, level);
            assert_eq!(wide.insert(&mut inserted, 0, i64::MAX, |_| 0), least, "{variant:?}");
            assert_eq!(inserted[first], 0);
            if variant.is_narrow() {
                let mut inserted = order.clone();
                let mut narrow = Places::<i32>::new(&variant, level);
                assert_eq!(narrow.insert(&mut inserted, 0, i64::MAX, |_| 0), least);
                assert_eq!(inserted[first], 0);
            }
        }
    }
}

/// The values of all places of a job in one order after another, which share their first jobs: all that are at most
/// the least or a known one plus a margin are right, in every lane width and code path.
#[test]
fn places_have_the_values_of_their_schedules() {
    fn check<N: Number>(variant: &Variant, calls: &[(Vec<u16>, u16, usize, i64)]) {
        let mut first: Option<(Vec<Vec<N>>, u64)> = None;
        for level in Level::ALL.into_iter().filter(|level| level.works()) {
            let mut places = Places::<N>::new(variant, level);
            let mut all = Vec::new();
            for (order, job, known, margin) in calls {
                let value = |place: usize| {
                    let mut order = order.clone();
                    order.insert(place, *job);
                    variant.value(&order)
                };
                let right: Vec<i64> = (0..=order.len()).map(value).collect();
                let known = right.get(*known).map_or(N::HIGHEST, |&known| N::of(known));
                let values = places.values(order, *job, known, N::of(*margin)).to_vec();
                let least = right.iter().copied().min().unwrap().min(known.into());
                assert_eq!(values.len(), right.len());
                for (&value, &right) in values.iter().zip(&right) {
                    let value: i64 = value.into();
                    let exact = right <= least + margin;
                    assert!(if exact { value == right } else { value > least + margin });
                    assert!(value <= right, "{value} {right} {variant:?}");
                }
                all.push(values);
            }
            let work = Insert::work(&places);
            let (values, same) = first.get_or_insert_with(|| (all.clone(), work));
            assert_eq!((&all, work), (&*values, *same), "{level}");
        }
    }
    let mut rng = Rand32::new(8);
    for round in 0..600 {
        let variant = if round % 50 > 0 {
            random(&mut rng, 50)
        } else {
            let times = (0..30 * 70).map(|_| rng.rand_range(0..100)).collect();
            let mut shop = Shop::new(Instance::new(70, times).unwrap());
            shop.due = Some((0..30).map(|_| rng.rand_range(3000..6000)).collect());
            Variant::new(shop, Objective::Tardiness, Passing::Wait).unwrap()
        };
        let mut order: Vec<u16> = (0..variant.jobs() as u16).collect();
        let mut calls = Vec::new();
        for _ in 0..12 {
            let mut below = |n: usize| rng.rand_range(0..n as u32) as usize;
            let mut removed = vec![order.remove(below(order.len()))];
            while !order.is_empty() && below(3) == 0 {
                removed.push(order.remove(below(order.len())));
            }
            while let Some(job) = removed.pop() {
                let known = below(2 * order.len() + 2);
                calls.push((order.clone(), job, known, [0, 0, 20, 5000][below(4)]));
                order.insert(below(order.len() + 1), job);
            }
        }
        check::<i64>(&variant, &calls);
        if variant.is_narrow() {
            check::<i32>(&variant, &calls);
        }
    }
}

/// The places of these bounds exceed 32 bits. They wrapped, and sets got the bounds of others.
#[test]
fn too_many_sets_have_no_bounds() {
    let jobs = 29;
    let mut shop = Shop::new(Instance::new(1, vec![1; jobs]).unwrap());
    shop.setups = Some(vec![1; jobs * jobs]);
    let variant = Variant::new(shop, Objective::FlowTime, Passing::Wait).unwrap();
    let bounds = SetBounds::<i64>::new(&variant, Level::best(), 1, usize::MAX, &mut || true);
    assert_eq!(bounds.bytes(), 0);
}

/// The time after each machine used to be summed from the beginning for every one, which took time quadratic in the
/// number of machines.
#[test]
fn shops_of_many_machines_are_prepared() {
    let machines = 200_000;
    let shop = Shop::new(Instance::new(machines, vec![1; 2 * machines]).unwrap());
    let variant = Variant::new(shop, Objective::FlowTime, Passing::Wait).unwrap();
    assert_eq!(variant.tails(1)[machines - 3..], [2, 1, 0]);
    let tree = VariantTree::new(variant, Level::Off);
    let least = pleach_core::search::problem::Problem::least_score(&tree);
    assert_eq!(least, 2 * machines as i64 + 1);
}
