//! Work in steps: the state does not depend on slabs and threads.

use pleach_loops::looping::Stepping;
use pleach_loops::looping::run_steps;
use pleach_loops::looping::{LoopReport, LoopSettings, Sizes, Stops};
use pleach_runtime::WorkerPool;
use std::ops::{ControlFlow, Range};
use std::thread::sleep;
use std::time::Duration;

/// Numbers that each step replaces by a mean of themselves and their neighbours; two steps a sweep.
struct Means {
    units: usize,
    ring: bool,
    /// What is done before each sweep, with the number of its steps.
    before: fn(&mut Slab, usize),
}

const DEPTH: usize = 2;

struct Slab {
    range: Range<usize>,
    numbers: Vec<f32>,
    /// The neighbours' numbers below and above.
    ghosts: [Vec<f32>; 2],
    /// How many steps it has done.
    steps: usize,
}

fn step(numbers: &[f32]) -> Vec<f32> {
    let last = numbers.len() - 1;
    let at = |i: usize| {
        (numbers[i.saturating_sub(1)] + 2.0 * numbers[i] + numbers[(i + 1).min(last)]) / 4.0
    };
    (0..=last).map(at).collect()
}

impl Stepping for Means {
    type Slab = Slab;

    fn units(&self) -> usize {
        self.units
    }

    fn least(&self) -> usize {
        DEPTH
    }

    fn depth(&self) -> usize {
        DEPTH
    }

    fn is_ring(&self) -> bool {
        self.ring
    }

    fn begin(&self, range: Range<usize>) -> Result<Slab, String> {
        let numbers = range.clone().map(|unit| (unit * unit % 17) as f32).collect();
        Ok(Slab { range, numbers, ghosts: [Vec::new(), Vec::new()], steps: 0 })
    }

    fn sweep(&self, slab: &mut Slab, steps: usize) {
        (self.before)(slab, steps);
        let [below, above] = &slab.ghosts;
        let mut all = [&below[..], &slab.numbers, above].concat();
        for _ in 0..steps {
            all = step(&all);
        }
        slab.numbers = all[below.len()..][..slab.range.len()].to_vec();
        slab.ghosts = [Vec::new(), Vec::new()];
    }

    fn edge(&self, slab: &Slab, above: bool, edge: &mut Vec<f32>) {
        let numbers = &slab.numbers;
        edge.extend(if above { &numbers[numbers.len() - DEPTH..] } else { &numbers[..DEPTH] });
    }

    fn set_edge(&self, slab: &mut Slab, above: bool, edge: &[f32]) {
        slab.ghosts[usize::from(above)] = edge.to_vec();
    }

    fn state(&self, slab: &Slab, units: Range<usize>, state: &mut Vec<f32>) {
        state.extend(units.map(|unit| slab.numbers[unit - slab.range.start]));
    }

    fn recut(
        &self,
        slab: &mut Slab,
        units: Range<usize>,
        missing: &[(Range<usize>, Vec<f32>)],
    ) -> Result<(), String> {
        let own = [(slab.range.clone(), std::mem::take(&mut slab.numbers))];
        let of = |unit| {
            let mut parts = own.iter().chain(missing);
            let (range, numbers) = parts.find(|(range, _)| range.contains(&unit)).unwrap();
            numbers[unit - range.start]
        };
        slab.numbers = units.clone().map(of).collect();
        (slab.range, slab.ghosts) = (units, [Vec::new(), Vec::new()]);
        Ok(())
    }
}

fn run(work: &Means, steps: usize, settings: &LoopSettings) -> (Vec<f32>, LoopReport) {
    let go = &mut |_: &_| ControlFlow::Continue(());
    let outcome = run_steps(&WorkerPool::default(), work, steps, settings, go);
    let outcome = outcome.unwrap();
    (outcome.slabs.into_iter().flat_map(|slab| slab.numbers).collect(), outcome.report)
}

/// The whole in one piece, with the neighbours of a ring written out.
fn expected(work: &Means, steps: usize) -> Vec<f32> {
    let mut all = work.begin(0..work.units).unwrap().numbers;
    for _ in 0..steps {
        let (first, last) = (all[0], all[all.len() - 1]);
        let ends = if work.ring { [last, first] } else { [first, last] };
        let wide = [&[ends[0]], &all[..], &[ends[1]]].concat();
        all = step(&wide)[1..=work.units].to_vec();
    }
    all
}

fn nothing(_: &mut Slab, _: usize) {}

fn with(threads: u32, sizes: Sizes) -> LoopSettings {
    LoopSettings { threads, sizes, ..LoopSettings::default() }
}

