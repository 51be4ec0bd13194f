//! [`Mesh`]: tetrahedra with a value at each point, validated, and their neighbours.

/// No tetrahedron: what lies beyond the boundary.
pub const NONE: u32 = u32::MAX;

/// The maximum number of tetrahedra: a face's number and its side must fit 32 bits.
const MOST_TETS: usize = 1 << 29;

/// The corners of the face opposite each corner, seen from outside a positively oriented tetrahedron.
const OPPOSITE: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// A tetrahedron counts as flat if its volume is below this fraction of its longest edge cubed.
const FLAT: f64 = 1e-13;

/// A triangle between two tetrahedra, or on the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Face {
    /// Its points; its normal points out of the first tetrahedron.
    pub corners: [u32; 3],
    /// The tetrahedra on its sides; the second is [`NONE`] on the boundary.
    pub tets: [u32; 2],
}

/// Tetrahedra that meet face to face, with a value at each point.
#[derive(Clone, Debug)]
pub struct Mesh {
    points: Vec<[f32; 3]>,
    values: Vec<f32>,
    tets: Vec<[u32; 4]>,
    dropped: usize,
    faces: Vec<Face>,
    sides: Vec<[u32; 4]>,
    range: (f32, f32),
    sphere: ([f64; 3], f64),
}

impl Mesh {
    /// A mesh of these points, tetrahedra and values at points. Flat tetrahedra are left out.
    ///
    /// # Errors
    /// If an index or a number is out of range, or if tetrahedra overlap at a face.
    pub fn new(
        points: Vec<[f32; 3]>,
        tets: Vec<[u32; 4]>,
        values: Vec<f32>,
    ) -> Result<Self, String> {
        check(&points, &tets, &values)?;
        let given = tets.len();
        let (numbers, tets): (Vec<u32>, Vec<[u32; 4]>) = (0..)
            .zip(tets)
            .filter_map(|(number, tet)| oriented(&points, tet).map(|tet| (number, tet)))
            .unzip();
        if tets.is_empty() {
            return Err(format!("none of {given} tetrahedra has a volume"));
        }
        let partners = partners(points.len(), &tets, &numbers)?;
        let (faces, sides) = faces(&tets, &partners);
        let dropped = given - tets.len();
        let (range, sphere) = (range(&tets, &values), sphere(&points, &tets));
        Ok(Self { points, values, tets, dropped, faces, sides, range, sphere })
    }

    /// The points.
    #[must_use]
    pub fn points(&self) -> &[[f32; 3]] {
        &self.points
    }

    /// The value at each point.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The tetrahedra, each with positive orientation.
    #[must_use]
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// How many tetrahedra were left out because they had no volume.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// All faces, each once.
    #[must_use]
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// The faces of each tetrahedron, opposite its corners: twice the number of the face, plus 1 if the tetrahedron is
    /// on the face's second side.
    #[must_use]
    pub fn sides(&self) -> &[[u32; 4]] {
        &self.sides
    }

    /// The neighbour of a tetrahedron over the face opposite a corner, or [`NONE`].
    #[must_use]
    pub fn neighbour(&self, tet: usize, corner: usize) -> u32 {
        let side = self.sides[tet][corner];
        self.faces[(side >> 1) as usize].tets[(side & 1 ^ 1) as usize]
    }

    /// The least and greatest values at the corners of tetrahedra.
    #[must_use]
    pub fn range(&self) -> (f32, f32) {
        self.range
    }

    /// The centre and radius of a sphere around all tetrahedra.
    #[must_use]
    pub fn sphere(&self) -> ([f64; 3], f64) {
        self.sphere
    }
}

fn range(tets: &[[u32; 4]], values: &[f32]) -> (f32, f32) {
    let values = tets.iter().flatten().map(|&point| values[point as usize]);
    values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)))
}

fn sphere(points: &[[f32; 3]], tets: &[[u32; 4]]) -> ([f64; 3], f64) {
    let corners = || tets.iter().flatten().map(|&point| at(points, point));
    let middle = [0, 1, 2].map(|axis| {
        let low = corners().map(|p| p[axis]).fold(f64::INFINITY, f64::min);
        let high = corners().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max);
        low.midpoint(high)
    });
    let squares = corners().map(|p| {
        let d = less(p, middle);
        dot(d, d)
    });
    (middle, squares.fold(0.0, f64::max).sqrt())
}

