//! Sparse × sparse: lengths, columns and values equal those of plain code, bit by bit, in both passes.

use super::{Way, ways};
use oorandom::Rand32;
use pleach_core::search::level::Level;
use pleach_gpu::spec::Spec;
use pleach_loops::looping::Loop;
use pleach_loops::looping::run_loop;
use pleach_loops::looping::{LoopSettings, LoopSnapshot, Sizes};
use pleach_loops::sparse::generate::named;
use pleach_loops::sparse::matrix::{Checked, Csr};
use pleach_loops::sparse::spmm::{Adding, Counting, Factors, Sparse, all, multiply, room};
use pleach_runtime::WorkerPool;
use std::ops::ControlFlow;
use std::time::Duration;

/// The product, with each pass run in this way.
fn product<T: Sparse>(a: &Checked<Csr<T>>, b: &Checked<Csr<T>>, level: Level, way: &Way) -> Csr<T> {
    let factors = Factors::new(a.checked_view(), b.checked_view(), level).unwrap();
    let (mut lengths, mut product) = (vec![77; a.height()], Csr::default());
    let counting = Counting::new(&factors, &mut lengths);
    way.run(&counting);
    drop(counting);
    room(&lengths, b.width, &mut product).unwrap();
    way.run(&Adding::new(&factors, &mut product));
    product
}

/// Alone on the device, in both precisions; the sums are not whole numbers, so their order matters.
fn check(a: &Checked<Csr<f64>>, b: Option<&Checked<Csr<f64>>>, what: &str) {
    fn of<T: Sparse>(a: &Checked<Csr<T>>, b: &Checked<Csr<T>>, what: &str) {
        let mut expected = Csr::default();
        multiply(a.checked_view(), b.checked_view(), Level::Off, &mut expected).unwrap();
        for device in ["emulated", "emulated:launch=once"] {
            let way = Way::new(0, &[device], Sizes::Measured);
            assert!(product(a, b, Level::Off, &way) == expected, "{what}, {}, {device}", T::NAME);
        }
    }
    of(a, b.unwrap_or(a), what);
    let (single, other) = (a.cast::<f32>(), b.map(Checked::cast::<f32>));
    of(&single, other.as_ref().unwrap_or(&single), what);
}

#[test]
fn every_family_has_its_product() {
    for word in [
        "fem:700", "fem2:301", "web:700x4", "random:300x9", "grid:130", "dense:67",
        "lattice4d:3x4x3x4",
    ] {
        check(&named(word, 5).unwrap().unwrap().checked().unwrap(), None, word);
    }
}

