//! Checks all interleavings of takers that share a small loop.

use super::loop_queue::{Hooks, LoopQueue, Takers};
use super::sizes::Sizes;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread::spawn;
use std::ops::Range;

fn even(unit: u32) -> f64 {
    f64::from(unit)
}

/// A device takes one of two units and fails while a thread looks for work: both units are done once, and nobody waits
/// forever.
fn a_device_that_fails(sizes: &'static Sizes) {
    const ONE_OF_EACH: Takers = Takers { threads: 1, devices: 1, sites: 0 };
    loom::model(move || {
        let share = Arc::new(LoopQueue::new(2, &even, sizes, ONE_OF_EACH));
        let thread = {
            let share = share.clone();
            spawn(move || std::iter::from_fn(|| share.next(0, 0.0)).flatten().collect::<Vec<u32>>())
        };
        share.give_back(1, share.try_next(1, 0.0));
        let rest = std::iter::from_fn(|| share.next(1, 0.0)).flatten();
        let mut all: Vec<u32> = rest.collect();
        all.extend(thread.join().unwrap());
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
    });
}

#[test]
fn what_a_device_gives_back_is_done_by_others() {
    a_device_that_fails(&Sizes::Given(1, 1));
}

#[test]
fn what_a_device_gives_back_is_divided_as_a_block() {
    a_device_that_fails(&Sizes::Block(1, 1));
}

/// Two threads share three units in blocks of two: each is done once, and nobody waits forever.
#[test]
fn threads_that_divide_blocks_do_each_unit_once() {
    static SIZES: Sizes = Sizes::Block(2, 1);
    loom::model(|| {
        let takers = Takers { threads: 2, ..Takers::default() };
        let share = Arc::new(LoopQueue::new(3, &even, &SIZES, takers));
        let take = |share: Arc<LoopQueue<'static>>, me| {
            std::iter::from_fn(move || share.next(me, 0.0)).flatten().collect::<Vec<u32>>()
        };
        let other = share.clone();
        let thread = spawn(move || take(other, 1));
        let mut all = take(share, 0);
        all.extend(thread.join().unwrap());
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
    });
}

/// Wakes the thread that communicates with other processes.
struct LoomWaker(Mutex<bool>, Condvar);

impl LoomWaker {
    fn wake(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_one();
    }

    fn wait(&self) {
        let mut woken = self.0.lock().unwrap();
        while !std::mem::take(&mut *woken) {
            woken = self.1.wait(woken).unwrap();
        }
    }
}

/// Another process and a thread share two units. The process does its ranges, or is lost with the first one: both units
/// are done once, and nobody waits forever.
fn a_site_and_a_thread(site_is_lost: bool) {
    static SIZES: Sizes = Sizes::Given(1, 1);
    const ONE_OF_EACH: Takers = Takers { threads: 1, devices: 0, sites: 1 };
    loom::model(move || {
        // The callbacks must outlive every thread.
        let waker: &'static LoomWaker =
            Box::leak(Box::new(LoomWaker(Mutex::new(false), Condvar::new())));
        let changed: &'static (dyn Fn() + Sync) = Box::leak(Box::new(|| waker.wake()));
        let done: &'static (dyn Fn(&Range<u32>) + Sync) = &|_| {};
        let share =
            LoopQueue::new(2, &even, &SIZES, ONE_OF_EACH).with(Some(Hooks { done, changed }));
        let share = Arc::new(share);
        let thread = {
            let share = share.clone();
            spawn(move || {
                let mut all = Vec::new();
                while let Some(range) = share.next(0, 0.0) {
                    share.record_done(0, &range, 1.0);
                    all.extend(range);
                }
                all
            })
        };
        let (mut all, mut has, mut rests, mut takes) = (Vec::<u32>::new(), None, true, true);
        share.record_joined(1);
        while !share.end_if_idle() {
            if let Some(range) = has.take() {
                if site_is_lost {
                    takes = false;
                    share.requeue_ranges(1, [range]);
                } else {
                    share.record_done(1, &range, 1.0);
                    all.extend(range);
                }
            }
            if takes {
                has = if rests { share.first_range(1) } else { share.try_next(1, 1.0) };
            }
            if has.is_some() {
                rests = false;
                continue;
            }
            if !std::mem::replace(&mut rests, true) {
                share.record_idle();
                continue;
            }
            waker.wait();
        }
        all.extend(thread.join().unwrap());
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
        assert_eq!(share.missing(), 0);
    });
}

#[test]
fn a_site_does_its_part() {
    a_site_and_a_thread(false);
}

#[test]
fn what_a_lost_site_had_is_done_by_a_thread() {
    a_site_and_a_thread(true);
}
