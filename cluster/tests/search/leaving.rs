//! Sites that leave or are gone: the others explore work that nobody hands back, and wait for nothing else.

use super::hostile::{given, write};
use super::network::{LASTING, clusters, mortal};
use super::settings;
use pleach_cluster::sites::message::SessionMessage;
use pleach_cluster::sites::session::Incoming;
use pleach_cluster::{Arrival, Network};
use pleach_core::lease::gateway::{GatewayMessage, GatewayPacket, Portion};
use pleach_core::lease::{Lease, LeaseMessage, ProgressReport, Rec, Terms};
use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::steal::{Message, Power};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_runtime::on_drop::OnDrop;
use pleach_runtime::{Cancel, ProgressSnapshot, Settings, SiteEnd, Stop, WorkerPool};
use std::iter::from_fn;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A return of finished work fits in a message, but none with a node of the tree below.
const NARROW: Terms = Terms {
    commit_ns: 5_000_000,
    lease_ns: 200_000_000,
    patience_ns: 1_000_000_000,
    most_commit_bytes: 150,
};

const NODE_BYTES: usize = 400;
const LEVELS: u32 = 13;

/// A binary tree with long nodes.
struct LongNodes<'a> {
    /// Whether the joiner has work.
    begun: &'a AtomicBool,
    /// At the joiner, which leaves at its first node.
    leaves: Option<Cancel>,
    stop_requested: AtomicBool,
}

impl Tree for LongNodes<'_> {
    type Node = (u32, Vec<u8>);
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        (0, vec![0; NODE_BYTES])
    }

    fn expand(&self, node: &Self::Node, _: Option<i64>, out: &mut Children<'_, Self>) {
        if let Some(cancel) = &self.leaves {
            self.begun.store(true, Ordering::Relaxed);
            cancel.cancel();
            while !self.stop_requested.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            return out.postpone(i64::MIN, node.clone());
        }
        // The root keeps enough work for the joiner.
        if !self.begun.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        let (level, bytes) = node;
        if *level == LEVELS {
            return out.count(1);
        }
        (0..2).for_each(|_| out.child((level + 1, bytes.clone())));
    }

    fn set_stop_requested(&self, requested: bool) {
        self.stop_requested.store(requested, Ordering::Relaxed);
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(7)
    }
}

#[test]
fn work_that_is_too_long_to_hand_back_is_explored_by_others() {
    let begun = &AtomicBool::new(false);
    let clusters: Vec<_> = mortal(2, NARROW).into_iter().map(|(cluster, _)| cluster).collect();
    let search = |at: usize, leaves: Option<Cancel>| {
        let (processes, cancel) = (Some(Arc::clone(&clusters[at]) as _), leaves.clone());
        let cancel = cancel.unwrap_or_default();
        let settings = Settings { processes, cancel, pace: Some(25_000), ..settings(1) };
        let problem = Plain(LongNodes { begun, leaves, stop_requested: AtomicBool::new(false) });
        let mut warnings = Vec::new();
        let outcome =
            WorkerPool::default().run(&problem, &settings, &mut |snapshot: &ProgressSnapshot| {
                warnings.extend(snapshot.warning.clone());
                ControlFlow::Continue(())
            });
        (outcome.unwrap(), warnings)
    };
    let ((root, _), (joiner, warnings)) = thread::scope(|scope| {
        let joiner = scope.spawn(|| {
            clusters[1].next_order(|| true).unwrap();
            search(1, Some(Cancel::default()))
        });
        (search(0, None), joiner.join().unwrap())
    });
    assert_eq!(joiner.stop, Some(Stop::Asked));
    assert!(warnings.iter().any(|line| line.contains("too long for a message")), "{warnings:?}");
    assert_eq!((root.counts.total, root.stop), (1 << LEVELS, None));
}

/// The root used to wait a lease period for a site that it had lost before it learned what that site held.
#[test]
fn a_stop_does_not_wait_for_a_site_that_is_gone() {
    let queens = &Queens::new(12, Level::best()).unwrap();
    let fingerprint = Problem::fingerprint(queens);
    let mut parts = mortal(3, LASTING);
    let (_, mut gone) = parts.pop().unwrap();
    let (_, mut site) = parts.pop().unwrap();
    let cancel = Cancel::default();
    let (stop, over) = (cancel.clone(), &AtomicBool::new(false));
    let hands_back = move || {
        let (lease, work) = loop {
            assert!(!over.load(Ordering::Relaxed), "the search is over");
            let ask = Message::Ask { power: Power(1000), workers: 1, waits: false };
            write(&mut site, GatewayMessage::Peer(ask), fingerprint);
            thread::sleep(Duration::from_millis(1));
            let came = from_fn(|| site.poll().unwrap()).find_map(|arrival| match arrival {
                Arrival::Message { bytes, .. } => given(&bytes, fingerprint),
                _ => None,
            });
            if let Some(came) = came {
                break came;
            }
        };
        write(&mut site, GatewayMessage::Lease(LeaseMessage::Ack { lease }), fingerprint);
        gone.dies_after(0);
        gone.send(0, Vec::new());
        // It has passed all of it on.
        let rec = Rec { holder: 2, acked: true, given: Arc::new(work), latest: None };
        let mut report = ProgressReport::of(Portion::default());
        report.subs.insert(Lease { site: 1, incarnation: 5, number: 0 }, rec);
        let word = LeaseMessage::Return { lease, progress_report: Arc::new(report), best: None };
        write(&mut site, GatewayMessage::Lease(word), fingerprint);
        // The root would wait for its totals.
        site.dies_after(0);
        site.send(0, Vec::new());
        stop.cancel();
    };
    let outcome = thread::scope(|scope| {
        scope.spawn(hands_back);
        let _over = OnDrop(|| over.store(true, Ordering::Relaxed));
        let processes = Some(Arc::clone(&parts[0].0) as _);
        let settings = Settings { processes, cancel, pace: Some(200_000), ..settings(1) };
        WorkerPool::default().run(queens, &settings, &mut |_| ControlFlow::Continue(())).unwrap()
    });
    assert_eq!(outcome.stop, Some(Stop::Asked));
    assert!(outcome.open > 0.0, "{outcome:?}");
}

/// Processes of a launcher used to wait forever for the totals of one that had failed before it took part, if the search
/// was over when it left.
#[test]
fn nobody_waits_for_the_totals_of_a_site_that_took_no_part() {
    let queens = &Queens::new(8, Level::best()).unwrap();
    let (fingerprint, clusters) = (Problem::fingerprint(queens), clusters(2));
    let leaves = || {
        clusters[1].next_order(|| true).unwrap();
        let mut session = clusters[1].session();
        loop {
            match session.next_incoming().unwrap() {
                Some(Incoming::Message(0, SessionMessage::Gateway(bytes))) => {
                    let read = GatewayPacket::from_bytes(&bytes, fingerprint, 2);
                    if read.unwrap().message == GatewayMessage::Peer(Message::Done) {
                        break;
                    }
                }
                Some(_) => {}
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
        session.send(0, &SessionMessage::Left);
    };
    let outcome = thread::scope(|scope| {
        scope.spawn(leaves);
        let settings = Settings { processes: Some(Arc::clone(&clusters[0]) as _), ..settings(1) };
        WorkerPool::default().run(queens, &settings, &mut |_| ControlFlow::Continue(())).unwrap()
    });
    assert_eq!((outcome.counts.total, outcome.stop), (92, None));
    // It did not stay to the end.
    let site = &outcome.sites[1];
    assert_eq!((site.end, site.left_s.is_some()), (Some(SiteEnd::Lost), true));
}
