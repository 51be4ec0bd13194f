//! The entry of the sparse × sparse product.

use super::entry::{Job, LoopCommand, LoopEntry, LoopOutput};
use super::matrix::{is_file, matrix};
use super::runner::Runner;
use crate::cli::flags::{PRECISION, Precision, UNSORTED, Use};
use crate::failure::Failure;
use pleach_core::search::level::Level;
use pleach_loops::looping::Loop;
use pleach_loops::sparse::market;
use pleach_loops::sparse::matrix::{Checked, Csr};
use pleach_loops::sparse::spmm::{Adding, Counting, Factors, Sparse, room};
use serde_json::json;

/// See [`LoopEntry`].
pub const ENTRY: LoopEntry = LoopEntry {
    name: "spmm",
    about: "a sparse matrix times a sparse matrix",
    words: "one matrix (which is squared) or two: Matrix Market files, or families such as fem:40000",
    takes: (1, 2),
    is_file,
    shared: true,
    flags: &[
        Use::plain("precision"),
        Use::plain("unsorted"),
        Use::with("out", "write the product as a Matrix Market file", ""),
    ],
    examples: &["loop spmm fem:40000", "loop spmm web:20000x3 random:20000x4 --precision f32"],
    writes: &["mtx"],
    prepare,
};

fn prepare(command: &LoopCommand<'_>) -> Result<Box<dyn Job>, Failure> {
    let a = matrix(command, &command.words[0])?;
    let b = command.words.get(1).map(|word| matrix(command, word)).transpose()?;
    let level = command.given.simd()?;
    let widths = (a.width, b.as_ref().unwrap_or(&a).height());
    if widths.0 != widths.1 {
        let words = command.words.join(" times ");
        let why = format!(
            "{words}: {} columns times {} rows: expected equal numbers",
            widths.0, widths.1
        );
        return Err(Failure::Usage(why));
    }
    let how = (level, command.given.on(UNSORTED.about.name));
    Ok(match command.given.get(&PRECISION)? {
        Some(Precision::Single) => {
            Box::new(Product::new(a.cast::<f32>(), b.map(|b| b.cast()), how)?)
        }
        _ => Box::new(Product::new(a, b, how)?),
    })
}

/// The factors and their product.
struct Product<T> {
    a: Checked<Csr<T>>,
    /// `None` if the first factor is squared.
    b: Option<Checked<Csr<T>>>,
    lengths: Vec<usize>,
    result: Csr<T>,
    /// Whether rows were counted wrongly.
    wrong: bool,
    level: Level,
    /// Whether the columns within a row may be in any order.
    unsorted: bool,
    units: usize,
    operations: f64,
}

impl<T: Sparse> Product<T> {
    fn new(
        a: Csr<T>,
        b: Option<Csr<T>>,
        (level, unsorted): (Level, bool),
    ) -> Result<Self, Failure> {
        let lengths = vec![0; a.height()];
        let a = a.checked().map_err(Failure::Inside)?;
        let b = b.map(Csr::checked).transpose().map_err(Failure::Inside)?;
        let result = Csr::default();
        let wrong = false;
        Ok(Self { a, b, lengths, result, wrong, level, unsorted, units: 0, operations: 0.0 })
    }
}

impl<T: Sparse> Job for Product<T> {
    fn run(&mut self, runner: &mut Runner<'_>) -> Result<(), Failure> {
        let b = self.b.as_ref().unwrap_or(&self.a);
        let factors = Factors::new(self.a.checked_view(), b.checked_view(), self.level)
            .map_err(Failure::Inside)?;
        let factors = if self.unsorted { factors.in_any_order() } else { factors };
        self.operations = factors.operations();
        let counting = Counting::new(&factors, &mut self.lengths);
        self.units = counting.units();
        let counted = runner.run(&counting)?;
        drop(counting);
        if counted.is_some() {
            room(&self.lengths, b.width, &mut self.result).map_err(Failure::Machine)?;
            let adding = Adding::new(&factors, &mut self.result);
            runner.run(&adding)?;
            self.wrong = adding.is_wrong();
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Failure> {
        if self.wrong {
            let why = "the product's rows are not as long as a device or another process counted";
            return Err(Failure::Machine(why.into()));
        }
        Ok(())
    }

    fn found(&self) -> LoopOutput {
        let (rows, columns, entries) =
            (self.result.height(), self.result.width, self.result.entries());
        LoopOutput {
            units: self.units as u64,
            checksum: self.result.sum(),
            work: (self.operations, "FLOP"),
            more: vec![
                ("rows", json!(rows)),
                ("columns", json!(columns)),
                ("entries", json!(entries)),
            ],
            phrase: format!("{rows} × {columns}, {entries} entries"),
        }
    }

    fn file(&self, _: &LoopCommand<'_>) -> Result<Vec<u8>, Failure> {
        Ok(market::write(&self.result).into_bytes())
    }
}
