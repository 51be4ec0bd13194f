//! What trees of one's own can do beyond branching: counters, steps that are undone, real values, layers.

use crate::outside::folder;
use pleach::{
    Children, Goal, Malformed, Pack, Policy, Reader, RunError, Sample, Solver, Status, Tree, audit,
};
use std::fs;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Subsets of `n` numbers by their size and their sum.
struct Subsets {
    n: u64,
}

impl Tree for Subsets {
    type Node = (u64, u64, u64); // the next number, the size and the sum so far
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        (0, 0, 0)
    }

    fn expand(&self, &(next, size, sum): &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        if next == self.n {
            out.tally(size as usize, 1);
            out.tally(100 + size as usize, sum);
            return out.count(1);
        }
        out.child((next + 1, size, sum));
        out.child((next + 1, size + 1, sum + next));
    }
}

/// Binomial coefficients, and the sums over all subsets of each size.
fn wanted(n: u64) -> Vec<u128> {
    let mut row = vec![1u128];
    for _ in 0..n {
        row.push(0);
        (1..row.len()).rev().for_each(|i| row[i] += row[i - 1]);
    }
    let mut all = row.clone();
    all.resize(100, 0);
    // Each number is in the same part of all subsets of one size.
    let total = u128::from(n * (n - 1) / 2);
    all.extend((0..=n as usize).map(|size| row[size] * size as u128 * total / u128::from(n)));
    all
}

#[test]
fn counters_are_exact_on_any_number_of_threads() {
    let n = 16;
    for policy in ["adaptive", "ring", "lifelines", "master-worker", "static", "overlay:degree=2"] {
        for threads in [1, 2, 5] {
            let policy = Policy::parse(policy).unwrap();
            let solver = Solver::new(Subsets { n }).threads(threads);
            let report = solver.settings(|all| all.policy = policy).run().unwrap();
            assert_eq!((report.count, &report.outcome.counts.tally), (1 << n, &wanted(n)));
        }
    }
}

#[test]
fn counters_survive_stops_and_certificates() {
    let (n, path) = (14, folder("own").join("subsets.pleach"));
    let _ = fs::remove_file(&path);
    let begin =
        || Solver::new(Subsets { n }).threads(2).node_limit(3000).checkpoint(&path, Duration::MAX);
    let mut report = begin().run().unwrap();
    let mut stops = 0;
    while report.status == Status::Stopped {
        report = begin().resume(&path).unwrap().node_limit(5000 + 3000 * stops).run().unwrap();
        stops += 1;
    }
    assert!(stops > 2, "{stops}");
    assert_eq!((report.count, report.outcome.counts.tally), (1 << n, wanted(n)));
    let report = Solver::new(Subsets { n }).certify().run().unwrap();
    let mut certificate = report.certificate.unwrap();
    let proof = audit(Subsets { n }, &certificate, Sample::All).unwrap();
    assert_eq!(proof.counts.tally, wanted(n));
    // One subset more in one region, and in the sum.
    let counted = |counts: &&mut pleach::Counts| !counts.tally.is_empty();
    let region = certificate.regions.iter_mut().map(|region| &mut region.counts).find(counted);
    region.unwrap().tally[3] += 1;
    certificate.search.counts.tally[3] += 1;
    let why = audit(Subsets { n }, &certificate, Sample::All).unwrap_err().to_string();
    assert!(why.contains("the counters ["), "{why}");
}

/// A tour through points of the plane at least length, a real number.
struct Tour {
    points: Vec<(f64, f64)>,
    keys: bool,
    /// Added to all bounds.
    wrong: f64,
    /// What the check adds to the length.
    off: f64,
    /// Called for each node.
    each: Box<dyn Fn() + Send + Sync>,
}

impl Tour {
    fn new(n: usize, seed: u64) -> Self {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / 1e5
        };
        Self {
            points: (0..n).map(|_| (next(), next())).collect(),
            keys: true,
            wrong: 0.0,
            off: 0.0,
            each: Box::new(|| ()),
        }
    }

    fn length(&self, one: usize, other: usize) -> f64 {
        let ((a, b), (x, y)) = (self.points[one], self.points[other]);
        (a - x).hypot(b - y)
    }

    fn whole(&self, order: impl Iterator<Item = usize> + Clone) -> f64 {
        let next = order.clone().skip(1).chain([0]);
        order.zip(next).map(|(one, other)| self.length(one, other)).sum()
    }
}

