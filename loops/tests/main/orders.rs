//! Orders of loops: how they start, and what happens when sites leave.

use crate::network::{LASTING, ThreadNetwork, mortal, with_links};
use crate::numbers::{Numbers, settings};
use pleach_cluster::sites::message::SessionMessage;
use pleach_cluster::{Cluster, First};
use pleach_core::lease::Terms;
use pleach_core::search::work::{Malformed, Reader};
use pleach_loops::looping::{Loop, RemoteLoop, ResultPlacement};
use pleach_loops::looping::{LoopReport, LoopSettings, Sizes};
use pleach_loops::looping::{ShareLoops, run_loop};
use pleach_runtime::WorkerPool;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// A program that ends early, or runs other loops, does not delay the others.
#[test]
fn nobody_waits_for_an_excluded_site() {
    let parts = with_links(2, LASTING);
    thread::scope(|scope| {
        let gone = &parts[1].0;
        scope.spawn(move || {
            gone.session().send(0, &SessionMessage::Left);
            gone.end();
        });
        let site = &parts[0].0;
        let settings = LoopSettings { cluster: Some(site.clone()), ..settings(1) };
        for _ in 0..2 {
            site.begin_loops(Vec::new(), First::default()).unwrap();
            let work = Numbers::new(1000, ResultPlacement::All, 10);
            let ended = run_loop(&WorkerPool::default(), &work, &settings, &mut |_| {
                ControlFlow::Continue(())
            });
            assert!(ended.unwrap().report.complete);
            site.end_loops_together().unwrap();
        }
        site.end();
    });
}

/// The reason used to be lost if all loops had ended.
#[test]
fn the_end_of_loops_says_why_a_site_was_excluded() {
    let parts = mortal(2, LASTING);
    parts[0].0.begin_loops(Vec::new(), First::default()).unwrap();
    parts[1].0.next_order(|| true).unwrap();
    parts[1].0.fail_loops("its memory is full");
    let warnings = parts[0].0.end_loops_together().unwrap();
    assert_eq!(warnings, ["site 1 was excluded: its memory is full"]);
}

/// A site that leaves right after a loop has done its part of it.
#[test]
fn a_site_that_leaves_after_a_loop_has_done_its_part() {
    for _ in 0..20 {
        let parts = with_links(2, LASTING);
        let loops = [0, 1].map(|_| Numbers::new(500, ResultPlacement::First, 20_000));
        let report = thread::scope(|scope| {
            let site = |at: usize| {
                let cluster = &parts[at].0;
                let settings = LoopSettings { cluster: Some(cluster.clone()), ..settings(1) };
                if at == 0 {
                    cluster.begin_loops(Vec::new(), First::default()).unwrap();
                } else {
                    cluster.next_order(|| true).unwrap();
                    cluster.first_of_loops(false, || true).unwrap().unwrap();
                }
                let pool = WorkerPool::default();
                let ended =
                    run_loop(&pool, &loops[at], &settings, &mut |_| ControlFlow::Continue(()));
                if at == 0 {
                    cluster.end_loops_together().unwrap();
                } else {
                    cluster.session().send(0, &SessionMessage::Left);
                }
                cluster.end();
                ended.unwrap().report
            };
            let sites = [0, 1].map(|at| scope.spawn(move || site(at)));
            sites.map(|site| site.join().unwrap())
        });
        assert!(report.iter().all(|report| report.complete && report.warnings.is_empty()));
        assert!((0..500).all(|unit| loops[0].runs(unit) + loops[1].runs(unit) == 1));
    }
}

/// Files do not travel again for another run of the same order.
#[test]
fn known_orders_are_not_sent_again() {
    let parts = with_links(2, LASTING);
    let run = |cluster: &Arc<Cluster>| {
        let settings = LoopSettings { cluster: Some(cluster.clone()), ..settings(1) };
        let work = Numbers::new(100, ResultPlacement::All, 10);
        let ended =
            run_loop(&WorkerPool::default(), &work, &settings, &mut |_| ControlFlow::Continue(()));
        assert!(ended.unwrap().report.complete);
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let site = &parts[1].0;
            for (knows, first) in [(false, &b"first"[..]), (true, b""), (false, b"first")] {
                site.next_order(|| true).unwrap();
                let told = site.first_of_loops(knows, || true).unwrap().unwrap();
                assert_eq!(told, first);
                run(site);
            }
            site.end();
        });
        let site = &parts[0].0;
        let first = First::from(&b"first"[..]);
        for _ in 0..3 {
            site.begin_loops(Vec::new(), first.clone()).unwrap();
            run(site);
            site.end_loops_together().unwrap();
        }
        site.end();
    });
}

/// A loop that starts inside another one would wait for itself.
#[test]
fn no_loop_starts_inside_another_one() {
    struct Nested(Arc<Cluster>, AtomicU64);
    impl Loop for Nested {
        type Local = ();
        fn units(&self) -> usize {
            4
        }
        fn local(&self) {}
        fn run(&self, units: Range<usize>, (): &mut ()) {
            let refused = self.0.begin_loops(Vec::new(), First::default()).is_err();
            self.1.fetch_add(units.len() as u64 * u64::from(refused), Ordering::Relaxed);
        }
        fn remote(&self) -> Option<&dyn RemoteLoop> {
            Some(self)
        }
    }
    impl RemoteLoop for Nested {
        fn pack(&self, _: usize, _: &mut Vec<u8>) {}
        fn unpack(&self, _: usize, _: &mut Reader<'_>) -> Result<(), Malformed> {
            Ok(())
        }
    }
    let parts = with_links(1, LASTING);
    let site = &parts[0].0;
    site.begin_loops(Vec::new(), First::default()).unwrap();
    let (work, pool) = (Nested(site.clone(), AtomicU64::new(0)), WorkerPool::default());
    let settings = LoopSettings { cluster: Some(site.clone()), ..settings(1) };
    let ended = run_loop(&pool, &work, &settings, &mut |_| ControlFlow::Continue(()));
    assert!(ended.unwrap().report.complete);
    assert_eq!(work.1.into_inner(), 4);
    site.end();
}

