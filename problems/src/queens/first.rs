//! A first solution on boards far too large to count.

use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::Pack;
use pleach_core::wire::fingerprint;

/// Board sizes for which a solution can be searched for.
pub const SIZES: std::ops::RangeInclusive<u32> = 1..=1000;

/// Finds a way to place n queens on an n × n board so that none attacks another.
///
/// The search fills the row with the fewest free squares, the one nearest to the middle among
/// equals, and first tries the square that leaves most squares free in the other rows. A node has
/// two children: a queen on one free square of that row, or no queen there. Bad luck near the root
/// can make this take forever, so the root first makes attempts that never backtrack and differ in
/// how they break ties; the last child backtracks, which makes the search complete.
pub struct FirstQueens {
    n: u32,
}

/// Attempts without backtracking.
const ATTEMPTS: u16 = 200;

/// Queens placed so far, and squares already rejected in the next row.
#[derive(Clone, Debug, PartialEq, Eq, Pack)]
pub struct Partial {
    /// Number of the attempt; 0 at the root.
    attempt: u16,
    /// Squares rejected in the next row.
    given_up: u16,
    /// Row and column of each queen.
    placed: Vec<(u16, u16)>,
}

impl FirstQueens {
    /// A board of n × n squares.
    ///
    /// # Errors
    /// If n is outside [`SIZES`].
    pub fn new(n: u32) -> Result<Self, String> {
        if SIZES.contains(&n) {
            Ok(Self { n })
        } else {
            let (least, most) = (SIZES.start(), SIZES.end());
            Err(format!("queens {n}: expected a board of {least} to {most} queens"))
        }
    }
}

/// A set of small numbers.
struct Bits(Vec<u64>);

impl Bits {
    fn full(n: usize) -> Self {
        // One word more than needed, so that 64 bits can be read from any member on.
        Self(vec![u64::MAX; n / 64 + 2])
    }

    fn remove(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// The 64 bits from `at` on.
    fn from(&self, at: usize) -> u64 {
        let two = u128::from(self.0[at / 64]) | u128::from(self.0[at / 64 + 1]) << 64;
        (two >> (at % 64)) as u64
    }
}

/// What the placed queens leave free.
struct Open {
    n: usize,
    rows: Bits,
    columns: Bits,
    /// Diagonals by row + column, and by column − row + n.
    up: Bits,
    down: Bits,
}

impl Open {
    fn new(n: usize, placed: &[(u16, u16)]) -> Self {
        let lines = || Bits::full(2 * n + 64);
        let mut open =
            Self { n, rows: Bits::full(n), columns: Bits::full(n), up: lines(), down: lines() };
        for &(row, column) in placed {
            let (row, column) = (usize::from(row), usize::from(column));
            open.rows.remove(row);
            open.columns.remove(column);
            open.up.remove(row + column);
            open.down.remove(column + n - row);
        }
        open
    }

    fn open_rows(&self) -> impl Iterator<Item = usize> {
        (0..self.n).filter(|&row| self.rows.has(row))
    }

    fn free(&self, row: usize, column: usize) -> bool {
        let diagonals = self.up.has(row + column) && self.down.has(column + self.n - row);
        diagonals && self.columns.has(column)
    }

    /// How many squares of a row are free.
    fn choices(&self, row: usize) -> u32 {
        let word = |from: usize| {
            let inside = u64::MAX >> 64usize.saturating_sub(self.n - from).min(63);
            let lines = self.up.from(row + from) & self.down.from(from + self.n - row);
            (self.columns.from(from) & lines & inside).count_ones()
        };
        (0..self.n).step_by(64).map(word).sum()
    }

    /// The row to fill next.
    fn next_row(&self) -> Option<usize> {
        self.open_rows().min_by_key(|&row| (self.choices(row), (2 * row).abs_diff(self.n)))
    }

    /// The free squares of a row, ordered by how few squares of other rows they attack.
    fn squares(&self, row: usize, attempt: u16) -> Vec<usize> {
        let mix = |column: usize| {
            let place = (usize::from(attempt) << 32 | row << 16 | column) as u64;
            place.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(place | 1) >> 20
        };
        let mut free: Vec<(usize, u64, usize)> = (0..self.n)
            .filter(|&column| self.free(row, column))
            .map(|column| (self.attacked(row, column), mix(column), column))
            .collect();
        free.sort_unstable();
        free.into_iter().map(|(_, _, column)| column).collect()
    }

