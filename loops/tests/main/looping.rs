//! Loops of independent units: each unit runs once, however they are shared.

use pleach_core::search::level::Level;
use pleach_gpu::spec::Spec;
use pleach_loops::looping::Loop;
use pleach_loops::looping::run_loop;
use pleach_loops::looping::{LoopReport, LoopSettings, Sizes};
use pleach_loops::sparse::csrmm::Csrmm;
use pleach_loops::sparse::generate::named;
use pleach_loops::sparse::matrix::Dense;
use pleach_runtime::WorkerPool;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Units that count how often they ran, with growing costs.
struct Counted(Vec<AtomicU32>);

impl Counted {
    fn new(units: usize) -> Self {
        Self((0..units).map(|_| AtomicU32::new(0)).collect())
    }

    fn each_was_run(&self, times: u32) -> bool {
        self.0.iter().all(|unit| unit.load(Ordering::Relaxed) == times)
    }
}

/// Work that the compiler cannot remove.
fn spin(rounds: usize) -> u64 {
    (0..rounds as u64).fold(1, |x, i| std::hint::black_box(x ^ i))
}

impl Loop for Counted {
    type Local = u64;

    fn units(&self) -> usize {
        self.0.len()
    }

    fn cost_before(&self, unit: usize) -> f64 {
        (unit * unit) as f64
    }

    fn local(&self) -> u64 {
        0
    }

    fn run(&self, units: Range<usize>, local: &mut u64) {
        for unit in units {
            self.0[unit].fetch_add(1, Ordering::Relaxed);
            *local = local.wrapping_add(spin(unit % 1000 + 1));
        }
    }
}

fn run(work: &impl Loop, settings: &LoopSettings) -> LoopReport {
    let pool = WorkerPool::default();
    let outcome = run_loop(&pool, work, settings, &mut |_| ControlFlow::Continue(())).unwrap();
    let threads = settings.threads as usize;
    assert_eq!((outcome.locals.len(), outcome.report.parts.len()), (threads, threads));
    outcome.report
}

fn with(threads: u32, sizes: Sizes) -> LoopSettings {
    LoopSettings { threads, sizes, ..LoopSettings::default() }
}

#[test]
fn every_unit_is_run_once() {
    let all_sizes = || {
        let given =
            [Sizes::Given(1, 1), Sizes::Given(7, 3), Sizes::Given(0, 0), Sizes::Given(u32::MAX, 1)];
        let fixed = [vec![0.3, 0.7], vec![1.0], vec![0.0, 0.0, 1.0], vec![]].map(Sizes::Static);
        let blocks = [Sizes::Block(1, 1), Sizes::Block(64, 1), Sizes::Block(u32::MAX, 1)];
        given.into_iter().chain(fixed).chain(blocks).chain([Sizes::Measured])
    };
    for units in [0, 1, 2, 3, 100, 20_000] {
        for threads in [1, 2, 5] {
            for sizes in all_sizes() {
                let work = Counted::new(units);
                let outcome = run(&work, &with(threads, sizes.clone()));
                assert!(work.each_was_run(1), "{units} units, {threads} threads, {sizes:?}");
                assert!(outcome.complete);
                let done: u64 = outcome.parts.iter().map(|part| part.units).sum();
                let shares: f64 = outcome.parts.iter().map(|part| part.share).sum();
                assert_eq!(done, units as u64);
                assert!((shares - 1.0).abs() < 1e-9 || units < 2, "{shares}");
            }
        }
    }
}

#[test]
fn a_static_split_gives_each_its_part_of_the_cost() {
    let work = Counted::new(1000);
    let outcome = run(&work, &with(2, Sizes::Static(vec![1.0, 3.0])));
    let ranges: Vec<u64> = outcome.parts.iter().map(|part| part.ranges).collect();
    // Half of the units have a quarter of the cost.
    assert_eq!((ranges, outcome.parts[0].units), (vec![1, 1], 500));
    assert_eq!(outcome.parts[0].share, 0.25);
}

/// However fast the threads are, each gets an equal part of every block.
#[test]
fn threads_divide_blocks_evenly() {
    let work = Counted::new(1000);
    let slow = vec![("cpu1".to_string(), 3.0)];
    let outcome = run(&work, &LoopSettings { slow, ..with(3, Sizes::Block(90, 1)) });
    let parts: Vec<_> = outcome.parts.iter().map(|part| (part.ranges, part.units)).collect();
    // Eleven whole blocks, and ten units in parts of four, four and two.
    assert_eq!(parts, [(12, 334), (12, 334), (12, 332)]);
}

