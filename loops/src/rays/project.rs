//! Projection: the tetrahedra of a tile, front to back, each drawn over its pixels, in plain code.

use super::record::{Light, Note, Record, Work};
use super::shade::segment;

/// After how many tetrahedra a kernel looks whether its tile is done.
pub const LOOK: usize = 64;

/// Draws a tile; returns how many segments of rays it drew.
#[must_use]
pub fn tile(work: &Work, light: &mut Light) -> u64 {
    let mut segments = 0;
    for (i, &tet) in work.list.iter().enumerate() {
        if i % LOOK == LOOK - 1 && light.ended(work.lens.least) {
            break;
        }
        segments += draw(work, &work.records[tet as usize], &work.notes[tet as usize], light);
    }
    segments
}

fn draw(work: &Work, record: &Record, note: &Note, light: &mut Light) -> u64 {
    let mut segments = 0;
    let [columns, rows] = work.span(note);
    let pieces = &work.pieces[usize::from(note.pieces[0])..usize::from(note.pieces[1])];
    let entries = usize::from(note.entries);
    for row in rows[0]..rows[1] {
        let y = work.lens.first[1] + (work.corner[1] + row) as f32;
        let at = |slot: usize| record.b[slot] * y + record.c[slot];
        let starts = [at(0), at(1), at(2), at(3)];
        let [right, down, away, middle] = record.value;
        let start = down * y + middle;
        for column in columns[0]..columns[1] {
            let x = work.lens.first[0] + (work.corner[0] + column) as f32;
            let depth = |slot: usize| record.a[slot] * x + starts[slot];
            let from = (0..entries).map(depth).fold(work.lens.near, f32::max);
            let to = (entries..4).map(depth).fold(f32::INFINITY, f32::min);
            if from < to {
                let mut pixel = light.pixel(column, row);
                if pixel[3] > work.lens.least {
                    let value = right * x + start;
                    segment(
                        &mut pixel,
                        pieces,
                        [away * from + value, away * to + value],
                        to - from,
                    );
                    light.put(column, row, pixel);
                    segments += 1;
                }
            }
        }
    }
    segments
}
