//! Projection in plain code: draws the tetrahedra of a tile front to back, each over its blocks of pixels.
//!
//! All steps cover the 16 pixels of a block without branches, so that a compiler can vectorise them.

use super::record::{BLOCK, Light, Note, Record, TILE, Work};
use super::shade::{SAME, decay};
use super::transfer::Piece;

/// A number for each pixel of a block.
type Lanes = [f32; BLOCK * BLOCK];

/// The number of tetrahedra between checks whether the tile is done.
pub const LOOK: usize = 64;

/// Draws a tile; returns how many segments of rays it drew.
#[must_use]
pub fn tile(work: &Work, light: &mut Light) -> u64 {
    draw_all(work, light)
}

/// Draws a tile, inlined into the caller so that it may use the caller's instructions.
#[must_use]
#[inline(always)]
pub fn draw_all(work: &Work, light: &mut Light) -> u64 {
    let mut segments = 0;
    for (i, &tet) in work.list.iter().enumerate() {
        if i % LOOK == LOOK - 1 && light.ended(work.lens.least) {
            break;
        }
        segments += draw(work, &work.records[tet as usize], &work.notes[tet as usize], light);
    }
    segments
}

#[inline(always)]
fn draw(work: &Work, record: &Record, note: &Note, light: &mut Light) -> u64 {
    let [columns, rows] = work.span(note);
    if columns[0] >= columns[1] || rows[0] >= rows[1] {
        return 0;
    }
    let pieces = &work.pieces[usize::from(note.pieces[0])..usize::from(note.pieces[1])];
    let first = |axis: usize, block: usize| {
        work.lens.first[axis] + (work.corner[axis] + block * BLOCK) as f32
    };
    let mut segments = 0;
    for row in rows[0] / BLOCK..rows[1].div_ceil(BLOCK) {
        for column in columns[0] / BLOCK..columns[1].div_ceil(BLOCK) {
            let (mut x, mut y) = ([first(0, column); 16], [first(1, row); 16]);
            for lane in 0..16 {
                x[lane] += (lane % BLOCK) as f32;
                y[lane] += (lane / BLOCK) as f32;
            }
            let block = &mut light.0[row * (TILE / BLOCK) + column];
            let (from, to) = cut(record, usize::from(note.entries), work.lens.near, (&x, &y));
            let (mut length, mut count) = ([0.0; 16], 0);
            for lane in 0..16 {
                let inside = from[lane] < to[lane] && block[3][lane] > work.lens.least;
                length[lane] = if inside { to[lane] - from[lane] } else { 0.0 };
                count += u32::from(inside);
            }
            if count > 0 {
                let [right, down, away, middle] = record.value;
                let (mut start, mut end) = ([0.0; 16], [0.0; 16]);
                for lane in 0..16 {
                    // Outside the tetrahedron depths may not be finite: both values are 0 there.
                    let inside = length[lane] > 0.0;
                    let value = right * x[lane] + (down * y[lane] + middle);
                    start[lane] = if inside { away * from[lane] + value } else { 0.0 };
                    end[lane] = if inside { away * to[lane] + value } else { 0.0 };
                }
                segment(block, pieces, away < 0.0, (&start, &end), &length);
                segments += u64::from(count);
            }
        }
    }
    segments
}

/// The depths between which rays may be inside.
#[inline(always)]
fn cut(record: &Record, entries: usize, near: f32, (x, y): (&Lanes, &Lanes)) -> (Lanes, Lanes) {
    let (mut from, mut to) = ([near; 16], [f32::INFINITY; 16]);
    for slot in 0..4 {
        let (a, b, c) = (record.a[slot], record.b[slot], record.c[slot]);
        if slot < entries {
            for lane in 0..16 {
                let depth = a * x[lane] + (b * y[lane] + c);
                from[lane] = if depth > from[lane] { depth } else { from[lane] };
            }
        } else {
            for lane in 0..16 {
                let depth = a * x[lane] + (b * y[lane] + c);
                to[lane] = if depth < to[lane] { depth } else { to[lane] };
            }
        }
    }
    (from, to)
}

/// Adds a segment to each pixel, piece by piece, nearest first. A length of 0 changes nothing.
#[inline(always)]
fn segment(
    block: &mut [Lanes; 4],
    pieces: &[Piece],
    falls: bool,
    (from, to): (&Lanes, &Lanes),
    length: &Lanes,
) {
    if let [piece] = pieces {
        return add(block, piece, (from, to), length);
    }
    let last = pieces.len() - 1;
    for step in 0..=last {
        let i = if falls { last - step } else { step };
        let piece = &pieces[i];
        let low = if i == 0 { f32::NEG_INFINITY } else { piece.low };
        let high = if i == last { f32::INFINITY } else { piece.high };
        let (mut start, mut end, mut part) = ([0.0; 16], [0.0; 16], [0.0; 16]);
        for lane in 0..16 {
            let change = to[lane] - from[lane];
            let same = change.abs() < SAME;
            let middle = 0.5 * (from[lane] + to[lane]);
            let clip = |value: f32| value.max(low).min(high);
            start[lane] = if same { middle } else { clip(from[lane]) };
            end[lane] = if same { middle } else { clip(to[lane]) };
            let here = if low <= middle && middle < high { 1.0 } else { 0.0 };
            let share = (end[lane] - start[lane]) / if same { 1.0 } else { change };
            part[lane] = length[lane] * if same { here } else { share };
        }
        add(block, piece, (&start, &end), &part);
    }
}

/// Adds a segment on which the transfer function is linear.
#[inline(always)]
fn add(block: &mut [Lanes; 4], piece: &Piece, (from, to): (&Lanes, &Lanes), length: &Lanes) {
    let [slope, offset] = piece.extinction;
    let (mut weight, mut mean) = ([0.0; 16], [0.0; 16]);
    for lane in 0..16 {
        let front = (slope * from[lane] + offset).max(0.0);
        let back = (slope * to[lane] + offset).max(0.0);
        let sum = front + back;
        let through = block[3][lane];
        let rest = through * decay(0.5 * length[lane] * sum);
        weight[lane] = through - rest;
        let place = (front + 2.0 * back) / (3.0 * sum).max(1e-30);
        mean[lane] = from[lane] + (to[lane] - from[lane]) * place;
        block[3][lane] = rest;
    }
    for (channel, [slope, offset]) in block.iter_mut().zip(piece.colour) {
        for lane in 0..16 {
            channel[lane] += weight[lane] * (slope * mean[lane] + offset);
        }
    }
}
