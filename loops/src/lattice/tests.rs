//! Compares slabs with the reference, and with each other however the flow is cut.

use super::blocks::PlaneBlocks;
use super::flow::{Across, Along, Flow, Friction, Obstacle, Setup};
use super::mask::Mask;
use super::outline::Outline;
use super::reference::Reference;
use super::slab::{Side, Slab};
use super::sums::Sum;
use crate::looping::SlabBlocks;
use pleach_core::search::level::Level;
use std::ops::Range;
use std::sync::Arc;

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.works())
}

/// A stream around a sphere, and a periodic box with scattered solid cells.
fn setups(level: Level) -> Vec<Setup> {
    let stream = |nx, ny| Setup {
        size: [nx, ny, 12],
        friction: Friction::Tau(0.6),
        obstacle: Obstacle::Sphere { centre: [0.4, 0.4, 0.5], radius: 0.3 },
        level,
        ..Setup::default()
    };
    let scattered = |size: [usize; 3], across| Setup {
        size,
        along: Along::Periodic { force: 1e-4 },
        across,
        friction: Friction::Tau(0.8),
        obstacle: Obstacle::Cells(Mask::by(size, |[x, y, z]| (x * 7 + y * 13 + z * 5) % 11 == 0)),
        level,
        ..Setup::default()
    };
    vec![
        stream(48, 20),
        stream(16, 9),
        stream(32, 33),
        scattered([32, 6, 12], Across::Periodic),
        scattered([16, 1, 12], Across::Periodic),
        scattered([64, 25, 12], Across::Slip),
        Setup { obstacle: Obstacle::Nothing, depth: 3, ..scattered([48, 5, 12], Across::Slip) },
        Setup { depth: 6, ..scattered([32, 17, 12], Across::Slip) },
    ]
}

/// An asymmetric initial state.
fn wavy([x, y, z]: [usize; 3]) -> (f64, [f64; 3]) {
    let wave = |a: usize, b: usize| ((x * a + y * b + z * (a + b)) as f64 * 0.1).sin();
    (1.0 + 0.01 * wave(3, 5), [0.05 + 0.02 * wave(2, 7), 0.02 * wave(5, 1), 0.02 * wave(1, 4)])
}

/// All slabs exchange their edges.
fn exchange(slabs: &mut [Slab]) {
    let count = slabs.len();
    for to in 0..count {
        for (side, from, other) in
            [(Side::Below, to + count - 1, Side::Above), (Side::Above, to + 1, Side::Below)]
        {
            if slabs[to].has_neighbour(side) {
                let edge = slabs[from % count].edge(other).to_vec();
                slabs[to].set_ghost(side, &edge);
            }
        }
    }
}

fn cut(flow: &Arc<Flow>, slabs: usize) -> Vec<Slab> {
    let slabs = flow.split(slabs).into_iter().map(|planes| Slab::new(flow, planes).unwrap());
    let mut slabs: Vec<Slab> = slabs.collect();
    slabs.iter_mut().for_each(|slab| slab.fill(wavy));
    slabs
}

/// All measurements.
fn measures(slabs: &[Slab]) -> (u64, Sum, [Sum; 3]) {
    let (mut checksum, mut excess, mut force) = (0u64, Sum::default(), [Sum::default(); 3]);
    for slab in slabs {
        checksum = checksum.wrapping_add(slab.checksum());
        excess += slab.excess();
        force.iter_mut().zip(slab.force()).for_each(|(sum, it)| *sum += it);
    }
    (checksum, excess, force)
}

