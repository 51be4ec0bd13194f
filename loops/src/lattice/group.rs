//! One step of a row of cells, sixteen at a time, in place.
//!
//! Each population of a cell is loaded from one of nineteen lines, and that of the opposite direction is stored there
//! (the AA pattern). In even steps the lines are the cell's own; in odd steps they are its neighbours', so that
//! populations move by two cells every other step. A solid cell does nothing: what has arrived lies where the neighbour
//! looks for it two steps later, reversed.

use super::lanes::{LANES, Lane, Lanes, Lines};
use super::model::{DIRECTIONS, Q, WEIGHTS, opposite};

/// The constants of a step.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The fraction of the way to equilibrium that a step covers.
    pub omega: f32,
    /// What a force along x adds to the momentum of the equilibrium.
    pub push: f32,
    /// The populations of the first plane's cells if fluid enters there; it leaves at the last plane.
    pub inflow: Option<[f32; Q]>,
}

/// A row of cells, and where its populations are.
pub struct Row<'a> {
    /// The line of each direction for the first group of cells; those of the next group are [`Q`] further. May wrap:
    /// the line before a row's first is its last.
    pub lines: [usize; Q],
    /// The solid cells of each group.
    pub solid: &'a [u16],
    /// Whether populations come from neighbours.
    pub odd: bool,
}

impl Row<'_> {
    /// Whether every line that the row touches is one of these.
    #[inline(always)]
    pub fn fits(&self, lines: usize) -> bool {
        let Some(last) = self.solid.len().checked_sub(1) else { return false };
        let mut most = 0;
        for (line, step) in self.lines.into_iter().zip(STEPS) {
            most = most.max(if self.odd { line.wrapping_add(step) } else { line });
        }
        most < lines && last * Q < lines - most
    }
}

/// How many lines a group is displaced along each direction, wrapping.
const STEPS: [usize; Q] = {
    let (mut steps, mut k) = ([0; Q], 0);
    while k < Q {
        steps[k] = (DIRECTIONS[k][0] as isize * Q as isize) as usize;
        k += 1;
    }
    steps
};

/// Steps rows in plain code.
pub fn plain<'a>(rows: impl Iterator<Item = Row<'a>>, numbers: &Numbers, mut lines: &mut [Lane]) {
    let wide = Wide::of(numbers);
    for row in rows {
        step::<[f32; LANES], _>(&row, numbers, &wide, &mut lines);
    }
}

/// Steps a row.
#[inline(always)]
pub fn step<L: Lanes, M: Lines<L>>(
    row: &Row<'_>,
    numbers: &Numbers,
    wide: &Wide<L>,
    memory: &mut M,
) {
    if row.odd {
        groups::<L, M, true>(row, numbers, wide, memory);
    } else {
        groups::<L, M, false>(row, numbers, wide, memory);
    }
}

/// All groups. The first and the last are special: one of their neighbours is at the other end, one lane on.
#[inline(always)]
fn groups<L: Lanes, M: Lines<L>, const ODD: bool>(
    row: &Row<'_>,
    numbers: &Numbers,
    wide: &Wide<L>,
    memory: &mut M,
) {
    let last = row.solid.len() - 1;
    if last == 0 {
        return end::<L, M, ODD, true, true>(row, 0, numbers, wide, memory);
    }
    end::<L, M, ODD, true, false>(row, 0, numbers, wide, memory);
    for i in 1..last {
        if ODD {
            for k in 0..Q {
                memory.fetch(row.lines[k].wrapping_add((i + 2) * Q));
            }
        }
        if row.solid[i] == 0 {
            group::<L, M, ODD, false, false, false>(row, i, numbers, wide, memory);
        } else if row.solid[i] != u16::MAX {
            group::<L, M, ODD, false, false, true>(row, i, numbers, wide, memory);
        }
    }
    end::<L, M, ODD, false, true>(row, last, numbers, wide, memory);
}

/// The first or the last group.
#[inline(always)]
fn end<L: Lanes, M: Lines<L>, const ODD: bool, const FIRST: bool, const LAST: bool>(
    row: &Row<'_>,
    i: usize,
    numbers: &Numbers,
    wide: &Wide<L>,
    memory: &mut M,
) {
    if row.solid[i] == 0 {
        group::<L, M, ODD, FIRST, LAST, false>(row, i, numbers, wide, memory);
    } else {
        group::<L, M, ODD, FIRST, LAST, true>(row, i, numbers, wide, memory);
    }
}

