//! Work that leaves a device while its kernels run: shares, and backups on their way.

use crate::gpu::{on_device, problems_for_good, whole, with_intervals};
use oorandom::Rand64;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_gpu::executor::Rounds;

/// Backups and shares travel for several rounds if nobody asks for all counts after each round.
#[test]
fn nothing_is_lost_while_it_travels() {
    for (problem, best) in problems_for_good() {
        let (wanted, mut given) = (whole(problem, best), 0);
        for seed in 0..40 {
            let mut rng = Rand64::new(seed);
            let mut device = on_device(problem, "emulated:explorers=5:budget=4");
            let mut plain = problem.explorer();
            let mut counts = Counts::default();
            device.add_work(&problem.root().bytes).unwrap();
            while device.size() + plain.size() > 0.0 {
                match rng.rand_range(0..6) {
                    0..3 => counts.add(&device.step(u64::MAX, best).counts),
                    3 => counts.add(&plain.run(rng.rand_range(1..50), best).counts),
                    4 if plain.size() < 1.0 => {
                        if let Some(work) = device.split(rng.rand_float()) {
                            given += 1;
                            plain.add_work(&work.bytes).unwrap();
                        }
                    }
                    4 => {}
                    _ if rng.rand_range(0..4) == 0 => {
                        plain
                            .split(0.5)
                            .into_iter()
                            .for_each(|it| device.add_work(&it.bytes).unwrap());
                    }
                    _ => {}
                }
            }
            counts.add(&device.flush().counts);
            assert_eq!(counts, wanted, "seed {seed}");
        }
        assert!(given > 20, "{given}");
    }
}

/// A device that holds intervals gives a share of its leaves, or at least half of it while the rest is on its way.
#[test]
fn shares_of_intervals_are_given() {
    let queens = with_intervals(12);
    for (i, share) in [0.0, 1e-6, 0.01, 0.3, 0.5, 0.9, 1.0].into_iter().enumerate() {
        let mut explorer = on_device(&queens, "emulated:explorers=7:budget=300");
        explorer.add_work(&queens.root().bytes).unwrap();
        (0..=i).for_each(|_| drop(explorer.step(u64::MAX, i64::MAX)));
        for _ in 0..4 {
            let (mut size, mut given) = (explorer.size(), explorer.split(share));
            while given.is_none() {
                // What it gives is on its way.
                explorer.step(1, i64::MAX);
                (size, given) = (explorer.size(), explorer.split(share));
            }
            let given = given.unwrap().size;
            let wanted = (share * size).clamp(1.0, size - 1.0);
            assert!((0.5..1.01).contains(&(given / wanted)), "{given} of {size} for {share}");
            assert!((explorer.size() + given - size).abs() < 1e-5 * size, "{share}");
            if share == 1.0 {
                break;
            }
        }
    }
}
