//! [`Control`]: the state that the workers of a run share: the incumbent, the fuel left, and the signal to stop.

use crate::sync::{AtomicI64, AtomicU8, AtomicU64, Mutex, Ordering, lock};
use pleach_core::search::tree::Solution;
use pleach_core::search::work::Pack;

/// Why a run stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pack)]
#[repr(u8)]
pub enum Stop {
    /// The time limit.
    Time = 1,
    /// The node limit.
    Nodes = 2,
    /// Ctrl-C, or a request of the caller.
    Asked = 3,
    /// A solution was found, and one was enough.
    Found = 4,
    /// The process exceeded its memory limit: the tree may be infinite.
    Memory = 5,
    /// A worker failed.
    Failed = 6,
}

const STOPS: [Stop; 6] =
    [Stop::Time, Stop::Nodes, Stop::Asked, Stop::Found, Stop::Memory, Stop::Failed];

impl Stop {
    /// What stopped a search early, in a word; `None` for [`Stop::Found`], which completes the search.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Stop::Found => None,
            Stop::Time => Some("time-limit"),
            Stop::Nodes => Some("node-limit"),
            Stop::Memory => Some("memory"),
            Stop::Asked | Stop::Failed => Some("cancelled"),
        }
    }

    /// The reason with this number, if there is one.
    pub fn of(number: u8) -> Option<Self> {
        STOPS.get(usize::from(number).checked_sub(1)?).copied()
    }
}

/// The first of several reasons to stop; empty at first.
#[derive(Default)]
pub struct Reason(AtomicU8);

impl Reason {
    /// Gives a reason; the first one is kept.
    pub fn set(&self, why: Stop) {
        let _ = self.0.compare_exchange(0, why as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The reason that was given, if any.
    #[inline]
    pub fn get(&self) -> Option<Stop> {
        Stop::of(self.0.load(Ordering::Relaxed))
    }
}

/// The shared state of a run.
pub struct Control {
    best: AtomicI64,
    solution: Mutex<Option<Solution>>,
    /// The nodes that may still be explored; `u64::MAX` if there is no limit.
    fuel: AtomicU64,
    /// Workers that have drawn fuel and not yet refunded the rest.
    drawn_by: AtomicU64,
    /// Fuel at or below this is low.
    low: AtomicU64,
    /// Fuel used in excess of the limit: stretches do not end exactly at the limit.
    beyond: AtomicU64,
    workers: u64,
    /// Workers that are not idle, plus messages in flight that matter.
    busy: AtomicU64,
    stop: Reason,
}

#[cfg_attr(loom, allow(dead_code))]
impl Control {
    /// The control of a run whose solutions must beat `best`, and `start` if given.
    pub fn new(best: i64, start: Option<Solution>, node_limit: Option<u64>, workers: u32) -> Self {
        let best = start.as_ref().map_or(best, |start| start.score.min(best));
        Self {
            best: AtomicI64::new(best),
            solution: Mutex::new(start),
            fuel: AtomicU64::new(node_limit.unwrap_or(u64::MAX)),
            drawn_by: AtomicU64::new(0),
            low: AtomicU64::new(0),
            beyond: AtomicU64::new(0),
            workers: u64::from(workers),
            busy: AtomicU64::new(workers.into()),
            stop: Reason::default(),
        }
    }

    /// The score that a solution must beat.
    #[inline]
    pub fn best(&self) -> i64 {
        self.best.load(Ordering::Relaxed)
    }

    /// Makes a solution the incumbent if it is better; returns whether it was.
    pub fn offer_solution(&self, found: Solution) -> bool {
        let mut solution = lock(&self.solution);
        let better = found.score < self.best();
        if better {
            self.best.store(found.score, Ordering::Relaxed);
            *solution = Some(found);
        }
        better
    }

    /// The incumbent.
    pub fn solution(&self) -> Option<Solution> {
        lock(&self.solution).clone()
    }

    /// Draws at most this much fuel: a small part of what is left, so that no worker runs dry before the others. Every
    /// draw must be followed by a refund.
    pub fn draw_fuel(&self, most: u64) -> u64 {
        let part = |left: u64| (left / (4 * self.workers)).clamp(left.min(1), most);
        let take = |left: u64| (left < u64::MAX).then(|| left - part(left));
        match self.fuel.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(0) => 0,
            Ok(before) => {
                self.drawn_by.fetch_add(1, Ordering::AcqRel);
                part(before)
            }
            Err(no_limit) => no_limit,
        }
    }

    /// Whether no fuel is left, and no worker may still return some.
    pub fn is_dry(&self) -> bool {
        self.drawn_by.load(Ordering::Acquire) == 0 && self.fuel() == 0
    }

    /// Returns unused fuel, or charges excess use.
    pub fn refund_fuel(&self, drawn: u64, used: u64) {
        let left_after = |left: u64| (left < u64::MAX).then(|| (left + drawn).saturating_sub(used));
        // Without a limit there is nothing to account for.
        if let Ok(left) = self.fuel.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left_after) {
            let beyond = used.saturating_sub(left + drawn);
            if beyond > 0 {
                self.beyond.fetch_add(beyond, Ordering::Relaxed);
            }
            self.drawn_by.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Fuel left; `u64::MAX` if there is no limit.
    pub fn fuel(&self) -> u64 {
        self.fuel.load(Ordering::Relaxed)
    }

    /// Whether at most half as much fuel is left as was last added.
    pub fn is_low(&self) -> bool {
        self.fuel() <= self.low.load(Ordering::Relaxed)
    }

    /// Adds fuel, where there is a limit.
    pub fn add_fuel(&self, fuel: u64) {
        self.low.store(fuel / 2, Ordering::Relaxed);
        // Earlier excess use is paid first.
        let pay = |beyond: u64| Some(beyond - beyond.min(fuel));
        let owed = self.beyond.fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay);
        let fuel = fuel - owed.unwrap_or(0).min(fuel);
        let more =
            |left: u64| (left < u64::MAX).then(|| left.saturating_add(fuel).min(u64::MAX - 1));
        // Without a limit there is always enough.
        let _ = self.fuel.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    /// Takes away all fuel, where there is a limit.
    pub fn remove_fuel(&self) {
        let none = |left: u64| (left < u64::MAX).then_some(0);
        let _ = self.fuel.fetch_update(Ordering::Relaxed, Ordering::Relaxed, none);
    }

    /// Whether no worker is busy, and no message that matters is in flight.
    pub fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Acquire) == 0
    }

