//! Marching: each ray goes from tetrahedron to tetrahedron, through the face by which it leaves.

use super::boundary::TileEntries;
use super::mesh::NONE;
use super::prepare::Prepared;
use super::record::{Light, Record, TILE};
use super::shade::segment;
use super::transfer::Piece;

/// Statistics of drawn rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Segments of rays inside tetrahedra.
    pub segments: u64,
    /// Rays that found no way out of the mesh.
    pub lost: u64,
}

impl Tally {
    /// Adds statistics from elsewhere.
    pub fn add(&mut self, more: Tally) {
        // Another process may report any number.
        self.segments = self.segments.saturating_add(more.segments);
        self.lost = self.lost.saturating_add(more.lost);
    }
}

/// A plane's depth at a pixel.
#[inline]
fn depth(record: &Record, slot: usize, x: f32, y: f32) -> f32 {
    record.a[slot] * x + (record.b[slot] * y + record.c[slot])
}

/// Marches the rays of a tile, `sizes` pixels of which are in the picture.
pub fn tile(
    prepared: &Prepared,
    entries: TileEntries<'_>,
    pieces: &[Piece],
    ([left, top], sizes): ([usize; 2], [usize; 2]),
    light: &mut Light,
) -> Tally {
    let mut tally = Tally::default();
    for row in 0..sizes[1] {
        for column in 0..sizes[0] {
            let starts = entries.at(row * TILE + column);
            if starts.is_empty() {
                continue;
            }
            let x = prepared.lens.first[0] + (left + column) as f32;
            let y = prepared.lens.first[1] + (top + row) as f32;
            let mut pixel = light.pixel(column, row);
            ray(prepared, pieces, starts, [x, y], (&mut pixel, &mut tally));
            light.put(column, row, pixel);
        }
    }
    tally
}

/// Follows a ray from each of its entries, nearest first, until it leaves the mesh for good or light no longer matters.
fn ray(
    prepared: &Prepared,
    pieces: &[Piece],
    starts: &[(f32, u32)],
    [x, y]: [f32; 2],
    (pixel, tally): (&mut [f32; 4], &mut Tally),
) {
    let mut from = prepared.lens.near;
    for &(entry, tet) in starts {
        let mut tet = tet;
        from = from.max(entry);
        // Only a ray caught in a cycle visits more tetrahedra than there are.
        let mut steps = prepared.records.len();
        while tet != NONE {
            if steps == 0 {
                tally.lost += 1;
                break;
            }
            steps -= 1;
            let at = tet as usize;
            let (record, note) = (&prepared.records[at], &prepared.notes[at]);
            let mut to = f32::INFINITY;
            tet = NONE;
            for slot in usize::from(note.entries)..4 {
                let depth = depth(record, slot, x, y);
                if depth < to {
                    to = depth;
                    tet = prepared.next[at][slot];
                }
            }
            // A flat tetrahedron may end only at a wall along the ray, whose depth is meaningless.
            if to > from && to < 1e15 {
                let [right, down, away, middle] = record.value;
                let value = right * x + (down * y + middle);
                let ends = [away * from + value, away * to + value];
                let [first, end] = note.pieces.map(usize::from);
                segment(pixel, &pieces[first..end], ends, to - from);
                tally.segments += 1;
                from = to;
                if pixel[3] <= prepared.lens.least {
                    return;
                }
            }
        }
    }
}
