//! [`Greedy`]: iterated greedy (Ruiz and Stützle 2007) that also improves the partial schedule.

use super::super::instance::Instance;
use super::anytime::{Found, Heuristic};
use super::insertion::Insertion;
use oorandom::Rand64;

/// Jobs removed per round.
const REMOVED: usize = 2;
/// Maximum work, in places times machines, of one pass over the jobs: limits passes on large instances.
const MOST_WORK: usize = 50_000_000;
/// Temperature of the acceptance criterion, in tenths of the mean time.
const TEMPERATURE: f64 = 0.7;

/// An iterated greedy search.
#[derive(Clone, Debug)]
pub struct Greedy<'a> {
    instance: &'a Instance,
    insertion: Insertion<'a>,
    rng: Rand64,
    temperature: f64,
    order: Vec<u16>,
    makespan: u32,
}

impl<'a> Greedy<'a> {
    /// A search that starts from a schedule.
    pub fn new(instance: &'a Instance, (order, makespan): Found, seed: u64) -> Self {
        let operations = (instance.jobs() * instance.machines()) as f64;
        let sum: u64 =
            (0..instance.jobs()).flat_map(|j| instance.job(j)).map(|&t| u64::from(t)).sum();
        Self {
            instance,
            insertion: Insertion::new(instance),
            rng: Rand64::new(seed.into()),
            temperature: TEMPERATURE * sum as f64 / operations / 10.0,
            order,
            makespan,
        }
    }

    /// Continues from another schedule.
    pub fn adopt(&mut self, (order, makespan): &Found) {
        (self.order, self.makespan) = (order.clone(), *makespan);
    }

    /// One round: destruction, local search on the partial schedule (Dubois-Lacoste, Pagnozzi and Stützle 2017),
    /// construction, local search. Stores the schedule if it is accepted, and returns it in any case. Once `keep_going`
    /// returns false, local search is skipped.
    fn round(&mut self, keep_going: &dyn Fn() -> bool) -> Found {
        let jobs = self.order.len();
        let before = self.order.clone();
        let removed: Vec<u16> = (0..REMOVED.min(jobs - 1)).map(|_| self.remove_random()).collect();
        let mut rest = std::mem::take(&mut self.order);
        let mut makespan = self.local_search(&mut rest, None, keep_going);
        for job in removed {
            let rng = &mut self.rng;
            makespan = self.insertion.insert(&mut rest, job, |ties| below(rng, ties));
        }
        makespan = self.local_search(&mut rest, Some(makespan), keep_going);
        self.order = rest;
        let found = (self.order.clone(), makespan);
        let worse = f64::from(makespan) - f64::from(self.makespan);
        if worse <= 0.0 || self.rng.rand_float() < (-worse / self.temperature).exp() {
            self.makespan = makespan;
        } else {
            self.order = before;
        }
        found
    }

    fn remove_random(&mut self) -> u16 {
        let at = below(&mut self.rng, self.order.len());
        self.order.remove(at)
    }

    /// Insertion local search: moves single jobs to better places until none improves. Returns the
    /// makespan, or 0 if there is nothing to move.
    fn local_search(
        &mut self,
        order: &mut Vec<u16>,
        makespan: Option<u32>,
        keep_going: &dyn Fn() -> bool,
    ) -> u32 {
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
            moved.truncate(MOST_WORK.div_ceil(moved.len() * self.instance.machines()));
            for job in moved {
                if !keep_going() {
                    return least;
                }
                let Some(at) = order.iter().position(|&other| other == job) else { continue };
                order.remove(at);
                let rng = &mut self.rng;
                // The old place is among those tried, so the makespan never increases.
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

impl Heuristic for Greedy<'_> {
    fn step(&mut self, best: u32, keep_going: &dyn Fn() -> bool) -> Option<Found> {
        Some(self.round(keep_going)).filter(|&(_, makespan)| makespan < best)
    }

    fn work(&self) -> u64 {
        self.insertion.work
    }

    fn exhausted(&self) -> bool {
        false
    }
}
