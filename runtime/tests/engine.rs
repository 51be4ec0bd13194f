//! Complete runs on threads: they always end, with the exact count.

use crate::shared::slow_threads;
use oorandom::Rand64;
use pleach_core::search::laws::explore_whole;
use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::tree::{Children, Counts, Goal, Tree};
use pleach_core::search::work::Nodes;
use pleach_core::steal::{End, Policy, Victim};
use pleach_problems::flowshop::{Flowshop, named::named};
use pleach_problems::queens::{Queens, first::FirstQueens};
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use pleach_runtime::activity::Column;
use pleach_runtime::{Outcome, RunError, Settings, Stop, run};
use std::ops::ControlFlow;
use std::time::Duration;

pub fn go(problem: &dyn Problem, settings: &Settings) -> Outcome {
    run(problem, settings, &mut |_| ControlFlow::Continue(())).unwrap()
}

pub fn uts(words: &str, level: Level) -> Uts {
    Uts::new(Parameters::parse(words).unwrap(), level)
}

pub fn settings(threads: u32) -> Settings {
    Settings { threads, ..Settings::default() }
}

/// The number of random runs: `PLEACH_RUNS`, or 1,000.
fn runs() -> u64 {
    std::env::var("PLEACH_RUNS").ok().and_then(|word| word.parse().ok()).unwrap_or(1000)
}

/// Random threads, shares, slow factors, spins and code paths on small trees.
#[test]
fn random_runs_count_exactly() {
    let trees = [
        "type=binomial,b0=200,q=0.199,m=5,seed=3",
        "shape=linear,b0=4,gen_mx=11,seed=34",
        "type=binomial,b0=2,q=0.49,m=2,seed=11",
        "shape=fixed,b0=0.1,gen_mx=4,seed=4",
    ];
    let wanted = trees.map(|words| {
        let tree = uts(words, Level::Off);
        explore_whole(&tree, i64::MAX).counts
    });
    for seed in 0..runs() {
        let mut rng = Rand64::new(u128::from(seed));
        let mut below = |n: u64| rng.rand_range(0..n);
        let threads = 1 + below(8) as u32;
        let which = below(trees.len() as u64) as usize;
        let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| level.works()).collect();
        let level = levels[below(levels.len() as u64) as usize];
        let shares = [
            "half", "power", "1/3", "1/8", "1/100", "subtree", "subtree-power", "chunk/9",
            "guided/1",
        ];
        let share = shares[below(shares.len() as u64) as usize];
        let presets = [
            "adaptive",
            "ring",
            "lifelines",
            "overlay",
            "dynamic",
            "static:share=even",
            "master-worker",
            "hierarchical-master-worker",
        ];
        let (degree, patience) = (1 + below(4) as u32, 1 + below(4) as u32);
        let mut policy = Policy {
            end: [End::Waves, End::Counter].get(below(3) as usize).copied(),
            ..match presets[below(8) as usize] {
                once @ "static:share=even" => Policy::parse(once).unwrap(),
                preset => Policy::parse(&format!("{preset}:share={share}")).unwrap(),
            }
        };
        if policy.victim == Victim::Master {
            policy.cutoff = [None, Some(1), Some(3), Some(9)][below(4) as usize];
            policy.coordinator = below(2) == 1;
        }
        if matches!(policy.victim, Victim::Parent { .. }) && below(2) == 1 {
            policy.depths = [[1, 3], [2, 4], [9, 2]][below(3) as usize].into();
            policy.pool = [None, Some(1), Some(8)][below(3) as usize];
        }
        policy.tree.degree = degree;
        policy.rests.patience = patience;
        let slow = slow_threads((0..threads).map(|_| [1.0, 1.0, 1.5, 6.0][below(4) as usize]));
        let spin = Duration::from_micros(below(3) * 10);
        let settings = Settings { threads, slow, policy, seed, spin, ..Settings::default() };
        let outcome = go(&uts(trees[which], level), &settings);
        let what = format!("seed {seed}: {} at {level} with {settings:?}", trees[which]);
        assert_eq!(outcome.counts, wanted[which], "{what}");
        assert!(outcome.stop.is_none() && outcome.open == 0.0, "{what}");
    }
}

