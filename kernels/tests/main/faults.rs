//! What is wrong with a launch is told, and ends neither in a hang nor in a crash.

use crate::device::run;
use pleach_kernels::emulated::Fault;
use pleach_kernels::{Entry, Launch};

/// A launch of the kernel that is made of mistakes: which one, and how many explorers.
fn diverging(mistake: u32, explorers: u32, idle: &mut [u32; 2]) -> Launch {
    let other = idle.as_mut_ptr() as u64;
    let even = other.next_multiple_of(8);
    Launch {
        stacks: other,
        heights: other,
        counts: even,
        best: even,
        found: other,
        tables: other,
        idle: other,
        explorers,
        capacity: 1,
        budget: 1,
        trigger: 0,
        kind: 0,
        round: 0,
        least: 0,
        sizes: [mistake, 0, 0, 0, 0, 0, 0, 0, 0],
    }
}

#[test]
fn threads_that_wait_at_different_places_are_told() {
    for (mistake, said) in [
        (0, "threads wait for ever: thread 0 of block 0 at diverging.cu:9"),
        (1, "lanes of a warp wait at different places"),
        (2, "threads wait for ever"),
        (3, "a lane is not in its own mask"),
        (4, "a lane reads one that is not in the mask"),
    ] {
        for seed in 0..20 {
            let mut idle = [0; 2];
            let fault = run("diverging", Entry::Explore, &diverging(mistake, 4, &mut idle), seed);
            let Err(Fault::Stuck { entry: "explore", text, .. }) = fault else {
                panic!("mistake {mistake}: {fault:?}")
            };
            assert!(text.starts_with(said), "mistake {mistake}: {text}");
        }
    }
}

#[test]
fn threads_that_meet_as_they_should_go_on() {
    for explorers in [1, 4, 5, 40] {
        let mut idle = [0; 2];
        run("diverging", Entry::Explore, &diverging(9, explorers, &mut idle), 1).unwrap();
        assert_eq!(idle[0], explorers.div_ceil(4) * 128);
    }
}

#[test]
fn devices_in_two_threads_do_not_meet() {
    let launches = || {
        for seed in 0..50 {
            let mut idle = [0; 2];
            run("diverging", Entry::Explore, &diverging(9, 8, &mut idle), seed).unwrap();
            assert_eq!(idle[0], 256);
            let mistake = diverging(1, 8, &mut idle);
            assert!(run("diverging", Entry::Explore, &mistake, seed).is_err());
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(launches))));
}

#[test]
fn records_that_cannot_be_right_are_refused() {
    let mut idle = [0; 2];
    let good = diverging(9, 4, &mut idle);
    let said =
        |launch: Launch| run("diverging", Entry::Explore, &launch, 0).unwrap_err().to_string();
    assert_eq!(said(Launch { explorers: 0, ..good }), "no explorers");
    assert_eq!(said(Launch { capacity: 0, ..good }), "no room for any node");
    assert_eq!(said(Launch { heights: 0, ..good }), "an address is null");
    assert!(said(Launch { best: good.best + 4, ..good }).contains("not a multiple"));
    assert!(said(Launch { explorers: u32::MAX, ..good }).starts_with("more explorers"));
    let unknown = run("knapsack", Entry::Explore, &good, 0).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no kernel 'knapsack'");
}
