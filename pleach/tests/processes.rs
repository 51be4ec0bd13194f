//! Processes share loops and searches through the library, whatever the others send or do.

use crate::cluster::proxy::Proxy;
use crate::library::Watched;
use crate::outside::{folder, fresh};
use pleach::flowshop::{self, Bound};
use pleach::{Best, Cancel, Checkpoint, Search, Settings, SharedReport, Solver, Status, Stop};
use pleach::{Each, Malformed, Pack, Processes, Reader, RunError};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A value, and whether its process garbles it.
struct Garbled(usize, bool);

impl Pack for Garbled {
    const LEAST: usize = usize::LEAST;

    fn pack(&self, out: &mut Vec<u8>) {
        if !self.1 {
            self.0.pack(out);
        }
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Pack::unpack(from).map(|unit| Self(unit, false))
    }
}

/// Others compute what an excluded process had, and nobody waits for it.
#[test]
fn a_process_that_garbles_values_is_excluded() {
    let key = folder("processes").join("garbled.key");
    let _ = std::fs::remove_file(&key);
    let first = Processes::listen("127.0.0.1:0", &key).unwrap();
    let address = first.address().unwrap().to_string();
    let joined = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let whole = scope.spawn(move || {
            let value = |unit| {
                while !joined.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Garbled(unit, false)
            };
            Each::new(100).threads(1).map_across(&first, value).unwrap()
        });
        let second = Processes::join(&*address, &key).unwrap();
        let value = |unit| {
            joined.store(true, Ordering::Relaxed);
            Garbled(unit, true)
        };
        let part = Each::new(100).threads(1).map_across(&second, value);
        assert!(matches!(part, Err(RunError::Lost(_))), "{:?}", part.map(|(_, report)| report));
        let (values, report) = whole.join().unwrap();
        assert!(values.unwrap().iter().map(|value| value.0).eq(0..100));
        assert!(report.warnings.iter().any(|line| line.contains("was excluded")), "{report:?}");
    });
}

/// It used to wait in silence.
#[test]
fn a_process_that_waits_for_others_learns_why_one_cannot_join() {
    let folder = folder("processes-with-keys");
    let [key, other] = ["run.key", "other.key"].map(|name| folder.join(name));
    drop(Processes::listen("127.0.0.1:0", &other).unwrap());
    let first = Processes::listen("127.0.0.1:0", &key).unwrap();
    let address = first.address().unwrap().to_string();
    assert!(Processes::join(&*address, &other).is_err());
    let notes = RefCell::new(Vec::new());
    let note = |line| notes.borrow_mut().push(line);
    assert!(!first.wait_for(1, note, || notes.borrow().is_empty()).unwrap());
    let notes = notes.into_inner();
    assert!(notes[0].ends_with("it does not have this key"), "{notes:?}");
}

/// All optimal schedules, with a value from which the first of two searches proves the optimum.
fn all_optima(search: Search<'static>) -> flowshop::Options<'static> {
    let (best, bound) = (Best::Neh, Some(Bound::One));
    flowshop::Options { best, bound, all: true, search, ..flowshop::Options::default() }
}

/// A search on one thread that is saved in a file.
fn saved(path: &Path, node_limit: Option<u64>) -> Search<'static> {
    let checkpoint = Some(Checkpoint::new(path));
    let settings = Settings { threads: 1, node_limit, ..Settings::default() };
    Search { settings, checkpoint, ..Search::default() }
}

/// The others used to get an order for the first search, which was over, with the description of the second one: they
/// failed, and among processes of a launcher so did the whole search.
#[test]
fn the_second_of_two_searches_is_resumed_by_several_processes() {
    let (file, key) = (fresh("processes", "all.pleach"), fresh("processes", "all.key"));
    let instance = flowshop::named("VFR10_10_1").unwrap();
    let whole = flowshop::solve(&instance, all_optima(Search::default())).unwrap();
    loop {
        let stopped = flowshop::solve(&instance, all_optima(saved(&file, Some(5000)))).unwrap();
        assert_eq!(stopped.status, Status::Stopped, "it never stopped in its second search");
        let bytes = std::fs::read(&file).unwrap();
        if String::from_utf8_lossy(&bytes).contains("\"first\":{") {
            break;
        }
    }
    let first = Processes::listen("127.0.0.1:0", &key).unwrap();
    let address = first.address().unwrap().to_string();
    std::thread::scope(|scope| {
        let part = scope.spawn(|| {
            let second = Processes::join(&*address, &key).unwrap();
            while let Some(about) = second.next_search(|| true).unwrap() {
                let mut search = Search::default();
                search.settings.threads = 1;
                search.share(&second, about);
                flowshop::solve(&instance, all_optima(search)).unwrap();
            }
        });
        // It waits for a search to begin.
        assert!(first.wait_for(1, |_| (), || true).unwrap());
        let mut search = saved(&file, None);
        search.share(&first, "{}");
        let answer = flowshop::solve(&instance, all_optima(search)).unwrap();
        drop(first);
        part.join().unwrap();
        assert_eq!((answer.status, answer.makespan), (Status::Optimal, whole.makespan));
        assert_eq!(answer.optima, whole.optima);
    });
}

/// It used to wait for its root for as long as its patience lasted, although it was cancelled.
#[test]
fn a_joiner_that_holds_work_leaves_without_its_root_when_cancelled() {
    let key = fresh("processes", "held.key");
    let first = Processes::listen("127.0.0.1:0", &key).unwrap();
    let proxy = Proxy::new(&first.address().unwrap().to_string());
    // The first process searches slowly until the other one has work, which then loses its root.
    let taken = AtomicBool::new(false);
    let slowly = || {
        if !taken.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let lose = || {
        if !taken.swap(true, Ordering::Relaxed) {
            proxy.close();
        }
    };
    std::thread::scope(|scope| {
        let tree = Watched(&slowly);
        let whole = scope.spawn(move || Solver::new(tree).threads(1).run_across(&first).unwrap());
        let second = Processes::join(&*proxy.address, &key).unwrap();
        let cancel = Cancel::default();
        let part = Solver::new(Watched(&lose))
            .threads(1)
            .cancel(&cancel)
            .on_progress(|progress| {
                // It warns that the root is lost.
                if progress.warning.is_some() {
                    cancel.cancel();
                }
                ControlFlow::Continue(())
            })
            .run_across(&second)
            .unwrap();
        let SharedReport::Part(part) = part else { panic!("{part:?}") };
        assert_eq!(part.stop, Some(Stop::Asked));
        let SharedReport::Whole(report) = whole.join().unwrap() else { panic!("no result") };
        assert_eq!((report.status, report.count), (Status::Counted, 1 << 16));
    });
}
