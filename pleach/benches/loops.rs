//! Measures the engine of loops: the cost of taking a range, and loops of tiny units.

use pleach_loops::looping::RangeDeque;
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

fn main() {
    for threads in [1, 2] {
        let each_ns = (0..5).map(|_| take_ns(threads)).fold(f64::MAX, f64::min);
        println!("a range taken, {threads} threads at both ends: {each_ns:.1} ns");
    }
    for threads in [1, 2] {
        let seconds = (0..5).map(|_| tiny(threads)).fold(f64::MAX, f64::min);
        println!("10⁸ additions, {threads} threads: {:.1} ms", seconds * 1e3);
    }
}

/// Time per range that one thread after the other takes, all of them trying at once.
fn take_ns(threads: usize) -> f64 {
    const TAKES: u32 = 4_000_000;
    let row = &RangeDeque::new(TAKES);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for me in 0..threads {
            scope.spawn(move || {
                let one = |_: &Range<u32>| 1;
                while (if me % 2 == 0 { row.pop_front(one) } else { row.pop_back(one) }).is_some() {
                }
            });
        }
    });
    began.elapsed().as_nanos() as f64 / f64::from(TAKES)
}

fn tiny(threads: u32) -> f64 {
    let sum = AtomicU64::new(0);
    let began = Instant::now();
    let report = pleach::Each::new(100_000_000).threads(threads).run(|units| {
        let part = units.fold(0u64, |sum, unit| sum.wrapping_add(black_box(unit as u64)));
        sum.fetch_add(part, Ordering::Relaxed);
    });
    assert!(report.is_ok_and(|report| report.complete));
    began.elapsed().as_secs_f64()
}
