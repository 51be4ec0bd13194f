//! [`Mask`]: which cells are solid, from a function or a legacy VTK file of structured points.

use crate::vtk::legacy::Reader;
use crate::vtk::numbers::Kind;

/// The solid cells of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    size: [usize; 3],
    /// x runs fastest.
    solid: Vec<bool>,
}

impl Mask {
    /// The cells for which a function returns true.
    #[must_use]
    pub fn by(size: [usize; 3], solid: impl Fn([usize; 3]) -> bool) -> Self {
        let [nx, ny, nz] = size;
        let cells =
            (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
        Self { size, solid: cells.map(solid).collect() }
    }

    /// Cells along x, y and z.
    #[must_use]
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Calls a function for every solid cell.
    pub(crate) fn each(&self, mut call: impl FnMut([usize; 3])) {
        let [nx, ny, _] = self.size;
        for (at, _) in self.solid.iter().enumerate().filter(|(_, solid)| **solid) {
            call([at % nx, at / nx % ny, at / nx / ny]);
        }
    }

    /// Reads legacy VTK structured points: `DIMENSIONS` and one array of `SCALARS`. A number other than 0 means a solid
    /// cell.
    ///
    /// # Errors
    /// Where the file is wrong, what was found and what was expected, in one line.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        if !bytes.starts_with(b"# vtk DataFile Version") {
            return Err("line 1: expected # vtk DataFile Version".into());
        }
        let mut reader = Reader::new(bytes, "STRUCTURED_POINTS")?;
        let (mut size, mut kind) = (None, None);
        loop {
            let word = reader.word()?;
            match word.to_ascii_uppercase().as_str() {
                "ORIGIN" | "SPACING" | "ASPECT_RATIO" | "POINT_DATA" | "CELL_DATA" => {
                    reader.line();
                }
                "DIMENSIONS" => size = Some([reader.count()?, reader.count()?, reader.count()?]),
                "SCALARS" => {
                    reader.word()?;
                    // Text needs no type, and may have one that bytes cannot have: bit.
                    let words = !reader.binary;
                    kind = Some(if words {
                        reader.word().map(|_| Kind::Double)?
                    } else {
                        reader.kind()?
                    });
                    if let Some(each) = reader.word_here().filter(|each| each != "1") {
                        return Err(reader.wrong(&each, "one number for each cell"));
                    }
                }
                "LOOKUP_TABLE" => {
                    reader.word()?;
                    break;
                }
                _ => {
                    let expected = "structured points with one array of SCALARS";
                    return Err(reader.wrong(&word, expected));
                }
            }
        }
        let Some((size, kind)) = size.zip(kind) else {
            return Err(reader.wrong("LOOKUP_TABLE", "DIMENSIONS and SCALARS first"));
        };
        if size.contains(&0) {
            return Err(format!("{size:?} cells: expected at least one"));
        }
        let cells = size.iter().try_fold(1usize, |product, &by| product.checked_mul(by));
        let solid = reader.numbers(cells, kind)?.into_iter().map(|number| number != 0.0).collect();
        match reader.next_word().filter(|_| !reader.binary) {
            None => Ok(Self { size, solid }),
            Some(more) => Err(reader.wrong(&more, "nothing after the last cell")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "# vtk DataFile Version 3.0\nsolid\n";
    const BODY: &str = "DATASET STRUCTURED_POINTS\nDIMENSIONS 2 1 2\nORIGIN 0 0 0\nSPACING 1 1 1\nPOINT_DATA 4\n\
                        SCALARS solid unsigned_char 1\nLOOKUP_TABLE default\n";

    #[test]
    fn text_and_bytes_are_read() {
        let wanted = Mask::by([2, 1, 2], |[x, _, z]| x == z);
        assert_eq!(
            Mask::read(format!("{HEAD}ASCII\n{BODY}1 0\n0 1\n").as_bytes()),
            Ok(wanted.clone())
        );
        let bits = BODY.replace("unsigned_char", "bit");
        let text = format!("{HEAD}ASCII\n{bits}1 0\n0 1\n");
        assert_eq!(Mask::read(text.as_bytes()), Ok(wanted.clone()));
        let mut binary = format!("{HEAD}BINARY\n{BODY}").into_bytes();
        binary.extend([1, 0, 0, 255, b'\n']);
        assert_eq!(Mask::read(&binary), Ok(wanted.clone()));
        let body = BODY.replace("unsigned_char", "int");
        let mut binary = format!("{HEAD}BINARY\n{body}").into_bytes();
        binary.extend([1, 0, 0, 256].into_iter().flat_map(i32::to_be_bytes));
        assert_eq!(Mask::read(&binary), Ok(wanted));
    }

    #[test]
    fn every_part_of_a_file_is_refused_or_read() {
        let good = format!("{HEAD}ASCII\n{BODY}1 0\n0 1\n").into_bytes();
        for end in 0..good.len() {
            let _ = Mask::read(&good[..end]);
            for byte in [0, b'9', b'\n', 0xff] {
                let mut bad = good.clone();
                bad[end] = byte;
                let _ = Mask::read(&bad);
            }
        }
        for (from, to) in [
            ("2 1 2", "99999999999 99999999999 99999999999"),
            ("2 1 2", "2 2 2"),
            ("2 1 2", "0 1 2"),
            ("unsigned_char 1", "unsigned_char 3"),
            ("DIMENSIONS 2 1 2\n", ""),
            ("0 1\n", "0 1 1\n"),
        ] {
            let bad = String::from_utf8(good.clone()).unwrap().replace(from, to);
            assert!(Mask::read(bad.as_bytes()).is_err(), "{to}");
        }
        let bad = String::from_utf8(good).unwrap().replace("0 1\n", "0 x\n");
        let why = Mask::read(bad.as_bytes()).unwrap_err();
        assert_eq!(why, "line 12: 'x', expected a number");
    }
}
