//! n queens on an n × n board, none attacking another: the plain tree.

use crate::simd::Level;
use pleach_core::explorer::{Explorer, TreeExplorer};
use pleach_core::problem::Problem;
use pleach_core::tree::{Children, Goal, Tree};
use pleach_core::work::{Pool, Work};

/// The board sizes that can be counted.
pub const SIZES: std::ops::RangeInclusive<u32> = 1..=32;

/// How many ways there are to place n queens, found row by row with mirror symmetry.
///
/// Left half and right half of the first row mirror each other, so only one is searched and counts
/// twice. On odd boards the middle square of the first row is its own mirror image: below it the
/// second row is halved in the same way.
#[derive(Clone, Copy, Debug)]
pub struct Queens {
    n: u32,
    level: Level,
}

/// A board with its first rows filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Rows filled.
    pub row: u32,
    /// Columns taken.
    pub columns: u32,
    /// Squares of the next row attacked along one diagonal, and along the other.
    pub left: u32,
    /// See `left`.
    pub right: u32,
    /// Free squares of the next row that are still to be tried.
    pub free: u32,
}
pleach_core::pack_struct!(Board { row: u32, columns: u32, left: u32, right: u32, free: u32 });

impl Queens {
    /// Boards of n × n squares.
    ///
    /// # Errors
    /// If n is outside [`SIZES`].
    pub fn new(n: u32, level: Level) -> Result<Self, String> {
        if SIZES.contains(&n) {
            Ok(Self { n, level })
        } else {
            Err(format!(
                "queens {n}: expected a board of {} to {} queens",
                SIZES.start(),
                SIZES.end()
            ))
        }
    }

    /// One bit for each column.
    #[must_use]
    pub fn full(&self) -> u32 {
        u32::MAX >> (32 - self.n)
    }

    /// The board with a queen on the square `bit` of the next row.
    #[must_use]
    pub fn place(&self, board: &Board, bit: u32) -> Board {
        let columns = board.columns | bit;
        let left = (board.left | bit) << 1 & self.full();
        let right = (board.right | bit) >> 1;
        let free = self.full() & !(columns | left | right);
        Board { row: board.row + 1, columns, left, right, free }
    }

    /// Free squares of the next row that are to be tried, given that their mirror images are not.
    fn tried(&self, board: &Board) -> u32 {
        let half = (1 << (self.n / 2)) - 1;
        let middle = 1 << (self.n / 2);
        match board.row {
            0 if self.n % 2 == 1 => half | middle,
            0 => half,
            1 if self.n % 2 == 1 && board.columns == middle => board.free & half,
            _ => board.free,
        }
    }
}

impl Tree for Queens {
    type Node = Board;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Board {
        Board { row: 0, columns: 0, left: 0, right: 0, free: self.full() }
    }

    fn expand(&self, board: &Board, _best: i64, out: &mut Children<'_, Self>) {
        let mut free = self.tried(board);
        while free != 0 {
            let bit = free & free.wrapping_neg();
            free ^= bit;
            let next = self.place(board, bit);
            if next.row == self.n {
                out.leaves(self.images(&next));
                out.count(self.images(&next));
            } else if next.free == 0 {
                out.leaves(self.images(&next));
            } else {
                out.child(next);
            }
        }
    }

    /// Boards that this one stands for; the empty board is no placement and counts for none.
    fn weight(&self, board: &Board) -> u64 {
        self.images(board)
    }
}

impl Queens {
    fn images(&self, board: &Board) -> u64 {
        let symmetric = self.n % 2 == 1 && board.columns == 1 << (self.n / 2);
        match board.row {
            0 => 0,
            1 if symmetric => 1,
            _ => 2,
        }
    }
}

impl Problem for Queens {
    fn goal(&self) -> Goal {
        Self::GOAL
    }

    fn root(&self) -> Work {
        Pool::whole(Tree::root(self)).to_work()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(TreeExplorer::new(self))
    }

    fn check(&self, _solution: &[i64]) -> Option<Result<i64, String>> {
        None
    }
}
