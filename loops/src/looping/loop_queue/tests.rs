//! Tests takers that leave units to faster ones.

use super::*;
use pleach_runtime::on_drop::OnDrop;
use std::thread;

fn even(unit: u32) -> f64 {
    f64::from(unit)
}

/// The waiting taker used to sleep until the end of the loop, however slow the other one became.
#[test]
fn a_taker_takes_units_once_the_one_that_it_waits_for_is_slow() {
    let (sizes, takers) = (Sizes::Measured, Takers { threads: 2, ..Takers::default() });
    let share = &LoopQueue::new(2, &even, &sizes, takers);
    // The first taker is three times as fast as the second, so it would do both units sooner.
    share.record_done(0, &(0..1), 1e6);
    share.record_done(1, &(0..1), 3e6);
    thread::scope(|scope| {
        let second = scope.spawn(|| share.next(1, 1.0));
        // Otherwise, the scope would wait for the second taker if an assertion fails.
        let _stop = OnDrop(|| share.stop());
        while lock(&share.state).waiting == 0 && !second.is_finished() {
            thread::yield_now();
        }
        assert_eq!(share.try_next(0, 1.0), Some(0..1));
        share.record_done(0, &(0..1), 1e12);
        assert_eq!(second.join().unwrap(), Some(1..2));
    });
}

/// Such a device used to count as a taker of average speed, and slow threads left it the last units.
#[test]
fn nobody_leaves_units_to_a_device_that_cannot_be_used() {
    let sizes = Sizes::Measured;
    let share = LoopQueue::new(2, &even, &sizes, Takers { threads: 2, devices: 1, sites: 0 });
    share.record_done(0, &(0..1), 1e6);
    share.record_done(1, &(0..1), 1.6e6);
    share.remove_taker(2);
    assert_eq!(share.try_next(1, 1.0), Some(0..1));
}
