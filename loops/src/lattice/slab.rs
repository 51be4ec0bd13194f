//! [`Slab`]: some planes of a flow, and the planes of its neighbours that it needs for a sweep.

use super::flow::{Along, Flow};
use super::lanes::{LANES, Lane};
use super::memory::LineMemory;
use super::model::{DIRECTIONS, Q, equilibrium, leaving, moments};
use super::outline::Outline;
use super::sums::Sum;
use super::sweep::{Sheet, table};
use crate::simd::lattice_flat::{flat, flat_mut};
use std::ops::Range;
use std::sync::Arc;

/// A side of a slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Towards plane 0.
    Below,
    /// Towards the last plane.
    Above,
}

/// Some planes of a flow. Their state depends only on the number of steps, bit by bit: neither on how the flow is cut
/// nor on the steps per sweep.
#[derive(Clone, Debug)]
pub struct Slab {
    pub(super) outline: Outline,
    pub(super) lines: LineMemory,
}

impl Slab {
    /// Planes of a flow at its start: fluid at the speed of the inflow, or at rest.
    ///
    /// # Errors
    /// If there are too few planes, or some are outside the box, or memory does not suffice.
    pub fn new(flow: &Arc<Flow>, planes: Range<usize>) -> Result<Self, String> {
        let mut slab = Self::empty(Outline::new(flow, planes, 0)?)?;
        fill_evenly(flow, slab.outline.number(0), &mut slab.lines);
        Ok(slab)
    }

    /// Zeros, with room to grow to twice as many planes.
    ///
    /// # Errors
    /// If memory does not suffice.
    pub(super) fn empty(outline: Outline) -> Result<Self, String> {
        let (held, lines) = (outline.held(), outline.flow.plane_lines());
        let most = outline.flow.size()[2] + outline.ghosts[0] + outline.ghosts[1];
        let (count, most) = (held * lines, (2 * held).min(most) * lines);
        // Memory that is never written costs nothing on most systems; others may refuse it.
        let lines = LineMemory::new(count, most).or_else(|| LineMemory::new(count, count));
        let lines = lines.ok_or_else(|| "too many cells for the memory".to_string())?;
        Ok(Self { outline, lines })
    }

    /// Returns to the start, with a density and a velocity for each cell.
    pub fn fill(&mut self, state: impl Fn([usize; 3]) -> (f64, [f64; 3])) {
        self.outline.steps = 0;
        let flow = self.outline.flow.clone();
        let ([nx, ny, _], groups) = (flow.size(), flow.groups());
        let mut last = (f64::NAN, [0.0; 3]);
        let mut populations = [0.0f32; Q];
        let held = self.outline.held();
        for (plane, y) in (0..held).flat_map(|plane| (0..ny).map(move |y| (plane, y))) {
            let z = self.outline.number(plane);
            let first = (plane * ny + y) * groups * Q;
            for x in 0..nx {
                let state = state([x, y, z]);
                if state != last {
                    populations = equilibrium(state.0, state.1).map(|it| it as f32);
                    last = state;
                }
                for (k, &population) in populations.iter().enumerate() {
                    let solid = flow.is_solid([x, y, z]);
                    self.lines[first + x % groups * Q + k].0[x / groups] =
                        if solid { 0.0 } else { population };
                }
            }
        }
    }

    /// The flow.
    #[must_use]
    pub fn flow(&self) -> &Arc<Flow> {
        &self.outline.flow
    }

    /// Its planes.
    #[must_use]
    pub fn planes(&self) -> Range<usize> {
        self.outline.planes.clone()
    }

