//! Flows: slabs on devices and threads together equal what one thread computes, bit by bit.

use crate::shared::slow_threads;
use pleach_core::search::level::Level;
use pleach_gpu::spec::Spec;
use pleach_loops::lattice::flow::{Across, Along, Flow, Friction, Obstacle, Setup};
use pleach_loops::lattice::slab::Slab;
use pleach_loops::lattice::stepping::Steps;
use pleach_loops::lattice::sums::Sum;
use pleach_loops::looping::{LoopReport, LoopSettings, LoopSnapshot, Sizes, StepsOutcome, Stops};
use pleach_loops::looping::{Stepping, SteppingOnDevice, run_steps};
use pleach_runtime::WorkerPool;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// A flow with an obstacle.
fn setup(size: [usize; 3], level: Level) -> Setup {
    let obstacle = Obstacle::Sphere { centre: [0.3, 0.5, 0.5], radius: 0.3 };
    let along = Along::Stream { speed: 0.05 };
    Setup { size, along, friction: Friction::Tau(0.7), obstacle, level, ..Setup::default() }
}

/// A periodic flow.
fn endless(size: [usize; 3], level: Level) -> Setup {
    let along = Along::Periodic { force: 1e-3 };
    Setup { along, across: Across::Periodic, ..setup(size, level) }
}

fn run(
    work: &Steps,
    steps: usize,
    (threads, devices): (u32, &[&str]),
    sizes: &Sizes,
) -> StepsOutcome<Slab> {
    let devices = devices.iter().map(|words| Spec::parse(words).unwrap()).collect();
    let sizes = sizes.clone();
    let settings = LoopSettings { threads, devices, sizes, ..LoopSettings::default() };
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    run_steps(&WorkerPool::default(), work, steps, &settings, go_on).unwrap()
}

/// All numbers of a flow, its mass and the force on its obstacle.
fn state(slabs: &[Slab]) -> (Vec<u32>, [Sum; 4]) {
    let numbers = slabs.iter().flat_map(|slab| slab.numbers().iter().map(|it| it.to_bits()));
    let mut sums = [Sum::default(); 4];
    for slab in slabs {
        let all = slab.force().into_iter().chain([slab.excess()]);
        sums.iter_mut().zip(all).for_each(|(sum, more)| *sum += more);
    }
    (numbers.collect(), sums)
}

/// Who took part, with how many planes.
fn parts(report: &LoopReport) -> Vec<(&str, u64)> {
    report.parts.iter().map(|part| (part.name.as_str(), part.units)).collect()
}

#[test]
fn a_device_computes_the_flow_of_a_thread() {
    let mut seen = 0;
    for level in [Level::Off, Level::best()] {
        for setup in [
            setup([16, 5, 4], level),
            setup([48, 7, 9], level),
            endless([32, 6, 8], level),
            Setup { obstacle: Obstacle::Nothing, depth: 1, ..endless([16, 1, 2], level) },
            Setup { depth: 3, ..setup([16, 8, 6], level) },
        ] {
            let work = Steps(Arc::new(Flow::new(setup.clone()).unwrap()));
            for steps in [0, 1, 2, 7, 12] {
                let expected = state(&run(&work, steps, (1, &[]), &Sizes::Measured).slabs);
                let done = run(&work, steps, (0, &["emulated"]), &Sizes::Measured);
                assert!(done.report.complete && done.report.warnings.is_empty());
                assert_eq!(parts(&done.report), [("emulated0", work.units() as u64)]);
                assert!(state(&done.slabs) == expected, "{setup:?}, {steps} steps");
                seen += expected.0.iter().filter(|&&bits| bits != 0).count();
            }
        }
    }
    assert!(seen > 100_000, "{seen}");
}

