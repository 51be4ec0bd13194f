//! Tests files of all forms, also truncated and damaged.

use super::{read, write_vtk};
use crate::rays::mesh::Mesh;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

fn same(a: &Mesh, b: &Mesh) {
    assert_eq!((a.points(), a.tets(), a.values()), (b.points(), b.tets(), b.values()));
}

fn pair() -> Mesh {
    let points =
        vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.25, 1.0]];
    Mesh::new(points, vec![[0, 1, 2, 3], [1, 2, 3, 4]], vec![0.5, 1.0, 2.0, 3.0, -4.5]).unwrap()
}

fn ascii(cells: &str) -> String {
    format!(
        "# vtk DataFile Version 5.1\na pair\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0 1 0 0 0 1 0\n\
         0 0 1 1 1.25 1\nMETADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 1.7\n\n\n\
         {cells}CELL_TYPES 2\n10\n10\n\nCELL_DATA 2\nSCALARS of_cells int\nLOOKUP_TABLE default\n1 2\n\
         POINT_DATA 5\nVECTORS v float\n0 0 0 1 1 1 2 2 2 3 3 3 4 4 4\nFIELD more 2\nw 2 5 int\n0 1 2 3 4 5 6 7 8 9\n\
         METADATA\nINFORMATION 0\n\nvalue 1 5 float\n0.5 1 2 3 -4.5\n"
    )
}

#[test]
fn a_mesh_comes_back_from_its_file() {
    for mesh in [pair(), Mesh::named("sphere:2000").unwrap().unwrap()] {
        same(&mesh, &read(&write_vtk(&mesh), None).unwrap());
    }
}

#[test]
fn cells_are_read_in_both_forms() {
    let old = ascii("CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\n");
    let new = ascii(
        "CELLS 3 8\nOFFSETS vtktypeint64\n0 4 8\nCONNECTIVITY vtktypeint64\n0 1 2 3 1 2 3 4\n",
    );
    for text in [old, new] {
        same(&pair(), &read(text.as_bytes(), None).unwrap());
        same(&pair(), &read(text.as_bytes(), Some("value")).unwrap());
        let error = read(text.as_bytes(), Some("v")).unwrap_err();
        assert_eq!(error, "no point array 'v' with one component; there are: v, w, value");
        let (without, _) = text.split_once("POINT_DATA").unwrap();
        let error = read(without.as_bytes(), None).unwrap_err();
        assert_eq!(error, "no point array with one component; there are: none");
    }
}

#[test]
fn errors_say_where() {
    let wrong = |from: &str, to: &str| {
        let text = ascii("CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\n");
        assert!(text.contains(from));
        read(text.replacen(from, to, 1).as_bytes(), None).unwrap_err()
    };
    assert_eq!(wrong("1.25", "x"), "line 7: 'x', expected a number");
    assert_eq!(wrong("ASCII", "TEXT"), "line 3: 'TEXT', expected ASCII or BINARY");
    assert_eq!(
        wrong("10\n10", "10\n5"),
        "cell 1: type 5, expected 10 to 14 (solids with flat faces)"
    );
    assert_eq!(wrong("10\n10", "10\n12"), "cell 1: 4 corners, expected 8 for type 12");
    assert!(wrong("POINTS 5", "POINTS 99999999999999999").contains("more numbers announced"));
    assert!(wrong("4 1 2 3 4\n", "4 1 2 3 5\n").contains("point 5, expected 0 to 4"));
    assert!(wrong("4 1 2 3 4\n", "9 1 2 3 4\n").contains("cell 1 does not end"));
    assert!(read(b"PLY", None).unwrap_err().starts_with("byte 0"));
}

/// Cells of every shape, each of known volume, and neighbours that agree on their common face.
#[test]
fn other_cells_are_split() {
    let cube = "0 0 0  1 0 0  1 1 0  0 1 0  0 0 1  1 0 1  1 1 1  0 1 1";
    for (kind, cells, volume) in [
        (12, "8 0 1 2 3 4 5 6 7", 1.0),
        (11, "8 0 1 3 2 4 5 7 6", 1.0),
        (13, "6 0 1 3 4 5 7", 0.5),
        (14, "5 0 1 2 3 4", 1.0 / 3.0),
    ] {
        let size = cells.split(' ').count();
        let text = format!(
            "# vtk DataFile Version 2.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 float\n{cube}\nCELLS 1 {size}\n\
             {cells}\nCELL_TYPES 1\n{kind}\nPOINT_DATA 8\nSCALARS s float\nLOOKUP_TABLE default\n0 1 2 3 4 5 6 7\n"
        );
        let mesh = read(text.as_bytes(), None).unwrap();
        let six: f64 = mesh
            .tets()
            .iter()
            .map(|tet| {
                let [a, b, c, d] = tet.map(|point| crate::rays::mesh::at(mesh.points(), point));
                let [u, v, w] = [b, c, d].map(|p| crate::rays::mesh::less(p, a));
                crate::rays::mesh::dot(crate::rays::mesh::cross(u, v), w)
            })
            .sum();
        assert!((six / 6.0 - volume).abs() < 1e-6 && mesh.dropped() == 0, "{kind}: {six}");
    }
}

