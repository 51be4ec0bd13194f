//! Draws pictures the slow way: each ray against every tetrahedron, in double precision.

use pleach_loops::rays::mesh::{Mesh, at};
use pleach_loops::rays::scene::Scene;
use pleach_loops::rays::shade::segment;
use pleach_loops::rays::view::View;

/// The pixels of a view, row by row: red, green, blue, opacity.
pub fn picture(scene: &Scene, view: &View) -> Vec<[f32; 4]> {
    let mesh = scene.mesh();
    let axes = view.axes(mesh).unwrap();
    let places: Vec<[f64; 3]> =
        (0..mesh.points().len()).map(|i| axes.project(at(mesh.points(), i as u32))).collect();
    let (width, height) = (view.width as usize, view.height as usize);
    let pixel = |i: usize| {
        let x = (i % width) as f64 + 0.5 - f64::from(view.width) / 2.0;
        let y = (i / width) as f64 + 0.5 - f64::from(view.height) / 2.0;
        ray(scene, &places, [x, y])
    };
    (0..width * height).map(pixel).collect()
}

fn ray(scene: &Scene, places: &[[f64; 3]], at: [f64; 2]) -> [f32; 4] {
    let mesh = scene.mesh();
    let all = mesh.tets().iter().filter_map(|tet| {
        let corners = tet.map(|point| places[point as usize]);
        let [from, to] = inside(corners, at)?;
        Some((from, to, tet, corners))
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)));
    let mut pixel = [0.0, 0.0, 0.0, 1.0];
    for (from, to, tet, corners) in all {
        let ends = [from, to].map(|depth| value(mesh, *tet, corners, [at[0], at[1], depth]));
        segment(&mut pixel, scene.pieces(), ends, (to - from) as f32);
    }
    [pixel[0], pixel[1], pixel[2], 1.0 - pixel[3]]
}

fn determinant([a, b, c]: [[f64; 3]; 3]) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

/// Six times the signed volume.
fn volume([a, b, c, d]: [[f64; 3]; 4]) -> f64 {
    determinant([b, c, d].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]))
}

/// The distance of a point from each face, as a fraction of the height above it.
fn weights(corners: [[f64; 3]; 4], place: [f64; 3]) -> [f64; 4] {
    [0, 1, 2, 3].map(|i| {
        let mut moved = corners;
        moved[i] = place;
        volume(moved) / volume(corners)
    })
}

/// The range of depths in which a ray is inside a tetrahedron: where all weights, linear in depth, are positive.
fn inside(corners: [[f64; 3]; 4], [x, y]: [f64; 2]) -> Option<[f64; 2]> {
    let ends = [0, 1].map(|axis| {
        let all = corners.map(|corner| corner[axis]);
        (
            all.iter().copied().fold(f64::INFINITY, f64::min),
            all.iter().copied().fold(f64::MIN, f64::max),
        )
    });
    if x < ends[0].0 || x > ends[0].1 || y < ends[1].0 || y > ends[1].1 {
        return None;
    }
    let (low, high) = (weights(corners, [x, y, 0.0]), weights(corners, [x, y, 1.0]));
    let (mut from, mut to) = (f64::MIN, f64::MAX);
    for (at, slope) in low.into_iter().zip(high).map(|(low, high)| (low, high - low)) {
        if slope.abs() < 1e-9 {
            if at < 0.0 {
                return None;
            }
        } else if slope > 0.0 {
            from = from.max(-at / slope);
        } else {
            to = to.min(-at / slope);
        }
    }
    (from < to).then_some([from, to])
}

fn value(mesh: &Mesh, tet: [u32; 4], corners: [[f64; 3]; 4], place: [f64; 3]) -> f32 {
    let (low, high) = mesh.range();
    let values = tet.map(|point| f64::from(mesh.values()[point as usize]));
    let value: f64 =
        weights(corners, place).iter().zip(values).map(|(weight, value)| weight * value).sum();
    ((value - f64::from(low)) / f64::from(high - low)) as f32
}
