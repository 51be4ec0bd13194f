//! The fraction of the whole tree below a board of each row, estimated by random dives.

use super::tree::{Board, Queens, SIZES, Shares};
use pleach_core::search::tree::Tree;

/// Fractions before they are known.
pub const NONE: Shares = [0.0; ROWS];

const ROWS: usize = *SIZES.end() as usize + 1;
const DIVES: u32 = 1000;

/// The mean fraction of the tree below an open board of each row, mirror images included.
///
/// Always the same for a given board size, so that all workers of a run agree. These are for
/// searches of half the board; `Queens::share` halves them for searches of all of it.
pub fn shares(queens: &Queens) -> Shares {
    let mut made = [0.0; ROWS];
    let mut open = [0.0; ROWS];
    let mut random = 0;
    for _ in 0..DIVES {
        dive(queens, &mut random, &mut made, &mut open);
    }
    let whole: f64 = made.iter().sum();
    let mut below = whole;
    std::array::from_fn(|row| {
        below -= made[row];
        let images = if row == 0 { 1.0 } else { 2.0 };
        // Rows that no dive reached are too deep to matter.
        if open[row] > 0.0 {
            (images * below / open[row] / whole).clamp(0.0, 1.0) as f32
        } else {
            0.0
        }
    })
}

/// A dive from the root over random squares. As in Knuth (1975), each board on the way stands for
/// the product of the numbers of choices made so far.
fn dive(queens: &Queens, random: &mut u64, made: &mut [f64], open: &mut [f64]) {
    let mut board: Board = queens.root();
    let mut ways = f64::from(DIVES).recip();
    open[0] += ways;
    loop {
        let squares = queens.tried(&board);
        if squares == 0 {
            return;
        }
        ways *= f64::from(squares.count_ones());
        let nth = next(random) % u64::from(squares.count_ones());
        let above = (0..nth).fold(squares, |squares, _| squares & (squares - 1));
        board = queens.place(&board, above & above.wrapping_neg());
        let weight = ways * queens.weight(&board) as f64;
        made[board.row as usize] += weight;
        if board.free == 0 {
            return;
        }
        open[board.row as usize] += weight;
    }
}

/// The next number of a fixed pseudo-random sequence (SplitMix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
