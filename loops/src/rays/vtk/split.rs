//! Splits cells of other shapes into tetrahedra.

/// A cell's faces, by the indices of its corners.
type Faces = &'static [&'static [usize]];

/// The number of corners and the faces of a type of cell, by its number in files.
#[must_use]
pub fn shape(kind: u8) -> Option<(usize, Faces)> {
    Some(match kind {
        10 => (4, &[&[1, 2, 3], &[0, 3, 2], &[0, 1, 3], &[0, 2, 1]]),
        11 => (
            8,
            &[
                &[0, 2, 3, 1],
                &[4, 5, 7, 6],
                &[0, 1, 5, 4],
                &[1, 3, 7, 5],
                &[3, 2, 6, 7],
                &[2, 0, 4, 6],
            ],
        ),
        12 => (
            8,
            &[
                &[0, 3, 2, 1],
                &[4, 5, 6, 7],
                &[0, 1, 5, 4],
                &[1, 2, 6, 5],
                &[2, 3, 7, 6],
                &[3, 0, 4, 7],
            ],
        ),
        13 => (6, &[&[0, 1, 2], &[3, 5, 4], &[0, 3, 4, 1], &[1, 4, 5, 2], &[2, 5, 3, 0]]),
        14 => (5, &[&[0, 3, 2, 1], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]]),
        _ => return None,
    })
}

/// Adds the tetrahedra of a cell that has at least one corner.
///
/// All of them meet at the cell's lowest point, and each face with four corners is cut at its own lowest point, so that
/// neighbours cut their common face alike.
pub fn split(corners: &[u32], faces: Faces, tets: &mut Vec<[u32; 4]>) {
    if let &[a, b, c, d] = corners {
        tets.push([a, b, c, d]);
        return;
    }
    let apex = corners.iter().copied().fold(u32::MAX, u32::min);
    for face in faces {
        let face = face.iter().map(|&i| corners[i]);
        if face.clone().any(|point| point == apex) {
            continue;
        }
        let mut face: Vec<u32> = face.collect();
        let lowest = (0..face.len()).min_by_key(|&i| face[i]).unwrap_or(0);
        face.rotate_left(lowest);
        tets.extend(face[1..].windows(2).map(|pair| [apex, face[0], pair[0], pair[1]]));
    }
}