#[test]
fn a_slow_thread_takes_less() {
    let work = Counted::new(60_000);
    let slow = vec![("cpu1".to_string(), 30.0)];
    let outcome = run(&work, &LoopSettings { slow, ..with(2, Sizes::Measured) });
    assert!(work.each_was_run(1));
    let shares: Vec<f64> = outcome.parts.iter().map(|part| part.share).collect();
    assert!(shares[1] < shares[0], "{shares:?}");
}

/// The queue has room for 2³² units: longer loops are shared in grains.
#[test]
fn a_loop_may_be_longer_than_its_queue() {
    struct Long(usize);
    impl Loop for Long {
        type Local = (u128, usize);
        fn units(&self) -> usize {
            self.0
        }
        fn local(&self) -> (u128, usize) {
            (0, 0)
        }
        fn run(&self, units: Range<usize>, (sum, last): &mut (u128, usize)) {
            *sum += units.len() as u128;
            *last = units.end.max(*last);
        }
    }
    let units = (1usize << 33) + 5;
    let pool = WorkerPool::default();
    let outcome =
        run_loop(
            &pool,
            &Long(units),
            &with(2, Sizes::Measured),
            &mut |_| ControlFlow::Continue(()),
        );
    let locals = outcome.unwrap().locals;
    assert_eq!(locals.iter().map(|local| local.0).sum::<u128>(), units as u128);
    assert_eq!(locals.iter().map(|local| local.1).max(), Some(units));
}

