//! Sparse products on one thread: operations a second by family, precision, width and level.

use pleach_core::search::level::Level;
use pleach_loops::looping::Loop;
use pleach_loops::sparse::csrmm::{Csrmm, Products};
use pleach_loops::sparse::generate::named;
use pleach_loops::sparse::matrix::{Checked, Csr, Dense};
use pleach_loops::sparse::spmm::{Factors, Sparse, all, multiply};
use std::time::Instant;

/// The matrices, one of each family.
const FAMILIES: [&str; 5] = [
    "fem:60x50x50", "fem1:100x100x100", "lattice4d:12x12x12x12", "web:1000000x3", "random:200000x6",
];

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let families: Vec<&str> =
        if words.is_empty() { FAMILIES.to_vec() } else { words.iter().map(|it| &**it).collect() };
    println!("{:24} {:>4} {:>8} {:>7} {:>9}", "matrix", "", "columns", "level", "GFLOP/s");
    for word in families {
        let matrix = named(word, 1).expect("a family").expect("sizes");
        let matrix = matrix.checked().expect("a consistent matrix");
        squared::<f32>(word, &matrix.cast());
        squared::<f64>(word, &matrix);
        for width in [64, 256] {
            dense::<f32>(word, &matrix.cast(), width);
            dense::<f64>(word, &matrix, width);
        }
    }
}

/// Multiplies a matrix by itself, into fresh memory and into reused memory.
fn squared<T: Sparse>(word: &str, matrix: &Checked<Csr<T>>) {
    for level in [Level::Off, Level::Avx512].into_iter().filter(|level| level.works()) {
        let operations = Factors::new(matrix.checked_view(), matrix.checked_view(), level)
            .expect("a square matrix")
            .operations();
        let mut product = Csr::default();
        let mut once = || {
            let began = Instant::now();
            multiply(matrix.checked_view(), matrix.checked_view(), level, &mut product)
                .expect("enough memory");
            operations / began.elapsed().as_secs_f64() * 1e-9
        };
        let (fresh, warm) = (once(), once().max(once()));
        let mut product = Csr::default();
        let mut unsorted = || {
            let began = Instant::now();
            let factors = Factors::new(matrix.checked_view(), matrix.checked_view(), level)
                .expect("a square matrix");
            all(&factors.in_any_order(), &mut product).expect("enough memory");
            operations / began.elapsed().as_secs_f64() * 1e-9
        };
        let (fresh_unsorted, unsorted) = (unsorted(), unsorted().max(unsorted()));
        let (name, level) = (T::NAME, level.to_string());
        println!(
            "{word:24} {name:>4} {:>8} {level:>7} {warm:>9.2} {fresh:>9.2} fresh; unsorted {unsorted:.2}, {fresh_unsorted:.2} fresh",
            "itself"
        );
    }
}

fn dense<T: Products>(word: &str, sparse: &Checked<Csr<T>>, width: usize) {
    let dense = Dense::by(sparse.width, width, |row, column| T::of((row % 13 + column) as f64))
        .expect("enough memory");
    let mut out = Dense::zeros(sparse.height(), width).expect("enough memory");
    for level in Level::ALL.into_iter().filter(|level| level.works()) {
        let product = Csrmm::new(sparse.checked_view(), dense.view(), &mut out, level)
            .expect("matching sizes");
        let mut local = product.local();
        let once = || {
            let began = Instant::now();
            product.run(0..product.units(), &mut local);
            began.elapsed().as_secs_f64()
        };
        let best = std::iter::repeat_with(once).take(5).fold(f64::MAX, f64::min);
        let rate = product.operations() / best * 1e-9;
        println!("{word:24} {:>4} {width:>8} {:>7} {rate:>9.1}", T::NAME, level.to_string());
    }
}
