//! Trees of a user's own that are not as they should be, and what the engine makes of them.

use crate::outside::fresh;
use pleach::{Children, Goal, RunError, Solver, Status, Tree};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Strings of ten digits below 3, whose value is the sum; one of them claims to be better than it is. With keys, it is
/// searched by layers.
struct Liar {
    keys: bool,
}

impl Tree for Liar {
    type Node = Vec<u8>;
    const GOAL: Goal = Goal::Maximise;

    fn root(&self) -> Vec<u8> {
        Vec::new()
    }

    fn expand(&self, node: &Vec<u8>, _: Option<i64>, out: &mut Children<Self>) {
        if node.len() == 10 {
            let sum: i64 = node.iter().map(|&digit| i64::from(digit)).sum();
            let claimed = if sum == 7 { 100 } else { sum };
            return out.solution(claimed, || node.iter().map(|&digit| digit.into()).collect());
        }
        (0..3).for_each(|digit| out.child([&node[..], &[digit]].concat()));
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        Some(Ok(solution.iter().sum()))
    }

    fn key(&self, node: &Vec<u8>) -> Option<u128> {
        self.keys.then(|| node.iter().fold(1, |key, &digit| 3 * key + u128::from(digit)))
    }
}

#[test]
fn a_wrong_solution_of_layers_is_not_shown() {
    let seen = |value: i64, _: &[i64]| assert_ne!(value, 100);
    match Solver::new(Liar { keys: true }).threads(2).on_solution(seen).run() {
        Err(RunError::Solution(why)) => assert!(why.contains("claims the value 100"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wrong_solution_is_neither_shown_nor_saved() {
    let file = fresh("misuse", "liar.pleach");
    let wrong = AtomicBool::new(false);
    let liar = Liar { keys: false };
    let solver = Solver::new(liar).threads(2).checkpoint(&file, Duration::from_secs(60));
    let seen = |value: i64, _: &[i64]| {
        wrong.fetch_or(value == 100, Ordering::Relaxed);
    };
    let ended = solver.on_solution(seen).run();
    match ended {
        Err(RunError::Solution(why)) => assert!(why.contains("claims the value 100"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert!(!wrong.load(Ordering::Relaxed));
    // The file is as good as it was before.
    match Solver::new(Liar { keys: false }).threads(1).resume(&file).unwrap().run() {
        Err(RunError::Solution(why)) => assert!(why.contains("claims the value 100"), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// All strings of zeros and ones of a length, each counted, and reported as a solution although nobody asked. Some have
/// a bound that no solution is within.
struct Counted;

impl Tree for Counted {
    type Node = (u8, i64);
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> (u8, i64) {
        (0, 0)
    }

    fn expand(&self, &(length, ones): &(u8, i64), _: Option<i64>, out: &mut Children<Self>) {
        out.solution(ones, Vec::new);
        if length == 12 {
            return out.count(1);
        }
        out.child_within(ones + 1, (length + 1, ones + 1));
        out.child_within(i64::MAX, (length + 1, ones));
    }
}

#[test]
fn solutions_and_bounds_prune_nothing_that_is_counted() {
    for threads in [1, 3] {
        let report = Solver::new(Counted).threads(threads).run().unwrap();
        assert_eq!((report.status, report.count), (Status::Counted, 4096));
    }
}

/// A single solution, of the best value that there is.
struct Unbeatable<const MOST: bool>;

impl<const MOST: bool> Tree for Unbeatable<MOST> {
    type Node = u32;
    const GOAL: Goal = if MOST { Goal::Maximise } else { Goal::Minimise };

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &node: &u32, _: Option<i64>, out: &mut Children<Self>) {
        if node == 3 {
            out.solution(if MOST { i64::MAX } else { i64::MIN }, Vec::new);
        }
        (node + 1..4).for_each(|child| out.child(child));
    }
}

/// As an optimum or as a value to beat, it used to have no bound.
#[test]
fn the_best_value_of_64_bits_is_its_own_bound() {
    let least = Solver::new(Unbeatable::<false>).threads(2).run().unwrap();
    assert_eq!((least.status, least.lower_bound), (Status::Optimal, Some(i64::MIN)));
    let most = Solver::new(Unbeatable::<true>).threads(2).run().unwrap();
    assert_eq!((most.status, most.lower_bound), (Status::Optimal, Some(i64::MAX)));
    assert_eq!((least.gap(), most.gap()), (Some(0.0), Some(0.0)));
    let unbeaten = Solver::new(Unbeatable::<true>).threads(2).best(i64::MAX).run().unwrap();
    assert_eq!((unbeaten.status, unbeaten.lower_bound), (Status::NoBetter, Some(i64::MAX)));
}

/// A number that is found, with a value that means "none yet" elsewhere.
struct Found(i64);

impl Tree for Found {
    type Node = u32;
    const GOAL: Goal = Goal::Find;

    fn root(&self) -> u32 {
        1
    }

    fn expand(&self, node: &u32, _: Option<i64>, out: &mut Children<Self>) {
        if *node == 700 {
            out.solution(self.0, || vec![700]);
        }
        if *node < 512 {
            out.child(2 * node);
            out.child(2 * node + 1);
        }
    }
}

#[test]
fn a_solution_is_found_whatever_its_value() {
    for value in [i64::MAX, i64::MIN, 0] {
        let report = Solver::new(Found(value)).threads(2).run().unwrap();
        assert_eq!((report.status, report.solution), (Status::Found, Some(vec![700])), "{value}");
    }
}

/// A solution with the value that means "none yet".
struct NoneYet;

impl Tree for NoneYet {
    type Node = u32;
    const GOAL: Goal = Goal::Maximise;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, _: &u32, _: Option<i64>, out: &mut Children<Self>) {
        out.solution(i64::MIN, || vec![0]);
    }
}

/// It used to be dropped, and the search ended without a solution.
#[test]
#[should_panic(expected = "has the value -9223372036854775808: expected one that is better than")]
fn the_value_of_a_solution_is_better_than_none() {
    let _ = Solver::new(NoneYet).threads(1).run();
}

#[test]
#[should_panic(expected = "has the value 9223372036854775807: expected one that is better than")]
fn the_value_of_a_start_is_better_than_none() {
    let _ = Goal::Minimise.solution(i64::MAX, vec![]);
}

/// Where any solution will do, bounds and values are not compared: this used to be a wrong bound.
struct FoundBelow(i64);

impl Tree for FoundBelow {
    type Node = u32;
    const GOAL: Goal = Goal::Find;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, node: &u32, _: Option<i64>, out: &mut Children<Self>) {
        if *node == 9 {
            return out.solution(0, || vec![9]);
        }
        out.child_within(self.0, node + 1);
    }
}

#[test]
fn a_solution_is_found_whatever_its_bound() {
    for bound in [i64::MIN, -10, 0, 10, i64::MAX] {
        let report = Solver::new(FoundBelow(bound)).threads(2).run().unwrap();
        assert_eq!((report.status, report.solution), (Status::Found, Some(vec![9])), "{bound}");
    }
}

/// They used to prune what is counted.
#[test]
fn values_are_refused_where_no_best_solution_is_wanted() {
    let refused = |report: Result<pleach::Report, RunError>| {
        assert!(matches!(report, Err(RunError::NoValues)), "{report:?}");
    };
    refused(Solver::new(Counted).best(5).run());
    refused(Solver::new(Counted).start(5, vec![]).run());
    refused(Solver::new(Found(0)).best(0).run());
    let search = pleach::Search::default();
    assert!(search.run(&pleach::Plain(Counted), Some(5)).is_err());
}

/// A tree of its own fingerprint, which may be 0.
struct Numbered(u64);

impl Tree for Numbered {
    type Node = u64;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> u64 {
        1
    }

    fn expand(&self, node: &u64, _: Option<i64>, out: &mut Children<Self>) {
        if *node >> 16 > 0 {
            return out.solution((node ^ self.0).cast_signed() & 0xffff, Vec::new);
        }
        (0..2).for_each(|bit| out.child(2 * node + bit));
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(self.0)
    }
}

/// A fingerprint of 0 used to pass for any tree.
#[test]
fn a_search_with_a_fingerprint_of_0_is_not_resumed_as_another() {
    let file = fresh("misuse", "numbered.pleach");
    let first = Solver::new(Numbered(0))
        .threads(1)
        .node_limit(1000)
        .checkpoint(&file, Duration::from_secs(9))
        .run();
    assert_eq!(first.unwrap().status, Status::Stopped);
    let other = Solver::new(Numbered(1)).resume(&file).and_then(Solver::run);
    match other {
        // It used to begin with "it belongs", and nothing said what.
        Err(why @ RunError::Resume(_)) => {
            let why = why.to_string();
            assert!(why.starts_with("the checkpoint cannot be resumed: it belongs to"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    let same = Solver::new(Numbered(0)).resume(&file).and_then(Solver::run).unwrap();
    assert_eq!((same.status, same.objective), (Status::Optimal, Some(0)));
}

/// Numbers of ten bits, the largest first, of which any will do, or the least is wanted.
struct Numbers<const ANY: bool>;

impl<const ANY: bool> Tree for Numbers<ANY> {
    type Node = u32;
    const GOAL: Goal = if ANY { Goal::Find } else { Goal::Minimise };

    fn root(&self) -> u32 {
        1
    }

    fn expand(&self, &node: &u32, _: Option<i64>, out: &mut Children<Self>) {
        if node >= 512 {
            return out.solution(node.into(), || vec![node.into()]);
        }
        out.child(2 * node + 1);
        out.child(2 * node);
    }
}

/// The first solution used to become the optimum, with proof: nothing was left to explore.
#[test]
fn a_search_for_any_solution_is_not_resumed_as_one_for_the_best() {
    let file = fresh("misuse", "numbers.pleach");
    let found = Solver::new(Numbers::<true>).checkpoint(&file, Duration::from_secs(9)).run();
    assert_eq!(found.unwrap().status, Status::Found);
    let best = Solver::new(Numbers::<false>).resume(&file).and_then(Solver::run);
    assert!(matches!(best, Err(RunError::Resume(_))), "{best:?}");
}

/// Paths in a grid, with children in an order that changes from call to call.
struct Restless(AtomicU64);

impl Tree for Restless {
    type Node = (u8, u8, i64);
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> (u8, u8, i64) {
        (0, 0, 0)
    }

    fn expand(&self, &(x, y, cost): &(u8, u8, i64), _: Option<i64>, out: &mut Children<Self>) {
        if (x, y) == (6, 6) {
            return out.solution(cost, || vec![cost]);
        }
        let cost = cost + i64::from(x * 7 + y * 3) % 5;
        let mut next = vec![(x + 1, y, cost), (x, y + 1, cost)];
        if self.0.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
            next.reverse();
        }
        next.retain(|&(x, y, _)| x <= 6 && y <= 6);
        next.into_iter().for_each(|node| out.child_within(node.2, node));
    }

    fn key(&self, &(x, y, _): &(u8, u8, i64)) -> Option<u128> {
        Some(u128::from(x) << 8 | u128::from(y))
    }

    fn dominates(&self, one: &(u8, u8, i64), other: &(u8, u8, i64)) -> bool {
        one.2 <= other.2
    }
}

#[test]
fn layers_need_no_fingerprint_without_a_file() {
    let layers = Solver::new(Restless(AtomicU64::new(0))).threads(2).run().unwrap();
    let plain = Solver::new(Restless(AtomicU64::new(0))).threads(2).layers(false).run().unwrap();
    assert_eq!(layers.status, Status::Optimal);
    assert_eq!(layers.objective, plain.objective);
}
