//! What a [`Solver`] does with the files of other searches.

use crate::library::Strings;
use crate::outside::fresh;
use pleach::{Solver, Status};
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
