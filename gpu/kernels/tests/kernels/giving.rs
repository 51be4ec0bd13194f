//! Giving inside a launch: nothing is lost or counted twice whatever the order, and thin trees need few launches.

use crate::device::{Device, Use};
use crate::{USUAL, atsp, flowshop, on_cpu};
use oorandom::Rand64;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Nodes;
use pleach_kernels::launch::KernelEntry;
use pleach_problems::flowshop::Flowshop;
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::Uts;
use pleach_problems::uts::parameters::Parameters;

/// The effort of a search.
#[derive(Debug, Default)]
struct Took {
    counts: Counts,
    rounds: u32,
    given: u32,
}

/// Explores a whole tree that starts on the last explorer that takes part.
fn explore(problem: &dyn Problem, how: Use, best: i64) -> Took {
    let on_device = problem.on_device().expect("the problem has a kernel");
    let (mut device, mut words) = (Device::new(on_device, how, best), Vec::new());
    on_device.to_words(&problem.root().bytes, &mut words).unwrap();
    assert!(device.put(&words, 1).is_empty());
    let mut took = Took::default();
    while device.heights.iter().any(|&height| height > 0) {
        device.launch(KernelEntry::Explore, 0).unwrap();
        took.counts.add(&device.counted());
        (took.rounds, took.given) = (took.rounds + 1, took.given + device.report.given);
        let open: u32 = device.heights.iter().sum();
        assert_eq!(device.report.nodes, u64::from(open), "{how:?}");
        let empty = device.heights[..how.active].iter().filter(|&&height| height == 0).count();
        assert_eq!(device.report.idle as usize, empty, "{how:?}");
        device.balance().unwrap();
    }
    took
}

fn uts(words: &str) -> Uts {
    Uts::new(Parameters::parse(words).unwrap(), Level::Off)
}

const GIVING: Use = Use { giving: true, spare: 2000, ..USUAL };

/// Few and many explorers, also more than can run side by side; short and long launches; many orders.
#[test]
fn nothing_is_lost_or_counted_twice() {
    let mut rng = Rand64::new(41);
    let tree = uts("type=binomial,b0=60,q=0.19,m=5,seed=3");
    let queens = Queens::new(9, Level::Off).unwrap();
    let paths = atsp::random(&mut rng, 8, 3, Nodes::Pool);
    let mut schedules = Flowshop::new(flowshop::random(&mut rng, 9, 5, 100), Level::Off);
    let length = on_cpu(&paths, i64::MAX).found.unwrap().score;
    let makespan = on_cpu(&schedules, i64::MAX).found.unwrap().score;
    schedules.reference = makespan;
    let problems: [(&dyn Problem, i64); 4] =
        [(&tree, i64::MAX), (&queens, i64::MAX), (&paths, length), (&schedules, makespan)];
    for (which, (problem, best)) in problems.into_iter().enumerate() {
        let wanted = on_cpu(problem, best).counts;
        let mut given = 0;
        for explorers in [2, 5, 32, 61] {
            // After 16 steps explorers have just begun to give, while waiting explorers leave.
            for (budget, seeds) in [(3, 1), (16, 3), (40, 2), (100_000, 4)] {
                for seed in 0..seeds {
                    let active = explorers - usize::from(seed == 1);
                    let trigger = if seed == 2 { active as u32 / 2 } else { 0 };
                    let how = Use { explorers, active, budget, trigger, seed, ..GIVING };
                    let took = explore(problem, how, best);
                    assert_eq!(took.counts, wanted, "problem {which}, {how:?}");
                    given += took.given;
                }
            }
        }
        assert!(given > 50, "problem {which}: {given} nodes");
    }
}

/// If explorers run out of room, they still give nodes, and none is lost.
#[test]
fn little_room_is_enough() {
    let tree = uts("shape=fixed,b0=4,gen_mx=5,seed=3");
    let wanted = on_cpu(&tree, i64::MAX).counts;
    for (spare, span) in [(1, 4), (9, 4), (20, 8)] {
        for seed in 0..8 {
            let how = Use { explorers: 9, active: 9, spare, span, budget: 500, seed, ..GIVING };
            assert_eq!(explore(&tree, how, i64::MAX).counts, wanted, "{how:?}");
        }
    }
}

/// All explorers but one start without nodes, and one launch is enough.
#[test]
fn a_thin_tree_takes_one_launch() {
    let tree = uts("type=binomial,b0=200,q=0.1245,m=8,seed=42");
    let wanted = on_cpu(&tree, i64::MAX).counts;
    assert!(wanted.total > 5000, "{wanted:?}");
    for seed in 0..10 {
        let how = Use { explorers: 32, active: 32, budget: 1_000_000, seed, ..GIVING };
        let took = explore(&tree, how, i64::MAX);
        assert_eq!((took.counts.clone(), took.rounds), (wanted.clone(), 1));
        assert!(took.given > 100, "{took:?}");
    }
}
