//! Rays: closed forms, both methods compared with each other and with brute force, all code paths, all splits.

use crate::rays_brute;
use pleach_core::search::level::Level;
use pleach_loops::looping::{Loop, LoopSettings, run_loop};
use pleach_loops::rays::frame::{Frame, Method, Settings};
use pleach_loops::rays::march::Tally;
use pleach_loops::rays::mesh::Mesh;
use pleach_loops::rays::picture::Picture;
use pleach_loops::rays::scene::Scene;
use pleach_loops::rays::stage::Stage;
use pleach_loops::rays::transfer::Transfer;
use pleach_loops::rays::view::View;
use pleach_runtime::WorkerPool;
use std::ops::ControlFlow;

/// Every method with every code path that this processor supports.
fn ways() -> Vec<(Method, Level)> {
    let project =
        Level::ALL.into_iter().filter(|level| level.works()).map(|level| (Method::Project, level));
    [(Method::March, Level::Off)].into_iter().chain(project).collect()
}

fn named(name: &str) -> Mesh {
    Mesh::named(name).unwrap().unwrap()
}

/// A view along an axis, or any other view.
fn view(azimuth_degrees: f64, elevation_degrees: f64, pixels: u32) -> View {
    View { azimuth_degrees, elevation_degrees, ..View::new(pixels, pixels) }
}

/// A picture whose rays never end early.
fn drawn(scene: &Scene, view: &View, (method, level): (Method, Level)) -> Picture {
    let frame = Frame::new(scene, view, Settings { method, opaque: 1.0 }).unwrap();
    assert_eq!(frame.method(), method, "{} in a circle", frame.circle());
    let (picture, tally) = frame.draw(level);
    assert_eq!(tally.lost, 0);
    picture
}

/// A pixel's place in units of length from the centre.
fn place(scale: f64, view: &View, x: usize, y: usize) -> [f64; 2] {
    let middle = |i: usize, size: u32| (i as f64 + 0.5 - f64::from(size) / 2.0) / scale;
    [middle(x, view.width), middle(y, view.height)]
}

/// How many pixels differ by more than this, and the largest difference.
fn differing(a: &[[f32; 4]], b: &[[f32; 4]], more: f32) -> (usize, f32) {
    let difference =
        |(a, b): (&[f32; 4], &[f32; 4])| (0..4).map(|i| (a[i] - b[i]).abs()).fold(0.0, f32::max);
    let all: Vec<f32> = a.iter().zip(b).map(difference).collect();
    assert!(all.iter().all(|x| x.is_finite()));
    (all.iter().filter(|&&it| it > more).count(), all.into_iter().fold(0.0, f32::max))
}

