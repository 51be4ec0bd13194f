//! Generates matrices of the families that the literature measures, by a word such as `fem:40000`.

use super::matrix::Csr;
use oorandom::Rand64;

/// The allowed words, for messages.
pub const EXPECTED: &str = "a Matrix Market file, or fem:ROWS or fem:AxBxC (fem1 to fem9: 1 to 9 unknowns per node), \
                            lattice4d:AxBxCxD, grid:ROWS, web:ROWSxENTRIES, random:ROWSxENTRIES, dense:ROWS, or a name: \
                            dense, protein, spheres, cantilever, wind, harbor, qcd, ship, economics, epidemiology, \
                            accelerator, circuit, webbase";

/// The most entries of a generated matrix.
const MOST: f64 = 1e9;

/// The thirteen matrices of Williams et al. (2007): the same numbers of rows, similar numbers of entries, the same
/// kinds.
const NAMED: [(&str, &str); 13] = [
    ("dense", "dense:2000"),
    ("protein", "fem4:36417"),
    ("spheres", "fem:83334"),
    ("cantilever", "fem:62451"),
    ("wind", "fem2:217918"),
    ("harbor", "fem2:46835"),
    ("qcd", "lattice4d:16x16x8x8"),
    ("ship", "fem2:140874"),
    ("economics", "random:206500x6"),
    ("epidemiology", "grid:525825"),
    ("accelerator", "fem1:121192"),
    ("circuit", "web:170998x6"),
    ("webbase", "web:1000005x3"),
];

/// The matrix for this word; `None` if it names no family.
///
/// # Errors
/// If its sizes are invalid.
#[must_use]
pub fn named(word: &str, seed: u64) -> Option<Result<Csr<f64>, String>> {
    let (family, unknowns, sizes) = family(word)?;
    Some(make(family, unknowns, sizes, seed).map_err(|why| format!("'{word}': {why}")))
}

/// Whether a word names a family, whatever its sizes.
#[must_use]
pub fn is_family(word: &str) -> bool {
    family(word).is_some()
}

/// The family that a word names, the unknowns per node if it has any, and its sizes.
fn family(word: &str) -> Option<(&str, Option<usize>, &str)> {
    let named = NAMED.iter().find(|(name, _)| *name == word).map(|(_, stands_for)| *stands_for);
    let (family, sizes) = named.unwrap_or(word).split_once(':')?;
    let unknowns = match family.strip_prefix("fem") {
        Some("") => Some(3),
        Some(digit) => Some(digit.parse().ok().filter(|unknowns| (1..=9).contains(unknowns))?),
        None => None,
    };
    let known = ["lattice4d", "grid", "web", "random", "dense"];
    if unknowns.is_none() && !known.contains(&family) {
        return None;
    }
    Some((family, unknowns, sizes))
}

