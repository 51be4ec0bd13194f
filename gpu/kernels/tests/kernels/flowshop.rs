//! Flowshop on the emulated device.

use crate::device::{Use, explore};
use crate::{USUAL, on_cpu, uses};
use oorandom::Rand64;
use pleach_core::search::laws::full_explorer;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Counts, Tree};
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::branching::Branching;
use pleach_problems::flowshop::instance::Instance;
use pleach_problems::flowshop::named::{best_known, named};
use pleach_problems::simd::Level;

pub fn random(rng: &mut Rand64, jobs: u64, machines: u64, spread: u64) -> Instance {
    let times = (0..jobs * machines).map(|_| rng.rand_range(0..spread) as u32).collect();
    Instance::new(machines as usize, times).unwrap()
}

/// The counts of a whole tree, unless it is too large for the fuel.
pub fn on_cpu_within(problem: &Flowshop, best: i64, fuel: u64) -> Option<Counts> {
    let mut explorer = full_explorer(problem);
    let progress = explorer.run(fuel, best);
    (explorer.size() == 0.0 && progress.found.is_none()).then_some(progress.counts)
}

#[test]
fn trees_from_the_optimum_are_those_of_the_cpu() {
    let mut rng = Rand64::new(3);
    let (mut nodes, mut compared) = (0, 0);
    let ways: Vec<Use> = uses().collect();
    for case in 0..40 {
        let (jobs, machines) = (1 + rng.rand_range(0..12), 1 + rng.rand_range(0..20));
        let spread = [2, 10, 100, 2500][case % 4];
        let instance = random(&mut rng, jobs, machines, spread);
        let mut flowshop = Flowshop::new(instance, Level::Off);
        let best = on_cpu(&flowshop, i64::MAX).found.unwrap().score;
        flowshop.reference = best;
        let two = [Bound::Two, Bound::TwoAdjacent, Bound::TwoLast][case % 3];
        let both =
            Branching::ALL.map(|branching| [Bound::One, two].map(|bound| (branching, bound)));
        for (branching, bound) in both.into_iter().flatten() {
            (flowshop.branching, flowshop.bound) = (branching, bound);
            let Some(wanted) = on_cpu_within(&flowshop, best, 10_000) else { continue };
            let how = ways[rng.rand_range(0..ways.len() as u64) as usize];
            let explored = explore(&flowshop, how, best);
            assert_eq!(explored.counts, wanted, "case {case}, {branching}, {bound}, {how:?}");
            assert_eq!(explored.found, None);
            (nodes, compared) = (nodes + wanted.branched, compared + 1);
        }
    }
    assert!(nodes > 10_000 && compared > 300, "{nodes} nodes in {compared} trees");
}

#[test]
fn optima_are_found_with_their_schedules() {
    let mut rng = Rand64::new(4);
    for how in uses() {
        let instance = random(&mut rng, 9, 5, 100);
        let flowshop = Flowshop::new(instance, Level::Off);
        let wanted = on_cpu(&flowshop, i64::MAX).found.unwrap().score;
        let found = explore(&flowshop, how, i64::MAX).found.unwrap();
        assert_eq!(found.score, wanted, "{how:?}");
        assert_eq!(Tree::check(&flowshop, &found.solution), Some(Ok(wanted)));
    }
}

/// Jobs in both slots of a lane, and sums just below the 16-bit limit.
#[test]
fn many_jobs_and_large_times_are_bounded_as_on_the_cpu() {
    let mut rng = Rand64::new(5);
    let how = Use { explorers: 5, budget: 50, trigger: 2, ..USUAL };
    let mut compared = 0;
    for (jobs, machines, spread) in [(40, 3, 99), (64, 3, 60), (33, 20, 700), (9, 6, 4300)] {
        let instance = random(&mut rng, jobs, machines, spread);
        for branching in [Branching::Forward, Branching::MinBranch, Branching::MinMin] {
            let mut flowshop = Flowshop::new(instance.clone(), Level::best());
            flowshop.branching = branching;
            // The two-machine bound for some, the one-machine bound for the others.
            let two = branching == Branching::MinBranch && jobs < 64;
            flowshop.bound = if two { Bound::Two } else { Bound::One };
            assert!(flowshop.on_device().is_ok());
            // A value below the optimum leaves a smaller tree, but not an empty one.
            for above in [1, 3, 9] {
                let best = flowshop.root_bound() + above;
                flowshop.reference = best;
                if let Some(wanted) = on_cpu_within(&flowshop, best, 100_000) {
                    let explored = explore(&flowshop, how, best);
                    assert_eq!(explored.counts, wanted, "{jobs} jobs, {branching}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 12, "only {compared} trees are small enough");
}

/// Ta014 by min-branch for many uses of the device; Ta007 by forward branching, a larger tree.
#[test]
fn published_trees_are_counted() {
    for (name, branching, nodes, ways) in [
        ("ta014", Branching::MinBranch, 19_301, uses().skip(1).step_by(3).collect::<Vec<_>>()),
        ("ta007", Branching::Forward, 271_603, uses().skip(23).collect()),
    ] {
        let mut flowshop = Flowshop::new(named(name).unwrap(), Level::best());
        flowshop.branching = branching;
        let best = best_known(name).unwrap().0;
        flowshop.reference = best;
        let wanted = on_cpu(&flowshop, best).counts;
        assert_eq!(wanted.branched, nodes);
        assert!(!ways.is_empty());
        for how in ways {
            assert_eq!(explore(&flowshop, how, best).counts, wanted, "{name} {branching} {how:?}");
        }
    }
}
