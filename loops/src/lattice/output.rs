//! Results as bytes: VTK image data for ParaView, and a picture of a plane.

use super::flow::Flow;
use super::slab::Slab;
use std::fmt::Write;

/// The densities and velocities of some cells, in single precision; x runs fastest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// The densities.
    pub density: Vec<f32>,
    /// The velocities, in cells a step.
    pub velocity: Vec<[f32; 3]>,
}

impl Slab {
    /// Appends the densities and velocities of a slab's planes. For a whole flow, call this for all slabs, lowest
    /// first. After an odd number of steps, the neighbours' planes must be current.
    pub fn fields(&self, fields: &mut Fields) {
        let [nx, ny, _] = self.flow().size();
        for (z, y) in self.planes().flat_map(|z| (0..ny).map(move |y| (z, y))) {
            for x in 0..nx {
                let (density, velocity) = self.state([x, y, z]);
                fields.density.push(density as f32);
                fields.velocity.push(velocity.map(|it| it as f32));
            }
        }
    }

    /// The velocities of one of a slab's planes; x runs fastest.
    ///
    /// # Panics
    /// If the plane is not the slab's own.
    #[must_use]
    pub fn velocities(&self, z: usize) -> Vec<[f32; 3]> {
        let [nx, ny, _] = self.flow().size();
        let cells = (0..ny).flat_map(|y| (0..nx).map(move |x| [x, y, z]));
        cells.map(|cell| self.state(cell).1.map(|it| it as f32)).collect()
    }
}

/// A whole flow as VTK XML image data, with values at the centres of cells: densities, velocities and solid cells.
///
/// # Errors
/// If the fields do not cover all cells.
pub fn write_vti(flow: &Flow, fields: &Fields) -> Result<Vec<u8>, String> {
    let [nx, ny, nz] = flow.size();
    let cells = flow.cells();
    if fields.density.len() != cells || fields.velocity.len() != cells {
        return Err(format!("{} cells: expected {cells}", fields.density.len()));
    }
    let extent = format!("0 {} 0 {} 0 {}", nx - 1, ny - 1, nz - 1);
    let mut head = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n",
    );
    let _ = writeln!(
        head,
        "<ImageData WholeExtent=\"{extent}\" Origin=\"0.5 0.5 0.5\" Spacing=\"1 1 1\">"
    );
    let _ = writeln!(
        head,
        "<Piece Extent=\"{extent}\">\n<PointData Scalars=\"density\" Vectors=\"velocity\">"
    );
    let mut offset = 0;
    for (name, kind, components, bytes) in
        [("density", "Float32", 1, 4), ("velocity", "Float32", 3, 12), ("solid", "UInt8", 1, 1)]
    {
        let _ = writeln!(
            head,
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" \
             offset=\"{offset}\"/>"
        );
        offset += 8 + cells * bytes;
    }
    head += "</PointData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_";
    let mut out = head.into_bytes();
    out.reserve(offset + 64);
    array(&mut out, cells * 4, fields.density.iter().flat_map(|it| it.to_le_bytes()));
    array(&mut out, cells * 12, fields.velocity.iter().flatten().flat_map(|it| it.to_le_bytes()));
    let solid = |at: usize| u8::from(flow.is_solid([at % nx, at / nx % ny, at / nx / ny]));
    array(&mut out, cells, (0..cells).map(solid));
    out.extend(b"\n</AppendedData>\n</VTKFile>\n");
    Ok(out)
}

/// Appends an array: its length in bytes, then the bytes.
fn array(out: &mut Vec<u8>, length: usize, bytes: impl Iterator<Item = u8>) {
    out.extend((length as u64).to_le_bytes());
    out.extend(bytes);
}

/// The colour of solid cells in a picture.
const GREY: [u8; 4] = [128, 128, 128, 255];
/// Colours from the slowest to the fastest.
const COLOURS: [[f32; 3]; 5] = [
    [68.0, 1.0, 84.0],
    [59.0, 82.0, 139.0],
    [33.0, 145.0, 140.0],
    [94.0, 201.0, 98.0],
    [253.0, 231.0, 37.0],
];

