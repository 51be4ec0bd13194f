//! Loops that several sites share: each unit runs once, anywhere, and results reach every site that needs them.

use crate::network::{LASTING, mortal, with_links};
use crate::numbers::{Ended, Numbers, each, settings};
use oorandom::Rand64;
use pleach_cluster::First;
use pleach_cluster::Network;
use pleach_core::lease::Terms;
use pleach_core::search::laws::mutate;
use pleach_loops::looping::{Loop, ResultPlacement};
use pleach_loops::looping::{LoopSettings, Sizes, TakerSnapshot};
use pleach_loops::looping::{ShareLoops, run_loop};
use pleach_runtime::on_drop::OnDrop;
use pleach_runtime::{RunError, WorkerPool};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[test]
fn each_unit_is_run_once_and_results_reach_sites_that_need_them() {
    for sites in 1..5 {
        for (threads, units) in [(1, 0), (1, 1), (3, 7), (2, 1000), (1, 60_000)] {
            for sizes in [Sizes::Measured, Sizes::Given(3, 50), Sizes::Block(7, 50)] {
                let parts = with_links(sites, LASTING);
                let all = [ResultPlacement::First, ResultPlacement::All];
                let numbers = || all.map(|kept| Numbers::new(units, kept, 200)).into();
                let loops: Vec<Vec<Numbers>> = (0..sites).map(|_| numbers()).collect();
                let settings = vec![LoopSettings { sizes, ..settings(threads) }; sites as usize];
                let ended = each(&parts, &loops, &settings);
                for (at, report) in ended.iter().enumerate() {
                    let report = report.as_ref().unwrap();
                    assert!(report.complete);
                    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
                    // The loop may end before a site is ready for it.
                    assert!(
                        report.sites.len() < sites as usize && (at == 0 || report.sites.is_empty())
                    );
                }
                let report = ended[0].as_ref().unwrap();
                let counted: u64 = report.parts.iter().map(|part| part.units).sum();
                assert_eq!(counted, units as u64);
                assert_eq!(report.parts.len(), (report.sites.len() + 1) * threads as usize);
                for unit in 0..units {
                    for nth in 0..all.len() {
                        let runs: u64 = loops.iter().map(|site| site[nth].runs(unit)).sum();
                        assert_eq!(runs, 1, "unit {unit} of {units} at {sites} sites");
                    }
                    assert!(loops[0][0].has(unit));
                    assert!(loops.iter().all(|site| site[1].has(unit)));
                }
            }
        }
    }
}

/// Others do what a dead site had, and nothing is missing.
#[test]
fn others_do_what_a_dead_site_had() {
    let mut died = 0;
    for packets in [1, 2, 3, 4, 5, 6, 8, 10, 13, 20] {
        for kept in [ResultPlacement::First, ResultPlacement::All] {
            let parts = mortal(3, LASTING);
            parts[1].1.dies_after(packets);
            let loops: Vec<Vec<Numbers>> =
                (0..3).map(|_| vec![Numbers::new(3000, kept, 20_000)]).collect();
            let given = LoopSettings { sizes: Sizes::Given(10, 40), ..settings(1) };
            let ended = each(&parts, &loops, &vec![given; 3]);
            let report = ended[0].as_ref().unwrap();
            assert!(report.complete && ended[2].is_ok());
            let lost = ended[1].is_err();
            died += u32::from(lost);
            let lives = |at: &usize| *at != 1 || !lost;
            for unit in 0..3000 {
                let here: Vec<usize> = (0..3).filter(lives).collect();
                match kept {
                    ResultPlacement::First => assert!(loops[0][0].has(unit)),
                    ResultPlacement::All => assert!(here.iter().all(|&at| loops[at][0].has(unit))),
                }
            }
        }
    }
    // A site that may send only one packet never reaches its end.
    assert!(died >= 3, "{died}");
}

