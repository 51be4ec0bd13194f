//! The linear assignment problem on small square matrices, by shortest augmenting paths.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// The numbers of a matrix.
pub(super) trait Number:
    Copy + Ord + Default + Into<i64> + TryFrom<i64> + Sum + AddAssign + SubAssign
where
    Self: Add<Output = Self> + Sub<Output = Self>,
{
    /// The greatest.
    const MAX: Self;
}

impl Number for i32 {
    const MAX: Self = Self::MAX;
}

impl Number for i64 {
    const MAX: Self = Self::MAX;
}

/// Room for the solver, kept from one matrix to the next.
#[derive(Default)]
pub(super) struct Assignment<N> {
    /// Prices of rows and columns.
    rows: Vec<N>,
    columns: Vec<N>,
    /// The row of each column, and the column of each row.
    row_of: Vec<usize>,
    column_of: Vec<usize>,
    /// Of the path: the distance to each column, the row before it, and whether it is final.
    distance: Vec<N>,
    before: Vec<usize>,
    done: Vec<bool>,
}

const NONE: usize = usize::MAX;

impl<N: Number> Assignment<N> {
    /// Replaces the costs by reduced ones, none negative, and returns the least cost of an assignment; `None` if it is
    /// more than `most`.
    pub fn reduce(&mut self, cost: &mut [N], n: usize, most: N) -> Option<N> {
        let mut total = self.start(cost, n);
        let mut augmented = false;
        for row in 0..n {
            if total > most {
                return None;
            }
            if self.column_of[row] == NONE {
                total += self.augment(cost, n, row);
                augmented = true;
            }
        }
        if augmented {
            for (costs, row) in cost.chunks_mut(n).zip(&self.rows) {
                for (cost, column) in costs.iter_mut().zip(&self.columns) {
                    *cost -= *row + *column;
                }
            }
        }
        (total <= most).then_some(total)
    }

    /// Subtracts the least cost of each row and column, and assigns what costs nothing now.
    fn start(&mut self, cost: &mut [N], n: usize) -> N {
        let zero = N::default();
        let mut total = zero;
        for costs in cost.chunks_mut(n) {
            let least = costs.iter().copied().min().unwrap_or(zero);
            costs.iter_mut().for_each(|cost| *cost -= least);
            total += least;
        }
        self.columns.clear();
        self.columns.extend_from_slice(&cost[..n]);
        for costs in cost.chunks(n) {
            self.columns.iter_mut().zip(costs).for_each(|(least, &cost)| *least = cost.min(*least));
        }
        total += self.columns.iter().copied().sum();
        if self.columns.iter().any(|&least| least > zero) {
            for costs in cost.chunks_mut(n) {
                costs.iter_mut().zip(&self.columns).for_each(|(cost, least)| *cost -= *least);
            }
        }
        for prices in [&mut self.rows, &mut self.columns, &mut self.distance] {
            prices.clear();
            prices.resize(n, zero);
        }
        for places in [&mut self.row_of, &mut self.column_of, &mut self.before] {
            places.clear();
            places.resize(n, NONE);
        }
        self.done.resize(n, false);
        for (row, costs) in cost.chunks(n).enumerate() {
            let free = |&column: &usize| costs[column] == zero && self.row_of[column] == NONE;
            if let Some(column) = (0..n).find(free) {
                (self.row_of[column], self.column_of[row]) = (row, column);
            }
        }
        total
    }

    /// Assigns one more row, and returns what that costs.
    fn augment(&mut self, cost: &[N], n: usize, start: usize) -> N {
        self.done.fill(false);
        self.distance.fill(N::MAX);
        let (mut row, mut length) = (start, N::default());
        let end = loop {
            let base = length - self.rows[row];
            // Final columns do not change: no path to them is shorter.
            let costs = cost[row * n..][..n].iter().zip(&self.columns);
            let columns = self.distance.iter_mut().zip(&mut self.before);
            for ((&cost, &price), (distance, before)) in costs.zip(columns) {
                let through = base + cost - price;
                *before = if through < *distance { row } else { *before };
                *distance = through.min(*distance);
            }
            let (mut least, mut nearest) = (N::MAX, 0);
            for (column, (&distance, &done)) in self.distance.iter().zip(&self.done).enumerate() {
                if !done && distance < least {
                    (least, nearest) = (distance, column);
                }
            }
            length = least;
            self.done[nearest] = true;
            match self.row_of[nearest] {
                NONE => break nearest,
                next => row = next,
            }
        };
        self.rows[start] += length;
        for column in (0..n).filter(|&column| self.done[column] && column != end) {
            let shorter = length - self.distance[column];
            self.columns[column] -= shorter;
            self.rows[self.row_of[column]] += shorter;
        }
        let mut column = end;
        loop {
            let row = self.before[column];
            self.row_of[column] = row;
            std::mem::swap(&mut column, &mut self.column_of[row]);
            if row == start {
                return length;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oorandom::Rand64;

    /// The least cost, row by row.
    fn least(cost: &[i64], n: usize, used: u32) -> i64 {
        let row = used.count_ones() as usize;
        if row == n {
            return 0;
        }
        let free = (0..n).filter(|column| used >> column & 1 == 0);
        free.map(|column| cost[row * n + column] + least(cost, n, used | 1 << column))
            .min()
            .unwrap()
    }

    #[test]
    fn assignments_are_least_and_reduced_costs_valid() {
        let mut rng = Rand64::new(1);
        let mut solver = Assignment::default();
        for round in 0..2000 {
            let n = 1 + round % 7;
            let cost: Vec<i64> = (0..n * n).map(|_| rng.rand_range(0..30) as i64 - 10).collect();
            let mut reduced = cost.clone();
            let total = least(&cost, n, 0);
            assert_eq!(solver.reduce(&mut reduced, n, total), Some(total));
            assert!(reduced.iter().all(|&cost| cost >= 0));
            assert_eq!(least(&reduced, n, 0), 0);
            assert_eq!(solver.reduce(&mut cost.clone(), n, total - 1), None);
        }
    }
}