    /// Counts all workers as busy again. None of them may be at work.
    pub fn set_all_busy(&self) {
        self.busy.store(self.workers, Ordering::Release);
    }

    /// Adds one to the busy count. The caller must know that the count is above 0: because it is counted itself, or
    /// because what it has just received is.
    pub fn add_busy(&self) {
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    /// Adds one to the busy count unless it is 0; returns whether it did.
    pub fn add_busy_unless_over(&self) -> bool {
        let more = |busy: u64| (busy > 0).then(|| busy + 1);
        self.busy.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Subtracts one from the busy count; returns whether none is left.
    pub fn remove_busy(&self) -> bool {
        self.busy.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Signals the run to stop. The first reason is kept.
    pub fn stop(&self, why: Stop) {
        self.stop.set(why);
    }

    /// Why the run must stop, if it must.
    #[inline]
    pub fn stopped(&self) -> Option<Stop> {
        self.stop.get()
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn the_best_of_two_offers_stays() {
        loom::model(|| {
            let control = Arc::new(Control::new(i64::MAX, None, None, 2));
            let other = {
                let control = control.clone();
                thread::spawn(move || {
                    control.offer_solution(Solution { score: 3, solution: vec![3] })
                })
            };
            control.offer_solution(Solution { score: 5, solution: vec![5] });
            other.join().unwrap();
            assert_eq!(control.best(), 3);
            assert_eq!(control.solution().unwrap().solution, [3]);
        });
    }

    #[test]
    fn no_fuel_is_drawn_twice_or_lost() {
        loom::model(|| {
            let control = Arc::new(Control::new(i64::MAX, None, Some(3), 1));
            let other = {
                let control = control.clone();
                thread::spawn(move || {
                    let drawn = control.draw_fuel(1 << 18);
                    control.refund_fuel(drawn, 0);
                    control.draw_fuel(1 << 18)
                })
            };
            let mut drawn = control.draw_fuel(1 << 18);
            drawn += other.join().unwrap();
            while let more @ 1.. = control.draw_fuel(1 << 18) {
                drawn += more;
            }
            assert_eq!(drawn, 3);
        });
    }

    #[test]
    fn exactly_one_is_last_and_nobody_joins_after_it() {
        loom::model(|| {
            let control = Arc::new(Control::new(i64::MAX, None, None, 2));
            let other = {
                let control = control.clone();
                thread::spawn(move || {
                    control.add_busy();
                    let last = control.remove_busy();
                    assert!(!last);
                    control.remove_busy()
                })
            };
            let last = control.remove_busy();
            let joined = control.add_busy_unless_over();
            let after = joined && control.remove_busy();
            let other = other.join().unwrap();
            assert_eq!(u32::from(last) + u32::from(after) + u32::from(other), 1);
            assert!(!control.add_busy_unless_over());
        });
    }

    #[test]
    fn the_first_reason_to_stop_counts() {
        loom::model(|| {
            let control = Arc::new(Control::new(i64::MAX, None, None, 1));
            let other = {
                let control = control.clone();
                thread::spawn(move || control.stop(Stop::Time))
            };
            control.stop(Stop::Asked);
            let first = control.stopped();
            other.join().unwrap();
            assert_eq!(control.stopped(), first);
        });
    }
}