fn make(family: &str, unknowns: Option<usize>, sizes: &str, seed: u64) -> Result<Csr<f64>, String> {
    let whole = |word: &str| {
        let number = word.parse::<usize>().ok().filter(|number| (1..=1 << 31).contains(number));
        number.ok_or_else(|| format!("'{word}': expected a whole number from 1 to {}", 1_u64 << 31))
    };
    let sizes: Vec<usize> = sizes.split('x').map(whole).collect::<Result<_, _>>()?;
    let fits = |rows: f64, each: f64| {
        let fine = rows * each <= MOST && rows < f64::from(u32::MAX);
        fine.then_some(()).ok_or_else(|| format!("expected at most {MOST:e} entries"))
    };
    let mut random = Numbers(Rand64::new(u128::from(seed)));
    match (family, &sizes[..]) {
        ("lattice4d", &[a, b, c, d]) => {
            let sites = [a, b, c, d].iter().map(|&side| side as f64).product::<f64>();
            fits(sites * 3.0, 39.0)?;
            Ok(lattice([a, b, c, d], &mut random))
        }
        ("grid", &[rows]) => fits(rows as f64, 4.0).map(|()| grid(rows, &mut random)),
        ("dense", &[rows]) => fits(rows as f64, rows as f64)
            .map(|()| by_rows(rows, &mut random, |_, columns, _| columns.extend(0..rows as u32))),
        ("web", &[rows]) => fits(rows as f64, 3.0).map(|()| web(rows, 3, &mut random)),
        ("web", &[rows, each]) => {
            fits(rows as f64, each as f64).map(|()| web(rows, each, &mut random))
        }
        ("random", &[rows, each]) => fits(rows as f64, each as f64).map(|()| {
            by_rows(rows, &mut random, |row, columns, random| {
                columns.push(row as u32);
                columns.extend((1..each).map(|_| random.below(rows)));
            })
        }),
        (_, shape) if let Some(unknowns) = unknowns => {
            let (shape, rows) = match *shape {
                [rows] => {
                    let side = ((rows as f64 / unknowns as f64).cbrt().ceil() as usize).max(1);
                    ([side, side, rows.div_ceil(unknowns).div_ceil(side * side)], rows)
                }
                [a, b] => ([a, b, 1], a.saturating_mul(b).saturating_mul(unknowns)),
                [a, b, c] => {
                    ([a, b, c], a.saturating_mul(b).saturating_mul(c).saturating_mul(unknowns))
                }
                _ => return Err("expected ROWS, AxB or AxBxC".into()),
            };
            fits(rows as f64, 27.0 * unknowns as f64)?;
            Ok(elements(shape, unknowns, rows, &mut random))
        }
        _ => {
            let expected = match family {
                "lattice4d" => "AxBxCxD",
                "web" => "ROWS or ROWSxENTRIES",
                "random" => "ROWSxENTRIES",
                _ => "ROWS",
            };
            Err(format!("expected {family}:{expected}"))
        }
    }
}

/// Random numbers.
struct Numbers(Rand64);

impl Numbers {
    fn below(&mut self, n: usize) -> u32 {
        self.0.rand_range(0..n as u64) as u32
    }

    /// A value of an entry.
    fn value(&mut self) -> f64 {
        self.0.rand_float() * 2.0 - 1.0
    }
}

/// A square matrix with these columns in each row; duplicate columns count once.
fn by_rows(
    rows: usize,
    random: &mut Numbers,
    mut of_row: impl FnMut(usize, &mut Vec<u32>, &mut Numbers),
) -> Csr<f64> {
    let mut matrix = Csr { width: rows, starts: vec![0], ..Csr::default() };
    let mut columns = Vec::new();
    for row in 0..rows {
        columns.clear();
        of_row(row, &mut columns, random);
        columns.sort_unstable();
        columns.dedup();
        matrix.columns.extend_from_slice(&columns);
        matrix.values.extend(columns.iter().map(|_| random.value()));
        matrix.starts.push(matrix.columns.len());
    }
    matrix
}

/// Finite elements: the nodes of a box of bricks, each coupled with its up to 26 neighbours, and several unknowns per
/// node. The last rows may be missing.
fn elements(shape: [usize; 3], unknowns: usize, rows: usize, random: &mut Numbers) -> Csr<f64> {
    let [a, b, c] = shape;
    let around = |at: usize, side: usize| at.saturating_sub(1)..(at + 2).min(side);
    by_rows(rows, random, |row, columns, _| {
        let node = row / unknowns;
        let (x, y, z) = (node % a, node / a % b, node / (a * b));
        for z in around(z, c) {
            for y in around(y, b) {
                for x in around(x, a) {
                    let first = ((z * b + y) * a + x) * unknowns;
                    columns.extend((first..(first + unknowns).min(rows)).map(|it| it as u32));
                }
            }
        }
    })
}

/// A periodic lattice in four dimensions, as in quantum chromodynamics: three colours a site. Each is joined to its
/// neighbours, and along two of the axes to the next ones as well, which makes 39 entries a row.
fn lattice(shape: [usize; 4], random: &mut Numbers) -> Csr<f64> {
    let sites: usize = shape.iter().product();
    let steps = [1, 1, 2, 2];
    by_rows(3 * sites, random, |row, columns, _| {
        let mut add = |site: usize| columns.extend((3 * site..3 * site + 3).map(|it| it as u32));
        let (site, mut stride) = (row / 3, 1);
        add(site);
        for (side, far) in shape.into_iter().zip(steps) {
            let at = site / stride % side;
            for step in 1..=far {
                for to in [(at + step) % side, (at + side - step % side) % side] {
                    add(site - at * stride + to * stride);
                }
            }
            stride *= side;
        }
    })
}

