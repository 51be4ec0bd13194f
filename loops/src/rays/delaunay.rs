//! Fills a cube with random points and their Delaunay tetrahedra, by adding one point after another.
//!
//! Coordinates are 17-bit integers, so that whether a point is beyond a face or inside a sphere is decided exactly. The
//! cube's own corners come first: every other point lies inside, and the result is convex.

use super::mesh::NONE;
use oorandom::Rand64;
use std::collections::HashMap;

/// The length of the cube's edge.
pub const EDGE: i64 = 1 << 16;

/// The corners of the face opposite each corner, seen from outside.
const OPPOSITE: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The cube's first tetrahedra, positively oriented, by corner number x + 2y + 4z.
const FIRST: [[u32; 4]; 6] =
    [[0, 1, 3, 7], [0, 5, 1, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 6, 4, 7]];

type Point = [i64; 3];

/// A growing list of tetrahedra.
struct Growing {
    points: Vec<Point>,
    tets: Vec<[u32; 4]>,
    /// The neighbour opposite each corner.
    next: Vec<[u32; 4]>,
    /// The point that each tetrahedron was last tested for, and whether it is inside its sphere.
    tested: Vec<(u32, bool)>,
    /// Numbers of removed tetrahedra that can be reused.
    free: Vec<u32>,
    /// A tetrahedron of the point added last.
    last: u32,
}

/// The points and tetrahedra of a cube with this many random points inside, drawn from `seed`.
#[must_use]
pub fn fill(count: usize, seed: u128) -> (Vec<Point>, Vec<[u32; 4]>) {
    let mut random = Rand64::new(seed);
    let mut place = || random.rand_range(1..EDGE as u64) as i64;
    let mut points: Vec<Point> = (0..count).map(|_| [place(), place(), place()]).collect();
    let mut growing = Growing::new();
    // Add points in rounds of doubling size, each along a curve: each point is near the last, and no region gets ahead.
    let mut from = 0;
    while from < count {
        let to = (2 * from).clamp(64, count.max(64)).min(count);
        points[from..to].sort_by_cached_key(curve);
        points[from..to].iter().for_each(|&point| growing.add(point));
        from = to;
    }
    let Growing { points, mut tets, .. } = growing;
    tets.retain(|tet| tet[0] != NONE);
    (points, tets)
}

/// A point's position on a space-filling curve: its coordinates' bits interleaved.
fn curve(point: &Point) -> u64 {
    (0..17)
        .rev()
        .flat_map(|bit| point.map(|x| x >> bit & 1))
        .fold(0, |key, bit| key << 1 | bit as u64)
}

