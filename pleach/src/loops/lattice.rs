//! The entry of flows by the lattice Boltzmann method.

use super::runner::Runner;
use super::{Entry, Found, Job, Order};
use crate::cli::flags::{REYNOLDS, SIZE, SPEED, STEPS, Use};
use crate::failure::{Failure, usage};
use crate::input::bytes_of_large;
use pleach_loops::lattice::flow::{Along, Flow, Friction, Obstacle, Setup};
use pleach_loops::lattice::mask::Mask;
use pleach_loops::lattice::output::{Fields, picture, write_vti};
use pleach_loops::lattice::slab::Slab;
use pleach_loops::lattice::stepping::Steps;
use pleach_loops::lattice::sums::Sum;
use pleach_loops::rays::picture::write_png;
use serde_json::json;
use std::sync::Arc;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    name: "lattice",
    about: "a flow around an obstacle, by the lattice Boltzmann method (D3Q19)",
    words: "no words: the box and the obstacle come by flags",
    takes: (0, 0),
    is_file: |_| false,
    flags: &[
        Use::with(
            "size",
            "cells of the box along x, y and z; the first number is divisible by 16",
            "128x64x64",
        ),
        Use::plain("steps"),
        Use::plain("reynolds"),
        Use::plain("speed"),
        Use::plain("obstacle"),
        Use::with(
            "out",
            "write density and velocity (.vti), or a picture of the middle plane (.png)",
            "",
        ),
    ],
    examples: &["loop lattice --size 64x32x32 --steps 100 --out flow.png"],
    prepare,
};

fn prepare(order: &Order<'_>) -> Result<Box<dyn Job>, Failure> {
    let given = order.given;
    let size = given.get(&SIZE).map_err(Failure::Usage)?.unwrap_or(vec![128, 64, 64]);
    let [x, y, z] = size[..] else {
        return usage("--size: expected three numbers, such as 128x64x64");
    };
    let speed = given.get(&SPEED).map_err(Failure::Usage)?.unwrap_or(0.05);
    let reynolds = given.get(&REYNOLDS).map_err(Failure::Usage)?.unwrap_or(100.0);
    let obstacle = match given.word("obstacle").unwrap_or("sphere") {
        "sphere" => Setup::default().obstacle,
        "none" => Obstacle::Nothing,
        file => {
            let bytes = bytes_of_large(file).or_else(|why| {
                usage(format!("--obstacle {file}: {why}; expected sphere, none or a file"))
            })?;
            let mask =
                Mask::read(&bytes).or_else(|why| usage(format!("--obstacle {file}: {why}")))?;
            Obstacle::Cells(mask)
        }
    };
    let setup = Setup {
        size: [x, y, z].map(|cells| cells as usize),
        along: Along::Stream { speed },
        friction: Friction::Reynolds(reynolds),
        obstacle,
        level: given.simd().map_err(Failure::Usage)?,
        ..Setup::default()
    };
    let flow = Flow::new(setup).or_else(|why| usage(format!("lattice: {why}")))?;
    let steps = given.get(&STEPS).map_err(Failure::Usage)?.unwrap_or(100);
    Ok(Box::new(Flowing { steps: Steps(Arc::new(flow)), count: steps, speed, slabs: Vec::new() }))
}

/// A flow and its state after some steps.
struct Flowing {
    steps: Steps,
    count: usize,
    speed: f64,
    slabs: Vec<Slab>,
}

impl Flowing {
    /// Drag, and lift along y and z, as coefficients of the sphere's or the mask's front.
    fn force(&self) -> [f64; 3] {
        let mut sums = [Sum::default(); 3];
        for slab in &self.slabs {
            for (sum, more) in sums.iter_mut().zip(slab.force()) {
                *sum += more;
            }
        }
        sums.map(Sum::value)
    }
}

impl Job for Flowing {
    fn run(&mut self, runner: &mut Runner<'_>) -> Result<(), Failure> {
        self.slabs.clear();
        let begin = |planes| self.steps.begin(planes);
        self.slabs = runner.steps(&self.steps, begin, self.count)?.unwrap_or_default();
        if self.slabs.iter().all(Slab::is_finite) {
            return Ok(());
        }
        usage(format!(
            "the flow has burst within {} steps: give a lower --reynolds or --speed, or a larger --size",
            self.count
        ))
    }

    fn found(&self) -> Found {
        let flow = &self.steps.0;
        let ([x, y, z], [drag, side, lift]) = (flow.size(), self.force());
        let checksum = self.slabs.iter().fold(0u64, |sum, slab| sum.wrapping_add(slab.checksum()));
        Found {
            units: z as u64,
            // As many digits as a number keeps exactly.
            checksum: (checksum >> 12) as f64,
            work: (flow.cells() as f64 * self.count as f64, "cells"),
            more: vec![
                ("steps", json!(self.count)),
                ("tau", json!(flow.tau())),
                ("drag", json!(drag)),
                ("lift", json!([side, lift])),
            ],
            phrase: format!(
                "{x} × {y} × {z} cells, {} steps, drag {drag:.5}, lift {lift:.5}",
                self.count
            ),
        }
    }

    fn file(&self, order: &Order<'_>) -> Result<Vec<u8>, Failure> {
        let flow = &*self.steps.0;
        if order.given.word("out").is_some_and(|name| name.ends_with(".png")) {
            let [x, y, z] = flow.size();
            let middle = z / 2;
            let slab = self.slabs.iter().find(|slab| slab.planes().contains(&middle));
            let velocities = slab.map(|slab| slab.velocities(middle)).unwrap_or_default();
            let pixels = picture(flow, middle, &velocities, 1.5 * self.speed);
            let pixels = pixels.map_err(Failure::Inside)?;
            return write_png(x as u32, y as u32, &pixels).map_err(Failure::Inside);
        }
        let mut fields = Fields::default();
        self.slabs.iter().for_each(|slab| slab.fields(&mut fields));
        write_vti(flow, &fields).map_err(Failure::Inside)
    }
}
