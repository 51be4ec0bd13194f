//! What a [`Solver`] does with files of other searches, heuristics and settings.

use crate::library::Strings;
use crate::outside::fresh;
use pleach::{Checkpoint, Children, Goal, Improver, Save, Solution, Solver, Status, Tree};
use pleach_core::lease::gateway::Portion;
use pleach_core::lease::{Lease, Rec};
use pleach_runtime::load;
use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_solver_overwrites_no_other_search() {
    let path = fresh("solver", "solver.pleach");
    let every = Duration::from_secs(60);
    let stopped = Solver::new(Strings(22)).checkpoint(&path, every).node_limit(1000).run().unwrap();
    assert_eq!(stopped.status, Status::Stopped);
    let before = fs::read(&path).unwrap();
    for (n, said) in [(22, "holds an unfinished search of this problem; resume it"), (9, "another")]
    {
        let refused = Solver::new(Strings(n)).checkpoint(&path, every).run();
        assert!(refused.unwrap_err().to_string().contains(said), "{n}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    let resumed = Solver::new(Strings(22)).resume(&path).unwrap().checkpoint(&path, every);
    assert_eq!(resumed.run().unwrap().count, 1 << 22);
    // A search that is over may begin again.
    assert_eq!(Solver::new(Strings(22)).checkpoint(&path, every).run().unwrap().count, 1 << 22);
}

/// A search of a process that changed its folder used to be saved there from then on.
#[test]
fn a_checkpoint_stays_where_it_was_named() {
    assert!(Save::new("run.pleach", Duration::MAX).path.is_absolute());
    assert!(Checkpoint::new("run.pleach").path.is_absolute());
}

/// A file in which other processes held all that was open used to count as that of a finished search.
#[test]
fn a_solver_overwrites_no_work_that_other_processes_held() {
    let path = fresh("solver", "leased.pleach");
    let every = Duration::from_secs(60);
    let solver = || Solver::new(Strings(22)).checkpoint(&path, every);
    assert_eq!(solver().node_limit(1000).run().unwrap().status, Status::Stopped);
    let saved = load(&path).unwrap();
    let mut whole = saved.progress_report();
    let open = std::mem::take(&mut whole.content.open);
    let lease = Lease { site: 0, incarnation: 5, number: 0 };
    let given = Portion::open(open);
    whole.subs.insert(lease, Rec { holder: 1, acked: true, given: given.into(), latest: None });
    let saved = Arc::unwrap_or_clone(saved);
    fs::write(&path, saved.with_progress_report(&whole).to_bytes()).unwrap();
    let why = solver().run().unwrap_err().to_string();
    assert!(why.contains("holds an unfinished search of this problem"), "{why}");
    let resumed = Solver::new(Strings(22)).resume(&path).unwrap().checkpoint(&path, every);
    assert_eq!(resumed.run().unwrap().count, 1 << 22);
}

#[test]
fn two_searches_do_not_save_to_one_file() {
    let path = fresh("solver", "both.pleach");
    let every = Duration::from_millis(5);
    let mut tried = None;
    let first = Solver::new(Strings(40)).checkpoint(&path, every).on_progress(|_| {
        tried.get_or_insert_with(|| {
            let path = path.clone();
            let second = move || Solver::new(Strings(5)).checkpoint(path, every).run().map(|_| ());
            std::thread::spawn(second).join().unwrap().unwrap_err().to_string()
        });
        ControlFlow::Break(())
    });
    let report = first.time_limit(Duration::from_secs(20)).run().unwrap();
    assert_eq!(report.status, Status::Stopped);
    let tried = tried.expect("a search that takes longer than a look");
    assert!(tried.contains("another run is using this checkpoint"), "{tried}");
    assert!(!path.with_extension("pleach.lock").exists(), "the lock is gone");
}

/// Strings of `n` bits, worth the number of their ones, and a heuristic that knows the best one.
struct Ones {
    n: usize,
    claims: i64,
}

impl Tree for Ones {
    type Node = Vec<u8>;
    const GOAL: Goal = Goal::Maximise;

    fn root(&self) -> Vec<u8> {
        vec![]
    }

    fn expand(&self, bits: &Vec<u8>, _: Option<i64>, out: &mut Children<Self>) {
        let ones = bits.iter().map(|&bit| i64::from(bit)).sum::<i64>();
        if bits.len() == self.n {
            return out.solution(ones, || bits.iter().map(|&bit| bit.into()).collect());
        }
        for bit in [0, 1] {
            let bound = ones + i64::from(bit) + (self.n - bits.len() - 1) as i64;
            out.child_within(bound, [&bits[..], &[bit]].concat());
        }
    }

    fn improver(&self, _seed: u64) -> Option<Box<dyn Improver + '_>> {
        Some(Box::new(AllOnes { ones: self, done: false }))
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        Some(Ok(solution.iter().sum()))
    }
}

struct AllOnes<'t> {
    ones: &'t Ones,
    done: bool,
}

impl Improver for AllOnes<'_> {
    fn improve(&mut self) -> Option<Solution> {
        let done = std::mem::replace(&mut self.done, true);
        (!done).then(|| Goal::Maximise.solution(self.ones.claims, vec![1; self.ones.n]))
    }
}

#[test]
fn heuristics_of_trees_run_beside_the_search() {
    let solve = |claims| Solver::new(Ones { n: 20, claims }).threads(1).run();
    let report = solve(20).unwrap();
    assert_eq!((report.status, report.objective), (Status::Optimal, Some(20)));
    // Every other child is dropped: without the heuristic, it would find strings with fewer ones first.
    assert_eq!(report.outcome.counts.branched, 1);
    assert!(solve(21).is_err(), "the heuristic claims too much");
}

/// Settings used to replace all calls before them, and to turn the heuristic off.
#[test]
fn settings_change_only_what_they_name() {
    let solver = Solver::new(Ones { n: 20, claims: 20 }).threads(1);
    let report = solver.settings(|all| all.seed = 7).run().unwrap();
    assert_eq!((report.outcome.workers.len(), report.outcome.counts.branched), (1, 1));
}

/// The word used to be refused by an error that expected it.
#[test]
fn the_processor_is_no_device() {
    let solver = Solver::new(Strings(9)).threads(2).devices(&["cpu"]).unwrap();
    let report = solver.run().unwrap();
    assert_eq!((report.count, report.outcome.workers.len()), (512, 2));
}
