//! [`Slab`]: some planes of a flow, and the planes of its neighbours that it needs for a sweep.

use super::flow::{Along, Flow};
use super::lanes::{LANES, Lane};
use super::model::{DIRECTIONS, Q, equilibrium, leaving, moments};
use super::sums::Sum;
use super::sweep::{Sheet, Step, table};
use crate::simd::lattice_flat::{flat, flat_mut};
use crate::simd::pages::in_large_pages;
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
    pub(super) flow: Arc<Flow>,
    planes: Range<usize>,
    /// Planes of the neighbours below and above.
    pub(super) ghosts: [usize; 2],
    lines: Vec<Lane>,
    pub(super) steps: u64,
}

impl Slab {
    /// Planes of a flow at its start: fluid at the speed of the inflow, or at rest.
    ///
    /// # Errors
    /// If there are too few planes, or some are outside the box, or memory does not suffice.
    pub fn new(flow: &Arc<Flow>, planes: Range<usize>) -> Result<Self, String> {
        let mut slab = Self::empty(flow, planes)?;
        let speed = match flow.setup.along {
            Along::Stream { speed } => speed,
            Along::Periodic { .. } => 0.0,
        };
        slab.fill_evenly(equilibrium(1.0, [speed, 0.0, 0.0]).map(|it| it as f32));
        Ok(slab)
    }

    /// Zeros, with room to grow to twice as many planes.
    fn empty(flow: &Arc<Flow>, planes: Range<usize>) -> Result<Self, String> {
        let ghosts = ghosts(flow, &planes)?;
        let count = (planes.len() + ghosts[0] + ghosts[1]) * flow.plane_lines();
        let most = (flow.size()[2] + ghosts[0] + ghosts[1]) * flow.plane_lines();
        let mut lines = Vec::new();
        // Memory that is never written costs nothing on most systems; others may refuse it.
        let room = lines.try_reserve_exact(count.saturating_mul(2).min(most));
        room.or_else(|_| lines.try_reserve_exact(count))
            .map_err(|_| "too many cells for the memory".to_string())?;
        // The system also frees large pages faster when a flow is stopped.
        in_large_pages(lines.spare_capacity_mut());
        lines.resize(count, Lane::default());
        Ok(Self { flow: flow.clone(), planes, ghosts, lines, steps: 0 })
    }

