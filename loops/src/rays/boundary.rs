//! The boundary faces of a view as pixels: where rays enter and leave the mesh.

use super::mesh::{Face, Mesh, NONE};
use super::prepare::{Facing, Prepared};
use super::record::{TILE, TILE_PIXELS};
use super::scene::Scene;
use super::stage::{RunStage, run_stage};
use crate::looping::Cells;
use std::ops::Range;

/// Numbers the pixels of a picture cut into tiles: tile by tile, row by row within each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Tiles from left to right.
    pub across: usize,
    /// Tiles from top to bottom.
    pub down: usize,
}

impl Tiles {
    /// The tiles of a picture of this size.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self { across: (width as usize).div_ceil(TILE), down: (height as usize).div_ceil(TILE) }
    }

    /// The number of tiles.
    #[must_use]
    pub fn count(self) -> usize {
        self.across * self.down
    }

    /// The column and the row of a tile's first pixel.
    #[must_use]
    pub fn corner(self, tile: usize) -> [usize; 2] {
        [tile % self.across * TILE, tile / self.across * TILE]
    }

    /// The number of a pixel.
    #[must_use]
    pub fn place(self, x: usize, y: usize) -> usize {
        (y / TILE * self.across + x / TILE) * TILE_PIXELS + y % TILE * TILE + x % TILE
    }
}

/// Where rays enter the mesh: tetrahedra for each pixel, nearest first, in lists for each row of tiles.
pub struct Entries {
    /// Tiles from left to right.
    across: usize,
    bands: Vec<Band>,
    /// The number of entries before each row of tiles, and finally their total.
    before: Vec<u32>,
}

/// The entries of a row of tiles, whose pixels are numbered from 0.
#[derive(Clone, Default)]
struct Band {
    ends: Vec<u32>,
    tets: Vec<(f32, u32)>,
    /// Whether any ray enters more than once.
    again: bool,
    pairs: Vec<[u32; 2]>,
}

/// The entries of a tile.
#[derive(Clone, Copy)]
pub struct TileEntries<'a> {
    ends: &'a [u32],
    tets: &'a [(f32, u32)],
}

impl<'a> TileEntries<'a> {
    /// Where the ray of a pixel enters: depth and tetrahedron, nearest first.
    #[must_use]
    pub fn at(self, pixel: usize) -> &'a [(f32, u32)] {
        &self.tets[self.ends[pixel] as usize..self.ends[pixel + 1] as usize]
    }
}

/// The corners of a face in pixels, and their depths.
fn corners(prepared: &Prepared, face: &Face) -> [[f64; 3]; 3] {
    face.corners.map(|point| prepared.places[point as usize])
}

/// The columns or rows, of this many, in which a face with these corners may have pixels.
fn span(corners: [[f64; 3]; 3], axis: usize, size: u32) -> Range<usize> {
    let first = 0.5 - f64::from(size) / 2.0;
    let [a, b, c] = corners.map(|corner| corner[axis] - first);
    let from = (a.min(b).min(c) - 1e-6).ceil().max(0.0);
    let to = ((a.max(b).max(c) + 1e-6).floor() + 1.0).min(f64::from(size)).max(0.0);
    from as usize..to as usize
}

/// Calls for each pixel in these rows whose ray meets one of these boundary faces on this side: column, row, face.
fn raster(
    mesh: &Mesh,
    prepared: &Prepared,
    (faces, facing): (&[u32], Facing),
    [width, height]: [u32; 2],
    within: Range<usize>,
    mut call: impl FnMut(usize, usize, usize),
) {
    let first = [f64::from(width), f64::from(height)].map(|size| 0.5 - size / 2.0);
    for number in faces.iter().map(|&number| number as usize) {
        if prepared.facings[number] != facing {
            continue;
        }
        let face = &mesh.faces()[number];
        let corners = corners(prepared, face);
        let sides = [[0, 1], [1, 2], [2, 0]].map(|[i, j]| {
            Side::new(
                [face.corners[i], face.corners[j]],
                [corners[i], corners[j]],
                facing == Facing::Exit,
            )
        });
        let (columns, rows) = (span(corners, 0, width), span(corners, 1, height));
        for row in rows.start.max(within.start)..rows.end.min(within.end) {
            let y = first[1] + row as f64;
            for column in columns.clone() {
                let x = first[0] + column as f64;
                if sides.iter().all(|side| side.inside(x, y)) {
                    call(column, row, number);
                }
            }
        }
    }
}

