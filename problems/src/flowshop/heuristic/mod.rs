//! Heuristics: NEH, iterated greedy, beam search, and the last two combined.

mod anytime;
mod beam;
mod busy;
pub(super) mod greedy;
pub(super) mod insertion;
mod neh;

pub use neh::neh;

use super::code_path::{WithKernel, with_kernel};
use super::instance::solution_of;
use super::kernel::Kernel;
use super::tree::Flowshop;
use anytime::{Found, Heuristic};
use beam::Beam;
use greedy::Greedy;
use insertion::Insertion;
use pleach_core::search::tree::{Improver, Solution};

/// Work spent on the initial schedule: `START_EACH` per machine and pair of jobs, but at most
/// `START`, which takes about a tenth of a second.
const START: u64 = 60_000_000;
const START_EACH: u64 = 15_000;

/// Iterated greedy and beam search in turn, with equal work.
pub struct Together<'f> {
    flowshop: &'f Flowshop,
    greedy: Greedy<Insertion<'f>>,
    beam: Box<dyn Heuristic + 'f>,
    best: Found,
}

/// Makes a beam search of this variation.
struct MakeBeam<'f>(&'f Flowshop, u64);

impl<'f> WithKernel for MakeBeam<'f> {
    type Result = Box<dyn Heuristic + 'f>;

    fn run<K: Kernel + 'static>(self, kernel: K) -> Self::Result {
        Box::new(Beam::new(self.0, kernel, self.1))
    }
}

impl<'f> Together<'f> {
    /// Starts from a schedule on an instance with at least two jobs. The seed is that of iterated greedy.
    fn new(flowshop: &'f Flowshop, best: Found, seed: u64, variation: u64) -> Self {
        let greedy = Greedy::for_makespan(&flowshop.instance, best.clone(), seed);
        let beam = with_kernel(flowshop, MakeBeam(flowshop, variation));
        Self { flowshop, greedy, beam, best }
    }

    /// Starts alongside a search that began with a schedule; if it had none, starts from NEH's.
    #[must_use]
    pub fn beside(flowshop: &'f Flowshop, start: Option<&[u16]>, seed: u64) -> Self {
        // Where each worker of each process has a heuristic, hardly any two make the same beams.
        let variation = if flowshop.is_large() { seed } else { 0 };
        let instance = &flowshop.instance;
        let start = start.map(|order| (order.to_vec(), instance.makespan(order)));
        let best = start.unwrap_or_else(|| neh(instance, &|| !flowshop.stop_requested()));
        // Another seed, so that the search for the initial schedule is not repeated.
        Self::new(flowshop, best, seed.wrapping_add(1), variation)
    }

    /// Runs for a while, but only briefly once `keep_going` returns false. Returns whether the best schedule is new.
    fn step(&mut self, keep_going: &dyn Fn() -> bool) -> bool {
        let greedy = self.beam.exhausted() || self.greedy.work() <= self.beam.work();
        let best = self.best.1;
        let found = if greedy {
            self.greedy.step(best, keep_going)
        } else {
            self.beam.step(best, keep_going)
        };
        let Some(found) = found else { return false };
        if !greedy {
            self.greedy.adopt(&found.0, found.1.into());
        }
        self.best = found;
        true
    }

    fn work(&self) -> u64 {
        self.greedy.work() + self.beam.work()
    }
}

impl Improver for Together<'_> {
    fn improve(&mut self) -> Option<Solution> {
        let flowshop = self.flowshop;
        self.step(&|| !flowshop.stop_requested())
            .then(|| Solution { score: self.best.1.into(), solution: solution_of(&self.best.0) })
    }

    fn adopt(&mut self, solution: &Solution) {
        if let Ok(order) = self.flowshop.instance.order(&solution.solution)
            && solution.score < i64::from(self.best.1)
        {
            let makespan = self.flowshop.instance.makespan(&order);
            self.greedy.adopt(&order, makespan.into());
            self.best = (order, makespan);
        }
    }
}