/// A plane grid: each point with its four neighbours. The last points may be missing.
fn grid(rows: usize, random: &mut Numbers) -> Csr<f64> {
    let side = (rows as f64).sqrt().ceil() as usize;
    by_rows(rows, random, |row, columns, _| {
        let beside = [
            row.checked_sub(side),
            row.checked_sub(1).filter(|_| row % side > 0),
            Some(row + 1).filter(|next| next % side > 0),
            Some(row + side),
        ];
        columns.extend(beside.into_iter().flatten().filter(|&it| it < rows).map(|it| it as u32));
    })
}

/// A web graph: few pages have many links, a few are linked from everywhere, and most links lead to pages nearby.
fn web(rows: usize, each: usize, random: &mut Numbers) -> Csr<f64> {
    let most = (rows as f64).sqrt() * 4.0;
    by_rows(rows, random, |row, columns, random| {
        // A Pareto distribution with this mean: exponent 2.
        let u = random.0.rand_float();
        let links = (each as f64 * 0.5 / (1.0 - u).sqrt()).min(most).round().max(1.0) as usize;
        for _ in 0..links {
            let (kind, u) = (random.0.rand_float(), random.0.rand_float());
            let to = if kind < 0.6 {
                // A page nearby.
                let far = (1.0 / (1.0 - u) * 4.0).min(rows as f64) as usize;
                (row + rows + far - 2 * (far * (random.below(2) as usize))) % rows
            } else {
                // Popular pages are spread over all numbers.
                let rank = (rows as f64).powf(u) as usize;
                rank.wrapping_mul(0x9e37_79b9) % rows
            };
            columns.push(to as u32);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: &str) -> Csr<f64> {
        named(word, 1).unwrap().unwrap()
    }

    #[test]
    fn families_have_the_shapes_that_they_are_known_for() {
        let brick = of("fem:257x9x9");
        assert_eq!((brick.height(), brick.entries()), (62_451, 9 * 769 * 25 * 25));
        assert_eq!(of("fem6:191x190").entries(), 36 * 571 * 568);
        let lattice = of("lattice4d:5x6x7x8");
        assert!((0..lattice.height()).all(|row| lattice.of_row(row).0.len() == 39));
        assert_eq!(of("dense:20").entries(), 400);
        assert_eq!(of("grid:9").entries(), 24);
        assert_eq!(of("fem:1000").height(), 1000);
    }

    #[test]
    fn columns_ascend_and_lie_inside() {
        for word in
            ["fem:1001", "fem2:77", "web:3000x5", "random:500x7", "grid:1000", "lattice4d:2x1x3x2"]
        {
            let matrix = of(word);
            for row in 0..matrix.height() {
                let (columns, _) = matrix.of_row(row);
                assert!(columns.is_sorted_by(|a, b| a < b), "{word}, row {row}");
                assert!(columns.last().is_none_or(|&last| (last as usize) < matrix.width));
            }
        }
    }

    #[test]
    fn the_named_ones_have_about_as_many_entries_as_the_real_ones() {
        let real = [2000.0, 119.3, 72.1, 64.1, 53.3, 50.6, 39.0, 55.4, 6.1, 3.9, 21.6, 5.6, 3.1];
        for ((name, stands_for), each) in NAMED.into_iter().zip(real) {
            let small = stands_for.replace("1000005", "100005").replace("dense:2000", "dense:200");
            let each = if name == "dense" { 200.0 } else { each };
            let matrix = of(&small);
            let is = matrix.entries() as f64 / matrix.height() as f64;
            assert!((is / each - 1.0).abs() < 0.25, "{name}: {is} for {each}");
        }
    }

    #[test]
    fn senseless_sizes_are_refused() {
        for word in [
            "fem:0", "fem:x", "lattice4d:3x3", "dense:99999999", "web:3x3x3", "random:9",
            "fem:1x1x1x1",
        ] {
            assert!(named(word, 0).unwrap().is_err(), "{word}");
        }
        for word in ["A.mtx", "fem", "fem0:5", "femme:3", "C:3"] {
            assert!(named(word, 0).is_none(), "{word}");
        }
    }
}
