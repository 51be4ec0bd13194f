//! Checks that faulty launches end in an error, not in a hang or a crash.

use crate::device::run;
use pleach_kernels::emulated::Fault;
use pleach_kernels::launch::{KernelEntry, Launch, LaunchReport};

/// A report, aligned as required.
#[repr(align(8))]
struct Said([u32; LaunchReport::WORDS]);

impl Said {
    fn idle(&self) -> u32 {
        LaunchReport::read(&self.0).idle
    }
}

/// A launch of the faulty kernel with this mistake and number of explorers.
fn diverging(mistake: u32, explorers: u32, said: &mut Said) -> Launch {
    let at = said.0.as_mut_ptr() as u64;
    Launch {
        pages: at,
        rings: at,
        stacks: at,
        heights: at,
        report: at,
        found: at,
        tables: at,
        free: at,
        moves: at,
        moved: at,
        explorers,
        active: explorers,
        span: 4,
        sizes: [mistake, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ..Launch::default()
    }
}

#[test]
fn threads_that_wait_at_different_places_are_reported() {
    for (mistake, said) in [
        (0, "deadlock: thread 0 of block 0 at diverging.cu:9"),
        (1, "lanes of a warp wait at different points"),
        (2, "deadlock"),
        (3, "lane not in its own mask"),
        (4, "lane reads from a lane outside the mask"),
    ] {
        for seed in 0..20 {
            let mut memory = Said([0; LaunchReport::WORDS]);
            let fault =
                run("diverging", KernelEntry::Explore, &diverging(mistake, 4, &mut memory), seed);
            let Err(Fault::Stuck { entry: "explore", text, .. }) = fault else {
                panic!("mistake {mistake}: {fault:?}")
            };
            assert!(text.starts_with(said), "mistake {mistake}: {text}");
        }
    }
}

#[test]
fn threads_that_meet_correctly_continue() {
    for explorers in [1, 4, 5, 40] {
        let mut memory = Said([0; LaunchReport::WORDS]);
        run("diverging", KernelEntry::Explore, &diverging(9, explorers, &mut memory), 1).unwrap();
        assert_eq!(memory.idle(), explorers.div_ceil(4) * 128);
    }
}

#[test]
fn devices_in_two_threads_are_independent() {
    let launches = || {
        for seed in 0..50 {
            let mut memory = Said([0; LaunchReport::WORDS]);
            run("diverging", KernelEntry::Explore, &diverging(9, 8, &mut memory), seed).unwrap();
            assert_eq!(memory.idle(), 256);
            let mistake = diverging(1, 8, &mut memory);
            assert!(run("diverging", KernelEntry::Explore, &mistake, seed).is_err());
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(launches))));
}

#[test]
fn invalid_records_are_refused() {
    let mut memory = Said([0; LaunchReport::WORDS]);
    let good = diverging(9, 4, &mut memory);
    let said = |launch: Launch| {
        run("diverging", KernelEntry::Explore, &launch, 0).unwrap_err().to_string()
    };
    assert_eq!(said(Launch { explorers: 0, active: 0, ..good }), "no explorers");
    assert!(said(Launch { span: 6, ..good }).starts_with("the span is not a power"));
    assert!(
        said(Launch { active: 5, ..good }).starts_with("active explorers or free pages exceed")
    );
    assert_eq!(said(Launch { heights: 0, ..good }), "an address is null");
    assert!(said(Launch { report: good.report + 4, ..good }).contains("misaligned"));
    assert!(
        said(Launch { explorers: u32::MAX, active: 1, ..good }).starts_with("too many explorers")
    );
    let unknown = run("knapsack", KernelEntry::Explore, &good, 0).unwrap_err();
    assert_eq!(unknown.to_string(), "no kernel named 'knapsack'");
}