#[test]
fn a_watcher_stops_a_loop() {
    struct Endless;
    impl Loop for Endless {
        type Local = ();
        fn units(&self) -> usize {
            1 << 40
        }
        fn local(&self) {}
        fn run(&self, _: Range<usize>, (): &mut ()) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let settings =
        LoopSettings { progress_every: Duration::from_millis(5), ..with(2, Sizes::Given(1, 1)) };
    let mut looks = 0;
    let outcome = run_loop(&WorkerPool::default(), &Endless, &settings, &mut |snapshot| {
        looks += 1;
        assert_eq!(snapshot.units, 1 << 40);
        if looks == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(!outcome.unwrap().report.complete);
    assert!(looks >= 3);
}

#[test]
fn a_panic_in_a_unit_reaches_the_caller() {
    struct Bad;
    impl Loop for Bad {
        type Local = ();
        fn units(&self) -> usize {
            1000
        }
        fn local(&self) {}
        fn run(&self, units: Range<usize>, (): &mut ()) {
            assert!(!units.contains(&500), "unit 500");
        }
    }
    let pool = WorkerPool::default();
    for sizes in [Sizes::Measured, Sizes::Given(1, 1), Sizes::Static(vec![1.0, 1.0])] {
        let bad = std::panic::AssertUnwindSafe(|| {
            let _ = run_loop(&pool, &Bad, &with(2, sizes), &mut |_| ControlFlow::Continue(()));
        });
        assert!(std::panic::catch_unwind(bad).is_err());
    }
    // The worker pool still works.
    let work = Counted::new(10);
    let _ = run_loop(&pool, &work, &with(2, Sizes::Measured), &mut |_| ControlFlow::Continue(()));
    assert!(work.each_was_run(1));
}

#[test]
fn a_loop_runs_again_and_again_on_the_same_threads() {
    let (pool, work) = (WorkerPool::default(), Counted::new(50));
    for _ in 0..200 {
        let _ =
            run_loop(&pool, &work, &with(2, Sizes::Measured), &mut |_| ControlFlow::Continue(()));
    }
    assert!(work.each_was_run(200));
    assert_eq!(pool.threads_started(), 2);
}

/// A product of whole numbers, so that sums do not depend on the order of adding.
fn product(run: impl FnOnce(&Csrmm<'_, f64>)) -> Vec<f64> {
    let mut sparse = named("fem:1200", 3).unwrap().unwrap();
    sparse.values.iter_mut().for_each(|value| *value = (*value * 9.0).round());
    let sparse = sparse.checked().unwrap();
    let dense = Dense::by(sparse.width, 5, |row, column| (row * 3 + column) as f64 % 7.0).unwrap();
    let mut out = Dense::by(sparse.height(), 5, |_, _| 99.0).unwrap();
    run(&Csrmm::new(sparse.checked_view(), dense.view(), &mut out, Level::best()).unwrap());
    out.numbers().to_vec()
}

fn on_devices(threads: u32, devices: &[&str], sizes: Sizes) -> (Vec<f64>, LoopReport) {
    let devices = devices.iter().map(|words| Spec::parse(words).unwrap()).collect();
    let settings = LoopSettings { devices, ..with(threads, sizes) };
    let mut report = LoopReport::default();
    let numbers = product(|work| {
        let outcome =
            run_loop(&WorkerPool::default(), work, &settings, &mut |_| ControlFlow::Continue(()));
        report = outcome.unwrap().report;
    });
    (numbers, report)
}

#[test]
fn devices_take_their_part_from_the_back() {
    let expected = product(|work| work.run(0..work.units(), &mut work.local()));
    for sizes in [
        Sizes::Given(1, 1),
        Sizes::Given(1, 4),
        Sizes::Block(3, 2),
        Sizes::Static(vec![1.0; 4]),
        Sizes::Measured,
    ] {
        for (threads, devices) in [
            (0, &["emulated"][..]),
            (1, &["emulated:rmax=3"]),
            (2, &["emulated", "emulated"]),
            (0, &["emulated:launch=once"]),
            (2, &["emulated:launch=once:rmax=7", "emulated"]),
        ] {
            let (numbers, report) = on_devices(threads, devices, sizes.clone());
            assert!(numbers == expected, "{threads} threads, {devices:?}, {sizes:?}");
            assert!(report.complete && report.warnings.is_empty(), "{:?}", report.warnings);
            let by_device = report.parts.last().unwrap();
            assert!(by_device.units > 0 || !matches!(sizes, Sizes::Static(_)) && threads > 0);
        }
    }
}

/// Whatever launch a device fails in, others do its ranges, or the thread that drove it does.
#[test]
fn a_failing_device_gives_its_ranges_back() {
    let expected = product(|work| work.run(0..work.units(), &mut work.local()));
    for sizes in
        [Sizes::Given(1, 1), Sizes::Block(2, 1), Sizes::Static(vec![1.0, 1.0]), Sizes::Measured]
    {
        for threads in [0, 1] {
            for (launch, how) in (1..=6).flat_map(|launch| [(launch, ""), (launch, ":launch=once")])
            {
                let device = format!("emulated:fail={launch}:rmax=2{how}");
                let (numbers, report) = on_devices(threads, &[&device], sizes.clone());
                assert!(numbers == expected, "{threads} threads, {device}, {sizes:?}");
                let reported =
                    report.warnings.iter().any(|line| line.contains("failed as requested"));
                let small = threads > 0 || matches!(sizes, Sizes::Static(_));
                assert!(reported || small || launch > 4, "{:?}", report.warnings);
                assert!(report.complete);
            }
        }
    }
}

#[test]
fn a_device_without_a_kernel_is_named() {
    let devices = vec![Spec::parse("emulated").unwrap()];
    let work = Counted::new(10);
    let go = |threads| {
        let settings = LoopSettings { devices: devices.clone(), ..with(threads, Sizes::Measured) };
        run_loop(&WorkerPool::default(), &work, &settings, &mut |_| ControlFlow::Continue(()))
    };
    let report = go(1).unwrap().report;
    assert_eq!(report.warnings, ["emulated0 not used: it has no kernel for this loop"]);
    assert!(go(0).is_err());
}

#[test]
fn a_gpu_is_named_once() {
    let devices = ["gpu0:launch=once", "gpu0"].map(|words| Spec::parse(words).unwrap()).to_vec();
    let settings = LoopSettings { devices, ..with(1, Sizes::Measured) };
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    let refused = run_loop(&WorkerPool::default(), &Counted::new(10), &settings, go_on);
    assert_eq!(refused.unwrap_err().to_string(), "gpu0 is named twice");
}

/// Without a GPU, threads do its part of a static split.
#[test]
fn a_device_that_cannot_be_used_leaves_its_range_to_others() {
    let expected = product(|work| work.run(0..work.units(), &mut work.local()));
    let (numbers, report) = on_devices(2, &["gpu63"], Sizes::Static(vec![0.3, 0.3, 0.4]));
    assert!(numbers == expected && report.complete);
    assert!(report.warnings[0].starts_with("gpu63 not used: "), "{:?}", report.warnings);
}