#[test]
fn slabs_do_not_change_the_result() {
    for ring in [false, true] {
        for units in [4, 5, 64] {
            let work = Means { units, ring, before: nothing };
            for steps in [0, 1, 2, 5, 40] {
                for threads in [1, 2, 3] {
                    for sizes in [
                        Sizes::Measured,
                        Sizes::FirstStep,
                        Sizes::Static(vec![3.0, 1.0]),
                        Sizes::Given(1, 1),
                    ] {
                        let (numbers, report) = run(&work, steps, &with(threads, sizes));
                        assert!(
                            numbers == expected(&work, steps),
                            "{ring} {units} {steps} {threads}"
                        );
                        assert!(report.complete);
                        assert_eq!(
                            report.parts.iter().map(|part| part.units).sum::<u64>(),
                            units as u64
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn every_stop_shows_the_whole_state() {
    let work = Means { units: 64, ring: true, before: nothing };
    for (steps, times) in [(0, 1), (1, 1), (7, 7), (40, 3), (7, 0)] {
        for threads in [1, 3] {
            let mut seen = Vec::new();
            let show = &mut |done, slabs: &[&Slab]| {
                let all = slabs.iter().flat_map(|slab| slab.numbers.clone());
                seen.push((done, all.collect::<Vec<f32>>()));
            };
            let stops = Stops::showing(steps, times, show);
            let go = &mut |_: &_| ControlFlow::Continue(());
            let settings = with(threads, Sizes::Measured);
            let done = run_steps(&WorkerPool::default(), &work, stops, &settings, go).unwrap();
            assert!(done.report.complete);
            let at: Vec<usize> = seen.iter().map(|&(done, _)| done).collect();
            assert!(at.iter().copied().eq((1..=times).map(|k| steps * k / times)), "{at:?}");
            assert!(seen.iter().all(|(done, all)| *all == expected(&work, *done)), "{steps}");
            let last = done.slabs.into_iter().flat_map(|slab| slab.numbers);
            assert!(last.eq(expected(&work, steps)), "{steps} steps, shown {times} times");
        }
    }
}

#[test]
fn the_first_sweeps_determine_the_cut() {
    let work = Means { units: 600, ring: false, before: |_, _| sleep(Duration::from_millis(2)) };
    let slow = vec![("cpu1".to_string(), 20.0)];
    let (numbers, report) = run(&work, 12, &LoopSettings { slow, ..with(2, Sizes::Measured) });
    assert!(numbers == expected(&work, 12));
    assert!(report.parts[0].units > 2 * report.parts[1].units, "{:?}", report.parts);
}

#[test]
fn slabs_are_cut_again_when_speeds_change() {
    // The thread with the first unit is fast at first and slow later.
    let tires = |slab: &mut Slab, steps: usize| {
        slab.steps += steps;
        let slow = if slab.range.start == 0 && slab.steps > 100 { 10 } else { 1 };
        sleep(Duration::from_micros(50) * slab.range.len() as u32 * slow);
    };
    let work = Means { units: 64, ring: false, before: tires };
    let expected = expected(&work, 400);
    let go = &mut |_: &_| ControlFlow::Continue(());
    let settings = with(2, Sizes::Measured);
    let done = run_steps(&WorkerPool::default(), &work, 400, &settings, go).unwrap();
    let parts = &done.report.parts;
    assert!(2 * parts[0].units < parts[1].units, "{parts:?}");
    assert!(done.slabs.into_iter().flat_map(|slab| slab.numbers).eq(expected));
}

#[test]
fn the_cut_of_the_first_step_is_kept() {
    // The thread with the first unit is slow in the first step and fast later. That step alone decides, and the other
    // thread may wake late from its short sleep.
    let warms = |slab: &mut Slab, steps: usize| {
        let first = slab.range.start == 0 && slab.steps == 0;
        slab.steps += steps;
        let slow = if first { 100 } else { 1 };
        sleep(Duration::from_micros(100) * slab.range.len() as u32 * slow);
    };
    let work = Means { units: 64, ring: false, before: warms };
    let expected = expected(&work, 41);
    let seen = std::sync::Mutex::new(Vec::new());
    let mut show = |_, slabs: &[&Slab]| seen.lock().unwrap().push(slabs[0].range.clone());
    let go = &mut |_: &_| ControlFlow::Continue(());
    let stops = Stops::showing(41, 41, &mut show);
    let settings = with(2, Sizes::FirstStep);
    let done = run_steps(&WorkerPool::default(), &work, stops, &settings, go).unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen[0], 0..32);
    assert!(seen[1].end < 16, "{seen:?}");
    assert!(seen[1..].iter().all(|range| *range == seen[1]), "{seen:?}");
    assert!(done.slabs.into_iter().flat_map(|slab| slab.numbers).eq(expected));
}

#[test]
fn a_watcher_stops_after_a_whole_sweep() {
    let work = Means { units: 64, ring: false, before: |_, _| sleep(Duration::from_millis(1)) };
    let settings =
        LoopSettings { progress_every: Duration::from_millis(3), ..with(2, Sizes::Given(1, 1)) };
    let outcome = run_steps(&WorkerPool::default(), &work, 1 << 30, &settings, &mut |_| {
        ControlFlow::Break(())
    })
    .unwrap();
    assert!(!outcome.report.complete);
}

/// A slowed worker used to sleep on for hours after a stop.
#[test]
fn a_slowed_thread_can_be_stopped() {
    let work = Means { units: 64, ring: false, before: |_, _| sleep(Duration::from_millis(1)) };
    let slow = vec![("cpu0".to_string(), 1e7)];
    let settings = LoopSettings { slow, ..with(2, Sizes::Given(1, 1)) };
    let watch = &mut |_: &_| ControlFlow::Break(());
    let outcome = run_steps(&WorkerPool::default(), &work, 1 << 30, &settings, watch);
    assert!(!outcome.unwrap().report.complete);
}

#[test]
fn a_panic_in_a_sweep_reaches_the_caller() {
    let panics = |slab: &mut Slab, _: usize| assert!(slab.range.start == 0, "the upper slab");
    let work = Means { units: 64, ring: false, before: panics };
    let go = std::panic::AssertUnwindSafe(|| {
        let watch = &mut |_: &_| ControlFlow::Continue(());
        let settings = with(2, Sizes::Given(1, 1));
        let _ = run_steps(&WorkerPool::default(), &work, 100, &settings, watch);
    });
    assert!(std::panic::catch_unwind(go).is_err());
}
