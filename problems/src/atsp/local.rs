//! [`Local`]: iterated local search on tours. The descent exchanges two consecutive segments, a
//! 3-opt move that reverses nothing; the kick is a double bridge (Martin, Otto and Felten 1991).

use super::instance::{Instance, solution};
use oorandom::Rand64;
use pleach_core::search::problem::Improver;
use pleach_core::search::tree::Solution;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Nearest neighbours tried as a city's successor.
const NEAR: usize = 10;
/// Most cities in each segment of a double bridge.
const SPREAD: u64 = 50;
/// Kicks per city without improvement after which the search returns to the best tour.
const PATIENCE: u32 = 30;
/// Tours are accepted up to a random 0 to 3 times the mean arc cost, divided by this, above the
/// best.
const LENIENT: i64 = 4;
/// Kicks per call.
const CHANGES: u32 = 100;

/// The search: the current tour and the best one.
pub(super) struct Local {
    instance: Arc<Instance>,
    /// The nearest neighbours of each city.
    near: Vec<Vec<u16>>,
    order: Vec<u16>,
    /// The position of each city in the order.
    place: Vec<u16>,
    /// Cities whose outgoing arc has changed since they were last examined.
    look: Vec<u16>,
    length: i64,
    best: (Vec<u16>, i64),
    chance: Rand64,
    /// Kicks since the best tour was found or returned to.
    since: u32,
    /// Roughly how many costs were looked up.
    work: u64,
}

/// Steps of a descent between two checks whether to continue.
const STEPS: u32 = 64;

impl Local {
    /// Starts from a tour of at least four cities, and descends while `keep_going` returns true.
    pub fn new(
        instance: Arc<Instance>,
        order: Vec<u16>,
        seed: u64,
        keep_going: &dyn Fn() -> bool,
    ) -> Self {
        let n = instance.cities();
        let near = |i: usize| {
            let mut others: Vec<u16> = (0..n as u16).filter(|&j| usize::from(j) != i).collect();
            let cost = |&j: &u16| (instance.cost(i, j.into()), j);
            if others.len() > NEAR {
                others.select_nth_unstable_by_key(NEAR, cost);
                others.truncate(NEAR);
            }
            others.sort_unstable_by_key(cost);
            others
        };
        let near = (0..n).map(near).collect();
        let length = instance.length(&order);
        let (look, place) = (order.clone(), vec![0; n]);
        let best = (order.clone(), length);
        let chance = Rand64::new(seed.into());
        let mut local =
            Self { instance, near, order, place, look, length, best, chance, since: 0, work: 0 };
        local.find_places();
        local.descend(keep_going);
        local
    }

    /// The best tour so far, and its length.
    pub fn best(&self) -> (&[u16], i64) {
        (&self.best.0, self.best.1)
    }

    /// Roughly how many costs were looked up.
    pub fn work(&self) -> u64 {
        self.work
    }

    fn find_places(&mut self) {
        (0..).zip(&self.order).for_each(|(place, &city)| self.place[usize::from(city)] = place);
    }

    /// The city at a position, which may be up to one tour beyond the end.
    fn at(&self, place: usize) -> usize {
        let n = self.order.len();
        self.order[if place < n { place } else { place - n }].into()
    }