/// The line of a group's direction, and by how many lanes it is rotated: a neighbour beyond the end is at the other
/// end.
#[inline(always)]
fn place<const ODD: bool, const FIRST: bool, const LAST: bool>(
    row: &Row<'_>,
    i: usize,
    k: usize,
) -> (usize, i32) {
    let at = row.lines[k].wrapping_add(i * Q);
    let span = row.solid.len() * Q;
    match DIRECTIONS[k][0] {
        1 if ODD && FIRST => (at.wrapping_add(span), 1),
        -1 if ODD && LAST => (at.wrapping_sub(span), -1),
        _ => (at, 0),
    }
}

/// A group: loads, collides, stores.
#[inline(always)]
fn group<L, M, const ODD: bool, const FIRST: bool, const LAST: bool, const SOLID: bool>(
    row: &Row<'_>,
    i: usize,
    numbers: &Numbers,
    wide: &Wide<L>,
    memory: &mut M,
) where
    L: Lanes,
    M: Lines<L>,
{
    // No closures and no `from_fn` in these functions: the compiler may not inline them, and then they lack the vector
    // instructions.
    let mut before = [wide.one; Q];
    for (k, before) in before.iter_mut().enumerate() {
        let (at, turned) = place::<ODD, FIRST, LAST>(row, i, k);
        let lanes = memory.load(at);
        *before = match turned {
            1 => lanes.up(),
            -1 => lanes.down(),
            _ => lanes,
        };
    }
    let mut after = collide(&before, wide);
    if let Some(inflow) = &numbers.inflow
        && (FIRST || LAST)
    {
        through::<L, FIRST, LAST>(&before, inflow, &mut after);
    }
    for k in 0..Q {
        let (at, turned) = place::<ODD, FIRST, LAST>(row, i, k);
        let mut lanes = after[opposite(k)];
        if SOLID {
            lanes = before[k].pick(row.solid[i], lanes);
        }
        let lanes = match turned {
            1 => lanes.down(),
            -1 => lanes.up(),
            _ => lanes,
        };
        memory.store(at, lanes);
    }
}

/// The constants of a step, in every lane.
pub struct Wide<L> {
    keep: L,
    push: L,
    one: L,
    less: L,
    /// For rest, axes and diagonals: the part of the equilibrium that both directions of a pair share.
    both: [L; 3],
    /// The factor of the squared velocity along the direction.
    square: [L; 3],
    /// The factor of the momentum, whose sign differs within a pair.
    apart: [L; 3],
}

impl<L: Lanes> Wide<L> {
    #[inline(always)]
    pub fn of(numbers: &Numbers) -> Self {
        Self {
            keep: L::all(1.0 - numbers.omega),
            push: L::all(numbers.push),
            one: L::all(1.0),
            less: L::all(-1.5),
            both: by(numbers.omega, 1.0),
            square: by(numbers.omega, 4.5),
            apart: by(numbers.omega, 3.0),
        }
    }
}

/// The weights times this factor, in every lane.
#[inline(always)]
fn by<L: Lanes>(omega: f32, times: f64) -> [L; 3] {
    let times = f64::from(omega) * times;
    let [rest, axis, diagonal] = WEIGHTS;
    [
        L::all((rest * times) as f32),
        L::all((axis * times) as f32),
        L::all((diagonal * times) as f32),
    ]
}

impl Wide<[f32; LANES]> {
    /// Computes each factor once.
    pub fn numbers(&self) -> [f32; 11] {
        let head = [self.keep, self.push];
        let all = head.iter().chain(&self.both).chain(&self.square).chain(&self.apart);
        let (mut out, mut firsts) = ([0.0; 11], all.map(|lanes| lanes[0]));
        out.iter_mut().for_each(|to| *to = firsts.next().unwrap_or(0.0));
        out
    }
}

/// The first population of a pair less the second.
#[inline(always)]
fn apart<L: Lanes>(g: &[L; Q], k: usize) -> L {
    g[k].sub(g[k + 1])
}

