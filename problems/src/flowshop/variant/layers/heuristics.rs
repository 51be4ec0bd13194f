//! [`Heuristics`]: searches for better schedules side by side, between passes over the layers.

use super::super::greedy::Improve;
use super::super::improve::improve;
use super::super::model::Variant;
use crate::simd::Level;
use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// How many there are, whatever the number of threads, on which results must not depend.
const SIDE_BY_SIDE: u64 = 4;
/// How often they share their best schedule in the time of a pass.
const TURNS: u64 = 8;
/// They continue for this many times as long as it took to find the best schedule.
const PATIENCE: u64 = 4;

/// Heuristics and what they have done.
pub(super) struct Heuristics {
    each: Vec<One>,
    /// The work of each, and how much it was at the last improvement.
    work: u64,
    gained_at: u64,
}

/// A heuristic, and the best schedule that it knows.
struct One {
    improve: Box<dyn Improve>,
    best: (Vec<u16>, i64),
}

impl Heuristics {
    /// From a schedule.
    pub fn new(variant: &Variant, level: Level, start: &(Vec<u16>, i64), seed: u64) -> Self {
        let one = |n| One {
            improve: improve(variant, level, start.clone(), seed.wrapping_add(n)),
            best: start.clone(),
        };
        Self { each: (0..SIDE_BY_SIDE).map(one).collect(), work: 0, gained_at: 0 }
    }

    /// Improves a schedule with this much work, and for longer if the last improvement took long. `keep_going` is
    /// called often, on this thread, with the best schedule.
    pub fn improve(
        &mut self,
        best: &mut (Vec<u16>, i64),
        work: u64,
        threads: usize,
        keep_going: &mut dyn FnMut(&[u16], i64) -> bool,
    ) {
        let until = self.work + work / SIDE_BY_SIDE;
        self.each.iter_mut().for_each(|one| one.adopt(best));
        let turn = (work / SIDE_BY_SIDE / TURNS).max(1);
        while self.work < until.max(PATIENCE * self.gained_at) && keep_going(&best.0, best.1) {
            self.turn(turn, threads, &mut || keep_going(&best.0, best.1));
            for one in &self.each {
                if one.best.1 < best.1 {
                    *best = one.best.clone();
                    self.gained_at = self.work;
                }
            }
        }
    }

    /// Runs each until it has done this much more work.
    fn turn(&mut self, work: u64, threads: usize, keep_going: &mut dyn FnMut() -> bool) {
        self.work += work;
        let until = self.work;
        let each: Vec<Mutex<&mut One>> = self.each.iter_mut().map(Mutex::new).collect();
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let run = |keep_going: &dyn Fn() -> bool| {
            while let Some(one) = each.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Ok(mut one) = one.lock() {
                    one.run(until, keep_going);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads.min(each.len()) {
                scope.spawn(|| run(&|| !stopped.load(Ordering::Relaxed)));
            }
            let keep_going = RefCell::new(keep_going);
            run(&|| {
                let more = (keep_going.borrow_mut())();
                stopped.fetch_or(!more, Ordering::Relaxed);
                more
            });
        });
    }
}

impl One {
    /// Continues from another schedule if that is better.
    fn adopt(&mut self, best: &(Vec<u16>, i64)) {
        if best.1 < self.best.1 {
            self.best = best.clone();
            self.improve.adopt(&best.0, best.1);
        }
    }

    /// Runs until all its work amounts to this much.
    fn run(&mut self, until: u64, keep_going: &dyn Fn() -> bool) {
        while self.improve.work() < until && keep_going() {
            let found = self.improve.round(keep_going);
            if found.1 < self.best.1 {
                self.best = found;
            }
        }
    }
}
