//! [`View`]: the direction, size and zoom of a picture; its axes in the coordinates of the mesh.

use super::mesh::{Mesh, dot, less};

/// The maximum number of pixels along an edge of a picture: pixel numbers must fit 16 bits.
pub const MOST_PIXELS: u32 = 16_384;

/// The radii of meshes are below this.
const MOST_RADIUS: f64 = 1e15;

/// Pixels by which rays miss the centres of pixels, to the right and down. Meshes often have faces exactly there, and a
/// ray along a face is in the tetrahedra on neither side, or in both.
const ASIDE: [f64; 2] = [1.37e-3, 0.59e-3];

/// A parallel projection that fits a mesh's bounding sphere into a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The viewer's direction: degrees from the x axis towards the y axis.
    pub azimuth_degrees: f64,
    /// Degrees above the plane of x and y.
    pub elevation_degrees: f64,
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// The magnification; 1 shows the whole sphere.
    pub zoom: f64,
    /// Only what lies at this depth or beyond is seen. The centre of the mesh has depth 0, and its sphere begins at
    /// minus its radius.
    pub near: Option<f64>,
}

/// A view's axes: they map a point to pixels right of and below the picture's centre, and to its depth.
#[derive(Clone, Copy, Debug)]
pub struct Axes {
    /// The centre of the mesh.
    pub middle: [f64; 3],
    /// Right, down, and away from the viewer; all of length 1.
    pub turn: [[f64; 3]; 3],
    /// Pixels per unit of length.
    pub scale: f64,
}

impl View {
    /// A view with this many pixels, from the front and slightly above.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self {
            azimuth_degrees: 30.0,
            elevation_degrees: 20.0,
            width,
            height,
            zoom: 1.0,
            near: None,
        }
    }

    /// Its axes for a mesh.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn axes(&self, mesh: &Mesh) -> Result<Axes, String> {
        let &Self { azimuth_degrees, elevation_degrees, width, height, zoom, near } = self;
        for pixels in [width, height] {
            if !(1..=MOST_PIXELS).contains(&pixels) {
                return Err(format!(
                    "{width}x{height} pixels: expected 1 to {MOST_PIXELS} along each edge"
                ));
            }
        }
        if !(1e-3..=1e3).contains(&zoom) {
            return Err(format!("zoom {zoom}: expected 0.001 to 1000"));
        }
        if let Some(x) = [azimuth_degrees, elevation_degrees, near.unwrap_or(0.0)]
            .iter()
            .find(|x| !x.is_finite())
        {
            return Err(format!("a view with the angle or depth {x}: expected a finite number"));
        }
        let (middle, radius) = mesh.sphere();
        // Marching takes greater depths for those of faces along the rays.
        if radius >= MOST_RADIUS {
            return Err(format!("a mesh of radius {radius:e}: expected less than {MOST_RADIUS:e}"));
        }
        let (ca, sa) = circle(azimuth_degrees);
        let (ce, se) = circle(elevation_degrees);
        let turn = [[-sa, ca, 0.0], [se * ca, se * sa, -ce], [-ce * ca, -ce * sa, -se]];
        Ok(Axes { middle, turn, scale: zoom * f64::from(width.min(height)) / (2.0 * radius) })
    }
}

impl Axes {
    /// Pixels right of the centre, pixels below it, and depth.
    #[must_use]
    pub fn project(&self, point: [f64; 3]) -> [f64; 3] {
        let p = less(point, self.middle);
        let right = dot(self.turn[0], p) * self.scale - ASIDE[0];
        let down = dot(self.turn[1], p) * self.scale - ASIDE[1];
        [right, down, dot(self.turn[2], p)]
    }
}

/// Cosine and sine, exact at right angles, so that faces along the rays are recognised as such.
fn circle(degrees: f64) -> (f64, f64) {
    let turned = degrees.rem_euclid(360.0);
    match turned / 90.0 {
        0.0 | 4.0 => (1.0, 0.0),
        1.0 => (0.0, 1.0),
        2.0 => (-1.0, 0.0),
        3.0 => (0.0, -1.0),
        _ => (turned.to_radians().cos(), turned.to_radians().sin()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_those_of_the_viewer() {
        let mesh = Mesh::named("cube:1").unwrap().unwrap();
        let view = View { azimuth_degrees: 0.0, elevation_degrees: 0.0, ..View::new(200, 100) };
        let axes = view.axes(&mesh).unwrap();
        let pixels = 50.0 / 0.75_f64.sqrt();
        // From the x axis: y to the right, z up, x towards the viewer.
        let seen = axes.project([1.5, 1.5, 1.5]);
        let expected = [pixels, -pixels, -1.0];
        assert!((0..3).all(|i| (seen[i] - expected[i]).abs() < 2e-3), "{seen:?}");
        let above = View { elevation_degrees: 90.0, ..view }.axes(&mesh).unwrap();
        assert_eq!(above.turn[2], [0.0, 0.0, -1.0]);
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let mesh = Mesh::named("cube:1").unwrap().unwrap();
        let usual = View::new(10, 10);
        for view in [
            View::new(0, 10),
            View::new(10, 100_000),
            View { zoom: f64::NAN, ..usual },
            View { azimuth_degrees: f64::INFINITY, ..usual },
            View { near: Some(f64::NAN), ..usual },
        ] {
            assert!(view.axes(&mesh).is_err(), "{view:?}");
        }
    }
}