#[test]
fn slabs_do_as_the_reference() {
    for setup in levels().flat_map(setups) {
        let flow = Arc::new(Flow::new(setup).unwrap());
        let mut slabs = cut(&flow, 1);
        let mut exact = Reference::<f64>::new(&flow, wavy);
        for _ in 0..9 {
            let [nx, ny, nz] = flow.size();
            for (x, y, z) in
                (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| (x, y, z))))
            {
                let (found, wanted) = (slabs[0].state([x, y, z]), exact.state([x, y, z]));
                let far = (0..3)
                    .map(|d| (found.1[d] - wanted.1[d]).abs())
                    .fold((found.0 - wanted.0).abs(), f64::max);
                assert!(
                    far < 2e-6,
                    "{:?} {x} {y} {z} {}: {found:?} {wanted:?}",
                    flow.setup,
                    slabs[0].steps()
                );
            }
            slabs[0].sweep(1);
            exchange(&mut slabs);
            exact.step();
        }
    }
}

#[test]
fn a_state_depends_on_the_number_of_steps_alone() {
    for setup in levels().flat_map(setups) {
        let flow = Arc::new(Flow::new(setup).unwrap());
        let run = |slabs: usize, sweeps: &[usize]| {
            let mut slabs = cut(&flow, slabs);
            for &steps in sweeps {
                slabs.iter_mut().for_each(|slab| slab.sweep(steps.min(flow.depth())));
                (steps > flow.depth()).then(|| {
                    exchange(&mut slabs);
                    slabs.iter_mut().for_each(|slab| slab.sweep(steps - flow.depth()));
                });
                exchange(&mut slabs);
            }
            measures(&slabs)
        };
        for total in [8, 11] {
            let wanted = run(1, &vec![1; total]);
            for slabs in 1..=3 {
                for sweeps in
                    [&[4, 4, 3][..], &[3, 4, 4], &[2, 2, 2, 2, 2, 1], &[1, 4, 4, 1, 1], &[6, 5]]
                {
                    let mut left = total;
                    let some = |&steps: &usize| {
                        let some = steps.min(left);
                        left -= some;
                        some
                    };
                    let sweeps: Vec<usize> = sweeps.iter().map(some).collect();
                    assert_eq!(
                        run(slabs, &sweeps),
                        wanted,
                        "{:?}: {slabs} slabs, {sweeps:?}",
                        flow.setup
                    );
                }
            }
        }
    }
}

#[test]
fn planes_that_move_change_nothing() {
    for setup in setups(Level::best()) {
        let flow = Arc::new(
            Flow::new(Setup {
                size: [setup.size[0], setup.size[1], 16],
                depth: 4,
                obstacle: Obstacle::Nothing,
                ..setup
            })
            .unwrap(),
        );
        for before in [2, 3] {
            let (mut still, mut moving) = (cut(&flow, 2), cut(&flow, 2));
            for (round, steps) in [before, 4, 4, 3].into_iter().enumerate() {
                for slabs in [&mut still, &mut moving] {
                    slabs.iter_mut().for_each(|slab| slab.sweep(steps));
                }
                let (giver, taker) = (round % 2, 1 - round % 2);
                move_planes(&mut moving, [giver, taker], 3);
                exchange(&mut still);
                exchange(&mut moving);
                assert_eq!(measures(&still), measures(&moving));
            }
        }
    }
}

/// Moves planes from one of two slabs to the other.
fn move_planes(slabs: &mut [Slab], [giver, taker]: [usize; 2], count: usize) {
    let Range { start, end } = slabs[giver].planes();
    let (left, moved) = if giver == 0 {
        (start..end - count, end - count..end)
    } else {
        (start + count..end, start..start + count)
    };
    let numbers = slabs[giver].numbers_of(moved.clone()).to_vec();
    let Range { start, end } = slabs[taker].planes();
    let all = start.min(moved.start)..end.max(moved.end);
    slabs[giver].recut(left, &[]).unwrap();
    slabs[taker].recut(all, &[(moved, numbers)]).unwrap();
}

/// The flow of a setup with this many planes, and cells scattered in all of them.
fn with_planes(planes: usize, setup: &Setup) -> Arc<Flow> {
    let size = [setup.size[0], setup.size[1], planes];
    let mask = Mask::by(size, |[x, y, z]| (x * 7 + y * 13 + z * 5) % 11 == 0);
    let obstacle = Obstacle::Cells(mask);
    Arc::new(Flow::new(Setup { size, obstacle, ..setup.clone() }).unwrap())
}

