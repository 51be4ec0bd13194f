//! When explorers stop, and what they say then.

use crate::device::{Device, Use};
use pleach_core::device::OnDevice;
use pleach_core::problem::Problem;
use pleach_kernels::{Entry, Kind};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;

const USUAL: Use =
    Use { explorers: 5, capacity: 500, budget: 200, trigger: 0, kind: Kind::Adapt, seed: 1 };

/// A device with the whole tree of 12 queens on its first explorer, after one launch.
fn launched(how: Use) -> Device {
    let queens = Queens::new(12, Level::Off).unwrap();
    let mut device = Device::new(&queens, how, i64::MAX);
    let mut words = Vec::new();
    queens.to_words(&Problem::root(&queens).bytes, &mut words).unwrap();
    assert!(device.put(&words));
    device.launch(Entry::Explore, 0).unwrap();
    device
}

#[test]
fn explorers_without_nodes_are_idle() {
    let device = launched(USUAL);
    assert_eq!(device.idle[0], 4);
    assert!(device.heights[0] > 0);
}

#[test]
fn explorers_without_room_are_idle() {
    for capacity in [1, 3, 20] {
        let device = launched(Use { capacity, ..USUAL });
        assert_eq!(device.idle[0], 5);
        assert_eq!(device.heights[0] as usize, capacity);
    }
}

#[test]
fn explorers_stop_soon_when_many_are_idle() {
    // All in one block: blocks of the emulated device come one after the other.
    let how = Use { explorers: 4, ..USUAL };
    let all = launched(how).counted().bounded;
    let few = launched(Use { trigger: 3, ..how }).counted().bounded;
    let more = launched(Use { trigger: 4, ..how }).counted().bounded;
    assert!(0 < few && few < all / 5, "{few} of {all}");
    assert_eq!(more, all);
}

#[test]
fn no_budget_means_no_step() {
    let mut device = launched(Use { budget: 0, ..USUAL });
    assert_eq!((device.heights[0], device.counted().bounded), (1, 0));
}