    /// Exchanges segments until no exchange helps, or `keep_going` returns false.
    fn descend(&mut self, keep_going: &dyn Fn() -> bool) {
        let mut steps = 0;
        'cities: while let Some(city) = self.look.pop() {
            while let Some((gain, from, middle, to)) = self.better(city.into()) {
                self.length -= gain;
                self.exchange(from, middle, to);
                steps += 1;
                if steps % STEPS == 0 && !keep_going() {
                    break 'cities;
                }
            }
        }
        self.look.clear();
        if self.length < self.best.1 {
            self.best = (self.order.clone(), self.length);
        }
    }

    /// The best exchange that makes a near city the successor of this one: its gain, and the
    /// positions that delimit the two segments.
    fn better(&mut self, city: usize) -> Option<(i64, usize, usize, usize)> {
        let (n, cost) = (self.order.len(), |i, j| self.instance.cost(i, j));
        let start = usize::from(self.place[city]);
        let next = self.at(start + 1);
        let out = cost(city, next);
        let mut best = (0, 0, 0);
        for &near in &self.near[city] {
            let near = usize::from(near);
            let first = out - cost(city, near);
            if first <= 0 {
                break;
            }
            let middle = (usize::from(self.place[near]) + n - start) % n;
            if middle < 2 {
                continue;
            }
            let last = self.at(start + middle - 1);
            let first = first + cost(last, near);
            self.work += (n - middle) as u64;
            for to in middle..n {
                let (end, after) = (self.at(start + to), self.at(start + to + 1));
                let gain = first + cost(end, after) - cost(end, next) - cost(last, after);
                if gain > best.0 {
                    best = (gain, middle, to);
                }
            }
        }
        let (gain, middle, to) = best;
        (gain > 0).then_some((gain, start, middle, to))
    }

    /// Exchanges the consecutive segments after position `from`: they start 1 and `middle`
    /// positions after it, and the second ends `to` positions after it. Queues the cities whose
    /// outgoing arc has changed.
    fn exchange(&mut self, from: usize, middle: usize, to: usize) {
        self.order.rotate_left(from);
        let changed = [0, middle - 1, to].map(|place| self.order[place]);
        self.order[1..=to].rotate_left(middle - 1);
        self.find_places();
        self.look.extend(changed);
    }

    /// A double bridge on short segments.
    fn shake(&mut self) {
        let n = self.order.len();
        let start = self.chance.rand_range(0..n as u64) as usize;
        self.order.rotate_left(start);
        let most = SPREAD.min((n as u64 - 1) / 3).max(1);
        let mut length = || 1 + self.chance.rand_range(0..most) as usize;
        let (a, b, c) = (length(), length(), length());
        let (a, b) = (1 + a, 1 + a + b);
        let end = (b + c).min(n);
        let ends = [0, a - 1, b - 1, end - 1].map(|place| self.order[place]);
        // A, B, C, D becomes A, D, C, B; A wraps around the end of the order.
        let (first, second, third) =
            (self.order[1..a].to_vec(), self.order[a..b].to_vec(), self.order[b..end].to_vec());
        self.order.splice(1..end, third.into_iter().chain(second).chain(first));
        self.look.extend(ends);
        self.length = self.instance.length(&self.order);
        self.find_places();
    }

    /// Makes some kicks while `keep_going` returns true. Returns whether there is a new best tour.
    ///
    /// Accepts tours no longer than the current one or slightly longer than the best, to leave
    /// local optima; after a while without improvement it returns to the best tour.
    pub fn step(&mut self, keep_going: &dyn Fn() -> bool) -> bool {
        let before = self.best.1;
        let n = self.order.len() as i64;
        for _ in 0..CHANGES {
            if !keep_going() {
                break;
            }
            let (order, length) = (self.order.clone(), self.length);
            self.work += 4 * order.len() as u64;
            self.shake();
            let best = self.best.1;
            self.descend(keep_going);
            self.since = if self.best.1 < best { 0 } else { self.since + 1 };
            if self.since > PATIENCE * n as u32 {
                (self.order, self.length) = self.best.clone();
                self.since = 0;
            } else if self.length
                > length
                    .max(best + (best.abs() / n) / LENIENT * self.chance.rand_range(0..4) as i64)
            {
                (self.order, self.length) = (order, length);
            } else {
                continue;
            }
            self.find_places();
        }
        self.best.1 < before
    }
}

/// The search runs beside another one, which may have to stop.
pub(super) struct Beside {
    pub local: Local,
    pub stop_requested: Arc<AtomicBool>,
}

impl Improver for Beside {
    fn improve(&mut self) -> Option<Solution> {
        let Self { local, stop_requested } = self;
        let new = local.step(&|| !stop_requested.load(Ordering::Relaxed));
        new.then(|| solution(&local.instance, &local.best.0))
    }
}
