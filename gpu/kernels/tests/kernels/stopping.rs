//! When explorers stop, and what they report.

use crate::USUAL;
use crate::device::{Device, Use};
use pleach_core::search::device::OnDevice;
use pleach_core::search::problem::Problem;
use pleach_kernels::launch::{KernelEntry, PAGE};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;

/// A device after one launch, with the whole tree of 12 queens on its first explorer.
fn launched(how: Use) -> Device {
    let queens = Queens::new(12, Level::Off).unwrap();
    let mut device = Device::new(&queens, how, i64::MAX);
    let mut words = Vec::new();
    queens.to_words(&Problem::root(&queens).bytes, &mut words).unwrap();
    assert!(device.put(&words, how.explorers).is_empty());
    device.launch(KernelEntry::Explore, 0).unwrap();
    device
}

#[test]
fn explorers_without_nodes_are_idle() {
    let device = launched(USUAL);
    assert_eq!(device.report.idle, 4);
    assert!(device.heights[0] > 0);
}

#[test]
fn explorers_without_room_are_idle() {
    let device = launched(Use { spare: 0, ..USUAL });
    assert_eq!((device.report.idle, device.report.full), (5, 1));
    assert!(device.heights[0] > PAGE - 32 && device.heights[0] <= PAGE);
}

#[test]
fn explorers_stop_soon_when_many_are_idle() {
    let how = Use { explorers: 4, active: 4, budget: 1000, ..USUAL };
    let all = launched(how).counted().bounded;
    let few = launched(Use { trigger: 3, ..how }).counted().bounded;
    let more = launched(Use { trigger: 4, ..how }).counted().bounded;
    assert!(0 < few && few < all / 5, "{few} of {all}");
    assert_eq!(more, all);
}

#[test]
fn no_budget_means_no_step() {
    let device = launched(Use { budget: 0, ..USUAL });
    assert_eq!((device.heights[0], device.counted().bounded), (1, 0));
}
