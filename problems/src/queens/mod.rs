//! The n-queens problem: in how many ways n queens fit on an n × n board, none attacking another.

mod device;
mod estimate;
#[cfg(target_arch = "x86_64")]
mod explorer;
pub mod first;
#[cfg(test)]
mod interval_tests;
#[cfg(target_arch = "x86_64")]
pub(crate) mod layer;
mod rows;
#[cfg(test)]
mod tests;

use crate::simd::Level;
#[cfg(target_arch = "x86_64")]
use crate::simd::{queens_avx2, queens_avx512};
use pleach_core::search::device::OnDevice;
use pleach_core::search::explorer::{Explorer, TreeExplorer};
use pleach_core::search::problem::Problem;
use pleach_core::search::ranked::RankedExplorer;
use pleach_core::search::seed::Top;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::{Entry, Intervals, Malformed, Nodes, Pack, Pool, Reader, Work};
use pleach_core::wire::fingerprint;

/// Board sizes that can be counted.
pub const SIZES: std::ops::RangeInclusive<u32> = 1..=32;

/// Counts the ways to place n queens, row by row and using mirror symmetry.
///
/// The left and right halves of the first row mirror each other, so only one is searched and counts
/// twice. On odd boards the middle square of the first row is its own mirror image: there the
/// second row is halved instead.
#[derive(Clone, Copy, Debug)]
pub struct Queens {
    n: u32,
    level: Level,
    /// How work is stored and sent. Intervals are explored in plain code at every level.
    pub nodes: Nodes,
    shares: estimate::Shares,
}

/// A board with its first rows filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Rows filled.
    pub row: u32,
    /// Columns taken.
    pub columns: u32,
    /// Squares of the next row attacked along one diagonal direction, and along the other.
    pub left: u32,
    /// See `left`.
    pub right: u32,
    /// Free squares of the next row not tried yet.
    pub free: u32,
    /// Whether the board itself has yet to be counted as branched.
    pub fresh: bool,
}

impl Pack for Board {
    const LEAST: usize = 5;

    /// A first byte with `fresh` and the number of bytes per word, then those bytes of each word.
    /// The row is the number of columns taken.
    fn pack(&self, out: &mut Vec<u8>) {
        let words = [self.columns, self.left, self.right, self.free];
        let bytes = bytes_for(words);
        out.push(u8::from(self.fresh) << 7 | bytes as u8);
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()[..bytes]));
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let first = u8::unpack(from)?;
        let bytes = usize::from(first & 0x7f);
        if !(1..=4).contains(&bytes) {
            return Err(Malformed::Range);
        }
        let mut words = [0; 4];
        for word in &mut words {
            let mut raw = [0; 4];
            raw[..bytes].copy_from_slice(from.take(bytes)?);
            *word = u32::from_le_bytes(raw);
        }
        if bytes != bytes_for(words) {
            return Err(Malformed::Range);
        }
        let [columns, left, right, free] = words;
        Ok(Self { row: columns.count_ones(), columns, left, right, free, fresh: first >> 7 == 1 })
    }
}

/// The least number of bytes, at least one, that holds each of the words.
fn bytes_for(words: [u32; 4]) -> usize {
    let all = words.iter().fold(1, |all, word| all | word);
    4 - all.leading_zeros() as usize / 8
}

impl Queens {
    /// The problem with an n × n board.
    ///
    /// # Errors
    /// If n is outside [`SIZES`].
    pub fn new(n: u32, level: Level) -> Result<Self, String> {
        if !SIZES.contains(&n) {
            let (least, most) = (SIZES.start(), SIZES.end());
            return Err(format!("queens {n}: expected a board of {least} to {most} queens"));
        }
        let mut queens = Self { n, level, nodes: Nodes::Pool, shares: estimate::NONE };
        queens.shares = estimate::shares(&queens);
        Ok(queens)
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
        Board { row: board.row + 1, columns, left, right, free, fresh: true }
    }

    /// Free squares of the next row to try, leaving out mirror images.
    fn tried(&self, board: &Board) -> u32 {
        let half = (1 << (self.n / 2)) - 1;
        let middle = 1 << (self.n / 2);
        match board.row {
            0 if self.n % 2 == 1 => board.free & (half | middle),
            0 => board.free & half,
            1 if self.n % 2 == 1 && board.columns == middle => board.free & half,
            _ => board.free,
        }
    }
}

impl Tree for Queens {
    type Node = Board;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Board {
        Board { row: 0, columns: 0, left: 0, right: 0, free: self.full(), fresh: true }
    }

    fn expand(&self, board: &Board, _best: Option<i64>, out: &mut Children<'_, Self>) {
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

    fn valid(&self, Entry { depth, bound, node: board, .. }: &Entry<Board>) -> bool {
        let Board { row, columns, left, right, free, .. } = *board;
        let taken = columns | left | right;
        *bound == i64::MIN
            && *depth == row
            && row < self.n
            && columns.count_ones() == row
            && (taken | free) & !self.full() == 0
            && free != 0
            && free & taken == 0
    }

    /// How many boards this one stands for, or 0 if it was counted before.
    fn weight(&self, board: &Board) -> u64 {
        if board.fresh { self.images(board) } else { 0 }
    }
}

impl Queens {
    /// The estimated fraction of the whole tree below a board of this row.
    fn share(&self, row: u32) -> f32 {
        self.shares[row as usize]
    }

    /// How many boards this one stands for; the empty board is no placement and counts for none.
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
        match self.nodes {
            Nodes::Pool => Pool::whole(Tree::root(self)).to_work(),
            Nodes::Interval => Intervals::one(self.n as usize, rows::whole(self.n)).to_work(),
        }
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        if self.nodes == Nodes::Interval {
            return Box::new(RankedExplorer::new(rows::Rows::new(self)));
        }
        self.fast().unwrap_or_else(|| Box::new(TreeExplorer::new(self)))
    }

    fn on_device(&self) -> Result<&dyn OnDevice, &'static str> {
        if self.n > device::MOST {
            return Err("boards of more than 31 queens");
        }
        Ok(self)
    }

    fn top(&self) -> Option<&dyn Top> {
        (self.nodes == Nodes::Pool).then_some(self as &dyn Top)
    }

    fn check(&self, _solution: &[i64]) -> Option<Result<i64, String>> {
        None
    }

    fn fingerprint(&self) -> u64 {
        fingerprint("queens", &(self.n, self.nodes.to_string().into_bytes()))
    }
}

/// Smaller boards cannot fill the lanes.
const WIDE_FROM: u32 = 8;

impl Queens {
    /// The vectorised explorer for the level, if there is one.
    fn fast(&self) -> Option<Box<dyn Explorer + '_>> {
        match self.level {
            _ if self.n < WIDE_FROM => None,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => self.wide(queens_avx2::Words32::new()?),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if self.n <= 16 => self.wide(queens_avx512::Words16::new()?),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => self.wide(queens_avx512::Words32::new()?),
            _ => None,
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn wide(&self, kernel: impl layer::Kernel + 'static) -> Option<Box<dyn Explorer + '_>> {
        Some(Box::new(explorer::Wide::new(self, kernel)))
    }
}
