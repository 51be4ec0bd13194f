//! [`Share`]: the units of a loop as threads and devices share them: who takes which, who waits, and when it is over.

use super::both_ends::BothEnds;
use super::sizes::{Rates, Sizes, boundaries, nearest};
use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex, Ordering, lock};
use std::ops::Range;
use std::sync::PoisonError;

/// A loop's units, its cost, and how they are shared.
pub(super) struct Share<'a> {
    row: BothEnds,
    cost_before: &'a (dyn Fn(u32) -> f64 + Sync),
    /// The cost of all units.
    whole: f64,
    units: u32,
    sizes: &'a Sizes,
    /// With [`Sizes::Static`], the range of each unit of the machine.
    ends: Vec<u32>,
    rates: Rates,
    /// Units of the machine: first the threads, then the devices.
    threads: usize,
    takers: usize,
    aside: Mutex<Aside>,
    changed: Condvar,
    stopped: AtomicBool,
    /// Units done.
    done: AtomicU64,
}

/// What the takers must agree upon.
struct Aside {
    /// Takers that have nothing to do.
    waiting: usize,
    /// Ranges that failed devices have given back.
    returned: Vec<Range<u32>>,
    /// Devices that could still give something back.
    devices: usize,
}

#[cfg_attr(loom, allow(dead_code))]
impl<'a> Share<'a> {
    /// Units of a loop with these costs, for so many threads and devices.
    pub fn new(
        units: u32,
        cost_before: &'a (dyn Fn(u32) -> f64 + Sync),
        sizes: &'a Sizes,
        (threads, devices): (usize, usize),
    ) -> Self {
        let takers = threads + devices;
        let ends = match sizes {
            Sizes::Static(shares) => {
                let all = |at| shares.get(at).map_or(0.0, |share: &f64| share.max(0.0));
                boundaries(&(0..takers).map(all).collect::<Vec<f64>>(), units, cost_before)
            }
            _ => Vec::new(),
        };
        // A static split is taken from the lists of ends; nothing is in the row.
        let in_row = if ends.is_empty() { units } else { 0 };
        Self {
            row: BothEnds::new(in_row),
            cost_before,
            whole: cost_before(units),
            units,
            sizes,
            ends,
            rates: Rates::new(takers),
            threads,
            takers,
            aside: Mutex::new(Aside { waiting: 0, returned: Vec::new(), devices }),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            done: AtomicU64::new(0),
        }
    }

    /// The cost of these units.
    pub fn cost(&self, units: &Range<u32>) -> f64 {
        (self.cost_before)(units.end) - (self.cost_before)(units.start)
    }

    /// The cost of all units.
    pub fn whole(&self) -> f64 {
        self.whole
    }

    /// Units done so far.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Nobody takes any more.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _aside = lock(&self.aside);
        self.changed.notify_all();
    }

    /// Whether nobody is to take any more.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// A unit of the machine has done a range.
    pub fn note(&self, me: usize, units: &Range<u32>, took_ns: f64) {
        self.done.fetch_add(u64::from(units.end - units.start), Ordering::Relaxed);
        self.rates.note(me, self.cost(units), took_ns);
    }

    /// The range of a static split, to be asked for once.
    pub fn own(&self, me: usize) -> Option<Range<u32>> {
        let range = *self.ends.get(me)?..self.ends[me + 1];
        (!range.is_empty()).then_some(range)
    }

    /// The next range, if there is one for this unit now; `last` is the cost of the one before.
    pub fn try_next(&self, me: usize, last: f64) -> Option<Range<u32>> {
        if self.is_stopped() {
            return None;
        }
        let device = me >= self.threads;
        let size = |left: &Range<u32>| self.size(me, device, last, left);
        if device { self.row.back(size) } else { self.row.front(size) }
    }

    /// How many of the units left to take; 0 for none.
    fn size(&self, me: usize, device: bool, last: f64, left: &Range<u32>) -> u32 {
        if left.is_empty() {
            return 0;
        }
        if let Sizes::Given(thread, other) = *self.sizes {
            return if device { other } else { thread }.max(1);
        }
        let cost = self.cost(left);
        let next = if device { left.end - 1..left.end } else { left.start..left.start + 1 };
        let wanted = self.rates.wanted(me, device, cost, last, self.cost(&next));
        let Some(wanted) = wanted else { return 0 };
        let before = self.cost_before;
        let units = if device {
            left.end - nearest(left, before(left.end) - wanted, before)
        } else {
            nearest(left, before(left.start) + wanted, before) - left.start
        };
        units.max(1)
    }

    /// The next range, or none when all is done: waits for as long as devices may give something back, or others are
    /// faster with what is left.
    pub fn next(&self, me: usize, last: f64) -> Option<Range<u32>> {
        if let Some(range) = self.try_next(me, last) {
            return Some(range);
        }
        let mut aside = lock(&self.aside);
        aside.waiting += 1;
        loop {
            if self.is_stopped() {
                return None;
            }
            let range = aside.returned.pop().or_else(|| {
                // Whoever is left alone with it does it, however slow.
                let alone = aside.waiting == self.takers;
                alone.then(|| self.row.front(|_| 1)).flatten()
            });
            if range.is_some() {
                aside.waiting -= 1;
                return range;
            }
            let left = !self.row.left().is_empty();
            if aside.waiting == self.takers || !left && aside.devices == 0 {
                self.changed.notify_all();
                return None;
            }
            aside = self.changed.wait(aside).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A device has failed: these ranges are for whoever is free. Its thread takes part from now on.
    pub fn give_back(&self, me: usize, ranges: impl IntoIterator<Item = Range<u32>>) {
        self.rates.forget(me);
        let mut aside = lock(&self.aside);
        aside.returned.extend(ranges);
        aside.devices -= 1;
        self.changed.notify_all();
    }

    /// Whether there is nothing left to take.
    pub fn is_over(&self) -> bool {
        self.is_stopped() || self.ends.is_empty() && self.row.left().is_empty()
    }

    /// A device cannot be used: it takes nothing, and what a static split has for it is for others.
    pub fn leave(&self, me: usize) {
        let mut aside = lock(&self.aside);
        aside.returned.extend(self.own(me));
        aside.devices -= 1;
        aside.waiting += 1;
        self.changed.notify_all();
    }

    /// Units not done.
    pub fn missing(&self) -> u64 {
        u64::from(self.units) - self.done()
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    fn even(unit: u32) -> f64 {
        f64::from(unit)
    }

    /// A device takes one of two units and fails with it, while a thread looks for work: both units are done, once,
    /// and nobody waits for ever.
    #[test]
    fn what_a_device_gives_back_is_done_by_others() {
        static SIZES: Sizes = Sizes::Given(1, 1);
        loom::model(|| {
            let share = Arc::new(Share::new(2, &even, &SIZES, (1, 1)));
            let thread = {
                let share = share.clone();
                loom::thread::spawn(move || {
                    std::iter::from_fn(|| share.next(0, 0.0)).flatten().collect::<Vec<u32>>()
                })
            };
            share.give_back(1, share.try_next(1, 0.0));
            let rest = std::iter::from_fn(|| share.next(1, 0.0)).flatten();
            let mut all: Vec<u32> = rest.collect();
            all.extend(thread.join().unwrap());
            all.sort_unstable();
            assert_eq!(all, [0, 1]);
        });
    }
}
