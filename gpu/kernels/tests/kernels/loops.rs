//! Tests kernels of loops, range by range: results of a device and a thread fit together at every cut.

use crate::device::{bounds, bounds_by, tables};
use pleach_core::search::evaluate::Parents;
use pleach_core::search::level::Level;
use pleach_loops::lattice::flow::{Across, Along, Flow, Friction, Obstacle, Setup};
use pleach_loops::lattice::stepping::Steps;
use pleach_loops::looping::{Loop, Stepping};
use pleach_loops::rays::frame::{Frame, Method, Settings};
use pleach_loops::rays::mesh::Mesh;
use pleach_loops::rays::scene::Scene;
use pleach_loops::rays::transfer::Transfer;
use pleach_loops::rays::view::View;
use pleach_loops::sparse::csrmm::Csrmm;
use pleach_loops::sparse::generate::named;
use pleach_loops::sparse::matrix::{Csr, Dense};
use pleach_loops::sparse::spmm::{Adding, Counting, Factors, multiply, room};
use std::ops::Range;
use std::sync::Arc;

/// Runs some units on the device, and all others in this thread.
fn with_device(work: &impl Loop, units: Range<usize>, seed: u64) {
    let local = &mut work.local();
    work.run(0..units.start, local);
    work.run(units.end..work.units(), local);
    if units.is_empty() {
        return;
    }
    let on = work.on_device().unwrap();
    let layout = on.layout(&|| true).unwrap();
    let words = on.words(&units);
    assert!(words > 0 && words <= layout.width);
    let mut parents = Parents { starts: vec![0, words as u32], words: Vec::new() };
    on.order(&units, &mut parents.words);
    assert_eq!(parents.words.len(), layout.words);
    on.store(units, &bounds(&layout, &parents, seed));
}

/// Every range of this many units, each with a seed.
fn ranges(units: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let all = (0..=units).flat_map(move |from| (from..=units).map(move |to| from..to));
    (1..).zip(all)
}

#[test]
fn rays_fit_together() {
    let mesh = Mesh::named("random:30").unwrap().unwrap();
    let ramp = Transfer::parse("0 1 0 0 0\n0.5 0 1 0 9\n0.5 0 0 1 1\n1 1 1 1 2\n").unwrap();
    let scene = Scene::new(&mesh, &ramp);
    let settings = Settings { method: Method::March, ..Settings::default() };
    let frame = Frame::new(&scene, &View::new(35, 20), settings).unwrap();
    let (expected, _) = frame.draw(Level::Off);
    for (seed, units) in ranges(6) {
        let mut picture = frame.picture();
        with_device(&frame.rays(&mut picture, Level::Off), units.clone(), seed);
        assert!(picture == expected, "{units:?}");
    }
}

#[test]
fn rows_of_sparse_times_dense_fit_together() {
    for (word, width) in [("fem:330", 3), ("web:350x3", 1)] {
        let mut sparse = named(word, 1).unwrap().unwrap();
        sparse.values.iter_mut().for_each(|value| *value = (*value * 9.0).round());
        let sparse = sparse.checked().unwrap();
        let dense = Dense::by(sparse.width, width, |row, column| (row % 7 + column) as f64);
        let dense = dense.unwrap();
        let go = |units: Option<Range<usize>>, seed| {
            let mut out = Dense::by(sparse.height(), width, |_, _| 99.0).unwrap();
            let product =
                Csrmm::new(sparse.checked_view(), dense.view(), &mut out, Level::Off).unwrap();
            let count = product.units();
            with_device(&product, units.unwrap_or(0..0), seed);
            drop(product);
            (out.numbers().to_vec(), count)
        };
        let (expected, count) = go(None, 0);
        for (seed, units) in ranges(count) {
            assert!(go(Some(units.clone()), seed).0 == expected, "{word}, {units:?}");
        }
    }
}

#[test]
fn rows_of_sparse_times_sparse_fit_together() {
    for (one, other) in [("fem:330", "fem:330"), ("web:350x3", "random:350x40")] {
        let [a, b] = [one, other]
            .map(|word| named(word, 1).unwrap().unwrap().checked().unwrap().cast::<f32>());
        let mut expected = Csr::default();
        multiply(a.checked_view(), b.checked_view(), Level::Off, &mut expected).unwrap();
        let factors = Factors::new(a.checked_view(), b.checked_view(), Level::Off).unwrap();
        let units = a.height().div_ceil(48);
        for (seed, units) in ranges(units) {
            let (mut lengths, mut product) = (vec![77; a.height()], Csr::default());
            with_device(&Counting::new(&factors, &mut lengths), units.clone(), seed);
            room(&lengths, b.width, &mut product).unwrap();
            with_device(&Adding::new(&factors, &mut product), units.clone(), seed);
            assert!(product == expected, "{one} times {other}, {units:?}");
        }
    }
}

/// Slabs with neighbours below, above, on both sides and on none, and boxes with and without ends.
#[test]
fn slabs_are_swept_as_on_a_thread() {
    for (along, across) in [
        (Along::Stream { speed: 0.05 }, Across::Slip),
        (Along::Periodic { force: 1e-3 }, Across::Periodic),
    ] {
        let obstacle = Obstacle::Sphere { centre: [0.3, 0.5, 0.5], radius: 0.4 };
        let (friction, level) = (Friction::Tau(0.8), Level::best());
        let setup = Setup { size: [32, 6, 12], along, across, friction, obstacle, depth: 4, level };
        let work = Steps(Arc::new(Flow::new(setup).unwrap()));
        let on = work.on_device().unwrap();
        for (seed, planes) in [(1, 0..12), (2, 0..5), (3, 4..8), (4, 8..12)] {
            let mut expected = work.begin(planes).unwrap();
            expected.fill(|[x, y, z]| {
                let part = |i: usize| (i * 7 % 5) as f64 / 50.0;
                (1.0 + part(x + 3 * z), [part(y), -part(x), part(z)])
            });
            let mut slab = expected.clone();
            let layout = on.layout(&slab);
            let tables = &mut tables(&layout);
            let mut go = |words: Vec<u32>, results: usize| {
                assert!(words.len() <= layout.words && results <= layout.width);
                bounds_by(
                    &layout,
                    tables,
                    &Parents { starts: vec![0, results as u32], words },
                    seed,
                )
            };
            for steps in [4, 3, 1, 2] {
                for above in [false, true] {
                    // What a neighbour might send: the slab's own planes, so that both have the same.
                    let mut edge = Vec::new();
                    work.edge(&expected, above, &mut edge);
                    if !edge.is_empty() {
                        work.set_edge(&mut expected, above, &edge);
                        work.set_edge(&mut slab, above, &edge);
                    }
                }
                work.sweep(&mut expected, steps);
                let mut last = Vec::new();
                for order in on.orders(&slab, steps) {
                    last = go(order.words, order.results);
                }
                on.swept(&mut slab, steps, &last);
                for above in [false, true] {
                    let (mut is, mut wanted) = (Vec::new(), Vec::new());
                    work.edge(&slab, above, &mut is);
                    work.edge(&expected, above, &mut wanted);
                    assert!(is == wanted, "{:?}, {steps} steps", expected.planes());
                }
            }
            for (part, order) in on.fetch(&slab).into_iter().enumerate() {
                let results = go(order.words, order.results);
                on.fetched(&mut slab, part, &results);
            }
            assert!(slab.numbers() == expected.numbers(), "{:?}", expected.planes());
            assert_eq!(slab.steps(), expected.steps());
        }
    }
}