impl Flowshop {
    /// A good schedule found quickly, no worse than NEH's and the given one; it depends only on the seed. Once
    /// `keep_going` returns false, the best one so far.
    #[must_use]
    pub fn start(
        &self,
        from: Option<&[u16]>,
        seed: u64,
        keep_going: &dyn Fn() -> bool,
    ) -> Vec<u16> {
        if self.instance.jobs() == 1 {
            return vec![0];
        }
        let neh = neh(&self.instance, keep_going);
        let from = from.map(|order| (order.to_vec(), self.instance.makespan(order)));
        let best = from.filter(|(_, makespan)| *makespan <= neh.1).unwrap_or(neh);
        if !keep_going() {
            return best.0;
        }
        let mut together = Together::new(self, best, seed, 0);
        let bound = self.root_bound();
        let (jobs, machines) = (self.instance.jobs() as u64, self.instance.machines() as u64);
        let most = START.min(START_EACH * jobs * jobs * machines);
        while together.work() < most && i64::from(together.best.1) > bound && keep_going() {
            together.step(keep_going);
        }
        together.best.0
    }

    /// A schedule with at most this makespan, if heuristics find one while `keep_going` returns
    /// true.
    #[must_use]
    pub fn reach(&self, value: i64, keep_going: &dyn Fn() -> bool, seed: u64) -> Option<Vec<u16>> {
        if self.instance.jobs() == 1 {
            return (i64::from(self.instance.makespan(&[0])) <= value).then(|| vec![0]);
        }
        let mut together = Together::new(self, neh(&self.instance, keep_going), seed, 0);
        while i64::from(together.best.1) > value {
            if !keep_going() {
                return None;
            }
            together.step(keep_going);
        }
        Some(together.best.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::named::{best_known, named};
    use super::*;
    use crate::simd::Level;

    #[test]
    fn starts_are_schedules_and_close_to_the_best_known() {
        for (name, percent) in [("ta001", 0), ("ta030", 1), ("ta051", 3), ("VFR10_5_1", 0)] {
            let flowshop = Flowshop::new(named(name).unwrap(), Level::best());
            let order = flowshop.start(None, 0, &|| true);
            for level in Level::ALL.into_iter().filter(|level| level.works()) {
                let other = Flowshop::new(named(name).unwrap(), level);
                assert_eq!(order, other.start(None, 0, &|| true), "{name}: a seed gives one start");
            }
            assert!(flowshop.instance.order(&solution_of(&order)).is_ok());
            let (best, _) = best_known(name).unwrap();
            let makespan = i64::from(flowshop.instance.makespan(&order));
            assert!(makespan >= best && makespan <= best + best * percent / 100, "{name}");
        }
    }

    #[test]
    fn a_schedule_found_elsewhere_is_continued_from() {
        let flowshop = Flowshop::new(named("ta001").unwrap(), Level::best());
        let (optimum, _) = best_known("ta001").unwrap();
        let order = flowshop.reach(optimum, &|| true, 0).unwrap();
        let mut together = Together::beside(&flowshop, None, 0);
        together.adopt(&Solution { score: optimum, solution: solution_of(&order) });
        assert!((0..100).all(|_| together.improve().is_none()), "nothing is better");
    }

    #[test]
    fn beam_search_alone_ends_and_finds_what_it_promises() {
        for level in Level::ALL.into_iter().filter(|level| level.works()) {
            let flowshop = Flowshop::new(named("VFR10_5_2").unwrap(), level);
            let mut beam = with_kernel(&flowshop, MakeBeam(&flowshop, 0));
            let mut best = u32::MAX;
            while !beam.exhausted() {
                if let Some((order, makespan)) = beam.step(best, &|| true) {
                    assert_eq!(flowshop.instance.makespan(&order), makespan);
                    assert!(makespan < best);
                    best = makespan;
                }
            }
            // At its final width the beam drops nothing.
            assert_eq!(i64::from(best), best_known("VFR10_5_2").unwrap().0, "{level}");
        }
    }
}
