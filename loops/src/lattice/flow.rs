//! [`Flow`]: describes a flow: the box, its borders, the obstacle, the viscosity.

use super::group::Numbers;
use super::lanes::LANES;
use super::mask::Mask;
use super::model::{Q, equilibrium};
use pleach_core::search::level::Level;
use std::ops::Range;

/// The maximum number of steps in a sweep.
const DEEPEST: usize = 16;
/// The fastest inflow, in cells a step; the speed of sound is 0.58.
const FASTEST: f64 = 0.3;

/// What happens to fluid at the ends of x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Along {
    /// It re-enters at the other end. A force per volume may push it, in cells per step per step.
    Periodic {
        /// The force along x.
        force: f64,
    },
    /// It enters at x = 0 with this speed, in cells a step, always in equilibrium at density 1. It leaves at the
    /// other end, in equilibrium at density 1 and the velocity with which it arrives.
    Stream {
        /// The speed along x.
        speed: f64,
    },
}

/// What happens to fluid at the ends of y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// It re-enters at the other end.
    Periodic,
    /// It slides along walls without friction, half a cell beyond the last cells.
    Slip,
}

/// How viscous the fluid is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction {
    /// The relaxation time in steps: 0.5 plus three times the viscosity.
    Tau(f64),
    /// Speed times length over viscosity. The length is the sphere's diameter, the height of a mask's solid cells, or
    /// the height of an empty box.
    Reynolds(f64),
}

/// The obstacle in the flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Obstacle {
    /// Nothing.
    Nothing,
    /// A sphere. Its centre is in fractions of the box; its radius in fractions of the box's smaller side across the
    /// flow.
    Sphere {
        /// The centre.
        centre: [f64; 3],
        /// The radius.
        radius: f64,
    },
    /// These solid cells.
    Cells(Mask),
}

/// The parameters of a [`Flow`].
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Cells along x, y and z.
    pub size: [usize; 3],
    /// The ends of x.
    pub along: Along,
    /// The ends of y and z.
    pub across: Across,
    /// The viscosity.
    pub friction: Friction,
    /// The obstacle.
    pub obstacle: Obstacle,
    /// The maximum number of steps in a sweep; a slab keeps as many planes of each neighbour.
    pub depth: usize,
    /// The vector instructions.
    pub level: Level,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            size: [128, 64, 64],
            along: Along::Stream { speed: 0.05 },
            across: Across::Slip,
            friction: Friction::Reynolds(100.0),
            obstacle: Obstacle::Sphere { centre: [0.3, 0.5, 0.5], radius: 0.125 },
            depth: 4,
            level: Level::best(),
        }
    }
}

/// A flow: what all slabs share.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(crate) setup: Setup,
    pub(crate) numbers: Numbers,
    tau: f64,
    /// The solid cells of each group.
    solid: Vec<u16>,
}

impl Flow {
    /// Checks the parameters.
    ///
    /// # Errors
    /// What is wrong, in one line.
    pub fn new(setup: Setup) -> Result<Self, String> {
        check(&setup)?;
        let (solid, length) = solid(&setup)?;
        let tau = match setup.friction {
            Friction::Tau(tau) => tau,
            Friction::Reynolds(number) => {
                let Along::Stream { speed } = setup.along else {
                    return Err("a Reynolds number needs a stream; give the relaxation time".into());
                };
                0.5 + 3.0 * speed * length / number
            }
        };
        if !(tau > 0.5 && tau <= 100.0) {
            return Err(format!(
                "a relaxation time of {tau} steps: expected more than 0.5, at most 100"
            ));
        }
        let (push, inflow) = match setup.along {
            Along::Periodic { force } => (tau * force, None),
            Along::Stream { speed } => {
                (0.0, Some(equilibrium(1.0, [speed, 0.0, 0.0]).map(|it| it as f32)))
            }
        };
        let numbers = Numbers { omega: (1.0 / tau) as f32, push: push as f32, inflow };
        Ok(Self { setup, numbers, tau, solid })
    }

    /// Cells along x, y and z.
    #[must_use]
    pub fn size(&self) -> [usize; 3] {
        self.setup.size
    }

    /// The number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.setup.size.iter().product()
    }

    /// The maximum number of steps in a sweep.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.setup.depth
    }

    /// How many planes of each neighbour a slab keeps, which is also the minimum number of its own.
    #[must_use]
    pub fn ghosts(&self) -> usize {
        self.setup.depth.next_multiple_of(2)
    }

    /// The relaxation time, in steps.
    #[must_use]
    pub fn tau(&self) -> f64 {
        self.tau
    }

    /// The viscosity, in cells × cells a step.
    #[must_use]
    pub fn viscosity(&self) -> f64 {
        (self.tau - 0.5) / 3.0
    }

    /// Whether the first and the last plane are neighbours.
    #[must_use]
    pub fn is_ring(&self) -> bool {
        self.setup.across == Across::Periodic
    }

    /// Numbers in a plane of populations.
    #[must_use]
    pub fn plane_numbers(&self) -> usize {
        self.plane_lines() * LANES
    }

    /// Whether a cell is solid.
    ///
    /// # Panics
    /// If the cell is outside the box.
    #[must_use]
    pub fn is_solid(&self, [x, y, z]: [usize; 3]) -> bool {
        let groups = self.groups();
        assert!(x < self.setup.size[0]);
        self.solid_row(y, z)[x % groups] >> (x / groups) & 1 == 1
    }

    /// A neighbour of a cell; `None` beyond the end of the box.
    pub(crate) fn neighbour(&self, cell: [usize; 3], step: [i32; 3]) -> Option<[usize; 3]> {
        let mut out = cell;
        for d in 0..3 {
            let periodic = match d {
                0 => matches!(self.setup.along, Along::Periodic { .. }),
                _ => self.setup.across == Across::Periodic,
            };
            let at = cell[d].wrapping_add_signed(step[d] as isize);
            let size = self.setup.size[d];
            out[d] = match at < size {
                true => at,
                false if periodic => (cell[d] + size).wrapping_add_signed(step[d] as isize) % size,
                false => return None,
            };
        }
        Some(out)
    }

    /// Groups of cells in a row: cell `x` is in group `x % groups`, in lane `x / groups`.
    pub(crate) fn groups(&self) -> usize {
        self.setup.size[0] / LANES
    }

    pub(crate) fn plane_lines(&self) -> usize {
        self.setup.size[1] * self.groups() * Q
    }

    pub(crate) fn solid_row(&self, y: usize, z: usize) -> &[u16] {
        let groups = self.groups();
        let [_, ny, nz] = self.setup.size;
        assert!(y < ny && z < nz);
        &self.solid[(z * ny + y) * groups..][..groups]
    }

    /// Cuts the planes into slabs of nearly equal size; makes fewer slabs if they would become too thin.
    #[must_use]
    pub fn split(&self, slabs: usize) -> Vec<Range<usize>> {
        let planes = self.setup.size[2];
        let slabs = slabs.min(planes / self.ghosts()).max(1);
        (0..slabs).map(|s| s * planes / slabs..(s + 1) * planes / slabs).collect()
    }
}

