//! [`Allowed`] and [`Arcs`]: which arcs a tour may still use, as a bit matrix and as a list.

use super::instance::Instance;

/// Parts in a unit of cost: bounds are computed exactly, in integer multiples of 1/256.
pub(super) const COST_SCALE: i64 = 256;

/// The arcs that a tour may use, one bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Allowed {
    pub cities: usize,
    /// Words per row.
    width: usize,
    bits: Vec<u64>,
}

impl Allowed {
    /// All arcs between different cities.
    pub fn all(cities: usize) -> Self {
        let mut all = Self::none(cities);
        for i in 0..cities {
            (0..cities).filter(|&j| i != j).for_each(|j| all.add(i, j));
        }
        all
    }

    /// No arcs.
    pub fn none(cities: usize) -> Self {
        let width = cities.div_ceil(64);
        Self { cities, width, bits: vec![0; cities * width] }
    }

    /// The matrix with these bits, if they describe arcs between different cities.
    pub fn of(cities: usize, bits: Vec<u64>) -> Option<Self> {
        if bits.len() != cities * cities.div_ceil(64) {
            return None;
        }
        let all = Self::all(cities);
        let within = bits.iter().zip(&all.bits).all(|(bits, all)| bits & !all == 0);
        within.then_some(Self { bits, ..all })
    }

    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    pub fn has(&self, i: usize, j: usize) -> bool {
        self.bits[i * self.width + j / 64] >> (j % 64) & 1 == 1
    }

    pub fn add(&mut self, i: usize, j: usize) {
        self.bits[i * self.width + j / 64] |= 1 << (j % 64);
    }

    pub fn remove(&mut self, i: usize, j: usize) {
        self.bits[i * self.width + j / 64] &= !(1 << (j % 64));
    }

    /// Removes all other arcs from city `i` and all other arcs into city `j`.
    pub fn force(&mut self, i: usize, j: usize) {
        let only = self.has(i, j);
        self.bits[i * self.width..][..self.width].fill(0);
        (0..self.cities).for_each(|k| self.remove(k, j));
        if only {
            self.bits[i * self.width + j / 64] |= 1 << (j % 64);
        }
    }

    /// The possible successors of a city.
    pub fn row(&self, i: usize) -> impl Iterator<Item = usize> {
        let words = self.bits[i * self.width..][..self.width].iter().enumerate();
        words.flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(64 * at + bit)
            })
        })
    }

    /// How many arcs leave a city.
    pub fn degree(&self, i: usize) -> u32 {
        self.bits[i * self.width..][..self.width].iter().map(|word| word.count_ones()).sum()
    }

    /// Removes arcs whose reduced cost exceeds `room` (reduced-cost fixing).
    pub fn fix_by_reduced_cost(&mut self, arcs: &Arcs, reduced: &[i64], room: i64) {
        for (at, _) in reduced.iter().enumerate().filter(|&(_, &reduced)| reduced > room) {
            self.remove(arcs.tail[at].into(), arcs.head[at].into());
        }
    }
}

/// The allowed arcs as a list, row by row, with costs in parts: see [`COST_SCALE`].
#[derive(Clone, Debug)]
pub(super) struct Arcs {
    pub cities: usize,
    pub tail: Vec<u16>,
    pub head: Vec<u16>,
    pub cost: Vec<i64>,
    /// Where each row starts, and the end of the last.
    pub rows: Vec<usize>,
}

impl Arcs {
    pub fn new(instance: &Instance, allowed: &Allowed) -> Self {
        let cities = instance.cities();
        let (tail, head, cost) = (Vec::new(), Vec::new(), Vec::new());
        let mut arcs = Self { cities, tail, head, cost, rows: vec![0] };
        for i in 0..cities {
            for j in allowed.row(i) {
                arcs.tail.push(i as u16);
                arcs.head.push(j as u16);
                arcs.cost.push(COST_SCALE * instance.cost(i, j));
            }
            arcs.rows.push(arcs.tail.len());
        }
        arcs
    }

    pub fn len(&self) -> usize {
        self.tail.len()
    }

    /// The range of a city's outgoing arcs.
    pub fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.rows[i]..self.rows[i + 1]
    }
}

/// A bound in whole units, raised to the next length that a tour can have: `length` plus a multiple
/// of `step`.
pub(super) fn at_least(scaled: i64, length: i64, step: i64) -> i64 {
    let units = -(-scaled).div_euclid(COST_SCALE);
    units + (length - units).rem_euclid(step)
}

/// The order of the tour given by these successors, if they form one.
pub(super) fn tour_of(next: &[u16]) -> Option<Vec<u16>> {
    let mut order = vec![0];
    let mut at = next[0];
    while at != 0 && order.len() < next.len() {
        order.push(at);
        at = next[usize::from(at)];
    }
    (at == 0 && order.len() == next.len()).then_some(order)
}