#[test]
fn sweeps_of_blocks_and_seams_are_a_sweep_of_the_slab() {
    for setup in levels().flat_map(setups) {
        let flow = with_planes(40, &setup);
        let depth = flow.depth();
        let sweeps = [4, 1, 3, 6, 2, 1].map(|steps| depth.min(steps));
        let mut whole = cut(&flow, 1);
        let wanted = sweeps.map(|steps| {
            whole[0].sweep(steps);
            exchange(&mut whole);
            measures(&whole)
        });
        for most in [1, 2, 3, 99] {
            let mut parts = cut(&flow, 1);
            for (steps, wanted) in sweeps.into_iter().zip(&wanted) {
                let blocks = PlaneBlocks::new(&mut parts[0], most);
                let count = blocks.count();
                assert!(count <= most && (count > 1 || most == 1), "{count}");
                // Blocks from above, seams from below.
                let tiles = (0..count).rev().map(|block| 2 * block);
                let tiles = tiles.chain((1..count).map(|seam| 2 * seam - 1));
                let done: usize = tiles.map(|tile| blocks.sweep(tile, 0, steps)).sum();
                assert_eq!(done, 40 * steps);
                drop(blocks);
                parts[0].outline.steps += steps as u64;
                exchange(&mut parts);
                assert_eq!(measures(&parts), *wanted, "{setup:?}: {most}, {steps}");
            }
        }
    }
}

/// Lower blocks are a sweep ahead where that is allowed.
#[test]
fn blocks_may_be_ahead_of_others() {
    for setup in setups(Level::best()) {
        let setup = Setup { across: Across::Slip, depth: 4, ..setup };
        let flow = with_planes(40, &setup);
        let (mut whole, mut parts) = (cut(&flow, 1), cut(&flow, 1));
        let blocks = PlaneBlocks::new(&mut parts[0], 4);
        for (tile, before, steps) in [
            (0, 0, 4),
            (2, 0, 4),
            (1, 0, 4),
            (0, 4, 3),
            (4, 0, 4),
            (3, 0, 4),
            (2, 4, 3),
            (1, 4, 3),
            (6, 0, 4),
            (5, 0, 4),
            (4, 4, 3),
            (6, 4, 3),
            (5, 4, 3),
            (3, 4, 3),
        ] {
            blocks.sweep(tile, before, steps);
        }
        drop(blocks);
        parts[0].outline.steps += 7;
        whole[0].sweep(4);
        whole[0].sweep(3);
        assert_eq!(measures(&parts), measures(&whole), "{setup:?}");
    }
}

#[test]
fn blocks_begin_like_a_new_slab_and_have_its_edges() {
    for setup in setups(Level::best()) {
        let flow = with_planes(60, &setup);
        for planes in [0..60, 0..40, 20..60, 10..50] {
            let whole = Slab::new(&flow, planes.clone()).unwrap();
            let mut parts = Slab::empty(Outline::new(&flow, planes.clone(), 0).unwrap()).unwrap();
            let blocks = PlaneBlocks::new(&mut parts, 3);
            (0..blocks.count()).for_each(|block| blocks.begin(block));
            for (above, side) in [(false, Side::Below), (true, Side::Above)] {
                let mut edge = Vec::new();
                blocks.edge(above, &mut edge);
                assert_eq!(edge, whole.edge(side));
                blocks.set_edge(above, &vec![0.5; edge.len()]);
            }
            let tiles = 0..2 * blocks.count() - 1;
            assert_eq!(blocks.units(0).start, planes.start);
            assert_eq!(blocks.units(tiles.end - 1).end, planes.end);
            assert!(tiles.clone().all(|tile| !blocks.units(tile).is_empty()));
            drop(blocks);
            assert_eq!(parts.numbers(), whole.numbers());
            let half =
                |planes: Range<usize>| parts.held_numbers(planes).iter().all(|&it| it == 0.5);
            assert!(parts.outline.ghost_planes().into_iter().all(half));
        }
    }
}

