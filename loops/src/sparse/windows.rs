//! [`Windows`]: cuts rows of a matrix into windows of columns, for rows that are added up together in vectors.

use super::matrix::{Checked, CsrView};
use crate::real::Real;

/// The maximum number of rows that are added up together.
pub const MOST: usize = 9;

/// The mean run length of consecutive columns from which windows pay, measured with meshes and lattices.
const SHORT: f64 = 2.5;
/// Rows are cut together if at least this fraction of all windows has entries of every row.
const ALIKE: f64 = 0.5;
/// The maximum number of steps to keep.
const ROOM: usize = 1 << 23;

/// Some consecutive columns, and which of them occur in some rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first column.
    first: u32,
    /// The columns that occur in any of the rows.
    pub bits: u32,
}

/// The entries of one row in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its columns, which are consecutive.
    pub mask: u32,
    /// The index in the row of the value for the window's first column, as if the row had one.
    pub place: i32,
}

/// Consecutive rows, and their windows.
///
/// A window has one step per row. The steps cover the values of that row once, and never refer to others.
#[derive(Clone, Copy, Debug)]
pub struct Group<'w> {
    /// The first row.
    pub row: usize,
    /// The number of rows, at most [`MOST`].
    pub count: usize,
    /// Whether windows are two vectors wide, not one.
    pub wide: bool,
    /// How far the group's columns are to the right of the windows.
    shift: u32,
    /// The windows.
    pub windows: &'w [Window],
    /// The steps of the first window, then those of the second one, and so on.
    pub steps: &'w [Step],
}

impl Group<'_> {
    /// The first column of a window.
    #[inline]
    #[must_use]
    pub fn first(&self, window: &Window) -> u32 {
        window.first.wrapping_add(self.shift)
    }
}

/// The shape of rows that are cut together; many groups share a shape, apart from where they begin.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// The first row with this shape.
    row: usize,
    count: usize,
    wide: bool,
    /// Whether no further row would be cut together with these.
    full: bool,
    windows: (usize, usize),
    steps: (usize, usize),
}

/// Where a group of rows begins, and its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    row: u32,
    /// The number of the shape, from 1 on. Numbers are never reused.
    shape: u32,
    shift: u32,
}

/// How far one list of groups lies to the right of another one of the same shapes; `None` if the shapes differ.
#[must_use]
pub fn apart(one: &[Place], other: &[Place]) -> Option<i32> {
    let first = one.first()?;
    let apart = other.first()?.shift.wrapping_sub(first.shift);
    let alike =
        |(a, b): (&Place, &Place)| a.shape == b.shape && b.shift.wrapping_sub(a.shift) == apart;
    (one.len() == other.len() && one.iter().zip(other).all(alike)).then_some(apart as i32)
}

/// How many recent shapes are tried before rows are cut again.
const TRIED: usize = 6;

/// The windows of a matrix's rows, found when they are first needed.
#[derive(Debug)]
pub struct Windows<'a, T> {
    matrix: CsrView<'a, T>,
    /// Numbers in a vector.
    lanes: u32,
    /// For each row, the shape of the group that begins there, by its number from 1 on, and its shift; 0 for none.
    places: Vec<(u32, u32)>,
    shapes: Vec<Shape>,
    /// The number of forgotten shapes, which precede the first one of these.
    forgotten: u32,
    /// The number of steps after which all shapes are forgotten, to keep memory small.
    room: usize,
    /// The most recent shapes.
    recent: [u32; TRIED],
    windows: Vec<Window>,
    steps: Vec<Step>,
}

/// Whether windows pay for a matrix.
#[must_use]
pub fn pay<T: Real>(matrix: CsrView<'_, T>) -> bool {
    let (mut entries, mut runs) = (0, 0);
    for row in (0..matrix.height()).step_by(1 + matrix.height() / 1000) {
        let (columns, _) = matrix.of_row(row);
        entries += columns.len();
        runs += columns.len() - columns.windows(2).filter(|two| two[1] == two[0] + 1).count();
    }
    // The distance between groups is a signed number.
    let narrow = i32::try_from(matrix.width).is_ok();
    narrow && entries as f64 >= SHORT * f64::from(runs as u32).max(1.0)
}

