//! A site that leaves with more open work than a message can carry: the others explore it.

use super::network::mortal;
use super::settings;
use pleach_core::lease::Terms;
use pleach_core::search::problem::Plain;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_runtime::{Cancel, ProgressSnapshot, Settings, Stop, WorkerPool};
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
