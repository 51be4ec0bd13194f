//! [`Rows`]: the other cities by distance from each city, in lanes; [`Kernel`], which scans a row.

use super::super::instance::{Instance, MOST_COST};
use crate::simd::instructions::Instructions;

/// The maximum number of cities: one bit each in a word.
pub const MOST_CITIES: usize = 64;

/// A city's neighbours, nearest first; unused lanes cost more than any limit.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Row {
    pub costs: [i32; MOST_CITIES],
    /// The cities as bits, in the low and the high half of a word.
    pub low: [u32; MOST_CITIES],
    pub high: [u32; MOST_CITIES],
    pub cities: [u8; MOST_CITIES],
}

/// All rows. Costs are raised so that none is negative, which adds the same to every tour.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub rows: Vec<Row>,
    /// Raised costs from city to city.
    costs: Vec<i64>,
    /// What raising adds to every tour.
    raised: i64,
}

impl Rows {
    pub fn new(instance: &Instance) -> Self {
        let n = instance.cities();
        let lowest = instance.costs().iter().copied().min().unwrap_or(0).min(0);
        let mut costs: Vec<i64> = instance.costs().iter().map(|cost| cost - lowest).collect();
        costs.iter_mut().step_by(n + 1).for_each(|diagonal| *diagonal = 0);
        // A tour of one city has no arcs.
        let raised = if n > 1 { -lowest * n as i64 } else { 0 };
        let row = |i: usize| {
            let mut others: Vec<usize> = (1..n).filter(|&j| j != i).collect();
            others.sort_by_key(|&j| costs[i * n + j]);
            let [low, high] = [[0; MOST_CITIES]; 2];
            let (costs_of, cities) = ([i32::MAX; MOST_CITIES], [0; MOST_CITIES]);
            let mut row = Row { costs: costs_of, low, high, cities };
            for (lane, &j) in others.iter().enumerate() {
                // Twice the largest cost is below the greatest word.
                row.costs[lane] = costs[i * n + j] as i32;
                row.low[lane] = (1u64 << j) as u32;
                row.high[lane] = ((1u64 << j) >> 32) as u32;
                row.cities[lane] = j as u8;
            }
            row
        };
        let rows = (0..n).map(row).collect();
        Self { rows, costs, raised }
    }

    /// All cities but the first, as bits.
    pub fn all(&self) -> u64 {
        (u64::MAX >> (MOST_CITIES - self.rows.len())) & !1
    }

    /// A raised cost.
    #[inline]
    pub fn cost(&self, i: usize, j: usize) -> i64 {
        self.costs[i * self.rows.len() + j]
    }

    /// Converts a raised length to the user's.
    #[inline]
    pub fn outside(&self, length: i64) -> i64 {
        length - self.raised
    }

    /// Converts the user's value to a raised one.
    #[inline]
    pub fn inside(&self, value: i64) -> i64 {
        value.saturating_add(self.raised)
    }

    /// Whether a path can have this bound.
    pub fn valid_bound(&self, bound: i64) -> bool {
        let longest = 2 * MOST_COST * MOST_CITIES as i64;
        bound == i64::MIN || (self.outside(0)..=longest).contains(&bound)
    }

    /// The other cities, nearest first, with raised costs.
    pub fn nearest(&self, city: usize) -> impl Iterator<Item = (u8, i64)> {
        let n = self.rows.len();
        let others = n.saturating_sub(if city == 0 { 1 } else { 2 });
        let row = &self.rows[city];
        row.cities.iter().zip(&row.costs).take(others).map(|(&city, &cost)| (city, cost.into()))
    }
}

/// Scans a row.
pub(crate) trait Kernel: Instructions {
    /// The lanes whose cities are left and cost less than the limit, in a row of `cities` cities.
    fn open(&self, row: &Row, cities: usize, left: u64, limit: i32) -> u64;
}

/// Portable code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Instructions for Plain {}

impl Kernel for Plain {
    #[inline]
    fn open(&self, row: &Row, _cities: usize, left: u64, limit: i32) -> u64 {
        let near = row.costs.iter().take_while(|&&cost| cost < limit);
        let lanes = near.zip(&row.cities).enumerate();
        lanes.fold(0, |open, (lane, (_, city))| open | (left >> city & 1) << lane)
    }
}
