//! Sparse products on one thread: operations a second, by family, precision, width and level.

use pleach_core::level::Level;
use pleach_core::looping::Loop;
use pleach_loops::sparse::csrmm::{Csrmm, Products};
use pleach_loops::sparse::generate::named;
use pleach_loops::sparse::matrix::{Csr, Dense};
use std::time::Instant;

/// The matrices, one of each kind.
const FAMILIES: [&str; 5] = [
    "fem:60x50x50",
    "fem1:100x100x100",
    "lattice4d:16x16x16x16",
    "web:1000000x3",
    "random:200000x6",
];

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let families: Vec<&str> =
        if words.is_empty() { FAMILIES.to_vec() } else { words.iter().map(|it| &**it).collect() };
    println!("{:24} {:>4} {:>8} {:>7} {:>9}", "matrix", "", "columns", "level", "GFLOP/s");
    for word in families {
        let matrix = named(word, 1).expect("a family").expect("sizes");
        for width in [64, 256] {
            dense::<f32>(word, &matrix.cast(), width);
            dense::<f64>(word, &matrix, width);
        }
    }
}

fn dense<T: Products>(word: &str, sparse: &Csr<T>, width: usize) {
    let dense = Dense::by(sparse.width, width, |row, column| T::of((row % 13 + column) as f64));
    let mut out = Dense::zeros(sparse.height(), width);
    for level in Level::ALL.into_iter().filter(|level| level.works()) {
        let product = Csrmm::new(sparse, &dense, &mut out, level).expect("sizes that fit");
        let mut hand = product.hand();
        let once = || {
            let began = Instant::now();
            product.run(0..product.units(), &mut hand);
            began.elapsed().as_secs_f64()
        };
        let best = std::iter::repeat_with(once).take(5).fold(f64::MAX, f64::min);
        let rate = product.operations() / best * 1e-9;
        println!("{word:24} {:>4} {width:>8} {:>7} {rate:>9.1}", T::NAME, level.to_string());
    }
}