#[test]
fn a_new_slab_is_at_the_speed_of_the_inflow() {
    for setup in setups(Level::best()) {
        let flow = Arc::new(Flow::new(setup).unwrap());
        let speed = match flow.setup.along {
            Along::Stream { speed } => speed,
            Along::Periodic { .. } => 0.0,
        };
        let new = Slab::new(&flow, 6..12).unwrap();
        let mut filled = cut(&flow, 1).remove(0);
        filled.fill(|_| (1.0, [speed, 0.0, 0.0]));
        assert_eq!(new.numbers(), filled.numbers_of(6..12));
        assert!(flow.setup.obstacle == Obstacle::Nothing || new.numbers().contains(&0.0));
    }
}

#[test]
fn slabs_that_shrink_or_move_far_go_on() {
    for setup in setups(Level::best()) {
        let [x, y, _] = setup.size;
        let setup = Setup { size: [x, y, 32], depth: 4, obstacle: Obstacle::Nothing, ..setup };
        let flow = Arc::new(Flow::new(setup).unwrap());
        let mut whole = cut(&flow, 1);
        exchange(&mut whole);
        whole[0].sweep(3);
        let of = |planes: Range<usize>| {
            let mut slab = whole[0].clone();
            slab.recut(planes, &[]).unwrap();
            slab
        };
        // The highest planes are made from those of a slab that has none of them.
        let mut high = of(0..4);
        high.recut(28..32, &[(28..32, whole[0].numbers_of(28..32).to_vec())]).unwrap();
        let mut parts = [of(0..4), of(4..28), high];
        for slabs in [&mut whole[..], &mut parts] {
            exchange(slabs);
            slabs.iter_mut().for_each(|slab| slab.sweep(4));
            exchange(slabs);
        }
        assert_eq!(measures(&whole), measures(&parts));
        let slab = &mut whole[0];
        assert!(slab.recut(0..33, &[]).is_err(), "outside the box");
        assert!(slab.recut(0..3, &[]).is_err(), "too few planes");
        slab.recut(0..16, &[]).unwrap();
        assert!(slab.recut(0..20, &[]).is_err(), "planes are missing");
        assert!(slab.recut(0..20, &[(16..20, vec![0.0])]).is_err(), "numbers are missing");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let good = Setup::default();
    let bad = [
        Setup { size: [17, 8, 8], ..good.clone() },
        Setup { size: [16, 0, 8], ..good.clone() },
        Setup { size: [1 << 40, 1 << 40, 8], ..good.clone() },
        Setup { size: [16, 8, 2], across: Across::Periodic, ..good.clone() },
        Setup { along: Along::Stream { speed: f64::NAN }, ..good.clone() },
        Setup { along: Along::Periodic { force: 1e-5 }, ..good.clone() },
        Setup { friction: Friction::Tau(0.5), ..good.clone() },
        Setup { friction: Friction::Reynolds(-1.0), ..good.clone() },
        Setup { friction: Friction::Reynolds(f64::NAN), ..good.clone() },
        Setup { obstacle: Obstacle::Sphere { centre: [f64::NAN; 3], radius: 0.1 }, ..good.clone() },
        Setup { obstacle: Obstacle::Sphere { centre: [0.5; 3], radius: 1e300 }, ..good.clone() },
        Setup { obstacle: Obstacle::Cells(Mask::by([1, 1, 1], |_| true)), ..good.clone() },
        Setup { depth: 0, ..good.clone() },
        Setup { depth: usize::MAX, ..good.clone() },
    ];
    for setup in bad {
        assert!(Flow::new(setup.clone()).is_err_and(|why| !why.contains('\n')), "{setup:?}");
    }
    let flow = Arc::new(Flow::new(good).unwrap());
    for planes in [0..0, 0..65, 4..7, 70..80, 3..64, 0..61] {
        assert!(Slab::new(&flow, planes).is_err());
    }
}
