//! Ways to fill a rectangle of 60 squares with the 12 pentominoes: `… --example pentominoes -- 3x20`.
//!
//! The first free square, in the order of columns, is always filled next, by each shape that is left and fits with its own
//! first square there. The board is one state that shapes are put on and taken off. Turned and mirrored fillings count, so
//! the published counts are multiplied by four. A counter for each shape says how often it was put down.
use pleach::{Backtrack, Backtracking, Goal, Moves};

/// The shapes as they are usually lettered: F I L N P T U V W X Y Z.
const SHAPES: [[(i8, i8); 5]; 12] = [
    [(0, 1), (0, 2), (1, 0), (1, 1), (2, 1)],
    [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)],
    [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)],
    [(0, 0), (0, 1), (1, 1), (1, 2), (1, 3)],
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)],
    [(0, 0), (0, 1), (0, 2), (1, 1), (2, 1)],
    [(0, 0), (0, 2), (1, 0), (1, 1), (1, 2)],
    [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)],
    [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)],
    [(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)],
    [(0, 0), (0, 1), (0, 2), (0, 3), (1, 1)],
    [(0, 0), (0, 1), (1, 1), (2, 1), (2, 2)],
];

struct Pentominoes {
    /// For each square, where each shape can lie if this is its first square: the shape, and the squares as bits.
    places: Vec<Vec<(u8, u64)>>,
}

impl Pentominoes {
    fn new(height: i8, width: i8) -> Self {
        let mut places = vec![Vec::new(); 60];
        for (shape, squares) in (0..).zip(SHAPES) {
            let mut turned = squares;
            for turn in 0..8 {
                turned = turned.map(|(x, y)| (y, -x));
                if turn == 4 {
                    turned = turned.map(|(x, y)| (x, -y));
                }
                for (x, y) in (0..width).flat_map(|x| (0..height).map(move |y| (x, y))) {
                    let moved = turned.map(|(dx, dy)| (x + dx, y + dy));
                    if moved
                        .iter()
                        .all(|&(x, y)| (0..width).contains(&x) && (0..height).contains(&y))
                    {
                        let bits = moved.iter().fold(0u64, |bits, &(x, y)| {
                            bits | 1 << (i32::from(x) * i32::from(height) + i32::from(y))
                        });
                        places[bits.trailing_zeros() as usize].push((shape, bits));
                    }
                }
            }
        }
        places.iter_mut().for_each(|here| {
            here.sort_unstable();
            here.dedup();
        });
        Self { places }
    }
}

impl Backtrack for Pentominoes {
    type State = (u64, u16); // the squares that are filled, and the shapes that are used
    type Move = (u8, u64);
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::State {
        (0, 0)
    }

    fn apply(&self, (board, used): &mut Self::State, &(shape, bits): &Self::Move) {
        *board |= bits;
        *used |= 1 << shape;
    }

    fn undo(&self, (board, used): &mut Self::State, &(shape, bits): &Self::Move) {
        *board &= !bits;
        *used &= !(1 << shape);
    }

    fn expand(&self, &mut (board, used): &mut Self::State, _: Option<i64>, out: &mut Moves<Self>) {
        let free = board.trailing_ones() as usize;
        let Some(places) = self.places.get(free) else { return out.count(1) };
        for &(shape, bits) in places {
            if used >> shape & 1 == 0 && board & bits == 0 {
                out.tally(shape.into(), 1);
                out.child((shape, bits));
            }
        }
    }

    fn valid(&self, (board, used): &Self::State, step: &Self::Move) -> bool {
        let places = self.places.get(board.trailing_ones() as usize);
        places.is_some_and(|places| places.contains(step))
            && used >> step.0 & 1 == 0
            && board & step.1 == 0
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(pleach::fingerprint("pentominoes", &self.places))
    }
}

fn main() -> std::process::ExitCode {
    let words = pleach::words();
    let size = if let [word] = &words[..] { word.split_once('x') } else { None };
    let size = size.and_then(|(height, width)| Some((height.parse().ok()?, width.parse().ok()?)));
    let size = size.filter(|&(height, width): &(i8, i8)| {
        i32::from(height) * i32::from(width) == 60 && height > 0
    });
    // Short columns leave fewer holes.
    let tree =
        size.map(|(one, other)| Backtracking(Pentominoes::new(one.min(other), one.max(other))));
    pleach::main(tree.ok_or("expected a rectangle of 60 squares, such as 3x20"))
}
