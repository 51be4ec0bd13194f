//! Rays: devices march exactly as threads do, and nearly always within a step of what threads project.

use super::{Way, ways};
use pleach_core::search::level::Level;
use pleach_loops::looping::Sizes;
use pleach_loops::rays::frame::{Frame, Method, Settings};
use pleach_loops::rays::mesh::Mesh;
use pleach_loops::rays::scene::Scene;
use pleach_loops::rays::transfer::Transfer;
use pleach_loops::rays::view::View;

/// Steps, ramps up and down, and a range where nothing is seen.
const STEEP: &str =
    "0.1 1 0 0 0\n0.3 0 1 0 4\n0.3 0 0 1 1\n0.5 0 0 0 0\n0.6 1 1 0 30\n0.9 1 1 1 0\n";

/// A mesh of each family.
const MESHES: [&str; 4] = ["sphere:120", "cube:2", "bluntfin:4x3x3", "random:40"];

fn views() -> [View; 5] {
    let some = |width, height, azimuth_degrees, elevation_degrees| View {
        azimuth_degrees,
        elevation_degrees,
        ..View::new(width, height)
    };
    [
        some(1, 1, 30.0, 20.0),
        some(33, 17, 30.0, 20.0),
        some(16, 40, 0.0, 90.0),
        View { zoom: 5.0, near: Some(-0.1), ..some(30, 30, 200.0, -40.0) },
        // Nothing is this deep.
        View { near: Some(1e6), ..some(20, 20, 0.0, 0.0) },
    ]
}

/// Calls with many scenes and frames.
fn frames(method: Method, mut call: impl FnMut(&Frame<'_>, &str)) {
    for word in MESHES {
        let mesh = Mesh::named(word).unwrap().unwrap();
        let usual = Transfer::usual(mesh.range(), mesh.sphere().1);
        for transfer in [usual, Transfer::parse(STEEP).unwrap()] {
            let scene = Scene::new(&mesh, &transfer);
            for view in views() {
                for opaque in [0.5, 0.999, 1.0] {
                    let frame = Frame::new(&scene, &view, Settings { method, opaque }).unwrap();
                    call(&frame, &format!("{word}, {view:?}, {opaque}"));
                }
            }
        }
    }
}

#[test]
fn a_device_marches_as_a_thread_does() {
    let mut segments = 0;
    frames(Method::March, |frame, what| {
        let (expected, tally) = frame.draw(Level::Off);
        for device in ["emulated", "emulated:launch=once"] {
            let mut picture = frame.picture();
            let rays = frame.rays(&mut picture, Level::Off);
            Way::new(0, &[device], Sizes::Measured).run(&rays);
            assert_eq!(rays.tally(), tally, "{what}, {device}");
            drop(rays);
            assert!(picture == expected, "{what}, {device}");
        }
        segments += tally.segments;
    });
    assert!(segments > 10_000, "{segments}");
}

#[test]
fn however_tiles_are_shared_the_picture_is_the_same() {
    let mesh = Mesh::named("bluntfin:4x3x3").unwrap().unwrap();
    let scene = Scene::new(&mesh, &Transfer::usual(mesh.range(), mesh.sphere().1));
    let settings = Settings { method: Method::March, ..Settings::default() };
    for (width, height) in [(1, 1), (70, 40)] {
        let frame = Frame::new(&scene, &View::new(width, height), settings).unwrap();
        let (expected, tally) = frame.draw(Level::Off);
        for way in ways() {
            let mut picture = frame.picture();
            let rays = frame.rays(&mut picture, Level::Off);
            way.run(&rays);
            assert_eq!(rays.tally(), tally, "{way:?}");
            drop(rays);
            assert!(picture == expected, "{way:?}");
        }
    }
}

#[test]
fn marched_and_projected_pictures_agree() {
    let (mut pixels, mut apart) = (0, 0);
    frames(Method::Project, |frame, _| {
        let mut picture = frame.picture();
        let rays = frame.rays(&mut picture, Level::best());
        Way::new(0, &["emulated"], Sizes::Measured).run(&rays);
        drop(rays);
        let (expected, _) = frame.draw(Level::best());
        let black = Some([0.0; 3]);
        let steps = picture.rgba(black).into_iter().zip(expected.rgba(black));
        let more = steps.filter(|&(is, was)| is.abs_diff(was) > 1).count();
        pixels += picture.pixels().len();
        // If a ray goes along an edge, the methods may choose different tetrahedra.
        apart += more.div_ceil(3);
    });
    assert!(pixels > 50_000 && apart * 10_000 < pixels, "{apart} of {pixels}");
}
