//! [`Prepared`]: the tetrahedra of a scene as one view sees them.

use super::mesh::{Face, Mesh, NONE, at};
use super::record::{Lens, Note, Record};
use super::scene::Scene;
use super::stage::{RunStage, run_stage};
use super::view::{Axes, View};
use crate::simd::fresh_list::FreshList;

/// A face counts as seen edge-on if the cosine between its normal and the rays is below this. No picture resolves such
/// a face, and rounding would decide the sign.
const EDGE_ON: f64 = 1e-9;

/// The depth per pixel of a face seen edge-on, if a unit of depth is as long as a pixel or longer: a power of two, so that
/// multiplying by it is exact.
const STEEP: f64 = (1_u64 << 60) as f64;

/// Pixels by which a tetrahedron's outline is enlarged, so that rounding loses none of its pixels.
const MARGIN: f64 = 1e-4;

/// How a view sees a face from its first tetrahedron's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facing {
    /// Rays enter the first tetrahedron here.
    Entry,
    /// Rays leave the first tetrahedron here.
    Exit,
    /// Rays run along it. It is treated as an exit, and does not affect the order.
    EdgeOn,
}

/// The tetrahedra of a scene in a view.
pub struct Prepared {
    /// The points: pixels right of and below the centre, and depth.
    pub places: Vec<[f64; 3]>,
    /// Each face.
    pub facings: Vec<Facing>,
    /// Each face as a plane: depth per pixel right, per pixel down, and in the centre.
    pub planes: Vec<[f32; 3]>,
    /// Each tetrahedron.
    pub records: Vec<Record>,
    /// Each tetrahedron.
    pub notes: Vec<Note>,
    /// The tetrahedron behind each face of a tetrahedron, in the order of its record; [`NONE`] outside and at entries.
    pub next: Vec<[u32; 4]>,
    /// How many neighbours must be drawn before each tetrahedron.
    pub waits: Vec<u8>,
    /// Which of the next tetrahedra wait for this one, one bit each.
    pub waited: Vec<u8>,
    /// The frame's constants.
    pub lens: Lens,
}

/// A tetrahedron, its faces sorted into entries and exits.
#[derive(Default)]
struct Sorted {
    record: Record,
    note: Note,
    next: [u32; 4],
    waits: u8,
    waited: u8,
    /// Whether rays enter and leave it.
    solid: bool,
}

impl Prepared {
    /// Transforms a scene for a view, in three stages: points, faces, tetrahedra. `None` if one was stopped.
    #[must_use]
    pub fn new(
        scene: &Scene,
        view: &View,
        axes: &Axes,
        least: f32,
        run: &mut RunStage<'_>,
    ) -> Option<Self> {
        let mesh = scene.mesh();
        let middle = |pixels: u32| 0.5 - f64::from(pixels) / 2.0;
        let first = [middle(view.width), middle(view.height)];
        let lens = Lens {
            first: first.map(|x| x as f32),
            near: view.near.map_or(f32::MIN, |near| near as f32),
            least,
        };
        let places = FreshList::new(mesh.points().len());
        run_stage(run, places.parts(), |unit| {
            let mut places = places.part(unit);
            for i in places.left() {
                places.push(axes.project(at(mesh.points(), i as u32)));
            }
        })?;
        let (places, faces) = (places.finish(), mesh.faces());
        let (facings, planes) = (FreshList::new(faces.len()), FreshList::new(faces.len()));
        run_stage(run, planes.parts(), |unit| {
            let (mut facings, mut planes) = (facings.part(unit), planes.part(unit));
            for face in &faces[planes.left()] {
                let (facing, plane) = plane(face, &places, axes.scale);
                facings.push(facing);
                planes.push(plane);
            }
        })?;
        let mut prepared = Self {
            places,
            facings: facings.finish(),
            planes: planes.finish(),
            records: Vec::new(),
            notes: Vec::new(),
            next: Vec::new(),
            waits: Vec::new(),
            waited: Vec::new(),
            lens,
        };
        let sizes = [view.width, view.height];
        // Pixels differ in length from the mesh's unit; depths do not.
        let turn =
            [0, 1, 2].map(|i| axes.turn[i].map(|x| if i < 2 { x / axes.scale } else { x } as f32));
        let count = mesh.tets().len();
        let (records, notes) = (FreshList::new(count), FreshList::new(count));
        let (next, waits, waited) =
            (FreshList::new(count), FreshList::new(count), FreshList::new(count));
        run_stage(run, records.parts(), |unit| {
            let (mut records, mut notes) = (records.part(unit), notes.part(unit));
            let (mut next, mut waits) = (next.part(unit), waits.part(unit));
            let mut waited = waited.part(unit);
            for tet in records.left() {
                let mut sorted = prepared.sort(mesh, tet);
                sorted.record.value = turned(&turn, scene.gradients()[tet]);
                sorted.note.pieces = scene.touched()[tet];
                if sorted.solid {
                    [sorted.note.x, sorted.note.y] =
                        prepared.pixels(mesh.tets()[tet], sizes, first);
                }
                records.push(sorted.record);
                notes.push(sorted.note);
                next.push(sorted.next);
                waits.push(sorted.waits);
                waited.push(sorted.waited);
            }
        })?;
        (prepared.records, prepared.notes) = (records.finish(), notes.finish());
        (prepared.next, prepared.waits) = (next.finish(), waits.finish());
        prepared.waited = waited.finish();
        Some(prepared)
    }