fn less(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Six times the signed volume; with differences of 17 bits it has at most 54 bits.
fn volume(a: Point, b: Point, c: Point) -> i64 {
    a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

impl Growing {
    fn new() -> Self {
        let points = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(|x: i64| x * EDGE)).collect();
        let mut growing = Self {
            points,
            tets: FIRST.to_vec(),
            next: vec![[NONE; 4]; 6],
            tested: vec![(NONE, false); 6],
            free: Vec::new(),
            last: 0,
        };
        let mut open = HashMap::new();
        for tet in 0..6 {
            for (corner, opposite) in OPPOSITE.iter().enumerate() {
                let mut face = opposite.map(|i| growing.tets[tet][i]);
                face.sort_unstable();
                if let Some((other, place)) = open.insert(face, (tet, corner)) {
                    growing.next[tet][corner] = other as u32;
                    growing.next[other][place] = tet as u32;
                }
            }
        }
        growing
    }

    /// Six times the volume between a face and a point; negative behind the face, on its tetrahedron's side.
    fn beyond(&self, tet: u32, corner: usize, point: Point) -> i64 {
        let [a, b, c] = OPPOSITE[corner].map(|i| self.points[self.tets[tet as usize][i] as usize]);
        volume(less(b, a), less(c, a), less(point, a))
    }

    /// Whether a point is inside the circumsphere of a tetrahedron.
    fn inside(&self, tet: u32, point: Point) -> bool {
        let [a, b, c, d] =
            self.tets[tet as usize].map(|corner| less(self.points[corner as usize], point));
        let square = |p: Point| i128::from(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        let term = |p: Point, q, r, s| square(p) * i128::from(volume(q, r, s));
        term(a, b, c, d) - term(b, a, c, d) + term(c, a, b, d) - term(d, a, b, c) > 0
    }

    /// The tetrahedron that contains a point: walks from the last one, always through a face with the point beyond it.
    fn find(&self, point: Point) -> u32 {
        let mut tet = self.last;
        // In a Delaunay mesh such a walk visits no tetrahedron twice.
        for _ in 0..self.tets.len() {
            let beyond = (0..4).find(|&corner| {
                self.next[tet as usize][corner] != NONE && self.beyond(tet, corner, point) > 0
            });
            match beyond {
                Some(corner) => tet = self.next[tet as usize][corner],
                None => break,
            }
        }
        tet
    }

    /// Adds a point: replaces the tetrahedra whose spheres contain it by ones between it and their common boundary.
    fn add(&mut self, point: Point) {
        let number = self.points.len() as u32;
        let start = self.find(point);
        let mut cavity = vec![start];
        self.tested[start as usize] = (number, true);
        let mut faces = Vec::new();
        let mut at = 0;
        while at < cavity.len() {
            let tet = cavity[at];
            at += 1;
            for (corner, opposite) in OPPOSITE.iter().enumerate() {
                let next = self.next[tet as usize][corner];
                if next != NONE && self.tested[next as usize].0 != number {
                    self.tested[next as usize] = (number, self.inside(next, point));
                    if self.tested[next as usize].1 {
                        cavity.push(next);
                    }
                }
                if next == NONE || !self.tested[next as usize].1 {
                    if self.beyond(tet, corner, point) >= 0 {
                        // The point is in the plane of a boundary face, or equals another point: leave it out.
                        cavity.iter().for_each(|&tet| self.tested[tet as usize].0 = NONE);
                        faces.iter().for_each(|&(_, next): &(_, u32)| self.forget(next));
                        self.forget(next);
                        return;
                    }
                    faces.push((opposite.map(|i| self.tets[tet as usize][i]), next));
                }
            }
        }
        self.points.push(point);
        self.close(number, &cavity, &faces);
    }

    /// The next point will get the same number: invalidate this one's tests.
    fn forget(&mut self, tet: u32) {
        if tet != NONE {
            self.tested[tet as usize].0 = NONE;
        }
    }

    /// Fills a cavity with tetrahedra between a point and the cavity's faces.
    fn close(&mut self, point: u32, cavity: &[u32], faces: &[([u32; 3], u32)]) {
        let mut open: HashMap<[u32; 2], (u32, usize)> = HashMap::with_capacity(2 * faces.len());
        cavity.iter().for_each(|&tet| self.tets[tet as usize] = [NONE; 4]);
        self.free.extend_from_slice(cavity);
        for &([a, b, c], next) in faces {
            let tet = self.free.pop().unwrap_or_else(|| {
                self.tets.push([NONE; 4]);
                self.next.push([NONE; 4]);
                self.tested.push((NONE, false));
                self.tets.len() as u32 - 1
            });
            let at = tet as usize;
            self.tets[at] = [a, c, b, point];
            self.next[at] = [NONE, NONE, NONE, next];
            self.tested[at] = (NONE, false);
            if next != NONE {
                // The neighbour's face is the one whose opposite corner is not on the wall.
                let others = self.tets[next as usize];
                let place = (0..4).find(|&i| ![a, b, c].contains(&others[i])).unwrap_or(0);
                self.next[next as usize][place] = tet;
            }
            for (corner, [p, q]) in [(0, [b, c]), (1, [a, b]), (2, [a, c])] {
                if let Some((other, place)) = open.insert([p.min(q), p.max(q)], (tet, corner)) {
                    self.next[at][corner] = other;
                    self.next[other as usize][place] = tet;
                }
            }
            self.last = tet;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sphere_holds_a_point_and_the_cube_is_full() {
        let (points, tets) = fill(300, 5);
        assert_eq!(points.len(), 308);
        let growing = Growing { points, tets, ..Growing::new() };
        let mut full = 0;
        for (tet, corners) in growing.tets.iter().enumerate() {
            let [a, b, c, d] = corners.map(|corner| growing.points[corner as usize]);
            let own = volume(less(b, a), less(c, a), less(d, a));
            assert!(own > 0);
            full += own;
            assert!(growing.points.iter().all(|&point| !growing.inside(tet as u32, point)));
        }
        assert_eq!(full, 6 * EDGE.pow(3));
    }

    #[test]
    fn points_on_points_are_left_out() {
        let mut growing = Growing::new();
        for point in [[5, 5, 9], [5, 5, 9], [70, 80, 90], [5, 5, 9], [70, 80, 90]] {
            growing.add(point);
        }
        let points: Vec<Point> = growing.points[8..].to_vec();
        assert_eq!(points, [[5, 5, 9], [70, 80, 90]]);
    }
}
