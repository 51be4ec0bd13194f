//! What a kernel reads of a tetrahedron in one view, and the light it accumulates for a tile of pixels.

use super::transfer::Piece;

/// Pixels along each edge of a tile.
pub const TILE: usize = 16;

/// Pixels of a tile.
pub const TILE_PIXELS: usize = TILE * TILE;

/// Pixels along each edge of a block: the lanes of a vector.
pub const BLOCK: usize = 4;

/// A tetrahedron's faces as planes, depth = a·x + b·y + c, and its value, both over pixels relative to the picture's
/// centre. Entry faces come first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Record {
    /// Depth per pixel to the right, for each face.
    pub a: [f32; 4],
    /// Depth per pixel down.
    pub b: [f32; 4],
    /// Depth in the centre.
    pub c: [f32; 4],
    /// The value: per pixel right, per pixel down, per depth, and in the centre.
    pub value: [f32; 4],
}

/// Further properties of a tetrahedron in a view. Ranges of pixels and pieces are half-open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Columns of pixels.
    pub x: [u16; 2],
    /// Rows of pixels.
    pub y: [u16; 2],
    /// Pieces of the transfer function that its values touch.
    pub pieces: [u16; 2],
    /// The number of its entry faces: 1 to 3.
    pub entries: u16,
}

/// Numbers of a frame that every tile needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    /// Where the first pixel's centre is, relative to the picture's centre.
    pub first: [f32; 2],
    /// Nothing in front of this depth is seen.
    pub near: f32,
    /// A ray ends when at most this fraction of the light behind would come through.
    pub least: f32,
}

/// What a kernel draws: the tetrahedra of a view, front to back.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// All tetrahedra.
    pub records: &'a [Record],
    /// Their properties.
    pub notes: &'a [Note],
    /// The tetrahedra that touch the tile.
    pub list: &'a [u32],
    /// The transfer function.
    pub pieces: &'a [Piece],
    /// The frame.
    pub lens: Lens,
    /// The tile's first pixel: column and row.
    pub corner: [usize; 2],
}

/// A tile's light, block by block and row by row within a block: red, green, blue, and the fraction of the light behind
/// that comes through.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Light(pub [[[f32; BLOCK * BLOCK]; 4]; TILE_PIXELS / (BLOCK * BLOCK)]);

impl Light {
    /// Nothing drawn yet.
    #[must_use]
    pub fn new() -> Self {
        let mut light = Self([[[0.0; 16]; 4]; 16]);
        light.0.iter_mut().for_each(|block| block[3].fill(1.0));
        light
    }

    /// A pixel by its column and row in the tile.
    #[must_use]
    pub fn pixel(&self, x: usize, y: usize) -> [f32; 4] {
        let (block, lane) = place(x, y);
        [0, 1, 2, 3].map(|channel| self.0[block][channel][lane])
    }

    /// Sets a pixel.
    pub fn put(&mut self, x: usize, y: usize, pixel: [f32; 4]) {
        let (block, lane) = place(x, y);
        (0..4).for_each(|channel| self.0[block][channel][lane] = pixel[channel]);
    }

    /// Whether no pixel lets more than this fraction of the light through.
    #[must_use]
    pub fn ended(&self, least: f32) -> bool {
        self.0.iter().all(|block| block[3].iter().all(|&through| through <= least))
    }
}

impl Default for Light {
    fn default() -> Self {
        Self::new()
    }
}

fn place(x: usize, y: usize) -> (usize, usize) {
    (y / BLOCK * (TILE / BLOCK) + x / BLOCK, y % BLOCK * BLOCK + x % BLOCK)
}

impl Work<'_> {
    /// A tetrahedron's half-open ranges of columns and rows in the tile.
    #[must_use]
    #[inline]
    pub fn span(&self, note: &Note) -> [[usize; 2]; 2] {
        let inside = |[from, to]: [u16; 2], corner: usize| {
            [
                usize::from(from).saturating_sub(corner),
                usize::from(to).saturating_sub(corner).min(TILE),
            ]
        };
        [inside(note.x, self.corner[0]), inside(note.y, self.corner[1])]
    }
}