/// A point in double precision.
#[must_use]
pub fn at(points: &[[f32; 3]], point: u32) -> [f64; 3] {
    points[point as usize].map(f64::from)
}

/// a − b.
#[must_use]
pub fn less(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The scalar product.
#[must_use]
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The vector product.
#[must_use]
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn check(points: &[[f32; 3]], tets: &[[u32; 4]], values: &[f32]) -> Result<(), String> {
    if tets.len() >= MOST_TETS || points.len() >= NONE as usize {
        let (tets, points) = (tets.len(), points.len());
        return Err(format!(
            "{tets} tetrahedra, {points} points: expected fewer than {MOST_TETS} and fewer than {NONE}"
        ));
    }
    if values.len() != points.len() {
        return Err(format!("{} values for {} points", values.len(), points.len()));
    }
    if let Some(i) = points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
        return Err(format!("point {i}: {:?}, expected finite coordinates", points[i]));
    }
    if let Some(i) = values.iter().position(|value| !value.is_finite()) {
        return Err(format!("point {i}: value {}, expected a finite number", values[i]));
    }
    for (i, tet) in tets.iter().enumerate() {
        if let Some(point) = tet.iter().find(|&&point| point as usize >= points.len()) {
            return Err(format!(
                "tetrahedron {i}: point {point}, expected less than {}",
                points.len()
            ));
        }
    }
    Ok(())
}

/// The tetrahedron with positive orientation, unless it is flat.
fn oriented(points: &[[f32; 3]], mut tet: [u32; 4]) -> Option<[u32; 4]> {
    let [a, b, c, d] = tet.map(|point| at(points, point));
    let edges = [less(b, a), less(c, a), less(d, a), less(c, b), less(d, b), less(d, c)];
    let longest = edges.iter().map(|&edge| dot(edge, edge)).fold(0.0, f64::max).sqrt();
    let volume = dot(cross(edges[0], edges[1]), edges[2]);
    if volume < 0.0 {
        tet.swap(2, 3);
    }
    (volume.abs() > FLAT * longest.powi(3)).then_some(tet)
}

/// The points of a tetrahedron's face, in ascending order, and whether that is an even permutation.
fn key(tet: [u32; 4], corner: usize) -> ([u32; 3], bool) {
    let [mut a, mut b, mut c] = OPPOSITE[corner].map(|i| tet[i]);
    let mut even = true;
    for _ in 0..2 {
        if a > b {
            (a, b, even) = (b, a, !even);
        }
        if b > c {
            (b, c, even) = (c, b, !even);
        }
    }
    ([a, b, c], even)
}

/// For each face of each tetrahedron, the same face of its neighbour as 4 · tetrahedron + corner.
fn partners(points: usize, tets: &[[u32; 4]], numbers: &[u32]) -> Result<Vec<u32>, String> {
    // A counting sort by the lowest point leaves only short lists to sort by comparison.
    let mut ends = vec![0_usize; points + 1];
    let all =
        || tets.iter().enumerate().flat_map(|(t, &tet)| (0..4).map(move |k| (t, k, key(tet, k))));
    all().for_each(|(_, _, ([low, ..], _))| ends[low as usize + 1] += 1);
    for point in 0..points {
        ends[point + 1] += ends[point];
    }
    let mut next = ends.clone();
    let mut sorted = vec![([0_u32; 2], 0_u32, false); 4 * tets.len()];
    for (t, k, ([low, middle, high], even)) in all() {
        sorted[next[low as usize]] = ([middle, high], (4 * t + k) as u32, even);
        next[low as usize] += 1;
    }
    let mut partners = vec![NONE; sorted.len()];
    for pair in ends.windows(2) {
        let list = &mut sorted[pair[0]..pair[1]];
        list.sort_unstable();
        for same in list.chunk_by(|a, b| a.0 == b.0) {
            let number = |i: usize| numbers[same[i].1 as usize / 4];
            match same {
                [_] => {}
                [a, b] if a.2 != b.2 => {
                    partners[a.1 as usize] = b.1;
                    partners[b.1 as usize] = a.1;
                }
                [_, _] => {
                    return Err(format!(
                        "tetrahedra {} and {} lie on one side of a face",
                        number(0),
                        number(1)
                    ));
                }
                _ => {
                    let (third, count) = (number(2), same.len());
                    return Err(format!(
                        "tetrahedron {third}: a face of {count} tetrahedra, expected at most 2"
                    ));
                }
            }
        }
    }
    Ok(partners)
}

