//! [`Bins`]: the tetrahedra of each tile, front to back.

use super::boundary::Tiles;
use super::record::{Note, TILE};
use super::stage::{RunStage, run_stage};
use crate::looping::Cells;
use std::iter::repeat_n;
use std::ops::Range;

/// The minimum number of tetrahedra in a part of the order.
const PART: usize = 1 << 12;

/// The minimum number of tetrahedra in a part for each row of tiles, so that a part's lists are not mostly empty.
const PART_OF_ROW: usize = 64;

/// The tetrahedra of each tile, front to back, in lists for each row of tiles.
pub struct Bins {
    /// Tiles from left to right.
    across: usize,
    rows: Vec<Row>,
    /// The number of tetrahedra listed before each row of tiles, and finally their total.
    before: Vec<usize>,
}

/// The lists of a row of tiles.
#[derive(Clone, Default)]
struct Row {
    ends: Vec<usize>,
    list: Vec<u32>,
}

/// A tetrahedron, and the columns of tiles that it may cover.
#[derive(Clone, Copy)]
struct Covering {
    tet: u32,
    columns: [u16; 2],
}

/// The columns or rows of tiles with these pixels.
fn tiles_of([from, to]: [u16; 2]) -> Range<usize> {
    usize::from(from) / TILE..usize::from(to).div_ceil(TILE)
}

impl Bins {
    /// Lists the tetrahedra of each tile in the given order, in two stages: parts of the order into rows of tiles, then
    /// rows into tiles. `None` if one was stopped.
    #[must_use]
    pub fn new(
        notes: &[Note],
        order: &[u32],
        tiles: Tiles,
        run: &mut RunStage<'_>,
    ) -> Option<Self> {
        let size = PART.max(PART_OF_ROW * tiles.down);
        let orders: Vec<&[u32]> = order.chunks(size).collect();
        let mut parts: Vec<Vec<Vec<Covering>>> = vec![Vec::new(); orders.len()];
        let cells = Cells::cut(&mut parts, repeat_n(1, orders.len()));
        run_stage(run, orders.len(), |part| {
            cells.part(part)[0] = by_rows(notes, orders[part], tiles.down);
        })?;
        drop(cells);
        let mut rows = vec![Row::default(); tiles.down];
        let cells = Cells::cut(&mut rows, repeat_n(1, tiles.down));
        run_stage(run, tiles.down, |row| {
            let covering = parts.iter().flat_map(|part| part[row].iter().copied());
            cells.part(row)[0] = Row::new(covering, tiles.across);
        })?;
        drop(cells);
        let mut before = vec![0];
        let mut sum = 0;
        before.extend(rows.iter().map(|row| {
            sum += row.list.len();
            sum
        }));
        Some(Self { across: tiles.across, rows, before })
    }

    /// The tetrahedra of a tile.
    #[must_use]
    pub fn tile(&self, tile: usize) -> &[u32] {
        let (Row { ends, list }, column) = (&self.rows[tile / self.across], tile % self.across);
        &list[ends[column]..ends[column + 1]]
    }

    /// The number of tetrahedra listed before a tile; with the number of tiles, their total.
    #[must_use]
    pub fn before(&self, tile: usize) -> usize {
        let (row, column) = (tile / self.across, tile % self.across);
        self.before[row] + self.rows.get(row).map_or(0, |row| row.ends[column])
    }
}

/// The tetrahedra of each row of tiles, in the given order.
fn by_rows(notes: &[Note], order: &[u32], down: usize) -> Vec<Vec<Covering>> {
    // Most lists have twice the average or less.
    let mut rows: Vec<_> = (0..down).map(|_| Vec::with_capacity(2 * order.len() / down)).collect();
    for &tet in order {
        let note = &notes[tet as usize];
        let columns = tiles_of(note.x);
        let columns = [columns.start as u16, columns.end as u16];
        rows[tiles_of(note.y)].iter_mut().for_each(|row| row.push(Covering { tet, columns }));
    }
    rows
}

impl Row {
    /// The lists of a row of this many tiles.
    fn new(covering: impl Iterator<Item = Covering> + Clone, across: usize) -> Self {
        let columns = |it: &Covering| usize::from(it.columns[0])..usize::from(it.columns[1]);
        let mut ends = vec![0_usize; across + 1];
        covering.clone().for_each(|it| ends[1..][columns(&it)].iter_mut().for_each(|n| *n += 1));
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let mut next = ends.clone();
        let mut list = vec![0; ends[across]];
        covering.for_each(|it| {
            for next in &mut next[columns(&it)] {
                list[*next] = it.tet;
                *next += 1;
            }
        });
        Self { ends, list }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::looping::Loop;
    use crate::rays::stage::Stage;

    /// Tetrahedra of any sizes anywhere in a picture; some cover no pixel.
    fn notes(count: usize, sizes: [u16; 2]) -> Vec<Note> {
        let mut random = oorandom::Rand32::new(3);
        let mut span = |size: u16| {
            let from = random.rand_range(0..size.into()) as u16;
            [from, (from + random.rand_range(1..60) as u16).min(size)]
        };
        let note = |i: usize| {
            let [x, y] = sizes.map(&mut span);
            if i % 7 == 3 { Note::default() } else { Note { x, y, ..Note::default() } }
        };
        (0..count).map(note).collect()
    }

    #[test]
    fn each_tile_has_its_tetrahedra_in_order() {
        for (sizes, counts) in [
            ([203, 190], vec![0, 1, 5, PART, 2 * PART + 17]),
            ([1, 1], vec![3]),
            ([20, 1600], vec![2 * 100 * PART_OF_ROW + 1]),
        ] {
            for count in counts {
                let notes = notes(count, sizes);
                let tiles = Tiles::new(sizes[0].into(), sizes[1].into());
                let order: Vec<u32> = (0..count as u32).rev().collect();
                let mut units = Vec::new();
                let mut run = |stage: &Stage<'_>| {
                    units.push(stage.units());
                    (0..stage.units()).rev().for_each(|unit| stage.run(unit..unit + 1, &mut ()));
                    true
                };
                let bins = Bins::new(&notes, &order, tiles, &mut run).unwrap();
                let parts = count.div_ceil(PART.max(PART_OF_ROW * tiles.down));
                assert_eq!(units, [parts, tiles.down]);
                let mut sum = 0;
                for tile in 0..tiles.count() {
                    let [x, y] = tiles.corner(tile);
                    let covers = |[from, to]: [u16; 2], at: usize| {
                        usize::from(from) < at + TILE && usize::from(to) > at
                    };
                    let is_in = |tet: &u32| {
                        let note = &notes[*tet as usize];
                        covers(note.x, x) && covers(note.y, y)
                    };
                    let expected: Vec<u32> = order.iter().copied().filter(is_in).collect();
                    assert_eq!(bins.tile(tile), expected, "{sizes:?} {count} {tile}");
                    assert_eq!(bins.before(tile), sum);
                    sum += expected.len();
                }
                assert_eq!(bins.before(tiles.count()), sum);
            }
        }
    }
}
