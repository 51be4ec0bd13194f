//! Runs that give work away before its owner is notified: the number of nodes explored twice is known.

use crate::shared::slow_threads;
use oorandom::Rand64;
use pleach_core::search::problem::Problem;
use pleach_core::search::work::Nodes;
use pleach_core::steal::Policy;
use pleach_problems::flowshop::{
    Flowshop, bound::Bound, branching::Branching, named::best_known, named::named,
};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_runtime::{RunError, Settings, run};
use std::ops::ControlFlow;
use std::time::Duration;

fn late() -> Policy {
    Policy::parse("master-worker:late").unwrap()
}

fn flowshop(name: &str, bound: Bound, branching: Branching) -> Flowshop {
    let mut flowshop = Flowshop::new(named(name).unwrap(), Level::best());
    (flowshop.bound, flowshop.branching) = (bound, branching);
    (flowshop.reference, flowshop.nodes) = (best_known(name).unwrap().0, Nodes::Interval);
    flowshop
}

#[test]
fn redundant_nodes_are_exactly_the_excess() {
    let (mut twice, mut served) = (0, 0);
    for (name, bound, branching) in [
        ("VFR10_20_1", Bound::Two, Branching::Alternate),
        ("ta005", Bound::One, Branching::MinBranch),
        ("VFR10_15_3", Bound::OneTight, Branching::MaxSum),
    ] {
        let problem = flowshop(name, bound, branching);
        let mut explorer = problem.explorer();
        explorer.add_work(&problem.root().bytes).unwrap();
        let alone = pleach_core::search::laws::run_to_end(&mut *explorer, problem.reference).counts;
        for seed in 0..30 {
            let mut rng = Rand64::new(seed);
            let mut below = |n: u64| rng.rand_range(0..n);
            let threads = 1 + below(8) as u32;
            let settings = Settings {
                threads,
                policy: Policy { report_ns: 10_000 + below(500_000), ..late() },
                slow: slow_threads((0..threads).map(|_| [1.0, 1.5, 6.0][below(3) as usize])),
                spin: Duration::from_micros(below(3) * 10),
                best: Some(problem.reference),
                seed: seed as u64,
                ..Settings::default()
            };
            let outcome = run(&problem, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
            assert!(outcome.stop.is_none() && outcome.open == 0.0, "{name} seed {seed}");
            let once = outcome.counts.bounded - outcome.balance.redundant;
            assert_eq!(once, alone.bounded, "{name} seed {seed}");
            assert_eq!(outcome.lower_bound, problem.reference);
            twice += outcome.balance.redundant;
            served += outcome.balance.served;
        }
    }
    println!("{twice} nodes twice, {served} pieces");
    assert!(twice > 0 && served > 100);
}

#[test]
fn optima_are_found_from_scratch() {
    for seed in 0..20 {
        let mut problem = flowshop("VFR10_20_1", Bound::One, Branching::MinBranch);
        problem.reference = i64::MAX;
        let settings = Settings { threads: 4, policy: late(), seed, ..Settings::default() };
        let outcome = run(&problem, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
        let optimum = best_known("VFR10_20_1").unwrap().0;
        assert_eq!(outcome.solution.map(|best| best.score), Some(optimum), "seed {seed}");
        assert_eq!(outcome.lower_bound, optimum);
    }
}

/// Counts would be wrong, pools cannot be trimmed, and checkpoints do not hold the copies.
#[test]
fn unsuitable_searches_are_refused() {
    let settings = || Settings { threads: 2, policy: late(), ..Settings::default() };
    let refused = |problem: &dyn Problem, settings: Settings, said: &str| {
        let why = run(problem, &settings, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert!(matches!(why, RunError::Late(_)) && why.to_string().contains(said), "{why}");
    };
    let mut queens = Queens::new(8, Level::Off).unwrap();
    queens.nodes = Nodes::Interval;
    refused(&queens, settings(), "it cannot count");
    let mut pool = flowshop("ta001", Bound::One, Branching::MinBranch);
    pool.nodes = Nodes::Pool;
    refused(&pool, settings(), "held as intervals");
    let problem = flowshop("ta001", Bound::One, Branching::MinBranch);
    let resume = Some(std::sync::Arc::new(pleach_core::wire::checkpoint::Checkpoint {
        fingerprint: problem.fingerprint(),
        best: i64::MAX,
        ..Default::default()
    }));
    refused(&problem, Settings { resume, ..settings() }, "cannot be saved or resumed");
}