/// All faces in the order of the tetrahedra, and the faces of each tetrahedron.
fn faces(tets: &[[u32; 4]], partners: &[u32]) -> (Vec<Face>, Vec<[u32; 4]>) {
    let mut faces: Vec<Face> = Vec::with_capacity(2 * tets.len());
    let mut sides = vec![[NONE; 4]; tets.len()];
    for (t, tet) in tets.iter().enumerate() {
        for k in 0..4 {
            let partner = partners[4 * t + k];
            if partner as usize > 4 * t + k {
                let second = if partner == NONE { NONE } else { partner / 4 };
                sides[t][k] = 2 * faces.len() as u32;
                faces.push(Face { corners: OPPOSITE[k].map(|i| tet[i]), tets: [t as u32, second] });
            } else {
                let face = sides[partner as usize / 4][partner as usize % 4] / 2;
                sides[t][k] = 2 * face + 1;
            }
        }
    }
    (faces, sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corners() -> Vec<[f32; 3]> {
        vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0; 3], [0.3, 0.3, 0.0]]
    }

    #[test]
    fn neighbours_share_a_face() {
        let mesh = Mesh::new(corners(), vec![[0, 1, 2, 3], [1, 2, 3, 4]], vec![0.0; 6]).unwrap();
        assert_eq!(mesh.faces().len(), 7);
        let to = |tet| {
            (0..4).map(|k| mesh.neighbour(tet, k)).filter(|&it| it != NONE).collect::<Vec<_>>()
        };
        assert_eq!((to(0), to(1)), (vec![1], vec![0]));
        for face in mesh.faces() {
            let [a, b, c] = face.corners.map(|point| at(mesh.points(), point));
            let own = mesh.tets()[face.tets[0] as usize];
            let inside = own.map(|point| at(mesh.points(), point));
            let normal = cross(less(b, a), less(c, a));
            assert!(inside.iter().all(|&p| dot(normal, less(p, a)) <= 0.0), "{face:?}");
        }
    }

    #[test]
    fn flat_tetrahedra_are_dropped_and_counted() {
        let mesh =
            Mesh::new(corners(), vec![[0, 1, 2, 5], [0, 1, 2, 3], [0, 0, 1, 2]], vec![0.0; 6])
                .unwrap();
        assert_eq!((mesh.dropped(), mesh.tets().len()), (2, 1));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |tets: Vec<[u32; 4]>| Mesh::new(corners(), tets, vec![0.0; 6]).unwrap_err();
        assert!(wrong(vec![[0, 1, 2, 9]]).contains("tetrahedron 0: point 9"));
        assert!(wrong(vec![[0, 1, 2, 5]]).contains("none of 1"));
        assert!(wrong(vec![[0, 1, 2, 3], [0, 1, 2, 4]]).contains("one side"));
        let mut points = corners();
        points[5][2] = -1.0;
        points.push([0.2, 0.2, -2.0]);
        let three = vec![[0, 1, 2, 3], [0, 1, 2, 5], [0, 1, 2, 6]];
        assert!(Mesh::new(points, three, vec![0.0; 7]).unwrap_err().contains("3 tetrahedra"));
        assert!(
            Mesh::new(corners(), vec![[0, 1, 2, 3]], vec![0.0; 5])
                .unwrap_err()
                .contains("5 values")
        );
        let mut points = corners();
        points[1][1] = f32::NAN;
        assert!(
            Mesh::new(points, vec![[0, 1, 2, 3]], vec![0.0; 6]).unwrap_err().contains("point 1")
        );
    }
}