/// An edge of a face as a line, with the same numbers for both faces at the edge, so each point is on exactly one side.
struct Side {
    from: [f64; 2],
    along: [f64; 2],
    /// The side of points on the line, as if each were moved slightly to the right, and even less down.
    tie: bool,
    /// Whether the face is on the positive side.
    positive: bool,
}

impl Side {
    fn new(points: [u32; 2], [p, q]: [[f64; 3]; 2], turned: bool) -> Self {
        let swapped = points[0] > points[1];
        let (from, to) = if swapped { (q, p) } else { (p, q) };
        let along = [to[0] - from[0], to[1] - from[1]];
        let tie = if along[1] == 0.0 { along[0] > 0.0 } else { along[1] < 0.0 };
        Self { from: [from[0], from[1]], along, tie, positive: swapped != turned }
    }

    fn inside(&self, x: f64, y: f64) -> bool {
        let side = self.along[0] * (y - self.from[1]) - self.along[1] * (x - self.from[0]);
        (side > 0.0 || side == 0.0 && self.tie) == self.positive
    }
}

impl Entries {
    /// Finds the entries of a view's pixels, in a stage whose units are the rows of tiles; and, if `related`, the
    /// [pairs](Self::pairs) of tetrahedra. `None` if the stage was stopped.
    #[must_use]
    pub fn new(
        scene: &Scene,
        prepared: &Prepared,
        sizes: [u32; 2],
        related: bool,
        run: &mut RunStage<'_>,
    ) -> Option<Self> {
        let (mesh, tiles) = (scene.mesh(), Tiles::new(sizes[0], sizes[1]));
        let wanted = |facing: Facing| facing == Facing::Entry || related && facing == Facing::Exit;
        let mut faces = vec![Vec::new(); tiles.down];
        for &number in scene.boundary() {
            if wanted(prepared.facings[number as usize]) {
                let corners = corners(prepared, &mesh.faces()[number as usize]);
                let rows = span(corners, 1, sizes[1]);
                let touched = rows.start / TILE..rows.end.div_ceil(TILE);
                touched.for_each(|band| faces[band].push(number));
            }
        }
        let mut bands = vec![Band::default(); tiles.down];
        let cells = Cells::cut(&mut bands, std::iter::repeat_n(1, tiles.down));
        run_stage(run, tiles.down, |number| {
            let mut band = Band::new(mesh, prepared, sizes, (number, &faces[number]));
            if related && band.again {
                band.pairs = band.pairs(mesh, prepared, sizes, (number, &faces[number]));
            }
            cells.part(number)[0] = band;
        })?;
        drop(cells);
        let mut before = vec![0];
        let mut sum = 0;
        before.extend(bands.iter().map(|band| {
            sum += band.tets.len() as u32;
            sum
        }));
        Some(Self { across: tiles.across, bands, before })
    }

    /// The entries of a tile.
    #[must_use]
    pub fn tile(&self, tile: usize) -> TileEntries<'_> {
        let Band { ends, tets, .. } = &self.bands[tile / self.across];
        let first = tile % self.across * TILE_PIXELS;
        TileEntries { ends: &ends[first..=first + TILE_PIXELS], tets }
    }

    /// The number of entries before a tile; with the number of tiles, their total.
    #[must_use]
    pub fn before(&self, tile: usize) -> u32 {
        let (band, first) = (tile / self.across, tile % self.across * TILE_PIXELS);
        self.before[band] + self.bands.get(band).map_or(0, |band| band.ends[first])
    }

    /// How many words [`write`](Self::write) appends.
    #[must_use]
    pub fn words(&self) -> usize {
        let (pixels, down) = (self.across * TILE_PIXELS, self.bands.len());
        down * pixels + 1 + 2 * self.before[down] as usize
    }

    /// Appends for each pixel the number of entries before its own, and finally their total; then all entries.
    pub fn write(&self, words: &mut Vec<u32>) {
        words.push(0);
        for (band, before) in self.bands.iter().zip(&self.before) {
            words.extend(band.ends[1..].iter().map(|end| before + end));
        }
        for band in &self.bands {
            words.extend(band.tets.iter().flat_map(|&(depth, tet)| [depth.to_bits(), tet]));
        }
    }

    /// Pairs of tetrahedra that no common face orders, in ascending order: a ray leaves the first and later enters the
    /// second.
    #[must_use]
    pub fn pairs(&self) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        self.bands.iter().for_each(|band| pairs.extend_from_slice(&band.pairs));
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

