//! [`Rows`]: depth-first search, one square at a time, with a position among all permutations.
//!
//! The columns not taken are ranked from the lowest up, attacked ones included. The mirror image of
//! the i-th permutation is the i-th from the end, so only half of them need to be searched.

use super::tree::{Board, Queens, SIZES};
use pleach_core::search::explorer::Progress;
use pleach_core::search::ranked::Ranked;
use pleach_core::search::work::Interval;
use std::ops::Range;

/// All leaves to search: half of them, which make up the whole tree together with their mirror
/// images, or all.
pub fn whole(queens: &Queens) -> Interval {
    let (all, half) = (Interval::whole(queens.n as usize), (queens.n / 2) as u16);
    if queens.whole || queens.n == 1 {
        return all;
    }
    let end = if queens.n % 2 == 1 { vec![half, half] } else { vec![half] };
    Interval { end, ..all }
}

/// A board, the untried squares of its next row, and the one tried last.
#[derive(Clone, Copy, Default)]
struct Row {
    columns: u32,
    left: u32,
    right: u32,
    open: u32,
    bit: u32,
}

/// A path of boards, each with one queen more.
pub struct Rows<'q> {
    queens: &'q Queens,
    rows: [Row; *SIZES.end() as usize],
    used: usize,
    /// Untried squares in all rows.
    open: u32,
}

impl<'q> Rows<'q> {
    /// A search with no work yet.
    pub fn new(queens: &'q Queens) -> Self {
        Self { queens, rows: [Row::default(); _], used: 0, open: 0 }
    }

    /// Counts a board and pushes it onto the path, unless its children are complete solutions.
    #[inline(always)]
    fn branch(&mut self, board: &Board, progress: &mut Progress) {
        let counts = &mut progress.counts;
        counts.branched += self.queens.images(board);
        let tried = self.queens.tried(board);
        let number = tried.count_ones();
        let mut made = self.queens.usual_images() * u64::from(number);
        if board.row == 0 {
            made -= u64::from((tried & self.queens.middle()).count_ones());
        }
        counts.bounded += made;
        progress.used = counts.bounded;
        counts.depth = counts.depth.max(board.row + u32::from(number > 0));
        if board.row + 1 == self.queens.n {
            counts.total += u128::from(made);
            return;
        }
        let Board { columns, left, right, .. } = *board;
        self.rows[self.used] = Row { columns, left, right, open: tried, bit: 0 };
        self.used += 1;
        self.open += number;
    }

    /// The board with a queen on this square of the last row; `None` if it has no free square left.
    #[inline(always)]
    fn place(&mut self, bit: u32) -> Option<Board> {
        let (row, last) = (self.used as u32 - 1, &mut self.rows[self.used - 1]);
        last.bit = bit;
        let Row { columns, left, right, .. } = *last;
        let board = Board { row, columns, left, right, free: 0, fresh: true };
        Some(self.queens.place(&board, bit)).filter(|board| board.free != 0)
    }

    /// The column with this rank; `None` beyond the last.
    fn column(&self, depth: usize, rank: usize) -> Option<u32> {
        let mut left = self.queens.full() & !self.rows[depth].columns;
        for _ in 0..rank.min(32) {
            left &= left.wrapping_sub(1);
        }
        (left != 0).then(|| left & left.wrapping_neg())
    }

    fn rank_of(&self, depth: usize, bit: u32) -> usize {
        let left = self.queens.full() & !self.rows[depth].columns;
        (left & (bit - 1)).count_ones() as usize
    }
}

impl Ranked for Rows<'_> {
    fn places(&self) -> usize {
        self.queens.n as usize
    }

    fn whole(&self) -> Interval {
        whole(self.queens)
    }

    fn valid_bound(&self, bound: i64) -> bool {
        bound == i64::MIN
    }

    fn branch_root(&mut self, _best: i64, progress: &mut Progress) {
        self.clear();
        self.branch(&pleach_core::search::tree::Tree::root(self.queens), progress);
    }

    fn enter_child(&mut self, depth: usize, rank: usize, _best: i64, progress: &mut Progress) {
        self.used = depth + 1;
        if let Some(board) = self.column(depth, rank).and_then(|bit| self.place(bit)) {
            self.branch(&board, progress);
        }
    }

    fn keep_children(&mut self, depth: usize, ranks: Range<usize>) {
        let from = |rank| self.column(depth, rank).map_or(0, u32::wrapping_neg);
        let kept = from(ranks.start) & !from(ranks.end);
        let row = &mut self.rows[depth];
        self.open -= (row.open & !kept).count_ones();
        row.open &= kept;
    }

    fn fresh(&self) -> bool {
        let last = self.rows[..self.used].last();
        last.is_some_and(|row| row.open != 0 && row.bit == 0)
    }

    fn clear(&mut self) {
        (self.used, self.open) = (0, 0);
    }

    fn depth(&self) -> usize {
        self.used
    }

    fn any_open(&self) -> bool {
        self.open > 0
    }

    fn open_children(&self, depth: usize) -> usize {
        self.rows[depth].open.count_ones() as usize
    }

    fn open_ranks(&self, depth: usize) -> Option<(usize, usize)> {
        let open = self.rows[depth].open;
        let greatest = 1 << open.checked_ilog2()?;
        Some((self.rank_of(depth, open & open.wrapping_neg()), self.rank_of(depth, greatest)))
    }

    fn least_open(&self, depth: usize) -> Option<i64> {
        (self.rows[depth].open != 0).then_some(i64::MIN)
    }

    fn child_bound(&self, depth: usize, rank: usize) -> Option<i64> {
        let bit = self.column(depth, rank)?;
        (self.rows[depth].open & bit != 0).then_some(i64::MIN)
    }

    fn rank(&self, depth: usize) -> usize {
        self.rank_of(depth, self.rows[depth].bit)
    }

    fn tree_part(&self, depth: usize) -> f64 {
        self.queens.share(depth as u32 + 1).into()
    }

    fn explore(&mut self, fuel: u64, _best: i64, progress: &mut Progress) {
        while self.open > 0 && (progress.used < fuel || self.fresh()) {
            let last = &mut self.rows[self.used - 1];
            if last.open == 0 {
                self.used -= 1;
                continue;
            }
            let bit = last.open & last.open.wrapping_neg();
            last.open ^= bit;
            self.open -= 1;
            if let Some(board) = self.place(bit) {
                self.branch(&board, progress);
            }
        }
    }
}
