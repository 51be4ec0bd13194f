//! [`Instance`]: the cost matrix, and the length of a tour.

use crate::permutation::permutation;
use pleach_core::search::tree::Solution;
use std::fmt;

/// The maximum number of cities: a search keeps a matrix of them.
pub const MOST_CITIES: usize = 1000;
/// The largest cost in absolute value: a tour's length, scaled for exact bounds, stays within 63 bits.
pub const MOST_COST: i64 = 1_000_000_000;

/// The cities and the cost matrix.
#[derive(Clone, PartialEq, Eq)]
pub struct Instance {
    cities: usize,
    /// Row by row; the diagonal is 0 and meaningless.
    costs: Vec<i64>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.cities)?;
        f.debug_list().entries(self.costs.chunks(self.cities)).finish()
    }
}

impl Instance {
    /// An instance with these costs, row by row; the diagonal is ignored.
    ///
    /// # Errors
    /// If there are no cities or too many, or if a cost is too large.
    pub fn new(cities: usize, mut costs: Vec<i64>) -> Result<Self, String> {
        if !(1..=MOST_CITIES).contains(&cities) || costs.len() != cities * cities {
            return Err(format!("{cities} cities, expected from 1 to {MOST_CITIES}"));
        }
        costs.iter_mut().step_by(cities + 1).for_each(|diagonal| *diagonal = 0);
        match costs.iter().find(|cost| cost.unsigned_abs() > MOST_COST as u64) {
            Some(cost) => Err(format!("cost {cost}, expected from -{MOST_COST} to {MOST_COST}")),
            None => Ok(Self { cities, costs }),
        }
    }

    /// Number of cities.
    #[must_use]
    pub fn cities(&self) -> usize {
        self.cities
    }

    /// The cost of going from one city to another.
    #[inline]
    #[must_use]
    pub fn cost(&self, from: usize, to: usize) -> i64 {
        self.costs[from * self.cities + to]
    }

    /// The costs from one city.
    #[must_use]
    pub fn row(&self, from: usize) -> &[i64] {
        &self.costs[from * self.cities..][..self.cities]
    }

    /// All costs, row by row.
    #[must_use]
    pub fn costs(&self) -> &[i64] {
        &self.costs
    }

    /// The length of the tour that visits the cities in this order and returns to the first.
    #[must_use]
    pub fn length(&self, order: &[u16]) -> i64 {
        let next = order.iter().cycle().skip(1);
        order.iter().zip(next).map(|(&from, &to)| self.cost(from.into(), to.into())).sum()
    }

    /// The order given by a solution, with cities counted from 1.
    ///
    /// # Errors
    /// If a city is missing, unknown or repeated.
    pub fn order(&self, solution: &[i64]) -> Result<Vec<u16>, String> {
        permutation(solution, self.cities, "city")
    }
}

/// A tour as a solution: cities counted from 1, starting with city 1.
#[must_use]
pub fn solution_of(order: &[u16]) -> Vec<i64> {
    let first = order.iter().position(|&city| city == 0).unwrap_or(0);
    let order = order[first..].iter().chain(&order[..first]);
    order.map(|&city| i64::from(city) + 1).collect()
}

/// A tour as a solution: its length, and the cities counted from 1.
#[must_use]
pub fn solution(instance: &Instance, order: &[u16]) -> Solution {
    Solution { score: instance.length(order), solution: solution_of(order) }
}
