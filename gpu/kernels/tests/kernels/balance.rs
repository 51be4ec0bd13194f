//! Load balancing among the explorers of a device.

use crate::USUAL;
use crate::device::{Device, Use};
use pleach_core::search::device::OnDevice;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::laws::full_explorer;
use pleach_kernels::launch::StealRule;
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::named::named;
use pleach_problems::simd::Level;

/// A flowshop's open nodes as words, without duplicates.
fn nodes(flowshop: &Flowshop) -> Vec<u32> {
    let mut explorer = full_explorer(flowshop);
    explorer.run(20_000, i64::MAX);
    let mut words = Vec::new();
    flowshop.to_words(&Explorer::drain(&mut *explorer).bytes, &mut words).unwrap();
    words
}

fn sorted(words: &[u32], size: usize) -> Vec<&[u32]> {
    let mut nodes: Vec<_> = words.chunks_exact(size).collect();
    nodes.sort_unstable();
    nodes
}

/// From one stack, then from two, until no explorer finds anything to take.
#[test]
fn nothing_is_lost_and_nothing_twice() {
    let flowshop = Flowshop::new(named("ta001").unwrap(), Level::Off);
    // Four copies, so that several pages are taken at once.
    let (words, size) = (nodes(&flowshop).repeat(4), flowshop.layout().words);
    let open = words.len() / size;
    assert!(open > 400, "{open}");
    for rule in [StealRule::Hypercube, StealRule::Windows, StealRule::Before] {
        for (seed, explorers) in [1, 2, 3, 8, 9, 33, 65].into_iter().enumerate() {
            let how = Use { explorers, active: explorers, rule, seed: seed as u64, ..USUAL };
            let mut device = Device::new(&flowshop, how, i64::MAX);
            assert!(device.put(&words, how.explorers).is_empty());
            let all = device.take(|_, height| height, true);
            assert_eq!(sorted(&all, size), sorted(&words, size), "{explorers} by {rule:?}");
            // All on the first.
            let rest = device.take(|_, height| height, false);
            assert!(device.put(&rest, 1).is_empty());
            for _ in 0..4 {
                device.balance().unwrap();
            }
            let busy = device.heights.iter().filter(|&&height| height > 0).count();
            assert!(busy >= explorers.min(8), "{busy} of {explorers} by {rule:?}");
            let some = device.take(|_, height| height / 3, false);
            let all = [some, device.take(|_, height| height, false)].concat();
            assert_eq!(sorted(&all, size), sorted(&words, size), "{explorers} by {rule:?}");
            assert_eq!(device.heights.iter().max(), Some(&0));
        }
    }
}

/// Explorers with at most the mean keep their nodes, and single nodes stay where they are.
#[test]
fn only_explorers_with_many_nodes_give() {
    let flowshop = Flowshop::new(named("ta001").unwrap(), Level::Off);
    let (words, size) = (nodes(&flowshop), flowshop.layout().words);
    for rule in [StealRule::Hypercube, StealRule::Windows, StealRule::Before] {
        let how = Use { explorers: 4, active: 4, rule, ..USUAL };
        let mut device = Device::new(&flowshop, how, i64::MAX);
        assert!(device.put(&words[..3 * size], 3).is_empty());
        device.balance().unwrap();
        assert_eq!(device.heights, [1, 1, 1, 0]);
    }
}

/// Active explorers take what the others have, down to the last node.
#[test]
fn an_inactive_explorer_gives_its_last_node() {
    let flowshop = Flowshop::new(named("ta001").unwrap(), Level::Off);
    let words = nodes(&flowshop);
    for rule in [StealRule::Hypercube, StealRule::Windows] {
        let how = Use { explorers: 6, active: 3, rule, ..USUAL };
        let mut device = Device::new(&flowshop, how, i64::MAX);
        assert!(device.put(&words, 6).is_empty());
        let mut taken = 0;
        for round in 0.. {
            assert!(round < 100, "{:?}", device.heights);
            device.balance().unwrap();
            if device.heights[3..] == [0; 3] {
                break;
            }
            let done = device.take(|explorer, height| if explorer < 3 { height } else { 0 }, false);
            taken += done.len();
        }
        taken += device.take(|_, height| height, false).len();
        assert_eq!(taken, words.len());
    }
}

/// On a ring with a window of one, nodes move to the next explorer only, and skipped explorers give nothing.
#[test]
fn a_window_covers_preceding_explorers() {
    let flowshop = Flowshop::new(named("ta001").unwrap(), Level::Off);
    let (words, size) = (nodes(&flowshop), flowshop.layout().words);
    for (round, width, taker) in [(0, 1, 2), (1, 1, 3), (0, 3, 2), (2, 1, 4), (4, 1, 1)] {
        let how = Use { explorers: 5, active: 5, rule: StealRule::Before, width, ..USUAL };
        let mut device = Device::new(&flowshop, how, i64::MAX);
        // All on explorer 1.
        let two = [&words[..size], &words[..8 * size]].concat();
        assert!(device.put(&two, 2).is_empty());
        device.take(|explorer, height| if explorer == 1 { 0 } else { height }, false);
        let before = device.heights.clone();
        device.balance_in(round).unwrap();
        let busy: Vec<usize> = (0..5).filter(|&i| device.heights[i] > 0).collect();
        if round == 4 {
            assert_eq!(device.heights, before, "nobody takes from itself");
        } else if width == 1 {
            assert_eq!(busy, [1, taker], "{round}");
        } else {
            assert!(busy.len() >= 2 && busy[0] == 1, "{busy:?}");
        }
    }
}
