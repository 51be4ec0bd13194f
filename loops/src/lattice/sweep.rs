//! The order of a sweep: several steps over planes and tiles of rows, each step a plane and a row behind the last.
//!
//! A step needs the previous one in the neighbouring planes and rows, both to read what they have sent and to overwrite
//! it. So step `s` works on plane `w − s` and on rows `s` before the tile: everything it needs has been done, and
//! whatever lies between the first and the last step stays in the caches.

use super::flow::{Across, Flow};
use super::group::{Row, plain};
use super::lanes::Lane;
use super::model::{DIRECTIONS, Q, mirrored, opposite};
use pleach_core::search::level::Level;
use std::ops::Range;

/// Bytes of a tile's rows in all planes between the first and the last step; few in tests, so that small boxes have
/// several tiles.
const TILE_BYTES: usize = if cfg!(test) { 1 << 14 } else { 1 << 22 };
/// The minimum number of rows in a tile: smaller tiles would be mostly borders.
const FEWEST_ROWS: usize = 8;

const MIRRORED: [[usize; Q]; 2] = [mirrored(1), mirrored(2)];

/// Planes of populations, including those of neighbours on either side.
pub struct Sheet<'a> {
    pub flow: &'a Flow,
    /// The number of the first plane; beyond the box, it counts from the other end.
    pub first: usize,
    pub planes: usize,
    pub lines: &'a mut [Lane],
}

/// A step of a sweep: whether it is odd, and its planes.
pub struct Step {
    pub odd: bool,
    pub planes: Range<usize>,
}

impl Sheet<'_> {
    /// Does the steps in order.
    pub fn sweep(&mut self, steps: &[Step]) {
        let begin = steps.iter().enumerate().map(|(s, it)| it.planes.start + s).min().unwrap_or(0);
        let end = steps.iter().enumerate().map(|(s, it)| it.planes.end + s).max().unwrap_or(0);
        let ny = self.flow.size()[1];
        let tile = self.tile(steps.len());
        for low in (0..ny).step_by(tile) {
            let high = if low + tile >= ny { ny + steps.len() } else { low + tile };
            for w in begin..end {
                for (s, step) in steps.iter().enumerate() {
                    let Some(plane) = w.checked_sub(s).filter(|it| step.planes.contains(it)) else {
                        continue;
                    };
                    // Rows that wrap have no first one, so they cannot be tiled: every step takes all rows.
                    let rows =
                        if tile >= ny { 0..ny } else { low.saturating_sub(s)..(high - s).min(ny) };
                    self.step(plane, rows, step.odd);
                }
            }
        }
    }

    /// Rows in a tile.
    fn tile(&self, steps: usize) -> usize {
        let [_, ny, _] = self.flow.size();
        if steps == 1 || self.flow.setup.across == Across::Periodic {
            return ny;
        }
        let row = self.flow.groups() * Q * size_of::<Lane>();
        (TILE_BYTES / (row * (steps + 2)))
            .clamp(FEWEST_ROWS.max(steps), ny.max(FEWEST_ROWS.max(steps)))
    }

    /// Steps some rows of a plane.
    fn step(&mut self, plane: usize, rows: Range<usize>, odd: bool) {
        let z = (self.first + plane) % self.flow.size()[2];
        let rows = Rows { flow: self.flow, planes: self.planes, plane, z, rows, odd, last: None };
        let numbers = &self.flow.numbers;
        match self.flow.setup.level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => crate::simd::lattice_rows::whole(rows, numbers, self.lines),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => crate::simd::lattice_rows::halves(rows, numbers, self.lines),
            _ => plain(rows, numbers, self.lines),
        }
    }
}

/// Steps rows of a plane, one after the other.
struct Rows<'a> {
    flow: &'a Flow,
    planes: usize,
    plane: usize,
    z: usize,
    rows: Range<usize>,
    odd: bool,
    /// The lines of the previous row, if there is one.
    last: Option<[usize; Q]>,
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        let y = self.rows.next()?;
        let lines = match self.last {
            // Away from the borders, every line is one row further.
            Some(last) if !self.odd || (y > 1 && y + 1 < self.flow.size()[1]) => {
                let row = self.flow.groups() * Q;
                last.map(|line| line.wrapping_add(row))
            }
            _ => table(self.flow, self.planes, (self.plane, y), self.odd),
        };
        self.last = Some(lines);
        Some(Row { lines, solid: self.flow.solid_row(y, self.z), odd: self.odd })
    }
}

/// The lines of a row's first group in a step, in a sheet of this many planes.
pub fn table(flow: &Flow, planes: usize, (plane, y): (usize, usize), odd: bool) -> [usize; Q] {
    let row = flow.groups() * Q;
    let ny = flow.size()[1];
    if !odd {
        let first = (plane * ny + y) * row;
        return std::array::from_fn(|k| first + k);
    }
    let wraps = flow.setup.across == Across::Periodic;
    std::array::from_fn(|k| {
        let [dx, dy, dz] = DIRECTIONS[k];
        let (mut from, mut from_y, mut from_plane) =
            (k, y.wrapping_add_signed(-dy as isize), plane.wrapping_add_signed(-dz as isize));
        if from_y >= ny {
            if wraps {
                from_y = if dy > 0 { ny - 1 } else { 0 };
            } else {
                (from, from_y) = (MIRRORED[0][from], y);
            }
        }
        if from_plane >= planes {
            // If planes wrap or have neighbours, a sheet has extra planes.
            (from, from_plane) = (MIRRORED[1][from], plane);
        }
        let line = (from_plane * ny + from_y) * row + opposite(from);
        line.wrapping_add_signed(-dx as isize * Q as isize)
    })
}