    /// Steps done since the start.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.outline.steps
    }

    /// Does steps in one sweep. The neighbours' planes must be current; afterwards they are stale.
    ///
    /// # Panics
    /// If there are more steps than the flow's depth.
    pub fn sweep(&mut self, steps: usize) {
        let Self { outline, lines } = self;
        let (first, planes) = (outline.number(0), outline.held());
        Sheet { flow: &outline.flow, first, planes, lines }.sweep(&outline.plan(0, steps));
        outline.steps += steps as u64;
    }

    /// Whether it keeps planes of a neighbour on this side.
    #[must_use]
    pub fn has_neighbour(&self, side: Side) -> bool {
        self.outline.ghosts[side as usize] > 0
    }

    /// Its planes that the neighbour on this side needs; none without a neighbour.
    #[must_use]
    pub fn edge(&self, side: Side) -> &[f32] {
        let [below, above] = self.outline.edges();
        self.held_numbers(if side == Side::Below { below } else { above })
    }

    /// Copies the planes of the neighbour on this side: that neighbour's edge on the other side.
    ///
    /// # Panics
    /// If the number of planes is wrong.
    pub fn set_ghost(&mut self, side: Side, edge: &[f32]) {
        let [below, above] = self.outline.ghost_planes();
        let planes = if side == Side::Below { below } else { above };
        self.held_numbers_mut(planes).copy_from_slice(edge);
    }

    /// Makes the only slab of a periodic box its own neighbour.
    ///
    /// # Panics
    /// If it is not the only slab.
    pub fn wrap(&mut self) {
        let outline = &self.outline;
        let ([below, above], count) = (outline.ghosts, outline.planes.len());
        assert_eq!(count, outline.flow.size()[2]);
        let (last, first) =
            (outline.span(count..count + below), outline.span(below..below + above));
        let to = outline.span(0..below + count).end;
        self.lines.copy_within(last, 0);
        self.lines.copy_within(first, to);
    }

    /// All its planes, lowest first.
    #[must_use]
    pub fn numbers(&self) -> &[f32] {
        flat(self.own(&self.outline.planes))
    }

    /// The numbers of some of its planes, lowest first.
    ///
    /// # Panics
    /// If it lacks some of them.
    #[must_use]
    pub fn numbers_of(&self, planes: Range<usize>) -> &[f32] {
        let own = &self.outline.planes;
        assert!(own.start <= planes.start && planes.end <= own.end);
        flat(self.own(&planes))
    }

    /// Changes to these planes. Those that it lacks are given with their numbers. The neighbours' planes must be set
    /// again.
    ///
    /// # Errors
    /// If there are too few planes, or some are missing or outside the box, or memory does not suffice.
    pub fn recut(
        &mut self,
        planes: Range<usize>,
        missing: &[(Range<usize>, Vec<f32>)],
    ) -> Result<(), String> {
        let (flow, own) = (&self.outline.flow, self.planes());
        let next = Outline::new(flow, planes.clone(), self.steps())?;
        let common = planes.start.max(own.start)..planes.end.min(own.end);
        let lacks = planes.len() - common.len();
        let fits = |(range, numbers): &(Range<usize>, Vec<f32>)| {
            range.start >= planes.start
                && range.end <= planes.end
                && numbers.len() == range.len() * flow.plane_numbers()
        };
        let given: usize = missing.iter().map(|(range, _)| range.len()).sum();
        if given != lacks || !missing.iter().all(fits) {
            return Err(format!("planes {planes:?}: {lacks} are missing, {given} are given"));
        }
        let count = next.held() * flow.plane_lines();
        let kept = (!common.is_empty()).then(|| self.outline.own_span(&common));
        let stays = count <= self.lines.capacity() && 2 * count >= self.lines.len();
        if let (Some(kept), true) = (kept, stays) {
            self.lines.resize(count.max(self.lines.len()));
            self.lines.copy_within(kept, next.own_span(&common).start);
            self.lines.resize(count);
            self.outline = next;
        } else {
            let mut next = Self::empty(next)?;
            if !common.is_empty() {
                let to = next.outline.own_span(&common);
                next.lines[to].copy_from_slice(self.own(&common));
            }
            *self = next;
        }
        for (range, numbers) in missing {
            let to = self.outline.own_span(range);
            flat_mut(&mut self.lines[to]).copy_from_slice(numbers);
        }
        Ok(())
    }

    /// The numbers of planes held.
    pub(super) fn held_numbers(&self, planes: Range<usize>) -> &[f32] {
        flat(&self.lines[self.outline.span(planes)])
    }

    /// The numbers of planes held, to be written.
    pub(super) fn held_numbers_mut(&mut self, planes: Range<usize>) -> &mut [f32] {
        let span = self.outline.span(planes);
        flat_mut(&mut self.lines[span])
    }

    fn own(&self, planes: &Range<usize>) -> &[Lane] {
        &self.lines[self.outline.own_span(planes)]
    }
}

/// Gives all fluid cells of these planes the state at the start of a flow, and solid ones none.
pub(super) fn fill_evenly(flow: &Flow, first: usize, lines: &mut [Lane]) {
    let speed = match flow.setup.along {
        Along::Stream { speed } => speed,
        Along::Periodic { .. } => 0.0,
    };
    let row = equilibrium(1.0, [speed, 0.0, 0.0]).map(|it| Lane([it as f32; LANES]));
    let [_, ny, nz] = flow.size();
    for (plane, lines) in lines.chunks_exact_mut(flow.plane_lines()).enumerate() {
        let mut groups = lines.chunks_exact_mut(Q);
        for y in 0..ny {
            for (&solid, group) in flow.solid_row(y, (first + plane) % nz).iter().zip(&mut groups) {
                group.copy_from_slice(&row);
                for lane in (0..LANES).filter(|lane| solid >> lane & 1 == 1) {
                    group.iter_mut().for_each(|line| line.0[lane] = 0.0);
                }
            }
        }
    }
}

