//! The linear assignment problem on small square matrices, by shortest augmenting paths.

/// Room for the solver, kept from one matrix to the next.
#[derive(Default)]
pub(super) struct Assignment {
    /// Prices of rows and columns.
    rows: Vec<i64>,
    columns: Vec<i64>,
    /// The row of each column, and the column of each row.
    row_of: Vec<usize>,
    column_of: Vec<usize>,
    /// Of the path: the distance to each column, the row before it, and whether it is final.
    distance: Vec<i64>,
    before: Vec<usize>,
    done: Vec<bool>,
}

const NONE: usize = usize::MAX;

impl Assignment {
    /// Replaces the costs by reduced ones, none negative, and returns the least cost of an assignment; `None` if it is
    /// more than `most`.
    pub fn reduce(&mut self, cost: &mut [i64], n: usize, most: i64) -> Option<i64> {
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
                    *cost -= row + column;
                }
            }
        }
        (total <= most).then_some(total)
    }

    /// Subtracts the least cost of each row and column, and assigns what costs nothing now.
    fn start(&mut self, cost: &mut [i64], n: usize) -> i64 {
        let mut total = 0;
        for costs in cost.chunks_mut(n) {
            let least = costs.iter().copied().min().unwrap_or(0);
            costs.iter_mut().for_each(|cost| *cost -= least);
            total += least;
        }
        self.columns.clear();
        self.columns.extend_from_slice(&cost[..n]);
        for costs in cost.chunks(n) {
            self.columns.iter_mut().zip(costs).for_each(|(least, &cost)| *least = cost.min(*least));
        }
        total += self.columns.iter().sum::<i64>();
        if self.columns.iter().any(|&least| least > 0) {
            for costs in cost.chunks_mut(n) {
                costs.iter_mut().zip(&self.columns).for_each(|(cost, least)| *cost -= least);
            }
        }
        for prices in [&mut self.rows, &mut self.columns, &mut self.distance] {
            prices.clear();
            prices.resize(n, 0);
        }
        for places in [&mut self.row_of, &mut self.column_of, &mut self.before] {
            places.clear();
            places.resize(n, NONE);
        }
        self.done.resize(n, false);
        for (row, costs) in cost.chunks(n).enumerate() {
            let free = |&column: &usize| costs[column] == 0 && self.row_of[column] == NONE;
            if let Some(column) = (0..n).find(free) {
                (self.row_of[column], self.column_of[row]) = (row, column);
            }
        }
        total
    }

    /// Assigns one more row, and returns what that costs.
    fn augment(&mut self, cost: &[i64], n: usize, start: usize) -> i64 {
        self.done.fill(false);
        self.distance.fill(i64::MAX);
        let (mut row, mut length) = (start, 0);
        let end = loop {
            let base = length - self.rows[row];
            let (mut least, mut nearest) = (i64::MAX, 0);
            for column in 0..n {
                if self.done[column] {
                    continue;
                }
                let through = base + cost[row * n + column] - self.columns[column];
                if through < self.distance[column] {
                    self.distance[column] = through;
                    self.before[column] = row;
                }
                if self.distance[column] < least {
                    (least, nearest) = (self.distance[column], column);
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
