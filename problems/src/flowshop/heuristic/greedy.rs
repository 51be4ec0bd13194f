//! [`Greedy`]: iterated greedy: take a few jobs out, improve the rest, put them back, improve.

use super::super::Flowshop;
use super::super::instance::{Instance, plan};
use super::insertion::Insertion;
use super::neh::neh;
use oorandom::Rand64;
use pleach_core::problem::Improver;
use pleach_core::tree::Solution;

/// Jobs taken out at a time.
const TAKEN: usize = 2;
/// How readily a worse schedule is accepted, against a tenth of the mean time.
const WARMTH: f64 = 0.7;

/// An iterated greedy search.
#[derive(Clone, Debug)]
pub struct Greedy<'a> {
    insertion: Insertion<'a>,
    rng: Rand64,
    warmth: f64,
    order: Vec<u16>,
    makespan: u32,
    best: (Vec<u16>, u32),
    /// Whether the best has not been handed out yet.
    fresh: bool,
}

impl<'a> Greedy<'a> {
    /// A search that starts from a schedule, or from NEH's.
    #[must_use]
    pub fn new(instance: &'a Instance, start: Option<&[u16]>, seed: u64) -> Self {
        let start = start.map(|order| (order.to_vec(), instance.makespan(order)));
        let (order, makespan) = start.unwrap_or_else(|| neh(instance));
        let operations = (instance.jobs() * instance.machines()) as f64;
        let sum: u64 = (0..instance.jobs()).flat_map(|j| instance.job(j)).map(|&t| u64::from(t)).sum();
        Self {
            insertion: Insertion::new(instance),
            rng: Rand64::new(seed.into()),
            warmth: WARMTH * sum as f64 / operations / 10.0,
            best: (order.clone(), makespan),
            order,
            makespan,
            fresh: true,
        }
    }

    /// One round.
    fn round(&mut self) {
        let jobs = self.order.len();
        let before = self.order.clone();
        let taken: Vec<u16> = (0..TAKEN.min(jobs - 1)).map(|_| self.take_random()).collect();
        let mut rest = std::mem::take(&mut self.order);
        let mut makespan = self.settle(&mut rest, None);
        for job in taken {
            let rng = &mut self.rng;
            makespan = self.insertion.insert(&mut rest, job, |ties| below(rng, ties));
        }
        makespan = self.settle(&mut rest, Some(makespan));
        self.order = rest;
        if makespan < self.best.1 {
            self.best = (self.order.clone(), makespan);
            self.fresh = true;
        }
        let worse = f64::from(makespan) - f64::from(self.makespan);
        if worse <= 0.0 || self.rng.rand_float() < (-worse / self.warmth).exp() {
            self.makespan = makespan;
        } else {
            self.order = before;
        }
    }

    fn take_random(&mut self) -> u16 {
        let at = below(&mut self.rng, self.order.len());
        self.order.remove(at)
    }

    /// Moves single jobs to better places until none has one. Returns the makespan, or 0 where
    /// there is too little to move.
    fn settle(&mut self, order: &mut Vec<u16>, makespan: Option<u32>) -> u32 {
        let mut least = makespan.unwrap_or(u32::MAX);
        if order.len() < 2 {
            return makespan.unwrap_or(0);
        }
        loop {
            let mut moved = order.clone();
            for i in (1..moved.len()).rev() {
                moved.swap(i, below(&mut self.rng, i + 1));
            }
            let before = least;
            for job in moved {
                let Some(at) = order.iter().position(|&other| other == job) else { continue };
                order.remove(at);
                let rng = &mut self.rng;
                // The place it came from is among those tried: it never gets worse.
                least = self.insertion.insert(order, job, |ties| below(rng, ties));
            }
            if least >= before || before == u32::MAX {
                return least;
            }
        }
    }
}

fn below(rng: &mut Rand64, n: usize) -> usize {
    rng.rand_range(0..n as u64) as usize
}

/// Work that goes into a start before the search begins: about a tenth of a second.
const START: u64 = 60_000_000;

impl Flowshop {
    /// A good schedule in a short time, from one or from none: always the same for a seed.
    #[must_use]
    pub fn start(&self, from: Option<&[u16]>, seed: u64) -> Vec<u16> {
        let mut greedy = Greedy::new(&self.instance, from, seed);
        let bound = self.root_bound();
        while self.instance.jobs() > 1 && greedy.insertion.work < START && i64::from(greedy.best.1) > bound {
            greedy.round();
        }
        greedy.best.0
    }

    /// A schedule of this makespan or a better one, if heuristics find one while `go_on` holds.
    #[must_use]
    pub fn reach(&self, value: i64, mut go_on: impl FnMut() -> bool, seed: u64) -> Option<Vec<u16>> {
        let mut greedy = Greedy::new(&self.instance, None, seed);
        while i64::from(greedy.best.1) > value {
            if self.instance.jobs() == 1 || !go_on() {
                return None;
            }
            greedy.round();
        }
        Some(greedy.best.0)
    }
}

impl Improver for Greedy<'_> {
    fn improve(&mut self) -> Option<Solution> {
        self.round();
        std::mem::take(&mut self.fresh)
            .then(|| Solution { score: self.best.1.into(), plan: plan(&self.best.0) })
    }
}