/// Along z through the unit cube with extinction 3z: the opacity is 1 − exp(−3/2).
#[test]
fn a_cube_with_a_ramp_has_its_closed_form() {
    for name in ["cube:1", "cube:4", "cube:7"] {
        let mesh = named(name);
        let scene = Scene::new(&mesh, &Transfer::parse("0 0 0 0 0\n1 1 1 1 3\n").unwrap());
        for (elevation, near, exact) in [
            (90.0, None, -1.5_f64),
            (-90.0, None, -1.5),
            (90.0, Some(0.0), -3.0 / 8.0),
            (-90.0, Some(0.0), -9.0 / 8.0),
        ] {
            let view = View { near, ..view(0.0, elevation, 200) };
            let scale = view.axes(&mesh).unwrap().scale;
            for way in ways() {
                let picture = drawn(&scene, &view, way);
                for (x, y) in (0..200).flat_map(|y| (0..200).map(move |x| (x, y))) {
                    let at = place(scale, &view, x, y);
                    let expected =
                        if at.iter().all(|x| x.abs() < 0.5) { 1.0 - exact.exp() } else { 0.0 };
                    let opacity = f64::from(picture.pixel(x, y)[3]);
                    assert!(
                        (opacity - expected).abs() < 1e-4,
                        "{name} {way:?} {x} {y}: {opacity} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_homogeneous_ball_has_its_closed_form() {
    let mesh = named("sphere:48000");
    let scene = Scene::new(&mesh, &Transfer::parse("0 1 0 0 0.7").unwrap());
    let view = view(25.0, 40.0, 128);
    let scale = view.axes(&mesh).unwrap().scale;
    for way in ways() {
        let picture = drawn(&scene, &view, way);
        for (x, y) in (0..128).flat_map(|y| (0..128).map(move |x| (x, y))) {
            let [a, b] = place(scale, &view, x, y);
            let square = a * a + b * b;
            if square < 0.9 {
                let [red, _, blue, opacity] = picture.pixel(x, y).map(f64::from);
                let exact = 1.0 - (-0.7 * 2.0 * (1.0 - square).sqrt()).exp();
                assert!((opacity - exact).abs() < 0.02, "{way:?} {x} {y}: {opacity} {exact}");
                assert!((red - opacity).abs() < 1e-5 && blue == 0.0);
            }
        }
    }
}

/// With an extinction of 1, the logarithm of the transmitted light is the sum of a ray's paths in all tetrahedra.
#[test]
fn paths_add_up_to_the_chord() {
    let mesh = named("cube:6");
    let scene = Scene::new(&mesh, &Transfer::parse("0 1 1 1 1").unwrap());
    for [azimuth, elevation] in
        [[30.0, 20.0], [45.0, 35.264_389_682_754_654], [90.0, 45.0], [211.0, -63.0]]
    {
        let view = view(azimuth, elevation, 150);
        let axes = view.axes(&mesh).unwrap();
        let scale = axes.scale;
        for way in ways() {
            let picture = drawn(&scene, &view, way);
            for (x, y) in (0..150).flat_map(|y| (0..150).map(move |x| (x, y))) {
                let at = place(scale, &view, x, y);
                let (mut from, mut to) = (f64::MIN, f64::MAX);
                for axis in 0..3 {
                    let start = at[0] * axes.turn[0][axis] + at[1] * axes.turn[1][axis];
                    let slope = axes.turn[2][axis];
                    let ends = [(-0.5 - start) / slope, (0.5 - start) / slope];
                    if slope.abs() > 1e-12 {
                        (from, to) = (from.max(ends[0].min(ends[1])), to.min(ends[0].max(ends[1])));
                    } else if start.abs() > 0.5 {
                        to = f64::MIN;
                    }
                }
                let path = -(1.0 - f64::from(picture.pixel(x, y)[3])).ln();
                assert!(
                    (path - (to - from).max(0.0)).abs() < 1e-4,
                    "{way:?} {azimuth} {x} {y}: {path}"
                );
            }
        }
    }
}

#[test]
fn both_methods_and_all_code_paths_agree() {
    let directions = [
        [0.0, 0.0],
        [90.0, 0.0],
        [0.0, 90.0],
        [180.0, 0.0],
        [45.0, 0.0],
        [30.0, 20.0],
        [250.0, 25.0],
        [100.0, -70.0],
    ];
    for name in ["sphere:2000", "cube:5", "bluntfin:20x16x16", "random:500"] {
        let mesh = named(name);
        let scene = Scene::new(&mesh, &Transfer::usual(mesh.range(), mesh.sphere().1));
        for [azimuth, elevation] in directions {
            // Not a multiple of the tile, so that tiles at the edges are cut.
            let view = View { width: 203, ..view(azimuth, elevation, 190) };
            let pictures: Vec<_> =
                ways().into_iter().map(|way| drawn(&scene, &view, way).pixels()).collect();
            for (picture, way) in pictures[1..].iter().zip(&ways()[1..]) {
                let (count, most) = differing(&pictures[0], picture, 1e-3);
                assert_eq!(count, 0, "{name} {azimuth} {elevation} {way:?}: up to {most}");
            }
        }
    }
}

/// Meshes without common faces, one behind the other.
fn joined(parts: &[(Mesh, [f32; 3])]) -> Mesh {
    let (mut points, mut tets, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (mesh, by) in parts {
        let first = points.len() as u32;
        points.extend(mesh.points().iter().map(|p| [p[0] + by[0], p[1] + by[1], p[2] + by[2]]));
        values.extend_from_slice(mesh.values());
        tets.extend(mesh.tets().iter().map(|tet| tet.map(|point| first + point)));
    }
    Mesh::new(points, tets, values).unwrap()
}

/// A cube of 5 by 5 by 5 cubes without the central one.
fn hollow() -> Mesh {
    let cube = named("cube:5");
    let middle = |tet: &[u32; 4]| {
        let inside = |axis: usize| {
            let sum: f32 = tet.iter().map(|&point| cube.points()[point as usize][axis]).sum();
            (0.4..0.6).contains(&(sum / 4.0))
        };
        !(inside(0) && inside(1) && inside(2))
    };
    let tets = cube.tets().iter().copied().filter(middle).collect();
    Mesh::new(cube.points().to_vec(), tets, cube.values().to_vec()).unwrap()
}

#[test]
fn hollow_meshes_are_drawn_as_by_brute_force() {
    let balls = joined(&[(named("sphere:300"), [0.0; 3]), (named("sphere:300"), [2.5, 0.4, 0.3])]);
    for (name, mesh) in [("balls", balls), ("hollow", hollow()), ("fin", named("bluntfin:6x5x4"))] {
        let scene = Scene::new(&mesh, &Transfer::usual(mesh.range(), mesh.sphere().1));
        for [azimuth, elevation] in
            [[0.0, 0.0], [10.0, 5.0], [90.0, 0.0], [200.0, -10.0], [250.0, 80.0]]
        {
            let view = view(azimuth, elevation, 60);
            let exact = rays_brute::picture(&scene, &view);
            assert!(exact.iter().any(|pixel| pixel[3] > 0.5), "{name}");
            for way in ways() {
                let pixels = drawn(&scene, &view, way).pixels();
                let (count, most) = differing(&exact, &pixels, 1e-3);
                assert_eq!(count, 0, "{name} {azimuth} {elevation} {way:?}: up to {most}");
            }
        }
    }
}

/// Three bars, each with its head over the next one's foot.
fn bars() -> Mesh {
    let (mut points, mut tets) = (Vec::new(), Vec::new());
    for bar in 0..3_u32 {
        let (sin, cos) = (f64::from(bar) * 2.0 / 3.0 * std::f64::consts::PI).sin_cos();
        let place = |along: f64, across: f64, up: f64| {
            let (x, y) = (0.5 + across, along);
            [x * cos - y * sin, x * sin + y * cos, up].map(|x| x as f32)
        };
        points.extend([
            place(-2.0, -0.2, -1.0),
            place(-2.0, 0.2, -1.0),
            place(2.0, 0.0, 0.9),
            place(2.0, 0.0, 1.1),
        ]);
        tets.push([0, 1, 2, 3].map(|i| 4 * bar + i));
    }
    let values = (0..12).map(|i| (i % 4) as f32 + (i / 4) as f32).collect();
    Mesh::new(points, tets, values).unwrap()
}

#[test]
fn bars_in_a_circle_are_marched() {
    let mesh = bars();
    let scene = Scene::new(&mesh, &Transfer::parse("0 1 0 0 30\n3 0 1 0 20\n5 0 0 1 50").unwrap());
    let view = view(0.0, 90.0, 150);
    let frame = Frame::new(&scene, &view, Settings { opaque: 1.0, ..Settings::default() }).unwrap();
    assert_eq!((frame.method(), frame.circle()), (Method::March, 3));
    let (picture, tally) = frame.draw(Level::best());
    assert_eq!(tally.lost, 0);
    let (count, most) = differing(&rays_brute::picture(&scene, &view), &picture.pixels(), 1e-3);
    assert_eq!(count, 0, "up to {most}");
}

#[test]
fn flat_tetrahedra_change_nothing() {
    let whole = named("cube:3");
    let mut tets = whole.tets().to_vec();
    tets.insert(5, [0, 1, 4, 5]);
    tets.push([0, 0, 1, 2]);
    let mesh = Mesh::new(whole.points().to_vec(), tets, whole.values().to_vec()).unwrap();
    assert_eq!(mesh.dropped(), 2);
    let transfer = Transfer::usual(mesh.range(), mesh.sphere().1);
    let (a, b) = (Scene::new(&whole, &transfer), Scene::new(&mesh, &transfer));
    for way in ways() {
        assert_eq!(drawn(&a, &view(30.0, 20.0, 50), way), drawn(&b, &view(30.0, 20.0, 50), way));
    }
}

#[test]
fn units_in_any_ranges_make_the_same_picture() {
    let mesh = named("sphere:2000");
    let scene = Scene::new(&mesh, &Transfer::usual(mesh.range(), mesh.sphere().1));
    for (method, level) in ways() {
        let frame =
            Frame::new(&scene, &view(30.0, 20.0, 150), Settings { method, opaque: 0.999 }).unwrap();
        let (whole, tally) = frame.draw(level);
        let mut random = oorandom::Rand32::new(7);
        for _ in 0..5 {
            let mut picture = frame.picture();
            let rays = frame.rays(&mut picture, level);
            assert!(
                (0..rays.units()).all(|unit| rays.cost_before(unit) < rays.cost_before(unit + 1))
            );
            let mut ranges = Vec::new();
            let mut from = 0;
            while from < rays.units() {
                let to = (from + random.rand_range(1..9) as usize).min(rays.units());
                ranges.push(from..to);
                from = to;
            }
            for i in (1..ranges.len()).rev() {
                ranges.swap(i, random.rand_range(0..i as u32 + 1) as usize);
            }
            ranges.into_iter().for_each(|range| rays.run(range, &mut ()));
            assert_eq!(rays.tally(), tally);
            drop(rays);
            assert_eq!(picture, whole);
        }
    }
}

/// What a device is given of a frame, and its picture.
fn content(frame: &Frame<'_>) -> (Vec<u32>, Picture, Tally) {
    let mut picture = frame.picture();
    let rays = frame.rays(&mut picture, Level::Off);
    let tables = rays.on_device().unwrap().layout(&|| true).unwrap().tables;
    drop(rays);
    let (picture, tally) = frame.draw(Level::Off);
    (tables, picture, tally)
}

#[test]
fn frames_do_not_depend_on_who_prepares_them() {
    let pool = WorkerPool::default();
    for (name, mesh) in [("fin", named("bluntfin:20x16x16")), ("hollow", hollow())] {
        let scene = Scene::new(&mesh, &Transfer::usual(mesh.range(), mesh.sphere().1));
        let view = View { width: 203, ..view(250.0, 25.0, 90) };
        for method in [Method::March, Method::Project] {
            let settings = Settings { method, ..Settings::default() };
            let alone = content(&Frame::new(&scene, &view, settings).unwrap());
            for threads in [1, 2, 3, 7] {
                let with = LoopSettings { threads, ..LoopSettings::default() };
                let mut run = |stage: &Stage<'_>| {
                    let outcome = run_loop(&pool, stage, &with, &mut |_| ControlFlow::Continue(()));
                    outcome.unwrap().report.complete
                };
                let frame = Frame::prepare(&scene, &view, settings, &mut run).unwrap().unwrap();
                assert!(content(&frame) == alone, "{name} {method:?} {threads} threads");
            }
        }
    }
}

#[test]
fn a_stopped_preparation_makes_no_frame() {
    let mesh = named("cube:5");
    let scene = Scene::new(&mesh, &Transfer::usual(mesh.range(), mesh.sphere().1));
    for stages in 0..8 {
        let mut left = stages;
        let mut run = |stage: &Stage<'_>| {
            if left > 0 {
                left -= 1;
                stage.run(0..stage.units(), &mut ());
                return true;
            }
            false
        };
        let frame = Frame::prepare(&scene, &View::new(40, 30), Settings::default(), &mut run);
        // Points, faces, links, entries, records; parts of the order, and rows of tiles.
        assert_eq!(frame.unwrap().is_some(), stages == 7);
    }
}

/// Rays that end early leave out only what nobody would see.
#[test]
fn an_early_end_changes_little() {
    let mesh = named("sphere:2000");
    let scene = Scene::new(&mesh, &Transfer::parse("0 1 0 0 20\n1 0 1 0 20").unwrap());
    let view = view(30.0, 20.0, 150);
    for (method, level) in ways() {
        let whole = drawn(&scene, &view, (method, level)).pixels();
        let frame = Frame::new(&scene, &view, Settings { method, opaque: 0.99 }).unwrap();
        let (picture, tally) = frame.draw(level);
        let all =
            Frame::new(&scene, &view, Settings { method, opaque: 1.0 }).unwrap().draw(level).1;
        assert!(tally.segments < all.segments / 2, "{tally:?} {all:?}");
        let (count, most) = differing(&whole, &picture.pixels(), 0.0101);
        assert_eq!(count, 0, "up to {most}");
    }
}

/// Marching used to leave large meshes blank.
#[test]
fn meshes_that_cannot_be_marched_are_refused() {
    let tet = |size: f32| {
        let points = [[0.0; 3], [size, 0.0, 0.0], [0.0, size, 0.0], [0.0, 0.0, size]];
        Mesh::new(points.into(), vec![[0, 1, 2, 3]], vec![1.0; 4]).unwrap()
    };
    assert!(View::new(10, 10).axes(&tet(1e14)).is_ok());
    let refused = View::new(10, 10).axes(&tet(1e18)).unwrap_err();
    assert!(refused.contains("a mesh of radius"), "{refused}");
}