#[test]
fn random_runs_of_a_flowshop_explore_one_tree() {
    use pleach_problems::flowshop::{bound::Bound, branching::Branching, named::best_known};
    let trees = [
        ("VFR10_20_1", Bound::Two, Branching::Alternate),
        ("ta005", Bound::One, Branching::MinBranch),
        ("VFR10_15_3", Bound::OneTight, Branching::MaxSum),
        ("VFR10_20_1", Bound::One, Branching::Alternate),
    ];
    let make = |which: usize, level: Level| {
        let (name, bound, branching) = trees[which];
        let mut flowshop = Flowshop::new(named(name).unwrap(), level);
        (flowshop.bound, flowshop.branching) = (bound, branching);
        flowshop.reference = best_known(name).unwrap().0;
        flowshop
    };
    let wanted: Vec<Counts> = (0..trees.len())
        .map(|which| {
            let flowshop = make(which, Level::best());
            explore_whole(&flowshop, flowshop.reference).counts
        })
        .collect();
    assert!(wanted.iter().all(|counts| counts.branched > 1000), "{wanted:?}");
    for seed in 0..runs() / 10 {
        let mut rng = Rand64::new(u128::from(seed) + 1000);
        let mut below = |n: u64| rng.rand_range(0..n);
        let which = below(trees.len() as u64) as usize;
        let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| level.works()).collect();
        let flowshop = make(which, levels[below(levels.len() as u64) as usize]);
        let threads = 1 + below(6) as u32;
        let policy = ["random-half", "adaptive:share=power", "adaptive:share=1/20"];
        let settings = Settings {
            policy: Policy::parse(policy[below(3) as usize]).unwrap(),
            slow: slow_threads((0..threads).map(|_| [1.0, 1.5, 6.0][below(3) as usize])),
            best: Some(flowshop.reference),
            // Heuristics alongside the search find nothing better here.
            improve: below(2) == 0,
            seed,
            ..settings(threads)
        };
        let outcome = go(&flowshop, &settings);
        assert_eq!(outcome.counts, wanted[which], "seed {seed}: {:?}, {settings:?}", trees[which]);
        assert_eq!(outcome.lower_bound, flowshop.reference);
    }
}

#[test]
fn random_runs_of_intervals_count_exactly() {
    use pleach_problems::flowshop::{bound::Bound, branching::Branching, named::best_known};
    let with_bound = |bound, branching, level| {
        let mut flowshop = Flowshop::new(named("VFR10_20_1").unwrap(), level);
        (flowshop.bound, flowshop.branching) = (bound, branching);
        flowshop.reference = best_known("VFR10_20_1").unwrap().0;
        flowshop
    };
    type Make<'a> = &'a dyn Fn(Level, Nodes) -> (Box<dyn Problem>, Option<i64>);
    let flowshop = |bound, branching, level, nodes| -> (Box<dyn Problem>, Option<i64>) {
        let mut flowshop = with_bound(bound, branching, level);
        flowshop.nodes = nodes;
        let best = flowshop.reference;
        (Box::new(flowshop), Some(best))
    };
    let kinds: [Make<'_>; 3] = [
        &|level, nodes| flowshop(Bound::One, Branching::Alternate, level, nodes),
        &|level, nodes| flowshop(Bound::Two, Branching::Alternate, level, nodes),
        &|level, nodes| {
            let mut queens = Queens::new(11, level).unwrap();
            queens.nodes = nodes;
            (Box::new(queens), None)
        },
    ];
    let wanted: Vec<Counts> = kinds
        .iter()
        .map(|make| {
            let (problem, best) = make(Level::best(), Nodes::Pool);
            explore_whole(&*problem, best.unwrap_or(i64::MAX)).counts
        })
        .collect();
    assert!(wanted.iter().all(|counts| counts.branched > 1000), "{wanted:?}");
    for seed in 0..runs() / 10 {
        let mut rng = Rand64::new(u128::from(seed) + 2000);
        let mut below = |n: u64| rng.rand_range(0..n);
        let which = below(kinds.len() as u64) as usize;
        let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| level.works()).collect();
        let level = levels[below(levels.len() as u64) as usize];
        let (problem, best) = kinds[which](level, Nodes::Interval);
        let threads = 1 + below(6) as u32;
        let policy = ["random-half", "adaptive:share=power", "adaptive:share=1/20"];
        let settings = Settings {
            policy: Policy::parse(policy[below(3) as usize]).unwrap(),
            slow: slow_threads((0..threads).map(|_| [1.0, 1.5, 6.0][below(3) as usize])),
            best,
            seed,
            ..settings(threads)
        };
        let outcome = go(&*problem, &settings);
        assert_eq!(outcome.counts, wanted[which], "seed {seed}: {which} {level}, {settings:?}");
        assert!(outcome.stop.is_none() && outcome.open == 0.0);
    }
}