#[test]
fn a_late_site_learns_what_it_missed() {
    let parts = with_links(2, LASTING);
    let begun = &AtomicBool::new(false);
    let loops = || {
        let all = [
            (ResultPlacement::All, 1000),
            (ResultPlacement::First, 2000),
            (ResultPlacement::First, 40_000),
        ];
        all.map(|(kept, units)| Numbers::new(units, kept, 2000))
    };
    let (mut root, mut late) = (loops(), loops());
    let gateway = Arc::new(AtomicBool::new(false));
    (root[2].gateway, late[2].opens) = (Some(gateway.clone()), Some(gateway));
    let (root, late) = (&root, &late);
    thread::scope(|scope| {
        let site = &parts[1].0;
        scope.spawn(move || {
            while !begun.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            site.next_order(|| true).unwrap();
            site.first_of_loops(false, || true).unwrap().unwrap();
            let settings = LoopSettings { cluster: Some(site.clone()), ..settings(1) };
            for work in late {
                let ended = run_loop(&WorkerPool::default(), work, &settings, &mut |_| {
                    ControlFlow::Continue(())
                });
                assert!(ended.unwrap().report.complete);
            }
            site.end();
        });
        let site = &parts[0].0;
        site.begin_loops(Vec::new(), First::default()).unwrap();
        let settings = LoopSettings { cluster: Some(site.clone()), ..settings(1) };
        for (nth, work) in root.iter().enumerate() {
            begun.store(nth == 2, Ordering::Relaxed);
            let ended = run_loop(&WorkerPool::default(), work, &settings, &mut |_| {
                ControlFlow::Continue(())
            });
            let report = ended.unwrap().report;
            assert!(report.complete);
            assert_eq!(report.sites.len(), usize::from(nth == 2));
            assert!((0..work.units()).all(|unit| work.has(unit)));
        }
        site.end();
    });
    assert!((0..1000).all(|unit| late[0].has(unit) && late[0].runs(unit) == 0));
    assert!((0..2000).all(|unit| late[1].runs(unit) == 0));
    assert!((0..40_000).all(|unit| late[2].runs(unit) + root[2].runs(unit) == 1));
}

