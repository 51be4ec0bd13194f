//! Reads and writes files of the Visualization Toolkit: unstructured grids, legacy and XML.

mod base64;
mod grid;
mod legacy;
mod split;
mod tags;
mod xml;

use super::mesh::Mesh;

/// Reads an unstructured grid, legacy (`.vtk`) or XML (`.vtu`). Values come from the point array with this name, or
/// else from the first with a single component. Other cells are split into tetrahedra.
///
/// # Errors
/// Where the file is wrong, what was found and what was expected, in one line.
pub fn read(bytes: &[u8], array: Option<&str>) -> Result<Mesh, String> {
    let text = bytes.trim_ascii_start();
    if text.starts_with(b"# vtk") {
        legacy::read(bytes, array)?.mesh()
    } else if text.starts_with(b"<") {
        xml::read(bytes, array)?.mesh()
    } else {
        Err("byte 0: expected '# vtk DataFile' or '<VTKFile'".into())
    }
}

/// A mesh as a binary legacy file; its values have the name `value`.
#[must_use]
pub fn write_vtk(mesh: &Mesh) -> Vec<u8> {
    let (points, tets) = (mesh.points(), mesh.tets());
    let mut bytes =
        b"# vtk DataFile Version 3.0\ntetrahedra\nBINARY\nDATASET UNSTRUCTURED_GRID\n".to_vec();
    bytes.extend(format!("POINTS {} float\n", points.len()).bytes());
    bytes.extend(points.iter().flatten().flat_map(|x| x.to_be_bytes()));
    bytes.extend(format!("\nCELLS {} {}\n", tets.len(), 5 * tets.len()).bytes());
    for tet in tets {
        bytes.extend(4_u32.to_be_bytes());
        bytes.extend(tet.iter().flat_map(|point| point.to_be_bytes()));
    }
    bytes.extend(format!("\nCELL_TYPES {}\n", tets.len()).bytes());
    tets.iter().for_each(|_| bytes.extend(10_u32.to_be_bytes()));
    bytes.extend(
        format!("\nPOINT_DATA {}\nSCALARS value float 1\nLOOKUP_TABLE default\n", points.len())
            .bytes(),
    );
    bytes.extend(mesh.values().iter().flat_map(|x| x.to_be_bytes()));
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests;