#[test]
fn queens_are_counted_on_any_number_of_threads() {
    for threads in [1, 2, 3, 8] {
        for level in Level::ALL.into_iter().filter(|level| level.works()) {
            let outcome = go(&Queens::new(11, level).unwrap(), &settings(threads));
            assert_eq!(outcome.counts.total, 2680);
            assert_eq!(outcome.counts.bounded, 166_925);
        }
    }
}

#[test]
fn a_node_limit_stops_near_the_limit() {
    for threads in [1, 4] {
        let limited = Settings { node_limit: Some(100_000), ..settings(threads) };
        let outcome = go(&uts("T1", Level::best()), &limited);
        assert_eq!(outcome.stop, Some(Stop::Nodes));
        assert!((90_000..=110_000).contains(&outcome.counts.bounded), "{}", outcome.counts.bounded);
        assert!(outcome.open > 0.0);
    }
    let enough = Settings { node_limit: Some(10_000_000), ..settings(2) };
    assert_eq!(go(&uts("T1", Level::best()), &enough).stop, None);
}

#[test]
fn a_node_limit_means_the_same_on_every_code_path() {
    for level in Level::ALL.into_iter().filter(|level| level.works()) {
        for threads in [1, 16] {
            let limited = Settings { node_limit: Some(200_000), ..settings(threads) };
            let queens = go(&Queens::new(16, level).unwrap(), &limited).counts.bounded;
            assert!((180_000..=400_000).contains(&queens), "queens {level}: {queens}");
            let tree = go(&uts("T1L", level), &limited).counts.bounded;
            assert!((180_000..=220_000).contains(&tree), "uts {level}: {tree}");
        }
    }
}

#[test]
fn a_time_limit_stops_in_time() {
    let limited = Settings { time_limit: Some(Duration::from_millis(50)), ..settings(2) };
    let outcome = go(&uts("T1XXL", Level::best()), &limited);
    assert_eq!(outcome.stop, Some(Stop::Time));
    // The whole tree would take minutes.
    assert!(outcome.counts.bounded < 4_230_646_601 / 2);
}