/// Measurements. After an odd number of steps, populations are on their way between cells: densities, velocities and
/// forces then need current planes of the neighbours.
impl Slab {
    /// The density and the velocity in a cell of its planes; 1 and at rest if it is solid.
    ///
    /// # Panics
    /// If the cell is not in its planes.
    #[must_use]
    pub fn state(&self, cell: [usize; 3]) -> (f64, [f64; 3]) {
        if self.flow().is_solid(cell) {
            return (1.0, [0.0; 3]);
        }
        let populations = self.arriving(cell);
        let force = match self.flow().setup.along {
            Along::Stream { speed } if cell[0] == 0 => return (1.0, [speed, 0.0, 0.0]),
            Along::Stream { .. } if cell[0] + 1 == self.flow().size()[0] => {
                return (1.0, leaving(&populations));
            }
            Along::Stream { .. } => 0.0,
            Along::Periodic { force } => force,
        };
        let (excess, mut momentum) = moments(&populations);
        momentum[0] += force / 2.0;
        (1.0 + excess, momentum.map(|it| it / (1.0 + excess)))
    }

    /// The populations that the next step finds in a cell, less the weights.
    fn arriving(&self, [x, y, z]: [usize; 3]) -> [f64; Q] {
        assert!(self.outline.planes.contains(&z));
        let odd = self.steps() % 2 == 1;
        let plane = z - self.outline.planes.start + self.outline.ghosts[0];
        let table = table(self.flow(), self.outline.held(), (plane, y), odd);
        let (nx, groups) = (self.flow().size()[0], self.flow().groups());
        std::array::from_fn(|k| {
            let step = if odd { DIRECTIONS[k][0] as isize } else { 0 };
            let first = table[k].wrapping_add_signed(step * Q as isize);
            let x = (x + nx).wrapping_add_signed(-step) % nx;
            f64::from(self.lines[first + x % groups * Q].0[x / groups])
        })
    }

    /// The force of the fluid on solid cells along x (drag), y and z (lift) in the last step: twice the momentum of
    /// what arrives from fluid cells. Pressure is relative to that at density 1. Slabs' sums are exact: add them up.
    #[must_use]
    pub fn force(&self) -> [Sum; 3] {
        let mut force = [Sum::default(); 3];
        let [_, ny, _] = self.flow().size();
        for (z, y) in self.planes().flat_map(|z| (0..ny).map(move |y| (z, y))) {
            for (i, &solid) in
                self.flow().solid_row(y, z).iter().enumerate().filter(|(_, it)| **it != 0)
            {
                for lane in (0..16).filter(|lane| solid >> lane & 1 == 1) {
                    self.push([lane * self.flow().groups() + i, y, z], &mut force);
                }
            }
        }
        force
    }

    fn push(&self, cell: [usize; 3], force: &mut [Sum; 3]) {
        let from = |k: usize| self.flow().neighbour(cell, DIRECTIONS[k].map(|it| -it));
        let wet = |k: usize| from(k).is_some_and(|from| !self.flow().is_solid(from));
        if !(1..Q).any(wet) {
            return;
        }
        let arriving = self.arriving(cell);
        for k in (1..Q).filter(|&k| wet(k)) {
            for (sum, along) in force.iter_mut().zip(DIRECTIONS[k]) {
                sum.add(2.0 * arriving[k] * f64::from(along));
            }
        }
    }

    /// The mass in its planes beyond 1 per cell. Slabs' sums are exact: add them up.
    #[must_use]
    pub fn excess(&self) -> Sum {
        let mut excess = Sum::default();
        self.numbers().iter().for_each(|&it| excess.add(f64::from(it)));
        excess
    }

    /// Whether all populations are finite: if the viscosity is too low for the speed, a flow blows up.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.numbers().iter().all(|it| it.is_finite())
    }

    /// A checksum of the state; add up those of all slabs, wrapping.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        let plane = |(z, numbers): (usize, &[f32])| {
            numbers.iter().fold(z as u64 + 1, |sum, it| {
                (sum.rotate_left(5) ^ u64::from(it.to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            })
        };
        self.planes()
            .zip(self.numbers().chunks(self.flow().plane_numbers()))
            .map(plane)
            .fold(0, u64::wrapping_add)
    }
}