    /// Returns to the start, with a density and a velocity for each cell.
    pub fn fill(&mut self, state: impl Fn([usize; 3]) -> (f64, [f64; 3])) {
        self.steps = 0;
        let flow = self.flow.clone();
        let ([nx, ny, _], groups) = (flow.size(), flow.groups());
        let mut last = (f64::NAN, [0.0; 3]);
        let mut populations = [0.0f32; Q];
        for (plane, y) in (0..self.held()).flat_map(|plane| (0..ny).map(move |y| (plane, y))) {
            let z = self.number(plane);
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

    /// Gives all fluid cells these populations, and solid ones none.
    fn fill_evenly(&mut self, populations: [f32; Q]) {
        let row = populations.map(|population| Lane([population; LANES]));
        self.lines.chunks_exact_mut(Q).for_each(|group| group.copy_from_slice(&row));
        let flow = self.flow.clone();
        let (ny, groups) = (flow.size()[1], flow.groups());
        for (plane, y) in (0..self.held()).flat_map(|plane| (0..ny).map(move |y| (plane, y))) {
            let first = (plane * ny + y) * groups;
            let solid = flow.solid_row(y, self.number(plane)).iter().enumerate();
            for (group, &solid) in solid.filter(|(_, solid)| **solid != 0) {
                for line in &mut self.lines[(first + group) * Q..][..Q] {
                    for lane in (0..LANES).filter(|lane| solid >> lane & 1 == 1) {
                        line.0[lane] = 0.0;
                    }
                }
            }
        }
    }

    /// The flow.
    #[must_use]
    pub fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    /// Its planes.
    #[must_use]
    pub fn planes(&self) -> Range<usize> {
        self.planes.clone()
    }

    /// Steps done since the start.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Does steps in one sweep. The neighbours' planes must be current; afterwards they are stale.
    ///
    /// # Panics
    /// If there are more steps than the flow's depth.
    pub fn sweep(&mut self, steps: usize) {
        let (order, held) = (self.plan(steps), self.held());
        let first = self.number(0);
        let sheet = &mut Sheet { flow: &self.flow, first, planes: held, lines: &mut self.lines };
        sheet.sweep(&order);
        self.steps += steps as u64;
    }

    /// The steps of a sweep.
    pub(super) fn plan(&self, steps: usize) -> Vec<Step> {
        assert!(
            steps <= self.flow.depth(),
            "{steps} steps: more than the neighbours' planes allow"
        );
        let (held, mut more) = (self.held(), 0);
        let mut order: Vec<Step> = (0..steps)
            .rev()
            .map(|s| {
                let odd = (self.steps + s as u64) % 2 == 1;
                let beyond = more + usize::from(odd);
                more += 2 * usize::from(odd);
                let start = self.ghosts[0].saturating_sub(beyond);
                let end = held - self.ghosts[1].saturating_sub(beyond);
                Step { odd, planes: start..end }
            })
            .collect();
        order.reverse();
        order
    }

    /// Whether it keeps planes of a neighbour on this side.
    #[must_use]
    pub fn has_neighbour(&self, side: Side) -> bool {
        self.ghosts[side as usize] > 0
    }

    /// Its planes that the neighbour on this side needs; none without a neighbour.
    #[must_use]
    pub fn edge(&self, side: Side) -> &[f32] {
        let [below, above] = self.edges();
        let planes = if side == Side::Below { below } else { above };
        flat(&self.lines[self.span(planes)])
    }

    /// Where its planes are that the neighbours below and above need.
    pub(super) fn edges(&self) -> [Range<usize>; 2] {
        let (own, end) = (self.ghosts[0], self.held() - self.ghosts[1]);
        let deep = self.flow.ghosts().min(end - own);
        let [below, above] = self.ghosts.map(|ghosts| if ghosts > 0 { deep } else { 0 });
        [own..own + below, end - above..end]
    }

    /// Where the planes of the neighbours below and above are.
    pub(super) fn ghost_planes(&self) -> [Range<usize>; 2] {
        let held = self.held();
        [0..self.ghosts[0], held - self.ghosts[1]..held]
    }

    /// Copies the planes of the neighbour on this side: that neighbour's edge on the other side.
    ///
    /// # Panics
    /// If the number of planes is wrong.
    pub fn set_ghost(&mut self, side: Side, edge: &[f32]) {
        let [below, above] = self.ghost_planes();
        let span = self.span(if side == Side::Below { below } else { above });
        flat_mut(&mut self.lines[span]).copy_from_slice(edge);
    }

    /// Makes the only slab of a periodic box its own neighbour.
    ///
    /// # Panics
    /// If it is not the only slab.
    pub fn wrap(&mut self) {
        assert_eq!(self.planes.len(), self.flow.size()[2]);
        let [below, above] = self.ghosts;
        let count = self.planes.len();
        let (last, first) = (self.span(count..count + below), self.span(below..below + above));
        let to = self.span(0..below + count).end;
        self.lines.copy_within(last, 0);
        self.lines.copy_within(first, to);
    }

    /// All its planes, lowest first.
    #[must_use]
    pub fn numbers(&self) -> &[f32] {
        flat(self.own(&self.planes))
    }

    /// The numbers of some of its planes, lowest first.
    ///
    /// # Panics
    /// If it lacks some of them.
    #[must_use]
    pub fn numbers_of(&self, planes: Range<usize>) -> &[f32] {
        assert!(self.planes.start <= planes.start && planes.end <= self.planes.end);
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
        let lines = self.flow.plane_lines();
        let ghosts = ghosts(&self.flow, &planes)?;
        let common = planes.start.max(self.planes.start)..planes.end.min(self.planes.end);
        let lacks = planes.len() - common.len();
        let fits = |(range, numbers): &(Range<usize>, Vec<f32>)| {
            range.start >= planes.start
                && range.end <= planes.end
                && numbers.len() == range.len() * self.flow.plane_numbers()
        };
        let given: usize = missing.iter().map(|(range, _)| range.len()).sum();
        if given != lacks || !missing.iter().all(fits) {
            return Err(format!("planes {planes:?}: {lacks} are missing, {given} are given"));
        }
        let count = (planes.len() + ghosts[0] + ghosts[1]) * lines;
        let kept = (!common.is_empty()).then(|| self.own_span(&common));
        let stays = count <= self.lines.capacity() && 2 * count >= self.lines.len();
        if let (Some(kept), true) = (kept, stays) {
            self.lines.resize(count.max(self.lines.len()), Lane::default());
            let to = (common.start - planes.start + ghosts[0]) * lines;
            self.lines.copy_within(kept, to);
            self.lines.truncate(count);
            (self.planes, self.ghosts) = (planes, ghosts);
        } else {
            let mut next = Self::empty(&self.flow, planes)?;
            if !common.is_empty() {
                let to = next.own_span(&common);
                next.lines[to].copy_from_slice(self.own(&common));
            }
            next.steps = self.steps;
            *self = next;
        }
        for (range, numbers) in missing {
            let to = self.own_span(range);
            flat_mut(&mut self.lines[to]).copy_from_slice(numbers);
        }
        Ok(())
    }

    /// The number of planes held, including those of the neighbours.
    pub(super) fn held(&self) -> usize {
        self.planes.len() + self.ghosts[0] + self.ghosts[1]
    }

    /// The number in the box of a held plane.
    pub(super) fn number(&self, plane: usize) -> usize {
        let all = self.flow.size()[2];
        (self.planes.start + plane + all - self.ghosts[0]) % all
    }

    /// The numbers of planes held.
    pub(super) fn held_numbers(&self, planes: Range<usize>) -> &[f32] {
        flat(&self.lines[self.span(planes)])
    }

    /// The numbers of planes held, to be written.
    pub(super) fn held_numbers_mut(&mut self, planes: Range<usize>) -> &mut [f32] {
        let span = self.span(planes);
        flat_mut(&mut self.lines[span])
    }

    /// The lines of planes held.
    fn span(&self, planes: Range<usize>) -> Range<usize> {
        let lines = self.flow.plane_lines();
        planes.start * lines..planes.end * lines
    }

    /// The lines of its planes, by their numbers in the box.
    fn own_span(&self, planes: &Range<usize>) -> Range<usize> {
        let to = |plane: usize| plane - self.planes.start + self.ghosts[0];
        self.span(to(planes.start)..to(planes.end))
    }

    fn own(&self, planes: &Range<usize>) -> &[Lane] {
        &self.lines[self.own_span(planes)]
    }
}

/// How many planes of the neighbours below and above a slab of these planes keeps.
fn ghosts(flow: &Flow, planes: &Range<usize>) -> Result<[usize; 2], String> {
    let (all, fewest) = (flow.size()[2], flow.ghosts());
    if planes.start >= planes.end || planes.end > all {
        return Err(format!("planes {planes:?} of {all}: expected some of them"));
    }
    if planes.len() < fewest.min(all) {
        return Err(format!("planes {planes:?}: expected at least {}", fewest.min(all)));
    }
    for rest in [planes.start, all - planes.end] {
        if rest > 0 && rest < fewest {
            return Err(format!(
                "planes {planes:?} of {all}: expected none or at least {fewest} on either side"
            ));
        }
    }
    let ends = [planes.start == 0, planes.end == all];
    Ok(ends.map(|end| if end && !flow.is_ring() { 0 } else { fewest }))
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
        if self.flow.is_solid(cell) {
            return (1.0, [0.0; 3]);
        }
        let populations = self.arriving(cell);
        let force = match self.flow.setup.along {
            Along::Stream { speed } if cell[0] == 0 => return (1.0, [speed, 0.0, 0.0]),
            Along::Stream { .. } if cell[0] + 1 == self.flow.size()[0] => {
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
        assert!(self.planes.contains(&z));
        let odd = self.steps % 2 == 1;
        let plane = z - self.planes.start + self.ghosts[0];
        let table = table(&self.flow, self.held(), (plane, y), odd);
        let (nx, groups) = (self.flow.size()[0], self.flow.groups());
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
        let [_, ny, _] = self.flow.size();
        for (z, y) in self.planes.clone().flat_map(|z| (0..ny).map(move |y| (z, y))) {
            for (i, &solid) in
                self.flow.solid_row(y, z).iter().enumerate().filter(|(_, it)| **it != 0)
            {
                for lane in (0..16).filter(|lane| solid >> lane & 1 == 1) {
                    self.push([lane * self.flow.groups() + i, y, z], &mut force);
                }
            }
        }
        force
    }

    fn push(&self, cell: [usize; 3], force: &mut [Sum; 3]) {
        let from = |k: usize| self.flow.neighbour(cell, DIRECTIONS[k].map(|it| -it));
        let wet = |k: usize| from(k).is_some_and(|from| !self.flow.is_solid(from));
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
        self.planes
            .clone()
            .zip(self.numbers().chunks(self.flow.plane_numbers()))
            .map(plane)
            .fold(0, u64::wrapping_add)
    }
}