#[test]
fn a_site_that_stops_leaves_its_part_to_others() {
    for stops in [0, 1] {
        let (parts, seen) = (mortal(2, LASTING), Mutex::new(Vec::new()));
        let mut loops = [0, 1].map(|_| Numbers::new(20_000, ResultPlacement::First, 20_000));
        // The root's thread waits in its first unit until site 1 has ended, so the loop cannot end before.
        let [begun, ended] = [0, 1].map(|_| Arc::new(AtomicBool::new(false)));
        (loops[0].opens, loops[0].gateway) = (Some(begun.clone()), Some(ended.clone()));
        let reports = thread::scope(|scope| {
            let site = |at: usize| {
                let (cluster, work) = (&parts[at].0, &loops[at]);
                if at == 0 {
                    cluster.begin_loops(Vec::new(), First::default()).unwrap();
                } else {
                    while !begun.load(Ordering::Relaxed) {
                        thread::sleep(Duration::from_millis(1));
                    }
                    cluster.next_order(|| true).unwrap();
                    cluster.first_of_loops(false, || true).unwrap();
                }
                let progress_every = Duration::from_millis(1);
                let settings =
                    LoopSettings { cluster: Some(cluster.clone()), progress_every, ..settings(1) };
                let pool = WorkerPool::default();
                let outcome = run_loop(&pool, work, &settings, &mut |snapshot| {
                    let mut seen = seen.lock().unwrap();
                    // Results of site 1 have arrived. A range that changes while it is read may look empty.
                    let shows = |site: &TakerSnapshot| site.units > 0 && !site.held.is_empty();
                    if at == 0 && snapshot.takers.get(1).is_some_and(shows) {
                        seen.clone_from(&snapshot.takers);
                    }
                    let stop = at == stops && snapshot.done > 100 && !seen.is_empty();
                    if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                if at == 1 {
                    ended.store(true, Ordering::Relaxed);
                }
                cluster.end();
                outcome.unwrap().report
            };
            let sites = [0, 1].map(|at| scope.spawn(move || site(at)));
            sites.map(|site| site.join().unwrap())
        });
        assert_eq!(reports.map(|report| report.complete), [stops == 1, false]);
        let seen = seen.into_inner().unwrap();
        assert!(seen.iter().map(|it| &*it.name).eq(["cpu0", "site1"]), "{seen:?}");
        assert!(!seen[0].held.is_empty(), "{seen:?}");
        if stops == 1 {
            assert!((0..20_000).all(|unit| loops[0].has(unit)));
        }
    }
}

/// Damaged packets end a site's part or do nothing: the result stays the same.
#[test]
fn damaged_packets_change_no_result() {
    const IMPATIENT: Terms = Terms {
        commit_ns: 5_000_000,
        lease_ns: 50_000_000,
        patience_ns: 1_000_000_000,
        most_commit_bytes: u64::MAX,
    };
    let given = LoopSettings { sizes: Sizes::Given(10, 40), ..settings(1) };
    let numbers = || vec![Numbers::new(4000, ResultPlacement::First, 3000)];
    let parts = with_links(2, LASTING);
    let ended = each(&parts, &[numbers(), numbers()], &vec![given.clone(); 2]);
    assert!(ended.iter().all(Result::is_ok));
    let packets = &parts[0].1.sent();
    for seed in 0..20 {
        let mut parts = mortal(2, IMPATIENT);
        let (_, mut rogue) = parts.pop().unwrap();
        let (over, work) = (&AtomicBool::new(false), &numbers()[0]);
        let (cluster, given) = (&parts[0].0, &given);
        thread::scope(|scope| {
            scope.spawn(move || {
                let rng = &mut Rand64::new(seed);
                while !over.load(Ordering::Relaxed) {
                    let which = rng.rand_range(0..packets.len() as u64) as usize;
                    let mut bytes = packets[which].clone();
                    if rng.rand_range(0..2) > 0 {
                        bytes = mutate(&bytes, rng);
                    }
                    rogue.send(0, bytes);
                    thread::sleep(Duration::from_micros(50));
                    while let Ok(Some(_)) = rogue.poll() {}
                }
            });
            // The scope waits for the other thread, also after a panic.
            let _over = OnDrop(|| over.store(true, Ordering::Relaxed));
            cluster.begin_loops(b"numbers".to_vec(), First::default()).unwrap();
            let settings = LoopSettings { cluster: Some(cluster.clone()), ..given.clone() };
            let ended = run_loop(&WorkerPool::default(), work, &settings, &mut |_| {
                ControlFlow::Continue(())
            });
            // A site may report that it has failed, and what it computed; nothing else may go wrong.
            match ended {
                Ok(done) => assert!(done.report.complete),
                Err(RunError::Site { site: 1, .. }) => {}
                Err(other) => panic!("{other}"),
            }
        });
    }
}

/// Unreadable results count as missing: others do everything that their site had.
#[test]
fn a_site_that_sends_garbage_is_excluded() {
    let parts = mortal(3, LASTING);
    let mut loops: Vec<Vec<Numbers>> =
        (0..3).map(|_| vec![Numbers::new(3000, ResultPlacement::First, 20_000)]).collect();
    loops[1][0].garbles = true;
    // The others leave enough for site 1: the root's thread waits in its first unit, and site 2 comes later.
    let begun = Arc::new(AtomicBool::new(false));
    (loops[0][0].gateway, loops[1][0].opens) = (Some(begun.clone()), Some(begun.clone()));
    let given = LoopSettings { sizes: Sizes::Given(10, 40), ..settings(1) };
    // Nobody may wait for a site that takes no part.
    let site = |at: usize| {
        let (cluster, work) = (&parts[at].0, &loops[at][0]);
        if at == 0 {
            cluster.begin_loops(Vec::new(), First::default()).unwrap();
        } else {
            while at == 2 && !begun.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            cluster.next_order(|| true).unwrap();
            cluster.first_of_loops(false, || true).unwrap();
        }
        let settings = LoopSettings { cluster: Some(cluster.clone()), ..given.clone() };
        let ended =
            run_loop(&WorkerPool::default(), work, &settings, &mut |_| ControlFlow::Continue(()));
        if at == 0 {
            cluster.end_loops_together().unwrap();
        }
        cluster.end();
        ended.map(|done| done.report)
    };
    let site = &site;
    let ended: Vec<Ended> = thread::scope(|scope| {
        let sites: Vec<_> = (0..3).map(|at| scope.spawn(move || site(at))).collect();
        sites.into_iter().map(|site| site.join().unwrap()).collect()
    });
    let report = ended[0].as_ref().unwrap();
    assert!(report.complete && ended[2].as_ref().unwrap().complete);
    let warned = report.warnings.iter().filter(|line| line.contains("was excluded")).count();
    assert_eq!(warned, 1, "{:?}", report.warnings);
    assert!((0..3000).all(|unit| loops[0][0].has(unit)));
}

/// The root used to say only that the site was lost.
#[test]
fn a_site_with_too_long_results_is_excluded() {
    // A message has room for 56 bytes of results, and 40 of them have more.
    let parts = mortal(2, Terms { most_commit_bytes: 60, ..LASTING });
    let mut loops = [0, 1].map(|_| vec![Numbers::new(300, ResultPlacement::First, 10)]);
    let gateway = Arc::new(AtomicBool::new(false));
    (loops[0][0].gateway, loops[1][0].opens) = (Some(gateway.clone()), Some(gateway));
    let given = LoopSettings { sizes: Sizes::Given(1, 40), ..settings(1) };
    let ended = each(&parts, &loops, &vec![given; 2]);
    let report = ended[0].as_ref().unwrap();
    assert!(report.complete && (0..300).all(|unit| loops[0][0].has(unit)));
    let expected = "site 1 was excluded: results of ";
    let warned = |line: &String| line.starts_with(expected) && line.ends_with("for a message");
    assert!(report.warnings.iter().any(warned), "{:?}", report.warnings);
}
