//! Iterated local search: exchanges of two locations, and random ones where none improves.

use super::instance::Instance;
use oorandom::Rand64;

/// Work spent on the first assignment, roughly in looked-up flows: less than a tenth of a second.
const START: u64 = 6_000_000;

/// A good assignment found quickly; it depends only on the seed. Ends early if `keep_going` returns false.
#[must_use]
pub fn improve(
    instance: &Instance,
    start: Option<&[u16]>,
    seed: u64,
    keep_going: &dyn Fn() -> bool,
) -> Vec<u16> {
    let mut search = Local::new(instance, start, seed);
    while search.work < START && search.advance(keep_going) {}
    search.found()
}

/// An assignment of at most this cost, if the search finds one while `keep_going` returns true.
#[must_use]
pub fn reach(
    instance: &Instance,
    start: Option<&[u16]>,
    seed: u64,
    cost: i64,
    keep_going: &dyn Fn() -> bool,
) -> Option<Vec<u16>> {
    let mut search = Local::new(instance, start, seed);
    while search.best.1 > cost {
        if !search.advance(keep_going) {
            return None;
        }
    }
    Some(search.found())
}

/// A local search.
struct Local<'i> {
    instance: &'i Instance,
    rng: Rand64,
    /// The location of each facility, the missing ones included, and the cost.
    at: (Vec<u16>, i64),
    best: (Vec<u16>, i64),
    /// Rounds since the last improvement.
    idle: u32,
    work: u64,
}

impl<'i> Local<'i> {
    /// A search from this assignment, or from any.
    fn new(instance: &'i Instance, start: Option<&[u16]>, seed: u64) -> Self {
        let mut places: Vec<u16> = start.unwrap_or_default().to_vec();
        let mut used = vec![false; instance.locations()];
        places.iter().for_each(|&place| used[usize::from(place)] = true);
        places.extend((0..instance.locations()).filter(|&at| !used[at]).map(|at| at as u16));
        let cost = instance.cost(&places);
        let at = (places, cost);
        Self { instance, rng: Rand64::new(seed.into()), best: at.clone(), at, idle: 0, work: 0 }
    }

    /// The best assignment.
    fn found(self) -> Vec<u16> {
        let mut places = self.best.0;
        places.truncate(self.instance.facilities());
        places
    }

    /// Takes a step. Returns false if there is nothing to exchange, or `keep_going` does.
    fn advance(&mut self, keep_going: &dyn Fn() -> bool) -> bool {
        let goes = self.instance.locations() > 1 && keep_going();
        if goes {
            self.step();
        }
        goes
    }

    /// Descends to a local optimum and leaves it by a few random exchanges.
    fn step(&mut self) {
        let n = self.at.0.len();
        let before = self.at.clone();
        let most = (n as u64 / 2).max(3);
        for _ in 0..self.rng.rand_range(2..most + 1) {
            let (i, j) = (self.below(n), self.below(n));
            self.at.1 += self.change(i, j);
            self.at.0.swap(i, j);
        }
        self.descend();
        if self.at.1 < self.best.1 {
            self.best = self.at.clone();
            self.idle = 0;
        } else {
            self.idle += 1;
        }
        if self.idle > 50 {
            // Elsewhere.
            self.idle = 0;
            for i in (1..n).rev() {
                let j = self.below(i + 1);
                self.at.0.swap(i, j);
            }
            self.at.1 = self.instance.cost(&self.at.0);
        } else if self.at.1 > before.1 {
            self.at = before;
        }
    }

    /// Exchanges locations while that improves.
    fn descend(&mut self) {
        let n = self.at.0.len();
        let mut improved = true;
        while improved {
            improved = false;
            for i in 0..n.min(self.instance.facilities()) {
                for j in i + 1..n {
                    let change = self.change(i, j);
                    if change < 0 {
                        self.at.0.swap(i, j);
                        self.at.1 += change;
                        improved = true;
                    }
                }
            }
        }
    }

    fn below(&mut self, n: usize) -> usize {
        self.rng.rand_range(0..n as u64) as usize
    }

    /// By how much the cost rises if two facilities exchange their locations.
    fn change(&mut self, i: usize, j: usize) -> i64 {
        if i == j {
            return 0;
        }
        let (x, places) = (self.instance, &self.at.0);
        self.work += places.len() as u64;
        let (p, q) = (usize::from(places[i]), usize::from(places[j]));
        let own = (x.flow(i, i) - x.flow(j, j)) * (x.distance(q, q) - x.distance(p, p))
            + (x.flow(i, j) - x.flow(j, i)) * (x.distance(q, p) - x.distance(p, q));
        let others = (0..places.len()).filter(|&k| k != i && k != j);
        let with = |k: usize| {
            let r = usize::from(places[k]);
            (x.flow(i, k) - x.flow(j, k)) * (x.distance(q, r) - x.distance(p, r))
                + (x.flow(k, i) - x.flow(k, j)) * (x.distance(r, q) - x.distance(r, p))
        };
        own + others.map(with).sum::<i64>()
    }
}
