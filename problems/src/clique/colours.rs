//! Greedy colouring, which bounds the cliques of a set of vertices: a clique has at most one vertex of each colour.
//!
//! Each vertex gets the first colour that no neighbour before it has. Colours are filled one after the other, with one
//! intersection of bits for each vertex (San Segundo et al. 2011).

use super::bits::{Bits, both, insert, is_empty, without};

/// Calls `child` for each vertex with a colour from `spare` on, by colour and then in order: with its colour, counted from
/// 0, and those of its neighbours in the set that come before it in that sequence: none only if the colour is 0. Returns
/// how many there are: none if `spare` colours suffice.
#[inline(always)]
pub(super) fn branch<const W: usize>(
    rows: &[Bits<W>],
    set: &Bits<W>,
    spare: usize,
    mut child: impl FnMut(usize, usize, Bits<W>),
) -> u64 {
    let mut open = *set;
    for _ in 0..spare {
        if is_empty(&open) {
            return 0;
        }
        one_colour(rows, &mut open, |_| {});
    }
    let (mut before, mut made) = (without(set, &open), 0);
    for colour in spare.. {
        if is_empty(&open) {
            break;
        }
        one_colour(rows, &mut open, |vertex| {
            child(colour, vertex, both(&before, &rows[vertex]));
            insert(&mut before, vertex);
            made += 1;
        });
    }
    made
}

/// Takes the first colour out of `open`: each vertex without a neighbour among those taken before it.
#[inline(always)]
fn one_colour<const W: usize>(rows: &[Bits<W>], open: &mut Bits<W>, mut each: impl FnMut(usize)) {
    let mut free = *open;
    for at in 0..W {
        let mut word = free[at];
        while word != 0 {
            let vertex = 64 * at + word.trailing_zeros() as usize;
            let row = &rows[vertex];
            open[at] ^= word & word.wrapping_neg();
            word &= (word - 1) & !row[at];
            for later in at + 1..W {
                free[later] &= !row[later];
            }
            each(vertex);
        }
    }
}
