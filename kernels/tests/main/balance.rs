//! How explorers of a device share among themselves.

use crate::device::{Device, Use};
use pleach_core::device::OnDevice;
use pleach_core::explorer::Explorer;
use pleach_core::problem::Problem;
use pleach_kernels::Kind;
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::named::named;
use pleach_problems::simd::Level;

/// Open nodes of a flowshop, as words, each of them once.
fn nodes(flowshop: &Flowshop) -> Vec<u32> {
    let mut explorer = flowshop.explorer();
    explorer.put(&Problem::root(flowshop).bytes).unwrap();
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

/// From one stack, then from two, until nobody finds anything any more.
#[test]
fn nothing_is_lost_and_nothing_twice() {
    let flowshop = Flowshop::new(named("ta001").unwrap(), Level::Off);
    let (words, size) = (nodes(&flowshop), flowshop.layout().words);
    let open = words.len() / size;
    assert!(open > 100, "{open}");
    for kind in [Kind::Hypercube, Kind::Adapt] {
        for (seed, explorers) in [1, 2, 3, 8, 9, 33, 65].into_iter().enumerate() {
            let (capacity, seed) = (open, seed as u64);
            let how = Use { explorers, capacity, budget: 1, trigger: 0, kind, seed };
            let mut device = Device::new(&flowshop, how, i64::MAX);
            assert!(device.put(&words));
            for _ in 0..4 {
                device.balance().unwrap();
            }
            let busy = device.heights.iter().filter(|&&height| height > 0).count();
            assert!(busy >= explorers.min(8), "{busy} of {explorers} by {kind:?}");
            let all: Vec<u32> = (0..explorers).flat_map(|e| device.take(e)).collect();
            assert_eq!(sorted(&all, size), sorted(&words, size), "{explorers} by {kind:?}");
        }
    }
}

/// Those that have no more than the mean keep what they have, and so do single nodes.
#[test]
fn only_who_has_much_gives() {
    let flowshop = Flowshop::new(named("ta001").unwrap(), Level::Off);
    let (words, size) = (nodes(&flowshop), flowshop.layout().words);
    for kind in [Kind::Hypercube, Kind::Adapt] {
        let how = Use { explorers: 4, capacity: 1, budget: 1, trigger: 0, kind, seed: 1 };
        let mut device = Device::new(&flowshop, how, i64::MAX);
        assert!(device.put(&words[..3 * size]));
        device.balance().unwrap();
        assert_eq!(device.heights, [1, 1, 1, 0]);
    }
}