#[test]
fn a_watcher_sees_progress_and_can_stop_the_run() {
    let quick = Settings { progress_every: Duration::from_millis(5), ..settings(2) };
    let mut seen = Vec::new();
    let outcome = run(&Queens::new(18, Level::best()).unwrap(), &quick, &mut |snapshot| {
        seen.push(snapshot.clone());
        // An estimate of the share done takes a while to become stable.
        let continues = seen.len() < 20 || snapshot.done.is_none();
        if continues { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!(outcome.unwrap().stop, Some(Stop::Asked));
    assert!(seen.is_sorted_by_key(|snapshot| snapshot.counts.bounded));
    assert!(seen.last().is_some_and(|last| last.done.is_some_and(|done| done < 1.0)));
    let last = &seen.last().unwrap().workers;
    assert!(last.iter().map(|worker| &*worker.name).eq(["cpu0", "cpu1"]), "{last:?}");
    assert!(last.iter().any(|worker| worker.nodes > 0 && worker.busy_s > 0.0), "{last:?}");
}

#[test]
fn an_endless_tree_stops_before_memory_runs_out() {
    // Every node has two children, so the search never stops descending.
    let limited = Settings { memory: Some(128 << 20), ..settings(1) };
    let outcome = go(&uts("type=binomial,b0=2,q=1,m=2", Level::best()), &limited);
    assert_eq!(outcome.stop, Some(Stop::Memory));
}

#[test]
fn the_first_solution_ends_the_search() {
    let outcome = go(&Plain(FirstQueens::new(40).unwrap()), &settings(2));
    assert_eq!(outcome.stop, Some(Stop::Found));
    assert!(outcome.solution.is_some());
}

/// The least sum of `n` entries of a fixed table, one from each row and column.
struct Assignment {
    n: u32,
    wrong: bool,
}

impl Assignment {
    fn cost(row: u32, column: u32) -> i64 {
        i64::from((row * 37 + column * 101 + row * column * 13) % 97)
    }
}

impl Tree for Assignment {
    type Node = (u32, u32, i64, Vec<u8>);
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Self::Node {
        (0, 0, 0, Vec::new())
    }

    fn expand(&self, node: &Self::Node, _best: Option<i64>, out: &mut Children<'_, Self>) {
        let (row, used, sum, ref plan) = *node;
        if row == self.n {
            return out.solution(sum, || plan.iter().copied().map(i64::from).collect());
        }
        for column in (0..self.n).filter(|column| used >> column & 1 == 0) {
            let sum = sum + Self::cost(row, column);
            let plan = [&plan[..], &[column as u8]].concat();
            out.child_within(sum, (row + 1, used | 1 << column, sum, plan));
        }
    }

    fn check(&self, plan: &[i64]) -> Option<Result<i64, String>> {
        let sum: i64 = (0..).zip(plan).map(|(row, &column)| Self::cost(row, column as u32)).sum();
        Some(Ok(sum + i64::from(self.wrong)))
    }
}

#[test]
fn the_optimum_is_the_same_on_any_number_of_threads_and_proven_from_itself() {
    let problem = Plain(Assignment { n: 9, wrong: false });
    let first = go(&problem, &settings(1));
    let best = first.solution.clone().unwrap().score;
    assert_eq!(first.lower_bound, best);
    let from_best = |threads| {
        let outcome = go(&problem, &Settings { best: Some(best), ..settings(threads) });
        assert!(outcome.solution.is_none());
        assert_eq!(outcome.lower_bound, best);
        outcome.counts
    };
    let nodes = from_best(1);
    for threads in [2, 5] {
        assert_eq!(go(&problem, &settings(threads)).solution.unwrap().score, best);
        assert_eq!(from_best(threads), nodes);
    }
}

#[test]
fn best_first_the_optimum_and_the_tree_below_it_are_the_same() {
    let problem = Plain(Assignment { n: 9, wrong: false });
    let best_first =
        |threads, best| go(&problem, &Settings { best_first: true, best, ..settings(threads) });
    let deep = go(&problem, &settings(1));
    let best = Some(deep.lower_bound);
    let nodes = go(&problem, &Settings { best, ..settings(1) }).counts;
    for threads in [1, 2, 5] {
        let outcome = best_first(threads, None);
        assert_eq!(outcome.solution.map(|found| found.score), best);
        assert_eq!(best_first(threads, best).counts, nodes);
    }
    let error = run(&Plain(Refusing), &Settings { best_first: true, ..settings(1) }, &mut |_| {
        ControlFlow::Continue(())
    });
    assert!(matches!(error, Err(RunError::BestFirst)), "a tree that counts has no best nodes");
}

#[test]
fn at_a_stop_the_bound_is_below_the_best_and_above_the_root() {
    let problem = Plain(Assignment { n: 14, wrong: false });
    let outcome = go(&problem, &Settings { node_limit: Some(20_000), ..settings(3) });
    assert_eq!(outcome.stop, Some(Stop::Nodes));
    assert!(outcome.lower_bound <= outcome.solution.unwrap().score);
    assert!(outcome.lower_bound >= 0);
}

#[test]
fn an_invalid_solution_is_an_error() {
    let wrong = Plain(Assignment { n: 5, wrong: true });
    let error = run(&wrong, &settings(2), &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(error, RunError::Solution(_)), "{error}");
}

/// A tree that rejects its own nodes when they are decoded from bytes.
struct Refusing;

impl Tree for Refusing {
    type Node = u32;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &node: &u32, _best: Option<i64>, out: &mut Children<'_, Self>) {
        if node < 60 {
            out.child(node + 1);
            out.child(node + 1);
        }
    }

    fn valid(&self, entry: &pleach_core::search::work::Entry<u32>) -> bool {
        entry.node == 0
    }
}

#[test]
fn unreadable_work_ends_the_run() {
    let error = run(&Plain(Refusing), &settings(3), &mut |_| ControlFlow::Continue(()));
    assert!(matches!(error, Err(RunError::Work(_))), "{error:?}");
}

#[test]
fn a_panic_in_the_watcher_ends_the_run() {
    let quick = Settings { progress_every: Duration::from_millis(5), ..settings(2) };
    let watched = || run(&uts("T1WL", Level::best()), &quick, &mut |_| panic!("a watcher's fault"));
    assert!(std::panic::catch_unwind(watched).is_err());
}

#[test]
fn zero_threads_mean_one() {
    assert_eq!(go(&Queens::new(8, Level::best()).unwrap(), &settings(0)).counts.total, 92);
}

#[test]
fn a_stop_after_the_proof_is_ignored() {
    // At the optimum and with an exact bound, no open node matters.
    struct Exact;
    impl Tree for Exact {
        type Node = u32;
        const GOAL: Goal = Goal::Minimise;
        fn root(&self) -> u32 {
            0
        }
        fn expand(&self, &node: &u32, _best: Option<i64>, out: &mut Children<'_, Self>) {
            if node == 20 {
                return out.solution(7, Vec::new);
            }
            out.child_within(7, node + 1);
            out.child_within(7, node + 1);
        }
    }
    let outcome = go(&Plain(Exact), &Settings { node_limit: Some(41), ..settings(1) });
    assert!(outcome.solution.is_some(), "{outcome:?}");
    assert_eq!((outcome.stop, outcome.lower_bound), (None, 7));
}

/// A tree whose code panics at some node.
struct Faulty;

impl Tree for Faulty {
    type Node = u32;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &node: &u32, _best: Option<i64>, out: &mut Children<'_, Self>) {
        assert!(node < 12, "a fault in the problem's own code");
        out.child(node + 1);
        out.child(node + 1);
    }
}

#[test]
fn a_panic_in_a_problem_ends_the_run_and_continues_in_the_caller() {
    let caught = std::panic::catch_unwind(|| go(&Plain(Faulty), &settings(4)));
    let said = caught.unwrap_err();
    let said = said.downcast_ref::<&str>().copied().unwrap_or_default();
    assert!(said.contains("own code"), "{said}");
}

#[test]
fn the_trace_records_what_every_worker_did() {
    let traced = Settings { trace: true, ..settings(2) };
    let outcome = go(&uts("T1", Level::best()), &traced);
    let nodes = outcome
        .workers
        .iter()
        .map(|worker| worker.activity.as_ref().unwrap().column(Column::Nodes).iter().sum::<u64>());
    assert_eq!(nodes.sum::<u64>(), outcome.counts.bounded);
}

#[test]
fn a_watcher_sees_a_bound_that_holds() {
    let flowshop = Flowshop::new(named("ta030").unwrap(), Level::best());
    for seed in 0..3 {
        let quick = Settings {
            // Long enough for all workers to answer in between, even on a busy machine.
            progress_every: Duration::from_millis(10),
            best: Some(2250),
            improve: true,
            seed,
            ..settings(3)
        };
        let mut seen = Vec::new();
        let outcome = run(&flowshop, &quick, &mut |snapshot| {
            seen.extend(snapshot.bound);
            ControlFlow::Continue(())
        });
        assert_eq!(outcome.unwrap().solution.unwrap().score, 2178);
        assert!(!seen.is_empty() && seen.iter().all(|bound| (1900..=2178).contains(bound)));
        assert!(seen.is_sorted());
    }
}
