//! Reads unstructured grids from legacy files.

use super::grid::Grid;
use crate::vtk::legacy::Reader;
use crate::vtk::numbers::Kind;

/// Point arrays: the wanted one, or the first suitable one.
struct Values<'a> {
    name: Option<&'a str>,
    found: Option<Vec<f64>>,
    seen: Vec<String>,
}

/// Reads a file to its end.
///
/// # Errors
/// If it has no valid unstructured grid.
pub fn read(bytes: &[u8], array: Option<&str>) -> Result<Grid, String> {
    let mut reader = Reader::new(bytes, "UNSTRUCTURED_GRID")?;
    let mut grid = Grid::default();
    let mut values = Values { name: array, found: None, seen: Vec::new() };
    // The number of components per attribute: one for each of these, and whether they belong to points.
    let mut about = (0, false);
    while let Some(word) = reader.next_word() {
        match word.to_ascii_uppercase().as_str() {
            "POINTS" => {
                let count = reader.count()?;
                let kind = reader.kind()?;
                grid.coordinates = reader.numbers(count.checked_mul(3), kind)?;
            }
            "CELLS" => reader.cells(&mut grid)?,
            "CELL_TYPES" => {
                let count = reader.count()?;
                grid.kinds = reader.numbers(Some(count), Kind::Signed(4))?;
            }
            "POINT_DATA" => about = (reader.count()?, true),
            "CELL_DATA" => about = (reader.count()?, false),
            "METADATA" => reader.skip_block(),
            other => reader.attribute(other, about, &mut values)?,
        }
    }
    let seen = match &values.seen[..] {
        [] => "none".to_owned(),
        seen => seen.join(", "),
    };
    grid.values = values.found.ok_or_else(|| match array {
        Some(name) => format!("no point array '{name}' with one component; there are: {seen}"),
        None => format!("no point array with one component; there are: {seen}"),
    })?;
    Ok(grid)
}

impl Reader<'_> {
    /// Cells: each preceded by its number of corners, or, since version 5, as two arrays.
    fn cells(&mut self, grid: &mut Grid) -> Result<(), String> {
        let (count, size) = (self.count()?, self.count()?);
        let start = self.at;
        if self.word()?.eq_ignore_ascii_case("OFFSETS") {
            let kind = self.kind()?;
            let mut ends = self.numbers(Some(count), kind)?;
            if count > 0 && ends.remove(0) != 0.0 {
                return Err(format!("{}: the first offset is not 0", self.place()));
            }
            grid.ends = ends;
            self.expect("CONNECTIVITY")?;
            let kind = self.kind()?;
            grid.corners = self.numbers(Some(size), kind)?;
            return Ok(());
        }
        self.at = start;
        let numbers = self.numbers(Some(size), Kind::Signed(4))?;
        let mut rest = &numbers[..];
        for cell in 0..count {
            let corners = rest
                .split_first()
                .filter(|(length, rest)| **length >= 0.0 && **length <= rest.len() as f64);
            let Some((&length, others)) = corners else {
                return Err(format!(
                    "{}: cell {cell} does not end within {size} numbers",
                    self.place()
                ));
            };
            let (own, others) = others.split_at(length as usize);
            grid.corners.extend_from_slice(own);
            grid.ends.push(grid.corners.len() as f64);
            rest = others;
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(format!("{}: {} numbers after the cells", self.place(), rest.len()))
        }
    }

    /// One or more arrays of points or cells.
    fn attribute(
        &mut self,
        word: &str,
        (count, points): (usize, bool),
        values: &mut Values,
    ) -> Result<(), String> {
        let of = |each: usize| count.checked_mul(each);
        let keep = |name: String, each: usize, numbers: Vec<f64>, values: &mut Values| {
            if points {
                values.offer(name, each, numbers);
            }
        };
        match word {
            "SCALARS" => {
                let (name, kind) = (self.word()?, self.kind()?);
                let each = match self.word_here() {
                    Some(word) => {
                        word.parse().map_err(|_| self.wrong(&word, "a number of components"))?
                    }
                    None => 1,
                };
                let start = self.at;
                if self.next_word().is_some_and(|word| word.eq_ignore_ascii_case("LOOKUP_TABLE")) {
                    self.word()?;
                } else {
                    self.at = start;
                }
                let numbers = self.numbers(of(each), kind)?;
                keep(name, each, numbers, values);
            }
            "VECTORS" | "NORMALS" | "TENSORS" | "GLOBAL_IDS" => {
                let each = [("TENSORS", 9), ("GLOBAL_IDS", 1)]
                    .iter()
                    .find(|it| it.0 == word)
                    .map_or(3, |it| it.1);
                let (name, kind) = (self.word()?, self.kind()?);
                let numbers = self.numbers(of(each), kind)?;
                keep(name, each, numbers, values);
            }
            "TEXTURE_COORDINATES" => {
                let (_, each, kind) = (self.word()?, self.count()?, self.kind()?);
                self.numbers(of(each), kind)?;
            }
            "COLOR_SCALARS" => {
                let (_, each) = (self.word()?, self.count()?);
                self.numbers(of(each), Kind::Unsigned(1))?;
            }
            "LOOKUP_TABLE" => {
                let (_, colours) = (self.word()?, self.count()?);
                self.numbers(colours.checked_mul(4), Kind::Unsigned(1))?;
            }
            "FIELD" => {
                let (_, arrays) = (self.word()?, self.count()?);
                for _ in 0..arrays {
                    let name = self.word()?;
                    let (each, tuples, kind) = (self.count()?, self.count()?, self.kind()?);
                    let numbers = self.numbers(each.checked_mul(tuples), kind)?;
                    keep(name, each, numbers, values);
                    self.skip_metadata();
                }
            }
            other => {
                return Err(self.wrong(other, "POINTS, CELLS, CELL_TYPES, POINT_DATA or an array"));
            }
        }
        Ok(())
    }

    /// Skips what version 5 writes between the arrays of a field.
    fn skip_metadata(&mut self) {
        let start = self.at;
        if self.next_word().is_some_and(|word| word == "METADATA") {
            self.skip_block();
        } else {
            self.at = start;
        }
    }

    /// Skips the rest of this line, and all lines up to the next blank one.
    fn skip_block(&mut self) {
        self.line();
        while !self.line().trim_ascii().is_empty() {}
    }
}

impl Values<'_> {
    fn offer(&mut self, name: String, each: usize, numbers: Vec<f64>) {
        let wanted = self.name.is_none_or(|wanted| wanted == name);
        if wanted && each == 1 && self.found.is_none() {
            self.found = Some(numbers);
        }
        if self.seen.len() < 20 {
            self.seen.push(name);
        }
    }
}
