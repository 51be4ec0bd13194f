//! [`Greedy`]: iterated greedy (Ruiz and Stützle 2007) that also improves the partial schedule.

use super::super::instance::Instance;
use super::anytime::{Found, Heuristic};
use super::insertion::{Insert, Insertion};
use oorandom::Rand64;

/// Jobs removed per round.
const REMOVED: usize = 2;
/// Maximum work, in places times machines, of one pass over the jobs: limits passes on large instances.
const MOST_WORK: usize = 50_000_000;
/// Temperature of the acceptance criterion, in tenths of the mean time.
const TEMPERATURE: f64 = 0.7;

/// An iterated greedy search.
#[derive(Clone, Debug)]
pub struct Greedy<I> {
    insertion: I,
    rng: Rand64,
    temperature: f64,
    order: Vec<u16>,
    value: i64,
}

impl<'a> Greedy<Insertion<'a>> {
    /// A search for the least makespan that starts from a schedule.
    pub fn for_makespan(instance: &'a Instance, (order, makespan): Found, seed: u64) -> Self {
        let insertion = Insertion::new(instance);
        Self::new(insertion, (order, makespan.into()), mean_time(instance), seed)
    }
}

/// The mean time of an operation.
pub fn mean_time(instance: &Instance) -> f64 {
    let operations = (instance.jobs() * instance.machines()) as f64;
    let sum: u64 = (0..instance.jobs()).flat_map(|j| instance.job(j)).map(|&t| u64::from(t)).sum();
    sum as f64 / operations
}

impl<I: Insert> Greedy<I> {
    /// A search that starts from a schedule with this value. A `typical` difference between neighbours determines how
    /// easily worse schedules are accepted.
    pub fn new(insertion: I, (order, value): (Vec<u16>, i64), typical: f64, seed: u64) -> Self {
        let temperature = TEMPERATURE * typical / 10.0;
        Self { insertion, rng: Rand64::new(seed.into()), temperature, order, value }
    }

    /// Continues from another schedule.
    pub fn adopt(&mut self, order: &[u16], value: i64) {
        (self.order, self.value) = (order.to_vec(), value);
    }

    /// Work so far, roughly in places of a schedule times machines.
    pub fn work(&self) -> u64 {
        self.insertion.work()
    }

    /// One round: destruction, local search on the partial schedule (Dubois-Lacoste, Pagnozzi and Stützle 2017),
    /// construction, local search. Stores the schedule if it is accepted, and returns it in any case. Once `keep_going`
    /// returns false, local search is skipped.
    pub fn round(&mut self, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, i64) {
        let jobs = self.order.len();
        let before = self.order.clone();
        let removed: Vec<u16> = (0..REMOVED.min(jobs - 1)).map(|_| self.remove_random()).collect();
        let mut rest = std::mem::take(&mut self.order);
        let mut value = self.local_search(&mut rest, None, keep_going);
        for job in removed {
            let rng = &mut self.rng;
            value = self.insertion.insert(&mut rest, job, i64::MAX, |ties| below(rng, ties));
        }
        value = self.local_search(&mut rest, Some(value), keep_going);
        self.order = rest;
        let found = (self.order.clone(), value);
        let worse = (value - self.value) as f64;
        if worse <= 0.0 || self.rng.rand_float() < (-worse / self.temperature).exp() {
            self.value = value;
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
    /// value, or 0 if there is nothing to move.
    fn local_search(
        &mut self,
        order: &mut Vec<u16>,
        value: Option<i64>,
        keep_going: &dyn Fn() -> bool,
    ) -> i64 {
        let mut least = value.unwrap_or(i64::MAX);
        if order.len() < 2 {
            return value.unwrap_or(0);
        }
        loop {
            let mut moved = order.clone();
            for i in (1..moved.len()).rev() {
                moved.swap(i, below(&mut self.rng, i + 1));
            }
            let before = least;
            moved.truncate(MOST_WORK.div_ceil(moved.len() * self.insertion.machines()));
            for job in moved {
                if !keep_going() {
                    return least;
                }
                let Some(at) = order.iter().position(|&other| other == job) else { continue };
                order.remove(at);
                let rng = &mut self.rng;
                // The old place is among those tried, so the value never increases.
                least = self.insertion.insert(order, job, least, |ties| below(rng, ties));
            }
            if least >= before || before == i64::MAX {
                return least;
            }
        }
    }
}

fn below(rng: &mut Rand64, n: usize) -> usize {
    rng.rand_range(0..n as u64) as usize
}

impl Heuristic for Greedy<Insertion<'_>> {
    fn step(&mut self, best: u32, keep_going: &dyn Fn() -> bool) -> Option<Found> {
        let (order, value) = self.round(keep_going);
        u32::try_from(value).ok().filter(|&value| value < best).map(|value| (order, value))
    }

    fn work(&self) -> u64 {
        self.insertion.work()
    }

    fn exhausted(&self) -> bool {
        false
    }
}
