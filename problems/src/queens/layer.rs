//! [`Layer`]: the open boards of one row, in columns, as kernels read and write them.

use super::tree::Board;

/// A row of squares in a kernel: one bit per column, in as few bits as the board allows.
pub trait Word: Copy + Send + 'static {
    /// All columns, including those beyond the edge.
    const FULL: Self;

    /// The low bits.
    fn narrow(squares: u32) -> Self;

    /// Widens to the type of plain code.
    fn wide(self) -> u32;
}

macro_rules! words {
    ($($word:ty)*) => {$(
        impl Word for $word {
            const FULL: Self = <$word>::MAX;
            fn narrow(squares: u32) -> Self {
                squares as Self
            }
            fn wide(self) -> u32 {
                u32::from(self)
            }
        }
    )*};
}
words!(u16 u32);

/// Padding below the lowest board and above the highest one that kernels may access.
pub const PAD: usize = 32;

/// Open boards of one row: a stack of untouched ones, and some in progress in vector lanes.
///
/// Columns beyond the edge count as taken, so that a board's free squares are those in none of its
/// three words. The padding below the stack holds boards without free squares, which lanes receive
/// when they are refilled from an empty stack.
#[derive(Debug)]
pub struct Layer<W> {
    /// Columns, left and right diagonals; the lowest board is at index [`PAD`].
    pub(crate) stack: [Vec<W>; 3],
    /// Boards on the stack.
    pub(crate) len: usize,
    /// Columns, diagonals and untried squares of the boards in lanes.
    pub(crate) lanes: [Vec<W>; 4],
    /// Boards in lanes with untried squares.
    pub(crate) live: usize,
}

impl<W: Word> Layer<W> {
    /// An empty layer for kernels with `lanes` lanes and stacks of up to `room` boards.
    pub fn new(lanes: usize, room: usize) -> Self {
        let zero = W::narrow(0);
        let mut stack = std::array::from_fn(|_| vec![zero; room + 2 * PAD]);
        stack[0][..PAD].fill(W::FULL);
        Self { stack, len: 0, lanes: std::array::from_fn(|_| vec![zero; lanes]), live: 0 }
    }

    /// Open boards.
    pub fn size(&self) -> usize {
        self.len + self.live
    }

    /// How many boards the stack can hold before it must grow.
    pub fn room(&self) -> usize {
        self.stack.iter().map(Vec::len).min().map_or(0, |len| len.saturating_sub(2 * PAD))
    }

    /// Takes a board whose squares are among `full`; refuses one in progress if all lanes are in
    /// use.
    pub fn put(&mut self, board: &Board, full: u32) -> bool {
        let Board { columns, left, right, free, .. } = *board;
        let columns = columns | !full;
        if free == !(columns | left | right) {
            self.push([columns, left, right]);
            return true;
        }
        let Some(lane) = self.lanes[3].iter().position(|free| free.wide() == 0) else {
            return false;
        };
        let words = [columns, left, right, free];
        self.lanes.iter_mut().zip(words).for_each(|(lanes, word)| lanes[lane] = W::narrow(word));
        self.live += 1;
        true
    }

    fn push(&mut self, board: [u32; 3]) {
        if self.len == self.room() {
            let longer = 2 * (self.len + PAD);
            self.stack.iter_mut().for_each(|words| words.resize(longer, W::narrow(0)));
        }
        for (stack, word) in self.stack.iter_mut().zip(board) {
            stack[PAD + self.len] = W::narrow(word);
        }
        self.len += 1;
    }

    /// Moves the lowest `n` boards of the stack to `out`.
    pub fn give(&mut self, n: usize, row: u32, full: u32, out: &mut Vec<Board>) {
        let [columns, left, right] = self.stack.each_ref().map(|words| &words[PAD..PAD + n]);
        for ((columns, left), right) in columns.iter().zip(left).zip(right) {
            let words = [columns, left, right].map(|word| word.wide() & full);
            let free = full & !words.iter().fold(0, |all, word| all | word);
            out.push(rest(row, words, free));
        }
        for words in &mut self.stack {
            words.copy_within(PAD + n..PAD + self.len, PAD);
        }
        self.len -= n;
    }

    /// Moves all boards to `out`.
    pub fn take(&mut self, row: u32, full: u32, out: &mut Vec<Board>) {
        self.give(self.len, row, full, out);
        let [columns, left, right, free] = &mut self.lanes;
        for (i, free) in free.iter_mut().enumerate().filter(|(_, free)| free.wide() != 0) {
            let words = [columns[i], left[i], right[i]].map(|word| word.wide() & full);
            out.push(rest(row, words, free.wide()));
            *free = W::narrow(0);
        }
        self.live = 0;
    }
}

/// A board that has already been counted.
fn rest(row: u32, [columns, left, right]: [u32; 3], free: u32) -> Board {
    Board { row, columns, left, right, free, fresh: false }
}

/// Limits of a visit to a layer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Placements after which to leave.
    pub made: u64,
    /// Boards on the next layer's stack above which to leave.
    pub below: usize,
    /// Whether to continue on an empty stack until the lanes are empty too.
    pub finish: bool,
}

/// What a visit counted, without mirror images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitCounts {
    /// Queens placed.
    pub made: u64,
    /// Boards among them with a free square in their next row.
    pub kept: u64,
}

/// Places queens on many boards of one row at once.
pub trait Kernel: Send {
    /// The type of a row.
    type Word: Word;
    /// Boards in lanes at once.
    const LANES: usize;
    /// Boards by which the next layer may exceed its limit.
    const SLACK: usize = Self::LANES;

    /// Tries squares of the boards in `here`: children with a free square go to the layer `below`,
    /// or are only counted without one.
    fn visit(
        &self,
        here: &mut Layer<Self::Word>,
        below: Option<&mut Layer<Self::Word>>,
        limits: Limits,
    ) -> VisitCounts;
}