impl Tree for Tour {
    type Node = (Vec<u8>, f64);
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Self::Node {
        (vec![0], 0.0)
    }

    fn expand(&self, (path, length): &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        (self.each)();
        let last = usize::from(path[path.len() - 1]);
        if path.len() == self.points.len() {
            let whole = length + self.length(last, 0);
            return out.solution_real(whole, || path.iter().map(|&at| at.into()).collect());
        }
        for next in (1..self.points.len()).filter(|&next| !path.contains(&(next as u8))) {
            let length = length + self.length(last, next);
            let bound = length + self.length(next, 0) + self.wrong;
            out.child_within_real(bound, ([&path[..], &[next as u8]].concat(), length));
        }
    }

    fn decimals(&self) -> u32 {
        4
    }

    fn key(&self, (path, _): &Self::Node) -> Option<u128> {
        let last = u128::from(path[path.len() - 1]) << 120;
        self.keys.then(|| path.iter().fold(last, |set, at| set | 1 << at))
    }

    fn dominates(&self, one: &Self::Node, other: &Self::Node) -> bool {
        one.1 <= other.1
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let length = self.whole(solution.iter().map(|&at| at as usize)) + self.off;
        Some(Ok((length * 1e4).round() as i64))
    }
}

#[test]
fn real_values_are_rounded_to_stated_decimals() {
    for seed in 0..5 {
        let with =
            |keys| Solver::new(Tour { keys, ..Tour::new(9, seed) }).threads(2).run().unwrap();
        let (layers, depth) = (with(true), with(false));
        assert_eq!((layers.status, layers.decimals), (Status::Optimal, 4));
        assert_eq!(layers.objective, depth.objective);
        let order = layers.solution.clone().unwrap();
        let length = Tour::new(9, seed).whole(order.iter().map(|&at| at as usize));
        assert!((layers.real(layers.objective.unwrap()) - length).abs() <= 0.5001e-4);
    }
}

#[test]
fn layers_count_the_same_on_any_number_of_threads() {
    let tour = || Tour::new(13, 1);
    let on = |threads| Solver::new(tour()).threads(threads).run().unwrap();
    let one = on(1);
    assert_eq!(one.status, Status::Optimal);
    for threads in [2, 5] {
        let more = on(threads);
        assert_eq!(more.outcome.counts, one.outcome.counts, "{threads}");
        assert_eq!((more.objective, more.solution), (one.objective, one.solution.clone()));
    }
    let depth = Solver::new(tour()).layers(false).threads(2).node_limit(10_000_000).run().unwrap();
    assert!(one.outcome.counts.bounded * 10 < depth.outcome.counts.bounded);
    // The value to beat, a start, and a proof that there is nothing better.
    let optimum = one.objective.unwrap();
    let none = Solver::new(tour()).best(optimum).run().unwrap();
    assert_eq!((none.status, none.lower_bound), (Status::NoBetter, Some(optimum)));
    let plan = one.solution.unwrap();
    let again = Solver::new(tour()).start(optimum, plan.clone()).run().unwrap();
    assert_eq!((again.status, again.objective), (Status::Optimal, Some(optimum)));
    assert_eq!(again.solution, Some(plan.clone()));
    let why = Solver::new(tour()).start(optimum - 1, plan).run().unwrap_err();
    assert!(matches!(why, RunError::Start(_)) && has_four_decimals(&why), "{why}");
}

/// Whether an error has both of its values as real numbers: it used to have them in units of the last decimal.
fn has_four_decimals(why: &RunError) -> bool {
    let why = why.to_string();
    let numbers = why.split([' ', ',']).filter_map(|word| word.split_once('.'));
    let real = |(whole, part): &(&str, &str)| whole.parse::<u64>().is_ok() && part.len() == 4;
    numbers.filter(real).count() == 2
}