impl<'a, T: Real> Windows<'a, T> {
    /// No windows yet, for vectors of this many numbers, at most 16.
    #[must_use]
    pub fn new(matrix: Checked<CsrView<'a, T>>, lanes: u32) -> Self {
        Self {
            matrix: *matrix,
            lanes,
            places: vec![(0, 0); matrix.height()],
            shapes: Vec::new(),
            forgotten: 0,
            room: ROOM,
            recent: [0; TRIED],
            windows: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// The matrix.
    #[must_use]
    #[inline]
    pub fn matrix(&self) -> &CsrView<'a, T> {
        &self.matrix
    }

    /// Lists the groups of rows for these columns.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn list(&mut self, columns: &[u32], groups: &mut Vec<Place>) {
        groups.clear();
        // Not between two groups of one list.
        if self.steps.len().max(self.shapes.len()) > self.room {
            self.forgotten += self.shapes.len() as u32;
            self.shapes.clear();
            self.windows.clear();
            self.steps.clear();
        }
        let mut rest = columns;
        while let Some(&row) = rest.first() {
            let (mut shape, mut shift) = self.places[row as usize];
            if !self.shape(shape).is_some_and(|known| known.fits(rest)) {
                (shape, shift) = self.find(rest);
                self.places[row as usize] = (shape, shift);
            }
            groups.push(Place { row, shape, shift });
            rest = &rest[self.shape(shape).map_or(1, |known| known.count)..];
        }
    }

    /// A shape by its number, if it is still known.
    #[inline]
    fn shape(&self, number: u32) -> Option<&Shape> {
        self.shapes.get((number as usize).wrapping_sub(1 + self.forgotten as usize))
    }

    /// A group of the last list.
    ///
    /// # Panics
    /// If it is from an earlier list whose shapes were forgotten.
    #[must_use]
    #[inline]
    pub fn group(&self, place: Place) -> Group<'_> {
        let &Shape { count, wide, windows, steps, .. } =
            self.shape(place.shape).expect("a known shape");
        Group {
            row: place.row as usize,
            count,
            wide,
            shift: place.shift,
            windows: &self.windows[windows.0..windows.1],
            steps: &self.steps[steps.0..steps.1],
        }
    }

    /// The shape of the rows for these columns, and its shift.
    #[cold]
    fn find(&mut self, columns: &[u32]) -> (u32, u32) {
        let row = columns[0] as usize;
        for place in 0..TRIED {
            let shape = self.recent[place];
            let Some(&known) = self.shape(shape) else { continue };
            if known.fits(columns)
                && let Some(shift) = self.shift(known, row)
            {
                self.recent[..=place].rotate_right(1);
                return (shape, shift);
            }
        }
        self.cut(columns);
        let shape = self.forgotten + self.shapes.len() as u32;
        self.recent.rotate_right(1);
        self.recent[0] = shape;
        (shape, 0)
    }

    /// How far rows with this shape lie to the right of it; `None` if their shape differs.
    fn shift(&self, shape: Shape, row: usize) -> Option<u32> {
        let pairs = (0..shape.count).map(|k| {
            let columns = |row: usize| self.matrix.of_row(row + k).0;
            (columns(shape.row), columns(row))
        });
        let shift = match pairs.clone().find(|(one, _)| !one.is_empty()) {
            Some((one, other)) => other.first()?.wrapping_sub(one[0]),
            None => 0,
        };
        let moved = |one: &[u32], other: &[u32]| {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .fold(true, |all, (a, b)| all & (b.wrapping_sub(*a) == shift))
        };
        pairs.into_iter().all(|(one, other)| moved(one, other)).then_some(shift)
    }

    /// Cuts rows into windows, as many rows as pay.
    fn cut(&mut self, columns: &[u32]) {
        let row = columns[0] as usize;
        let most = columns.len().min(MOST);
        let follow = (1..most).take_while(|&k| columns[k] == columns[0] + k as u32).count();
        let (windows, steps) = (self.windows.len(), self.steps.len());
        let mut count = 1 + follow;
        loop {
            self.cut_to(row, count, 2 * self.lanes);
            let all = self.steps.len() - steps;
            let filled = self.steps[steps..].iter().filter(|step| step.mask != 0).count();
            if count == 1 || filled as f64 >= ALIKE * all as f64 {
                break;
            }
            self.windows.truncate(windows);
            self.steps.truncate(steps);
            count = count.div_ceil(2);
        }
        let full = count <= follow || count == MOST;
        let wide = self.windows[windows..].iter().any(|window| window.bits >> self.lanes != 0);
        let (windows, steps) = ((windows, self.windows.len()), (steps, self.steps.len()));
        self.shapes.push(Shape { row, count, wide, full, windows, steps });
    }

    /// Cuts this many rows into windows of this width.
    fn cut_to(&mut self, row: usize, count: usize, width: u32) {
        let rows: [&[u32]; MOST] =
            std::array::from_fn(|k| if k < count { self.matrix.of_row(row + k).0 } else { &[] });
        let mut at = [0; MOST];
        loop {
            let next = |k: usize| rows[k].get(at[k]).copied();
            let Some(first) = (0..count).filter_map(next).min() else { return };
            let mut bits = 0;
            for k in 0..count {
                let rest = &rows[k][at[k]..];
                let off = rest.first().map_or(width, |&column| (column - first).min(width));
                let follows = |&(i, &column): &(usize, &u32)| column - first == off + i as u32;
                let room = rest.iter().take((width - off) as usize).enumerate();
                let length = room.take_while(follows).count();
                let mask = (((1u64 << length) - 1) << off.min(31)) as u32;
                self.steps.push(Step { mask, place: at[k] as i32 - off as i32 });
                bits |= mask;
                at[k] += length;
            }
            self.windows.push(Window { first, bits });
        }
    }
}