/// The sum of a pair of populations.
#[inline(always)]
fn both<L: Lanes>(g: &[L; Q], k: usize) -> L {
    g[k].add(g[k + 1])
}

/// Relaxes populations towards their equilibrium.
#[inline(always)]
fn collide<L: Lanes>(g: &[L; Q], wide: &Wide<L>) -> [L; Q] {
    let axes = both(g, 1).add(both(g, 3)).add(both(g, 5));
    let planar = both(g, 7).add(both(g, 9)).add(both(g, 11));
    let excess = g[0].add(axes).add(planar.add(both(g, 13).add(both(g, 15)).add(both(g, 17))));
    let x = apart(g, 1).add(apart(g, 7).add(apart(g, 9)));
    let x = x.add(apart(g, 11).add(apart(g, 13))).add(wide.push);
    let y = apart(g, 3).add(apart(g, 7).sub(apart(g, 9))).add(apart(g, 15).add(apart(g, 17)));
    let z = apart(g, 5).add(apart(g, 11).sub(apart(g, 13))).add(apart(g, 15).sub(apart(g, 17)));
    let volume = wide.one.div(wide.one.add(excess));
    let energy = x.fma(x, y.fma(y, z.mul(z))).mul(volume);
    let base = energy.fma(wide.less, excess);
    let mut out = *g;
    out[0] = wide.keep.fma(g[0], wide.both[0].mul(base));
    let base = (base, volume);
    pair(1, x, base, g, wide, &mut out);
    pair(3, y, base, g, wide, &mut out);
    pair(5, z, base, g, wide, &mut out);
    pair(7, x.add(y), base, g, wide, &mut out);
    pair(9, x.sub(y), base, g, wide, &mut out);
    pair(11, x.add(z), base, g, wide, &mut out);
    pair(13, x.sub(z), base, g, wide, &mut out);
    pair(15, y.add(z), base, g, wide, &mut out);
    pair(17, y.sub(z), base, g, wide, &mut out);
    out
}

/// Relaxes a pair of opposites, given the momentum along the first.
#[inline(always)]
fn pair<L: Lanes>(
    k: usize,
    along: L,
    (base, volume): (L, L),
    g: &[L; Q],
    wide: &Wide<L>,
    out: &mut [L; Q],
) {
    let kind = 1 + (k > 6) as usize;
    let both = along.mul(along).mul(volume).fma(wide.square[kind], wide.both[kind].mul(base));
    let apart = along.mul(wide.apart[kind]);
    out[k] = wide.keep.fma(g[k], both.add(apart));
    out[k + 1] = wide.keep.fma(g[k + 1], both.sub(apart));
}

/// Fluid that enters at the first cell of a row and leaves at the last. The first cell always sends the inflow; the
/// last sends the equilibrium at density 1 and the velocity along x that [`leaving`](super::model::leaving) finds.
#[inline(always)]
fn through<L: Lanes, const FIRST: bool, const LAST: bool>(
    before: &[L; Q],
    inflow: &[f32; Q],
    after: &mut [L; Q],
) {
    if FIRST {
        for k in 0..Q {
            after[k] = L::all(inflow[k]).pick(1, after[k]);
        }
    }
    if LAST {
        let mut speed = L::all(0.0);
        for k in 0..Q {
            match DIRECTIONS[k][0] {
                0 => speed = speed.add(before[k]),
                1 => speed = before[k].fma(L::all(2.0), speed),
                _ => {}
            }
        }
        // The equilibrium's sums over directions across x, along x, and against x.
        let square = speed.mul(speed);
        let crossing = square.mul(L::all(-1.5));
        let (twice, thrice) = (square.mul(L::all(3.0)), speed.mul(L::all(3.0)));
        let moved = [twice.sub(thrice), crossing, twice.add(thrice)];
        for k in 0..Q {
            let moved = moved[(DIRECTIONS[k][0] + 1) as usize];
            let weight = WEIGHTS[usize::from(k > 0) + usize::from(k > 6)] as f32;
            after[k] = moved.mul(L::all(weight)).pick(1 << (LANES - 1), after[k]);
        }
    }
}