#[test]
fn however_planes_are_cut_the_flow_is_the_same() {
    for setup in [setup([16, 6, 24], Level::best()), endless([16, 6, 24], Level::best())] {
        let work = Steps(Arc::new(Flow::new(setup).unwrap()));
        let steps = 21;
        let expected = state(&run(&work, steps, (1, &[]), &Sizes::Measured).slabs);
        for sizes in [
            Sizes::Measured,
            Sizes::FirstStep,
            Sizes::Given(1, 1),
            Sizes::Static(vec![1.0, 3.0]),
            Sizes::Static(vec![0.0, 1.0, 1.0]),
        ] {
            for (threads, devices) in [
                (1, &["emulated"][..]),
                (2, &["emulated"]),
                (0, &["emulated", "emulated"]),
                (1, &["emulated", "emulated"]),
                // More devices than slabs.
                (9, &["emulated"]),
            ] {
                let done = run(&work, steps, (threads, devices), &sizes);
                let (report, what) = (done.report, format!("{threads}, {devices:?}, {sizes:?}"));
                assert!(report.complete && report.warnings.is_empty(), "{what}");
                assert!(report.parts.last().unwrap().name.starts_with("emulated"));
                assert_eq!(report.parts.iter().map(|part| part.units).sum::<u64>(), 24);
                assert!(state(&done.slabs) == expected, "{what}");
            }
        }
    }
}

/// Threads sweep one slab together, with devices alongside or without.
#[test]
fn threads_that_share_a_slab_compute_the_flow_of_one() {
    let deep = Setup { depth: 3, ..setup([32, 9, 61], Level::best()) };
    for setup in [setup([16, 6, 64], Level::best()), endless([16, 6, 64], Level::Off), deep] {
        let work = Steps(Arc::new(Flow::new(setup).unwrap()));
        for steps in [0, 1, 4, 23] {
            let expected = state(&run(&work, steps, (1, &[]), &Sizes::Measured).slabs);
            for threads in [2, 3, 7] {
                for (slow, devices) in [
                    ([1.0, 1.0], &[][..]),
                    ([1.0, 20.0], &[]),
                    ([20.0, 1.0], &["emulated"]),
                    ([1.0, 1.0], &["emulated", "emulated"]),
                ] {
                    let specs = devices.iter().map(|words| Spec::parse(words).unwrap()).collect();
                    let slow = slow_threads(slow);
                    let settings =
                        LoopSettings { threads, devices: specs, slow, ..LoopSettings::default() };
                    let go_on = &mut |_: &_| ControlFlow::Continue(());
                    let pool = WorkerPool::default();
                    let done = run_steps(&pool, &work, steps, &settings, go_on).unwrap();
                    let what = format!("{steps} steps, {threads} threads, {devices:?}");
                    assert!(done.report.complete && state(&done.slabs) == expected, "{what}");
                    assert_eq!(done.slabs.len(), 1 + devices.len(), "{what}");
                    let parts = &done.report.parts;
                    let (units, share): (Vec<u64>, Vec<f64>) =
                        parts.iter().map(|part| (part.units, part.share)).unzip();
                    assert_eq!(parts.len(), threads as usize + devices.len());
                    assert_eq!(units.iter().sum::<u64>(), work.units() as u64, "{what}");
                    let whole = f64::from(u8::from(steps > 0));
                    assert!((share.iter().sum::<f64>() - whole).abs() < 1e-9, "{what}: {share:?}");
                }
            }
        }
    }
}

