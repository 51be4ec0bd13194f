//! [`Scene`]: a mesh with a transfer function, and what all its views share.

use super::mesh::{Mesh, NONE, at, cross, dot, less};
use super::transfer::{Piece, Transfer, span};
use std::borrow::Cow;

/// A mesh with a transfer function.
pub struct Scene<'a> {
    mesh: Cow<'a, Mesh>,
    pieces: Vec<Piece>,
    gradients: Vec<[f32; 4]>,
    touched: Vec<[u16; 2]>,
    boundary: Vec<u32>,
}

impl<'a> Scene<'a> {
    /// Prepares a mesh for pictures by this transfer function.
    #[must_use]
    pub fn new(mesh: &'a Mesh, transfer: &Transfer) -> Self {
        Self::of(Cow::Borrowed(mesh), transfer)
    }

    /// The same, for a mesh that the caller gives up.
    #[must_use]
    pub fn owning(mesh: Mesh, transfer: &Transfer) -> Self {
        Self::of(Cow::Owned(mesh), transfer)
    }

    fn of(mesh: Cow<'a, Mesh>, transfer: &Transfer) -> Self {
        let pieces = transfer.pieces(mesh.range());
        let (low, span) = (f64::from(mesh.range().0), span(mesh.range()));
        let (middle, _) = mesh.sphere();
        let value = |point: u32| (f64::from(mesh.values()[point as usize]) - low) / span;
        let gradients = mesh.tets().iter().map(|&tet| {
            let corners = tet.map(|point| at(mesh.points(), point));
            gradient(corners, tet.map(value), middle).map(|x| x as f32)
        });
        let touched =
            mesh.tets().iter().map(|&tet| touched(&pieces, tet.map(|point| value(point) as f32)));
        let (gradients, touched) = (gradients.collect(), touched.collect());
        let faces = (0..).zip(mesh.faces());
        let boundary = faces.filter(|(_, face)| face.tets[1] == NONE).map(|(number, _)| number);
        let boundary = boundary.collect();
        Self { mesh, gradients, touched, boundary, pieces }
    }

    /// The mesh.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The transfer function over values from 0, the mesh's least, to 1, its greatest.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Each tetrahedron's value: its gradient, and its extrapolation to the mesh's centre.
    #[must_use]
    pub fn gradients(&self) -> &[[f32; 4]] {
        &self.gradients
    }

    /// The pieces that each tetrahedron touches, as half-open ranges.
    #[must_use]
    pub fn touched(&self) -> &[[u16; 2]] {
        &self.touched
    }

    /// The numbers of the faces on the boundary.
    #[must_use]
    pub fn boundary(&self) -> &[u32] {
        &self.boundary
    }
}

/// The gradient of the linear function with these values at these corners, and its value in the centre.
fn gradient(corners: [[f64; 3]; 4], values: [f64; 4], middle: [f64; 3]) -> [f64; 4] {
    let edges = [1, 2, 3].map(|i| less(corners[i], corners[0]));
    let rises = [1, 2, 3].map(|i| values[i] - values[0]);
    let normals = [cross(edges[1], edges[2]), cross(edges[2], edges[0]), cross(edges[0], edges[1])];
    let volume = dot(normals[0], edges[0]);
    let part = |axis: usize| (0..3).map(|i| rises[i] * normals[i][axis]).sum::<f64>() / volume;
    let slope = [part(0), part(1), part(2)];
    let value = values[0] + dot(slope, less(middle, corners[0]));
    [slope[0], slope[1], slope[2], value]
}

/// The pieces touched by values in this range: a value at a control point belongs to both sides.
fn touched(pieces: &[Piece], values: [f32; 4]) -> [u16; 2] {
    let low = values.iter().fold(f32::INFINITY, |low, &value| low.min(value));
    let high = values.iter().fold(f32::NEG_INFINITY, |high, &value| high.max(value));
    let first = pieces.partition_point(|piece| piece.high <= low).min(pieces.len() - 1);
    let end = pieces.partition_point(|piece| piece.low < high).max(first + 1);
    [first as u16, end as u16]
}
