//! Generates meshes by name: a ball, a cube, a flow around a blunt fin, or random points.

use super::delaunay;
use super::mesh::Mesh;
use std::f64::consts::PI;

/// The most tetrahedra that a name may ask for.
const MOST: usize = 20_000_000;

/// The maximum number of random points: each brings about seven tetrahedra.
const MOST_POINTS: usize = 1_000_000;

/// The six tetrahedra of a cube whose corners are numbered x + 2y + 4z. All share the diagonal from 0 to 7, so that
/// neighbouring cubes agree on their common face.
const SIX: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];

impl Mesh {
    /// The mesh with this name, if it is one: `sphere:2000` (a ball of about this many tetrahedra), `cube:4` (this many
    /// cubes along each edge), `bluntfin:40x32x32` (this many points along each direction), or `random:5000` (a cube
    /// with this many random points inside).
    #[must_use]
    pub fn named(name: &str) -> Option<Result<Mesh, String>> {
        let (kind, size) = name.split_once(':')?;
        let numbers: Option<Vec<usize>> = size.split('x').map(|word| word.parse().ok()).collect();
        let mesh = match (kind, numbers.as_deref()) {
            ("sphere", Some(&[tets])) => sized(name, Some(tets), 1).and_then(|()| sphere(tets)),
            ("cube", Some(&[n])) => {
                let tets = n.checked_pow(3).and_then(|cubes| cubes.checked_mul(6));
                sized(name, tets, 1).and_then(|()| cube(n))
            }
            ("bluntfin", Some(&[a, b, c])) => {
                let least = a.min(b).min(c);
                let tets = a
                    .checked_mul(b)
                    .and_then(|ab| ab.checked_mul(c))
                    .and_then(|all| all.checked_mul(6));
                let tets = tets.filter(|_| least >= 2);
                sized(name, tets, 1).and_then(|()| bluntfin([a, b, c]))
            }
            ("random", Some(&[points])) if points <= MOST_POINTS => random(points),
            ("random", _) => {
                Err(format!("'{name}': expected random:POINTS, at most {MOST_POINTS}"))
            }
            ("sphere", _) => Err(format!("'{name}': expected sphere:TETRAHEDRA")),
            ("cube", _) => Err(format!("'{name}': expected cube:CUBES")),
            ("bluntfin", _) => Err(format!("'{name}': expected bluntfin:POINTSxPOINTSxPOINTS")),
            _ => return None,
        };
        Some(mesh)
    }
}

fn sized(name: &str, tets: Option<usize>, least: usize) -> Result<(), String> {
    match tets {
        Some(tets) if (least..=MOST).contains(&tets) => Ok(()),
        _ => Err(format!("'{name}': expected a size with {least} to {MOST} tetrahedra")),
    }
}

/// A grid of points, each cell split into six tetrahedra. A function maps grid coordinates to place and value.
fn grid(points: [usize; 3], place: impl Fn([usize; 3]) -> ([f64; 3], f64)) -> Result<Mesh, String> {
    let [nx, ny, nz] = points;
    let number = |x, y, z| (x + nx * (y + ny * z)) as u32;
    let all = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
    let (places, values) =
        all.map(&place).map(|(p, value)| (p.map(|x| x as f32), value as f32)).unzip();
    let mut tets = Vec::with_capacity(6 * (nx - 1) * (ny - 1) * (nz - 1));
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                let corner = |i: usize| number(x + (i & 1), y + (i >> 1 & 1), z + (i >> 2));
                tets.extend(SIX.map(|tet| tet.map(corner)));
            }
        }
    }
    Mesh::new(places, tets, values)
}

/// The unit cube; the value is z.
fn cube(n: usize) -> Result<Mesh, String> {
    grid([n + 1; 3], |at| {
        let at = at.map(|i| i as f64 / n as f64);
        (at, at[2])
    })
}

/// The unit ball: cubes around the origin, each shell of them pushed onto a sphere. The value is a wave that depends on
/// distance and direction.
fn sphere(tets: usize) -> Result<Mesh, String> {
    let n = ((tets as f64 / 6.0).cbrt().round() as usize).max(1);
    grid([n + 1; 3], |at| {
        let p = at.map(|i| 2.0 * i as f64 / n as f64 - 1.0);
        let shell = p.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let length = p.iter().map(|x| x * x).sum::<f64>().sqrt();
        // Towards the centre the shells become cubes again; otherwise cells on the diagonals would be flat.
        let pushed = shell / length.max(1e-9);
        let share = shell * pushed + 0.75 * (1.0 - shell);
        let p = p.map(|x| x * share);
        let distance = p.iter().map(|x| x * x).sum::<f64>().sqrt();
        let value =
            distance + 0.15 * (5.0 * p[0]).sin() * (4.0 * p[1]).cos() * (3.0 * p[2] + 0.5).sin();
        (p, value)
    })
}