/// The speeds in a plane as a picture: a pixel per cell, four bytes each (red, green, blue, opaque), the highest row
/// first. Speeds of at least `fastest`, in cells a step, have the brightest colour; solid cells are grey.
///
/// # Errors
/// If there is no such plane, or `velocity` does not cover a plane.
pub fn picture(
    flow: &Flow,
    z: usize,
    velocities: &[[f32; 3]],
    fastest: f64,
) -> Result<Vec<u8>, String> {
    let [nx, ny, nz] = flow.size();
    if z >= nz || velocities.len() != nx * ny {
        return Err(format!(
            "plane {z}, {} cells: expected one of {nz} planes, {} cells",
            velocities.len(),
            nx * ny
        ));
    }
    let pixel = |x: usize, y: usize| {
        if flow.is_solid([x, y, z]) {
            return GREY;
        }
        let speed = velocities[y * nx + x].iter().map(|u| u * u).sum::<f32>().sqrt();
        colour(speed / (fastest as f32).max(f32::MIN_POSITIVE))
    };
    Ok((0..ny).rev().flat_map(|y| (0..nx).flat_map(move |x| pixel(x, y))).collect())
}

/// A colour for a number from 0 to 1.
fn colour(part: f32) -> [u8; 4] {
    let at = if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f32 };
    let low = (at as usize).min(COLOURS.len() - 2);
    let mixed: [f32; 3] = std::array::from_fn(|c| {
        COLOURS[low][c] + (COLOURS[low + 1][c] - COLOURS[low][c]) * (at - low as f32)
    });
    [mixed[0] as u8, mixed[1] as u8, mixed[2] as u8, 255]
}

#[cfg(test)]
mod tests {
    use super::super::flow::Setup;
    use super::*;
    use std::sync::Arc;

    fn small() -> (Arc<Flow>, Slab) {
        let flow = Arc::new(Flow::new(Setup { size: [32, 12, 8], ..Setup::default() }).unwrap());
        let slab = Slab::new(&flow, 0..8).unwrap();
        (flow, slab)
    }

    #[test]
    fn image_data_holds_every_cell_where_the_head_says() {
        let (flow, slab) = small();
        let mut fields = Fields::default();
        slab.fields(&mut fields);
        let bytes = write_vti(&flow, &fields).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("WholeExtent=\"0 31 0 11 0 7\"") && text.ends_with("</VTKFile>\n"));
        let cells = 32 * 12 * 8;
        let first = bytes.windows(2).position(|it| it == b"\n_").unwrap() + 2;
        for (offset, length) in
            [(0, cells * 4), (8 + cells * 4, cells * 12), (16 + cells * 16, cells)]
        {
            assert!(text.contains(&format!("offset=\"{offset}\"")));
            let at = first + offset;
            assert_eq!(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()), length as u64);
        }
        assert_eq!(bytes.len(), first + 24 + cells * 17 + "\n</AppendedData>\n</VTKFile>\n".len());
        assert!(write_vti(&flow, &Fields::default()).is_err());
    }

    #[test]
    fn a_picture_shows_the_obstacle_in_grey() {
        let (flow, slab) = small();
        let bytes = picture(&flow, 4, &slab.velocities(4), 0.05).unwrap();
        assert_eq!(bytes.len(), 32 * 12 * 4);
        let grey = bytes.chunks(4).filter(|it| *it == GREY).count();
        let solid = (0..32 * 12).filter(|at| flow.is_solid([at % 32, at / 32, 4])).count();
        assert!(grey == solid && solid > 0);
        assert_eq!(bytes[..4], [253, 231, 37, 255]);
        assert!(picture(&flow, 8, &slab.velocities(4), 0.05).is_err());
        assert!(picture(&flow, 4, &[], f64::NAN).is_err());
    }
}
