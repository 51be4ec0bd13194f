//! Queens on the emulated device.

use crate::device::explore;
use crate::{on_cpu, uses};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;

#[test]
fn boards_are_counted_as_on_the_cpu() {
    for n in 1..=8 {
        let queens = Queens::new(n, Level::Off).unwrap();
        let wanted = on_cpu(&queens, i64::MAX).counts;
        for how in uses() {
            assert_eq!(explore(&queens, how, i64::MAX).counts, wanted, "{n} queens, {how:?}");
        }
    }
}

#[test]
fn larger_boards_are_counted_as_on_the_cpu() {
    for n in 9..=11 {
        let queens = Queens::new(n, Level::best()).unwrap();
        let wanted = on_cpu(&queens, i64::MAX).counts;
        for how in uses().filter(|how| how.budget > 7).step_by(if n < 11 { 1 } else { 5 }) {
            assert_eq!(explore(&queens, how, i64::MAX).counts, wanted, "{n} queens, {how:?}");
        }
    }
}