/// Wherever layers are stopped, the search can be resumed, and ends with the optimum.
#[test]
fn layers_are_stopped_and_resumed() {
    let tour = || Tour::new(10, 2);
    let optimum = Solver::new(tour()).run().unwrap().objective;
    let path = folder("own").join("tour.pleach");
    for limit in [1, 100, 3000, 9000] {
        let _ = fs::remove_file(&path);
        let begin = || Solver::new(tour()).threads(2).checkpoint(&path, Duration::MAX);
        let report = begin().node_limit(limit).run().unwrap();
        assert_eq!(report.status, Status::Stopped, "{limit}");
        assert!(report.objective.is_none_or(|value| value >= optimum.unwrap()));
        assert!(report.lower_bound.is_none_or(|bound| bound <= optimum.unwrap()));
        let report = begin().resume(&path).unwrap().run().unwrap();
        assert_eq!((report.status, report.objective), (Status::Optimal, optimum), "{limit}");
    }
    // A watcher may stop the layers, too.
    let report = Solver::new(Tour::new(40, 2))
        .settings(|all| all.progress_every = Duration::ZERO)
        .on_progress(|_| ControlFlow::Break(()))
        .run();
    assert_eq!(report.unwrap().status, Status::Stopped);
}

/// A resumed search continues by layers: in depth it would not end. What was saved while they ran is enough for that.
#[test]
fn layers_are_saved_while_they_run() {
    let tour = || Tour::new(13, 1);
    let whole = Solver::new(tour()).threads(2).run().unwrap();
    let (made, branched) = (whole.outcome.counts.bounded, whole.outcome.counts.branched);
    let (path, copy) = (folder("own").join("layers.pleach"), folder("own").join("copy.pleach"));
    let _ = (fs::remove_file(&path), fs::remove_file(&copy));
    let (expanded, from, to) = (AtomicU64::new(0), path.clone(), copy.clone());
    let each = Box::new(move || {
        if expanded.fetch_add(1, Ordering::Relaxed) == branched / 2 {
            fs::copy(&from, &to).unwrap();
        }
    });
    let stopped = Solver::new(Tour { each, ..tour() }).checkpoint(&path, Duration::ZERO);
    let stopped = stopped.threads(2).node_limit(made * 3 / 4).run().unwrap();
    assert_eq!(stopped.status, Status::Stopped);
    assert!(copy.exists(), "{made} made, {branched} branched");
    for saved in [&path, &copy] {
        let before = Solver::new(tour()).resume(saved).unwrap().node_limit(1).run().unwrap();
        let before = before.outcome.counts.bounded;
        assert!(before > made / 10, "{before} of {made}");
        let rest = Solver::new(tour()).threads(2).checkpoint(saved, Duration::MAX);
        let rest = rest.resume(saved).unwrap().run().unwrap();
        assert_eq!((rest.status, rest.objective), (Status::Optimal, whole.objective));
        let again = rest.outcome.counts.bounded - before;
        assert!(again < made, "{again} of {made} after {before}");
    }
}

/// A checkpoint that cannot be written once layers have run costs a warning, not their result.
#[test]
fn layers_outlive_a_file_that_cannot_be_written() {
    let optimum = Solver::new(Tour::new(10, 2)).run().unwrap().objective;
    let path = folder("own").join("blocked.pleach");
    let part = folder("own").join("blocked.pleach.part");
    let names_it = |line: &String| line.contains(&format!("{} is in the way", part.display()));
    // The layers themselves warn once if they save, even if no other progress is shown.
    for (every, warned) in [(Duration::MAX, 2), (Duration::ZERO, 3)] {
        let _ = (fs::remove_file(&path), fs::remove_file(&part));
        let (written, blocked) = (path.clone(), part.clone());
        // Once the search has begun, its file exists.
        let each = Box::new(move || {
            if written.exists() && !blocked.exists() {
                fs::write(&blocked, "notes").unwrap();
            }
        });
        let warnings = Mutex::new(Vec::new());
        let report = Solver::new(Tour { each, ..Tour::new(10, 2) })
            .checkpoint(&path, every)
            .settings(|all| all.progress_every = Duration::MAX)
            .on_progress(|now| {
                warnings.lock().unwrap().extend(now.warning.clone());
                ControlFlow::Continue(())
            })
            .run()
            .unwrap();
        assert_eq!((report.status, report.objective), (Status::Optimal, optimum));
        let warnings = warnings.lock().unwrap();
        assert!(warnings.len() == warned && warnings.iter().all(names_it), "{warnings:?}");
    }
}

#[test]
fn wrong_bounds_and_solutions_are_noticed_in_layers() {
    let wrong = Tour { wrong: 1e6, ..Tour::new(8, 3) };
    let why = Solver::new(wrong).run().unwrap_err();
    assert!(matches!(why, RunError::Bound(_)) && has_four_decimals(&why), "{why}");
    let off = Tour { off: 1.0, ..Tour::new(8, 3) };
    let why = Solver::new(off).run().unwrap_err();
    assert!(matches!(why, RunError::Solution(_)) && has_four_decimals(&why), "{why}");
}