/// Runs a loop on two sites, unit by unit. `watch` is called often at each. Returns the root's report.
fn on_two_sites<L: Loop>(
    parts: &[(Arc<Cluster>, ThreadNetwork)],
    work: &[L; 2],
    watch: impl Fn(usize) + Sync,
) -> LoopReport {
    let site = |at: usize| {
        let cluster = &parts[at].0;
        if at == 0 {
            cluster.begin_loops(Vec::new(), First::default()).unwrap();
        } else {
            cluster.next_order(|| true).unwrap();
            cluster.first_of_loops(false, || true).unwrap().unwrap();
        }
        let settings = LoopSettings {
            sizes: Sizes::Given(1, 1),
            progress_every: Duration::from_millis(1),
            cluster: Some(cluster.clone()),
            ..settings(1)
        };
        let ended = run_loop(&WorkerPool::default(), &work[at], &settings, &mut |_| {
            watch(at);
            ControlFlow::Continue(())
        });
        if at == 0 {
            cluster.end_loops_together().unwrap();
        }
        cluster.end();
        ended.unwrap().report
    };
    let site = &site;
    thread::scope(|scope| {
        let sites = [0, 1].map(|at| scope.spawn(move || site(at)));
        let [root, _] = sites.map(|site| site.join().unwrap());
        root
    })
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Two units that end when they may.
struct Held<'a> {
    running: AtomicBool,
    may_end: &'a AtomicBool,
}

impl Loop for Held<'_> {
    type Local = ();
    fn units(&self) -> usize {
        2
    }
    fn local(&self) {}
    fn run(&self, _: Range<usize>, (): &mut ()) {
        self.running.store(true, Ordering::Relaxed);
        wait_for(self.may_end);
    }
    fn remote(&self) -> Option<&dyn RemoteLoop> {
        Some(self)
    }
}

impl RemoteLoop for Held<'_> {
    fn pack(&self, _: usize, _: &mut Vec<u8>) {}
    fn unpack(&self, _: usize, _: &mut Reader<'_>) -> Result<(), Malformed> {
        Ok(())
    }
}

/// Others used to compute a result again if it took long to arrive, and its site got no more ranges.
#[test]
fn a_site_whose_message_is_arriving_is_not_silent() {
    const LEASE: Duration = Duration::from_millis(500);
    let parts = mortal(2, Terms { lease_ns: LEASE.as_nanos() as u64, ..LASTING });
    let may_end = &AtomicBool::new(false);
    let work = [0, 1].map(|_| Held { running: AtomicBool::new(false), may_end });
    let since = OnceLock::new();
    // Site 1 may hold both units before the root takes one.
    let report = on_two_sites(&parts, &work, |at| {
        if at == 0 || !work[1].running.load(Ordering::Relaxed) {
            return;
        }
        let since = since.get_or_init(|| {
            parts[1].1.keeps_arriving();
            Instant::now()
        });
        if since.elapsed() > 2 * LEASE {
            parts[1].1.has_arrived();
            may_end.store(true, Ordering::Relaxed);
        }
    });
    assert!(report.complete && report.warnings.is_empty(), "{:?}", report.warnings);
    assert_eq!((report.sites.len(), report.sites[0].redone), (1, 0));
}

/// Three units. Once the first result has arrived at the root, and before the other site sends the next one, both are
/// suspended for longer than a lease.
struct Standstill<'a> {
    lease: Duration,
    /// The site's number.
    at: usize,
    /// Whether the other site has sent a result, and has another one.
    sent: &'a AtomicBool,
    packs: &'a AtomicBool,
    /// Whether the root continues.
    awake: &'a AtomicBool,
}

impl Loop for Standstill<'_> {
    type Local = ();
    fn units(&self) -> usize {
        3
    }
    fn local(&self) {}
    fn run(&self, _: Range<usize>, (): &mut ()) {
        // The root's thread leaves two units to the other site.
        if self.at == 0 {
            wait_for(self.awake);
        }
    }
    fn remote(&self) -> Option<&dyn RemoteLoop> {
        Some(self)
    }
}

impl RemoteLoop for Standstill<'_> {
    fn pack(&self, _: usize, _: &mut Vec<u8>) {
        if self.sent.swap(true, Ordering::Relaxed) {
            self.packs.store(true, Ordering::Relaxed);
            wait_for(self.awake);
        }
    }
    fn unpack(&self, _: usize, _: &mut Reader<'_>) -> Result<(), Malformed> {
        if !self.awake.load(Ordering::Relaxed) {
            wait_for(self.packs);
            thread::sleep(self.lease * 5 / 4);
            self.awake.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// When all processes had been suspended, the root used to drop the others before they could send anything.
#[test]
fn time_in_which_the_root_stood_still_is_no_silence() {
    let lease = Duration::from_secs(2);
    let parts = mortal(2, Terms { lease_ns: lease.as_nanos() as u64, ..LASTING });
    let [sent, packs, awake] = &[0; 3].map(|_| AtomicBool::new(false));
    let work = [0, 1].map(|at| Standstill { lease, at, sent, packs, awake });
    let report = on_two_sites(&parts, &work, |_| ());
    assert!(report.complete && report.warnings.is_empty(), "{:?}", report.warnings);
    assert_eq!((report.sites.len(), report.sites[0].redone), (1, 0));
}