    /// Sorts the faces of a tetrahedron into entries and exits.
    fn sort(&self, mesh: &Mesh, tet: usize) -> Sorted {
        let mut sorted = Sorted { next: [NONE; 4], ..Sorted::default() };
        let (mut entries, mut exits, mut real) = (0, 4, [false; 2]);
        for &side in &mesh.sides()[tet] {
            let (face, second) = ((side >> 1) as usize, side & 1 == 1);
            let neighbour = mesh.faces()[face].tets[usize::from(!second)];
            let leaves = (self.facings[face] == Facing::Entry) == second;
            let sloped = self.facings[face] != Facing::EdgeOn;
            let orders = sloped && neighbour != NONE;
            real[usize::from(leaves)] |= sloped;
            let slot = if leaves {
                exits -= 1;
                sorted.next[exits] = neighbour;
                sorted.waited |= u8::from(orders) << exits;
                exits
            } else {
                entries += 1;
                sorted.waits += u8::from(orders);
                entries - 1
            };
            let Record { a, b, c, .. } = &mut sorted.record;
            [a[slot], b[slot], c[slot]] = self.planes[face];
        }
        sorted.note.entries = entries as u16;
        sorted.solid = real == [true; 2];
        sorted
    }

    /// The columns and rows of pixels whose centres a tetrahedron may cover.
    fn pixels(&self, tet: [u32; 4], sizes: [u32; 2], first: [f64; 2]) -> [[u16; 2]; 2] {
        let corners = tet.map(|point| self.places[point as usize]);
        let span = |axis: usize| {
            let [a, b, c, d] = corners.map(|corner| corner[axis]);
            let (low, high) = (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)));
            let from = (low - first[axis] - MARGIN).ceil().max(0.0);
            let to = (high - first[axis] + MARGIN).floor() + 1.0;
            let to = to.min(f64::from(sizes[axis]));
            if from < to { [from as u16, to as u16] } else { [0, 0] }
        };
        let (x, y) = (span(0), span(1));
        if x[1] == 0 || y[1] == 0 { [[0, 0]; 2] } else { [x, y] }
    }
}

/// The value's slopes along the view's axes.
fn turned(turn: &[[f32; 3]; 3], [x, y, z, middle]: [f32; 4]) -> [f32; 4] {
    let [right, down, away] = turn.map(|axis| axis[0] * x + axis[1] * y + axis[2] * z);
    [right, down, away, middle]
}

/// How a face is seen, and its plane. A unit of depth is as long as `scale` pixels.
fn plane(face: &Face, places: &[[f64; 3]], scale: f64) -> (Facing, [f32; 3]) {
    let [p, q, r] = face.corners.map(|point| places[point as usize]);
    let (u, v) = ([q[0] - p[0], q[1] - p[1], q[2] - p[2]], [r[0] - p[0], r[1] - p[1], r[2] - p[2]]);
    let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let square = normal[0] * normal[0] + normal[1] * normal[1];
    if normal[2].abs() > EDGE_ON * square.sqrt() * scale {
        let facing = if normal[2] > 0.0 { Facing::Exit } else { Facing::Entry };
        let inverse = -1.0 / normal[2];
        let (a, b) = (normal[0] * inverse, normal[1] * inverse);
        return (facing, [a as f32, b as f32, (p[2] - a * p[0] - b * p[1]) as f32]);
    }
    // A wall that falls away outside the first tetrahedron: rays inside never reach it as an exit, and rays outside
    // have left long before. Both neighbours use the same numbers, so no ray is in both or in neither.
    let across = square.sqrt().max(f64::MIN_POSITIVE);
    let (a, b) = (-normal[0] / across, -normal[1] / across);
    let middle = -a * p[0] - b * p[1];
    let steep = STEEP * scale.recip().log2().round().clamp(0.0, 40.0).exp2();
    (Facing::EdgeOn, [a, b, middle].map(|x| (x * steep) as f32))
}
