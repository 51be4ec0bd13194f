//! The entry of the flow by the lattice Boltzmann method.

use super::entry::{Job, LoopCommand, LoopEntry, LoopOutput};
use super::runner::Runner;
use crate::cli::flags::{FRAMES, REYNOLDS, SIZE, SPEED, STEPS, Use};
use crate::failure::{Failure, usage};
use crate::input::bytes_of_large;
use pleach_loops::lattice::flow::{Along, Flow, Friction, Obstacle, Setup};
use pleach_loops::lattice::mask::Mask;
use pleach_loops::lattice::output::{Fields, picture, write_vti};
use pleach_loops::lattice::slab::Slab;
use pleach_loops::lattice::stepping::Steps;
use pleach_loops::lattice::sums::Sum;
use pleach_loops::looping::Stops;
use pleach_loops::png::write_png;
use serde_json::json;
use std::sync::Arc;

/// See [`LoopEntry`].
pub const ENTRY: LoopEntry = LoopEntry {
    name: "lattice",
    about: "the flow around an obstacle, by the lattice Boltzmann method (D3Q19)",
    words: "no arguments; flags set the box and the obstacle",
    takes: (0, 0),
    is_file: |_| false,
    shared: false,
    flags: &[
        Use::with(
            "size",
            "cells of the box along x, y and z; the first number must be divisible by 16",
            "128x64x64",
        ),
        Use::plain("steps"),
        Use::plain("reynolds"),
        Use::plain("speed"),
        Use::plain("obstacle"),
        Use::plain("frames"),
        Use::plain("split"),
        Use::with(
            "out",
            "write density and velocity (.vti), or a picture of the middle plane (.png)",
            "",
        ),
    ],
    examples: &[
        "loop lattice --size 64x32x32 --steps 100 --out flow.png",
        "loop lattice --size 64x32x32 --steps 400 --frames 40 --out moving.png",
    ],
    writes: &["vti", "png"],
    prepare,
};

fn prepare(command: &LoopCommand<'_>) -> Result<Box<dyn Job>, Failure> {
    let given = command.given;
    let size = given.get(&SIZE)?.unwrap_or(vec![128, 64, 64]);
    let [x, y, z] = size[..] else {
        let size = given.word("size").unwrap_or_default();
        return usage(format!("--size {size}: expected three numbers, such as 128x64x64"));
    };
    let speed = given.get(&SPEED)?.unwrap_or(0.05);
    let reynolds = given.get(&REYNOLDS)?.unwrap_or(100.0);
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
        level: given.simd()?,
        ..Setup::default()
    };
    let flow = Flow::new(setup).or_else(|why| usage(format!("lattice: {why}")))?;
    let steps = given.get(&STEPS)?.unwrap_or(100);
    let frames = given.get(&FRAMES)?;
    let drawn = given.word("out").is_some_and(|name| name.ends_with(".png"));
    if let Some(frames) = frames {
        if !drawn {
            return usage("--frames: expected --out with a picture, such as --out flow.png");
        }
        if frames > steps {
            return usage(format!(
                "--frames {frames}: expected at most the number of --steps, {steps}"
            ));
        }
    }
    Ok(Box::new(Flowing {
        steps: Steps(Arc::new(flow)),
        count: steps,
        speed,
        frames: frames.unwrap_or(usize::from(drawn)),
        slabs: Vec::new(),
        pictures: Vec::new(),
    }))
}

/// A flow and its state after some steps.
struct Flowing {
    steps: Steps,
    count: usize,
    speed: f64,
    /// The number of pictures.
    frames: usize,
    slabs: Vec<Slab>,
    pictures: Pictures,
}

/// Pictures of the middle plane, each after this many steps.
type Pictures = Vec<(usize, Result<Vec<u8>, String>)>;

/// Draws the middle plane of a flow, in colours up to a speed.
fn draw(flow: &Flow, slabs: &[&Slab], fastest: f64) -> Result<Vec<u8>, String> {
    let middle = flow.size()[2] / 2;
    let slab = slabs.iter().find(|slab| slab.planes().contains(&middle));
    let velocities = slab.map(|slab| slab.velocities(middle)).unwrap_or_default();
    picture(flow, middle, &velocities, fastest)
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
        self.pictures.clear();
        let Self { steps, count, speed, frames, pictures, .. } = self;
        let show = &mut |done: usize, slabs: &[&Slab]| {
            // If the steps start over, all pictures are drawn again.
            pictures.retain(|&(before, _)| before < done);
            pictures.push((done, draw(&steps.0, slabs, 1.5 * *speed)));
        };
        let stops = match *frames {
            0 => Stops::from(*count),
            frames => Stops::showing(*count, frames, show),
        };
        let slabs = runner.steps(&*steps, stops)?;
        self.slabs = slabs.unwrap_or_default();
        Ok(())
    }

    fn check(&self) -> Result<(), Failure> {
        if self.slabs.iter().all(Slab::is_finite) {
            return Ok(());
        }
        usage(format!(
            "the flow became unstable within {} steps: choose a lower --reynolds or --speed, or a larger --size",
            self.count
        ))
    }

    fn found(&self) -> LoopOutput {
        let flow = &self.steps.0;
        let ([x, y, z], [drag, side, lift]) = (flow.size(), self.force());
        let checksum = self.slabs.iter().fold(0u64, |sum, slab| sum.wrapping_add(slab.checksum()));
        LoopOutput {
            units: z as u64,
            // As many digits as a number holds exactly.
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

    fn file(&self, _: &LoopCommand<'_>) -> Result<Vec<u8>, Failure> {
        let flow = &*self.steps.0;
        if self.frames > 0 {
            let [x, y, _] = flow.size();
            let all: Result<Vec<_>, _> = self.pictures.iter().map(|(_, it)| it.clone()).collect();
            let file = all.and_then(|all| write_png(x as u32, y as u32, &all));
            return file.map_err(Failure::Inside);
        }
        let mut fields = Fields::default();
        self.slabs.iter().for_each(|slab| slab.fields(&mut fields));
        write_vti(flow, &fields).map_err(Failure::Inside)
    }
}