    /// How many free squares of other rows a queen here would attack.
    fn attacked(&self, row: usize, column: usize) -> usize {
        let hits = self.open_rows().filter(|&other| other != row).map(|other| {
            let reach = other.abs_diff(row);
            let squares = [Some(column), column.checked_sub(reach), column.checked_add(reach)];
            let inside = squares.into_iter().flatten().filter(|&square| square < self.n);
            inside.filter(|&square| self.free(other, square)).count()
        });
        hits.sum()
    }
}

impl Tree for FirstQueens {
    type Node = Partial;
    const GOAL: Goal = Goal::Find;

    fn root(&self) -> Partial {
        Partial { attempt: 0, given_up: 0, placed: Vec::new() }
    }

    fn expand(&self, node: &Partial, _best: Option<i64>, out: &mut Children<'_, Self>) {
        if node.attempt == 0 {
            for attempt in 1..=ATTEMPTS + 1 {
                out.child(Partial { attempt, ..node.clone() });
            }
            return;
        }
        let open = Open::new(self.n as usize, &node.placed);
        let Some(row) = open.next_row() else {
            let mut plan = vec![0; self.n as usize];
            for &(row, column) in &node.placed {
                plan[usize::from(row)] = i64::from(column) + 1;
            }
            return out.solution(0, || plan);
        };
        let squares = open.squares(row, node.attempt);
        let Some(&column) = squares.get(usize::from(node.given_up)) else { return };
        let mut placed = node.placed.clone();
        placed.push((row as u16, column as u16));
        out.child(Partial { placed, given_up: 0, ..*node });
        if usize::from(node.given_up) + 1 < squares.len() && node.attempt > ATTEMPTS {
            out.child(Partial { given_up: node.given_up + 1, ..node.clone() });
        }
    }

    fn valid(&self, entry: &pleach_core::search::work::Entry<Partial>) -> bool {
        let inside = |&(row, column): &(u16, u16)| u32::from(row.max(column)) < self.n;
        entry.node.placed.iter().all(inside)
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(fingerprint("first queens", &self.n))
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let n = i64::from(self.n);
        if solution.len() as i64 != n || solution.iter().any(|column| !(1..=n).contains(column)) {
            return Some(Err(format!("expected {n} columns from 1 to {n}")));
        }
        for (i, a) in solution.iter().enumerate() {
            for (j, b) in solution.iter().enumerate().skip(i + 1) {
                if a == b || (a - b).unsigned_abs() as usize == j - i {
                    return Some(Err(format!("queens in rows {} and {} attack", i + 1, j + 1)));
                }
            }
        }
        Some(Ok(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_core::search::depth_first::TreeExplorer;
    use pleach_core::search::explorer::Explorer;
    use pleach_core::search::laws::run_to_end;
    use pleach_core::search::work::Pool;

    #[test]
    fn boards_have_a_solution_or_are_proven_to_have_none() {
        for n in (1..=60).chain([100, 151, 200]) {
            let tree = FirstQueens::new(n).unwrap();
            let mut explorer = TreeExplorer::new(&tree);
            explorer.put_pool(Pool::whole(tree.root()));
            let mut found = None;
            while explorer.size() > 0.0 && found.is_none() {
                found = explorer.run(10_000, i64::MAX).found;
            }
            match found {
                Some(solution) => assert_eq!(tree.check(&solution.solution), Some(Ok(0)), "{n}"),
                None => assert!(n == 2 || n == 3, "{n} queens"),
            }
        }
        assert!(FirstQueens::new(0).is_err() && FirstQueens::new(1001).is_err());
    }

    #[test]
    fn wrong_solutions_are_told() {
        let tree = FirstQueens::new(4).unwrap();
        assert_eq!(tree.check(&[2, 4, 1, 3]), Some(Ok(0)));
        for wrong in [&[1, 2, 3, 4][..], &[2, 4, 1], &[2, 4, 1, 5], &[2, 2, 1, 3]] {
            assert!(tree.check(wrong).unwrap().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_search_that_goes_back_is_complete() {
        // Every solution is found once, and each ends a call of `run`.
        let tree = FirstQueens::new(6).unwrap();
        let mut explorer = TreeExplorer::new(&tree);
        let root = Partial { attempt: ATTEMPTS + 1, given_up: 0, placed: Vec::new() };
        explorer.put_pool(Pool::whole(root));
        let mut solutions = 0;
        while explorer.size() > 0.0 {
            solutions += u32::from(explorer.run(1000, i64::MAX).found.is_some());
        }
        assert_eq!(solutions, 4);
        assert!(run_to_end(&mut explorer, 0).found.is_none());
    }
}
