//! [`Prepared`]: the tetrahedra of a scene as one view sees them.

use super::mesh::{Face, Mesh, NONE, at};
use super::record::{Lens, Note, Record};
use super::scene::Scene;
use super::stage::{RunStage, run_stage, run_stage_alongside};
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

/// The slots of a tetrahedron's faces in its record, by the set of faces through which rays leave, one bit each: other
/// faces from the first slot on, in order, and these from the last slot back.
static SLOTS: [[u8; 4]; 16] = {
    let mut all = [[0; 4]; 16];
    let mut leaving = 0;
    while leaving < 16 {
        let (mut entries, mut exits, mut face) = (0, 4, 0);
        while face < 4 {
            if leaving >> face & 1 == 1 {
                exits -= 1;
                all[leaving][face] = exits;
            } else {
                all[leaving][face] = entries;
                entries += 1;
            }
            face += 1;
        }
        leaving += 1;
    }
    all
};

/// The bit that says that rays enter and leave a tetrahedron, above those of its faces.
const SOLID: u8 = 1 << 4;

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
    /// The faces through which rays leave each tetrahedron, one bit each in the order of the mesh; and whether rays
    /// both enter and leave it.
    pub leaving: Vec<u8>,
    /// Each tetrahedron, once [`record`](Self::record) has run.
    pub records: Vec<Record>,
    /// Each tetrahedron, likewise.
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

/// How a tetrahedron is related to its neighbours: see [`Prepared`].
struct Links {
    leaving: u8,
    next: [u32; 4],
    waits: u8,
    waited: u8,
}

impl Links {
    fn new(mesh: &Mesh, facings: &[Facing], tet: usize) -> Self {
        let mut neighbours = [NONE; 4];
        let (mut leaving, mut sloped, mut orders) = (0_u8, 0_u8, 0_u8);
        for (i, &side) in mesh.sides()[tet].iter().enumerate() {
            let (face, second) = ((side >> 1) as usize, side & 1 == 1);
            let is_sloped = facings[face] != Facing::EdgeOn;
            neighbours[i] = mesh.faces()[face].tets[usize::from(!second)];
            leaving |= u8::from((facings[face] == Facing::Entry) == second) << i;
            sloped |= u8::from(is_sloped) << i;
            orders |= u8::from(is_sloped && neighbours[i] != NONE) << i;
        }
        let (mut next, mut waited) = ([NONE; 4], 0_u8);
        for (i, slot) in SLOTS[usize::from(leaving)].into_iter().enumerate() {
            let leaves = leaving >> i & 1 == 1;
            next[usize::from(slot)] = if leaves { neighbours[i] } else { NONE };
            waited |= ((orders & leaving) >> i & 1) << slot;
        }
        let waits = (orders & !leaving).count_ones() as u8;
        let solid = sloped & leaving != 0 && sloped & !leaving != 0;
        Self { leaving: if solid { leaving | SOLID } else { leaving }, next, waits, waited }
    }
}

/// Where the first pixel's centre is, relative to the picture's centre.
fn first(view: &View) -> [f64; 2] {
    [view.width, view.height].map(|pixels| 0.5 - f64::from(pixels) / 2.0)
}

impl Prepared {
    /// Transforms a scene for a view, in three stages: points, faces, and how tetrahedra are related. `None` if one was
    /// stopped.
    #[must_use]
    pub fn new(
        scene: &Scene,
        view: &View,
        axes: &Axes,
        least: f32,
        run: &mut RunStage<'_>,
    ) -> Option<Self> {
        let mesh = scene.mesh();
        let lens = Lens {
            first: first(view).map(|x| x as f32),
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
        let (facings, planes) = (facings.finish(), planes.finish());
        let count = mesh.tets().len();
        let (leaving, next) = (FreshList::new(count), FreshList::new(count));
        let (waits, waited) = (FreshList::new(count), FreshList::new(count));
        run_stage(run, next.parts(), |unit| {
            let (mut leaving, mut next) = (leaving.part(unit), next.part(unit));
            let (mut waits, mut waited) = (waits.part(unit), waited.part(unit));
            for tet in next.left() {
                let links = Links::new(mesh, &facings, tet);
                leaving.push(links.leaving);
                next.push(links.next);
                waits.push(links.waits);
                waited.push(links.waited);
            }
        })?;
        Some(Self {
            places,
            facings,
            planes,
            leaving: leaving.finish(),
            records: Vec::new(),
            notes: Vec::new(),
            next: next.finish(),
            waits: waits.finish(),
            waited: waited.finish(),
            lens,
        })
    }

    /// Makes the records and notes, in a stage. Meanwhile, one thread may do a task that does not need them. `None` if
    /// the stage was stopped.
    #[must_use]
    pub fn record(
        &mut self,
        scene: &Scene,
        view: &View,
        axes: &Axes,
        task: Option<&(dyn Fn(&Self) + Sync)>,
        run: &mut RunStage<'_>,
    ) -> Option<()> {
        // Pixels differ in length from the mesh's unit; depths do not.
        let turn =
            [0, 1, 2].map(|i| axes.turn[i].map(|x| if i < 2 { x / axes.scale } else { x } as f32));
        let (this, count) = (&*self, scene.mesh().tets().len());
        let (records, notes) = (FreshList::new(count), FreshList::new(count));
        let unit = |unit: usize| {
            let (mut records, mut notes) = (records.part(unit), notes.part(unit));
            for tet in records.left() {
                let value = turned(&turn, scene.gradients()[tet]);
                let pieces = scene.touched()[tet];
                let (record, note) = this.recorded(scene.mesh(), tet, view, (value, pieces));
                records.push(record);
                notes.push(note);
            }
        };
        match task {
            Some(task) => run_stage_alongside(run, &|| task(this), records.parts(), unit)?,
            None => run_stage(run, records.parts(), unit)?,
        }
        (self.records, self.notes) = (records.finish(), notes.finish());
        Some(())
    }

    /// The record and note of a tetrahedron with this value and these pieces.
    fn recorded(
        &self,
        mesh: &Mesh,
        tet: usize,
        view: &View,
        (value, pieces): ([f32; 4], [u16; 2]),
    ) -> (Record, Note) {
        let leaving = self.leaving[tet] & !SOLID;
        let mut record = Record { value, ..Record::default() };
        for (&side, slot) in mesh.sides()[tet].iter().zip(SLOTS[usize::from(leaving)]) {
            let Record { a, b, c, .. } = &mut record;
            let slot = usize::from(slot);
            [a[slot], b[slot], c[slot]] = self.planes[(side >> 1) as usize];
        }
        let solid = self.leaving[tet] & SOLID != 0;
        let [x, y] = if solid { self.pixels(mesh.tets()[tet], view) } else { [[0; 2]; 2] };
        (record, Note { x, y, pieces, entries: 4 - leaving.count_ones() as u16 })
    }

    /// The columns and rows of pixels whose centres a tetrahedron may cover.
    fn pixels(&self, tet: [u32; 4], view: &View) -> [[u16; 2]; 2] {
        let (sizes, first) = ([view.width, view.height], first(view));
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
