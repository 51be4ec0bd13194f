//! The entry of the sparse × dense product.

use super::entry::{Job, LoopCommand, LoopEntry, LoopOutput};
use super::matrix::{is_file, matrix};
use super::runner::Runner;
use crate::cli::flags::{COLUMNS, PRECISION, Precision, Use};
use crate::failure::Failure;
use pleach_core::search::level::Level;
use pleach_loops::looping::Loop;
use pleach_loops::sparse::csrmm::{Csrmm, Products};
use pleach_loops::sparse::market;
use pleach_loops::sparse::matrix::{Checked, Csr, Dense};
use serde_json::json;

/// See [`LoopEntry`].
pub const ENTRY: LoopEntry = LoopEntry {
    name: "csrmm",
    about: "a sparse matrix times a dense matrix",
    words: "a matrix: a Matrix Market file, or a family such as fem:40000",
    takes: (1, 1),
    is_file,
    shared: true,
    flags: &[
        Use::plain("columns"),
        Use::plain("precision"),
        Use::with("out", "write the product as a Matrix Market file", ""),
    ],
    examples: &[
        "loop csrmm fem:40000 --columns 64",
        "loop csrmm web:100000x3 --precision f32 --threads 2",
    ],
    writes: &["mtx"],
    prepare,
};

/// The entries of the dense matrix: small whole numbers, so that a reader can check a product.
fn number(row: usize, column: usize) -> f64 {
    ((row * 7 + column * 3) % 11) as f64 - 5.0
}

fn prepare(command: &LoopCommand<'_>) -> Result<Box<dyn Job>, Failure> {
    let sparse = matrix(command, &command.words[0])?;
    let columns = command.given.get(&COLUMNS)?.unwrap_or(64);
    let level = command.given.simd()?;
    Ok(match command.given.get(&PRECISION)? {
        Some(Precision::Single) => Box::new(Product::new(sparse.cast::<f32>(), columns, level)?),
        _ => Box::new(Product::new(sparse, columns, level)?),
    })
}

/// The two matrices and their product.
struct Product<T> {
    sparse: Checked<Csr<T>>,
    dense: Dense<T>,
    result: Dense<T>,
    level: Level,
    units: usize,
}

impl<T: Products> Product<T> {
    fn new(sparse: Csr<T>, columns: usize, level: Level) -> Result<Self, Failure> {
        let sparse = sparse.checked().map_err(Failure::Inside)?;
        let dense = Dense::by(sparse.width, columns, |row, column| T::of(number(row, column)));
        let dense = dense.map_err(Failure::Machine)?;
        let result = Dense::zeros(sparse.height(), columns).map_err(Failure::Machine)?;
        Ok(Self { sparse, dense, result, level, units: 0 })
    }
}

impl<T: Products> Job for Product<T> {
    fn run(&mut self, runner: &mut Runner<'_>) -> Result<(), Failure> {
        let product =
            Csrmm::new(self.sparse.checked_view(), self.dense.view(), &mut self.result, self.level);
        let product = product.map_err(Failure::Inside)?;
        self.units = product.units();
        runner.run(&product).map(|_| ())
    }

    fn found(&self) -> LoopOutput {
        let (rows, columns) = (self.result.height(), self.result.width);
        let operations = 2.0 * self.sparse.entries() as f64 * columns as f64;
        LoopOutput {
            units: self.units as u64,
            checksum: self.result.sum(),
            work: (operations, "FLOP"),
            more: vec![
                ("rows", json!(rows)),
                ("columns", json!(columns)),
                ("entries", json!(self.sparse.entries())),
            ],
            phrase: format!("{rows} × {columns}, from {} entries", self.sparse.entries()),
        }
    }

    fn file(&self, _: &LoopCommand<'_>) -> Result<Vec<u8>, Failure> {
        Ok(market::write_dense(&self.result).into_bytes())
    }
}
