//! A grid as read from a file, and its conversion to a mesh.

use super::split::{shape, split};
use crate::rays::mesh::Mesh;

/// Points, cells and values, each valid on its own, not yet checked against each other.
#[derive(Debug, Default)]
pub struct Grid {
    /// Three coordinates for each point.
    pub coordinates: Vec<f64>,
    /// The corners of all cells, one cell after the other.
    pub corners: Vec<f64>,
    /// Where each cell's corners end.
    pub ends: Vec<f64>,
    /// The type of each cell.
    pub kinds: Vec<f64>,
    /// The value at each point.
    pub values: Vec<f64>,
}

impl Grid {
    /// Its mesh.
    ///
    /// # Errors
    /// If its parts do not match, or do not form a mesh.
    pub fn mesh(self) -> Result<Mesh, String> {
        let points = self.coordinates.len() / 3;
        if self.values.len() != points {
            return Err(format!("{} values for {points} points", self.values.len()));
        }
        if self.kinds.len() != self.ends.len() {
            return Err(format!("{} cell types for {} cells", self.kinds.len(), self.ends.len()));
        }
        let mut corners = Vec::with_capacity(self.corners.len());
        for (i, &point) in self.corners.iter().enumerate() {
            let fits = point >= 0.0 && point < points as f64 && point < f64::from(u32::MAX);
            if !fits || point.fract() != 0.0 {
                return Err(format!(
                    "corner {i} of the cells: point {point}, expected 0 to {}",
                    points as f64 - 1.0
                ));
            }
            corners.push(point as u32);
        }
        let mut tets = Vec::new();
        let mut from = 0;
        for (cell, (&end, &kind)) in self.ends.iter().zip(&self.kinds).enumerate() {
            let Some((count, faces)) =
                shape(kind as u8).filter(|_| kind.fract() == 0.0 && kind < 256.0)
            else {
                return Err(format!(
                    "cell {cell}: type {kind}, expected 10 to 14 (solids with flat faces)"
                ));
            };
            if end != (from + count) as f64 || from + count > corners.len() {
                let found = end - from as f64;
                return Err(format!(
                    "cell {cell}: {found} corners, expected {count} for type {kind}"
                ));
            }
            split(&corners[from..from + count], faces, &mut tets);
            from += count;
        }
        let points =
            self.coordinates.chunks_exact(3).map(|p| [p[0] as f32, p[1] as f32, p[2] as f32]);
        Mesh::new(points.collect(), tets, self.values.iter().map(|&value| value as f32).collect())
    }
}