/// A panic in a tree's own code continues in the caller, and stops the layers.
#[test]
fn a_panic_in_layers_continues_in_the_caller() {
    struct Fails;
    impl Tree for Fails {
        type Node = u32;
        const GOAL: Goal = Goal::Minimise;
        fn root(&self) -> u32 {
            0
        }
        fn expand(&self, &node: &u32, _: Option<i64>, out: &mut Children<Self>) {
            assert!(node < 1000, "a node that fails");
            (1..4).for_each(|i| out.child(3 * node + i));
        }
    }
    let run = || Solver::new(Fails).layers(true).threads(3).run();
    let panic = std::panic::catch_unwind(run).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a node that fails"));
}

/// A tree that postpones nodes while a stop is requested is searched by layers again and again.
#[test]
fn layers_begin_without_the_stop_of_an_earlier_run() {
    struct Patient(Tour, AtomicBool);
    impl Tree for Patient {
        type Node = Option<(Vec<u8>, f64)>;
        const GOAL: Goal = Goal::Minimise;
        fn root(&self) -> Self::Node {
            Some(self.0.root())
        }
        fn expand(&self, node: &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
            if self.1.load(Ordering::Relaxed) {
                return out.postpone(i64::MIN, node.clone());
            }
            let Some((path, length)) = node else { return };
            let last = usize::from(path[path.len() - 1]);
            if path.len() == self.0.points.len() {
                let whole = length + self.0.length(last, 0);
                return out.solution_real(whole, || path.iter().map(|&at| at.into()).collect());
            }
            for next in (1..self.0.points.len()).filter(|&next| !path.contains(&(next as u8))) {
                let length = length + self.0.length(last, next);
                out.child_within_real(length, Some(([&path[..], &[next as u8]].concat(), length)));
            }
        }
        fn decimals(&self) -> u32 {
            4
        }
        fn key(&self, node: &Self::Node) -> Option<u128> {
            self.0.key(node.as_ref()?)
        }
        fn dominates(&self, one: &Self::Node, other: &Self::Node) -> bool {
            one.as_ref().zip(other.as_ref()).is_some_and(|(one, other)| one.1 <= other.1)
        }
        fn set_stop_requested(&self, requested: bool) {
            self.1.store(requested, Ordering::Relaxed);
        }
    }
    let optimum = Solver::new(Tour::new(9, 4)).run().unwrap().objective;
    let patient = || Patient(Tour::new(9, 4), AtomicBool::new(false));
    for stopped in [false, true] {
        let tree = patient();
        tree.set_stop_requested(stopped);
        let report = Solver::new(tree).threads(2).run().unwrap();
        assert_eq!((report.status, report.objective), (Status::Optimal, optimum));
    }
    let report = Solver::new(patient()).node_limit(50).run().unwrap();
    assert_eq!(report.status, Status::Stopped);
}

/// Where a copy of the open nodes took longer than a stretch of exploring, the top of a tree was copied again and again, and
/// never explored.
#[test]
fn the_top_of_a_tree_is_explored_although_copies_take_long() {
    #[derive(Clone)]
    struct Slow(u32);
    impl Pack for Slow {
        const LEAST: usize = 1;
        fn pack(&self, out: &mut Vec<u8>) {
            self.0.pack(out);
        }
        fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
            std::thread::sleep(Duration::from_millis(60));
            u32::unpack(from).map(Slow)
        }
    }
    struct Tall;
    impl Tree for Tall {
        type Node = Slow;
        const GOAL: Goal = Goal::Count;
        fn root(&self) -> Slow {
            Slow(1)
        }
        fn expand(&self, &Slow(node): &Slow, _: Option<i64>, out: &mut Children<Self>) {
            if node >= 16 {
                return out.count(1);
            }
            (0..2).for_each(|i| out.child(Slow(2 * node + i)));
        }
    }
    let policy = Policy::parse("dynamic:share=chunk/1,cutoff=2").unwrap();
    let solver = Solver::new(Tall).threads(2).settings(|all| all.policy = policy);
    assert_eq!(solver.run().unwrap().count, 16);
}
