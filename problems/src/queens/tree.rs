//! [`Queens`]: the tree of boards filled row by row.

use crate::simd::Level;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::{Entry, Malformed, Nodes, Pack, Reader};

/// Board sizes that can be counted.
pub const SIZES: std::ops::RangeInclusive<u32> = 1..=32;

/// The estimated fraction of the whole tree below a board, by its row.
pub type Shares = [f32; *SIZES.end() as usize + 1];

/// Counts the ways to place n queens, row by row and using mirror symmetry.
///
/// The left and right halves of the first row mirror each other, so only one is searched and counts
/// twice. On odd boards the middle square of the first row is its own mirror image: there the
/// second row is halved instead. All counts are those of the whole board, nodes included.
#[derive(Clone, Copy, Debug)]
pub struct Queens {
    pub(super) n: u32,
    pub(super) level: Level,
    /// How work is stored and sent. Intervals are explored in plain code at every level.
    pub nodes: Nodes,
    /// Whether to search the whole board, where each board counts once. All counts stay the same.
    pub whole: bool,
    pub(super) shares: Shares,
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

    /// The squares of a row that mirror the others; all squares if the whole board is searched.
    fn half(&self) -> u32 {
        if self.whole { self.full() } else { (1 << (self.n / 2)) - 1 }
    }

    /// The square of a row that is its own mirror image: the middle one of an odd board. No square
    /// if the whole board is searched.
    pub(super) fn middle(&self) -> u32 {
        if self.whole { 0 } else { (self.n % 2) << (self.n / 2) }
    }

    /// Free squares of the next row to try, leaving out mirror images.
    pub(super) fn tried(&self, board: &Board) -> u32 {
        match board.row {
            0 => board.free & (self.half() | self.middle()),
            1 if board.columns == self.middle() => board.free & self.half(),
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
    pub(super) fn share(&self, row: u32) -> f32 {
        // The estimates hold for boards that stand for their mirror images, too.
        let part = if self.whole && row > 0 { 0.5 } else { 1.0 };
        part * self.shares[row as usize]
    }

    /// How many boards this one stands for; the empty board is no placement and counts for none.
    pub(super) fn images(&self, board: &Board) -> u64 {
        match board.row {
            0 => 0,
            1 if board.columns == self.middle() => 1,
            _ => self.usual_images(),
        }
    }

    /// How many boards each one with at least two queens stands for.
    pub(super) fn usual_images(&self) -> u64 {
        if self.whole { 1 } else { 2 }
    }
}
