//! Greedy colouring, which bounds the cliques of a set of vertices: a clique has at most one vertex of each colour.
//!
//! Each vertex gets the first colour that no neighbour before it has. Colours are filled one after the other, with one
//! intersection of bits for each vertex (San Segundo et al. 2011).

use super::bits::{Bits, is_empty, vertices, without};

/// The vertices with a colour from `spare` on, and their colours, counted from 0, by colour and then in order; none if
/// `spare` colours suffice.
pub(super) fn excess<const W: usize>(
    rows: &[Bits<W>],
    set: &Bits<W>,
    spare: usize,
) -> Vec<(usize, usize)> {
    let (mut open, mut excess) = (*set, Vec::new());
    for colour in 0.. {
        if is_empty(&open) {
            break;
        }
        let class = one_colour(rows, open);
        open = without(&open, &class);
        if colour >= spare {
            excess.extend(vertices(&class).map(|vertex| (colour, vertex)));
        }
    }
    excess
}

/// The vertices with no neighbour before them in the result.
#[inline]
fn one_colour<const W: usize>(rows: &[Bits<W>], mut open: Bits<W>) -> Bits<W> {
    let mut class = [0; W];
    for at in 0..W {
        let mut word = open[at];
        while word != 0 {
            let bit = word.trailing_zeros() as usize;
            let row = &rows[64 * at + bit];
            class[at] |= 1 << bit;
            word &= (word - 1) & !row[at];
            for later in at + 1..W {
                open[later] &= !row[later];
            }
        }
    }
    class
}
