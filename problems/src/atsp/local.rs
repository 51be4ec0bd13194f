//! [`Local`]: iterated local search on tours. The descent exchanges two consecutive segments, a
//! 3-opt move that reverses nothing; the kick is a double bridge (Martin, Otto and Felten 1991).
//!
//! Prices for leaving and entering cities make all tours longer by the same amount. With those of a bound, the arcs of
//! good tours are among the cheapest, and an exchange that helps soon looks better than what it replaces.

use super::arcs::COST_SCALE;
use super::instance::{Instance, solution};
use oorandom::Rand64;
use pleach_core::search::tree::{Improver, Solution};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Nearest neighbours tried as a city's successor, and as its predecessor.
const NEAR: usize = 10;
/// The maximum number of cities in each segment of a double bridge.
const SPREAD: u64 = 50;
/// Kicks per city without improvement after which the search returns to the best tour.
const PATIENCE: u32 = 30;
/// Tours are accepted up to a random 0 to 3 times the mean arc cost, divided by this, above the
/// best.
const LENIENT: i64 = 4;
/// Kicks per call.
const CHANGES: u32 = 100;

/// The cities nearest to one, with the costs of going there or coming from there.
type Near = Vec<(i64, u16)>;

/// An exchange of two consecutive segments: the position before them, and how many cities each has.
type Exchange = (usize, usize, usize);

/// The search: the current tour and the best one.
pub(super) struct Local {
    instance: Arc<Instance>,
    /// The costs less prices, in parts of a unit, row by row.
    costs: Vec<i64>,
    /// The nearest successors of each city.
    after: Vec<Near>,
    /// The nearest predecessors of each city.
    before: Vec<Near>,
    order: Vec<u16>,
    /// The position of each city in the order.
    place: Vec<u16>,
    /// Cities whose outgoing arc has changed since they were last examined.
    look: Vec<u16>,
    /// Lengths are in parts of a unit.
    length: i64,
    best: (Vec<u16>, i64),
    /// A third of how much longer than the best a tour may be.
    lenience: i64,
    /// The exchanges since the last kick began, to undo them.
    done: Vec<Exchange>,
    /// Room for the cities of two segments.
    moved: Vec<u16>,
    chance: Rand64,
    /// Kicks since the best tour was found or returned to.
    since: u32,
    /// Roughly how many costs were looked up.
    work: u64,
}

/// Steps of a descent between two checks whether to continue.
const STEPS: u32 = 64;

impl Local {
    /// Starts from a tour of at least four cities, and descends while `keep_going` returns true. The prices for leaving
    /// cities are in parts of a unit.
    pub fn new(
        instance: Arc<Instance>,
        prices: &[i64],
        order: Vec<u16>,
        seed: u64,
        keep_going: &dyn Fn() -> bool,
    ) -> Self {
        let n = instance.cities();
        let costs = less_prices(&instance, prices);
        let cost = |i: usize, j: usize| costs[i * n + j];
        let near = |i: usize, cost: &dyn Fn(usize) -> i64| {
            let others = (0..n).filter(|&j| j != i);
            let mut near: Near = others.map(|j| (cost(j), j as u16)).collect();
            if near.len() > NEAR {
                near.select_nth_unstable(NEAR);
                near.truncate(NEAR);
            }
            near.sort_unstable();
            near
        };
        let after = (0..n).map(|i| near(i, &|j| cost(i, j))).collect();
        let before = (0..n).map(|j| near(j, &|i| cost(i, j))).collect();
        let next = order.iter().cycle().skip(1);
        let length = order.iter().zip(next).map(|(&i, &j)| cost(i.into(), j.into())).sum();
        let mean = COST_SCALE * instance.length(&order).abs() / n as i64;
        let mut local = Self {
            instance,
            costs,
            after,
            before,
            look: order.clone(),
            place: vec![0; n],
            length,
            best: (order.clone(), length),
            lenience: mean / LENIENT,
            order,
            done: Vec::new(),
            moved: Vec::new(),
            chance: Rand64::new(seed.into()),
            since: 0,
            work: 0,
        };
        local.find_places();
        local.descend(keep_going);
        local
    }

    /// The best tour so far, and its length.
    pub fn best(&self) -> (&[u16], i64) {
        (&self.best.0, self.instance.length(&self.best.0))
    }

    /// Roughly how many costs were looked up.
    pub fn work(&self) -> u64 {
        self.work
    }

    fn cost(&self, i: usize, j: usize) -> i64 {
        self.costs[i * self.order.len() + j]
    }

    fn find_places(&mut self) {
        (0..).zip(&self.order).for_each(|(place, &city)| self.place[usize::from(city)] = place);
    }

    /// The city at a position, which may be up to one tour beyond the end.
    fn at(&self, place: usize) -> usize {
        self.order[self.within(place)].into()
    }

    /// A position that may be up to one tour beyond the end.
    fn within(&self, place: usize) -> usize {
        let n = self.order.len();
        if place < n { place } else { place - n }
    }