/// The unit cube with random points inside; the value is a sum of waves.
fn random(count: usize) -> Result<Mesh, String> {
    let (points, tets) = delaunay::fill(count, 1);
    // Dividing by a power of two is exact: no point moves, so no tetrahedron is inverted.
    let points: Vec<[f32; 3]> =
        points.iter().map(|p| p.map(|x| x as f32 / delaunay::EDGE as f32)).collect();
    let value = |p: &[f32; 3]| {
        let [x, y, z] = p.map(|x| f64::from(x) * 2.0 * PI);
        ((x.sin() + (1.3 * y).sin() + (0.8 * z + 0.5 * x).cos() + 3.0) / 6.0) as f32
    };
    let values = points.iter().map(value).collect();
    Mesh::new(points, tets, values)
}

/// A flow around a flat plate with a blunt fin on it: the grid wraps the fin's round nose and continues along its
/// side, points are dense near the walls, and a bow shock stands before the nose.
fn bluntfin([na, nr, nz]: [usize; 3]) -> Result<Mesh, String> {
    let nose = 0.5;
    grid([na, nr, nz], |[a, r, z]| {
        let [u, v, w] = [(a, na), (r, nr), (z, nz)].map(|(i, n)| i as f64 / (n - 1) as f64);
        let dense = |t: f64, k: f64| ((k * t).exp() - 1.0) / (k.exp() - 1.0);
        let height = 3.0 * dense(w, 2.5);
        let away = dense(v, 2.0);
        // The first half goes around the nose by a quarter turn, the second along the straight side.
        let (angle, along) = if u < 0.5 { (u * PI, 0.0) } else { (PI / 2.0, (u - 0.5) * 6.0) };
        let reach = 3.0 + 0.8 * (angle / (PI / 2.0)) + 0.25 * along;
        let radius = nose + reach * away;
        let place = [along - radius * angle.cos(), radius * angle.sin(), height];
        (place, fin_density(place, nose, height))
    })
}

/// A density with the features of the flow: 1 before the shock, a jump across it, a rise towards the nose, and a
/// vortex that the boundary layer of the plate rolls up into.
fn fin_density([x, y, z]: [f64; 3], nose: f64, height: f64) -> f64 {
    let step = |t: f64| 0.5 * (1.0 + t.tanh());
    // Near the plate the shock forks into a foot further out.
    let foot = 0.8 * (-height / 0.5).exp();
    let shock = x + nose + 0.9 + foot - y * y / (4.0 * (1.0 + foot));
    let behind = step(shock / 0.12);
    let stagnation =
        2.2 * (-((x + nose).powi(2) + y * y) / 0.5).exp() * step((height - 0.15) / 0.2);
    let round = ((x + nose + 0.6).hypot(y) - 0.2).powi(2);
    let vortex = 1.2 * (-(round / 0.12 + (z - 0.25).powi(2) / 0.03)).exp();
    let wake = 0.5 * step((x - 0.5) / 0.8);
    1.0 + behind * (1.3 + stagnation - wake) + vortex
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::mesh::{at, cross, dot, less};

    fn volume(mesh: &Mesh) -> f64 {
        let six = mesh.tets().iter().map(|tet| {
            let [a, b, c, d] = tet.map(|point| at(mesh.points(), point));
            dot(cross(less(b, a), less(c, a)), less(d, a))
        });
        six.sum::<f64>() / 6.0
    }

    #[test]
    fn names_make_meshes() {
        let mesh = |name| Mesh::named(name).unwrap().unwrap();
        let cube = mesh("cube:3");
        assert_eq!((cube.tets().len(), cube.dropped()), (162, 0));
        assert!((volume(&cube) - 1.0).abs() < 1e-6);
        assert_eq!(cube.range(), (0.0, 1.0));
        let ball = mesh("sphere:48000");
        assert_eq!((ball.tets().len(), ball.dropped()), (48_000, 0));
        assert!((volume(&ball) - 4.18).abs() < 0.05, "{}", volume(&ball));
        assert!((ball.sphere().1 - 1.0).abs() < 1e-6);
        let random = mesh("random:2000");
        assert_eq!((random.points().len(), random.dropped()), (2008, 0));
        assert!((volume(&random) - 1.0).abs() < 1e-9);
        let fin = mesh("bluntfin:40x32x32");
        assert_eq!((fin.tets().len(), fin.dropped()), (224_874, 0));
    }

    #[test]
    fn other_names_are_none_and_wrong_sizes_errors() {
        assert!(Mesh::named("ball:3").is_none() && Mesh::named("sphere").is_none());
        let names = [
            "sphere:", "sphere:0", "cube:1x2", "cube:99999999999", "bluntfin:1x4x4", "bluntfin:4x4",
        ];
        for name in names {
            assert!(Mesh::named(name).unwrap().is_err(), "{name}");
        }
        let huge = format!("cube:{}", usize::MAX);
        assert!(Mesh::named(&huge).unwrap().is_err());
    }
}
