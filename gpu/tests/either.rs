//! Devices that choose between exploring and bounding by a trial.

use crate::gpu::spec;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::laws::{explore_whole, late_explorer_law, run_to_end};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_gpu::begin::begin;
use pleach_gpu::either::{Either, Trial};
use pleach_gpu::executor::Rounds;
use pleach_gpu::explorer::DeviceExplorer;
use pleach_gpu::pool::DevicePool;
use pleach_gpu::request::DeviceRequest;
use pleach_gpu::spec::{Mode, Spec};
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::{Flowshop, named::named};
use pleach_problems::simd::Level;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// At once, and after a few rounds.
const TRIALS: [Trial; 2] =
    [Trial { after_ns: 1, length_ns: 1 }, Trial { after_ns: 2_000_000, length_ns: 1_000_000 }];

fn flowshop(bound: Bound) -> (Flowshop, i64) {
    let mut flowshop = Flowshop::new(named("VFR10_5_3").unwrap(), Level::best());
    flowshop.bound = bound;
    let best = whole(&flowshop, i64::MAX).1.unwrap();
    flowshop.reference = best;
    (flowshop, best)
}

/// The counts of the whole tree, and the best score.
fn whole(problem: &dyn Problem, best: i64) -> (Counts, Option<i64>) {
    let progress = explore_whole(problem, best);
    (progress.counts, progress.found.map(|found| found.score))
}

fn either<'p>(
    problem: &'p dyn Problem,
    words: &str,
    pool: &Arc<DevicePool>,
    trial: Trial,
) -> Either<'p> {
    let spec = spec(words);
    Either::new(problem, explores(problem, &spec, pool), &spec, pool, trial)
}

/// Explores, whatever earlier trials have shown.
fn explores<'p>(
    problem: &'p dyn Problem,
    spec: &Spec,
    pool: &Arc<DevicePool>,
) -> DeviceExplorer<'p> {
    let spec = Spec { mode: Some(Mode::Explore), ..*spec };
    let request = DeviceRequest::new(problem, &spec, pool).unwrap();
    request.open().unwrap().explores(problem).unwrap()
}

#[test]
fn the_laws_hold_while_the_mode_changes() {
    let (flowshop, best) = flowshop(Bound::One);
    let wanted = explore_whole(&flowshop, best);
    let pool = Arc::default();
    for seed in 0..6 {
        let make = |i: usize| -> Box<dyn Explorer + '_> {
            match i % 3 {
                0 => flowshop.explorer(),
                at => Box::new(either(&flowshop, "emulated:explorers=3", &pool, TRIALS[at - 1])),
            }
        };
        late_explorer_law(&make, &Problem::root(&flowshop), best, &wanted, (seed, 4));
    }
}

#[test]
fn a_trial_changes_no_count_and_is_remembered() {
    for bound in [Bound::One, Bound::Two] {
        let (flowshop, best) = flowshop(bound);
        let (wanted, _) = whole(&flowshop, best);
        let pool = Arc::default();
        let mut search = either(&flowshop, "emulated:explorers=2", &pool, TRIALS[0]);
        search.add_work(&Problem::root(&flowshop).bytes).unwrap();
        let (mut counts, mut modes) = (Counts::default(), vec![search.mode()]);
        while search.size() > 0.0 {
            counts.add(&search.step(1, best).counts);
            modes.push(search.mode());
        }
        counts.add(&search.flush().counts);
        assert_eq!(counts, wanted);
        assert!(modes.contains(&Mode::Explore) && modes.contains(&Mode::Evaluate));
        let (explored, bounded) = search.trial().unwrap();
        let faster = if bounded > explored { Mode::Evaluate } else { Mode::Explore };
        assert_eq!(modes.last(), Some(&faster));
        // The next search of this size uses that mode from the start.
        let next = DeviceRequest::new(&flowshop, &spec("emulated"), &pool).unwrap();
        let next = begin(next.open().unwrap(), &flowshop).unwrap();
        assert_eq!((next.mode(), next.trial()), (faster, None));
    }
}

#[test]
fn a_device_that_fails_around_a_trial_loses_nothing() {
    let (flowshop, best) = flowshop(Bound::One);
    let (wanted, _) = whole(&flowshop, best);
    let mut lost = 0;
    for fail in 1..40 {
        let words = format!("emulated:explorers=3:fail={fail}");
        let mut search = either(&flowshop, &words, &Arc::default(), TRIALS[0]);
        search.add_work(&Problem::root(&flowshop).bytes).unwrap();
        let progress = run_to_end(&mut search, best);
        assert_eq!(progress.counts, wanted, "launch {fail}");
        lost += u32::from(search.take_failure().is_some());
    }
    assert!(lost > 10, "{lost}");
}

/// Devices that are not needed any more hold nothing, whether the other mode is still being prepared or not.
#[test]
fn a_device_that_fails_around_a_trial_leaves_nothing_behind() {
    let (flowshop, best) = flowshop(Bound::One);
    let (wanted, _) = whole(&flowshop, best);
    for fail in 2..12 {
        let pool = Arc::default();
        let words = format!("emulated:explorers=3:budget=5:late=50:fail={fail}");
        let mut search = either(&flowshop, &words, &pool, TRIALS[0]);
        search.add_work(&Problem::root(&flowshop).bytes).unwrap();
        assert_eq!(run_to_end(&mut search, best).counts, wanted, "launch {fail}");
        drop(search);
        // The thread that opens the other mode ends a little later.
        let until = Instant::now() + Duration::from_secs(300);
        while Arc::strong_count(&pool) > 1 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(Arc::strong_count(&pool), 1, "launch {fail}");
    }
}

/// A kernel that bounds may first have to be compiled, which takes long.
#[test]
fn a_device_explores_while_the_other_mode_is_prepared() {
    let (flowshop, best) = flowshop(Bound::One);
    let (wanted, _) = whole(&flowshop, best);
    let (pool, spec) = (Arc::default(), spec("emulated:explorers=2:budget=5:late=300"));
    let explores = explores(&flowshop, &spec, &pool);
    let mut search = Either::new(&flowshop, explores, &spec, &pool, TRIALS[0]);
    search.add_work(&Problem::root(&flowshop).bytes).unwrap();
    let (mut counts, mut steps) = (Counts::default(), 0);
    while search.mode() == Mode::Explore && search.size() > 0.0 {
        counts.add(&search.step(1, best).counts);
        steps += 1;
    }
    assert!(steps > 3, "{steps}");
    counts.add(&search.flush().counts);
    let mut rest = flowshop.explorer();
    rest.add_work(&search.drain().bytes).unwrap();
    counts.add(&search.flush().counts);
    counts.add(&run_to_end(&mut *rest, best).counts);
    assert_eq!(counts, wanted);
}