    /// Exchanges segments until no exchange helps, or `keep_going` returns false.
    fn descend(&mut self, keep_going: &dyn Fn() -> bool) {
        let mut steps = 0;
        'cities: while let Some(city) = self.look.pop() {
            while let Some((gain, exchange)) = self.better(city.into()) {
                self.length -= gain;
                self.exchange(exchange);
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

    /// The best exchange that makes a near city the successor of this one, where one more new arc comes from a near
    /// city: its gain, and the exchange.
    fn better(&mut self, city: usize) -> Option<(i64, Exchange)> {
        let (n, cost) = (self.order.len(), |i, j| self.cost(i, j));
        let start = usize::from(self.place[city]);
        // How far a city comes after this one.
        let behind =
            |other: u16| self.within(usize::from(self.place[usize::from(other)]) + n - start);
        let next = self.at(start + 1);
        let out = cost(city, next);
        let mut best = (0, 0, 0);
        let mut work = 1;
        // The segments from `next` to `last` and from `near` to `end` change places.
        for &(into, near) in &self.after[city] {
            let gain = out - into;
            if gain <= 0 {
                break;
            }
            let middle = behind(near);
            let last = self.at(start + middle - 1);
            let gain = gain + cost(last, near.into());
            work += 2;
            for &(back, end) in self.before[next].iter().take_while(|(back, _)| *back < gain) {
                let to = behind(end);
                work += 1;
                if to >= middle {
                    let (end, after) = (end.into(), self.at(start + to + 1));
                    let gain = gain - back + cost(end, after) - cost(last, after);
                    best = best.max((gain, middle, to));
                }
            }
            for &(on, after) in self.after[last].iter().take_while(|(on, _)| *on < gain) {
                let to = (behind(after) + n - 1) % n;
                work += 1;
                if to >= middle {
                    let (end, after) = (self.at(start + to), after.into());
                    let gain = gain - on + cost(end, after) - cost(end, next);
                    best = best.max((gain, middle, to));
                }
            }
        }
        self.work += work;
        let (gain, middle, to) = best;
        (gain > 0).then(|| (gain, (start, middle - 1, to + 1 - middle)))
    }

    /// Makes an exchange. Queues the cities whose outgoing arc has changed.
    fn exchange(&mut self, (start, first, second): Exchange) {
        for place in [start, start + first, start + first + second] {
            self.look.push(self.at(place) as u16);
        }
        // The order is a circle: of both segments and the rest, any two may be swapped.
        let rest = self.order.len() - first - second;
        let exchange = if rest >= first.max(second) {
            (start, first, second)
        } else if first >= second {
            (start + first, second, rest)
        } else {
            (start + first + second, rest, first)
        };
        self.swap(exchange);
        self.done.push(exchange);
    }

    /// Swaps two segments.
    fn swap(&mut self, (start, first, second): Exchange) {
        self.work += (first + second) as u64 / 2;
        let begin = self.within(start) + 1;
        let mut moved = std::mem::take(&mut self.moved);
        moved.clear();
        moved.extend((first..first + second).map(|at| self.at(begin + at) as u16));
        moved.extend((0..first).map(|at| self.at(begin + at) as u16));
        for (at, &city) in moved.iter().enumerate() {
            let place = self.within(begin + at);
            self.order[place] = city;
            self.place[usize::from(city)] = place as u16;
        }
        self.moved = moved;
    }

    /// A double bridge on short segments.
    fn kick(&mut self) {
        let n = self.order.len();
        let start = self.chance.rand_range(0..n as u64) as usize;
        let most = SPREAD.min((n as u64 - 1) / 3).max(1);
        let mut length = || 1 + self.chance.rand_range(0..most) as usize;
        // The cities between A and A, in three segments B, C, D, become D, C, B.
        let (b, c, d) = (length(), length(), length());
        let (end_b, end_c, end_d) = (start + b, start + b + c, start + b + c + d);
        let arcs = |from: [usize; 4], to: [usize; 4]| {
            let cost = |(from, to): (usize, usize)| self.cost(self.at(from), self.at(to));
            from.into_iter().zip(to).map(cost).sum::<i64>()
        };
        let from = [start, end_b, end_c, end_d];
        let old = arcs(from, [start + 1, end_b + 1, end_c + 1, end_d + 1]);
        let new = arcs(from, [end_c + 1, end_d + 1, start + 1, end_b + 1]);
        self.length += new - old;
        for place in from {
            self.look.push(self.at(place) as u16);
        }
        for exchange in [(start, b, c + d), (start, c, d)] {
            self.swap(exchange);
            self.done.push(exchange);
        }
    }

    /// Makes some kicks while `keep_going` returns true. Returns whether there is a new best tour.
    ///
    /// Accepts tours no longer than the current one or slightly longer than the best, to leave
    /// local optima; after a while without improvement it returns to the best tour.
    pub fn step(&mut self, keep_going: &dyn Fn() -> bool) -> bool {
        let before = self.best.1;
        let n = self.order.len() as u32;
        for _ in 0..CHANGES {
            if !keep_going() {
                break;
            }
            let length = self.length;
            self.done.clear();
            self.kick();
            let best = self.best.1;
            self.descend(keep_going);
            self.since = if self.best.1 < best { 0 } else { self.since + 1 };
            let lenient = self.lenience * self.chance.rand_range(0..4) as i64;
            if self.since > PATIENCE * n {
                (self.order, self.length) = self.best.clone();
                self.since = 0;
                self.find_places();
            } else if self.length > length.max(best + lenient) {
                while let Some((start, first, second)) = self.done.pop() {
                    self.swap((start, second, first));
                }
                self.length = length;
            }
        }
        self.best.1 < before
    }
}

/// The costs less a price for leaving each city and then as much as possible for entering it.
fn less_prices(instance: &Instance, out: &[i64]) -> Vec<i64> {
    let n = instance.cities();
    let mut costs: Vec<i64> = instance.costs().iter().map(|cost| COST_SCALE * cost).collect();
    for (row, out) in costs.chunks_mut(n).zip(out) {
        row.iter_mut().for_each(|cost| *cost -= out);
    }
    let mut into = vec![i64::MAX; n];
    for (i, row) in costs.chunks(n).enumerate() {
        for j in (0..n).filter(|&j| j != i) {
            into[j] = into[j].min(row[j]);
        }
    }
    for row in costs.chunks_mut(n) {
        row.iter_mut().zip(&into).for_each(|(cost, into)| *cost -= into);
    }
    costs
}

/// The search runs alongside another one, which may have to stop.
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
