//! Lattice Boltzmann on one thread: million cell updates a second, next to what copying allows.
//!
//! The roof is the bandwidth of a copy that bypasses the caches, divided by the 152 bytes that a step must read and
//! write.

use pleach_core::search::level::Level;
use pleach_loops::lattice::copy_past_caches;
use pleach_loops::lattice::flow::{Flow, Obstacle, Setup};
use pleach_loops::lattice::slab::Slab;
use std::sync::Arc;
use std::time::Instant;

/// Bytes read and written per cell: 19 numbers of 4 bytes, twice.
const BYTES: f64 = 152.0;

/// The boxes, unless the command line names others.
const SIZES: [[usize; 3]; 3] = [[128, 64, 64], [256, 128, 128], [512, 128, 128]];

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let deep: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let deep = if deep.is_empty() { vec![4] } else { deep };
    if words.iter().any(|word| word == "drag") {
        return drag();
    }
    println!("{:16} {:>7} {:>6} {:>9} {:>6}", "box", "level", "steps", "Mcells/s", "roofs");
    let of = |word: &String| {
        let size: Vec<usize> = word.split('x').filter_map(|it| it.parse().ok()).collect();
        size.try_into().ok()
    };
    let given: Vec<[usize; 3]> = words.iter().filter_map(of).collect();
    let sizes = if given.is_empty() { SIZES.to_vec() } else { given.clone() };
    for size in sizes {
        let levels = Level::ALL.into_iter().filter(|level| level.works()).rev();
        // Once is enough for the slower levels.
        for level in levels.take(if size == SIZES[0] && given.is_empty() { 3 } else { 1 }) {
            one(size, level, &deep);
        }
    }
}

/// The drag of a sphere at Reynolds number 100: 1.09 in an unbounded stream (Schiller and Naumann), more in a box.
fn drag() {
    let (speed, diameter) = (0.05, 16.0);
    let flow = Arc::new(
        Flow::new(Setup { size: [192, 96, 96], obstacle: SPHERE, ..Setup::default() })
            .expect("a valid flow"),
    );
    let mut slab = Slab::new(&flow, 0..flow.size()[2]).expect("enough memory");
    for _ in 0..8 {
        for _ in 0..200 {
            slab.sweep(flow.depth());
        }
        let area = std::f64::consts::PI * diameter * diameter / 4.0;
        let [drag, y, z] = slab.force().map(|it| it.value() / (0.5 * speed * speed * area));
        println!("{:>6} steps: drag {drag:.4}, lift {y:.5} and {z:.5}", slab.steps());
    }
}

/// Sixteen cells across, in a box six times as high.
const SPHERE: Obstacle = Obstacle::Sphere { centre: [0.3, 0.5, 0.5], radius: 1.0 / 12.0 };

/// All depths of a box at a level. Alternates roofs and rates, since other programs may use the machine's memory too.
fn one(size: [usize; 3], level: Level, deep: &[usize]) {
    let depth = deep.iter().copied().max().unwrap_or(1);
    let flow = Flow::new(Setup { size, level, depth, ..Setup::default() }).expect("a valid flow");
    let flow = Arc::new(flow);
    let mut slab = Slab::new(&flow, 0..size[2]).expect("enough memory");
    let mut copy = Copy::new(slab.numbers().len());
    let depths: Vec<usize> = std::iter::once(1).chain(deep.iter().copied()).collect();
    let mut best = vec![0f64; depths.len()];
    let mut roof = 0f64;
    slab.sweep(1);
    for _ in 0..7 {
        roof = roof.max(copy.rate() / BYTES);
        for (best, &depth) in best.iter_mut().zip(&depths) {
            let began = Instant::now();
            let mut steps = 0;
            while steps < 12 {
                slab.sweep(depth);
                steps += depth;
            }
            let rate = (flow.cells() * steps) as f64 / began.elapsed().as_secs_f64();
            *best = best.max(rate);
        }
    }
    let name = size.map(|it| it.to_string()).join("x");
    println!("{name:16} {:>7} {:>6} {:>9.1} {:>6.2}", "copy", "", roof * 1e-6, 1.0);
    for (best, depth) in best.iter().zip(depths) {
        let level = level.to_string();
        println!("{name:16} {level:>7} {depth:>6} {:>9.1} {:>6.2}", best * 1e-6, best / roof);
    }
}

/// Two arrays between which to copy.
struct Copy {
    from: Vec<f32>,
    to: Vec<f32>,
}

impl Copy {
    fn new(numbers: usize) -> Self {
        Self { from: vec![1.0; numbers], to: vec![2.0; numbers] }
    }

    /// Bytes read and written per second.
    fn rate(&mut self) -> f64 {
        let began = Instant::now();
        for _ in 0..4 {
            copy_past_caches(&self.from, &mut self.to);
            std::hint::black_box(&mut self.to);
        }
        (self.from.len() * 4 * 8) as f64 / began.elapsed().as_secs_f64()
    }
}
