//! Milliseconds per frame: marching, and projection in plain and vector code, including preparation.

use pleach_core::search::level::Level;
use pleach_loops::rays::frame::{Frame, Method, Settings};
use pleach_loops::rays::mesh::Mesh;
use pleach_loops::rays::scene::Scene;
use pleach_loops::rays::transfer::Transfer;
use pleach_loops::rays::view::View;
use std::time::Instant;

/// How often each frame is drawn; the best time counts.
const TIMES: usize = 7;

fn main() {
    let names: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let names = if names.is_empty() {
        vec!["sphere:48000".into(), "bluntfin:40x32x32".into()]
    } else {
        names
    };
    for name in names {
        let mesh = Mesh::named(&name).expect("a mesh's name").expect("its size");
        let scene = Scene::new(&mesh, &Transfer::usual(mesh.range(), mesh.sphere().1));
        println!("{name}: {} tetrahedra", mesh.tets().len());
        for opaque in [0.999, 1.0] {
            measure(&scene, opaque);
        }
    }
}

fn measure(scene: &Scene, opaque: f32) {
    let view = View::new(512, 512);
    let mut slowest = None;
    for (words, method, level) in [
        ("march", Method::March, Level::Off),
        ("project, plain", Method::Project, Level::Off),
        ("project, avx2", Method::Project, Level::Avx2),
        ("project, avx512", Method::Project, Level::Avx512),
    ] {
        if !level.works() {
            continue;
        }
        let (mut best, mut prepared, mut segments) = (f64::INFINITY, 0.0, 0);
        for _ in 0..TIMES {
            let start = Instant::now();
            let frame = Frame::new(scene, &view, Settings { method, opaque }).expect("a view");
            let ready = start.elapsed().as_secs_f64();
            assert_eq!(frame.method(), method, "{} in a circle", frame.circle());
            segments = frame.draw(level).1.segments;
            let time = start.elapsed().as_secs_f64();
            if time < best {
                (best, prepared) = (time, ready);
            }
        }
        let slowest = *slowest.get_or_insert(best);
        println!(
            "  opaque at {opaque}: {words:16} {:7.1} ms, of which {:6.1} prepare; {:.2} times as fast; {segments} segments",
            best * 1e3,
            prepared * 1e3,
            slowest / best
        );
    }
}
