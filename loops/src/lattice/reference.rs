//! [`Reference`]: the same flow with two lattices, cell by cell, in f32 or f64, to which slabs are compared.

use super::flow::{Along, Flow};
use super::model::{DIRECTIONS, Q, equilibrium, leaving, moments, opposite};
use crate::real::Real;

/// A whole flow. It computes in double precision and stores numbers of type `T`.
pub struct Reference<'f, T> {
    flow: &'f Flow,
    now: Vec<[T; Q]>,
    next: Vec<[T; Q]>,
}

impl<'f, T: Real> Reference<'f, T> {
    /// A flow at its start, with a density and a velocity for each cell.
    pub fn new(flow: &'f Flow, state: impl Fn([usize; 3]) -> (f64, [f64; 3])) -> Self {
        let of = |cell| {
            let (density, velocity) = state(cell);
            let populations = equilibrium(density, velocity);
            populations.map(|it| T::of(if flow.is_solid(cell) { 0.0 } else { it }))
        };
        let now: Vec<_> = (0..flow.cells()).map(|at| of(cell(flow, at))).collect();
        Self { flow, next: now.clone(), now }
    }

    /// One step: every cell collides, then streams.
    pub fn step(&mut self) {
        for at in 0..self.now.len() {
            let from = cell(self.flow, at);
            for (k, population) in self.collided(from).into_iter().enumerate() {
                let (to, k) = target(self.flow, from, k);
                self.next[index(self.flow, to)][k] = T::of(population);
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// The density and the velocity in a cell; 1 and at rest if it is solid.
    #[must_use]
    pub fn state(&self, cell: [usize; 3]) -> (f64, [f64; 3]) {
        let populations = self.populations(cell);
        match self.flow.setup.along {
            _ if self.flow.is_solid(cell) => (1.0, [0.0; 3]),
            Along::Stream { speed } if cell[0] == 0 => (1.0, [speed, 0.0, 0.0]),
            Along::Stream { .. } if cell[0] + 1 == self.flow.size()[0] => {
                (1.0, leaving(&populations))
            }
            along => {
                let (excess, mut momentum) = moments(&populations);
                if let Along::Periodic { force } = along {
                    momentum[0] += force / 2.0;
                }
                (1.0 + excess, momentum.map(|it| it / (1.0 + excess)))
            }
        }
    }

    fn populations(&self, cell: [usize; 3]) -> [f64; Q] {
        self.now[index(self.flow, cell)].map(Into::into)
    }

    fn collided(&self, cell: [usize; 3]) -> [f64; Q] {
        let before = self.populations(cell);
        if self.flow.is_solid(cell) {
            return std::array::from_fn(|k| before[opposite(k)]);
        }
        let push = match self.flow.setup.along {
            Along::Stream { speed } if cell[0] == 0 => return equilibrium(1.0, [speed, 0.0, 0.0]),
            Along::Stream { .. } if cell[0] + 1 == self.flow.size()[0] => {
                return equilibrium(1.0, leaving(&before));
            }
            Along::Stream { .. } => 0.0,
            Along::Periodic { force } => force * self.flow.tau(),
        };
        let (excess, mut momentum) = moments(&before);
        momentum[0] += push;
        let wanted = equilibrium(1.0 + excess, momentum.map(|it| it / (1.0 + excess)));
        std::array::from_fn(|k| before[k] + (wanted[k] - before[k]) / self.flow.tau())
    }
}

/// Where a population streams to, and its direction there.
fn target(flow: &Flow, from: [usize; 3], k: usize) -> ([usize; 3], usize) {
    let mut direction = DIRECTIONS[k];
    let mut to = from;
    for d in 0..3 {
        let size = flow.size()[d];
        let at = from[d].wrapping_add_signed(direction[d] as isize);
        if at < size {
            to[d] = at;
        } else if d == 0 || flow.is_ring() {
            to[d] = (from[d] + size).wrapping_add_signed(direction[d] as isize) % size;
        } else {
            direction[d] = -direction[d];
        }
    }
    (to, DIRECTIONS.iter().position(|it| *it == direction).unwrap_or(k))
}

fn index(flow: &Flow, [x, y, z]: [usize; 3]) -> usize {
    let [nx, ny, _] = flow.size();
    (z * ny + y) * nx + x
}

fn cell(flow: &Flow, at: usize) -> [usize; 3] {
    let [nx, ny, _] = flow.size();
    [at % nx, at / nx % ny, at / nx / ny]
}