impl Shape {
    /// Whether it has the right number of rows for these columns.
    #[inline]
    fn fits(&self, columns: &[u32]) -> bool {
        let follows =
            |k: usize| columns.get(k).is_some_and(|&column| column == columns[0] + k as u32);
        follows(self.count - 1) && (self.full || !follows(self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::generate::named;

    /// All columns of a group's rows, according to its windows.
    fn columns_of(group: &Group<'_>, k: usize) -> Vec<(u32, usize)> {
        let mut all = Vec::new();
        for (window, steps) in group.windows.iter().zip(group.steps.chunks_exact(group.count)) {
            let Step { mask, place } = steps[k];
            assert_eq!(mask & !window.bits, 0);
            let off = mask.trailing_zeros();
            assert!(
                mask == 0
                    || (mask >> off).wrapping_add(1).is_power_of_two()
                    || mask >> off == u32::MAX
            );
            let bits = (0..32).filter(|bit| mask >> bit & 1 == 1);
            all.extend(bits.map(|bit| (group.first(window) + bit, (place + bit as i32) as usize)));
        }
        all
    }

    #[test]
    fn windows_cover_every_row_once() {
        for word in [
            "fem:343", "fem2:301", "fem1:125", "web:300x4", "dense:67", "lattice4d:3x4x3x4",
            "grid:130",
        ] {
            let matrix = named(word, 5).unwrap().unwrap().checked().unwrap();
            for lanes in [8, 16] {
                let (mut windows, mut places) =
                    (Windows::new(matrix.checked_view(), lanes), Vec::new());
                // Shapes are forgotten repeatedly.
                windows.room = 500;
                for row in 0..matrix.height() {
                    let (columns, _) = matrix.of_row(row);
                    windows.list(columns, &mut places);
                    let mut rows = Vec::new();
                    for &place in &places {
                        let group = windows.group(place);
                        assert!((1..=MOST).contains(&group.count), "{word}");
                        for k in 0..group.count {
                            rows.push((group.row + k) as u32);
                            let found = columns_of(&group, k);
                            let (expected, _) = matrix.of_row(group.row + k);
                            assert!(
                                found.iter().map(|(column, _)| column).eq(expected),
                                "{word}, {row}"
                            );
                            assert!(found.iter().map(|&(_, place)| place).eq(0..expected.len()));
                        }
                    }
                    assert_eq!(rows, columns, "{word}, {row}");
                }
            }
        }
    }

    #[test]
    fn groups_of_one_shape_differ_by_their_distance() {
        let matrix = named("fem1:1000", 5).unwrap().unwrap().checked().unwrap();
        let mut windows = Windows::new(matrix.checked_view(), 8);
        let mut places = [Vec::new(), Vec::new(), Vec::new()];
        for (row, places) in [555, 556, 550].into_iter().zip(&mut places) {
            windows.list(matrix.of_row(row).0, places);
        }
        assert_eq!(apart(&places[0], &places[1]), Some(1));
        assert_eq!(apart(&places[1], &places[0]), Some(-1));
        assert_eq!(apart(&places[0], &places[2]), None, "a row at the edge");
        assert_eq!(apart(&[], &places[2]), None);
    }
}
