//! [`Mask`]: which cells are solid, from a function or a legacy VTK file of structured points.

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

    /// Reads legacy VTK structured points: `DIMENSIONS` and one array of `SCALARS`, as text or as binary bytes
    /// (`unsigned_char` or `char`). A number other than 0 means a solid cell.
    ///
    /// # Errors
    /// What was found and what was expected, in one line.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut lines = Lines { rest: bytes, number: 0 };
        let first = lines.next("# vtk DataFile Version")?;
        if !first.starts_with("# vtk DataFile Version") {
            return Err("line 1: expected # vtk DataFile Version".into());
        }
        lines.next("a title")?;
        let binary = match lines.next("ASCII or BINARY")?.trim() {
            "ASCII" => false,
            "BINARY" => true,
            other => return Err(format!("line 3: '{}': expected ASCII or BINARY", short(other))),
        };
        let (size, kind) = header(&mut lines)?;
        let cells = size.iter().try_fold(1usize, |product, &by| product.checked_mul(by));
        let cells = cells.filter(|&cells| cells <= lines.rest.len());
        let cells = cells.ok_or_else(|| format!("{size:?} cells: the file is too short"))?;
        let solid = if binary {
            if kind != "unsigned_char" && kind != "char" {
                return Err(format!(
                    "'{}': expected unsigned_char or char in a binary file",
                    short(&kind)
                ));
            }
            lines.rest[..cells].iter().map(|&byte| byte != 0).collect()
        } else {
            numbers(lines.rest, cells)?
        };
        Ok(Self { size, solid })
    }
}

/// The lines of a file, which may end in bytes that are not text.
struct Lines<'b> {
    rest: &'b [u8],
    number: usize,
}

impl Lines<'_> {
    fn next(&mut self, expected: &str) -> Result<String, String> {
        if self.rest.is_empty() {
            return Err(format!("the file ends; expected {expected}"));
        }
        self.number += 1;
        let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let line = String::from_utf8_lossy(&self.rest[..end]).trim_end().to_string();
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Ok(line)
    }
}

/// Reads the sizes and the number type, and stops before the first number.
fn header(lines: &mut Lines<'_>) -> Result<([usize; 3], String), String> {
    let (mut size, mut kind) = (None, None);
    loop {
        let line = lines.next("LOOKUP_TABLE")?;
        let wrong = |expected: &str| {
            format!("line {}: '{}': expected {expected}", lines.number, short(&line))
        };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["DATASET", "STRUCTURED_POINTS"]
            | ["ORIGIN" | "SPACING" | "ASPECT_RATIO" | "POINT_DATA" | "CELL_DATA", ..]
            | [] => {}
            ["DIMENSIONS", x, y, z] => {
                let of = |word: &str| word.parse().ok().filter(|&it: &usize| it > 0);
                let (Some(x), Some(y), Some(z)) = (of(x), of(y), of(z)) else {
                    return Err(wrong("three sizes"));
                };
                size = Some([x, y, z]);
            }
            ["SCALARS", _, it] | ["SCALARS", _, it, "1"] => kind = Some(it.to_string()),
            ["LOOKUP_TABLE", _] => match (size, kind) {
                (Some(size), Some(kind)) => return Ok((size, kind)),
                _ => return Err(wrong("DIMENSIONS and SCALARS first")),
            },
            _ => return Err(wrong("structured points with one array of SCALARS")),
        }
    }
}

fn numbers(bytes: &[u8], cells: usize) -> Result<Vec<bool>, String> {
    let mut words = bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut solid = Vec::with_capacity(cells);
    for at in 0..cells {
        let word =
            words.next().ok_or_else(|| format!("the file ends after {at} of {cells} cells"))?;
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
        let wrong =
            || format!("cell {at}: '{}': expected a number", short(&String::from_utf8_lossy(word)));
        solid.push(number.ok_or_else(wrong)? != 0.0);
    }
    match words.next() {
        None => Ok(solid),
        Some(_) => Err(format!("expected nothing after {cells} cells")),
    }
}

/// The beginning of a text, for messages.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
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
        let mut binary = format!("{HEAD}BINARY\n{BODY}").into_bytes();
        binary.extend([1, 0, 0, 255, b'\n']);
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
        ] {
            let bad = String::from_utf8(good.clone()).unwrap().replace(from, to);
            assert!(Mask::read(bad.as_bytes()).is_err(), "{to}");
        }
    }
}
