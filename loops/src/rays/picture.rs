//! [`Picture`]: the pixels of a frame, in tiles while they are drawn, in rows afterwards.

use super::boundary::Tiles;
use super::record::TILE_PIXELS;

/// A picture: the red, green and blue light of each pixel, and the fraction of the light behind it that it hides.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    width: u32,
    height: u32,
    /// Tile by tile, row by row within each; tiles at the edges are stored whole.
    pub(super) cells: Vec<[f32; 4]>,
}

impl Picture {
    /// Nothing drawn yet.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        let cells = vec![[0.0; 4]; Tiles::new(width, height).count() * TILE_PIXELS];
        Self { width, height, cells }
    }

    /// Pixels from left to right.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Pixels from top to bottom.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// A pixel by its column and row: red, green, blue, opacity; the colours are multiplied by the opacity.
    ///
    /// # Panics
    /// If it is outside the picture.
    #[must_use]
    pub fn pixel(&self, x: usize, y: usize) -> [f32; 4] {
        self.cells[Tiles::new(self.width, self.height).place(x, y)]
    }

    /// All pixels, row by row.
    #[must_use]
    pub fn pixels(&self) -> Vec<[f32; 4]> {
        let (width, height) = (self.width as usize, self.height as usize);
        (0..height).flat_map(|y| (0..width).map(move |x| self.pixel(x, y))).collect()
    }

    /// All pixels in 8 bits a channel, row by row: red, green, blue, opacity. With a background they are opaque.
    /// Without one, colours are not premultiplied, as expected by programs that add their own background.
    #[must_use]
    pub fn rgba(&self, background: Option<[f32; 3]>) -> Vec<u8> {
        let byte = |x: f32| (x * 255.0 + 0.5) as u8;
        let bytes = |[r, g, b, opacity]: [f32; 4]| match background {
            Some(behind) => {
                let channel = |x: f32, behind: f32| byte(x + (1.0 - opacity) * behind);
                [channel(r, behind[0]), channel(g, behind[1]), channel(b, behind[2]), 255]
            }
            None => {
                let channel = |x: f32| byte(x / opacity.max(1e-6));
                [channel(r), channel(g), channel(b), byte(opacity)]
            }
        };
        self.pixels().into_iter().flat_map(bytes).collect()
    }

    /// The sum of all channels in 8 bits, over black. Code paths round differently, so it may differ slightly between
    /// them.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        self.rgba(Some([0.0; 3])).into_iter().map(u64::from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_become_bytes() {
        let mut picture = Picture::new(3, 2);
        picture.cells[16] = [0.5, 0.0, 0.25, 0.5];
        assert_eq!(picture.pixel(0, 1), [0.5, 0.0, 0.25, 0.5]);
        assert_eq!(picture.rgba(None)[12..16], [255, 0, 128, 128]);
        assert_eq!(picture.rgba(Some([1.0; 3]))[12..16], [255, 128, 191, 255]);
        assert_eq!(picture.checksum(), 6 * 255 + 128 + 64);
    }
}
