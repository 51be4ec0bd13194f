//! Projection of tetrahedra for AVX-512: a block of 4 by 4 pixels per vector.

use crate::rays::record::{BLOCK, Light, Note, Record, TILE, Work};
use crate::rays::shade::{LEAST_POWER, POWERS, SAME};
use crate::rays::transfer::Piece;
use std::arch::x86_64::*;
use std::ops::Range;

type Vector = __m512;

/// How many tetrahedra ahead records are fetched: about as many as can be drawn during a cache miss.
const AHEAD: usize = 8;

/// The number of tetrahedra between checks whether the tile is done.
const LOOK: usize = 64;

/// Draws a tile; returns how many segments of rays it drew.
#[must_use]
pub fn tile(work: &Work, light: &mut Light) -> u64 {
    assert!(pleach_core::search::level::Level::Avx512.works());
    // SAFETY: the line above.
    unsafe { draw_all(work, light) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
fn draw_all(work: &Work, light: &mut Light) -> u64 {
    let lanes = _mm512_setr_ps(0., 1., 2., 3., 0., 1., 2., 3., 0., 1., 2., 3., 0., 1., 2., 3.);
    let downs = _mm512_setr_ps(0., 0., 0., 0., 1., 1., 1., 1., 2., 2., 2., 2., 3., 3., 3., 3.);
    let place = |axis: usize, i: usize, offsets: Vector| {
        let first = work.lens.first[axis] + (work.corner[axis] + i * BLOCK) as f32;
        _mm512_add_ps(_mm512_set1_ps(first), offsets)
    };
    let xs = [0, 1, 2, 3].map(|i| place(0, i, lanes));
    let ys = [0, 1, 2, 3].map(|i| place(1, i, downs));
    let mut segments = 0;
    for (i, &tet) in work.list.iter().enumerate() {
        if let Some(&ahead) = work.list.get(i + AHEAD) {
            _mm_prefetch::<_MM_HINT_T0>((&raw const work.records[ahead as usize]).cast());
            _mm_prefetch::<_MM_HINT_T0>((&raw const work.notes[ahead as usize]).cast());
        }
        if i % LOOK == LOOK - 1 && light.ended(work.lens.least) {
            break;
        }
        let (record, note) = (&work.records[tet as usize], &work.notes[tet as usize]);
        segments += draw(work, record, note, (&xs, &ys), light);
    }
    segments
}

/// The blocks of these pixels.
fn blocks([from, to]: [usize; 2]) -> Range<usize> {
    from / BLOCK..to.div_ceil(BLOCK)
}

/// Draws a tetrahedron over the blocks that it touches.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
fn draw(
    work: &Work,
    record: &Record,
    note: &Note,
    (xs, ys): (&[Vector; 4], &[Vector; 4]),
    light: &mut Light,
) -> u64 {
    let [columns, rows] = work.span(note);
    if columns[0] >= columns[1] || rows[0] >= rows[1] {
        return 0;
    }
    let pieces = &work.pieces[usize::from(note.pieces[0])..usize::from(note.pieces[1])];
    // Each of the two middle faces is an entry or an exit; the first face is an entry, the last an exit.
    let second = if note.entries > 1 { u16::MAX } else { 0 };
    let third = if note.entries > 2 { u16::MAX } else { 0 };
    let (near, least) = (_mm512_set1_ps(work.lens.near), _mm512_set1_ps(work.lens.least));
    let plane = |slot: usize, y: Vector| {
        _mm512_fmadd_ps(_mm512_set1_ps(record.b[slot]), y, _mm512_set1_ps(record.c[slot]))
    };
    let a = record.a.map(|x| _mm512_set1_ps(x));
    let [right, down, away, middle] = record.value.map(|x| _mm512_set1_ps(x));
    let mut segments = 0;
    let (rows, columns) = (blocks(rows), blocks(columns));
    for (row, &y) in rows.clone().zip(&ys[rows]) {
        let starts = [plane(0, y), plane(1, y), plane(2, y), plane(3, y)];
        let start = _mm512_fmadd_ps(down, y, middle);
        for (column, &x) in columns.clone().zip(&xs[columns.clone()]) {
            let depths = [0, 1, 2, 3].map(|slot| _mm512_fmadd_ps(a[slot], x, starts[slot]));
            let from = _mm512_max_ps(near, depths[0]);
            let from = _mm512_mask_max_ps(from, second, from, depths[1]);
            let from = _mm512_mask_max_ps(from, third, from, depths[2]);
            let to = _mm512_mask_min_ps(depths[3], !second, depths[3], depths[1]);
            let to = _mm512_mask_min_ps(to, !third, to, depths[2]);
            let inside = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(from, to);
            let block = &mut light.0[row * (TILE / BLOCK) + column];
            let mut pixels = Pixels::load(block);
            let inside = _mm512_mask_cmp_ps_mask::<_CMP_GT_OQ>(inside, pixels.through, least);
            if inside == 0 {
                continue;
            }
            segments += u64::from(inside.count_ones());
            let value = _mm512_fmadd_ps(right, x, start);
            // Outside the tetrahedron depths and values may not be finite: both are 0 there.
            let ends = [from, to].map(|depth| _mm512_maskz_fmadd_ps(inside, away, depth, value));
            let length = _mm512_maskz_sub_ps(inside, to, from);
            pixels.segment(pieces, record.value[2] < 0.0, ends, length);
            pixels.store(block);
        }
    }
    segments
}

/// The pixels of a block: red, green, blue, and the part of the light behind that comes through.
struct Pixels {
    colour: [Vector; 3],
    through: Vector,
}

impl Pixels {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn load(block: &[[f32; 16]; 4]) -> Self {
        // SAFETY: each channel has as many numbers as the vector has lanes.
        let [r, g, b, through] =
            [0, 1, 2, 3].map(|i| unsafe { _mm512_loadu_ps(block[i].as_ptr()) });
        Self { colour: [r, g, b], through }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn store(&self, block: &mut [[f32; 16]; 4]) {
        for (channel, &it) in block.iter_mut().zip(self.colour.iter().chain([&self.through])) {
            // SAFETY: each channel has as many numbers as the vector has lanes.
            unsafe { _mm512_storeu_ps(channel.as_mut_ptr(), it) };
        }
    }

    /// Adds a segment to each pixel. A length of 0 changes nothing.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    #[inline]
    fn segment(&mut self, pieces: &[Piece], falls: bool, ends: [Vector; 2], length: Vector) {
        match pieces {
            [piece] => self.add(piece, ends, length),
            _ => self.split(pieces, falls, ends, length),
        }
    }

    /// Adds the part of the segment in each piece, nearest first.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    fn split(&mut self, pieces: &[Piece], falls: bool, [from, to]: [Vector; 2], length: Vector) {
        let change = _mm512_sub_ps(to, from);
        let same = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_abs_ps(change), _mm512_set1_ps(SAME));
        let middle = _mm512_mul_ps(_mm512_set1_ps(0.5), _mm512_add_ps(from, to));
        let last = pieces.len() - 1;
        for step in 0..=last {
            let i = if falls { last - step } else { step };
            let piece = &pieces[i];
            let low = _mm512_set1_ps(if i == 0 { f32::NEG_INFINITY } else { piece.low });
            let high = _mm512_set1_ps(if i == last { f32::INFINITY } else { piece.high });
            let here = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(same, low, middle);
            let here = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(here, middle, high);
            let clip = |value: Vector| _mm512_min_ps(_mm512_max_ps(value, low), high);
            let (start, end) = (clip(from), clip(to));
            let part = _mm512_maskz_div_ps(!same, _mm512_sub_ps(end, start), change);
            let part = _mm512_mask_mov_ps(part, here, _mm512_set1_ps(1.0));
            let ends = [start, end].map(|value| _mm512_mask_mov_ps(value, same, middle));
            self.add(piece, ends, _mm512_mul_ps(length, part));
        }
    }

    /// Adds a segment on which the transfer function is linear.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    #[inline]
    fn add(&mut self, piece: &Piece, [from, to]: [Vector; 2], length: Vector) {
        let zero = _mm512_setzero_ps();
        let line = |[slope, offset]: [f32; 2], value: Vector| {
            _mm512_fmadd_ps(_mm512_set1_ps(slope), value, _mm512_set1_ps(offset))
        };
        let front = _mm512_max_ps(line(piece.extinction, from), zero);
        let back = _mm512_max_ps(line(piece.extinction, to), zero);
        let sum = _mm512_add_ps(front, back);
        let half = _mm512_mul_ps(_mm512_set1_ps(0.5), length);
        let rest = _mm512_mul_ps(self.through, decay(_mm512_mul_ps(half, sum)));
        let weight = _mm512_sub_ps(self.through, rest);
        let heavy = _mm512_fmadd_ps(_mm512_set1_ps(2.0), back, front);
        let whole = _mm512_max_ps(_mm512_mul_ps(_mm512_set1_ps(3.0), sum), _mm512_set1_ps(1e-30));
        // A mean place needs less precision than a division gives: 14 bits and a Newton step make 23.
        let guess = _mm512_rcp14_ps(whole);
        let error = _mm512_fnmadd_ps(whole, guess, _mm512_set1_ps(1.0));
        let inverse = _mm512_fmadd_ps(guess, error, guess);
        let mean = _mm512_fmadd_ps(_mm512_sub_ps(to, from), _mm512_mul_ps(heavy, inverse), from);
        for (channel, &of) in self.colour.iter_mut().zip(&piece.colour) {
            *channel = _mm512_fmadd_ps(weight, line(of, mean), *channel);
        }
        self.through = rest;
    }
}

/// e^(−x) for x ≥ 0.
#[target_feature(enable = "avx512f")]
#[inline]
fn decay(x: Vector) -> Vector {
    let power = _mm512_mul_ps(x, _mm512_set1_ps(-std::f32::consts::LOG2_E));
    let power = _mm512_max_ps(power, _mm512_set1_ps(LEAST_POWER));
    let whole = _mm512_roundscale_ps::<0>(power);
    let part = _mm512_sub_ps(power, whole);
    let mut sum = _mm512_set1_ps(POWERS[6]);
    for i in (0..6).rev() {
        sum = _mm512_fmadd_ps(sum, part, _mm512_set1_ps(POWERS[i]));
    }
    _mm512_scalef_ps(sum, whole)
}