/// Hexahedra whose points are numbered randomly: the boundary is preserved only if common faces are cut alike.
#[test]
fn neighbours_cut_their_common_face_alike() {
    let mut random = oorandom::Rand32::new(3);
    for _ in 0..20 {
        let mut number: Vec<usize> = (0..27).collect();
        (1..27).rev().for_each(|i| number.swap(i, random.rand_range(0..i as u32 + 1) as usize));
        let mut points = vec![String::new(); 27];
        let at = |x: usize, y: usize, z: usize| x + 3 * (y + 3 * z);
        let mut cells = String::new();
        for (x, y, z) in (0..27).map(|i| (i % 3, i / 3 % 3, i / 9)) {
            points[number[at(x, y, z)]] = format!("{x} {y} {z} ");
            if x < 2 && y < 2 && z < 2 {
                let corner = |[i, j, k]: [usize; 3]| number[at(x + i, y + j, z + k)].to_string();
                let around = [[0, 0], [1, 0], [1, 1], [0, 1]];
                let corners = [0, 1].map(|k| around.map(|[i, j]| corner([i, j, k])).join(" "));
                cells += &format!("8 {}\n", corners.join(" "));
            }
        }
        let text = format!(
            "# vtk DataFile Version 2.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 27 float\n{}\nCELLS 8 72\n{cells}\
             CELL_TYPES 8\n{}\nPOINT_DATA 27\nSCALARS s float\nLOOKUP_TABLE default\n{}\n",
            points.concat(),
            "12 ".repeat(8),
            "1 ".repeat(27)
        );
        let mesh = read(text.as_bytes(), None).unwrap();
        let boundary = mesh.faces().iter().filter(|face| face.tets[1] == u32::MAX).count();
        assert_eq!((mesh.tets().len(), boundary), (48, 48));
    }
}

/// How the arrays of an XML file are written.
#[derive(Clone, Copy)]
struct Form {
    wide: bool,
    packed: bool,
    format: &'static str,
    letters: bool,
}

fn letters(bytes: &[u8]) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes
        .chunks(3)
        .flat_map(|three| {
            let bits = (0..3)
                .fold(0_usize, |bits, i| bits << 8 | usize::from(*three.get(i).unwrap_or(&0)));
            (0..4).map(
                move |i| if i > three.len() { b'=' } else { alphabet[bits >> (18 - 6 * i) & 63] },
            )
        })
        .collect()
}

impl Form {
    fn head(self, words: &[usize]) -> Vec<u8> {
        let bytes = |&word: &usize| {
            if self.wide {
                (word as u64).to_le_bytes().to_vec()
            } else {
                (word as u32).to_le_bytes().to_vec()
            }
        };
        words.iter().flat_map(bytes).collect()
    }

    fn array(self, bytes: &[u8]) -> Vec<u8> {
        let write = |bytes: &[u8]| if self.letters { letters(bytes) } else { bytes.to_vec() };
        if !self.packed {
            return write(&[self.head(&[bytes.len()]), bytes.to_vec()].concat());
        }
        let blocks: Vec<Vec<u8>> = bytes
            .chunks(32)
            .map(|block| {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(block).unwrap();
                encoder.finish().unwrap()
            })
            .collect();
        let mut words = vec![blocks.len(), 32, bytes.len() % 32];
        words.extend(blocks.iter().map(Vec::len));
        [write(&self.head(&words)), write(&blocks.concat())].concat()
    }

