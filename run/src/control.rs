//! [`Control`]: what the threads of a run share: the best value, the fuel left, and the word to stop.

use crate::sync::{AtomicI64, AtomicU8, AtomicU64, Mutex, Ordering, lock};
use pleach_core::tree::Solution;

/// Why a run stopped before all work was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stop {
    /// The time limit.
    Time = 1,
    /// The node limit.
    Nodes = 2,
    /// Ctrl-C, or the caller's own wish.
    Asked = 3,
    /// What was looked for is found.
    Found = 4,
    /// More open nodes than memory is meant for: the tree may have no end.
    Memory = 5,
    /// A unit failed.
    Failed = 6,
}

const STOPS: [Stop; 6] =
    [Stop::Time, Stop::Nodes, Stop::Asked, Stop::Found, Stop::Memory, Stop::Failed];

/// What the threads of a run share.
pub(crate) struct Control {
    best: AtomicI64,
    solution: Mutex<Option<Solution>>,
    /// Nodes that may still be explored; `u64::MAX` without a limit.
    tank: AtomicU64,
    units: u64,
    stop: AtomicU8,
}

#[cfg_attr(loom, allow(dead_code))]
impl Control {
    pub fn new(best: i64, node_limit: Option<u64>, units: u32) -> Self {
        Self {
            best: AtomicI64::new(best),
            solution: Mutex::new(None),
            tank: AtomicU64::new(node_limit.unwrap_or(u64::MAX)),
            units: u64::from(units),
            stop: AtomicU8::new(0),
        }
    }

    /// The score that a solution must beat.
    #[inline]
    pub fn best(&self) -> i64 {
        self.best.load(Ordering::Relaxed)
    }

    /// Makes a solution the best, unless a better one was found meanwhile.
    pub fn offer(&self, found: Solution) {
        let mut solution = lock(&self.solution);
        if found.score < self.best() {
            self.best.store(found.score, Ordering::Relaxed);
            *solution = Some(found);
        }
    }

    /// The best solution that was offered.
    pub fn solution(&self) -> Option<Solution> {
        lock(&self.solution).clone()
    }

    /// Takes fuel: a small part of what is left, so that no unit goes without while there is some.
    pub fn draw(&self) -> u64 {
        let part = |left: u64| (left / (4 * self.units)).clamp(left.min(1), 1 << 18);
        let take = |left: u64| (left < u64::MAX).then(|| left - part(left));
        match self.tank.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(before) => part(before),
            Err(no_limit) => no_limit,
        }
    }

    /// Puts fuel back that was not used.
    pub fn give_back(&self, fuel: u64) {
        if fuel > 0 && self.tank.load(Ordering::Relaxed) != u64::MAX {
            self.tank.fetch_add(fuel, Ordering::Relaxed);
        }
    }

    /// Says that the run is to stop; the first reason counts.
    pub fn stop(&self, why: Stop) {
        let _ = self.stop.compare_exchange(0, why as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why the run is to stop, if it is.
    #[inline]
    pub fn stopped(&self) -> Option<Stop> {
        match self.stop.load(Ordering::Relaxed) {
            0 => None,
            why => Some(STOPS[usize::from(why) - 1]),
        }
    }
}