fn check(setup: &Setup) -> Result<(), String> {
    let [nx, ny, nz] = setup.size;
    if nx == 0 || nx % LANES != 0 || ny == 0 || nz == 0 {
        return Err(format!(
            "a box of {nx} × {ny} × {nz} cells: expected sizes above 0, the first divisible by {LANES}"
        ));
    }
    let bytes = [ny, nz, Q * 4].iter().try_fold(nx, |product, &by| product.checked_mul(by));
    if bytes.is_none_or(|bytes| bytes > isize::MAX as usize / 2) {
        return Err(format!("a box of {nx} × {ny} × {nz} cells: too large"));
    }
    if !(1..=DEEPEST).contains(&setup.depth) {
        return Err(format!("{} steps in a sweep: expected 1 to {DEEPEST}", setup.depth));
    }
    let ghosts = setup.depth.next_multiple_of(2);
    if setup.across == Across::Periodic && nz < ghosts {
        return Err(format!("{nz} planes: expected at least {ghosts}, since the box is periodic"));
    }
    if !setup.level.works() {
        return Err(format!("this processor does not support {}", setup.level));
    }
    match setup.along {
        Along::Stream { speed } if !(0.0..=FASTEST).contains(&speed) => {
            Err(format!("an inflow of {speed} cells a step: expected 0 to {FASTEST}"))
        }
        Along::Periodic { force } if !(-FASTEST..=FASTEST).contains(&force) => {
            Err(format!("a force of {force}: expected -{FASTEST} to {FASTEST}"))
        }
        _ => Ok(()),
    }
}

/// The solid cells by group, and the length of the Reynolds number.
fn solid(setup: &Setup) -> Result<(Vec<u16>, f64), String> {
    let [nx, ny, nz] = setup.size;
    let groups = nx / LANES;
    let mut solid = Vec::new();
    let room = solid.try_reserve_exact(groups * ny * nz);
    room.map_err(|_| format!("a box of {nx} × {ny} × {nz} cells: too large"))?;
    solid.resize(groups * ny * nz, 0u16);
    let mut put = |x: usize, y: usize, z: usize| {
        solid[(z * ny + y) * groups + x % groups] |= 1 << (x / groups)
    };
    let length = match &setup.obstacle {
        Obstacle::Nothing => ny as f64,
        Obstacle::Cells(mask) => {
            if mask.size() != setup.size {
                let [x, y, z] = mask.size();
                return Err(format!(
                    "a mask of {x} × {y} × {z} cells: expected {nx} × {ny} × {nz}, like the box"
                ));
            }
            let (mut first, mut beyond) = (ny, 0);
            mask.each(|[x, y, z]| {
                put(x, y, z);
                (first, beyond) = (first.min(y), beyond.max(y + 1));
            });
            if beyond > first { (beyond - first) as f64 } else { ny as f64 }
        }
        Obstacle::Sphere { centre, radius } => {
            let across = ny.min(nz) as f64;
            if !(*radius > 0.0 && radius * across >= 0.5 && *radius <= 0.5) {
                return Err(format!(
                    "a radius of {radius}: expected at least half a cell, and at most 0.5; use a larger box, or \
                     the obstacle 'none'"
                ));
            }
            if !centre.iter().all(|it| (0.0..=1.0).contains(it)) {
                return Err(format!(
                    "a centre of {centre:?}: expected fractions of the box, from 0 to 1"
                ));
            }
            let (radius, middle) =
                (radius * across, [0, 1, 2].map(|d| centre[d] * setup.size[d] as f64));
            ball(setup.size, middle, radius, put);
            2.0 * radius
        }
    };
    Ok((solid, length))
}

/// The cells whose centres are in a ball.
fn ball(size: [usize; 3], middle: [f64; 3], radius: f64, mut put: impl FnMut(usize, usize, usize)) {
    let range = |d: usize| {
        let (low, high) = ((middle[d] - radius).floor().max(0.0), (middle[d] + radius).ceil());
        low as usize..(high as usize).min(size[d])
    };
    for (z, y) in range(2).flat_map(|z| range(1).map(move |y| (z, y))) {
        for x in range(0) {
            let far: f64 =
                [x, y, z].iter().zip(middle).map(|(&at, to)| (at as f64 + 0.5 - to).powi(2)).sum();
            if far <= radius * radius {
                put(x, y, z);
            }
        }
    }
}