/// A slowed worker used to sleep on for hours after a stop.
#[test]
fn a_slowed_device_can_be_stopped() {
    let a: Checked<Csr<f64>> = named("fem:700", 5).unwrap().unwrap().checked().unwrap();
    let factors = Factors::new(a.checked_view(), a.checked_view(), Level::Off).unwrap();
    let mut lengths = vec![0; a.height()];
    let settings = LoopSettings {
        threads: 0,
        devices: vec![Spec::parse("emulated").unwrap()],
        slow: vec![("emulated0".into(), 1e9)],
        progress_every: Duration::from_millis(1),
        ..LoopSettings::default()
    };
    let watch = &mut |snapshot: &LoopSnapshot| {
        let begun = snapshot.takers.iter().any(|taker| !taker.held.is_empty());
        if begun { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let work = Counting::new(&factors, &mut lengths);
    assert!(run_loop(&WorkerPool::default(), &work, &settings, watch).is_ok());
}

/// Some entries, many of them in a few rows, in a matrix of any size.
fn scattered(height: usize, width: usize, seed: u64) -> Csr<f64> {
    let (mut rng, mut entries) = (Rand32::new(seed), Vec::new());
    for row in 0..height as u32 {
        let count = [0, 0, 1, 3, 40, 100][rng.rand_range(0..6) as usize];
        for _ in 0..if width > 0 { count } else { 0 } {
            let column = rng.rand_range(0..width as u32);
            entries.push((row, column, f64::from(rng.rand_float()) - 0.5));
        }
    }
    Csr::of(height, width, &entries)
}

#[test]
fn rows_may_be_empty_long_and_far_apart() {
    let sizes = [
        [0, 5, 5],
        [5, 0, 5],
        [5, 5, 0],
        [1, 1, 1],
        [1, 60, 30_000],
        [50, 60, 1024],
        [50, 60, 1025],
        [97, 300, 8192],
        [130, 200, 40_000],
    ];
    for (seed, [height, middle, width]) in (1..).zip(sizes) {
        let (a, b) = (scattered(height, middle, seed), scattered(middle, width, 100 + seed));
        let [a, b] = [a, b].map(|matrix| matrix.checked().unwrap());
        check(&a, Some(&b), &format!("{height} × {middle} × {width}"));
    }
    // The last column that a device takes, and windows that end beyond it.
    let last = (1 << 31) - 1;
    let wide =
        Csr { width: 1 << 31, starts: vec![0, 2], columns: vec![0, last], values: vec![2.0, 3.0] };
    let factor = Csr::of(2, 1, &[(0, 0, 5.0), (1, 0, 7.0)]);
    let [factor, wide] = [factor, wide].map(|matrix| matrix.checked().unwrap());
    let factors = Factors::new(factor.checked_view(), wide.checked_view(), Level::Off).unwrap();
    let (mut lengths, mut product) = (vec![0; 2], Csr::default());
    let way = Way::new(0, &["emulated"], Sizes::Measured);
    // Threads' local data would take gigabytes.
    way.run(&Narrow(&Counting::new(&factors, &mut lengths)));
    room(&lengths, wide.width, &mut product).unwrap();
    way.run(&Narrow(&Adding::new(&factors, &mut product)));
    assert_eq!(
        (product.columns, product.values),
        (vec![0, last, 0, last], vec![10.0, 15.0, 14.0, 21.0])
    );
}

/// A device wrote rows that another process had counted as too short over the next ones, or beyond its results.
#[test]
fn wrong_lengths_are_noticed() {
    let matrix = named("fem:300", 1).unwrap().unwrap().checked().unwrap();
    let factors = Factors::new(matrix.checked_view(), matrix.checked_view(), Level::Off).unwrap();
    let mut product = Csr::default();
    all(&factors, &mut product).unwrap();
    let lengths: Vec<usize> = product.starts.windows(2).map(|two| two[1] - two[0]).collect();
    for changes in [[0, 0], [1, 0], [-1, 0], [1, -1], [-1, 1]] {
        let mut lengths = lengths.clone();
        for (length, change) in lengths[100..].iter_mut().zip(changes) {
            *length = length.checked_add_signed(change).unwrap();
        }
        room(&lengths, matrix.width, &mut product).unwrap();
        let adding = Adding::new(&factors, &mut product);
        Way::new(0, &["emulated"], Sizes::Measured).run(&adding);
        assert_eq!(adding.is_wrong(), changes != [0, 0], "{changes:?}");
    }
}

/// A loop that only devices run.
struct Narrow<'a, L>(&'a L);

impl<L: Loop> Loop for Narrow<'_, L> {
    type Local = ();
    fn units(&self) -> usize {
        self.0.units()
    }
    fn local(&self) {}
    fn run(&self, units: std::ops::Range<usize>, (): &mut ()) {
        assert!(units.is_empty());
    }
    fn on_device(&self) -> Option<&dyn pleach_loops::looping::LoopOnDevice> {
        self.0.on_device()
    }
}

/// Whole numbers, so that vector code, which may fuse a multiplication and an addition, has the same sums.
#[test]
fn however_rows_are_shared_the_product_is_the_same() {
    let mut a = named("fem:400", 3).unwrap().unwrap();
    a.values.iter_mut().for_each(|value| *value = (*value * 9.0).round());
    let mut b = scattered(a.width, 700, 9);
    b.values.iter_mut().for_each(|value| *value = (*value * 9.0).round());
    let [a, b] = [a, b].map(|matrix| matrix.checked().unwrap());
    for b in [&a, &b] {
        let mut expected = Csr::default();
        multiply(a.checked_view(), b.checked_view(), Level::best(), &mut expected).unwrap();
        for way in ways() {
            assert!(product(&a, b, Level::best(), &way) == expected, "{way:?}");
        }
    }
}