/// Threads are in different sweeps when they are stopped.
#[test]
fn a_stop_leaves_the_state_after_a_whole_sweep() {
    for setup in [setup([16, 6, 64], Level::best()), endless([16, 6, 64], Level::best())] {
        let work = Steps(Arc::new(Flow::new(setup).unwrap()));
        let progress_every = Duration::from_millis(1);
        let settings = LoopSettings { threads: 3, progress_every, ..LoopSettings::default() };
        let mut seen = 0;
        let stop = &mut |snapshot: &LoopSnapshot| {
            seen = snapshot.done;
            if seen > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let pool = WorkerPool::default();
        let done = run_steps(&pool, &work, 1 << 30, &settings, stop).unwrap();
        assert!(!done.report.complete);
        let steps = done.slabs[0].steps();
        assert!(steps >= seen && steps.is_multiple_of(work.depth() as u64), "{steps}, {seen}");
        let expected = run(&work, steps as usize, (1, &[]), &Sizes::Measured);
        assert!(state(&done.slabs) == state(&expected.slabs), "{steps}");
    }
}

/// Also after odd steps, when populations are half-way in neighbouring cells, and right after slabs were cut again.
#[test]
fn what_is_shown_on_the_way_is_the_same() {
    let work = Steps(Arc::new(Flow::new(setup([16, 6, 24], Level::best())).unwrap()));
    let shown = |threads: u32, devices: &[&str]| {
        let mut all = Vec::new();
        let show = &mut |done: usize, slabs: &[&Slab]| {
            let planes = slabs.iter().flat_map(|slab| slab.planes().map(|z| slab.velocities(z)));
            all.push((done, planes.collect::<Vec<_>>()));
        };
        let devices = devices.iter().map(|words| Spec::parse(words).unwrap()).collect();
        let slow = slow_threads([1.0, 30.0]);
        let settings = LoopSettings { threads, devices, slow, ..LoopSettings::default() };
        let stops = Stops::showing(9, 9, show);
        let go_on = &mut |_: &_| ControlFlow::Continue(());
        run_steps(&WorkerPool::default(), &work, stops, &settings, go_on).unwrap();
        all
    };
    let expected = shown(1, &[]);
    assert_eq!(expected.len(), 9);
    for (threads, devices) in
        [(2, &[][..]), (7, &[]), (1, &["emulated"]), (2, &["emulated"]), (7, &["emulated"])]
    {
        assert!(shown(threads, devices) == expected, "{threads}, {devices:?}");
    }
}

/// `rmax` used to be ignored without a word.
#[test]
fn options_without_effect_on_steps_are_named() {
    let work = Steps(Arc::new(Flow::new(setup([16, 5, 12], Level::best())).unwrap()));
    let done = run(&work, 3, (0, &["emulated:launch=once:rmax=5"]), &Sizes::Measured);
    let named = ["launch=once", "rmax"]
        .map(|option| format!("emulated0: {option} has no effect on work in steps"));
    assert_eq!(done.report.warnings, named);
}

/// In any launch: while speeds are measured, between two sweeps, while the slab is fetched.
#[test]
fn a_failing_device_restarts_the_steps() {
    let work = Steps(Arc::new(Flow::new(setup([16, 5, 12], Level::best())).unwrap()));
    let steps = 17;
    let expected = state(&run(&work, steps, (1, &[]), &Sizes::Measured).slabs);
    for sizes in [Sizes::Measured, Sizes::Static(vec![1.0, 1.0])] {
        for launch in 1..=32 {
            let failing = format!("emulated:fail={launch}");
            for (threads, devices) in
                [(0, &[failing.as_str()][..]), (1, &[&failing]), (0, &[&failing, "emulated"])]
            {
                let done = run(&work, steps, (threads, devices), &sizes);
                assert!(done.report.complete);
                assert!(state(&done.slabs) == expected, "{threads}, {devices:?}, {sizes:?}");
                let told = done.report.warnings.iter().any(|line| {
                    line.contains("failed, restarting all steps")
                        && line.contains("failed as requested")
                });
                // A device that gets another slab counts its launches again. On a busy machine, it gets one after each
                // sweep: four steps between the edges of its neighbours and its own, and all its planes.
                let still = sizes != Sizes::Measured || threads as usize + devices.len() == 1;
                assert!(told || launch > if still { 16 } else { 7 }, "{:?}", done.report.warnings);
                let names = parts(&done.report);
                assert!(!told || names.iter().all(|(name, _)| !name.ends_with("emulated0")));
            }
        }
    }
}

/// The threads that share the other slab continue without the device.
#[test]
fn threads_that_share_a_slab_take_the_planes_of_a_failing_device() {
    let work = Steps(Arc::new(Flow::new(setup([16, 5, 32], Level::best())).unwrap()));
    let expected = state(&run(&work, 17, (1, &[]), &Sizes::Measured).slabs);
    // As above, it may get another slab after seven launches.
    for launch in 1..=7 {
        let failing = format!("emulated:fail={launch}");
        let done = run(&work, 17, (2, &[&failing]), &Sizes::Measured);
        assert!(done.report.complete && state(&done.slabs) == expected, "{launch}");
        assert_eq!((done.slabs.len(), done.report.parts.len()), (1, 2), "{launch}");
    }
}

#[test]
fn a_device_that_cannot_be_used_leaves_its_planes_to_threads() {
    let work = Steps(Arc::new(Flow::new(setup([16, 5, 12], Level::best())).unwrap()));
    let expected = state(&run(&work, 9, (1, &[]), &Sizes::Measured).slabs);
    for threads in [0, 2] {
        let done = run(&work, 9, (threads, &["gpu63", "emulated"]), &Sizes::Measured);
        assert!(state(&done.slabs) == expected);
        assert_eq!(done.report.warnings.len(), 1);
        assert!(done.report.warnings[0].starts_with("gpu63 not used: "));
    }
    // A slab has at least four planes.
    let done = run(&work, 9, (1, &["emulated"; 4]), &Sizes::Measured);
    assert!(state(&done.slabs) == expected);
    assert_eq!(done.report.parts.len(), 3);
    assert!(
        done.report.warnings.iter().all(|line| line.ends_with("too few units for one more slab"))
    );
    assert_eq!(done.report.warnings.len(), 2);
}

/// A flow whose only slab waits after its sweep until the steps are stopped.
struct StoppedLate {
    steps: Steps,
    /// How often an edge was written.
    edges: AtomicU32,
    stopped: AtomicBool,
}

impl StoppedLate {
    /// Whether the sweep is done: both edges are written before it, too.
    fn has_swept(&self) -> bool {
        self.edges.load(Ordering::Relaxed) > 2
    }
}

impl Stepping for StoppedLate {
    type Slab = Slab;
    fn units(&self) -> usize {
        self.steps.units()
    }
    fn least(&self) -> usize {
        self.steps.least()
    }
    fn depth(&self) -> usize {
        self.steps.depth()
    }
    fn is_ring(&self) -> bool {
        self.steps.is_ring()
    }
    fn begin(&self, planes: Range<usize>) -> Result<Slab, String> {
        self.steps.begin(planes)
    }
    fn sweep(&self, slab: &mut Slab, steps: usize) {
        self.steps.sweep(slab, steps);
    }
    fn edge(&self, slab: &Slab, above: bool, edge: &mut Vec<f32>) {
        self.edges.fetch_add(1, Ordering::Relaxed);
        while self.has_swept() && !self.stopped.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        self.steps.edge(slab, above, edge);
    }
    fn set_edge(&self, slab: &mut Slab, above: bool, edge: &[f32]) {
        self.steps.set_edge(slab, above, edge);
    }
    fn state(&self, slab: &Slab, units: Range<usize>, state: &mut Vec<f32>) {
        self.steps.state(slab, units, state);
    }
    fn recut(
        &self,
        slab: &mut Slab,
        units: Range<usize>,
        missing: &[(Range<usize>, Vec<f32>)],
    ) -> Result<(), String> {
        self.steps.recut(slab, units, missing)
    }
    fn on_device(&self) -> Option<&dyn SteppingOnDevice<Slab>> {
        self.steps.on_device()
    }
}

/// The report used to say that all steps were done, while the slab stayed on the device.
#[test]
fn a_stop_in_the_last_sweep_comes_too_late() {
    let steps = Steps(Arc::new(Flow::new(setup([16, 5, 12], Level::best())).unwrap()));
    let depth = steps.depth();
    let expected = state(&run(&steps, depth, (1, &[]), &Sizes::Measured).slabs);
    let (edges, stopped) = (AtomicU32::new(0), AtomicBool::new(false));
    let work = StoppedLate { steps: steps.clone(), edges, stopped };
    let settings = LoopSettings {
        threads: 0,
        devices: vec![Spec::parse("emulated").unwrap()],
        progress_every: Duration::from_millis(1),
        ..LoopSettings::default()
    };
    let stop = &mut |_: &_| {
        if !work.has_swept() {
            return ControlFlow::Continue(());
        }
        work.stopped.store(true, Ordering::Relaxed);
        ControlFlow::Break(())
    };
    let done = run_steps(&WorkerPool::default(), &work, depth, &settings, stop).unwrap();
    assert!(done.report.complete && state(&done.slabs) == expected);
}
