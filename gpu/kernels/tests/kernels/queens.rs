//! Queens on the emulated device.

use crate::device::{Device, Use, explore, explore_from};
use crate::{USUAL, on_cpu, on_cpu_from, uses};
use oorandom::Rand64;
use pleach_core::search::device::OnDevice;
use pleach_core::search::problem::Problem;
use pleach_core::search::work::Work;
use pleach_kernels::launch::KernelEntry;
use pleach_problems::queens::{Board, Queens};
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
fn whole_boards_are_counted_as_halves_are() {
    for n in 1..=10 {
        let mut queens = Queens::new(n, Level::best()).unwrap();
        let wanted = on_cpu(&queens, i64::MAX).counts;
        queens.whole = true;
        for how in uses().filter(|how| n < 8 || how.budget > 7).step_by(if n < 8 { 3 } else { 9 }) {
            assert_eq!(explore(&queens, how, i64::MAX).counts, wanted, "{n} queens, {how:?}");
        }
    }
}

#[test]
fn larger_boards_are_counted_as_on_the_cpu() {
    for n in 9..=11 {
        let queens = Queens::new(n, Level::best()).unwrap();
        let wanted = on_cpu(&queens, i64::MAX).counts;
        for how in uses().filter(|how| how.budget > 7).step_by(if n < 10 { 1 } else { 5 }) {
            assert_eq!(explore(&queens, how, i64::MAX).counts, wanted, "{n} queens, {how:?}");
        }
    }
}

/// Launches that end before the first dive and in the middle of one, with and without spare pages.
#[test]
fn short_launches_count_the_same() {
    for n in [9, 10] {
        let queens = Queens::new(n, Level::Off).unwrap();
        let wanted = on_cpu(&queens, i64::MAX).counts;
        for (budget, explorers, spare) in
            [(1, 1, 20), (7, 1, 20), (7, 3, 20), (65, 2, 16), (65, 3, 0), (1000, 3, 12)]
        {
            let how = Use { explorers, active: explorers, spare, budget, ..USUAL };
            assert_eq!(explore(&queens, how, i64::MAX).counts, wanted, "{n} queens, {how:?}");
        }
    }
}

#[test]
fn boards_that_lanes_dive_through_are_counted() {
    for n in [14, 15] {
        let queens = Queens::new(n, Level::best()).unwrap();
        let wanted = on_cpu(&queens, i64::MAX).counts;
        let how = Use { explorers: 3, active: 3, trigger: 2, budget: 10_000, ..USUAL };
        assert_eq!(explore(&queens, how, i64::MAX).counts, wanted, "{n} queens");
    }
}

/// Random boards of a large tree with this many rows filled.
fn boards(queens: &Queens, n: u32, rows: u32) -> Work {
    let mut rng = Rand64::new(6);
    let mut words = Vec::new();
    while words.len() < 4 * 10 {
        // In the left half of the first row: the other half mirrors it.
        let mut tried = (1 << (n / 2)) - 1;
        let mut board = Board { row: 0, columns: 0, left: 0, right: 0, free: tried, fresh: true };
        while board.row < rows && tried != 0 {
            let bit = 1 << rng.rand_range(0..n.into());
            if tried & bit != 0 {
                board = queens.place(&board, bit);
                tried = board.free;
            }
        }
        if board.row == rows {
            words.extend([board.columns, board.left, board.right, board.free | 1 << 31]);
        }
    }
    queens.to_work(&words)
}

/// From rows above the first dive, and on the largest board.
#[test]
fn parts_of_large_boards_are_counted_as_on_the_cpu() {
    for (n, rows) in [(17, 6), (20, 8), (31, 21)] {
        let queens = Queens::new(n, Level::best()).unwrap();
        let work = boards(&queens, n, rows);
        let wanted = on_cpu_from(&queens, &work, i64::MAX).counts;
        for budget in [777, 5000] {
            let how = Use { explorers: 2, active: 2, budget, ..USUAL };
            let counts = explore_from(&queens, &work, how, i64::MAX).counts;
            assert_eq!(counts, wanted, "{n} queens, {how:?}");
        }
    }
}

/// When a launch ends, everything that lanes hold, boards and frames, is on the shared stack.
#[test]
fn frames_come_back_when_a_launch_ends() {
    let queens = Queens::new(12, Level::best()).unwrap();
    let wanted = on_cpu(&queens, i64::MAX).counts;
    for budget in [65, 100, 333] {
        let how = Use { explorers: 1, active: 1, budget, ..USUAL };
        let mut device = Device::new(&queens, how, i64::MAX);
        let mut words = Vec::new();
        queens.to_words(&Problem::root(&queens).bytes, &mut words).unwrap();
        assert!(device.put(&words, 1).is_empty());
        device.launch(KernelEntry::Explore, 0).unwrap();
        assert!(device.heights[0] > 32, "no lane has frames: {:?}", device.heights);
        let mut counts = device.counted();
        let rest = queens.to_work(&device.take(|_, height| height, false));
        counts.add(&on_cpu_from(&queens, &rest, i64::MAX).counts);
        assert_eq!(counts, wanted, "after {budget} steps");
    }
}