    fn file(self, mesh: &Mesh) -> Vec<u8> {
        let floats = |all: &[f32]| all.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let doubles =
            mesh.values().iter().flat_map(|&x| f64::from(x).to_le_bytes()).collect::<Vec<u8>>();
        let corners =
            mesh.tets().iter().flatten().flat_map(|&x| i64::from(x).to_le_bytes()).collect();
        let ends = (1..=mesh.tets().len() as i32).flat_map(|i| (4 * i).to_le_bytes()).collect();
        let header = if self.wide { "UInt64" } else { "UInt32" };
        let compressor = if self.packed { " compressor=\"vtkZLibDataCompressor\"" } else { "" };
        let mut file = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
             header_type=\"{header}\"{compressor}>\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
            mesh.points().len(), mesh.tets().len()
        ).into_bytes();
        let mut appended = Vec::new();
        for (inside, name, kind, bytes) in [
            ("PointData", "s", "Float64", doubles),
            ("CellData", "t", "UInt8", vec![7; mesh.tets().len()]),
            ("Points", "Points", "Float32", floats(mesh.points().as_flattened())),
            ("Cells", "connectivity", "Int64", corners),
            ("Cells", "offsets", "Int32", ends),
            ("Cells", "types", "UInt8", vec![10; mesh.tets().len()]),
        ] {
            let (format, offset) = (self.format, appended.len());
            let parts = if inside == "Points" { 3 } else { 1 };
            file.extend(format!(
                "<{inside}><DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{parts}\" format=\"{format}\" \
                 offset=\"{offset}\">\n"
            ).bytes());
            match format {
                "ascii" => {
                    let numbers = crate::vtk::numbers::Kind::xml(kind).unwrap().read(&bytes, false);
                    file.extend(numbers.iter().flat_map(|x| format!(" {x}\n").into_bytes()));
                }
                "binary" => file.extend(self.array(&bytes)),
                _ => appended.extend(self.array(&bytes)),
            }
            file.extend(format!("\n</DataArray></{inside}>\n").bytes());
        }
        file.extend(b"</Piece></UnstructuredGrid>\n");
        if self.format == "appended" {
            let encoding = if self.letters { "base64" } else { "raw" };
            file.extend(format!("<AppendedData encoding=\"{encoding}\">\n_").bytes());
            file.extend(appended);
            file.extend(b"\n</AppendedData>\n");
        }
        file.extend(b"</VTKFile>\n");
        file
    }
}

fn forms() -> Vec<Form> {
    let all = [("ascii", true), ("binary", true), ("appended", true), ("appended", false)];
    let both = [false, true];
    let all = all.iter().flat_map(|&(format, letters)| both.map(|wide| (format, letters, wide)));
    all.flat_map(|(format, letters, wide)| {
        both.map(|packed| Form { wide, packed, format, letters })
    })
    .collect()
}

#[test]
fn xml_files_are_read_in_all_forms() {
    for form in forms() {
        let mesh = pair();
        same(&mesh, &read(&form.file(&mesh), None).unwrap());
        same(&mesh, &read(&form.file(&mesh), Some("s")).unwrap());
        assert!(read(&form.file(&mesh), Some("t")).unwrap_err().contains("there are: s"));
    }
}

fn small_files() -> Vec<Vec<u8>> {
    let mesh = pair();
    let mut files: Vec<Vec<u8>> = forms().into_iter().map(|form| form.file(&mesh)).collect();
    files.push(write_vtk(&mesh));
    files.push(ascii("CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\n").into_bytes());
    files.push(
        ascii("CELLS 3 8\nOFFSETS int\n0 4 8\nCONNECTIVITY int\n0 1 2 3 1 2 3 4\n").into_bytes(),
    );
    files
}

/// A truncated file is invalid, unless only what follows the last number is lost.
#[test]
fn files_cut_short_are_refused() {
    for file in small_files() {
        let whole = read(&file, None).unwrap();
        let mut short = 0;
        for length in 0..file.len() {
            match read(&file[..length], None) {
                Err(error) => {
                    assert!(!error.is_empty() && !error.contains('\n'), "{error}");
                    short = length + 1;
                }
                Ok(mesh) => {
                    assert_eq!((mesh.points(), mesh.tets()), (whole.points(), whole.tets()));
                    // Digits missing from a last number in text cannot be detected.
                    assert_eq!(mesh.values()[..4], whole.values()[..4]);
                }
            }
        }
        let rest = String::from_utf8_lossy(&file[short..]).into_owned();
        assert!(rest.trim().len() < 4 || rest.contains("</"), "{rest}");
    }
}

#[test]
fn damaged_files_never_panic() {
    let mut random = oorandom::Rand32::new(1);
    for file in small_files() {
        for _ in 0..3000 {
            let mut damaged = file.clone();
            for _ in 0..random.rand_range(1..4) {
                let at = random.rand_range(0..file.len() as u32) as usize;
                damaged[at] = match random.rand_range(0..3) {
                    0 => random.rand_u32() as u8,
                    1 => damaged[at] ^ 1 << random.rand_range(0..8),
                    _ => b'0' + random.rand_range(0..10) as u8,
                };
            }
            if let Err(error) = read(&damaged, None) {
                assert!(!error.contains('\n') && error.len() < 300, "{error}");
            }
        }
    }
}