impl Band {
    /// The entries of a row of tiles by the faces that touch it.
    fn new(
        mesh: &Mesh,
        prepared: &Prepared,
        sizes: [u32; 2],
        (band, faces): (usize, &[u32]),
    ) -> Self {
        let tiles = Tiles::new(sizes[0], sizes[1]);
        let mut ends = vec![0_u32; tiles.across * TILE_PIXELS + 1];
        let mut hits: Vec<(u32, f32, u32)> = Vec::new();
        let rows = band * TILE..(band + 1) * TILE;
        raster(mesh, prepared, (faces, Facing::Entry), sizes, rows, |x, y, face| {
            let place = tiles.place(x, y % TILE);
            let depth = depth(prepared, face, x, y);
            hits.push((place as u32, depth, mesh.faces()[face].tets[0]));
            ends[place + 1] += 1;
        });
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let mut next = ends.clone();
        let mut tets = vec![(0.0, NONE); hits.len()];
        for (place, depth, tet) in hits {
            let next = &mut next[place as usize];
            tets[*next as usize] = (depth, tet);
            *next += 1;
        }
        let mut again = false;
        for pair in ends.windows(2).filter(|pair| pair[1] - pair[0] > 1) {
            let list = &mut tets[pair[0] as usize..pair[1] as usize];
            list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            again = true;
        }
        Self { ends, tets, again, pairs: Vec::new() }
    }

    fn at(&self, place: usize) -> &[(f32, u32)] {
        TileEntries { ends: &self.ends, tets: &self.tets }.at(place)
    }

    /// The pairs of tetrahedra in this row of tiles.
    fn pairs(
        &self,
        mesh: &Mesh,
        prepared: &Prepared,
        sizes: [u32; 2],
        (band, faces): (usize, &[u32]),
    ) -> Vec<[u32; 2]> {
        let tiles = Tiles::new(sizes[0], sizes[1]);
        let mut exits: Vec<(u32, f32, u32)> = Vec::new();
        let rows = band * TILE..(band + 1) * TILE;
        raster(mesh, prepared, (faces, Facing::Exit), sizes, rows, |x, y, face| {
            let place = tiles.place(x, y % TILE);
            if self.at(place).len() > 1 {
                exits.push((place as u32, depth(prepared, face, x, y), mesh.faces()[face].tets[0]));
            }
        });
        exits.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut pairs = Vec::new();
        for list in exits.chunk_by(|a, b| a.0 == b.0) {
            let entries = self.at(list[0].0 as usize);
            pairs.extend(list.iter().zip(&entries[1..]).map(|(exit, entry)| [exit.2, entry.1]));
        }
        pairs.sort_unstable();
        pairs.dedup();
        // A tetrahedron that a ray leaves and enters at the same point is not behind itself.
        pairs.retain(|[before, behind]| before != behind);
        pairs
    }
}

fn depth(prepared: &Prepared, face: usize, x: usize, y: usize) -> f32 {
    let [a, b, c] = prepared.planes[face];
    let [left, top] = prepared.lens.first;
    a * (left + x as f32) + (b * (top + y as f32) + c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::looping::Loop;
    use crate::rays::stage::Stage;
    use crate::rays::transfer::Transfer;
    use crate::rays::view::View;

    #[test]
    fn entries_are_listed_tile_by_tile() {
        let mesh = Mesh::named("bluntfin:6x5x4").unwrap().unwrap();
        let scene = Scene::new(&mesh, &Transfer::usual(mesh.range(), mesh.sphere().1));
        let view = View { width: 75, ..View::new(60, 60) };
        let mut run = |stage: &Stage<'_>| {
            (0..stage.units()).rev().for_each(|unit| stage.run(unit..unit + 1, &mut ()));
            true
        };
        let axes = view.axes(&mesh).unwrap();
        let prepared = Prepared::new(&scene, &view, &axes, 0.0, &mut run).unwrap();
        let entries = Entries::new(&scene, &prepared, [75, 60], true, &mut run).unwrap();
        let mut words = Vec::new();
        entries.write(&mut words);
        assert_eq!(words.len(), entries.words());
        let count = Tiles::new(75, 60).count();
        let (ends, tets) = words.split_at(count * TILE_PIXELS + 1);
        assert!(!tets.is_empty());
        for (place, pair) in ends.windows(2).enumerate() {
            let at = entries.tile(place / TILE_PIXELS).at(place % TILE_PIXELS);
            let listed = at.iter().flat_map(|&(depth, tet)| [depth.to_bits(), tet]);
            assert!(listed.eq(tets[2 * pair[0] as usize..2 * pair[1] as usize].iter().copied()));
        }
        for tile in 0..=count {
            assert_eq!(entries.before(tile), ends[tile * TILE_PIXELS]);
        }
    }
}
